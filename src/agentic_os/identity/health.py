"""How an identity's folder looks without booting it: every check of boot that needs no witness.

Nothing is written, no lock is taken, no key is opened that has a password. A check that fails
does not end the look: everything that is wrong is told, each with what to do. What only a
witness can say is not said here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar

from agentic_os.crypto.keys.files import read_key
from agentic_os.errors import AgenticOSError
from agentic_os.files.unfinished import left_unfinished
from agentic_os.identity import safe_mode
from agentic_os.identity.codes import finding, with_way_out
from agentic_os.identity.folder.high_water import require_high_water
from agentic_os.identity.folder.keyring import require_own_envelope
from agentic_os.identity.folder.pinned_keys import PinnedKeys
from agentic_os.identity.folder.tables import read_tables
from agentic_os.identity.folder.witness_tail import WitnessTail, read_tail, require_tail
from agentic_os.identity.restoring import Milestones, candidate_lines
from agentic_os.identity.witness_policy import AcceptedPolicy
from agentic_os.ledger.answers import Finding, VerifyData
from agentic_os.ledger.file.storage import LEDGER_NAME, FileStorage
from agentic_os.ledger.file.verify import Progress, verify_storage
from agentic_os.ledger.layout import CHECKPOINT_KEY, KEYS_FOLDER, key_path
from agentic_os.ledger.rule.chain import Chain

HealthState: TypeAlias = Literal["absent", "sound", "damaged", "latched"]

_NEEDED_KEYS: Final = ("identity", CHECKPOINT_KEY)
_FINE_KEY_CODES: Final = frozenset({"KEY_PASSWORD_REQUIRED"})

_LEDGER_GONE: Final = Finding(code="LEDGER_MISSING", message="there are keys and no ledger")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthData:
    """How an identity's folder looks without booting it: what ``doctor`` shows.

    ``sound`` says that the ledger verifies, agrees with what lies beside it, and nothing is
    latched; it does not say what a witness would say. ``acknowledged`` is the newest line that a
    witness is known to have acknowledged (0: none), ``acknowledged_at`` when. ``accepted`` is what
    the ledger says of its witnesses, None when it could not be read. ``unfinished`` says that a
    killed birth or restoration left something beside the folder.
    """

    state: HealthState
    findings: tuple[Finding, ...]
    unfinished: Finding | None = None
    lines: int = 0
    origin: str = ""
    acknowledged: int = 0
    acknowledged_at: str = ""
    accepted: AcceptedPolicy | None = None


def identity_health(folder: Path, *, progress: Progress | None = None) -> HealthData:
    """Look at an identity's folder without keys, locks or witnesses; never raises.

    Args:
        folder: the identity's.
        progress: called with the number of ledger bytes read.
    """
    unfinished = finding("BIRTH_UNFINISHED") if left_unfinished(folder) else None
    if not (folder / LEDGER_NAME).exists() and not (folder / KEYS_FOLDER).exists():
        return HealthData(state="absent", findings=(), unfinished=unfinished)
    look = _Look(folder, progress)
    findings = tuple(map(with_way_out, look.findings()))
    kept = safe_mode.read_latch(folder)
    latched = () if kept is None else (with_way_out(kept[0]),)
    state: HealthState = "damaged" if findings else "latched" if latched else "sound"
    return HealthData(
        state=state,
        findings=(*findings, *latched),
        unfinished=unfinished,
        lines=look.lines,
        origin=look.origin,
        acknowledged=look.tail.ledger_ordinal if look.tail else 0,
        acknowledged_at=look.tail.witnessed_at if look.tail else "",
        accepted=look.accepted if look.lines else None,
    )


class _Look:
    """One look; what is known so far."""

    def __init__(self, folder: Path, progress: Progress | None) -> None:
        self._folder = folder
        self._progress = progress
        self._failed: list[Finding] = []
        self.tail: WitnessTail | None = None
        self.accepted = AcceptedPolicy()
        self.lines = 0
        self.origin = ""

    def findings(self) -> list[Finding]:
        """Everything that is wrong, in the order in which boot would meet it."""
        for name in _NEEDED_KEYS:
            self._try(partial(self._check_key, name))
        pinned = self._try(lambda: PinnedKeys(self._folder))
        self.tail = self._try(lambda: read_tail(self._folder))
        if not (self._folder / LEDGER_NAME).exists():
            self._failed.insert(0, _LEDGER_GONE)
        elif pinned is not None:
            self._try(lambda: self._verify(pinned))
        return self._failed

    def _check_key(self, name: str) -> None:
        try:
            read_key(key_path(self._folder, name))
        except AgenticOSError as error:
            if error.code not in _FINE_KEY_CODES:
                raise

    def _verify(self, pinned: PinnedKeys) -> None:
        projection = read_tables(self._folder)
        try:
            wanted = candidate_lines(projection, self._folder)
            milestones = Milestones(wanted | ({self.tail.ledger_ordinal} if self.tail else set()))
            data, chain = self._read(pinned, milestones)
            self.lines, self.origin = data.lines, data.origin
            self._failed.extend(data.findings)
            if data.verified:
                self._try(lambda: require_own_envelope(self._folder, chain))
                self._try(lambda: require_tail(self.tail, chain.size, milestones.hash_at))
                self._try(lambda: require_high_water(projection, self._folder, chain, milestones))
        finally:
            projection.close()

    def _read(self, pinned: PinnedKeys, milestones: Milestones) -> tuple[VerifyData, Chain]:
        def watch(seq: int, lines: Sequence[bytes], hashes: Sequence[bytes]) -> None:
            milestones.see(seq, lines, hashes)
            self.accepted.see(seq, lines)

        storage = FileStorage.open(self._folder / LEDGER_NAME)
        try:
            return verify_storage(
                storage, witness_keys=pinned, progress=self._progress, watch=watch
            )
        finally:
            storage.close()

    def _try(self, step: Callable[[], T]) -> T | None:
        try:
            return step()
        except AgenticOSError as error:
            self._failed.append(Finding(code=error.code, message=error.message, hint=error.hint))
            return None
