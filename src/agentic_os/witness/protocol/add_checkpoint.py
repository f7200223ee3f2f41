"""The body of C2SP ``POST /add-checkpoint``.

``old <size>``, at most 63 base64 hashes, an empty line, the checkpoint note; every line ends
with LF (c2sp.org/tlog-witness).
"""

from dataclasses import dataclass
from typing import Final

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.crypto.tlog.checkpoint import (
    SignedCheckpoint,
    parse_decimal,
    parse_hash,
    parse_signed_checkpoint,
)
from agentic_os.crypto.tlog.merkle import PROOF_HASHES
from agentic_os.errors import CryptoError
from agentic_os.witness.protocol.refusal import malformed

_OLD: Final = "old "


@dataclass(frozen=True, slots=True, kw_only=True)
class AddCheckpoint:
    """A request as it was read; nothing is verified yet."""

    old_size: int
    consistency: tuple[bytes, ...]
    head: SignedCheckpoint


def read_add_checkpoint(body: bytes) -> AddCheckpoint:
    """Read the body.

    Raises:
        RequestRefusedError: 400 with the reason.
    """
    front, parted, note = body.partition(b"\n\n")
    try:
        lines = front.decode("ascii").split("\n")
    except UnicodeDecodeError:
        raise malformed("not ASCII before the checkpoint") from None
    first = lines.pop(0)
    old_size = parse_decimal(first.removeprefix(_OLD)) if first.startswith(_OLD) else None
    if not parted or old_size is None:
        raise malformed("no old size line, or no empty line before the checkpoint")
    hashes = tuple(item for item in map(parse_hash, lines) if item is not None)
    if len(lines) > PROOF_HASHES or len(hashes) != len(lines):
        raise malformed(f"not at most {PROOF_HASHES} base64 hashes of 32 bytes")
    try:
        head = parse_signed_checkpoint(note)
    except CryptoError as error:
        raise malformed(error.message) from None
    return AddCheckpoint(old_size=old_size, consistency=hashes, head=head)


def write_add_checkpoint(request: AddCheckpoint) -> bytes:
    """Write a body as ``read_add_checkpoint`` reads it."""
    lines = [f"{_OLD}{request.old_size}", *map(encode_base64, request.consistency)]
    return "".join(f"{line}\n" for line in lines).encode() + b"\n" + request.head.note.data
