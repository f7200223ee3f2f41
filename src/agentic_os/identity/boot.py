"""Boot: verify, restore, replay, ready. There is no other way to an identity.

::

    lock + keys        storage or keys unreadable                       -> HALT (an error)
    verify             every hash, the chain, the tree, every signature
                       (but those below a cosigned head)                -> safe mode
    own                the ledger names our keys, our envelope, and reaches the newest point
                       that a witness acknowledged                      -> safe mode
    high water         nothing derived knows a later line, or another   -> safe mode
    policy             the witnesses at hand are those that the ledger has accepted -> safe mode
    restore + replay   projection at the head                           -> safe mode
    witnesses          a witness that is ahead, or holds another history -> safe mode, latched
                       unreachable                                      -> reported, not passed over
    latch              a conflict from before                           -> safe mode
    settle             receipts that a crash kept out are appended
    ready              the identity can write

Invariants:

- No parameter, variable or setting leaves a step out. What may be skipped is decided by a
  cosigned head alone, and the report says how many signatures that were.
- The lock is taken before the first byte is read and held as long as the identity lives.
- Halt means: nothing can be said, no identity comes back. Safe mode means: an identity comes back
  that can be read and cannot write; it never becomes ready in the same process.
- The order is fixed: nothing is written to the ledger before the witnesses were heard.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, format_time, identity_id
from agentic_os.errors import (
    AgenticOSError,
    CryptoError,
    FilesError,
    IdentityError,
    LedgerError,
    VerificationError,
)
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.files.reading import Folder
from agentic_os.identity import safe_mode
from agentic_os.identity.answers import BootData, StandingView
from agentic_os.identity.codes import ERRORS, with_way_out
from agentic_os.identity.folder.high_water import require_high_water, require_replica_behind
from agentic_os.identity.folder.keyring import (
    KeyRing,
    keep_envelope,
    read_envelope_file,
    require_current,
    require_own_envelope,
)
from agentic_os.identity.folder.pinned_keys import PinnedKeys
from agentic_os.identity.folder.tables import open_replica, open_tables, read_tables
from agentic_os.identity.folder.witness_tail import read_tail, require_tail
from agentic_os.identity.ready import ReadyIdentity
from agentic_os.identity.restoring import Milestones, candidate_lines, restore
from agentic_os.identity.session import Identity
from agentic_os.identity.witness_policy import AcceptedPolicy
from agentic_os.identity.witnessing import Witnesses
from agentic_os.ledger.answers import Finding
from agentic_os.ledger.file.head import (
    HEAD_BYTES,
    HEAD_NAME,
    CosignedHead,
    read_cosigned_note,
    read_head,
)
from agentic_os.ledger.file.journal import Journal
from agentic_os.ledger.file.opening import lock_folder, open_journal
from agentic_os.ledger.file.verify import Progress
from agentic_os.ledger.line.payloads import Role
from agentic_os.ledger.projection.tables import Projection
from agentic_os.ledger.rule.chain import Chain
from agentic_os.ledger.writing import Writer

HALTING_CODES: Final = frozenset({"LEDGER_MISSING", "LEDGER_UNREADABLE", "TORN_COPY_FAILED"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BootOptions:
    """What a boot needs beside the folder; none of it can weaken the checks.

    Args:
        passwords: of the private keys, by role.
        witnesses: who is asked; ``None`` when the person has configured none.
        projection_url: where a replica of the tables is kept for readers, ``postgresql://…``;
            empty for none.
        progress: called with the number of ledger bytes read.
    """

    passwords: Mapping[Role, str] | None = None
    witnesses: Witnesses | None = None
    projection_url: str = ""
    progress: Progress | None = None


def boot(folder: Path, options: BootOptions | None = None) -> Identity:
    """Boot the identity that lives in ``folder``.

    Returns:
        A ready identity, or one in safe mode; ``identity.report`` says which and why.

    Raises:
        IdentityError: ``IDENTITY_MISSING`` in a missing or empty folder; ``BOOT_HALTED`` when
            storage or keys cannot be read.
        LedgerError: ``LEDGER_LOCKED`` when another process has the identity.
    """
    if not folder.is_dir() or not any(folder.iterdir()):
        raise ERRORS.error("IDENTITY_MISSING", "no identity lives here yet")
    return _Boot(folder, options or BootOptions()).run()


def boot_to_replace_policy(folder: Path, options: BootOptions) -> Identity:
    """Boot an identity whose operator is about to replace its accepted witness policy.

    Every check is made, but for the comparison of the policies. What comes back writes nothing
    before ``Identity.accept_policy`` has recorded the operator's decision.

    Raises:
        As ``boot``.
    """
    return _Boot(folder, options, replaces_policy=True).run()


class _SafeModeError(Exception):
    """A step failed in a way that leaves something to read; never leaves this module."""

    def __init__(self, reason: Finding, *, witness: str = "", latched: bool = False) -> None:
        super().__init__(reason.code)
        self.reason = with_way_out(reason)
        self.witness = witness
        self.latched = latched


class _Boot:
    """One boot. What is known so far is what a report can say."""

    def __init__(
        self, folder: Path, options: BootOptions, *, replaces_policy: bool = False
    ) -> None:
        self._folder = folder
        self._replaces_policy = replaces_policy
        self._accepted = AcceptedPolicy()
        self._options = options
        self._lock: ExclusiveLock | None = None
        self._journal: Journal | None = None
        self._projection: Projection | None = None
        self._replica: Projection | None = None
        self._known = BootData(mode="ready", reason=None, verify=None)

    def run(self) -> Identity:
        try:
            keys = KeyRing(self._folder, self._options.passwords)
        except CryptoError as error:
            raise _halted(error) from None
        lock = self._lock = lock_folder(self._folder)
        try:
            try:
                ready, projection = self._awaken(keys)
            except _SafeModeError as stop:
                if stop.latched:
                    safe_mode.latch(self._folder, stop.reason, witness=stop.witness)
                return self._in_safe_mode(stop.reason, lock)
            identity = Identity(
                folder=self._folder,
                lock=lock,
                projection=projection,
                report=self._known,
                ready=ready,
                awaits_policy=self._replaces_policy,
            )
            if not self._replaces_policy:
                identity.settle_receipts()
        except BaseException:
            self._let_go()
            lock.release()
            raise
        return identity

    def _awaken(self, keys: KeyRing) -> tuple[ReadyIdentity, Projection]:
        """Every step up to ready, in order."""
        pinned, tail = _or_safe_mode(lambda: (PinnedKeys(self._folder), read_tail(self._folder)))
        projection = self._projection = _or_safe_mode(lambda: open_tables(self._folder))
        wanted = _or_safe_mode(lambda: candidate_lines(projection, self._folder))
        milestones = Milestones(wanted | ({tail.ledger_ordinal} if tail else set()))
        journal = self._verify(pinned, milestones)
        envelope = _or_safe_mode(lambda: self._own_envelope(keys, journal.chain))
        self._known = replace(self._known, identity_id=identity_id(envelope))
        _or_safe_mode(lambda: require_tail(tail, journal.chain.size, milestones.hash_at))
        _or_safe_mode(
            lambda: require_high_water(projection, self._folder, journal.chain, milestones)
        )
        if not self._replaces_policy:
            asked = self._options.witnesses
            _or_safe_mode(lambda: self._accepted.require(asked.policy if asked else None))
        restored = _or_safe_mode(lambda: restore(projection, self._folder, journal, milestones))
        self._known = replace(
            self._known, restored_from=restored.source, replayed=restored.replayed
        )
        replica = self._replica = _or_safe_mode(lambda: self._opened_replica(journal))
        if replica is not None:
            _or_safe_mode(lambda: require_replica_behind(replica, journal))
            _or_safe_mode(lambda: replica.follow(projection))
        ready = ReadyIdentity(
            folder=self._folder,
            journal=journal,
            projection=projection,
            replica=replica,
            writer=Writer(journal, projection, keys.signers, replica=replica),
            keys=keys,
            pinned=pinned,
            witnesses=self._options.witnesses,
            envelope=envelope,
            accepted=self._accepted,
        )
        self._hear_witnesses(ready)
        latched = safe_mode.read_latch(self._folder)
        if latched is not None and not self._drops(latched[1]):
            raise _SafeModeError(latched[0])
        return ready, projection

    def _opened_replica(self, journal: Journal) -> Projection | None:
        url = self._options.projection_url
        return open_replica(url, journal.chain.origin) if url else None

    def _drops(self, witness: str) -> bool:
        """Return whether the operator is about to take a witness out of the policy."""
        asked = self._options.witnesses
        return (
            self._replaces_policy
            and asked is not None
            and witness not in {one.name for one in asked.policy.witnesses}
        )

    def _verify(self, pinned: PinnedKeys, milestones: Milestones) -> Journal:
        def watch(seq: int, lines: Sequence[bytes], hashes: Sequence[bytes]) -> None:
            milestones.see(seq, lines, hashes)
            self._accepted.see(seq, lines)

        try:
            self._journal = open_journal(
                self._folder,
                lock=self._lock,
                witness_keys=pinned,
                head=self._cosigned_head(),
                progress=self._options.progress,
                watch=watch,
            )
        except VerificationError as error:
            raise _SafeModeError(_finding(error)) from None
        except LedgerError as error:
            if error.code in HALTING_CODES:
                raise _halted(error) from None
            raise
        self._known = replace(
            self._known, verify=self._journal.verified, torn_aside=self._journal.torn_aside
        )
        return self._journal

    def _cosigned_head(self) -> CosignedHead | None:
        """Return the stated head if a quorum of the pinned witnesses cosigned it."""
        if self._options.witnesses is None:
            return None
        policy = self._options.witnesses.policy
        note = read_cosigned_note(self._folder)
        try:
            if note is None or not policy.has_cosigned(note.note):
                return None
            with Folder.open(self._folder) as folder:
                document = folder.read(HEAD_NAME, limit_bytes=HEAD_BYTES).data
            return read_head(document, policy.witness_keys)
        except (FilesError, CryptoError):
            return None

    def _own_envelope(self, keys: KeyRing, chain: Chain) -> PublicKeyEnvelope:
        """Our keys and our envelope are those of this very ledger's identity."""
        require_own_envelope(self._folder, chain)
        keys.settle("identity", chain)
        require_current("identity", keys.signers["identity"], chain)
        if self._accepted.is_witnessed and read_envelope_file(self._folder) is None:
            # Another envelope would be another identity to every witness.
            raise ERRORS.error(
                "ENVELOPE_INVALID",
                "the identity's envelope is gone, and witnesses know the identity by it",
            )
        return keep_envelope(self._folder, keys.signers["identity"], chain=chain)

    def _hear_witnesses(self, ready: ReadyIdentity) -> None:
        if self._options.witnesses is None:
            return
        standings = self._options.witnesses.ask_standing(ready.seen_by_witnesses())
        self._known = replace(
            self._known,
            witnesses=tuple(
                StandingView(
                    witness=one.name,
                    code=one.code,
                    message=one.message,
                    conflict=one.is_conflict,
                    cosigned_at=_time_text(one.cosigned_at),
                )
                for one in standings
            ),
        )
        for one in standings:
            if one.is_conflict:
                raise _SafeModeError(
                    Finding(code=one.code, message=f"{one.name}: {one.message}"),
                    witness=one.name,
                    latched=True,
                )

    def _in_safe_mode(self, reason: Finding, lock: ExclusiveLock) -> Identity:
        self._let_go()
        return Identity(
            folder=self._folder,
            lock=lock,
            projection=read_tables(self._folder),
            report=replace(self._known, mode="safe_mode", reason=reason),
            ready=None,
        )

    def _let_go(self) -> None:
        if self._journal is not None:
            self._journal.close()
        if self._projection is not None:
            self._projection.close()
        if self._replica is not None:
            self._replica.close()
        self._journal = self._projection = self._replica = None


def _time_text(seconds: int) -> str:
    return format_time(datetime.fromtimestamp(seconds, UTC)) if seconds else ""


T = TypeVar("T")


def _or_safe_mode(step: Callable[[], T]) -> T:
    """Run a step whose failure leaves something to read."""
    try:
        return step()
    except (IdentityError, LedgerError, CryptoError, FilesError) as error:
        raise _SafeModeError(_finding(error)) from None


def _finding(error: AgenticOSError) -> Finding:
    return Finding(code=error.code, message=error.message, hint=error.hint)


def _halted(error: AgenticOSError) -> AgenticOSError:
    hint = with_way_out(_finding(error)).hint
    return ERRORS.error("BOOT_HALTED", f"boot halts: {error.message}", hint=f"{error.code}. {hint}")
