"""One function a question: what the command line and the server call.

``boot`` and the verbs of ``Identity`` answer the rest (append, show, prove, bookmark, rotate).
"""

from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from agentic_os.crypto.keys.pairs import VerifyingKey
from agentic_os.crypto.tlog.checkpoint import parse_signed_checkpoint
from agentic_os.crypto.tlog.note import open_note
from agentic_os.errors import AgenticOSError, CryptoError
from agentic_os.identity import safe_mode
from agentic_os.identity.answers import PolicyData
from agentic_os.identity.boot import BootOptions, boot, boot_to_replace_policy
from agentic_os.identity.codes import ERRORS
from agentic_os.identity.folder.high_water import forget_derived
from agentic_os.identity.folder.pinned_keys import PinnedKeys
from agentic_os.identity.folder.tables import open_replica, open_tables
from agentic_os.identity.health import identity_health
from agentic_os.ledger.answers import (
    BackupData,
    Finding,
    LedgerFormat,
    RepairData,
    ShowData,
    VerifyData,
)
from agentic_os.ledger.backup.restore import restore_backup
from agentic_os.ledger.backup.write import write_backup
from agentic_os.ledger.file.repair import repair_end, restore_prefix
from agentic_os.ledger.file.show import LineFilter, show_lines
from agentic_os.ledger.file.storage import LEDGER_NAME, FileStorage
from agentic_os.ledger.file.verify import Progress, verify_storage
from agentic_os.ledger.gold import verify_gold
from agentic_os.witness.client.policy import QuorumPolicy
from agentic_os.witness.codes import ERRORS as WITNESS_ERRORS

_GOOD_STANDINGS = frozenset({"LEVEL", "BEHIND"})


def verify_ledger(
    place: Path,
    *,
    ledger_format: LedgerFormat = "agentic-os",
    key: VerifyingKey | None = None,
    progress: Progress | None = None,
) -> VerifyData:
    """Verify a ledger, every signature; an identity's folder or a single file.

    Args:
        place: a folder with ``ledger.jsonl`` and ``witness-keys``, or a file.
        ledger_format: ``aii-gold`` for the original's lines.
        key: for ``aii-gold``: the identity's key, where line 1 is no genesis.
        progress: called with the number of bytes read.

    Raises:
        LedgerError: ``LEDGER_MISSING``, ``LEDGER_UNREADABLE``.
        IdentityError: ``WITNESS_KEY_INVALID``.
    """
    path = place / LEDGER_NAME if place.is_dir() else place
    storage = FileStorage.open(path)
    try:
        if ledger_format == "aii-gold":
            return verify_gold(storage, key=key, progress=progress)
        pinned = PinnedKeys(path.parent)
        data, _ = verify_storage(storage, witness_keys=pinned, progress=progress)
        return data
    finally:
        storage.close()


def show_ledger(place: Path, wanted: LineFilter, *, limit: int = 50) -> ShowData:
    """Lines of a ledger that match, without booting and without verification.

    Raises:
        LedgerError: ``LEDGER_MISSING``, ``LEDGER_UNREADABLE``.
        VerificationError: a line that cannot be read at all.
    """
    storage = FileStorage.open(place / LEDGER_NAME if place.is_dir() else place)
    try:
        return show_lines(storage, wanted, limit=limit)
    finally:
        storage.close()


def repair_tail(folder: Path) -> RepairData:
    """Mend the end of the ledger; where nothing was to be done, say what else is wrong.

    Raises:
        LedgerError: as ``repair_end``.
    """
    done = repair_end(folder, witness_keys=PinnedKeys(folder))
    findings = identity_health(folder).findings if done.action == "none" else ()
    return replace(done, findings=findings)


def repair_from_copy(
    folder: Path,
    copy: Path,
    *,
    checkpoint: bytes,
    policy: QuorumPolicy | None,
    projection_url: str = "",
) -> RepairData:
    """Restore the cosigned first lines of a copy, and forget what was derived from the others.

    Args:
        folder: the identity's.
        copy: as for ``restore_prefix``.
        checkpoint: the cosigned note.
        policy: whose quorum must have cosigned it.
        projection_url: as for ``BootOptions``.

    Raises:
        VerificationError: ``QUORUM_MISSING``. LedgerError, VerificationError: as
            ``restore_prefix``; ``PROJECTION_UNUSABLE``.
    """
    keys = () if policy is None else policy.witness_keys
    with suppress(CryptoError):  # what is no note, restore_prefix refuses with its own words
        opened = open_note(parse_signed_checkpoint(checkpoint).note, keys)
        if policy is not None and not policy.agrees({one.key.vkey for one in opened}):
            raise WITNESS_ERRORS.error("QUORUM_MISSING")
    done = restore_prefix(
        folder,
        copy,
        checkpoint=checkpoint,
        witnesses=keys,
        witness_keys=PinnedKeys(folder),
    )
    with closing(open_tables(folder)) as projection:
        forget_derived(projection, folder)
    if projection_url:
        origin = parse_signed_checkpoint(checkpoint).checkpoint.origin
        with closing(open_replica(projection_url, origin)) as replica:
            replica.reset()
    return done


def repair_conflict(folder: Path, options: BootOptions) -> RepairData:
    """Leave a latched conflict behind, when the witnesses no longer see one.

    Boots, which asks every witness. The latch goes only if the ledger verifies, no witness
    sees a conflict, and the witness that saw it says that the ledger is level with it or ahead of
    it (or is no longer one of ours). The next boot is ready.

    Raises:
        IdentityError: ``NOTHING_LATCHED``, ``CONFLICT_REMAINS``.
    """
    kept = safe_mode.read_latch(folder)
    if kept is None:
        raise ERRORS.error("NOTHING_LATCHED", "no conflict is latched")
    reason, name = kept
    with boot(folder, options) as identity:
        report = identity.report
    standings = {one.witness: one for one in report.witnesses}
    seen = standings.get(name)
    is_only_latch = report.reason is not None and report.reason.code == reason.code
    if not is_only_latch or any(one.conflict for one in report.witnesses):
        raise _remains(report.reason)
    if seen is not None and seen.code not in _GOOD_STANDINGS:
        raise _remains(Finding(code=seen.code, message=f"{name}: {seen.message or seen.code}"))
    if options.witnesses is not None and seen is not None:
        options.witnesses.release(name)
    safe_mode.release(folder)
    lines = report.verify.lines if report.verify is not None else 0
    return RepairData(action="latch_released", lines=lines)


def change_policy(
    folder: Path, options: BootOptions, *, reason: str, password: str | None = None
) -> PolicyData:
    """Replace the accepted witness policy by the one in ``options``: the operator's decision.

    A conflict that a witness is latched for goes with that witness.

    Args:
        folder: the identity's.
        options: as for ``boot``; their witnesses are the new ones.
        reason: why, kept in the ledger.
        password: of the operator's key.

    Raises:
        IdentityError: ``SAFE_MODE``, ``NO_WITNESSES``. CryptoError: the key cannot be opened.
    """
    with boot_to_replace_policy(folder, options) as identity:
        identity.unlock("operator", password=password)
        data = identity.accept_policy(reason=reason)
    safe_mode.release(folder)
    return data


def backup_identity(
    folder: Path, archive: Path, *, password: str, key_password: str | None = None
) -> BackupData:
    """Write a backup of everything that is not a cache.

    Raises:
        LedgerError, VerificationError, CryptoError: as ``write_backup``.
    """
    return write_backup(
        folder,
        archive,
        password=password,
        key_password=key_password,
        witness_keys=PinnedKeys(folder),
    )


def restore_identity(archive: Path, folder: Path) -> BackupData:
    """Restore a backup into an empty or missing folder; boot it next.

    Raises:
        LedgerError: as ``restore_backup``.
    """
    return restore_backup(archive, folder)


def _remains(reason: Finding | None) -> AgenticOSError:
    told = "" if reason is None else f": {reason.code}, {reason.message}"
    return ERRORS.error("CONFLICT_REMAINS", f"the conflict is not gone{told}")
