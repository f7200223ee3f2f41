"""Opening: the lock, the end of the file, verification; only then is there a journal.

- The folder's lock is taken before the first byte is read.
- Only an unterminated final line is forgiven (``tail.py``). Damage inside is fatal.
- A beginning writes its genesis only after a chain has admitted it, and leaves no ledger
  behind when it fails.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.tlog.merkle import leaf_hash
from agentic_os.errors import FilesError, LedgerError, VerificationError
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.ledger.file.head import CosignedHead
from agentic_os.ledger.file.journal import TAIL_LINES, Journal, Signers
from agentic_os.ledger.file.storage import LEDGER_NAME, FileStorage, Storage, no_ledger
from agentic_os.ledger.file.tail import mend_tail
from agentic_os.ledger.file.verify import Progress, Watcher, verify_storage
from agentic_os.ledger.line.entry import (
    Draft,
    encode_entry,
    new_salt,
    sign_line,
    timestamp,
)
from agentic_os.ledger.rule.chain import Chain

LOCK_NAME: Final = "ledger.lock"


def lock_folder(folder: Path) -> ExclusiveLock:
    """Take the one writer's lock of an identity's folder.

    Raises:
        LedgerError: ``LEDGER_LOCKED``, ``LEDGER_MISSING`` (there is no such folder),
            ``LEDGER_UNREADABLE``.
    """
    if not folder.exists():
        raise no_ledger()
    lock = ExclusiveLock(folder / LOCK_NAME)
    try:
        if lock.try_acquire():
            return lock
    except FilesError as error:
        raise LedgerError(error.message, code="LEDGER_UNREADABLE", hint=error.hint) from None
    holder = lock.holder()
    owner = f"process {holder}" if holder else "another process"
    raise LedgerError(
        f"the ledger is in use by {owner}", code="LEDGER_LOCKED", hint="Stop it, then try again."
    )


def open_journal(
    folder: Path,
    *,
    lock: ExclusiveLock | None = None,
    witness_keys: Mapping[str, PublicKeyEnvelope] | None = None,
    head: CosignedHead | None = None,
    progress: Progress | None = None,
    watch: Watcher | None = None,
) -> Journal:
    """Lock, mend the end of the file, verify all, and be ready to append.

    Args:
        folder: the identity's.
        lock: the folder's lock, where the caller holds it already and keeps it.
        witness_keys: pinned receipt keys.
        head: a cosigned head.
        progress: as ``verify_storage``.
        watch: as ``verify_storage``.

    Raises:
        LedgerError: ``LEDGER_LOCKED``, ``LEDGER_MISSING``, ``LEDGER_UNREADABLE``,
            ``TORN_COPY_FAILED``.
        VerificationError: the first finding; the folder is unlocked again.
    """
    own = lock_folder(folder) if lock is None else None
    storage: Storage | None = None
    try:
        storage = FileStorage.open(folder / LEDGER_NAME, writable=True)
        mended = mend_tail(storage, folder, witness_keys=witness_keys)
        journal = start_journal(
            storage, own, witness_keys=witness_keys, head=head, progress=progress, watch=watch
        )
    except BaseException:
        if storage is not None:
            storage.close()
        if own is not None:
            own.release()
        raise
    journal.torn_aside = mended.aside
    return journal


def start_journal(
    storage: Storage,
    lock: ExclusiveLock | None,
    *,
    witness_keys: Mapping[str, PublicKeyEnvelope] | None = None,
    head: CosignedHead | None = None,
    progress: Progress | None = None,
    watch: Watcher | None = None,
) -> Journal:
    """Verify a storage whose folder is locked and make it a journal, which takes ``lock`` over.

    Raises:
        LedgerError: ``LEDGER_UNREADABLE``.
        VerificationError: the first finding.
    """
    leaves = bytearray()
    last: deque[tuple[int, bytes]] = deque(maxlen=TAIL_LINES)
    offset = 0

    def see(seq: int, lines: Sequence[bytes], hashes: Sequence[bytes]) -> None:
        nonlocal offset
        if seq == 1:
            offset = 0
            last.clear()
        for line in lines:
            last.append((offset, line))
            offset += len(line) + 1
        if watch is not None:
            watch(seq, lines, hashes)

    verified, chain = verify_storage(
        storage, witness_keys=witness_keys, head=head, progress=progress, watch=see, leaves=leaves
    )
    if verified.findings:
        first = verified.findings[0]
        where = "" if first.seq is None else f"line {first.seq}: "
        raise VerificationError(f"{where}{first.message}", code=first.code, hint=first.hint)
    tail = deque(((at, leaf_hash(line)) for at, line in last), maxlen=TAIL_LINES)
    chain.leaves = None  # the journal keeps them from here on
    return Journal(storage, chain, lock, tail, verified, leaves)


def begin_journal(folder: Path, genesis: Draft, signers: Signers) -> Journal:
    """Make a ledger of one line, the genesis; the folder has none yet.

    Raises:
        LedgerError: ``LEDGER_LOCKED``, ``LEDGER_EXISTS``, ``APPEND_UNCERTAIN``.
        VerificationError: the genesis does not verify; no ledger is left behind.
    """
    lock = lock_folder(folder)
    try:
        chain = Chain()
        entry = encode_entry(genesis, seq=1, ts=timestamp(), salt=new_salt())
        line = sign_line(entry, prev_hash=chain.head_hash, role="platform", key=signers["platform"])
        chain.admit(line)
        return _write_first(folder / LEDGER_NAME, line, lock)
    except BaseException:
        lock.release()
        raise


def _write_first(path: Path, line: bytes, lock: ExclusiveLock) -> Journal:
    storage = FileStorage.create(path)
    try:
        storage.append(line + b"\n")
        storage.sync()
        return start_journal(storage, lock)
    except BaseException as error:
        storage.close()
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise LedgerError(
                f"the ledger cannot be written: {error.strerror}", code="APPEND_UNCERTAIN"
            ) from None
        raise
