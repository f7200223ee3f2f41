"""Witnessing: when a bookmark is due, what the ledger keeps of the answers, what boot asks.

Rules (ledger format, section Bookmark; AII OS formats, section 4.5):

- Due after ``BOOKMARK_ENTRIES`` entries that are not receipts, after ``BOOKMARK_SECONDS``
  since the last acknowledgement while there is any such entry, and at shutdown.
- A bookmark at shutdown that is not due by that rule takes cosignatures alone: a receipt with its
  line is twice as long as most entries.
- Every receipt of a round is appended as ``system.witnessed`` with the cosigned tree head; its
  witness key is pinned beside the ledger first, or the line could not be verified again.
- A receipt that a crash kept out of the ledger is settled at the next boot, before anything
  else is written.
- The newest acknowledged point is kept beside the ledger (``witness_tail.py``).
- A conflict latches: the identity leaves safe mode only after repair (``safe_mode.py``).

How witnesses are asked is not known here: ``Witnesses`` is all that is needed of them, and
``witness.client.rounds.WitnessRounds`` has it.
"""

import threading
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import pairwise
from typing import Final, Literal, Protocol, TypeAlias

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, parse_time
from agentic_os.crypto.keys.pairs import SigningKey
from agentic_os.crypto.tlog.note_keys import NoteKey, NoteSigner
from agentic_os.identity.witness_policy import EPOCH_TYPE, RECEIPT_TYPE
from agentic_os.ledger.file.journal import Journal
from agentic_os.ledger.line.frame import read_line
from agentic_os.ledger.projection.database import Database
from agentic_os.ledger.writing import Request, request
from agentic_os.witness.client.outcomes import KeptReceipt, RoundResult, Standing
from agentic_os.witness.client.policy import QuorumPolicy
from agentic_os.witness.client.submission import KeyChange, WitnessedLedger
from agentic_os.witness.protocol.bookmark import Receipt

BOOKMARK_ENTRIES: Final = 100
BOOKMARK_SECONDS: Final = 24 * 3600

Due: TypeAlias = Literal["entries", "time", "not_due"]


class Witnesses(Protocol):
    """What an identity needs of its witnesses."""

    @property
    def policy(self) -> QuorumPolicy:
        """Return who they are, and how many must agree."""
        ...

    def witness(self, ledger: WitnessedLedger, *, only_cosigns: bool = False) -> RoundResult:
        """Bring the ledger's head before every witness, perhaps for its cosignature alone."""
        ...

    def ask_standing(self, ledger: WitnessedLedger) -> tuple[Standing, ...]:
        """Ask every witness for the newest head that it knows."""
        ...

    def kept_receipts(self) -> tuple[KeptReceipt, ...]:
        """Return the newest kept receipt of each witness."""
        ...

    def cosigners(self) -> tuple[NoteKey, ...]:
        """Return the pinned cosignature keys."""
        ...

    def release(self, name: str) -> None:
        """Let a witness be asked again after a conflict was repaired."""
        ...


def bookmark_due(*, unanchored: int, last: datetime | None, now: datetime) -> Due:
    """Whether a bookmark is due, and why. A pure rule.

    Args:
        unanchored: entries after the last acknowledged one, receipts not counted.
        last: when a witness last acknowledged; ``None`` when none ever did.
        now: with a time zone.
    """
    if unanchored >= BOOKMARK_ENTRIES:
        return "entries"
    if unanchored and (last is None or (now - last).total_seconds() >= BOOKMARK_SECONDS):
        return "time"
    return "not_due"


def receipt_due(db: Database, now: datetime) -> bool:
    """Return whether the ledger is to keep receipts again, by the rule of ``bookmark_due``."""
    (ordinal, at), *_ = db.execute("SELECT MAX(ordinal), MAX(witnessed_at) FROM receipts")
    unanchored = count_unanchored(db, int(ordinal or 0))
    last = None if at is None else parse_time(at)
    return bookmark_due(unanchored=unanchored, last=last, now=now) != "not_due"


def count_unanchored(db: Database, ordinal: int) -> int:
    """Return how many entries after ``ordinal`` are there for more than witnessing."""
    rows = db.execute(
        "SELECT COUNT(*) FROM mirror WHERE seq > ? AND type NOT IN (?, ?)",
        (ordinal, RECEIPT_TYPE, EPOCH_TYPE),
    )
    return int(rows[0][0])


def witnessed_ledger(
    journal: Journal,
    *,
    envelope: PublicKeyEnvelope,
    identity_key: SigningKey,
    signer: NoteSigner,
) -> WitnessedLedger:
    """Return what a witness client sees of the ledger: keys, hashes and the tree."""
    one_at_a_time = threading.Lock()  # the client asks its witnesses from several threads

    def hash_at(seq: int) -> str:
        with one_at_a_time:
            return journal.hash_at(seq)

    return WitnessedLedger(
        envelope=envelope,
        identity_key=identity_key,
        checkpoint_signer=signer,
        tree=journal.tree,
        hash_at=hash_at,
        key_changes=tuple(_key_changes(journal)),
    )


def receipt_request(receipt: Receipt, checkpoint: str | None) -> Request:
    """Build the entry that keeps a receipt with the cosigned head that it belongs to."""
    payload: dict[str, dict[str, str | int] | str] = {
        "receipt": {
            "identity_id": receipt.identity_id,
            "previous_witnessed_ledger_ordinal": receipt.previous_ordinal,
            "previous_witnessed_ledger_hash": receipt.previous_hash,
            "ledger_ordinal": receipt.ordinal,
            "ledger_hash": receipt.ledger_hash,
            "witnessed_at": receipt.witnessed_at,
            "witness_key_id": receipt.signature.key_id,
            "witness_sig_b64": receipt.signature.sig_b64,
        }
    }
    if checkpoint is not None:
        payload["checkpoint"] = checkpoint
    return request(RECEIPT_TYPE, payload)


def unsettled(db: Database, kept: Iterable[KeptReceipt]) -> Iterator[KeptReceipt]:
    """Yield the kept receipts that the ledger does not hold."""
    for one in kept:
        rows = db.execute(
            "SELECT COUNT(*) FROM receipts WHERE witness_key_id = ? AND ordinal >= ?",
            (one.receipt.signature.key_id, one.receipt.ordinal),
        )
        if rows[0][0] == 0:
            yield one


def _key_changes(journal: Journal) -> Iterator[KeyChange]:
    """Yield the identity's key transitions with their lines, oldest first."""
    tenures = [one for one in journal.chain.tenures if one.role == "identity"]
    wanted = {new.from_seq - 1: old for old, new in pairwise(tenures)}
    if not wanted:
        return
    for raw in journal.read_from(0):
        line = read_line(raw)
        old = wanted.get(line.seq)
        if old is not None:
            yield KeyChange(seq=line.seq, line=raw, old_public_key=old.key.raw)
        if line.seq >= max(wanted):
            return
