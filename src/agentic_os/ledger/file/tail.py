"""The end of a ledger file that lacks its line feed: given back, or set aside.

- A last line that is whole, and that the chain admits with its signature, gets its line feed back:
  an editor, or a copy through a shell, took it away. Nobody else can have written that line.
- Anything else is debris of a write that was never acknowledged. Its bytes are copied aside (0600,
  synced) before they are cut; if the copy fails, nothing is cut.
- What an earlier program set aside is looked at by repair: a line that follows the last one comes
  back.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.errors import FilesError, LedgerError, VerificationError
from agentic_os.files.publishing import publish
from agentic_os.files.reading import Folder
from agentic_os.ledger.file.storage import LEDGER_NAME, Storage
from agentic_os.ledger.file.verify import TAIL_TORN, verify_storage
from agentic_os.ledger.line.entry import LINE_BYTES
from agentic_os.ledger.line.frame import split_line

TORN_PREFIX: Final = f"{LEDGER_NAME}.torn-"
TORN_FILES: Final = 64

WitnessKeys: TypeAlias = Mapping[str, PublicKeyEnvelope]


class Mended(NamedTuple):
    """What was done to the end of the file, and the name of the copy that was set aside."""

    action: Literal["none", "newline_restored", "tail_restored", "tail_cut"]
    aside: str = ""


def mend_tail(storage: Storage, folder: Path, *, witness_keys: WitnessKeys | None = None) -> Mended:
    """Give an unterminated last line its line feed back, or set it aside.

    Raises:
        LedgerError: ``TORN_COPY_FAILED``; then nothing was cut.
    """
    size = storage.size()
    torn = _torn_bytes(storage, size)
    if not torn:
        return Mended("none")
    if _follows(storage, torn, witness_keys):
        storage.append(b"\n")
        storage.sync()
        return Mended("newline_restored")
    name = f"{TORN_PREFIX}{time.time_ns()}"
    try:
        publish(folder / name, torn)
    except FilesError:
        raise LedgerError(
            "the torn last line could not be copied aside, so it was left",
            code="TORN_COPY_FAILED",
            hint="Make room on the disk, then try again.",
        ) from None
    storage.truncate(size - len(torn))
    storage.sync()
    return Mended("tail_cut", name)


def restore_set_aside(
    storage: Storage, folder: Path, *, witness_keys: WitnessKeys | None = None
) -> Mended:
    """Bring back a line that was set aside and follows the last one; its copy stays."""
    with Folder.open(folder) as opened:
        entries, _ = opened.entries(limit_entries=10_000)
        names = sorted(one.name for one in entries if one.name.startswith(TORN_PREFIX))
        for name in names[-TORN_FILES:]:
            line = opened.read(name, limit_bytes=LINE_BYTES).data
            if _follows(storage, line, witness_keys):
                storage.append(line + b"\n")
                storage.sync()
                return Mended("tail_restored", name)
    return Mended("none")


def _torn_bytes(storage: Storage, size: int) -> bytes:
    """Return the bytes behind the last LF, or none when there are too many to be one line."""
    start = max(0, size - LINE_BYTES)
    last = storage.read(start, size - start)
    torn = last[last.rfind(b"\n") + 1 :]
    return b"" if len(torn) == LINE_BYTES else torn


def _follows(storage: Storage, line: bytes, witness_keys: WitnessKeys | None) -> bool:
    """Whether the chain admits a line behind those that are whole, signature included."""
    try:
        split_line(line)  # spares the whole ledger's verification for mere debris
        found, chain = verify_storage(storage, witness_keys=witness_keys)
        if any(one.code != TAIL_TORN for one in found.findings):
            return False
        chain.admit(line)
    except VerificationError:
        return False
    return True
