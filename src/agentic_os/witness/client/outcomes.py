"""What witnesses came to: one outcome or standing a witness, one result a round."""

from dataclasses import dataclass

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.tlog.checkpoint import SignedCheckpoint
from agentic_os.crypto.tlog.note import NoteSignature
from agentic_os.witness.client.standing import CONFLICT_CODES
from agentic_os.witness.protocol.bookmark import Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessOutcome:
    """What one witness came to.

    ``code`` is ``ACKNOWLEDGED``, ``NOT_DUE`` (below the witness's cadence), one of
    ``CONFLICT_CODES``, or the code of what failed this time.
    """

    name: str
    code: str
    message: str = ""
    receipt: Receipt | None = None
    receipt_key: PublicKeyEnvelope | None = None
    cosignature: NoteSignature | None = None

    @property
    def is_conflict(self) -> bool:
        """Whether it stands for an integrity conflict."""
        return self.code in CONFLICT_CODES


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptReceipt:
    """A receipt that the client holds, with the pinned key that signed it."""

    receipt: Receipt
    key: PublicKeyEnvelope


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResult:
    """What all witnesses came to; ``head`` carries the cosignatures that verified."""

    outcomes: tuple[WitnessOutcome, ...]
    head: SignedCheckpoint
    is_quorum: bool

    @property
    def conflicts(self) -> tuple[WitnessOutcome, ...]:
        """The outcomes that stand for integrity conflicts."""
        return tuple(item for item in self.outcomes if item.is_conflict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where one witness says the ledger is.

    ``code`` is ``LEVEL``, ``BEHIND``, ``UNKNOWN``, one of ``CONFLICT_CODES``, or the code of
    what failed (``WITNESS_UNREACHABLE``). ``cosigned_at`` is when the witness signed what it
    stands for (POSIX seconds).
    """

    name: str
    code: str
    message: str = ""
    cosigned_at: int = 0

    @property
    def is_conflict(self) -> bool:
        """Whether it stands for an integrity conflict."""
        return self.code in CONFLICT_CODES
