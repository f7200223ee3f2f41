"""Receipts in the ledger: the witness's signature, and that they speak of this chain.

The signed text is that of AII OS formats, section 4.3. A receipt attests a line that stands
shortly before it (``RECEIPT_LAG_LINES``), so a reader needs to remember only that many
hashes. Receipts of one witness key follow each other; where an answer was lost on the way, the
next one may follow a later line of this chain instead.
"""

from collections import deque
from collections.abc import Mapping
from typing import Final

from agentic_os.crypto.canonical.texts import decode_base64
from agentic_os.crypto.envelope.profiles import verify_profile_signature
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.envelope.receipts import NO_ORDINAL, ZERO_LEDGER_HASH, receipt_text
from agentic_os.crypto.keys.pairs import ML_DSA_87
from agentic_os.errors import CryptoError, VerificationError
from agentic_os.ledger.line.payloads import Receipt

RECEIPT_LAG_LINES: Final = 4_096


def signed_bytes(receipt: Receipt) -> bytes:
    """Return the bytes that the witness signed."""
    return receipt_text(
        identity_id=receipt.identity_id,
        previous_ordinal=receipt.previous_witnessed_ledger_ordinal,
        previous_hash=receipt.previous_witnessed_ledger_hash,
        ordinal=receipt.ledger_ordinal,
        ledger_hash=receipt.ledger_hash,
        witnessed_at=receipt.witnessed_at,
    )


def check_receipt_signature(receipt: Receipt, keys: Mapping[str, PublicKeyEnvelope]) -> None:
    """Verify a receipt under the pinned key that it names.

    Raises:
        VerificationError: ``LEDGER_WITNESS_KEY_UNKNOWN`` when that key is not pinned,
            ``LEDGER_RECEIPT_INVALID`` when the signature does not verify.
    """
    envelope = keys.get(receipt.witness_key_id)
    if envelope is None:
        raise VerificationError(
            "the witness key of a receipt is not pinned",
            code="LEDGER_WITNESS_KEY_UNKNOWN",
            hint="Put the witness's public key beside the ledger; a backup holds it.",
        )
    try:
        verified = verify_profile_signature(
            ML_DSA_87,
            envelope.part(ML_DSA_87).raw,
            decode_base64(receipt.witness_sig_b64),
            signed_bytes(receipt),
        )
    except CryptoError as error:
        raise _invalid(error.message) from None
    if not verified:
        raise _invalid("the witness's signature does not verify")


class ReceiptTrail:
    """What a chain remembers to judge receipts: recent hashes and each witness's last word."""

    __slots__ = ("_last", "_recent", "_size")

    def __init__(self) -> None:
        """Start before line 1."""
        self._recent: deque[bytes] = deque(maxlen=RECEIPT_LAG_LINES)
        self._size = 0
        self._last: dict[tuple[str, str], tuple[int, str]] = {}

    def note(self, *entry_hashes: bytes) -> None:
        """Remember the hashes (with their ``sha256:``) of the next lines."""
        self._recent.extend(entry_hashes)
        self._size += len(entry_hashes)

    def fork(self) -> "ReceiptTrail":
        """Return an independent copy."""
        other = ReceiptTrail()
        other._recent = self._recent.copy()
        other._size = self._size
        other._last = dict(self._last)
        return other

    def judge(self, receipt: Receipt) -> None:
        """Whether a receipt may stand at the current place; remembers nothing.

        Raises:
            VerificationError: ``LEDGER_RECEIPT_INVALID``.
        """
        if self.hash_at(receipt.ledger_ordinal) != receipt.ledger_hash:
            raise _invalid("it attests another line than the one that stands there")
        previous = (
            receipt.previous_witnessed_ledger_ordinal,
            receipt.previous_witnessed_ledger_hash,
        )
        if previous[0] >= receipt.ledger_ordinal:
            raise _invalid("it does not lie after the one before it")
        known = self._last.get(_pair(receipt), (NO_ORDINAL, ZERO_LEDGER_HASH))
        if previous == known or previous in self._last.values():  # or after a change of key
            return
        # The answer to an earlier bookmark was lost: the witness may be further than our last
        # receipt, but only at a line of this chain.
        if previous[0] <= known[0] or self.hash_at(previous[0]) != previous[1]:
            raise _invalid("it does not follow the witness's last receipt")

    def keep(self, receipt: Receipt) -> None:
        """Remember a receipt that was judged."""
        self._last[_pair(receipt)] = (receipt.ledger_ordinal, receipt.ledger_hash)

    def hash_at(self, seq: int) -> str | None:
        """Return the bare hash of a recent line; None for a line that is no longer remembered."""
        place = seq - self._size - 1
        if seq < 1 or place >= 0 or -place > len(self._recent):
            return None
        return self._recent[place].removeprefix(b"sha256:").decode("latin-1")


def _pair(receipt: Receipt) -> tuple[str, str]:
    return receipt.identity_id, receipt.witness_key_id


def _invalid(why: str) -> VerificationError:
    return VerificationError(f"a receipt is refused: {why}", code="LEDGER_RECEIPT_INVALID")
