"""The sources of a projection: each read once, bounded, without what holds a secret."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import tzinfo
from typing import Final, TypeVar

from agentic_os.aios.context.notes import (
    carry_over,
    current_work,
    focus,
    header_text,
    plan,
    recent_decisions,
)
from agentic_os.aios.context.text import ContextItems, Excerpt, ProjectBlock
from agentic_os.aios.context.timeline import (
    SessionRow,
    TimelineRow,
    active_project,
    newest_first,
    session_rows,
    timeline_rows,
    without_mirrors,
)
from agentic_os.aios.folder.allowance import Allowance, Amount, Charges
from agentic_os.aios.folder.faults import (
    BUDGET_EXCEEDED,
    NOT_REGULAR,
    SIGNAL_FILE_LIMIT,
    SIGNAL_FOLDER_LIMIT,
    UNSAFE_PATH,
    fault,
)
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.tree import DAILY, DECISIONS_LOG, EVENTS, SESSION_INDEX, SIGNALS
from agentic_os.aios.folder.withheld import SecretGuard
from agentic_os.aios.follow.references import evidence_of, root_hash
from agentic_os.aios.projects.attribution import in_projection
from agentic_os.aios.projects.catalog import read_catalog
from agentic_os.aios.projects.values import ProjectRecord, ProjectScope, bare_record

SHOWN_SIGNALS: Final = 8
SHOWN_EVENTS: Final = 8
PROJECTION_BYTES: Final = 16 * 1024 * 1024
PROJECTION_FILES: Final = 512
PROJECTION_ENTRIES: Final = 10_000
MARKDOWN_BYTES: Final = 1024 * 1024
DECISIONS_BYTES: Final = 4 * 1024 * 1024
TIMELINE_BYTES: Final = 8 * 1024 * 1024
SIGNAL_FILE_BYTES: Final = 1024 * 1024
SIGNAL_FOLDER_ENTRIES: Final = 8192
SIGNAL_FILES: Final = 64

SIGNAL_NAME = re.compile(r"(?:.*-)?(\d{4}-\d{2}-\d{2})\.jsonl", re.DOTALL)
_BUDGET_CODES: Final = dict.fromkeys(("files", "bytes", "entries"), BUDGET_EXCEEDED)

Row = TypeVar("Row", SessionRow, TimelineRow)


class ProjectionSources:
    """Reads the sources of one projection.

    ``withheld`` counts what was left out because it holds a secret.

    Args:
        reader: the open folder.
        guard: finds text that holds a secret.
        zone: the local time zone, whose days today and yesterday are.
    """

    def __init__(
        self, reader: FolderReader, guard: SecretGuard, zone: tzinfo | None = None
    ) -> None:
        """Open the projection's allowance."""
        limit = Amount(bytes=PROJECTION_BYTES, files=PROJECTION_FILES, entries=PROJECTION_ENTRIES)
        self.charges = Charges(Allowance(limit, codes=_BUDGET_CODES))
        self.withheld = 0
        self._reader = reader
        self._guard = guard
        self._zone = zone
        self._root = root_hash(reader.root_stamp)
        self._catalog: tuple[ProjectRecord, ...] = ()

    def shared(self, items: ContextItems, days: tuple[str, str]) -> ContextItems:
        """Add what only shared mode reads; ``days`` are today and yesterday."""
        today, yesterday = (self._text(f"{DAILY}/{day}.md", MARKDOWN_BYTES) for day in days)
        log = self._text(DECISIONS_LOG, DECISIONS_BYTES)
        self._catalog = read_catalog(self._reader, self.charges)
        return replace(
            items,
            identity=self._header("context/identity.md", header_text),
            priorities=self._header("context/priorities.md", header_text),
            current_work=self._header("context/work.md", current_work),
            decisions=self._clean(recent_decisions(log)),
            focus="".join(self._clean((focus(today),))),
            plan=self._clean(plan(today)),
            carry_over=self._clean(carry_over(today, yesterday)),
        )

    def timeline(
        self,
        items: ContextItems,
        days: tuple[str, str],
        scope: ProjectScope | None,
        sessions: int,
    ) -> ContextItems:
        """Add sessions, signals and events, and the project that the sessions suggest."""
        index = self._attributed(session_rows(self._text(SESSION_INDEX, TIMELINE_BYTES)), scope)
        signals = self._attributed(newest_first(self._signals(days), days), scope)
        events = self._attributed(
            newest_first(self._rows(self._text(EVENTS, TIMELINE_BYTES), days), days), scope
        )
        project = items.project if scope is not None else self._inferred(index)
        return replace(
            items,
            project=project,
            sessions=self._first(index, sessions, _session_texts),
            signals=self._first(without_mirrors(signals, events), SHOWN_SIGNALS, _row_texts),
            events=self._first(events, SHOWN_EVENTS, _row_texts),
        )

    def block(
        self, record: ProjectRecord, *, selected: ProjectScope | None = None
    ) -> ProjectBlock | None:
        """Make the project block, without an excerpt that holds a secret."""
        details = (record.name, record.status, *record.domains, record.description)
        if self._guard.holds_secret(*details):
            self.withheld += 1
            return None
        if self._guard.holds_secret(record.excerpt):
            self.withheld += 1
            record = replace(record, excerpt="", excerpt_clipped=True)
        evidence = None
        if selected is not None and record.read is not None:
            evidence = evidence_of(
                source=record.source, read=record.read, root=self._root, project_id=selected.id
            )
        return ProjectBlock(record=record, evidence=evidence)

    def _rows(self, text: str, days: tuple[str, str], file_date: str = "") -> Iterable[TimelineRow]:
        return timeline_rows(text, file_date=file_date, days=days, zone=self._zone)

    def _inferred(self, index: list[SessionRow]) -> ProjectBlock | None:
        name = active_project(index)
        catalog = self._catalog
        if name is None:
            found = next((record for record in catalog if record.status == "active"), None)
        else:
            known = (r for r in catalog if name in (r.identity.slug, r.identity.alias))
            found = next(known, None) or bare_record(name)
        return None if found is None else self.block(found)

    def _signals(self, days: tuple[str, str]) -> Iterable[TimelineRow]:
        entries = self._reader.entries(
            SIGNALS,
            limit_entries=SIGNAL_FOLDER_ENTRIES,
            too_many=SIGNAL_FOLDER_LIMIT,
            charges=self.charges,
        )
        dated = [(entry, SIGNAL_NAME.fullmatch(entry.name)) for entry in entries or ()]
        chosen = [
            (entry, match.group(1))
            for entry, match in dated
            if match is not None and match.group(1) in days
        ]
        if len(chosen) > SIGNAL_FILES:
            raise fault(SIGNAL_FILE_LIMIT)
        rows: list[TimelineRow] = []
        for entry, day in chosen:
            if entry.kind != "file":
                raise fault(UNSAFE_PATH if entry.kind == "link" else NOT_REGULAR)
            text = self._text(f"{SIGNALS}/{entry.name}", SIGNAL_FILE_BYTES)
            rows.extend(self._rows(text, days, day))
        return rows

    def _header(self, source: str, shorten: Callable[[str], str]) -> Excerpt | None:
        read = self._reader.read(source, limit_bytes=MARKDOWN_BYTES, charges=self.charges)
        text = "" if read is None else shorten(read.text.replace("\r\n", "\n"))
        if read is None or not text:
            return None
        if self._guard.holds_secret(text):
            self.withheld += 1
            return None
        evidence = evidence_of(source=source, read=read, root=self._root, project_id=None)
        return Excerpt(text=text, evidence=evidence)

    def _text(self, relative: str, limit_bytes: int) -> str:
        read = self._reader.read(relative, limit_bytes=limit_bytes, charges=self.charges)
        return "" if read is None else read.text.replace("\r\n", "\n")

    def _clean(self, texts: Iterable[str]) -> tuple[str, ...]:
        kept: list[str] = []
        for text in texts:
            if self._guard.holds_secret(text):
                self.withheld += 1
            else:
                kept.append(text)
        return tuple(kept)

    def _first(
        self, rows: list[Row], count: int, texts: Callable[[Row], tuple[str, ...]]
    ) -> tuple[Row, ...]:
        """Take the first rows that hold no secret."""
        kept: list[Row] = []
        for row in rows:
            if len(kept) == count:
                break
            if self._guard.holds_secret(*texts(row)):
                self.withheld += 1
            else:
                kept.append(row)
        return tuple(kept)

    @staticmethod
    def _attributed(rows: list[Row], scope: ProjectScope | None) -> list[Row]:
        return rows if scope is None else [row for row in rows if in_projection(row.row, scope)]


def _session_texts(row: SessionRow) -> tuple[str, ...]:
    return (row.title, row.agent, row.project)


def _row_texts(row: TimelineRow) -> tuple[str, ...]:
    return (row.summary,)
