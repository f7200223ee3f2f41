"""Reading lines for people: ``ledger show`` with filters, in bounded memory."""

from collections import deque
from dataclasses import dataclass
from typing import Final

from agentic_os.errors import LedgerError
from agentic_os.ledger.answers import EntryView, ShowData
from agentic_os.ledger.file.storage import LineReader, Storage
from agentic_os.ledger.line.entry import Line
from agentic_os.ledger.line.frame import read_line

SHOWN_LINES: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFilter:
    """Which lines to show; an empty or absent member lets everything through.

    ``type`` is a whole type or a prefix that ends with a dot; ``contains`` is searched in the
    payload's canonical text.
    """

    type: str = ""
    rings: frozenset[int] = frozenset()
    role: str = ""
    first_seq: int = 1
    last_seq: int | None = None
    contains: str = ""

    def lets(self, line: Line) -> bool:
        """Whether a line matches."""
        if line.seq < self.first_seq or (self.last_seq is not None and line.seq > self.last_seq):
            return False
        is_prefix = self.type.endswith(".") and line.type.startswith(self.type)
        if self.type and line.type != self.type and not is_prefix:
            return False
        if self.rings and line.ring not in self.rings:
            return False
        if self.role and line.role != self.role:
            return False
        return self.contains.encode() in line.payload


def show_lines(storage: Storage, wanted: LineFilter, *, limit: int = 50) -> ShowData:
    """Return the last ``limit`` (at most ``SHOWN_LINES``) lines that match, without verification.

    Raises:
        VerificationError: ``LEDGER_LINE_INVALID`` when a line cannot be read at all.
        LedgerError: ``LEDGER_UNREADABLE``.
    """
    kept: deque[EntryView] = deque(maxlen=max(0, min(limit, SHOWN_LINES)))
    matched = lines = 0
    try:
        for raw in LineReader(storage):
            lines += 1
            line = read_line(raw)
            if wanted.lets(line):
                matched += 1
                kept.append(view_of(line))
    except OSError as error:
        raise LedgerError(
            f"the ledger cannot be read: {error.strerror}", code="LEDGER_UNREADABLE"
        ) from None
    return ShowData(entries=tuple(kept), matched=matched, lines=lines)


def view_of(line: Line) -> EntryView:
    """Return a line as it is printed."""
    return EntryView(
        seq=line.seq,
        type=line.type,
        layer=line.layer,
        ring=line.ring,
        role=line.role,
        ts=line.ts,
        hash=line.hash,
        payload=line.payload.decode(),
    )
