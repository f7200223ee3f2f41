"""The documents of ``aios capture``: what an import came to, what is stored."""

from collections.abc import Iterable
from typing import Final

import msgspec

from agentic_os.aios.folder.json_text import JsonObject
from agentic_os.aios.sessions.capture import Captured
from agentic_os.aios.sessions.inventory import SessionReport, StoreStatus
from agentic_os.aios.writing.plan import ChangeData


class ImportedSession(msgspec.Struct, frozen=True, kw_only=True):
    """One transcript of an import, by its file name."""

    source: str
    result: Captured


class ImportData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``capture import``."""

    sessions: tuple[ImportedSession, ...]


class StoredSession(msgspec.Struct, frozen=True, kw_only=True):
    """One captured session, as its index row says."""

    session_id: str
    captured_at: str
    agent: str
    turns: int
    path: str
    project: str | None = None
    title: str | None = None
    conflict_of: str | None = None


class SessionList(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``capture list``, newest first."""

    sessions: tuple[StoredSession, ...]

    @classmethod
    def of(cls, rows: Iterable[JsonObject]) -> "SessionList":
        """Take the rows of an index."""
        return cls(sessions=tuple(msgspec.convert(row, StoredSession) for row in rows))


SESSION_DOCUMENTS: Final = {
    "aios-capture": SessionList,
    "aios-capture-delete": ChangeData,
    "aios-capture-hook": ChangeData,
    "aios-capture-import": ImportData,
    "aios-capture-reconcile": SessionReport,
    "aios-capture-status": StoreStatus,
}
