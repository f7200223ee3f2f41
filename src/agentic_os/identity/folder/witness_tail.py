"""The newest point that a witness acknowledged, kept beside the ledger.

It catches the simple cases without any witness: a ledger that is shorter, or other there. It is
no proof (whoever edits the ledger can edit it too); the question to the witness is. With it lies
the note that a quorum cosigned last, for proofs and for repair.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from agentic_os.crypto.canonical.json import encode, is_canonical
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.texts import bare_hash
from agentic_os.crypto.envelope.public_keys import format_time, parse_time
from agentic_os.crypto.tlog.checkpoint import SignedCheckpoint, parse_signed_checkpoint
from agentic_os.errors import AgenticOSError, CryptoError, FilesError
from agentic_os.files.publishing import publish
from agentic_os.files.reading import Folder
from agentic_os.identity.codes import ERRORS
from agentic_os.ledger.file.head import HEAD_BYTES, read_cosigned_note
from agentic_os.ledger.file.journal import Journal

TAIL_NAME: Final = "witness-tail.json"
TAIL_BYTES: Final = HEAD_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessTail:
    """The newest point that a witness acknowledged (bare hex), and the newest cosigned note."""

    ledger_ordinal: int
    ledger_hash: str
    witnessed_at: str
    checkpoint: str = ""


class _TailShape(msgspec.Struct, forbid_unknown_fields=True):
    ledger_ordinal: int
    ledger_hash: str
    witnessed_at: str
    checkpoint: str = ""


def keep_tail(folder: Path, tail: WitnessTail) -> None:
    """Keep the newest acknowledged point, durably."""
    publish(
        folder / TAIL_NAME,
        encode(
            {
                "ledger_ordinal": tail.ledger_ordinal,
                "ledger_hash": tail.ledger_hash,
                "witnessed_at": tail.witnessed_at,
                **({"checkpoint": tail.checkpoint} if tail.checkpoint else {}),
            }
        ),
    )


def read_tail(folder: Path) -> WitnessTail | None:
    """Return the newest acknowledged point, None if none was kept.

    Raises:
        IdentityError: ``WITNESS_TAIL_INVALID`` for a damaged file.
    """
    try:
        with Folder.open(folder) as opened:
            data = opened.read(TAIL_NAME, limit_bytes=TAIL_BYTES).data
    except FilesError as error:
        if error.code == "FILE_MISSING":
            return None
        raise _tail_invalid(error.message) from None
    try:
        if not is_canonical(data):
            raise _tail_invalid("not canonical")
        shape = msgspec.convert(decode(data), _TailShape)
        parse_time(shape.witnessed_at)
    except (msgspec.ValidationError, CryptoError) as error:
        raise _tail_invalid(str(error)) from None
    return WitnessTail(
        ledger_ordinal=shape.ledger_ordinal,
        ledger_hash=shape.ledger_hash,
        witnessed_at=shape.witnessed_at,
        checkpoint=shape.checkpoint,
    )


def newest_note(folder: Path) -> SignedCheckpoint | None:
    """Return the newest cosigned checkpoint that is kept beside a ledger; nothing is verified.

    Raises:
        IdentityError: ``WITNESS_TAIL_INVALID``.
    """
    tail = read_tail(folder)
    if tail is None or not tail.checkpoint:
        return read_cosigned_note(folder)  # of a backup
    try:
        return parse_signed_checkpoint(tail.checkpoint.encode())
    except CryptoError as error:
        raise _tail_invalid(error.message) from None


def require_tail(tail: WitnessTail | None, size: int, hash_at: Callable[[int], str | None]) -> None:
    """Require that the ledger reaches, and agrees with, the newest acknowledged point.

    Args:
        tail: that point; nothing is required without one.
        size: number of lines of the verified ledger.
        hash_at: the hash of one of its lines.

    Raises:
        IdentityError: ``LEDGER_TRUNCATED``, ``WITNESS_FORK``.
    """
    if tail is None:
        return
    if tail.ledger_ordinal > size:
        raise ERRORS.error(
            "LEDGER_TRUNCATED", f"line {tail.ledger_ordinal} was acknowledged, {size} are left"
        )
    if hash_at(tail.ledger_ordinal) != f"sha256:{tail.ledger_hash}":
        raise ERRORS.error(
            "WITNESS_FORK", f"line {tail.ledger_ordinal} is not the acknowledged one"
        )


def tail_now(journal: Journal, checkpoint: str) -> WitnessTail:
    """Return the ledger's head as a point that is acknowledged now, beside a cosigned note."""
    return WitnessTail(
        ledger_ordinal=journal.chain.size,
        ledger_hash=bare_hash(journal.chain.head_hash),
        witnessed_at=format_time(datetime.now(UTC)),
        checkpoint=checkpoint,
    )


def _tail_invalid(why: str) -> AgenticOSError:
    return ERRORS.error("WITNESS_TAIL_INVALID", f"{TAIL_NAME} cannot be used: {why}")
