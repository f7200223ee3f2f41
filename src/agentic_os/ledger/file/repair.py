"""Repair: the three things that may be done to a damaged ledger, and nothing else.

::

    mend      a last line gets its line feed back, or is set aside (tail.py)
    bring     a line that was set aside comes back where it follows the last one
    restore   the first <size> lines of a copy, when a pinned witness cosigned exactly that
              tree; the damaged file is set aside, never deleted

A repair never rewrites a line. A ledger that verifies and holds what was cosigned is left as it
is: a shorter copy would be a rollback. One that verifies and does not hold it was cut or forked,
and is set aside like a damaged one. Whether a witness knows a longer ledger than the restored
one is asked at the next boot.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.tlog.checkpoint import Checkpoint, parse_signed_checkpoint
from agentic_os.crypto.tlog.merkle import leaf_hash
from agentic_os.crypto.tlog.merkle_tree import MerkleFrontier
from agentic_os.crypto.tlog.note import open_note
from agentic_os.crypto.tlog.note_keys import NoteKey
from agentic_os.errors import CryptoError, LedgerError, VerificationError
from agentic_os.files.publishing import sync_folder
from agentic_os.ledger.answers import RepairData
from agentic_os.ledger.file.opening import lock_folder
from agentic_os.ledger.file.storage import LEDGER_NAME, FileStorage, LineReader
from agentic_os.ledger.file.tail import mend_tail, restore_set_aside
from agentic_os.ledger.file.verify import verify_storage
from agentic_os.ledger.rule.chain import Chain

_RESTORING: Final = ".restoring"


def repair_end(
    folder: Path, *, witness_keys: Mapping[str, PublicKeyEnvelope] | None = None
) -> RepairData:
    """Mend the end of the file, and bring back what was set aside and follows it.

    Raises:
        LedgerError: ``LEDGER_LOCKED``, ``LEDGER_MISSING``, ``TORN_COPY_FAILED``.
    """
    lock = lock_folder(folder)
    try:
        storage = FileStorage.open(folder / LEDGER_NAME, writable=True)
        try:
            done = mend_tail(storage, folder, witness_keys=witness_keys)
            if done.action != "newline_restored":
                back = restore_set_aside(storage, folder, witness_keys=witness_keys)
                done = done if back.action == "none" else back
            lines = sum(1 for _ in LineReader(storage))
        finally:
            storage.close()
    finally:
        lock.release()
    return RepairData(action=done.action, lines=lines, set_aside=done.aside)


def restore_prefix(
    folder: Path,
    copy: Path,
    *,
    checkpoint: bytes,
    witnesses: Iterable[NoteKey],
    witness_keys: Mapping[str, PublicKeyEnvelope] | None = None,
) -> RepairData:
    """Put the cosigned first lines of a copy in the place of a damaged or missing ledger.

    Args:
        folder: the identity's.
        copy: a copy of the ledger, possibly longer than the checkpoint.
        checkpoint: the cosigned tree head.
        witnesses: pinned cosignature keys; one of them must have signed.
        witness_keys: pinned receipt keys, as verification needs them.

    Raises:
        LedgerError: ``LEDGER_INTACT`` when the ledger in place verifies and holds the cosigned
            lines; ``LEDGER_LOCKED``, ``LEDGER_MISSING`` (the copy), ``LEDGER_UNREADABLE``.
        VerificationError: ``CHECKPOINT_NOT_COSIGNED``; ``LEDGER_HEAD_MISMATCH`` when the copy
            gives another root or origin; the first finding in the copy.
    """
    head = _cosigned(checkpoint, witnesses)
    lock = lock_folder(folder)
    path, partial = folder / LEDGER_NAME, folder / f"{LEDGER_NAME}{_RESTORING}"
    try:
        _require_damage(path, head, witness_keys)
        partial.unlink(missing_ok=True)
        source = FileStorage.open(copy)
        try:
            _copy_prefix(source, partial, head, witness_keys)
        finally:
            source.close()
        aside = ""
        if path.exists():
            aside = f"{LEDGER_NAME}.damaged-{time.time_ns()}"
            path.rename(folder / aside)
        partial.rename(path)
        sync_folder(folder)
    except OSError as error:
        raise LedgerError(
            f"the ledger could not be restored: {error.strerror}", code="LEDGER_UNREADABLE"
        ) from None
    finally:
        partial.unlink(missing_ok=True)
        lock.release()
    return RepairData(action="prefix_restored", lines=head.size, set_aside=aside)


def _cosigned(note: bytes, witnesses: Iterable[NoteKey]) -> Checkpoint:
    try:
        signed = parse_signed_checkpoint(note)
        open_note(signed.note, [key for key in witnesses if key.kind == "cosignature"])
    except CryptoError as error:
        raise VerificationError(
            f"no pinned witness has cosigned that tree head: {error.message}",
            code="CHECKPOINT_NOT_COSIGNED",
        ) from None
    return signed.checkpoint


def _require_damage(
    path: Path, head: Checkpoint, witness_keys: Mapping[str, PublicKeyEnvelope] | None
) -> None:
    if not path.exists():
        return
    tree = MerkleFrontier()

    def plant(seq: int, lines: Sequence[bytes], _hashes: Sequence[bytes]) -> None:
        tree.extend([leaf_hash(line) for line in lines[: max(0, head.size - seq + 1)]])

    storage = FileStorage.open(path)
    try:
        found, chain = verify_storage(storage, witness_keys=witness_keys, watch=plant)
    finally:
        storage.close()
    held = (chain.origin, tree.size, tree.root())
    if found.verified and held == (head.origin, head.size, head.root):
        raise LedgerError(
            f"the ledger verifies and holds what was cosigned: {found.lines} lines",
            code="LEDGER_INTACT",
            hint="There is nothing to repair; a shorter copy would be a rollback.",
        )


def _copy_prefix(
    source: FileStorage,
    partial: Path,
    head: Checkpoint,
    witness_keys: Mapping[str, PublicKeyEnvelope] | None,
) -> None:
    chain = Chain(witness_keys=witness_keys)
    target = FileStorage.create(partial)
    try:
        for line in LineReader(source):
            chain.admit(line)
            target.append(line + b"\n")
            if chain.size == head.size:
                break
        if (chain.size, chain.origin, chain.root) != (head.size, head.origin, head.root):
            raise VerificationError(
                "the copy does not give the tree that was cosigned", code="LEDGER_HEAD_MISMATCH"
            )
        target.sync()
    finally:
        target.close()
