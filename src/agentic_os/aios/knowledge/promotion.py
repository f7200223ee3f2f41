"""``aios memory promote``: captured evidence becomes durable knowledge, by preview and exact apply.

Under the event log's lock: session, destination and promotion id are looked at once more; the
journal records what was; the destination is replaced; the event is appended. A process that stops
before the event is completed by applying the same preview again, which then only appends it.
"""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, get_args

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import SEARCH_LIMIT, Allowance, Charges
from agentic_os.aios.folder.configuration import read_configuration, vault_place
from agentic_os.aios.folder.faults import EVIDENCE_UNAUTHORIZED, argument_fault, fault
from agentic_os.aios.folder.json_text import Json, JsonObject, object_lines
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.tree import CONTEXT, EVENTS, PROJECTS, README, SKILLS
from agentic_os.aios.intent.skill_ranking import SKILL_FILE
from agentic_os.aios.knowledge.blocks import (
    Operation,
    block_text,
    blocks_of,
    changed,
    checked_summary,
    content_hash,
    matched,
)
from agentic_os.aios.notes.records import line_of, record_of, signal_file
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.projects.selection import resolve_identity
from agentic_os.aios.sessions.inventory import chosen
from agentic_os.aios.sessions.store import SessionStore
from agentic_os.aios.writing.changes import Journal, Record
from agentic_os.aios.writing.faults import NOTHING_TO_UNDO, PLAN_STALE, TEXT_REFUSED, write_fault
from agentic_os.aios.writing.locks import CHANGES_LOCK, EVENTS_LOCK, holding
from agentic_os.aios.writing.opening import open_for_writing, require_memory
from agentic_os.aios.writing.plan import (
    ChangeData,
    Plan,
    Proof,
    Target,
    carry_out,
    described,
    sha256,
)
from agentic_os.aios.writing.writer import FolderWriter, Seen
from agentic_os.errors import AiosError

Destination = Literal["signal", "context", "project", "vault", "skill", "session-only"]

DESTINATIONS: Final[tuple[Destination, ...]] = get_args(Destination)
OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)
EVENT_TYPE: Final = "memory-promotion"
SIGNAL_TYPE: Final = "promoted-evidence"
SOURCE: Final = "dotaios memory promote"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionRequest:
    """What is promoted, where to and how."""

    session: str
    to: str
    summary: str
    destination: str | None = None
    project: str | None = None
    operation: str = "add"
    match: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    plan: Plan
    event: JsonObject
    outside: Path | None = None
    signal: JsonObject | None = None
    notes: tuple[str, ...] = field(default=())


def promote(
    access: AiosAccess, policy: MemoryPolicy, asked: PromotionRequest, proof: Proof | None
) -> ChangeData:
    """Preview or apply a promotion.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, DOTAIOS_ARGUMENT_INVALID, DOTAIOS_SESSION_*,
            DOTAIOS_PROMOTION_NO_MATCH, DOTAIOS_EVIDENCE_ROOT_UNAUTHORIZED, DOTAIOS_PLAN_STALE, or
            a write fault.
    """
    require_memory(policy)
    with open_for_writing(access, policy) as writer:
        if proof is None:
            made = _prepared(access, writer, asked)
            with _Place(access, writer, made.outside) as (place, journal):
                return carry_out(place, made.plan, None, journal, notes=made.notes)
        with holding(writer, EVENTS_LOCK):
            if _noted(writer, proof.operation_id):
                return described(
                    Plan(operation="promote", targets=()), proof, "unchanged", ("applied before",)
                )
            made = _prepared(access, writer, asked)
            with _Place(access, writer, made.outside) as (place, journal):
                data = _applied(place, made, proof, journal)
            event = {**made.event, "promotion_id": proof.operation_id}
            if made.signal is not None:
                writer.append(signal_file(_day(access.clock())), line_of(made.signal))
            writer.append(EVENTS, line_of(event))
            return data


def _applied(place: FolderWriter, made: _Prepared, proof: Proof, journal: Journal) -> ChangeData:
    try:
        return carry_out(place, made.plan, proof, journal, notes=made.notes)
    except AiosError as error:
        if error.code != PLAN_STALE:
            raise
        resumed = _resumed(place, made.plan, proof, journal)
        if resumed is None:
            raise
        return described(resumed, proof, "applied", made.notes)


def _resumed(place: FolderWriter, plan: Plan, proof: Proof, journal: Journal) -> Plan | None:
    """Recognise a promotion whose destination is written and whose event is not."""
    try:
        record: Record = journal.find(proof.operation_id)[1]
    except AiosError as error:
        if error.code != NOTHING_TO_UNDO:
            raise
        return None
    targets = []
    for recorded in record.targets:
        now, before = place.see(recorded.path), recorded.before()
        if sha256(now.data) != recorded.after_sha256:
            return None
        seen = Seen(data=before or b"", stamp=None if before is None else now.stamp)
        targets.append(Target(path=recorded.path, before=seen, after=now.data))
    then = Plan(operation=plan.operation, targets=tuple(targets), subject=plan.subject)
    same = then.fingerprint(proof.operation_id, place.identity) == proof.plan_fingerprint
    return then if same else None


class _Place:
    """The folder that holds the destination, and its journal."""

    def __init__(self, access: AiosAccess, writer: FolderWriter, outside: Path | None) -> None:
        self._journal = Journal(
            writer=writer,
            lock=CHANGES_LOCK,
            clock=access.clock,
            root=None if outside is None else str(outside),
        )
        self._writer = writer
        self._outside = None if outside is None else FolderWriter(outside, system=access.system)

    def __enter__(self) -> tuple[FolderWriter, Journal]:
        return self._outside or self._writer, self._journal

    def __exit__(self, *_: object) -> None:
        if self._outside is not None:
            self._outside.close()


def _prepared(access: AiosAccess, writer: FolderWriter, asked: PromotionRequest) -> _Prepared:
    to = next((known for known in DESTINATIONS if known == asked.to), None)
    operation = next((known for known in OPERATIONS if known == asked.operation), None)
    if to is None:
        raise argument_fault(f"the destination must be one of {', '.join(DESTINATIONS)}")
    if operation is None:
        raise argument_fault(f"the operation must be one of {', '.join(OPERATIONS)}")
    summary = checked_summary(asked.summary)
    rule = access.guard.secret_rule(summary)
    if rule is not None:
        raise write_fault(TEXT_REFUSED, detail=rule)
    row = chosen(SessionStore(writer).index().rows, asked.session)
    session = str(row["path"])
    now = access.clock()
    hashed = content_hash(summary)
    source_hash = sha256(writer.see(session).data)
    project = _project(access, asked.project)
    fields: dict[str, Json] = {
        "summary": summary,
        "source": SOURCE,
        "source_session_id": row["session_id"],
        "destination_type": to,
        "operation": operation,
        "source_hash": f"sha256:{source_hash}",
        "content_hash": hashed,
        "actor": "person",
    }
    if project is not None:
        fields |= {"project": project[0], "project_id": project[1]}
    subject: JsonObject = {"to": to, "operation": operation, "session": source_hash}
    subject |= {"content_hash": hashed, "day": _day(now)}
    if to in ("signal", "session-only"):
        plan = Plan(operation="promote", targets=(), subject=subject)
        signal = None
        if to == "signal":
            said = {"summary": summary, "source": SOURCE, "content_hash": hashed}
            signal = record_of(now, SIGNAL_TYPE, said | _named(project))
        event = record_of(now, EVENT_TYPE, fields)
        return _Prepared(plan=plan, event=event, signal=signal, notes=(f"to {to}",))
    outside, path = _destination(access, writer, to, asked.destination, project)
    fields["destination_path"] = path
    subject["destination"] = path
    with _Place(access, writer, outside) as (place, _):
        seen = place.see(path)
    if to == "skill" and not seen.exists:
        raise argument_fault("there is no such skill")
    text = seen.data.decode("utf-8", "surrogateescape")
    old = None if operation == "add" else matched(text, asked.match, session)
    notes: tuple[str, ...] = ()
    if operation == "add" and any(block.content_hash == hashed for block in blocks_of(text)):
        fields |= {"no_op": True, "reason": "content_hash_present"}
        notes = ("this is there already; only the event is recorded",)
        after = text
    else:
        block = block_text(summary, session, _day(now))
        after = changed(text, operation, block, old)
    if old is not None:
        fields["matched_content_hash"] = old.content_hash
    target = Target(path=path, before=seen, after=after.encode("utf-8", "surrogateescape"))
    return _Prepared(
        plan=Plan(operation="promote", targets=(target,), subject=subject),
        event=record_of(now, EVENT_TYPE, fields),
        outside=outside,
        notes=notes,
    )


def _destination(
    access: AiosAccess,
    writer: FolderWriter,
    to: Destination,
    destination: str | None,
    project: tuple[str, str] | None,
) -> tuple[Path | None, str]:
    """Work out the file: the root outside, if it is one, and the path below its root."""
    if to == "skill":
        if destination is None or "/" in destination:
            raise argument_fault("a skill is named by its folder")
        return None, f"{SKILLS}/{destination}/{SKILL_FILE}"
    relative = _relative(README if to == "project" and destination is None else destination)
    if to == "context":
        return None, f"{CONTEXT}/{relative}"
    if to == "project":
        if project is None:
            raise argument_fault("a project destination needs --project")
        return None, f"{PROJECTS}/{project[0]}/{relative}"
    del writer
    with FolderReader(access.root, files=access.files) as reader:
        stated = read_configuration(reader, Charges(Allowance(SEARCH_LIMIT)))
        vault = vault_place(access, reader, stated)
    if vault.outside is None:
        return None, f"{vault.inside}/{relative}"
    if not access.vault_granted(vault.outside):
        raise fault(EVIDENCE_UNAUTHORIZED)
    return vault.outside, relative


def _relative(path: str | None) -> str:
    parts = [] if path is None else path.split("/")
    if (
        path is None
        or not path.endswith(".md")
        or any(part in {"", ".", ".."} or part.startswith(".") for part in parts)
        or not path.isprintable()
        or "\\" in path
    ):
        raise argument_fault("the destination must be a relative path of a Markdown file")
    return path


def _project(access: AiosAccess, selector: str | None) -> tuple[str, str] | None:
    if selector is None:
        return None
    with FolderReader(access.root, files=access.files) as reader:
        found = resolve_identity(reader, Charges(Allowance(SEARCH_LIMIT)), selector)
    return (found.slug, found.id)


def _named(project: tuple[str, str] | None) -> dict[str, str]:
    return {} if project is None else {"project": project[0], "project_id": project[1]}


def _noted(writer: FolderWriter, promotion_id: str) -> bool:
    text = writer.see(EVENTS).data.decode("utf-8", "replace")
    return any(
        row is not None and row.get("promotion_id") == promotion_id for row in object_lines(text)
    )


def _day(now: datetime) -> str:
    return now.date().isoformat()
