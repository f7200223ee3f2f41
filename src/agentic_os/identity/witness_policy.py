"""Which witness policy an identity has accepted, as its own ledger tells.

A policy file can be lost, or be put aside by whoever wants no witness to be asked. So the ledger
itself says by whom it is witnessed, in lines that the identity signs:

- After the first acknowledgement ``trust.epoch_accepted`` names the digest of the policy (root
  ``witness-policy``, epoch 1). A copy of the file is kept in the identity's folder, where backups
  carry it.
- Another policy is accepted only with the next epoch, and only after ``policy.set`` of the key
  ``witness.policy``, which the operator signs: a named, recorded decision.
- At boot the policy at hand must be the accepted one. A ledger that holds receipts and no
  accepted policy (an older one) needs a policy that names whoever cosigned its newest receipt.

All of it is read from lines while they are verified, never from the projection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from agentic_os.crypto.tlog.checkpoint import parse_signed_checkpoint
from agentic_os.errors import CryptoError, FilesError
from agentic_os.files.publishing import private_folder, publish
from agentic_os.files.reading import Folder
from agentic_os.identity.codes import ERRORS
from agentic_os.ledger.layout import WITNESS_FOLDER
from agentic_os.ledger.line.frame import read_line
from agentic_os.ledger.line.payloads import PolicySet, TrustEpoch, Witnessed
from agentic_os.ledger.line.vocabulary import entry_type
from agentic_os.ledger.writing import Request, request
from agentic_os.text.shapes import read_shape
from agentic_os.witness.client.policy import (
    NO_QUORUM,
    POLICY_BYTES,
    QuorumPolicy,
    parse_policy,
)

POLICY_NAME: Final = "witnesses.policy"
POLICY_ROOT: Final = "witness-policy"
"""The root that ``trust.epoch_accepted`` names for a witness policy."""
POLICY_KEY: Final = "witness.policy"
"""The key that the operator's ``policy.set`` names for a witness policy."""
EPOCH_TYPE: Final = "trust.epoch_accepted"
DECISION_TYPE: Final = "policy.set"
RECEIPT_TYPE: Final = "system.witnessed"

_TYPE_START: Final = b'"type":"'
_TYPE_END: Final = b'"},"hash":"'
_TYPE_CHARS: Final = 64
"""More than any type has."""
_MARKED: Final = frozenset(one.encode() for one in (EPOCH_TYPE, DECISION_TYPE, RECEIPT_TYPE))


class _Rooted(msgspec.Struct):
    root: str = ""


@dataclass(slots=True)
class AcceptedPolicy:
    """What the lines of a ledger say of its witnesses; watches while they are verified."""

    digest: str = ""
    epoch: int = 0
    newest_entry: int = 0
    """The newest line that is there for more than witnessing."""
    _decided: str = ""
    _receipt: bytes = b""

    def see(self, seq: int, lines: Sequence[bytes]) -> None:
        """Note what a run of verified lines says of the policy; several are plain: nothing."""
        if len(lines) == 1:
            self._see(seq, lines[0])
        else:
            self.newest_entry = seq + len(lines) - 1

    def _see(self, seq: int, line: bytes) -> None:
        if seq == 1:
            self.digest, self.epoch, self._decided, self._receipt = "", 0, "", b""
        # A payload may hold the like, but stands before: the last one is the entry's.
        end = line.rfind(_TYPE_END)
        start = line.rfind(_TYPE_START, max(0, end - _TYPE_CHARS), end) + len(_TYPE_START)
        found = line[start:end]
        if found not in _MARKED:
            self.newest_entry = seq
        elif found == RECEIPT_TYPE.encode():
            self._receipt = bytes(line)
        else:
            if found == DECISION_TYPE.encode():
                self.newest_entry = seq
            self._note(line)

    def _note(self, line: bytes) -> None:
        read = read_line(line)
        payload = entry_type(read.type).read(read.payload)
        if isinstance(payload, PolicySet) and payload.key == POLICY_KEY:
            self._decided = str(payload.value)
        elif isinstance(payload, TrustEpoch) and payload.root == POLICY_ROOT:
            is_next = payload.trust_epoch == self.epoch + 1
            is_decided = not self.digest or payload.payload_sha256 == self._decided
            # An epoch that the operator did not sign for leaves the accepted policy as it was.
            if is_next and is_decided:
                self.digest, self.epoch = payload.payload_sha256, payload.trust_epoch
            self._decided = ""

    @property
    def is_witnessed(self) -> bool:
        """Whether the ledger says that any witness ever acknowledged it."""
        return bool(self.digest or self._receipt)

    def cosigned(self) -> dict[tuple[str, bytes], int]:
        """Return the size that each cosigner of the newest receipt had seen then."""
        if not self._receipt:
            return {}
        payload = entry_type(RECEIPT_TYPE).read(read_line(self._receipt).payload)
        if not isinstance(payload, Witnessed) or payload.checkpoint is None:
            return {}
        try:
            head = parse_signed_checkpoint(payload.checkpoint.encode())
        except CryptoError:
            return {}  # the note is no part of what a receipt's line proves
        return {
            (one.name, one.key_id): head.checkpoint.size
            for one in head.note.signatures
            if one.name != head.checkpoint.origin
        }

    def require(self, policy: QuorumPolicy | None) -> None:
        """Refuse to go on with another policy than the accepted one.

        Raises:
            IdentityError: ``WITNESS_POLICY_MISSING``, ``WITNESS_POLICY_CHANGED``.
        """
        if not self.is_witnessed:
            return
        if policy is None:
            raise ERRORS.error(
                "WITNESS_POLICY_MISSING",
                "this ledger was witnessed, and no witness policy is at hand",
            )
        if self.digest:
            is_same = policy.digest == self.digest
        else:
            known = {(one.key.name, one.key.key_id) for one in policy.witnesses}
            is_same = policy.quorum != NO_QUORUM and self.cosigned().keys() <= known
        if not is_same:
            raise ERRORS.error(
                "WITNESS_POLICY_CHANGED",
                "the witness policy is not the one that this ledger says it is witnessed by",
            )

    def first_epoch(self, policy: QuorumPolicy) -> list[Request]:
        """Return the entry that accepts a first policy, none if one was accepted."""
        return [] if self.digest else [_epoch(1, policy)]

    def next_epoch(self, policy: QuorumPolicy, reason: str) -> list[Request]:
        """Return the operator's decision for another policy, and the entry that accepts it."""
        decision = {"key": POLICY_KEY, "value": policy.digest, "reason": reason}
        return [request(DECISION_TYPE, decision), _epoch(self.epoch + 1, policy)]

    def accept(self, policy: QuorumPolicy, epoch: int) -> None:
        """Take over what was written."""
        self.digest, self.epoch = policy.digest, epoch


def keep_policy(folder: Path, policy: QuorumPolicy) -> None:
    """Keep a copy of the policy in an identity's folder, where backups carry it."""
    private_folder(folder / WITNESS_FOLDER)
    publish(folder / WITNESS_FOLDER / POLICY_NAME, policy.document)


def kept_policy(folder: Path) -> QuorumPolicy | None:
    """Read the policy that is kept in an identity's folder, None if there is none.

    Raises:
        WitnessError: ``POLICY_INVALID``. FilesError: it cannot be read.
    """
    try:
        with Folder.open(folder / WITNESS_FOLDER) as opened:
            return parse_policy(opened.read(POLICY_NAME, limit_bytes=POLICY_BYTES).data)
    except FilesError as error:
        if error.code == "FILE_MISSING":
            return None
        raise


def is_policy_entry(kind: str, payload: bytes) -> bool:
    """Return whether an entry would accept a witness policy."""
    if kind != EPOCH_TYPE:
        return False
    try:
        return read_shape(payload, _Rooted).root == POLICY_ROOT
    except ValueError:
        return False


def _epoch(epoch: int, policy: QuorumPolicy) -> Request:
    payload: dict[str, str | int] = {
        "root": POLICY_ROOT,
        "trust_epoch": epoch,
        "payload_sha256": policy.digest,
    }
    return request(EPOCH_TYPE, payload)
