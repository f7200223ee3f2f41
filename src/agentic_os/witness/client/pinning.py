"""Which receipt key a client believes: the first one seen, or one that a root vouches for."""

from datetime import datetime

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.witness.client.http import WitnessClient
from agentic_os.witness.client.memory import WitnessMemory
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.served_key import verify_manifest


def pinned_receipt_key(
    client: WitnessClient,
    memory: WitnessMemory,
    *,
    root: PublicKeyEnvelope | None,
    now: datetime,
) -> PublicKeyEnvelope | None:
    """Return the receipt key to verify with; None for a witness without AII OS endpoints.

    The first key is pinned; with a ``root`` only after its manifest verified. Another key
    later is believed only by a manifest of that root.

    Raises:
        WitnessConflictError: ``WITNESS_KEY_CHANGED``; VerificationError ``MANIFEST_INVALID``;
            WitnessError as ``WitnessClient.receipt_key``.
    """
    served, pinned = client.receipt_key(), memory.receipt_key()
    if served is None:
        if pinned:
            # A downgrade to the dialect without receipts must not pass as a fresh start.
            raise ERRORS.error(
                "WITNESS_ANSWER_INVALID", "the witness no longer serves its receipt key"
            )
        return None
    if pinned and pinned.sha256 == served.public.sha256:
        return pinned
    if root:
        verify_manifest(served, root=root, at=now)
    elif pinned:
        raise ERRORS.error(
            "WITNESS_KEY_CHANGED", "the receipt key of the witness is not the pinned one"
        )
    memory.pin_receipt_key(served.public, served.manifest)
    return served.public
