"""Capturing: one transcript becomes one document, once, and grows with it.

Turns are compared by role and content. What is stored is the beginning of what is captured now:
the document grows in place. Equal or shorter: nothing happens. Anything else is a conflict: a
second document, and both rows say so. Secrets are replaced before a turn is compared or written,
the same way every time. A conversation that begins with "private chat" is never stored.
"""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import msgspec

from agentic_os.aios.context.brief import attached_project
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import SEARCH_LIMIT, Allowance, Charges
from agentic_os.aios.folder.json_text import JsonObject, instant_ms, iso_utc
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.policy import MemoryPolicy, resolve_policy
from agentic_os.aios.projects.selection import resolve_identity
from agentic_os.aios.sessions.codec import (
    Session,
    Turn,
    encode_body,
    parse,
    render,
    row_of,
)
from agentic_os.aios.sessions.copies import continues
from agentic_os.aios.sessions.faults import session_fault
from agentic_os.aios.sessions.store import (
    WARNED_ROWS,
    Index,
    Kind,
    SessionStore,
    marked,
    portable,
)
from agentic_os.aios.sessions.transcripts import Transcript
from agentic_os.aios.writing.opening import open_for_writing, require_memory
from agentic_os.aios.writing.writer import FolderWriter
from agentic_os.errors import AiosError

Outcome = Literal["created", "grown", "idempotent", "conflict_preserved", "refused"]

CAPTURED_TURN_BYTES: Final = 64 * 1024
"""A longer turn is cut, with a mark that says by how much."""

_ATTEMPTS: Final = 64


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """What capturing one transcript came to."""

    outcome: Outcome
    reason: str | None = None
    session_id: str | None = None
    path: str | None = None
    title: str | None = None
    turns: int = 0
    redacted: int = 0
    cut: int = 0
    crowded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRequest:
    """A transcript and where it came from; ``project`` overrides its working directory."""

    transcript: Transcript
    source_type: str
    source_path: str | None = None
    project: str | None = None
    wait_seconds: float | None = None


def capture(access: AiosAccess, policy: MemoryPolicy, asked: CaptureRequest) -> Captured:
    """Store a transcript, or what is new of it.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, DOTAIOS_SESSION_*, or a write fault.
    """
    require_memory(policy)
    found = asked.transcript
    if not found.turns:
        return Captured(outcome="refused", reason="empty_source")
    spoken = resolve_policy(first_message=_first_message(found), deferred_project=True)
    if spoken.mode == "off":
        return Captured(outcome="refused", reason="private")
    project = _project(access, asked)
    if spoken.mode == "project" and project is None:
        return Captured(outcome="refused", reason="project_unverified")
    turns, redacted, cut = _storable(access, found.turns)
    home = None if access.home is None else str(access.home)
    source = None if asked.source_path is None else portable(asked.source_path, home)
    made = Session(
        session_id="",
        agent=found.agent,
        captured_at=_moment(access, found),
        source_type=asked.source_type,
        source_path=source,
        project=None if project is None else project[0],
        project_id=None if project is None else project[1],
        title=_title(access, found),
        body=encode_body(turns),
        turns=len(turns),
    )
    with open_for_writing(access, policy) as writer:
        store = SessionStore(writer)
        with store.locked(wait_seconds=asked.wait_seconds):
            index = store.index()
            done = _stored(writer, store, index, made, home, iso_utc(access.clock()))
    return msgspec.structs.replace(
        done, redacted=redacted, cut=cut, crowded=len(index.rows) >= WARNED_ROWS
    )


def _stored(
    writer: FolderWriter,
    store: SessionStore,
    index: Index,
    made: Session,
    home: str | None,
    now: str,
) -> Captured:
    rows = _known(index, made, home)
    said = made.said()
    stored: list[tuple[JsonObject, Session]] = []
    for row in rows:
        have = read_session(writer, row)
        before = have.said()
        if before[: len(said)] == said or have.content_hash == made.content_hash:
            return _described("idempotent", have)
        stored.append((row, have))
    for row, have in stored:
        before = have.said()
        if continues(before, said):
            return _committed(store, index, "grow", grown_from(have, made), replaced=row)
    if len(stored) > 1:
        raise session_fault("RECONCILIATION_REQUIRED", str(stored[0][0]["path"]))
    _require_listed(writer, index, made, home)
    fresh = replace(made, session_id=identified(index))
    if not stored:
        return _committed(store, index, "create", fresh)
    copy = replace(fresh, captured_at=now)
    return _committed(store, index, "conflict", copy, beside=[row for row, _ in stored])


def _require_listed(writer: FolderWriter, index: Index, made: Session, home: str | None) -> None:
    """Refuse to store once more what another machine stored and the index does not list yet."""
    folder = made.path.rpartition("/")[0]
    beginning = made.path.removesuffix("_.md")
    listed = {row["path"] for row in index.rows}
    for name in writer.names(folder):
        path = f"{folder}/{name}"
        if path in listed or not path.startswith(beginning) or not name.endswith(".md"):
            continue
        with suppress(AiosError):  # what is no session is found by reconcile
            have = parse(writer.see(path).data)
            if have.content_hash == made.content_hash or (
                made.source_path is not None
                and portable(have.source_path or "", home) == portable(made.source_path, home)
            ):
                break
    else:
        return
    raise session_fault("RECONCILIATION_REQUIRED", path)


def grown_from(have: Session, made: Session) -> Session:
    """Return what was captured now under the identity of the first capture."""
    return replace(have, title=have.title or made.title, body=made.body, turns=made.turns)


def read_session(writer: FolderWriter, row: JsonObject) -> Session:
    """Read the document of a row and check that it is the row's.

    Raises:
        AiosError: DOTAIOS_SESSION_RECONCILIATION_REQUIRED, or what is wrong with the document.
    """
    path = str(row["path"])
    seen = writer.see(path, shared=True)
    if not seen.exists:
        raise session_fault("RECONCILIATION_REQUIRED", path)
    try:
        session = parse(seen.data)
    except AiosError as error:
        error.locate(path)
        raise
    same = (session.session_id, session.content_hash, session.path)
    if same != (row.get("session_id"), row.get("content_hash"), path):
        raise session_fault("RECONCILIATION_REQUIRED", path)
    return session


def _committed(
    store: SessionStore,
    index: Index,
    kind: Kind,
    session: Session,
    *,
    replaced: JsonObject | None = None,
    beside: Sequence[JsonObject] = (),
) -> Captured:
    row = row_of(session)
    rows = [have for have in index.rows if have is not replaced]
    if replaced is not None:
        row |= {k: v for k, v in replaced.items() if k in ("conflict_group", "conflict_of")}
    rows.append(row)
    if beside:
        together = {id(one) for one in (*beside, row)}
        others = [one for one in rows if id(one) not in together]
        rows = [*others, *marked([one for one in rows if id(one) in together])]
    document = render(session)
    store.commit(kind, index=index, rows=rows, target=session.path, document=document)
    outcomes: dict[Kind, Outcome] = {
        "create": "created",
        "grow": "grown",
        "conflict": "conflict_preserved",
    }
    return _described(outcomes[kind], session)


def _described(outcome: Outcome, session: Session) -> Captured:
    return Captured(
        outcome=outcome,
        session_id=session.session_id,
        path=session.path,
        title=session.title,
        turns=session.turns,
    )


def _known(index: Index, made: Session, home: str | None) -> list[JsonObject]:
    """Find the rows that may be of the same conversation."""
    if made.source_path is not None:
        return index.of_source(portable(made.source_path, home), home)
    return [row for row in index.rows if row.get("content_hash") == made.content_hash]


def identified(index: Index) -> str:
    """Draw an id whose first six characters no stored session has.

    Raises:
        AiosError: DOTAIOS_SESSION_ID_COLLISION.
    """
    taken = {str(row["session_id"])[:6] for row in index.rows}
    for _ in range(_ATTEMPTS):
        identifier = secrets.token_hex(4)
        if identifier[:6] not in taken:
            return identifier
    raise session_fault("ID_COLLISION")


def _storable(access: AiosAccess, turns: Sequence[Turn]) -> tuple[list[Turn], int, int]:
    """Take the secrets out of turns, and cut long ones."""
    kept: list[Turn] = []
    redacted = cut = 0
    for turn in turns:
        content, found = access.guard.redacted(turn.content)
        redacted += found
        data = content.encode("utf-8")
        if len(data) > CAPTURED_TURN_BYTES:
            cut += 1
            start = data[:CAPTURED_TURN_BYTES].decode("utf-8", "ignore")
            content = f"{start}\n[cut: {len(data) - len(start.encode())} more bytes]"
        kept.append(Turn(role=turn.role, content=content, time=_iso(turn.time)))
    return kept, redacted, cut


def _iso(time: str | None) -> str | None:
    instant = None if time is None else instant_ms(time, local=False)
    if instant is None:
        return None
    try:
        return iso_utc(datetime.fromtimestamp(instant / 1000, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def _moment(access: AiosAccess, found: Transcript) -> str:
    return _iso(found.started_at) or iso_utc(access.clock())


def _title(access: AiosAccess, found: Transcript) -> str | None:
    return None if found.title is None else access.guard.redacted(found.title)[0]


def _first_message(found: Transcript) -> str | None:
    spoken = (turn.content for turn in found.turns if turn.role == "user")
    return next((text for text in spoken if not text.startswith("<")), None)


def _project(access: AiosAccess, asked: CaptureRequest) -> tuple[str, str] | None:
    """Find the project of a conversation: the named one, else that of its working directory."""
    selector = asked.project
    cwd = asked.transcript.cwd
    if selector is None and cwd is not None and cwd.startswith("/") and cwd.isprintable():
        with suppress(AiosError):  # a folder that cannot tell its projects still stores the session
            selector = attached_project(access, Path(cwd))
    if selector is None:
        return None
    with FolderReader(access.root, files=access.files) as reader:
        charges = Charges(Allowance(SEARCH_LIMIT))
        identity = resolve_identity(reader, charges, selector)
    return (identity.slug, identity.id)
