"""Store conversations, list and delete them, and turn the automatic capture on and off."""

import os
import shlex
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.folder.json_text import instant_ms, parse_object
from agentic_os.aios.folder.since import since_instant
from agentic_os.aios.policy import MemoryPolicy, resolve_policy
from agentic_os.aios.sessions.capture import Captured, CaptureRequest, capture
from agentic_os.aios.sessions.codec import Turn, title_from, without_controls
from agentic_os.aios.sessions.documents import ImportData, ImportedSession, SessionList
from agentic_os.aios.sessions.hook import change_hook
from agentic_os.aios.sessions.inventory import delete, listed, note_missed, reconcile, status
from agentic_os.aios.sessions.sources import read_transcript, sources_of
from agentic_os.aios.sessions.summary import REQUEST_BYTES, answer_line, read_request, save_summary
from agentic_os.aios.sessions.transcripts import Transcript
from agentic_os.aios.writing.opening import require_memory
from agentic_os.aios.writing.writer import FolderWriter
from agentic_os.cli.actions.person.changes import proof_of, show
from agentic_os.cli.actions.person.reach import folder_access, state_journal
from agentic_os.cli.output import say, schema_name, table, write, write_json
from agentic_os.errors import AgenticOSError, AiosError
from agentic_os.files.harness_folders import harness_folder
from agentic_os.results import Envelope
from agentic_os.text.fencing import one_line

HOOK_BYTES: Final = 64 * 1024
HOOK_WAIT_SECONDS: Final = 5.0
PASTE_BYTES: Final = 1024 * 1024


def import_agent(
    agent: str,
    *,
    everything: bool,
    since: str | None,
    project: str | None,
    memory: str | None,
    path: str | None,
    json: bool,
) -> None:
    """Store the newest transcript of an agent, all of them, or those of an age."""
    policy = resolve_policy(mode=memory)
    require_memory(policy)
    access = folder_access(policy, path)
    sources = sources_of(agent, os.environ, Path.home())
    if since is not None:
        oldest = instant_ms(since_instant(since, access.clock())) or 0.0
        sources = [source for source in sources if source.mtime * 1000 >= oldest]
    elif not everything:
        sources = sources[-1:]
    done = [_imported(access, policy, source.path, agent, agent, project) for source in sources]
    _show_imports(done, json=json)


def import_file(
    source: str, *, project: str | None, memory: str | None, path: str | None, json: bool
) -> None:
    """Store one file: a transcript of a known form, or text."""
    policy = resolve_policy(mode=memory)
    require_memory(policy)
    access = folder_access(policy, path)
    place = Path(source).expanduser().absolute()
    try:
        found = read_transcript(place)
    except AiosError as error:
        if error.code != "DOTAIOS_SESSION_SOURCE_INVALID":
            raise
        with place.open("rb") as file:
            found = _text_transcript(file.read(PASTE_BYTES + 1))
    done = capture(
        access,
        policy,
        CaptureRequest(
            transcript=found,
            source_type="file",
            source_path=os.path.realpath(place),
            project=project,
        ),
    )
    _show_imports([(place.name, done)], json=json)


def import_paste(*, project: str | None, memory: str | None, path: str | None, json: bool) -> None:
    """Store text from standard input."""
    policy = resolve_policy(mode=memory)
    require_memory(policy)
    data = sys.stdin.buffer.read(PASTE_BYTES + 1)
    lines = [line for line in data.split(b"\n") if not line.startswith(b"#")]
    found = _text_transcript(b"\n".join(lines))
    asked = CaptureRequest(transcript=found, source_type="paste", project=project)
    done = capture(folder_access(policy, path), policy, asked)
    _show_imports([("paste", done)], json=json)


def save(*, path: str | None) -> None:
    """Save the summary of a request on standard input."""
    asked = read_request(sys.stdin.buffer.read(REQUEST_BYTES + 1))
    write(answer_line(save_summary(folder_access(resolve_policy(), path), asked)))


def show_list(
    *,
    agent: str | None,
    project: str | None,
    since: str | None,
    limit: int,
    path: str | None,
    json: bool,
) -> None:
    """List captured sessions."""
    policy = resolve_policy()
    rows = listed(
        folder_access(policy, path),
        policy,
        agent=agent,
        project=project,
        since=since,
        limit=limit,
    )
    data = SessionList.of(rows)
    if json:
        write_json(Envelope(schema=schema_name("aios-capture"), data=data))
        return
    if not data.sessions:
        say("Nothing is captured, or nothing matches.")
    table(
        ("id", "captured", "agent", "project", "turns", "title"),
        [
            (
                one.session_id,
                one.captured_at[:16],
                one.agent,
                one.project or "",
                str(one.turns),
                one_line(one.title or "") + (" (conflict copy)" if one.conflict_of else ""),
            )
            for one in data.sessions
        ],
    )


def delete_session(
    session: str,
    *,
    apply: bool,
    operation_id: str | None,
    plan_fingerprint: str | None,
    path: str | None,
    json: bool,
) -> None:
    """Preview or apply the removal of a session."""
    proof = proof_of(apply=apply, operation_id=operation_id, plan_fingerprint=plan_fingerprint)
    policy = resolve_policy()
    data = delete(folder_access(policy, path), policy, session, proof)
    show("aios-capture-delete", f"aios capture delete {shlex.quote(session)}", data, json=json)


def show_status(*, path: str | None, json: bool) -> None:
    """Say how full the store is."""
    policy = resolve_policy()
    data = status(folder_access(policy, path), policy)
    if json:
        write_json(Envelope(schema=schema_name("aios-capture-status"), data=data))
        return
    rows = [
        ("sessions", f"{data.sessions} of {data.limit}"),
        ("conflict copies", str(data.conflicts)),
        ("unfinished change", "yes" if data.unfinished else "no"),
        *((f"of {one_line(agent)}", str(count)) for agent, count in data.agents.items()),
    ]
    table(("what", "value"), rows)
    if data.copies:
        say(f"A sync tool left {data.copies} copies of the index: aios capture reconcile --apply")
    for line in data.missed:
        say(f"missed: {one_line(line)}")


def reconcile_store(*, apply: bool, path: str | None, json: bool) -> None:
    """Compare index and files, and write the index anew."""
    policy = resolve_policy()
    data = reconcile(folder_access(policy, path), policy, apply=apply)
    if json:
        write_json(Envelope(schema=schema_name("aios-capture-reconcile"), data=data))
        return
    for line in data.paths:
        write(f"{one_line(line)}\n")
    if data.applied:
        say(f"The index was written anew from {data.documents} sessions.")
        if data.findings.get("conflict_copies"):
            say("Copies of a sync tool were settled; their bytes are in .dotaios/changes/copy-*.")
    elif data.findings:
        say("Nothing was changed. To write the index anew: add --apply")
    else:
        say("The index says what the files say.")


def change_capture(
    agent: str,
    *,
    enabled: bool,
    apply: bool,
    operation_id: str | None,
    plan_fingerprint: str | None,
    path: str | None,
    json: bool,
) -> None:
    """Preview or apply the hook that captures automatically."""
    _check_agent(agent)
    proof = proof_of(apply=apply, operation_id=operation_id, plan_fingerprint=plan_fingerprint)
    words = [sys.executable, "-I", "-m", "agentic_os", "aios", "capture", "hook", agent]
    words += [] if path is None else ["--path", str(Path(path).expanduser().absolute())]
    command = shlex.join(words) if enabled else None
    access = folder_access(resolve_policy(), path)
    place = harness_folder("claude-code", os.environ, Path.home())
    if not place.is_dir():
        raise argument_fault("Claude Code has no folder here", hint="install and run it once")
    with (
        FolderWriter(place) as writer,
        state_journal(access, make=proof is not None, root=place) as journal,
    ):
        data = change_hook(writer, journal, proof, command=command)
    verb = f"aios capture {'enable' if enabled else 'disable'} {agent}"
    show("aios-capture-hook", verb, data, json=json)


def run_hook(agent: str, *, path: str | None) -> None:
    """Capture what a hook names; whatever goes wrong is noted and never the host's problem."""
    with suppress(Exception):
        _check_agent(agent)
        asked = parse_object(sys.stdin.buffer.read(HOOK_BYTES).decode("utf-8", "replace")) or {}
        place = asked.get("transcript_path")
        if isinstance(place, str) and place.startswith("/"):
            _hooked(agent, Path(place), path)


def _hooked(agent: str, place: Path, path: str | None) -> None:
    policy = resolve_policy()
    access = folder_access(policy, path)
    try:
        projects = os.path.realpath(
            harness_folder("claude-code", os.environ, Path.home()) / "projects"
        )
        if not Path(os.path.realpath(place)).is_relative_to(projects):
            return
        asked = CaptureRequest(
            transcript=read_transcript(place, agent),
            source_type=agent,
            source_path=os.path.realpath(place),
            wait_seconds=HOOK_WAIT_SECONDS,
        )
        capture(access, policy, asked)
    except AgenticOSError as error:
        note_missed(access, policy, agent=agent, source=str(place), reason=error.code)


def _imported(
    access: AiosAccess,
    policy: MemoryPolicy,
    place: Path,
    agent: str,
    source_type: str,
    project: str | None,
) -> tuple[str, Captured]:
    """Store one of many transcripts; one that is refused does not stop the others."""
    try:
        asked = CaptureRequest(
            transcript=read_transcript(place, agent),
            source_type=source_type,
            source_path=os.path.realpath(place),
            project=project,
        )
        return place.name, capture(access, policy, asked)
    except AiosError as error:
        if not error.code.startswith("DOTAIOS_SESSION_") or "STORE" in error.code:
            raise
        note_missed(access, policy, agent=agent, source=str(place), reason=error.code)
        return place.name, Captured(outcome="refused", reason=error.code)


def _show_imports(done: list[tuple[str, Captured]], *, json: bool) -> None:
    data = ImportData(
        sessions=tuple(ImportedSession(source=name, result=result) for name, result in done)
    )
    if json:
        write_json(Envelope(schema=schema_name("aios-capture-import"), data=data))
    else:
        for name, one in done:
            shown = one.path or one.reason or ""
            write(f"{one.outcome}\t{one_line(name)}\t{one_line(shown)}\n")
        counts = Counter(one.outcome for _, one in done)
        redacted = sum(one.redacted for _, one in done)
        say(
            ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "Nothing found."
        )
        if redacted:
            say(f"Secrets replaced before anything was written: {redacted}.")
        if any(one.crowded for _, one in done):
            say("The store is getting full; see: agentic-os aios capture status")


def _text_transcript(data: bytes) -> Transcript:
    if len(data) > PASTE_BYTES:
        raise argument_fault(f"the text is larger than {PASTE_BYTES} bytes")
    try:
        text = without_controls(data.decode("utf-8")).strip()
    except UnicodeDecodeError:
        raise argument_fault("the text is not UTF-8") from None
    found = Transcript(agent="manual")
    if text:
        found.turns.append(Turn(role="user", content=text))
        found.title = title_from(text)
    return found


def _check_agent(agent: str) -> None:
    if agent != "claude-code":
        raise argument_fault(
            "only claude-code can be captured automatically",
            hint=f"import the others: agentic-os aios capture import {agent[:40]}",
        )
