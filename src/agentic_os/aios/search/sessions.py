"""The sessions scope of a search: newest index rows first, bodies only where needed.

A session whose title, agent or project holds the query is a hit without its body; else
its body is read. The scope is not ranked: it stops at the limit (DotAIOS convention).
"""

import re
from datetime import date
from typing import TYPE_CHECKING, Final

from agentic_os.aios.folder.allowance import FILE_BYTES, SESSION_INDEX_BYTES, Amount, Charges
from agentic_os.aios.folder.faults import (
    EVIDENCE_NOT_REGULAR,
    EVIDENCE_PATH_UNSAFE,
    SOURCE_TOO_LARGE,
    fault,
)
from agentic_os.aios.folder.front_matter import without_front_matter
from agentic_os.aios.folder.json_text import JsonObject, object_lines
from agentic_os.aios.folder.tree import SESSION_INDEX
from agentic_os.aios.projects.attribution import in_search
from agentic_os.aios.search.context import PhaseCharges, ScopeOutcome, SearchContext
from agentic_os.aios.search.snippets import Snippet
from agentic_os.aios.search.values import SessionHit
from agentic_os.aios.sessions.codec import unescaped

if TYPE_CHECKING:
    from agentic_os.aios.folder.layer import Stamp

AROUND_CHARS: Final = 60
"""Characters shown on each side of a match in a body."""

_ESCAPED = re.compile(r"^body_encoding: escaped-lines-v1$", re.MULTILINE)
_PATH = re.compile(r"memory/sessions/(\d{4}-\d{2}-\d{2})/[^/\\\x00-\x1f\ud800-\udfff]+\.md")


class SessionScope:
    """The sessions scope of one search."""

    def __init__(self, context: SearchContext) -> None:
        """Prepare the scope; reads nothing yet."""
        self._context = context
        self._index: Stamp | None = None
        self._hits: list[SessionHit] = []
        self._withheld = 0

    def inspect(self, charges: PhaseCharges) -> None:
        """Measure the index; reads no content."""
        self._index = self._measured(SESSION_INDEX, charges, SESSION_INDEX_BYTES)

    def discover(self, charges: PhaseCharges) -> None:
        """Replay the search over the index, reading each body that it needs."""
        if self._index is None:
            return
        read = self._context.reader.read_seen(
            SESSION_INDEX, self._index, limit_bytes=SESSION_INDEX_BYTES, charges=charges.work
        )
        rows: list[JsonObject] = []
        for row in object_lines(read.text):
            charges.both.charge_entries(1)
            if row is not None and self._wanted(row):
                rows.append(row)
        for row in reversed(rows):
            if len(self._hits) == self._context.limit:
                return
            self._consider(row, charges)

    def execute(self, _charges: Charges) -> ScopeOutcome:
        """Return what discovery found."""
        return ScopeOutcome(hits=tuple(self._hits), withheld=self._withheld)

    def _wanted(self, row: JsonObject) -> bool:
        """Whether the filters and the memory choice let a row through."""
        filters, identity = self._context.filters, self._context.identity
        if identity is not None and not in_search(row, slug=identity.slug, project_id=identity.id):
            return False
        captured = row.get("captured_at")
        return (
            (filters.agent is None or row.get("agent") == filters.agent)
            and (filters.project is None or row.get("project") == filters.project)
            and (filters.since is None or (isinstance(captured, str) and captured >= filters.since))
        )

    def _consider(self, row: JsonObject, charges: PhaseCharges) -> None:
        words = self._context.text.lower()
        shown = (_text(row, name) or "" for name in ("title", "agent", "project"))
        if any(words in value.lower() for value in shown):
            self._add(row, None)
            return
        path = body_path(row)
        body = None if path is None else self._body(path, charges)
        if body is None:
            return
        snippet = body_snippet(body, words)
        if snippet is not None:
            self._add(row, snippet)

    def _body(self, path: str, charges: PhaseCharges) -> str | None:
        stamp = self._measured(path, charges)
        if stamp is None:
            return None
        read = self._context.reader.read_seen(
            path, stamp, limit_bytes=FILE_BYTES, charges=charges.work
        )
        text = read.text
        body = without_front_matter(text)
        return unescaped(body) if _ESCAPED.search(text) else body

    def _add(self, row: JsonObject, snippet: Snippet | None) -> None:
        title = _text(row, "title") or "(untitled)"
        shown = (title, _text(row, "agent") or "", _text(row, "project") or "")
        if self._context.guard.holds_secret(*shown, snippet.content if snippet else ""):
            self._withheld += 1
            return
        captured = _text(row, "captured_at")
        path = body_path(row) or ""
        self._hits.append(
            SessionHit(
                source=f"sessions/{path}",
                file=path,
                title=title,
                agent=_text(row, "agent"),
                date=None if captured is None else captured[:10],
                session_id=_text(row, "session_id"),
                project=_text(row, "project"),
                conflict_of=_text(row, "conflict_of"),
                matches=() if snippet is None else (snippet,),
            )
        )

    def _measured(
        self, path: str, charges: PhaseCharges, limit_bytes: int = FILE_BYTES
    ) -> "Stamp | None":
        stamp = self._context.reader.inspect(path, hold=True)
        if stamp is None:
            return None
        if not stamp.is_file:
            raise fault(EVIDENCE_PATH_UNSAFE if stamp.is_link else EVIDENCE_NOT_REGULAR)
        if stamp.size > limit_bytes:
            raise fault(SOURCE_TOO_LARGE)
        charges.demand.charge(Amount(bytes=stamp.size, files=1))
        return stamp


def body_path(row: JsonObject) -> str | None:
    """Return the path of a session's body when the row names a valid one.

    Raises:
        AiosError: DOTAIOS_EVIDENCE_PATH_UNSAFE for a path that leaves the folder.
    """
    path = row.get("path")
    if not isinstance(path, str):
        return None
    if path.startswith("/") or ".." in path.split("/"):
        raise fault(EVIDENCE_PATH_UNSAFE)
    found = _PATH.fullmatch(path)
    if found is None:
        return None
    try:
        date.fromisoformat(found.group(1))
    except ValueError:
        return None
    return path


def body_snippet(body: str, words: str) -> Snippet | None:
    """Cut what stands around the first match of lower-cased ``words``."""
    at = body.lower().find(words)
    if at < 0:
        return None
    start = max(0, at - AROUND_CHARS)
    end = min(len(body), at + len(words) + AROUND_CHARS)
    before, after = "..." if start > 0 else "", "..." if end < len(body) else ""
    return Snippet(
        line=0,
        line_end=0,
        content=f"{before}{body[start:end].strip()}{after}",
        match="phrase",
        area="body",
    )


def _text(row: JsonObject, name: str) -> str | None:
    value = row.get(name)
    return value if isinstance(value, str) and value else None
