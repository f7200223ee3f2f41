"""The witness without HTTP: bytes of a request in, an answer or a refusal out.

The order for every request: form, signatures, rate of its identity or origin, then the rule
inside a transaction. Signatures of bookmarks are verified, and receipts signed, in threads
beside the event loop. What can be refused from committed state alone (an unknown origin, no
trusted signature) never reaches the writer.
"""

import asyncio
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from typing import Final, TypeVar

from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.crypto.keys.pairs import ML_DSA_87
from agentic_os.errors import CryptoError, WitnessError
from agentic_os.network.rates import DAY_SECONDS
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.add_checkpoint import read_add_checkpoint
from agentic_os.witness.protocol.bookmark import BookmarkRequest
from agentic_os.witness.protocol.json import read_request
from agentic_os.witness.protocol.refusal import Refusal, RequestRefusedError, malformed
from agentic_os.witness.rule.claims import trusted_keys, verify_bookmark, verify_head
from agentic_os.witness.rule.state import (
    Accepted,
    BookmarkClaim,
    CheckpointCase,
    OriginState,
    Refused,
    RuleSettings,
)
from agentic_os.witness.rule.tables import decide_checkpoint
from agentic_os.witness.service.config import WitnessConfig
from agentic_os.witness.service.foresight import Foreseen, bookmark_case, foresee, sign_receipt
from agentic_os.witness.service.keyring import WitnessKeys
from agentic_os.witness.service.limits import Rates
from agentic_os.witness.service.rows import StateRows
from agentic_os.witness.service.store import WitnessStore
from agentic_os.witness.service.work import Acknowledged, bookmark_work, checkpoint_work

SUBJECT_CHARS: Final = 12
SIGNATURE_THREADS: Final = 8
"""At most; never more than there are processors. The library lets go of the interpreter."""
_RETRY_SECONDS: Final = 1

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a request came to, and the short name of its identity or origin for logs."""

    result: Acknowledged | Refusal
    subject: str = ""


class WitnessDesk:
    """Answers requests from one event loop; the store's writer thread does the waiting."""

    def __init__(
        self,
        *,
        keys: WitnessKeys,
        store: WitnessStore,
        config: WitnessConfig,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Keep what answers are made of; ``clock`` gives POSIX seconds."""
        self.keys = keys
        self.store = store
        self.config = config
        self._clock = clock
        self._settings = RuleSettings(
            min_cadence=config.min_cadence, require_proof=config.require_proof
        )
        self._rates = Rates(limit=config.requests_per_minute)
        self._registrations = Rates(limit=config.registrations_per_day, period_seconds=DAY_SECONDS)
        self._client_registrations = Rates(
            limit=config.client_registrations_per_day, period_seconds=DAY_SECONDS
        )

    async def bookmark(self, body: bytes, client: str = "") -> Reply:
        """Answer ``POST /witness/bookmark``, asked from the address ``client``."""
        subject = ""
        try:
            request = read_request(body)
            subject = _short(request.identity_id)
            verify = partial(
                verify_bookmark,
                request,
                origin=self._origin(request.proof.origin) if request.proof else None,
                admitted=self._admits(request),
                now=datetime.fromtimestamp(self._clock(), UTC),
            )
            verified = await _beside(verify)
            foreseen = await self._foreseen(request, verified.claim, client)
        except RequestRefusedError as error:
            return Reply(result=error.refusal, subject=subject)
        except CryptoError as error:
            # A form that no reader above has a word for is still the request's fault.
            return Reply(result=malformed(error.message).refusal, subject=subject)
        work = bookmark_work(
            request,
            verified,
            keys=self.keys,
            settings=self._settings,
            clock=self._clock,
            foreseen=foreseen,
        )
        return Reply(result=await self._commit(work), subject=subject)

    async def add_checkpoint(self, body: bytes, _client: str = "") -> Reply:
        """Answer ``POST /add-checkpoint``."""
        subject = ""
        try:
            request = read_add_checkpoint(body)
            name = request.head.checkpoint.origin
            subject = _short(name)
            origin = self._origin(name)
            verified = verify_head(
                request.head,
                keys=trusted_keys(origin),
                old_size=request.old_size,
                consistency=request.consistency,
            )
            early = decide_checkpoint(
                CheckpointCase(claim=verified.claim, origin=origin, now=int(self._clock()))
            )
            if isinstance(early, Refused) and not early.is_evidence:
                return Reply(result=early.refusal, subject=subject)
            head = origin.head if origin else None
            advances = isinstance(early, Accepted) and (
                head is None or verified.claim.size > head.size
            )
            # Anybody can send a log's public note again: that must not spend what it advances by.
            self._rates.require(name if advances else f"{name} again")
        except RequestRefusedError as error:
            return Reply(result=error.refusal, subject=subject)
        except CryptoError as error:
            # A form that no reader above has a word for is still the request's fault.
            return Reply(result=malformed(error.message).refusal, subject=subject)
        work = checkpoint_work(verified, keys=self.keys, clock=self._clock)
        return Reply(result=await self._commit(work), subject=subject)

    def note(self, origin_sha256: str) -> bytes | None:
        """Answer ``GET /<hash>/checkpoint``: the newest cosigned note, if there is one.

        Raises:
            RequestRefusedError: 503 when the storage cannot be read.
        """
        try:
            return self.store.read.note(origin_sha256)
        except sqlite3.Error:
            raise _unreadable() from None

    async def _foreseen(
        self, request: BookmarkRequest, claim: BookmarkClaim, client: str
    ) -> Foreseen | None:
        try:
            case = bookmark_case(
                self.store.read, claim, settings=self._settings, now=int(self._clock())
            )
        except sqlite3.Error:
            raise _unreadable() from None
        decision = foresee(case)
        if decision is None:
            self._rates.require(f"{request.identity_id} again")
            return None
        if decision.is_first and decision.succeeds is None:
            self._client_registrations.require(client)
            self._registrations.require("")
        self._rates.require(request.identity_id)
        receipt = await _beside(partial(sign_receipt, request, decision, self.keys))
        return Foreseen(decision=decision, receipt=receipt)

    def _origin(self, name: str) -> OriginState | None:
        try:
            return self.store.read.origin(name)
        except sqlite3.Error:
            raise _unreadable() from None

    def _admits(self, request: BookmarkRequest) -> bool:
        if self.config.registration == "open":
            return True
        key_id = sha256_text(request.public_key.part(ML_DSA_87).raw)
        return bool({request.identity_id, key_id} & self.config.identities)

    async def _commit(
        self, work: Callable[[StateRows], Acknowledged | Refusal]
    ) -> Acknowledged | Refusal:
        try:
            return await asyncio.wrap_future(self.store.submit(work))
        except WitnessError as error:
            return Refusal(
                status=503,
                code=error.code,
                message=error.message,
                retry_seconds=0 if self.store.frozen else _RETRY_SECONDS,
            )
        except sqlite3.IntegrityError:
            # A trigger of the database stood up for an invariant that the rule let pass.
            return Refusal(status=503, code="INVARIANT", message="the database refused the write")


async def _beside(work: Callable[[], ResultT]) -> ResultT:
    """Run ``work``, mostly arithmetic of signatures, beside the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_signature_threads(), work)


@cache
def _signature_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(
        max_workers=min(SIGNATURE_THREADS, os.cpu_count() or 1),
        thread_name_prefix="witness-signatures",
    )


def sync_listed_logs(store: WitnessStore, config: WitnessConfig, *, now: int) -> None:
    """Trust the log keys that the configuration lists, and retire listed ones that it drops.

    Nothing is forgotten: a dropped origin keeps its tree head, and continues from there when
    it is listed again.
    """

    def work(rows: StateRows) -> None:
        listed: dict[str, set[str]] = {origin: set() for origin in rows.listed_origins()}
        for log in config.logs:
            listed.setdefault(log.origin, set()).add(log.key.vkey)
        for origin, vkeys in listed.items():
            rows.add_origin(origin)
            for vkey in sorted(vkeys):
                rows.add_key(origin, vkey, source="listed", now=now)
            rows.retire_keys(origin, except_vkeys=frozenset(vkeys), source="listed", now=now)

    store.submit(work).result()


def close_origin(store: WitnessStore, origin: str, *, now: int) -> None:
    """Retire an origin for good, as an answer to a stolen checkpoint key.

    Its tree head stays as it is and nothing more is cosigned for it; the identity it was bound
    to still has to prove, and may bind an origin of another name. There is no reset.

    Raises:
        WitnessError: ``ORIGIN_UNKNOWN`` when there is no such open origin.
    """
    try:
        store.submit(lambda rows: rows.close_origin(origin, now=now)).result()
    except WitnessError as error:
        if error.code != "ROW_CHANGED":
            raise
        raise ERRORS.error(
            "ORIGIN_UNKNOWN", "the witness knows no open origin of that name"
        ) from None


def _unreadable() -> RequestRefusedError:
    refusal = Refusal(status=503, code="STORAGE_FAILED", message="the storage cannot be read")
    return RequestRefusedError(refusal)


def _short(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:SUBJECT_CHARS]
