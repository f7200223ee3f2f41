"""What the witness answers when it does not accept: one value for both dialects.

A code names the reason for logs, metrics and clients; the message of the AII OS dialect is
byte-exact where the original's client compares it (AII OS formats, section 4.4). A refusal
never quotes the request.
"""

from dataclasses import dataclass
from typing import Final

from agentic_os.errors import WitnessError

CADENCE_MESSAGE: Final = "witness bookmark cadence below hosted minimum"
ROLLBACK_MESSAGE: Final = "witness bookmark rollback or fork"
MISMATCH_MESSAGE: Final = "identity public key does not match registered witness identity"
PROOF_REQUIRED_MESSAGE: Final = "witness bookmark proof required"
CONSISTENCY_MESSAGE: Final = "witness bookmark consistency proof invalid"
ORIGIN_TAKEN_MESSAGE: Final = "origin bound to another identity"
ORIGIN_OTHER_MESSAGE: Final = "identity bound to another origin"

OLD_SIZE_STALE: Final = "OLD_SIZE_STALE"
"""The witness holds another size than the proof starts from; the client proves from there."""
BINDING_MISSING: Final = "BINDING_MISSING"
"""The witness knows no binding of the origin; the client sends it with its next proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refused request.

    Args:
        status: the HTTP status of the answer.
        code: the stable name of the reason.
        message: one line for the client.
        witnessed_size: the tree size that the witness holds, where telling it helps the
            client to prove from there.
        retry_seconds: when trying again makes sense; 0 where it does not by itself.
    """

    status: int
    code: str
    message: str
    witnessed_size: int | None = None
    retry_seconds: int = 0


class RequestRefusedError(WitnessError):
    """A request that is refused before, or without, looking at the state."""

    default_code = "WITNESS_REQUEST_REFUSED"

    def __init__(self, refusal: Refusal) -> None:
        """Carry the refusal."""
        super().__init__(refusal.message, code=refusal.code)
        self.refusal = refusal


def malformed(message: str) -> RequestRefusedError:
    """Return the error for a request that is not well formed: 400."""
    return RequestRefusedError(Refusal(status=400, code="MALFORMED", message=message))


def unsigned(message: str) -> RequestRefusedError:
    """Return the error for a bookmark whose signatures do not verify: 401."""
    return RequestRefusedError(Refusal(status=401, code="SIGNATURE", message=message))
