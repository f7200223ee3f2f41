"""The rows of the witness's database, read as state values and written by compare-and-swap.

Every write names what it replaces; a row that is no longer as it was read makes the write
fail (``ROW_CHANGED``) and, with it, the request. All calls run inside one transaction of
``store.WitnessStore``, except the readers of a read connection.
"""

import hashlib
import sqlite3
from dataclasses import dataclass
from typing import Final, Literal

from agentic_os.witness.codes import ERRORS
from agentic_os.witness.rule.state import Bookmarked, IdentityState, OriginState, TreeHead

EVIDENCE_ENTRIES: Final = 10_000
EVIDENCE_PER_SUBJECT_ENTRIES: Final = 16
EVIDENCE_BODY_BYTES: Final = 32 * 1024

KeySource = Literal["listed", "bound"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A signed contradiction: whose, of which dialect, why refused, and the signed bytes."""

    subject: str
    kind: Literal["bookmark", "checkpoint"]
    code: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """How much the database holds."""

    identities: int
    origins: int
    evidence: int


class StateRows:
    """Typed access to one connection."""

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Wrap a connection in autocommit mode."""
        self._connection = connection

    def identity(self, identity_id: str) -> IdentityState | None:
        """Read an identity."""
        row = self._connection.execute(
            "SELECT key_digits, proved, successor, ordinal, ledger_hash, witnessed_at, answer,"
            " (SELECT origin FROM origin"
            "  WHERE origin.identity_id = identity.identity_id AND closed_at IS NULL)"
            " FROM identity WHERE identity_id = ?",
            (identity_id,),
        ).fetchone()
        if row is None:
            return None
        digits, proved, successor, ordinal, ledger_hash, witnessed_at, answer, origin = row
        return IdentityState(
            identity_id=identity_id,
            key_digits=digits,
            proved=bool(proved),
            origin=origin,
            successor=successor,
            bookmark=Bookmarked(
                ordinal=ordinal, ledger_hash=ledger_hash, witnessed_at=witnessed_at, answer=answer
            ),
        )

    def identity_of_key(self, key_digits: str, *, other_than: str) -> str | None:
        """Return another identity of the same public key, None if there is none."""
        row = self._connection.execute(
            "SELECT identity_id FROM identity WHERE key_digits = ? AND identity_id <> ? LIMIT 1",
            (key_digits, other_than),
        ).fetchone()
        return row[0] if row else None

    def origin(self, origin: str) -> OriginState | None:
        """Read an origin with its keys."""
        rows = self._connection.execute(
            "SELECT identity_id, closed_at, size, root, cosigned_at, vkey, retired_at"
            " FROM origin LEFT JOIN origin_key USING (origin) WHERE origin = ?",
            (origin,),
        ).fetchall()
        if not rows:
            return None
        identity_id, closed_at, size, root, cosigned_at = rows[0][:5]
        keys = [(row[5], row[6]) for row in rows if row[5] is not None]
        return OriginState(
            origin=origin,
            identity_id=identity_id,
            keys=frozenset(vkey for vkey, retired in keys if retired is None),
            retired_keys=frozenset(vkey for vkey, retired in keys if retired is not None),
            closed=closed_at is not None,
            head=None if size is None else TreeHead(size=size, root=root, cosigned_at=cosigned_at),
        )

    def note(self, origin_sha256: str) -> bytes | None:
        """Read the newest cosigned note of the origin with that SHA-256 (hex)."""
        row = self._connection.execute(
            "SELECT note FROM origin WHERE origin_sha256 = ?", (origin_sha256,)
        ).fetchone()
        return row[0] if row else None

    def listed_origins(self) -> tuple[str, ...]:
        """Return the origins that have a listed key that is not retired."""
        rows = self._connection.execute(
            "SELECT DISTINCT origin FROM origin_key"
            " WHERE source = 'listed' AND retired_at IS NULL ORDER BY origin"
        )
        return tuple(row[0] for row in rows)

    def totals(self) -> Totals:
        """Count the rows."""
        identities, origins, evidence = self._connection.execute(
            "SELECT (SELECT count(*) FROM identity), (SELECT count(*) FROM origin),"
            " (SELECT count(*) FROM evidence)"
        ).fetchone()
        return Totals(identities=identities, origins=origins, evidence=evidence)

    def newest_time(self) -> int:
        """Return the newest time that was ever given, 0 if none was."""
        (newest,) = self._connection.execute(
            "SELECT max(coalesce((SELECT max(witnessed_at) FROM identity), 0),"
            " coalesce((SELECT max(cosigned_at) FROM origin), 0))"
        ).fetchone()
        return int(newest)

    def put_bookmark(
        self,
        *,
        before: IdentityState | None,
        identity_id: str,
        key_digits: str,
        public_key: bytes,
        bookmark: Bookmarked,
        proved: bool,
    ) -> None:
        """Register an identity with its first bookmark, or advance the one that was read."""
        if before is None:
            self._one(
                "INSERT INTO identity (identity_id, key_digits, public_key, registered_at,"
                " proved, ordinal, ledger_hash, witnessed_at, answer)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (
                    identity_id,
                    key_digits,
                    public_key,
                    bookmark.witnessed_at,
                    int(proved),
                    bookmark.ordinal,
                    bookmark.ledger_hash,
                    bookmark.witnessed_at,
                    bookmark.answer,
                ),
            )
            return
        old = before.bookmark
        self._one(
            "UPDATE identity SET ordinal = ?, ledger_hash = ?, witnessed_at = ?, answer = ?,"
            " proved = max(proved, ?)"
            " WHERE identity_id = ? AND ordinal = ? AND ledger_hash = ? AND successor IS NULL",
            (
                bookmark.ordinal,
                bookmark.ledger_hash,
                bookmark.witnessed_at,
                bookmark.answer,
                int(proved),
                identity_id,
                old.ordinal if old else None,
                old.ledger_hash if old else None,
            ),
        )

    def mark_proved(self, identity_id: str) -> None:
        """Remember that an identity has proved consistency."""
        self._one("UPDATE identity SET proved = 1 WHERE identity_id = ?", (identity_id,))

    def retire_identity(self, identity_id: str, *, successor: str) -> None:
        """Retire an identity whose key passed to ``successor``."""
        self._one(
            "UPDATE identity SET successor = ? WHERE identity_id = ? AND successor IS NULL",
            (successor, identity_id),
        )

    def add_origin(self, origin: str) -> None:
        """Make an origin known; nothing happens when it is."""
        self._connection.execute(
            "INSERT INTO origin (origin, origin_sha256) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (origin, hashlib.sha256(origin.encode()).hexdigest()),
        )

    def bind_origin(self, origin: str, identity_id: str, *, owner: str | None) -> None:
        """Bind an origin that is now ``owner``'s (None: nobody's) to an identity."""
        self._one(
            "UPDATE origin SET identity_id = ?"
            " WHERE origin = ? AND identity_id IS ? AND closed_at IS NULL",
            (identity_id, origin, owner),
        )

    def close_origin(self, origin: str, *, now: int) -> None:
        """Retire an origin for good; its identity may bind another one."""
        self._one(
            "UPDATE origin SET closed_at = ? WHERE origin = ? AND closed_at IS NULL",
            (now, origin),
        )

    def put_head(
        self, *, before: TreeHead | None, origin: str, head: TreeHead, note: bytes
    ) -> None:
        """Replace the head that was read."""
        self._one(
            "UPDATE origin SET size = ?, root = ?, note = ?, cosigned_at = ?"
            " WHERE origin = ? AND size IS ? AND root IS ?",
            (
                head.size,
                head.root,
                note,
                head.cosigned_at,
                origin,
                before.size if before else None,
                before.root if before else None,
            ),
        )

    def add_key(self, origin: str, vkey: str, *, source: KeySource, now: int) -> None:
        """Trust a checkpoint key; a listed key that was retired is trusted again."""
        self._connection.execute(
            "INSERT INTO origin_key (origin, vkey, source, added_at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (origin, vkey) DO UPDATE SET retired_at = NULL, source = 'listed'"
            " WHERE excluded.source = 'listed'",
            (origin, vkey, source, now),
        )

    def retire_keys(
        self, origin: str, *, except_vkeys: frozenset[str], source: KeySource, now: int
    ) -> None:
        """Retire the keys of one source that are not named."""
        keys = self._connection.execute(
            "SELECT vkey FROM origin_key WHERE origin = ? AND source = ? AND retired_at IS NULL",
            (origin, source),
        ).fetchall()
        for (vkey,) in keys:
            if vkey not in except_vkeys:
                self._one(
                    "UPDATE origin_key SET retired_at = ? WHERE origin = ? AND vkey = ?",
                    (now, origin, vkey),
                )

    def keep_evidence(self, evidence: Evidence, *, now: int) -> bool:
        """Keep a signed contradiction once, within the bounds.

        The oldest evidence of a subject is the one that counts: a subject with enough of it gets no
        more. Where the table is full, the subject with most of it gives its newest, and of equal
        ones the subject that registered last: whoever makes up identities to fill the table pushes
        out what they made up.
        """
        (total, own) = self._connection.execute(
            "SELECT (SELECT count(*) FROM evidence),"
            " (SELECT count(*) FROM evidence WHERE subject = ?)",
            (evidence.subject,),
        ).fetchone()
        if own >= EVIDENCE_PER_SUBJECT_ENTRIES or len(evidence.body) > EVIDENCE_BODY_BYTES:
            return False
        if total >= EVIDENCE_ENTRIES:
            self._connection.execute(
                "DELETE FROM evidence WHERE digest = (SELECT digest FROM evidence WHERE subject ="
                " (SELECT subject FROM evidence LEFT JOIN identity ON identity_id = subject"
                "  GROUP BY subject ORDER BY count(*) DESC, max(registered_at) DESC LIMIT 1)"
                " ORDER BY seen_at DESC, digest LIMIT 1)"
            )
        cursor = self._connection.execute(
            "INSERT INTO evidence (digest, subject, kind, code, seen_at, body)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (
                hashlib.sha256(evidence.body).hexdigest(),
                evidence.subject,
                evidence.kind,
                evidence.code,
                now,
                evidence.body,
            ),
        )
        return cursor.rowcount == 1

    def _one(self, statement: str, values: tuple[str | int | bytes | None, ...]) -> None:
        if self._connection.execute(statement, values).rowcount != 1:
            raise ERRORS.error("ROW_CHANGED", "a row changed since it was read")
