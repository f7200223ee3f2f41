"""A booted identity: ready, or in safe mode; the one object that surfaces hold.

Every verb asks first whether the identity may change anything. In safe mode, and after a
conflict in a running session, the answer is the reason, for the rest of the process.

Threads may share an identity: one verb runs at a time.
"""

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from agentic_os.crypto.canonical.texts import bare_hash
from agentic_os.errors import AgenticOSError
from agentic_os.files.closing import SelfClosing
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.identity import safe_mode
from agentic_os.identity.answers import BookmarkData, BootData, ExportData, PolicyData, RotateData
from agentic_os.identity.bookmarks import Occasion, bookmark_reason, settle, take_round
from agentic_os.identity.codes import ERRORS
from agentic_os.identity.folder.keyring import keep_envelope
from agentic_os.identity.folder.witness_tail import newest_note
from agentic_os.identity.policy_change import replace_policy
from agentic_os.identity.ready import ReadyIdentity
from agentic_os.identity.rotation import rotate_checkpoint_key, rotate_key
from agentic_os.identity.witness_policy import is_policy_entry
from agentic_os.identity.witnessing import receipt_due
from agentic_os.ledger.answers import AppendData, AppendedEntry, Finding, ProveData, ShowData
from agentic_os.ledger.file.prove import prove_line
from agentic_os.ledger.file.show import LineFilter, show_lines, view_of
from agentic_os.ledger.file.storage import LEDGER_NAME, FileStorage
from agentic_os.ledger.line.payloads import Role
from agentic_os.ledger.line.vocabulary import Level
from agentic_os.ledger.projection.snapshot import (
    list_snapshots,
    make_seal,
    peek_seal,
    write_snapshot,
)
from agentic_os.ledger.projection.tables import Projection
from agentic_os.ledger.writing import Request
from agentic_os.witness.client.receipt_files import export_proof

SNAPSHOT_ENTRIES = 1_000
"""A new snapshot is worth its time after so many lines; the seal in the tables is always new."""

_OWN_VERBS = {
    "system.witnessed": "Receipts are written by bookmark.",
    "key.transition": "Keys are changed by rotate, which also keeps the new key.",
}


class Identity(SelfClosing):
    """An identity that booted. Close it, or use it with ``with``.

    Args:
        folder: where it lives.
        lock: the folder's lock, given back at the end.
        projection: at the head; in safe mode read-only, and as old as it is.
        report: what boot found.
        ready: None in safe mode.
        awaits_policy: nothing is written before ``accept_policy``.
    """

    def __init__(
        self,
        *,
        folder: Path,
        lock: ExclusiveLock,
        projection: Projection,
        report: BootData,
        ready: ReadyIdentity | None,
        awaits_policy: bool = False,
    ) -> None:
        """Take everything over; ``close`` lets it go."""
        self._folder = folder
        self._lock = lock
        self._projection = projection
        self._report = report
        self._ready = ready
        self._turn = threading.RLock()
        self._conflict: Finding | None = report.reason
        self._awaits_policy = awaits_policy
        self._farewell_bookmark: BookmarkData | None = None
        self._has_written = True
        self._closed = False

    @property
    def report(self) -> BootData:
        """What boot found."""
        return self._report

    @property
    def projection(self) -> Projection:
        """The tables, for readers."""
        return self._projection

    @property
    def refusal(self) -> Finding | None:
        """Why nothing can be changed; nothing while it can."""
        return self._conflict

    @property
    def farewell(self) -> BookmarkData | None:
        """Return what the witnesses said when the identity was closed, None if none was asked."""
        return self._farewell_bookmark

    def append(
        self, level: Level, requests: Sequence[Request], *, model_id: str | None = None
    ) -> AppendData:
        """Write entries through the gate; all of them or none.

        Raises:
            IdentityError: ``SAFE_MODE``.
            LedgerError, VerificationError: as ``Writer.submit``.
        """
        with self._turn:
            ready = self._require_ready()
            for one in requests:
                if one.type in _OWN_VERBS:
                    raise ERRORS.error(
                        "RING_DENIED",
                        f"{one.type} has a verb of its own",
                        hint=_OWN_VERBS[one.type],
                    )
                if is_policy_entry(one.type, one.payload):
                    raise ERRORS.error(
                        "RING_DENIED",
                        "a witness policy is accepted by a verb of its own",
                        hint="Use `agentic-os ledger policy FILE`.",
                    )
            self._has_written = True
            written = ready.writer.submit(level, requests, model_id=model_id)
            chain = ready.journal.chain
            return AppendData(
                entries=tuple(
                    AppendedEntry(
                        entry=view_of(one.line),
                        rewritten_from=one.rewritten_from,
                        reason=one.reason,
                    )
                    for one in written
                ),
                head_hash=chain.head_hash,
                lines=chain.size,
            )

    def unlock(self, role: Role, *, password: str | None = None) -> None:
        """Open the operator's or the platform's key for this session.

        Raises:
            IdentityError: ``SAFE_MODE``, ``KEY_MISMATCH``.
            CryptoError: as ``read_key``.
        """
        with self._turn:
            awaits, self._awaits_policy = self._awaits_policy, False
            try:
                ready = self._require_ready()
            finally:
                self._awaits_policy = awaits
            ready.keys.unlock(role, ready.journal.chain, password=password)

    def show(self, wanted: LineFilter, *, limit: int = 50) -> ShowData:
        """Lines that match; in safe mode too.

        Raises:
            LedgerError: ``LEDGER_MISSING``, ``LEDGER_UNREADABLE``.
            VerificationError: a line that cannot be read at all.
        """
        storage = FileStorage.open(self._folder / LEDGER_NAME)
        try:
            return show_lines(storage, wanted, limit=limit)
        finally:
            storage.close()

    def prove(self, seq: int, *, size: int | None = None) -> ProveData:
        """Prove where a line stands.

        Raises:
            IdentityError: ``SAFE_MODE``: a ledger in doubt proves nothing.
            LedgerError: ``LEDGER_SEQ_UNKNOWN``.
        """
        with self._turn:
            ready = self._require_ready()
            signer = ready.keys.note_signer(ready.journal.chain.origin)
            return prove_line(ready.journal.tree, signer, seq=seq, size=size)

    def export_proof(self, seq: int, path: Path) -> ExportData:
        """Write a ``.tlog-proof`` that a line stands in the tree that witnesses cosigned last.

        Raises:
            IdentityError: ``SAFE_MODE``; ``NOT_COSIGNED`` when no witness has cosigned a tree that
                holds the line.
            LedgerError: ``LEDGER_SEQ_UNKNOWN``. FilesError: the file cannot be written.
        """
        with self._turn:
            ready = self._require_ready()
            tree, head = ready.journal.tree, newest_note(self._folder)
            if not 1 <= seq <= tree.size:
                raise ERRORS.error("LEDGER_SEQ_UNKNOWN", f"there is no line {seq}")
            if head is None or not seq <= head.checkpoint.size <= tree.size:
                raise ERRORS.error(
                    "NOT_COSIGNED", f"no witness has cosigned a tree with line {seq} yet"
                )
            leaf = tree.leaf(seq - 1)
            export_proof(path, tree=tree, seq=seq, leaf=leaf, head=head)
            return ExportData(
                seq=seq,
                leaf_hash=leaf.hex(),
                tree_size=head.checkpoint.size,
                root_hash=head.checkpoint.root.hex(),
                file=path.name,
            )

    def bookmark(self, occasion: Occasion = "asked") -> BookmarkData:
        """Bring the head before the witnesses, when it is due or was asked for.

        Witnesses that cannot be reached are reported. A conflict latches safe mode and ends
        writing in this session.

        Raises:
            IdentityError: ``SAFE_MODE``; ``NO_WITNESSES`` when none are configured.
        """
        with self._turn:
            ready = self._require_ready()
            due = bookmark_reason(ready, occasion)
            ordinal, head = ready.journal.chain.size, bare_hash(ready.journal.chain.head_hash)
            if due == "not_due":
                return BookmarkData(due=due, ordinal=ordinal, ledger_hash=head, quorum=False)
            if ready.witnesses is None:
                raise ERRORS.error("NO_WITNESSES", "no witnesses are configured")
            self._has_written = False
            result = ready.witnesses.witness(
                ready.seen_by_witnesses(),
                only_cosigns=due == "shutdown"
                and not receipt_due(ready.projection.db, datetime.now(UTC)),
            )
            taken = take_round(ready, result)
            self._conflict = self._conflict or taken.conflict
            return BookmarkData(
                due=due,
                ordinal=ordinal,
                ledger_hash=head,
                quorum=result.is_quorum,
                witnesses=taken.answers,
            )

    def settle_receipts(self) -> int:
        """Append the receipts that a crash kept out of the ledger; boot does it.

        Raises:
            IdentityError: ``SAFE_MODE``.
        """
        with self._turn:
            settled = settle(self._require_ready())
            self._report = replace(self._report, receipts_settled=settled)
            return settled

    def rotate(self, role: Role, *, reason: str = "") -> RotateData:
        """Put a new key in the place of a role's, from the next line on (``rotation.py``).

        Raises:
            IdentityError: ``SAFE_MODE``. LedgerError: ``SIGNER_MISSING`` when the role is
            locked.
        """
        with self._turn:
            ready = self._require_ready()
            self._has_written = True
            data = rotate_key(ready, role, reason=reason)
            if role == "identity":
                key = ready.keys.signers["identity"]
                envelope = keep_envelope(self._folder, key, chain=ready.journal.chain)
                self._ready = replace(ready, envelope=envelope)
            return data

    def rotate_checkpoint(self) -> RotateData:
        """Put a new checkpoint key in the place of a stolen or lost one (``rotation.py``).

        Raises:
            IdentityError: ``SAFE_MODE``. CryptoError: a key file cannot be written.
        """
        with self._turn:
            self._has_written = True
            return rotate_checkpoint_key(self._require_ready())

    def accept_policy(self, *, reason: str) -> PolicyData:
        """Record the operator's decision for the witness policy at hand; the only way to another.

        Raises:
            IdentityError: ``SAFE_MODE``, ``NO_WITNESSES``. LedgerError: ``SIGNER_MISSING`` when
                the operator's key is locked.
        """
        with self._turn:
            self._awaits_policy = False
            try:
                ready = self._require_ready()
                return replace_policy(ready, reason=reason)
            except BaseException:
                self._awaits_policy = True
                raise

    def close(self) -> None:
        """Bookmark what is unanchored, seal the projection, let everything go; twice is fine.

        What fails here is no loss: the next boot does without the seal, and the bookmark
        stays due. ``farewell`` says what became of it.
        """
        with self._turn:
            if self._closed:
                return
            ready = self._ready
            if ready is not None:
                with suppress(AgenticOSError):
                    self._farewell(ready)
                ready.journal.close()
                if ready.replica is not None:
                    ready.replica.close()
            self._ready = None
            self._closed = True
            self._projection.close()
            self._lock.release()

    def seal(self) -> None:
        """State the projection as it is, and keep a snapshot when the last one is old.

        Raises:
            IdentityError: ``SAFE_MODE``. LedgerError: ``SNAPSHOT_FAILED``.
        """
        with self._turn:
            ready = self._require_ready()
            if self._projection.seal is not None:
                return  # nothing was written since
            if not self._projection.db.is_untouched():
                return  # what somebody else wrote is not stated
            stated = make_seal(
                self._projection,
                origin=ready.journal.chain.origin,
                key=ready.keys.signers["identity"],
            )
            seals = [peek_seal(path) for path in list_snapshots(self._folder)]
            newest = max((seal.cursor.seq for seal in seals if seal is not None), default=0)
            if not newest or stated.cursor.seq - newest >= SNAPSHOT_ENTRIES:
                write_snapshot(self._projection, self._folder, stated)
            self._projection.put_seal(stated.document.decode())

    def _farewell(self, ready: ReadyIdentity) -> None:
        # Whoever did not answer a moment ago is not asked again about the same lines.
        if self._conflict is None and ready.witnesses is not None and self._has_written:
            self._farewell_bookmark = self.bookmark("shutdown")
        if self._conflict is None and not ready.writer.stopped:
            self.seal()

    def _require_ready(self) -> ReadyIdentity:
        if self._conflict is not None:
            raise safe_mode.refuse(self._conflict)
        if self._awaits_policy:
            raise ERRORS.error("WITNESS_POLICY_CHANGED")
        if self._ready is None:
            raise ERRORS.error("IDENTITY_CLOSED", "the identity is closed")
        return self._ready
