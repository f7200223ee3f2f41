"""Writing: from a request to durable lines, through the gate and a trial.

::

    request -> type and category -> payload schema -> [trial: gate -> effect]* -> rolled back
            -> sign, admit, write, sync (journal) -> effect and cursor (projection) -> answer

Everything that can refuse does so before the first signature; what is answered is durable. If
the projection fails AFTER the lines are durable, the ledger is right and the cache is behind:
the writer freezes, and the next boot catches up.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from agentic_os.crypto.canonical.json import encode, is_canonical
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.values import JsonInput, JsonValue
from agentic_os.crypto.keys.pairs import SigningKey
from agentic_os.errors import LedgerError
from agentic_os.ledger.file.journal import Journal, SignedDraft
from agentic_os.ledger.line.entry import Draft, Line, timestamp
from agentic_os.ledger.line.payloads import Authored, Payload, Role
from agentic_os.ledger.line.vocabulary import Level, entry_type
from agentic_os.ledger.projection.effects import apply_event
from agentic_os.ledger.projection.evidence import evidence_of
from agentic_os.ledger.projection.rows import Event
from agentic_os.ledger.projection.tables import Projection
from agentic_os.ledger.rule.gate import Ruling, gate

REQUESTS_ENTRIES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What somebody asks to have written.

    ``payload`` is canonical JSON. ``ring``, where given, must be the type's own.
    """

    type: str
    payload: bytes
    ring: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One durable entry, and whether it is what was asked for."""

    line: Line
    rewritten_from: str = ""
    reason: str = ""


def request(type_name: str, payload: JsonInput, *, ring: int | None = None) -> Request:
    """Make a request from a Python value.

    Raises:
        CryptoError: ``CANONICAL_INVALID``.
    """
    return Request(type=type_name, payload=encode(payload), ring=ring)


class Writer:
    """The gate, the trial, the journal and the projection as one operation.

    Args:
        journal: open and verified.
        projection: at the journal's last line; the identity's own, since it decides.
        signers: the private keys at hand, by role.
        replica: tables for readers elsewhere; written, and never read.
    """

    __slots__ = ("_journal", "_lock", "_projection", "_replica", "_signers", "_stopped")

    def __init__(
        self,
        journal: Journal,
        projection: Projection,
        signers: Mapping[Role, SigningKey],
        *,
        replica: Projection | None = None,
    ) -> None:
        """Take them over; closing them stays the caller's."""
        self._journal = journal
        self._projection = projection
        self._replica = replica
        self._signers = signers
        self._lock = threading.Lock()
        self._stopped = ""

    @property
    def journal(self) -> Journal:
        """The journal."""
        return self._journal

    @property
    def stopped(self) -> str:
        """Why nothing more is written; empty while writing is possible."""
        return self._stopped or self._journal.frozen

    def submit(
        self, level: Level, requests: Sequence[Request], *, model_id: str | None = None
    ) -> tuple[Written, ...]:
        """Write all requests or none.

        Args:
            level: the session's.
            requests: at most ``REQUESTS_ENTRIES``, in order; later ones see the effects of
                earlier ones.
            model_id: the model that authored them, stamped into every payload that has room
                for it; a caller's own ``model_id`` is refused.

        Raises:
            LedgerError: with the code of what refused: ``LEDGER_TYPE_UNKNOWN``,
                ``LEDGER_CATEGORY_FORBIDDEN``, ``LEDGER_PAYLOAD_INVALID``,
                ``LEDGER_RING_WRONG``, ``RING_DENIED``, a missing or existing target,
                ``JOURNAL_FROZEN``, ``PROJECTION_BEHIND``, ``PROJECTION_CHANGED``.
            VerificationError: the chain refuses.
        """
        if not 0 < len(requests) <= REQUESTS_ENTRIES:
            raise LedgerError(f"1 to {REQUESTS_ENTRIES} entries at once", code="BATCH_SIZE")
        with self._lock:
            if self._stopped:
                raise LedgerError(
                    f"the ledger is frozen: {self._stopped}",
                    code="JOURNAL_FROZEN",
                    hint="Restart; boot verifies the whole ledger again.",
                )
            rulings = self._try_out(level, [_drafted(one, model_id) for one in requests])
            signed = [SignedDraft(ruling.draft, ruling.role) for ruling in rulings]
            lines = self._journal.append(signed, self._signers)
            self._project(lines, signed)
        return tuple(
            Written(line=line, rewritten_from=ruling.rewritten_from, reason=ruling.reason)
            for line, ruling in zip(lines, rulings, strict=True)
        )

    def _try_out(self, level: Level, drafts: Sequence[Draft]) -> list[Ruling]:
        if not self._projection.db.is_untouched():
            self._stopped = "the tables were changed by somebody else"
            raise LedgerError(
                self._stopped,
                code="PROJECTION_CHANGED",
                hint="Restart; boot builds them from the ledger again.",
            )
        rulings: list[Ruling] = []
        seq, now = self._journal.chain.size, timestamp()
        with self._projection.trial():
            for drafted in drafts:
                seq += 1
                evidence = evidence_of(self._projection.db, drafted.value)
                ruling = gate(level, drafted, evidence, seq=seq)
                apply_event(
                    self._projection.db,
                    _event(ruling.draft, seq=seq, entry_hash="", ts=now, role=ruling.role),
                )
                rulings.append(ruling)
        return rulings

    def _project(self, lines: Sequence[Line], signed: Sequence[SignedDraft]) -> None:
        events = [
            _event(one.draft, seq=line.seq, entry_hash=line.hash, ts=line.ts, role=line.role)
            for line, one in zip(lines, signed, strict=True)
        ]
        try:
            self._projection.apply(events)
            if self._replica is not None:
                self._replica.apply(events)
        except BaseException as error:
            self._stopped = "the entries are in the ledger, the projection is behind"
            if not isinstance(error, LedgerError):
                raise
            raise LedgerError(
                f"{self._stopped}: {error.message}",
                code="PROJECTION_BEHIND",
                hint="Do not write again; restart, and boot brings the projection up to date.",
            ) from None


def _drafted(one: Request, model_id: str | None) -> Draft:
    kind = entry_type(one.type)
    if one.ring is not None and one.ring != kind.ring:
        raise LedgerError(f"{kind.name} belongs to ring {kind.ring}", code="LEDGER_RING_WRONG")
    if not is_canonical(one.payload) or one.payload[:1] != b"{":
        raise LedgerError(
            "the payload is not a canonical JSON object", code="LEDGER_PAYLOAD_INVALID"
        )
    drafted = Draft(type=kind.name, payload=one.payload)
    return _stamped(drafted, drafted.value, model_id)


def _stamped(drafted: Draft, payload: Payload, model_id: str | None) -> Draft:
    if not isinstance(payload, Authored):
        return drafted
    if payload.model_id is not None:
        raise LedgerError("model_id is stamped by the runtime", code="LEDGER_PAYLOAD_INVALID")
    if model_id is None:
        return drafted
    tree = cast("dict[str, JsonValue]", decode(drafted.payload))  # the schema took an object
    return Draft(type=drafted.type, payload=encode(tree | {"model_id": model_id}))


def _event(drafted: Draft, *, seq: int, entry_hash: str, ts: str, role: Role | str) -> Event:
    return Event(
        seq=seq,
        hash=entry_hash,
        ts=ts,
        role=role,
        kind=drafted.kind,
        payload=drafted.value,
        payload_bytes=drafted.payload,
    )
