"""Make a folder, note what happened, write the day's note, undo."""

import sys
from pathlib import Path

import typer

from agentic_os.aios.birth.answers import ANSWERS_BYTES, Answers, checked, read_answers
from agentic_os.aios.birth.init import InitRequest, init
from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.folder.json_text import compact
from agentic_os.aios.notes.records import LINE_BYTES
from agentic_os.aios.notes.sections import SECTION_BYTES, carry, set_section
from agentic_os.aios.notes.update import update
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.skills.shipped import update_skills
from agentic_os.aios.writing.opening import journal_of, open_for_writing
from agentic_os.aios.writing.undo import undo
from agentic_os.cli.actions.person.changes import proof_of, show
from agentic_os.cli.actions.person.keeping import maintain
from agentic_os.cli.actions.person.reach import folder_access, state_journal
from agentic_os.cli.output import on_terminal, say, write

_ASKED = (("name", "Your name"), ("role", "What you do"), ("work", "What you work on now"))


def make_folder(
    *,
    path: str | None,
    vault: str | None,
    answers: str | None,
    yes: bool,
    force: bool,
    overwrite: bool,
    dry_run: bool,
    json: bool,
) -> None:
    """Make the AIOS folder and print what was made."""
    access = folder_access(resolve_policy(), path)
    data = init(
        access,
        InitRequest(
            answers=_answers(answers, ask=not yes and not dry_run),
            vault=None if vault is None else Path(vault).expanduser().absolute(),
            force=force,
            overwrite=overwrite,
            dry_run=dry_run,
        ),
    )
    show("aios-init", "", data, json=json)
    if data.status == "applied" and not json:
        say("The folder is ready. Look at it: agentic-os aios brief --compact")


def note_update(
    text: str | None,
    *,
    path: str | None,
    memory: str | None,
    project: str | None,
    kind: str,
    record_id: str | None,
    allow_secret: bool,
    json: bool,
) -> None:
    """Note what happened and print the record, or its id."""
    policy = resolve_policy(mode=memory, project=project)
    given = text if text is not None or policy.mode == "off" else _spoken(LINE_BYTES)
    access = folder_access(policy, path)
    record = update(
        access,
        policy,
        given or "",
        kind=kind,
        record_id=record_id,
        allow_secret=allow_secret,
    )
    if json:
        write(compact(record) + "\n")
    else:
        say(f"Noted ({record['record_id']}).")
    maintain(access, policy)


def daily_set(
    section: str, *, path: str | None, memory: str | None, replace: bool, json: bool
) -> None:
    """Write one section of today's note from standard input."""
    policy = resolve_policy(mode=memory)
    text = "" if policy.mode == "off" else _spoken(SECTION_BYTES)
    data = set_section(folder_access(policy, path), policy, section, text, replace=replace)
    show("aios-daily", "", data, json=json)


def daily_carry(*, to: str | None, path: str | None, memory: str | None, json: bool) -> None:
    """Carry what is open into another day's plan."""
    policy = resolve_policy(mode=memory)
    show("aios-daily", "", carry(folder_access(policy, path), policy, to), json=json)


def skills_update(
    *,
    apply: bool,
    operation_id: str | None,
    plan_fingerprint: str | None,
    path: str | None,
    json: bool,
) -> None:
    """Bring the bundled skills up to date."""
    proof = proof_of(apply=apply, operation_id=operation_id, plan_fingerprint=plan_fingerprint)
    policy = resolve_policy()
    data = update_skills(folder_access(policy, path), policy, proof)
    show("aios-skills", "aios skills update", data, json=json)


def undo_change(
    operation: str | None,
    *,
    apply: bool,
    operation_id: str | None,
    plan_fingerprint: str | None,
    path: str | None,
    json: bool,
) -> None:
    """Undo the last change, or the one that is named."""
    proof = proof_of(apply=apply, operation_id=operation_id, plan_fingerprint=plan_fingerprint)
    policy = resolve_policy()
    access = folder_access(policy, path)
    with open_for_writing(access, policy) as writer:
        journal = journal_of(writer, access)
        with state_journal(access) as outside:
            own = operation is None or journal.has(operation) or outside is None
            data = undo(journal if own or outside is None else outside, proof, operation=operation)
    verb = "aios undo" if operation is None else f"aios undo {operation}"
    show("aios-undo", verb, data, json=json)


def _answers(source: str | None, *, ask: bool) -> Answers:
    if source is not None:
        data = (
            sys.stdin.buffer.read(ANSWERS_BYTES + 1)
            if source == "-"
            else _file(Path(source).expanduser())
        )
        return read_answers(data)
    if not ask or not sys.stdin.isatty() or not on_terminal():
        return Answers()
    given = {name: typer.prompt(words, default="", err=True) for name, words in _ASKED}
    return Answers(**{name: checked(name, text) for name, text in given.items() if text.strip()})


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(ANSWERS_BYTES + 1)
    except OSError as error:
        raise argument_fault(f"the answers cannot be read: {error.strerror}") from error


def _spoken(limit: int) -> str:
    """Read standard input, which is UTF-8 text."""
    if sys.stdin.isatty():
        say("Write the text, then Ctrl-D:")
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise argument_fault(f"the text is larger than {limit} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise argument_fault("the text is not UTF-8") from None
