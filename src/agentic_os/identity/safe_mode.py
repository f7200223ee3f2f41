"""Safe mode: what it is, why it was entered, and how it is left.

In safe mode the identity can be read and cannot be changed: there is no writer, the
projection is read-only (or empty in memory), and every verb that would change something
refuses with the reason. It is left only by repair and restart: nothing in a running process
leads back to ready.

What a restart would find again by itself (a broken chain, a wrong key) needs no memory. What it
might not find again, because a witness may be out of reach next time, is latched in
``safe-mode.json``; only ``release`` removes it, after the witness was heard again.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from agentic_os.crypto.canonical.json import encode
from agentic_os.errors import FilesError, IdentityError
from agentic_os.files.publishing import publish
from agentic_os.files.reading import Folder
from agentic_os.ledger.answers import Finding
from agentic_os.ledger.layout import SAFE_MODE_NAME

LATCH_BYTES: Final = 64 * 1024

HINTS: Final[dict[str, str]] = {
    "LEDGER_LINE_INVALID": "The file is damaged. Restore a copy: agentic-os ledger repair.",
    "LEDGER_SEQ_BROKEN": "Lines are missing, doubled or swapped. Restore a copy.",
    "LEDGER_CHAIN_BROKEN": "Lines were changed or swapped. Restore a copy.",
    "LEDGER_HASH_WRONG": "An entry was changed. Restore a copy.",
    "LEDGER_SIGNATURE_INVALID": "A line was not written by this identity. Restore a copy.",
    "LEDGER_KEY_WRONG": "A line was signed with another key. Restore a copy.",
    "LEDGER_EMPTY": "The ledger was emptied. Restore a copy.",
    "LEDGER_TRUNCATED": "The end of the ledger is missing. Restore a newer copy.",
    "LEDGER_REPLACED": "Lines were replaced by others. Restore the copy that has the first ones.",
    "LEDGER_HEAD_MISMATCH": "The ledger is not the one that was cosigned. Restore a copy.",
    "LEDGER_WITNESS_KEY_UNKNOWN": "Put the witness's key back into witness-keys.",
    "WITNESS_AHEAD": "The ledger was rolled back. Restore the newest copy.",
    "WITNESS_FORK": "The ledger was forked. Restore the copy that the witness cosigned.",
    "WITNESS_WENT_BACK": "The witness lost its memory. Ask its operator; keep your receipts.",
    "WITNESS_KEY_CHANGED": "Ask the witness's operator for its key before you trust it again.",
    "KEY_MISSING": "Restore the newest backup: agentic-os ledger restore.",
    "KEY_UNREADABLE": "Give yourself the right to read the key file, or restore the backup.",
    "KEY_PASSWORD_REQUIRED": "Set AGENTIC_OS_KEY_PASSWORD for this command.",
    "KEY_PASSWORD_WRONG": "Set AGENTIC_OS_KEY_PASSWORD to the password of the keys.",
    "KEY_INVALID": "The key file is damaged. Restore it from a backup.",
    "LEDGER_UNREADABLE": "See to the disk and the file's mode, then boot again.",
    "LEDGER_RECEIPT_INVALID": "A receipt was replayed or forged. Restore a copy.",
    "LEDGER_GENESIS_INVALID": "Line 1 is not a genesis that holds. Restore a copy.",
    "ORIGIN_CHANGED": "Another identity was born in this place. Restore the newest backup.",
    "WITNESS_TAIL_INVALID": "Restore witness-tail.json from a backup.",
    "WITNESS_KEY_INVALID": "Restore witness-keys from a backup.",
    "KEY_MISMATCH": "Ledger and keys belong to different identities. Restore both from a backup.",
    "ENVELOPE_INVALID": "Restore identity-envelope.json from a backup.",
    "POSTGRES_MISSING": "pip install 'agentic-os[postgres]'",
    "PROJECTION_URL": "Give sqlite:///PATH or postgresql://…, or nothing.",
    "PROJECTION_UNUSABLE": "See to the database; the projection is rebuilt from the ledger.",
    "REPLAY_FAILED": "The ledger says something that cannot be applied. Report it.",
}
"""What to do in each case; doctor shows the same words."""

OTHERWISE: Final = "Restore the newest copy: agentic-os ledger repair."


class _Latch(msgspec.Struct, forbid_unknown_fields=True):
    code: str
    message: str
    hint: str
    entered_at: str
    witness: str = ""


def with_hint(finding: Finding) -> Finding:
    """A finding with what to do about it, where it says nothing itself."""
    if finding.hint:
        return finding
    return Finding(
        code=finding.code,
        message=finding.message,
        seq=finding.seq,
        hint=HINTS.get(finding.code, OTHERWISE),
    )


def latch(folder: Path, reason: Finding, *, witness: str = "") -> None:
    """Remember a conflict durably; one that is latched already stays."""
    if read_latch(folder) is not None:
        return
    publish(
        folder / SAFE_MODE_NAME,
        encode(
            {
                "code": reason.code,
                "message": reason.message,
                "hint": reason.hint,
                "entered_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "witness": witness,
            }
        ),
    )


def read_latch(folder: Path) -> tuple[Finding, str] | None:
    """The latched reason and the witness that it came from; nothing where none is latched.

    A damaged latch is a latch: it reads as ``SAFE_MODE_LATCHED``.
    """
    try:
        with Folder.open(folder) as opened:
            data = opened.read(SAFE_MODE_NAME, limit_bytes=LATCH_BYTES).data
        kept = msgspec.json.decode(data, type=_Latch)
    except FilesError as error:
        if error.code == "FILE_MISSING":
            return None
        return _damaged(), ""
    except msgspec.MsgspecError:
        return _damaged(), ""
    message = f"{kept.message} (latched at {kept.entered_at})"
    return Finding(code=kept.code, message=message, hint=kept.hint), kept.witness


def release(folder: Path) -> None:
    """Remove the latch; the caller has shown that the conflict is gone."""
    (folder / SAFE_MODE_NAME).unlink(missing_ok=True)


def refuse(reason: Finding) -> IdentityError:
    """The refusal of a verb that would change something."""
    return IdentityError(
        f"safe mode: {reason.message}", code="SAFE_MODE", hint=f"{reason.code}: {reason.hint}"
    )


def _damaged() -> Finding:
    return Finding(
        code="SAFE_MODE_LATCHED",
        message="a conflict is latched, and the file that says which one is damaged",
        hint="agentic-os ledger repair asks the witnesses again.",
    )
