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

    Without a ``root`` the first key is pinned, and another is a conflict. A root is asked every
    time, whatever was pinned before it came: by the manifest that is served now, since a kept one
    would outlive its revocation.

    Raises:
        WitnessConflictError: ``WITNESS_KEY_CHANGED``; VerificationError ``MANIFEST_INVALID``;
            WitnessError as ``WitnessClient.receipt_key``.
    """
    served, kept = client.receipt_key(), memory.served_key()
    if served is None:
        if kept:
            # A downgrade to the dialect without receipts must not pass as a fresh start.
            raise ERRORS.error(
                "WITNESS_ANSWER_INVALID", "the witness no longer serves its receipt key"
            )
        return None
    is_pinned = kept is not None and kept.public.sha256 == served.public.sha256
    if root:
        verify_manifest(served, root=root, at=now, kept=kept)
    elif kept and not is_pinned:
        raise ERRORS.error(
            "WITNESS_KEY_CHANGED", "the receipt key of the witness is not the pinned one"
        )
    if not is_pinned or (root and kept and served.manifest != kept.manifest):
        memory.pin_receipt_key(served.public, served.manifest)
    return served.public
