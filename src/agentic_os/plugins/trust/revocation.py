"""Whether a root still stands by what it signed (section 14).

Per root there is one status with an epoch. What was accepted last is remembered, through the
port ``EpochMemory``: a lower epoch is a rollback, the same epoch with another payload a fork, and
both make the status unusable, so that every signature of that root is. A higher epoch is
accepted before it is used; where it cannot be written down, it is not used.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.errors import AgenticOSError, CryptoError
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.trust.objects import (
    REVOCATION_KIND,
    RevocationStatus,
    Revoked,
    opened,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedEpoch:
    """The epoch of a root that was accepted last, with the ``sha256:`` name of its payload."""

    trust_epoch: int
    payload_sha256: str


class EpochMemory(Protocol):
    """Where accepted epochs are kept; a root is named by the ``sha256:`` name of its key."""

    def last(self, root: str) -> AcceptedEpoch | None:
        """Return what was accepted last of a root."""

    def accept(self, root: str, epoch: AcceptedEpoch) -> None:
        """Write down what is accepted now; after it returns, it is kept.

        Raises:
            AgenticOSError: it cannot be written down.
        """


class KnownEpochs:
    """Epochs that were accepted before; whoever holds no keys may accept none."""

    def __init__(self, memory: EpochMemory) -> None:
        """Read from another memory."""
        self._memory = memory

    def last(self, root: str) -> AcceptedEpoch | None:
        """Return what was accepted last."""
        return self._memory.last(root)

    def accept(self, root: str, epoch: AcceptedEpoch) -> None:
        """Refuse.

        Raises:
            PackageRefusedError: ``PLUGIN_REVOCATION_STATUS_UNAVAILABLE``, always.
        """
        del root, epoch
        raise ERRORS.error(
            "PLUGIN_REVOCATION_STATUS_UNAVAILABLE",
            "take it over on the command line: agentic-os plugins trust status FILE",
        )


def usable_status(
    data: bytes | None, *, root: PublicKeyEnvelope, memory: EpochMemory, at: datetime
) -> frozenset[Revoked]:
    """Return what a root has revoked, by a status that may be used.

    Raises:
        PackageRefusedError: ``PLUGIN_REVOCATION_STATUS_UNAVAILABLE``; the message says why.
    """
    if data is None:
        raise _unusable("there is none", root)
    try:
        envelope, status = opened(data, REVOCATION_KIND, RevocationStatus, key=root, at=at)
    except (CryptoError, ValueError) as fault:
        raise _unusable(f"it does not verify ({fault})", root) from None
    if list(status.revoked) != sorted(set(status.revoked)):
        raise _unusable("its entries are not in strict order", root)
    found = AcceptedEpoch(trust_epoch=status.trust_epoch, payload_sha256=envelope.payload_sha256)
    last = memory.last(root.sha256)
    if last is None or found.trust_epoch > last.trust_epoch:
        try:
            memory.accept(root.sha256, found)
        except AgenticOSError as fault:
            raise _unusable(f"its epoch cannot be written down ({fault})", root) from fault
    elif found.trust_epoch < last.trust_epoch:
        raise _unusable(
            f"a rollback: epoch {found.trust_epoch}, after {last.trust_epoch} was accepted", root
        )
    elif found != last:
        raise _unusable(f"a fork: two statuses of epoch {found.trust_epoch}", root)
    return frozenset(status.revoked)


def _unusable(why: str, root: PublicKeyEnvelope) -> Exception:
    return ERRORS.error(
        "PLUGIN_REVOCATION_STATUS_UNAVAILABLE",
        f"the revocation status of {root.key_id} cannot be used: {why}",
    )
