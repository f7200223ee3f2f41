"""The projection's tables: the one place that owns their DDL.

A cache of what the ledger says, rebuilt whenever it differs (design decision 11). Only what a
ledger entry says stands here; what the ledger forbids has a store of its own. The dialect
is what SQLite and PostgreSQL share.

``entities`` holds everything that has an id. ``state`` is ``live`` unless the kind has its own
states (intentions, commitments) or the entity was archived or superseded. ``authorship`` is the
class that ring-2 provenance counts: operator, external or resident. ``worded_seq`` is the line that
gave the entity its present words: evidence is for words, not for ids. ``details`` is the canonical
payload of the entry that last set the entity.

``edges.stated`` is 1 for an edge that an entry states, 0 for one that follows from an entry's
references (``evidence_refs``, ``refs``, the sources of a self-model).
"""

from dataclasses import dataclass
from typing import Final

from agentic_os.crypto.canonical.texts import sha256_text

META: Final = "meta"
EFFECTS_VERSION: Final = 2
"""Goes up when an entry's effect changes: tables of another version are replayed.

1 as at first; 2 with edges from references, and a ring that starts again after a retirement.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: its columns with their SQL types, and its primary key (first columns)."""

    name: str
    columns: tuple[tuple[str, str], ...]
    key: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(name for name, _ in self.columns)

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the primary key's columns."""
        return self.names[: self.key]

    @property
    def ddl(self) -> str:
        """The statement that creates it."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns)
        return f"CREATE TABLE {self.name} ({columns}, PRIMARY KEY ({', '.join(self.key_names)}))"

    @property
    def insert(self) -> str:
        """The statement that adds a row."""
        marks = ", ".join("?" for _ in self.columns)
        return f"INSERT INTO {self.name} ({', '.join(self.names)}) VALUES ({marks})"  # noqa: S608 - constants of this module


_TEXT: Final = "TEXT NOT NULL"
_COUNT: Final = "BIGINT NOT NULL"

TABLES: Final[tuple[Table, ...]] = (
    Table(
        name="mirror",
        columns=(
            ("seq", _COUNT),
            ("hash", _TEXT),
            ("type", _TEXT),
            ("layer", _TEXT),
            ("ring", _COUNT),
            ("role", _TEXT),
            ("ts", _TEXT),
        ),
    ),
    Table(
        name="entities",
        columns=(
            ("id", _TEXT),
            ("kind", _TEXT),
            ("ring", _COUNT),
            ("authorship", _TEXT),
            ("state", _TEXT),
            ("text", _TEXT),
            ("confidence", "DOUBLE PRECISION"),
            ("raw", _COUNT),
            ("private", _COUNT),
            ("details", _TEXT),
            ("created_seq", _COUNT),
            ("updated_seq", _COUNT),
            ("worded_seq", _COUNT),
            ("ts", _TEXT),
        ),
    ),
    Table(
        name="edges",
        columns=(
            ("from_id", _TEXT),
            ("to_id", _TEXT),
            ("edge_type", _TEXT),
            ("state", _TEXT),
            ("stated", _COUNT),
            ("seq", _COUNT),
        ),
        key=3,
    ),
    Table(name="policies", columns=(("key", _TEXT), ("value", _TEXT), ("seq", _COUNT))),
    Table(
        name="receipts",
        columns=(
            ("seq", _COUNT),
            ("identity_id", _TEXT),
            ("previous_ordinal", _COUNT),
            ("previous_hash", _TEXT),
            ("ordinal", _COUNT),
            ("hash", _TEXT),
            ("witnessed_at", _TEXT),
            ("witness_key_id", _TEXT),
        ),
    ),
    Table(
        name="trust_epochs",
        columns=(("root", _TEXT), ("epoch", _COUNT), ("payload_sha256", _TEXT), ("seq", _COUNT)),
        key=2,
    ),
    Table(
        name="key_tenures",
        columns=(
            ("key_id", _TEXT),
            ("role", _TEXT),
            ("public_key_b64", _TEXT),
            ("from_seq", _COUNT),
        ),
    ),
    Table(name="schema_versions", columns=(("seq", _COUNT), ("version", _COUNT))),
    Table(name="postures", columns=(("seq", _COUNT), ("envelope_sha256", _TEXT))),
)

META_TABLE: Final = Table(name=META, columns=(("name", _TEXT), ("value", _TEXT)))

INDEXES: Final = (
    "CREATE INDEX entities_by_kind ON entities (kind, state, updated_seq)",
    "CREATE INDEX edges_by_target ON edges (to_id, edge_type)",
    "CREATE INDEX mirror_by_type ON mirror (type, seq)",
)

STATEMENTS: Final = (
    META_TABLE.ddl,
    *(table.ddl for table in TABLES),
    *INDEXES,
)

SCHEMA_SHA256: Final = sha256_text("\n".join((f"{EFFECTS_VERSION}", *STATEMENTS)).encode())
