"""A booted identity: ready, or in safe mode; the one object that surfaces hold.

Every verb asks first whether the identity may change anything. In safe mode, and after a
conflict in a running session, the answer is the reason, for the rest of the process.

Threads may share an identity: one verb runs at a time.
"""

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, Self

from agentic_os.crypto import PublicKeyEnvelope, bare_hash, encode_base64
from agentic_os.crypto.envelope_keys import parse_time
from agentic_os.crypto.keys_transition import transition_text
from agentic_os.errors import AgenticOSError, CryptoError, IdentityError, LedgerError
from agentic_os.files.publishing import ExclusiveLock, publish
from agentic_os.identity import safe_mode
from agentic_os.identity.answers import (
    BookmarkData,
    BootData,
    RotateData,
    WitnessAnswer,
)
from agentic_os.identity.keyring import KeyRing, keep_envelope
from agentic_os.identity.witnessing import (
    KeptReceipt,
    PinnedKeys,
    Witnesses,
    bookmark_due,
    count_unanchored,
    keep_tail,
    read_tail,
    receipt_request,
    tail_now,
    unsettled,
    witnessed_ledger,
)
from agentic_os.ledger import (
    AppendData,
    AppendedEntry,
    FileStorage,
    Finding,
    Journal,
    Level,
    LineFilter,
    Projection,
    ProveData,
    Request,
    ShowData,
    Writer,
    prove_line,
    request,
    show_lines,
    view_of,
)
from agentic_os.ledger.head import HEAD_NAME, state_head
from agentic_os.ledger.layout import key_path
from agentic_os.ledger.payloads import Role
from agentic_os.ledger.snapshot import (
    list_snapshots,
    make_seal,
    peek_seal,
    write_snapshot,
)
from agentic_os.ledger.storage import LEDGER_NAME
from agentic_os.witness.outcomes import RoundResult, WitnessOutcome
from agentic_os.witness.submission import WitnessedLedger

SNAPSHOT_ENTRIES = 1_000
"""A new snapshot is worth its time after so many lines; the seal in the tables is always new."""

_OWN_VERBS = {
    "system.witnessed": "Receipts are written by bookmark.",
    "key.transition": "Keys are changed by rotate, which also keeps the new key.",
}
_LEVELS: dict[Role, Level] = {
    "identity": "agent",
    "operator": "operator",
    "platform": "platform",
}


@dataclass(frozen=True, kw_only=True)
class Organs:
    """What only a ready identity has."""

    journal: Journal
    writer: Writer
    keys: KeyRing
    pinned: PinnedKeys
    witnesses: Witnesses | None
    envelope: PublicKeyEnvelope


class Identity:
    """An identity that booted. Close it, or use it with ``with``.

    Args:
        folder: where it lives.
        lock: the folder's lock, given back at the end.
        projection: at the head; in safe mode read-only, and as old as it is.
        report: what boot found.
        organs: none in safe mode.
    """

    def __init__(
        self,
        *,
        folder: Path,
        lock: ExclusiveLock,
        projection: Projection,
        report: BootData,
        organs: Organs | None,
    ) -> None:
        """Take everything over; ``close`` lets it go."""
        self._folder = folder
        self._lock = lock
        self._projection = projection
        self._report = report
        self._organs = organs
        self._turn = threading.RLock()
        self._conflict: Finding | None = report.reason
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

    def append(
        self, level: Level, requests: Sequence[Request], *, model_id: str | None = None
    ) -> AppendData:
        """Write entries through the gate; all of them or none.

        Raises:
            IdentityError: ``SAFE_MODE``.
            LedgerError, VerificationError: as ``Writer.submit``.
        """
        with self._turn:
            organs = self._require_ready()
            for one in requests:
                if one.type in _OWN_VERBS:
                    raise LedgerError(
                        f"{one.type} has a verb of its own",
                        code="RING_DENIED",
                        hint=_OWN_VERBS[one.type],
                    )
            written = organs.writer.submit(level, requests, model_id=model_id)
            chain = organs.journal.chain
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
            organs = self._require_ready()
            organs.keys.unlock(role, organs.journal.chain, password=password)

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
            organs = self._require_ready()
            signer = organs.keys.note_signer(organs.journal.chain.origin)
            return prove_line(organs.journal.tree, signer, seq=seq, size=size)

    def bookmark(self, why: Literal["asked", "due", "shutdown"] = "asked") -> BookmarkData:
        """Bring the head before the witnesses, when it is due or was asked for.

        Witnesses that cannot be reached are reported. A conflict latches safe mode and ends
        writing in this session.

        Raises:
            IdentityError: ``SAFE_MODE``; ``NO_WITNESSES`` when none are configured.
        """
        with self._turn:
            organs = self._require_ready()
            due = self._due(why)
            chain = organs.journal.chain
            ordinal, head = chain.size, chain.head_hash
            if due == "not_due":
                return BookmarkData(
                    due=due, ordinal=ordinal, ledger_hash=bare_hash(head), quorum=False
                )
            if organs.witnesses is None:
                raise IdentityError(
                    "no witnesses are configured",
                    code="NO_WITNESSES",
                    hint="Write a witness policy file.",
                )
            result = organs.witnesses.witness(self._seen_by_witnesses(organs))
            answers = self._take(organs, result)
            return BookmarkData(
                due=due,
                ordinal=ordinal,
                ledger_hash=bare_hash(head),
                quorum=result.is_quorum,
                witnesses=answers,
            )

    def settle_receipts(self) -> int:
        """Append the receipts that a crash kept out of the ledger; boot does it.

        A receipt that the chain refuses (it is too old, or of another history) is left out.
        """
        with self._turn:
            organs = self._require_ready()
            if organs.witnesses is None:
                return 0
            settled = 0
            for kept in unsettled(self._projection.db, organs.witnesses.kept_receipts()):
                if self._keep_receipt(organs, kept, None).seq is not None:
                    settled += 1
            self._report = replace(self._report, receipts_settled=settled)
            return settled

    def rotate(self, role: Role, *, reason: str = "") -> RotateData:
        """Put a new key in the place of a role's, from the next line on.

        The new key lies on disk before the line is written and gets the role's name after;
        the old one stays beside it under a retired name.

        Raises:
            IdentityError: ``SAFE_MODE``. LedgerError: ``SIGNER_MISSING`` when the role is
            locked.
        """
        with self._turn:
            organs = self._require_ready()
            old = organs.keys.signers.get(role)
            if old is None:
                raise LedgerError(f"the {role} key is not at hand", code="SIGNER_MISSING")
            new = organs.keys.prepare_next(role)
            text = transition_text(role=role, old_key_id=old.key_id, new_key_id=new.key_id)
            payload: dict[str, str] = {
                "role": role,
                "new_public_key_b64": encode_base64(new.public.raw),
                "new_sig_b64": encode_base64(new.sign(text)),
            }
            if reason:
                payload["reason"] = reason
            try:
                written = organs.writer.submit(_LEVELS[role], [request("key.transition", payload)])
            except AgenticOSError as error:
                if error.code not in {"APPEND_UNCERTAIN", "PROJECTION_BEHIND"}:
                    organs.keys.drop_next(role)
                raise
            retired = organs.keys.settle(role, organs.journal.chain)
            if role == "identity":
                envelope = keep_envelope(self._folder, new, chain=organs.journal.chain)
                self._organs = replace(organs, envelope=envelope)
            return RotateData(
                role=role,
                seq=written[0].line.seq,
                old_key_id=old.key_id,
                new_key_id=new.key_id,
                retired=key_path(self._folder, retired).name if retired else "",
            )

    def close(self) -> None:
        """Bookmark what is unanchored, seal the projection, let everything go; twice is fine.

        What fails here is no loss: the next boot does without the seal, and the bookmark
        stays due.
        """
        with self._turn:
            if self._closed:
                return
            organs = self._organs
            if organs is not None:
                with suppress(AgenticOSError):
                    self._farewell(organs)
                organs.journal.close()
            self._organs = None
            self._closed = True
            self._projection.close()
            self._lock.release()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def seal(self) -> None:
        """State the projection as it is, and keep a snapshot when the last one is old.

        Raises:
            IdentityError: ``SAFE_MODE``. LedgerError: ``SNAPSHOT_FAILED``.
        """
        with self._turn:
            organs = self._require_ready()
            if self._projection.seal is not None:
                return  # nothing was written since
            stated = make_seal(
                self._projection,
                origin=organs.journal.chain.origin,
                key=organs.keys.signers["identity"],
            )
            seals = [peek_seal(path) for path in list_snapshots(self._folder)]
            newest = max((seal.cursor.seq for seal in seals if seal is not None), default=0)
            if not newest or stated.cursor.seq - newest >= SNAPSHOT_ENTRIES:
                write_snapshot(self._projection, self._folder, stated)
            self._projection.put_seal(stated.document.decode())

    def _farewell(self, organs: Organs) -> None:
        if self._conflict is None and organs.witnesses is not None:
            self.bookmark("shutdown")
        if self._conflict is None and not organs.writer.stopped:
            self.seal()

    def _require_ready(self) -> Organs:
        if self._conflict is not None:
            raise safe_mode.refuse(self._conflict)
        if self._organs is None:
            raise IdentityError("the identity is closed", code="IDENTITY_CLOSED")
        return self._organs

    def _due(
        self, why: Literal["asked", "due", "shutdown"]
    ) -> Literal["entries", "time", "shutdown", "asked", "not_due"]:
        tail = read_tail(self._folder)
        unanchored = count_unanchored(
            self._projection.db, tail.ledger_ordinal if tail is not None else 0
        )
        match why:
            case "asked":
                return "asked"
            case "shutdown":
                return "shutdown" if unanchored else "not_due"
            case "due":
                return bookmark_due(
                    unanchored=unanchored,
                    last=parse_time(tail.witnessed_at) if tail is not None else None,
                    now=datetime.now(UTC),
                )

    def _seen_by_witnesses(self, organs: Organs) -> WitnessedLedger:
        return witnessed_ledger(
            organs.journal,
            self._projection.db,
            envelope=organs.envelope,
            identity_key=organs.keys.signers["identity"],
            signer=organs.keys.note_signer(organs.journal.chain.origin),
        )

    def _take(self, organs: Organs, result: RoundResult) -> tuple[WitnessAnswer, ...]:
        """Keep what the witnesses said: tail, head, receipts; or latch a conflict."""
        acknowledged = [one for one in result.outcomes if one.code == "ACKNOWLEDGED"]
        if acknowledged:
            keep_tail(self._folder, tail_now(organs.journal))
            note = result.head.note.data
            publish(self._folder / HEAD_NAME, state_head(note, organs.keys.signers["identity"]))
        for conflict in result.conflicts:
            reason = safe_mode.with_hint(
                Finding(code=conflict.code, message=f"{conflict.name}: {conflict.message}")
            )
            safe_mode.latch(self._folder, reason, witness=conflict.name)
            self._conflict = self._conflict or reason
        kept: dict[str, _Kept] = {}
        if self._conflict is None:
            checkpoint = result.head.note.data.decode()
            for one in acknowledged:
                kept[one.name] = self._keep_outcome(organs, one, checkpoint)
        return tuple(
            WitnessAnswer(
                witness=one.name,
                code=one.code,
                message=one.message or kept.get(one.name, _NOT_KEPT).message,
                receipt_seq=kept.get(one.name, _NOT_KEPT).seq,
            )
            for one in result.outcomes
        )

    def _keep_outcome(self, organs: Organs, outcome: WitnessOutcome, checkpoint: str) -> "_Kept":
        if outcome.receipt is None or outcome.receipt_key is None:
            return _NOT_KEPT
        kept = KeptReceipt(receipt=outcome.receipt, key=outcome.receipt_key)
        if not list(unsettled(self._projection.db, [kept])):
            return _NOT_KEPT
        return self._keep_receipt(organs, kept, checkpoint)

    def _keep_receipt(self, organs: Organs, kept: KeptReceipt, checkpoint: str | None) -> "_Kept":
        try:
            organs.pinned.pin(kept.key)
            written = organs.writer.submit("agent", [receipt_request(kept.receipt, checkpoint)])
        except (LedgerError, IdentityError, CryptoError) as error:
            if organs.writer.stopped:
                raise
            return _Kept(None, f"the receipt could not be kept: {error.message}")
        return _Kept(written[0].line.seq, "")


class _Kept(NamedTuple):
    """Where a receipt was written, or why it was not."""

    seq: int | None
    message: str


_NOT_KEPT = _Kept(None, "")
