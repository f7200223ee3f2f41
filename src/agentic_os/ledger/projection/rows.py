"""The projection's rows as an entry may touch them: create, upsert, move, join.

Every operation says what it found wrong instead of doing nothing: a signed entry that applies
to nothing is an error, live and in replay (AII OS formats, section 1.4).
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from agentic_os.errors import LedgerError
from agentic_os.ledger.line import payloads as p
from agentic_os.ledger.line.vocabulary import EntryType
from agentic_os.ledger.projection.database import Database, Row, Value
from agentic_os.ledger.projection.schema import TABLES
from agentic_os.ledger.rule.gate import AuthorshipClass
from agentic_os.ledger.rule.genesis import raw_key

LIVE: Final = "live"
GONE: Final = ("archived", "superseded")
DERIVED_FROM: Final = "DERIVED_FROM"
_STATED: Final = 1
_FOLLOWS: Final = 0

_INSERT: Final = {table.name: table.insert for table in TABLES}


class Event(NamedTuple):
    """An entry at its place: what is materialised. ``hash`` is empty while it is tried."""

    seq: int
    hash: str
    ts: str
    role: str
    kind: EntryType
    payload: p.Payload
    payload_bytes: bytes


class _Entity(NamedTuple):
    kind: str
    ring: int
    state: str
    text: str
    confidence: float | None
    worded_seq: int


class Rows:
    """The rows of one database, touched by one event."""

    __slots__ = ("_db", "event")

    def __init__(self, db: Database, event: Event) -> None:
        """Work inside the caller's transaction."""
        self._db = db
        self.event = event

    def insert(self, table: str, *values: Value) -> None:
        """Add a row."""
        self._db.execute(_INSERT[table], values)

    def require(self, ids: tuple[str, ...], *kinds: str) -> None:
        """Every id exists, is not archived or superseded, and is of one of the kinds.

        Raises:
            LedgerError: ``LEDGER_TARGET_MISSING``, ``LEDGER_TARGET_KIND``.
        """
        for entity_id in ids:
            found = self._find(entity_id)
            if found is None or found.state in GONE:
                raise _missing(entity_id)
            if kinds and found.kind not in kinds:
                raise _other_kind(entity_id, found.kind)

    def create(
        self,
        entity_id: str,
        kind: str,
        text: str,
        *,
        authorship: AuthorshipClass = "resident",
        state: str = LIVE,
        confidence: float | None = None,
        raw: bool = False,
        private: bool = False,
    ) -> None:
        """Add an entity.

        Raises:
            LedgerError: ``LEDGER_TARGET_EXISTS``.
        """
        if self._find(entity_id) is not None:
            raise LedgerError(f"{entity_id} exists already", code="LEDGER_TARGET_EXISTS")
        event = self.event
        self.insert(
            "entities",
            entity_id,
            kind,
            event.kind.ring,
            authorship,
            state,
            text,
            confidence,
            int(raw),
            int(private),
            event.payload_bytes.decode(),
            event.seq,
            event.seq,
            event.seq,
            event.ts,
        )

    def upsert(
        self,
        entity_id: str,
        kind: str,
        text: str,
        *,
        authorship: AuthorshipClass = "resident",
        confidence: float | None = None,
        takes_over: str = "",
    ) -> None:
        """Add or change an entity; other words put it back to the event's ring and authorship.

        A retired entity comes back at the event's ring, whatever its words were worth before.
        ``takes_over`` names a kind that an entity of this id may have had before.

        Raises:
            LedgerError: ``LEDGER_TARGET_KIND`` when the id is something else.
        """
        found = self._find(entity_id)
        if found is None:
            self.create(entity_id, kind, text, authorship=authorship, confidence=confidence)
            return
        if found.kind not in {kind, takes_over}:
            raise _other_kind(entity_id, found.kind)
        same = found.kind == kind and found.text == text and found.state not in GONE
        event = self.event
        self._db.execute(
            "UPDATE entities SET kind = ?, ring = ?, state = ?, text = ?, confidence = ?, "
            "raw = 0, details = ?, updated_seq = ?, worded_seq = ?, ts = ? WHERE id = ?",
            (
                kind,
                found.ring if same else event.kind.ring,
                LIVE,
                text,
                found.confidence if same and confidence is None else confidence,
                event.payload_bytes.decode(),
                event.seq,
                found.worded_seq if same else event.seq,
                event.ts,
                entity_id,
            ),
        )
        if not same:
            self._db.execute(
                "UPDATE entities SET authorship = ? WHERE id = ?", (authorship, entity_id)
            )

    def set_state(self, entity_id: str, kind: str, state: str) -> None:
        """Move an existing entity to a state."""
        self._set(entity_id, kind, "state", state)

    def set_ring(self, entity_id: str, kind: str, ring: int) -> None:
        """Move an existing entity to a ring."""
        self._set(entity_id, kind, "ring", ring)

    def add_edge(self, from_id: str, to_id: str, edge_type: str) -> None:
        """Make an edge, or make an archived one live again.

        Raises:
            LedgerError: ``LEDGER_TARGET_EXISTS``.
        """
        triple = (from_id, to_id, edge_type)
        rows = self._edge(triple)
        if rows and rows[0][:2] == (LIVE, _STATED):
            raise LedgerError("the edge exists already", code="LEDGER_TARGET_EXISTS")
        if rows:
            self._move_edge(triple, LIVE)
        else:
            self.insert("edges", *triple, LIVE, _STATED, self.event.seq)

    def derive(self, entity_id: str, refs: Iterable[str]) -> None:
        """Let an entity's references be edges to it, where an entry has not stated them."""
        for ref in dict.fromkeys(refs):
            triple = (ref, entity_id, DERIVED_FROM)
            rows = self._edge(triple)
            if ref == entity_id:
                continue
            if not rows:
                self.insert("edges", *triple, LIVE, _FOLLOWS, self.event.seq)
            elif rows[0][1] == _FOLLOWS:
                self._move_edge(triple, LIVE, _FOLLOWS)

    def archive_edge(self, from_id: str, to_id: str, edge_type: str) -> None:
        """Archive a live edge.

        Raises:
            LedgerError: ``LEDGER_TARGET_MISSING``.
        """
        triple = (from_id, to_id, edge_type)
        rows = self._edge(triple)
        if not rows or rows[0][0] != LIVE:
            raise _missing("the edge")
        self._move_edge(triple, "archived")

    def set_policy(self, key: str, details: str) -> None:
        """Set one policy."""
        self._db.execute(
            "INSERT INTO policies (key, value, seq) VALUES (?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value, seq = excluded.seq",
            (key, details, self.event.seq),
        )

    def accept_epoch(self, root: str, epoch: int, payload_sha256: str) -> None:
        """Record a trust epoch, later than every one of its root.

        Raises:
            LedgerError: ``LEDGER_TRUST_EPOCH``.
        """
        rows = self._db.execute("SELECT MAX(epoch) FROM trust_epochs WHERE root = ?", (root,))
        if rows[0][0] is not None and rows[0][0] >= epoch:
            raise LedgerError(
                f"a trust epoch of {root} that is not older was accepted before",
                code="LEDGER_TRUST_EPOCH",
            )
        self.insert("trust_epochs", root, epoch, payload_sha256, self.event.seq)

    def add_tenure(self, role: str, public_key_b64: str, from_seq: int) -> None:
        """Record which key signs for a role from a line on."""
        self.insert("key_tenures", raw_key(public_key_b64).key_id, role, public_key_b64, from_seq)

    def _find(self, entity_id: str) -> _Entity | None:
        rows = self._db.execute(
            "SELECT kind, ring, state, text, confidence, worded_seq FROM entities WHERE id = ?",
            (entity_id,),
        )
        return _Entity(*rows[0]) if rows else None

    def _set(self, entity_id: str, kind: str, column: str, value: Value) -> None:
        self.require((entity_id,), kind)
        self._db.execute(
            f"UPDATE entities SET {column} = ?, updated_seq = ?, ts = ? WHERE id = ?",  # noqa: S608 - two constant column names
            (value, self.event.seq, self.event.ts, entity_id),
        )

    def _edge(self, triple: tuple[str, str, str]) -> list[Row]:
        return self._db.execute(
            "SELECT state, stated FROM edges WHERE from_id = ? AND to_id = ? AND edge_type = ?",
            triple,
        )

    def _move_edge(self, triple: tuple[str, str, str], state: str, stated: int = _STATED) -> None:
        self._db.execute(
            "UPDATE edges SET state = ?, stated = ?, seq = ? "
            "WHERE from_id = ? AND to_id = ? AND edge_type = ?",
            (state, stated, self.event.seq, *triple),
        )


def _missing(entity_id: str) -> LedgerError:
    return LedgerError(f"{entity_id} does not exist", code="LEDGER_TARGET_MISSING")


def _other_kind(entity_id: str, kind: str) -> LedgerError:
    return LedgerError(f"{entity_id} is already a {kind}", code="LEDGER_TARGET_KIND")
