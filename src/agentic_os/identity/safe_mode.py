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
from agentic_os.errors import AgenticOSError, FilesError
from agentic_os.files.publishing import publish
from agentic_os.files.reading import Folder
from agentic_os.identity.codes import ERRORS, finding
from agentic_os.ledger.answers import Finding
from agentic_os.ledger.layout import SAFE_MODE_NAME
from agentic_os.text.shapes import read_shape

LATCH_BYTES: Final = 64 * 1024


class _Latch(msgspec.Struct, forbid_unknown_fields=True):
    code: str
    message: str
    hint: str
    entered_at: str
    witness: str = ""


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
    """Return the latched reason and the name of its witness, None if none is latched.

    A damaged latch is a latch: it reads as ``SAFE_MODE_LATCHED``.
    """
    try:
        with Folder.open(folder) as opened:
            data = opened.read(SAFE_MODE_NAME, limit_bytes=LATCH_BYTES).data
        kept = read_shape(data, _Latch)
    except FilesError as error:
        if error.code == "FILE_MISSING":
            return None
        return finding("SAFE_MODE_LATCHED"), ""
    except ValueError:
        return finding("SAFE_MODE_LATCHED"), ""
    message = f"{kept.message} (latched at {kept.entered_at})"
    return Finding(code=kept.code, message=message, hint=kept.hint), kept.witness


def release(folder: Path) -> None:
    """Remove the latch; the caller has shown that the conflict is gone."""
    (folder / SAFE_MODE_NAME).unlink(missing_ok=True)


def refuse(reason: Finding) -> AgenticOSError:
    """Return the error of a verb that would change something."""
    return ERRORS.error(
        "SAFE_MODE", f"safe mode: {reason.message}", hint=f"{reason.code}: {reason.hint}"
    )
