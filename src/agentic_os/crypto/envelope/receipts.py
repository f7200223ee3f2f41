"""What a witness signs when it acknowledges a bookmark (AII OS formats, section 4.3)."""

from typing import Final

from agentic_os.crypto.canonical.texts import SHA256_HEX_CHARS, signed_text

RECEIPT_HEADER: Final = "AIII-WITNESS-RECEIPT"
NO_ORDINAL: Final = -1
"""The previous ordinal of an identity's first receipt."""
ZERO_LEDGER_HASH: Final = "0" * SHA256_HEX_CHARS
"""The previous hash of an identity's first receipt."""


def receipt_text(
    *,
    identity_id: str,
    previous_ordinal: int,
    previous_hash: str,
    ordinal: int,
    ledger_hash: str,
    witnessed_at: str,
) -> bytes:
    """Return the bytes that the witness signs."""
    return signed_text(
        RECEIPT_HEADER,
        ("identity_id", identity_id),
        ("previous_witnessed_ledger_ordinal", str(previous_ordinal)),
        ("previous_witnessed_ledger_hash", previous_hash),
        ("ledger_ordinal", str(ordinal)),
        ("ledger_hash", ledger_hash),
        ("witnessed_at", witnessed_at),
    )
