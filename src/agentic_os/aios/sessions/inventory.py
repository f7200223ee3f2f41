"""What is stored: listing, deleting, and whether the index says what the files say.

``reconcile`` walks the documents and reports. With ``apply`` it settles the copies that a sync tool
left (``copies``), puts the leftovers of a poisoned transaction aside and writes the index anew from
the documents. Whatever is put aside keeps its bytes in ``.dotaios/changes/copy-*``.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import SESSION_INDEX_BYTES
from agentic_os.aios.folder.json_text import JsonObject, iso_utc, object_lines
from agentic_os.aios.folder.since import since_instant
from agentic_os.aios.folder.tree import SESSION_INDEX, SESSION_STORE, SESSIONS
from agentic_os.aios.notes.records import line_of
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.sessions.capture import read_session
from agentic_os.aios.sessions.codec import Session, parse, render, row_of, sha256
from agentic_os.aios.sessions.copies import Settlement, is_index_copy, settle
from agentic_os.aios.sessions.faults import session_fault
from agentic_os.aios.sessions.store import (
    ROWS,
    Index,
    SessionStore,
    document_paths,
    index_bytes,
    marked,
    portable,
)
from agentic_os.aios.writing import staging
from agentic_os.aios.writing.changes import CHANGES
from agentic_os.aios.writing.faults import PLAN_STALE, write_fault
from agentic_os.aios.writing.locks import SESSIONS_LOCK, holding
from agentic_os.aios.writing.opening import open_for_writing
from agentic_os.aios.writing.plan import ChangeData, Plan, Proof, Target, described
from agentic_os.aios.writing.writer import PRIVATE, FolderWriter
from agentic_os.errors import AiosError

LIST_LIMIT: Final = 20
MISSED: Final = ".dotaios/capture-missed.jsonl"
SHORT_ID_CHARS: Final = 4

_TOO_LARGE: Final = "DOTAIOS_SESSION_DOCUMENT_TOO_LARGE"
_POISON: Final = "DOTAIOS_SESSION_STORE_POISONED"


class SessionReport(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``capture reconcile``: how index and documents differ, by kind.

    ``paths`` names the documents and rows that are meant; ``applied`` says that the index was
    written anew.
    """

    documents: int
    rows: int
    findings: dict[str, int]
    paths: tuple[str, ...]
    applied: bool


class StoreStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``capture status``: how much is stored, how much may be, what was missed.

    ``copies`` counts what a sync tool left beside the index: ``capture reconcile`` settles it.
    """

    sessions: int
    limit: int
    index_bytes: int
    conflicts: int
    copies: int
    agents: dict[str, int]
    missed: tuple[str, ...]
    unfinished: bool


def listed(
    access: AiosAccess,
    policy: MemoryPolicy,
    *,
    agent: str | None = None,
    project: str | None = None,
    since: str | None = None,
    limit: int = LIST_LIMIT,
) -> list[JsonObject]:
    """List rows of the index, newest first.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, DOTAIOS_ARGUMENT_INVALID, DOTAIOS_SESSION_*.
    """
    oldest = None if since is None else since_instant(since, access.clock())
    with open_for_writing(access, policy) as writer:
        rows = SessionStore(writer).index().rows
    kept = [
        row
        for row in rows
        if (agent is None or row.get("agent") == agent)
        and (project is None or project in (row.get("project"), row.get("project_id")))
        and (oldest is None or str(row["captured_at"]) >= oldest)
    ]
    kept.sort(key=lambda row: str(row["captured_at"]), reverse=True)
    return kept[:limit]


def delete(
    access: AiosAccess, policy: MemoryPolicy, wanted: str, proof: Proof | None
) -> ChangeData:
    """Preview or apply the removal of one session; its bytes stay among the store's leftovers.

    Raises:
        AiosError: DOTAIOS_SESSION_NOT_FOUND, _AMBIGUOUS; DOTAIOS_PLAN_STALE; a write fault.
    """
    with open_for_writing(access, policy) as writer:
        store = SessionStore(writer)
        if proof is None:
            return described(*_deletion(writer, store.index(), wanted, None), "preview", ())
        with store.locked():
            index = store.index()
            plan, proven = _deletion(writer, index, wanted, proof)
            if proven.plan_fingerprint != proof.plan_fingerprint:
                raise write_fault(PLAN_STALE)
            path = plan.targets[0].path
            rows = marked([row for row in index.rows if row["path"] != path])
            store.commit("delete", index=index, rows=rows, target=path)
        return described(plan, proof, "applied", ())


def chosen(rows: Sequence[JsonObject], wanted: str) -> JsonObject:
    """Find a row by id, by the beginning of one, or by path.

    Raises:
        AiosError: DOTAIOS_SESSION_NOT_FOUND, DOTAIOS_SESSION_AMBIGUOUS.
    """
    exact = [row for row in rows if wanted in (row["session_id"], row["path"])]
    near = [
        row
        for row in rows
        if len(wanted) >= SHORT_ID_CHARS and str(row["session_id"]).startswith(wanted)
    ]
    found = exact or near
    if not found:
        raise session_fault("NOT_FOUND")
    if len(found) > 1:
        raise session_fault("AMBIGUOUS")
    return found[0]


def note_missed(
    access: AiosAccess, policy: MemoryPolicy, *, agent: str, source: str, reason: str
) -> None:
    """Note a transcript that could not be captured, once for a reason.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, or a write fault.
    """
    home = None if access.home is None else str(access.home)
    row: JsonObject = {
        "ts": iso_utc(access.clock()),
        "agent": agent,
        "source_path": portable(source, home),
        "reason": reason,
    }
    with open_for_writing(access, policy) as writer:
        if (row["source_path"], reason) not in {_cause(one) for one in _missed(writer)}:
            writer.append(MISSED, line_of(row))


def status(access: AiosAccess, policy: MemoryPolicy) -> StoreStatus:
    """Say how full the store is and what could not be captured.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, DOTAIOS_SESSION_*.
    """
    with open_for_writing(access, policy) as writer:
        rows = SessionStore(writer).index().rows
        stored = {row.get("source_path") for row in rows}
        missed = [
            row
            for row in _missed(writer)
            if row.get("reason") == _TOO_LARGE or row.get("source_path") not in stored
        ]
        names = writer.names(SESSION_STORE)
        stamp = writer.stamp(SESSION_INDEX)
        copies = len(_index_copies(writer))
    return StoreStatus(
        sessions=len(rows),
        limit=ROWS,
        index_bytes=0 if stamp is None else stamp.size,
        conflicts=sum("conflict_of" in row for row in rows),
        copies=copies,
        agents=dict(Counter(str(row.get("agent")) for row in rows)),
        missed=tuple(
            f"{row.get('ts')} {row.get('source_path')}: {row.get('reason')}" for row in missed
        ),
        unfinished=any(name != "store.lock" for name in names),
    )


def reconcile(access: AiosAccess, policy: MemoryPolicy, *, apply: bool = False) -> SessionReport:
    """Compare index and documents, and with ``apply`` write the index anew from the documents.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, DOTAIOS_SESSION_*, or a write fault.
    """
    with open_for_writing(access, policy) as writer:
        store = SessionStore(writer)
        home = None if access.home is None else str(access.home)
        if not apply:
            return _compared(writer, home).report
        now = access.clock()
        try:
            with store.locked():
                return _rebuilt(writer, store, home, now)
        except AiosError as error:
            if error.code != _POISON:
                raise
        with holding(writer, SESSIONS_LOCK):
            _put_poison_aside(writer, now)
            return _rebuilt(writer, store, home, now)


def _missed(writer: FolderWriter) -> list[JsonObject]:
    rows = object_lines(writer.see(MISSED).data.decode("utf-8", "replace"))
    return [row for row in rows if row is not None]


def _cause(row: JsonObject) -> tuple[object, object]:
    return (row.get("source_path"), row.get("reason"))


def _deletion(
    writer: FolderWriter, index: Index, wanted: str, proof: Proof | None
) -> tuple[Plan, Proof]:
    from uuid import uuid4

    path = str(chosen(index.rows, wanted)["path"])
    read_session(writer, chosen(index.rows, wanted))
    plan = Plan(
        operation="session-delete",
        targets=(Target(path=path, before=writer.see(path), after=None),),
    )
    operation_id = str(uuid4()) if proof is None else proof.operation_id
    fingerprint = plan.fingerprint(operation_id, writer.identity)
    return plan, Proof(operation_id=operation_id, plan_fingerprint=fingerprint)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """What is wrong, and what makes it right."""

    report: SessionReport
    rows: list[JsonObject]
    settlement: Settlement
    strays: list[str]


def _rebuilt(
    writer: FolderWriter, store: SessionStore, home: str | None, now: datetime
) -> SessionReport:
    compared = _compared(writer, home)
    settlement = compared.settlement
    for path in settlement.placed:
        seen = writer.see(path)
        if seen.exists:
            aside = _aside(path, now)
            writer.put(aside, seen.data, expected=writer.see(aside), mode=PRIVATE)
        writer.put(path, render(settlement.documents[path]), expected=seen, mode=PRIVATE)
    for path in (*settlement.redundant, *compared.strays):
        _put_aside(writer, path, now)
    changed = bool(settlement.placed or settlement.redundant or compared.strays)
    seen = writer.see(SESSION_INDEX, limit_bytes=SESSION_INDEX_BYTES)
    if seen.data != index_bytes(compared.rows):
        store.commit("reconcile", index=Index(rows=(), seen=seen), rows=compared.rows)
        changed = True
    return msgspec.structs.replace(compared.report, applied=changed)


def _put_poison_aside(writer: FolderWriter, now: datetime) -> None:
    """Move what a poisoned transaction left out of the store."""
    for name in writer.names(SESSION_STORE):
        if name == "pending" or name.startswith("."):
            aside = f"{CHANGES}/session-poisoned-{now:%Y%m%dT%H%M%S%f}-{name.lstrip('.')}"
            writer.make_folder(CHANGES)
            staging.rename(writer, f"{SESSION_STORE}/{name}", aside)


def _put_aside(writer: FolderWriter, path: str, now: datetime) -> None:
    """Move a file or a folder to where its bytes are kept."""
    writer.make_folder(CHANGES)
    staging.rename(writer, path, _aside(path, now))


def _aside(path: str, now: datetime) -> str:
    return f"{CHANGES}/copy-{now:%Y%m%dT%H%M%S%f}-{sha256(path)[:16]}"


def _index_copies(writer: FolderWriter) -> list[str]:
    return [f"{SESSIONS}/{name}" for name in writer.names(SESSIONS) if is_index_copy(name)]


def _strays(writer: FolderWriter) -> list[str]:
    """List the copies of the index and of the store's own files."""
    own = [
        f"{SESSION_STORE}/{name}"
        for name in writer.names(SESSION_STORE)
        if name != "pending" and not name.startswith((".", "store.lock"))
    ]
    return [*_index_copies(writer), *own]


def _compared(writer: FolderWriter, home: str | None) -> _Compared:
    differences = _Differences()
    settlement = settle(_documents(writer, differences), home)
    strays = _strays(writer)
    for path in (*settlement.redundant, *strays):
        differences.add("conflict_copies", path)
    for path in settlement.undecided:
        differences.add("invalid_markdown", path)
    stored = _stored_rows(writer, differences)
    derived = {path: row_of(session) for path, session in settlement.documents.items()}
    for path in derived.keys() - stored.keys():
        differences.add("projection_missing" if not stored else "orphan_markdown", path)
    rows = marked(list(derived.values()))
    wanted = {str(row["path"]): row for row in rows}
    for path, row in stored.items():
        if wanted.get(path) != row:
            differences.add("stale_rows", path)
    repeated = (
        ("duplicate_ids", [str(row["session_id"])[:6] for row in rows]),
        ("duplicate_sources", _sources(rows, home)),
    )
    for kind, values in repeated:
        for value, count in Counter(values).items():
            if count > 1:
                differences.add(kind, value)
    report = SessionReport(
        documents=len(derived),
        rows=len(stored),
        findings=dict(sorted(differences.counts.items())),
        paths=tuple(sorted(differences.paths)),
        applied=False,
    )
    return _Compared(report=report, rows=rows, settlement=settlement, strays=strays)


class _Differences:
    """How index and documents differ, by kind."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.paths: list[str] = []

    def add(self, kind: str, path: str) -> None:
        """Note one difference."""
        self.counts[kind] += 1
        self.paths.append(f"{kind}: {path}")


def _documents(writer: FolderWriter, differences: _Differences) -> dict[str, Session]:
    found: dict[str, Session] = {}
    for path in document_paths(writer):
        try:
            found[path] = parse(writer.see(path).data)
        except AiosError:
            differences.add("invalid_markdown", path)
    return found


def _sources(rows: Sequence[JsonObject], home: str | None) -> list[str]:
    return [
        portable(str(row["source_path"]), home)
        for row in rows
        if "source_path" in row and "conflict_group" not in row
    ]


def _stored_rows(writer: FolderWriter, differences: _Differences) -> dict[str, JsonObject]:
    seen = writer.see(SESSION_INDEX, limit_bytes=SESSION_INDEX_BYTES)
    rows: dict[str, JsonObject] = {}
    for row in object_lines(seen.data.decode("utf-8", "surrogateescape")):
        path = None if row is None else row.get("path")
        if row is None or not isinstance(path, str) or not isinstance(row.get("session_id"), str):
            differences.add("malformed_rows", SESSION_INDEX)
        elif not path.startswith(f"{SESSIONS}/") or ".." in path.split("/"):
            differences.add("unsafe_rows", SESSION_INDEX)
        elif path in rows:
            differences.add("duplicate_paths", path)
        else:
            rows[path] = row
    return rows
