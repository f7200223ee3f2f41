"""A ledger's head before several witnesses: ask each, count the quorum, latch conflicts.

A witness is asked in AII OS's dialect where it serves a receipt key, else in C2SP's
(``asking``). A conflict (``standing``) latches in the client's memory: that witness is not
asked again until a person clears it. What fails for another reason is reported and passes.

A round ends in time whatever a witness does, be it with its addresses or its names; and who let us
wait is not waited for again a moment later.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.tlog.checkpoint import SignedCheckpoint
from agentic_os.crypto.tlog.note_keys import NoteKey
from agentic_os.errors import AgenticOSError, WitnessConflictError, WitnessError
from agentic_os.files.publishing import private_folder
from agentic_os.witness.client.asking import Asking, ask_newest
from agentic_os.witness.client.http import TOTAL_SECONDS, WitnessClient
from agentic_os.witness.client.memory import WitnessMemory
from agentic_os.witness.client.outcomes import KeptReceipt, RoundResult, Standing, WitnessOutcome
from agentic_os.witness.client.pinning import pinned_receipt_key
from agentic_os.witness.client.policy import PolicyWitness, QuorumPolicy
from agentic_os.witness.client.receipt_files import export_receipt
from agentic_os.witness.client.standing import judge_memory
from agentic_os.witness.client.submission import WitnessedLedger
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.json import read_receipt

ROUND_SECONDS: Final = TOTAL_SECONDS + 2
"""A client ends by itself, unless it hangs in what it cannot end: the system looks for a name."""
LONG_SECONDS: Final = TOTAL_SECONDS / 2
AGAIN_SECONDS: Final = 60.0
"""Who took so long and gave no answer is not asked again before so much time has passed."""
FRESH_SECONDS: Final = 3600
FRESH_BOUNDS_SECONDS: Final = (60, 86_400)
"""Least and most that a person may choose instead."""

_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9_.-]")

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, kw_only=True)
class WitnessRounds:
    """Asks the witnesses of a policy about one ledger.

    Args:
        policy: the witnesses; those without a URL are left out of rounds.
        folder: the client's memory, one folder for one ledger.
        root: an operator's root that must vouch for receipt keys; None pins the first key.
        roots: by a witness's name in the policy, where each has an operator of its own.
        connect: makes the client of a URL.
        clock: POSIX seconds.
        fresh_seconds: how old a cosignature may be that says where a witness stands.
    """

    policy: QuorumPolicy
    folder: Path
    root: PublicKeyEnvelope | None = None
    roots: Mapping[str, PublicKeyEnvelope] = field(default_factory=dict)
    connect: Callable[[str], WitnessClient] = WitnessClient
    clock: Callable[[], float]
    fresh_seconds: int = FRESH_SECONDS
    _not_before: dict[str, float] = field(default_factory=dict, init=False, repr=False)

    def witness(self, ledger: WitnessedLedger, *, only_cosigns: bool = False) -> RoundResult:
        """Bring the ledger's head before every witness; never raises for one of them.

        Args:
            ledger: whose.
            only_cosigns: ask those that know the identity for their cosignature alone, which takes
                a hundred bytes where a receipt takes six thousand.
        """
        head = ledger.head(ledger.tree.size)
        outcomes = self._each(
            lambda witness: self._outcome(witness, ledger, head, only_cosigns),
            late=lambda witness, error: _failed(witness.name, error.code, error.message),
        )
        lines = tuple(item.cosignature for item in outcomes if item.cosignature)
        names = {item.name for item in outcomes if item.cosignature}
        cosigners = {item.key.vkey for item in self.policy.witnesses if item.name in names}
        return RoundResult(
            outcomes=outcomes,
            head=replace(head, note=head.note.signed_by(*lines)),
            is_quorum=self.policy.is_satisfied(cosigners),
        )

    def ask_standing(self, ledger: WitnessedLedger) -> tuple[Standing, ...]:
        """Ask every witness for its newest checkpoint of this ledger (boot does)."""
        return self._each(
            lambda witness: self._standing(witness, ledger),
            late=lambda witness, error: Standing(
                name=witness.name, code=error.code, message=error.message
            ),
        )

    def export_receipts(self, folder: Path) -> tuple[str, ...]:
        """Write the newest receipt that is kept of each witness as a file that verifies offline.

        Returns:
            The names of the files; a witness without receipts, or whose key no root vouched
            for, has none.

        Raises:
            WitnessError: ``MEMORY_INVALID``; CryptoError ``RECEIPT_INVALID``; FilesError.
        """
        private_folder(folder)
        written = []
        for witness in self.policy.witnesses:
            memory = WitnessMemory(self.folder, witness.key)
            key, kept = memory.served_key(), memory.receipts()
            if key is None or key.manifest is None or not kept:
                continue
            name = f"{_NOT_PLAIN.sub('-', witness.name)}.receipt.json"
            export_receipt(folder / name, answer=kept[-1], key=key)
            written.append(name)
        return tuple(written)

    def kept_receipts(self) -> tuple[KeptReceipt, ...]:
        """Return the newest receipt that is kept of each witness; damaged ones are left out."""
        found: list[KeptReceipt] = []
        for witness in self.policy.witnesses:
            memory = WitnessMemory(self.folder, witness.key)
            try:
                key, kept = memory.receipt_key(), memory.receipts()
                if key is not None and kept:
                    found.append(KeptReceipt(receipt=read_receipt(kept[-1]), key=key))
            except AgenticOSError:
                continue
        return tuple(found)

    def cosigners(self) -> tuple[NoteKey, ...]:
        """Return the cosignature keys that the policy pins."""
        return self.policy.witness_keys

    def release(self, name: str) -> None:
        """Let a witness be asked again; a person's decision after repair.

        Raises:
            WitnessError: ``WITNESS_UNKNOWN``.
        """
        for witness in self.policy.witnesses:
            if witness.name == name:
                memory = WitnessMemory(self.folder, witness.key)
                memory.keep_state(replace(memory.state(), conflict=""))
                return
        raise ERRORS.error("WITNESS_UNKNOWN", f"the policy has no witness {name}")

    def _each(
        self,
        ask: Callable[[PolicyWitness], ResultT],
        *,
        late: Callable[[PolicyWitness, AgenticOSError], ResultT],
    ) -> tuple[ResultT, ...]:
        witnesses = [item for item in self.policy.witnesses if item.url]
        answers: dict[str, ResultT] = {}
        defects: list[Exception] = []

        def work(witness: PolicyWitness) -> None:
            try:
                answers[witness.name] = ask(witness)
            except Exception as defect:  # noqa: BLE001 - told in the thread that waits
                defects.append(defect)

        # Threads that hang must neither hold up this process nor its end.
        threads = [
            threading.Thread(target=work, args=(one,), daemon=True, name=f"witness-{one.name}")
            for one in witnesses
        ]
        until = time.monotonic() + ROUND_SECONDS
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        if defects:
            raise defects[0]
        return tuple(
            answers[one.name] if one.name in answers else late(one, self._waited(one))
            for one in witnesses
        )

    @contextmanager
    def _connected(self, witness: PolicyWitness) -> Iterator[WitnessClient]:
        """Give a client of a witness, unless it let us wait a moment ago.

        Raises:
            WitnessError: ``WITNESS_UNREACHABLE``.
        """
        started = time.monotonic()
        if started < self._not_before.get(witness.name, started):
            raise ERRORS.error("WITNESS_UNREACHABLE", "the witness let us wait a moment ago")
        try:
            with self.connect(witness.url or "") as client:
                yield client
        except WitnessError as error:
            is_long = time.monotonic() - started >= LONG_SECONDS
            if is_long and error.code == "WITNESS_UNREACHABLE":
                self._waited(witness)
            raise

    def _waited(self, witness: PolicyWitness) -> AgenticOSError:
        self._not_before[witness.name] = time.monotonic() + AGAIN_SECONDS
        return ERRORS.error(
            "WITNESS_UNREACHABLE", f"the witness has not answered within {ROUND_SECONDS:g} seconds"
        )

    def _outcome(
        self,
        witness: PolicyWitness,
        ledger: WitnessedLedger,
        head: SignedCheckpoint,
        only_cosigns: bool,
    ) -> WitnessOutcome:
        memory = WitnessMemory(self.folder, witness.key)
        try:
            state = memory.state()
            judge_memory(state, ledger=ledger)
            if state.conflict:
                return _failed(witness.name, state.conflict, "latched; clear it after repair")
            with self._connected(witness) as client:
                asking = Asking(
                    witness=witness,
                    ledger=ledger,
                    head=head,
                    memory=memory,
                    state=state,
                    client=client,
                    now=int(self.clock()),
                )
                if only_cosigns and asking.is_bound:
                    return asking.checkpoint()
                moment = datetime.fromtimestamp(asking.now, UTC)
                root = self.roots.get(witness.name, self.root)
                key = pinned_receipt_key(client, memory, root=root, now=moment)
                return asking.bookmark(key) if key else asking.checkpoint()
        except WitnessConflictError as error:
            memory.keep_state(replace(memory.state(), conflict=error.code))
            return _failed(witness.name, error.code, error.message)
        except AgenticOSError as error:
            return _failed(witness.name, error.code, error.message)

    def _standing(self, witness: PolicyWitness, ledger: WitnessedLedger) -> Standing:
        try:
            state = WitnessMemory(self.folder, witness.key).state()
            judge_memory(state, ledger=ledger)
            with self._connected(witness) as client:
                newest = ask_newest(
                    client,
                    ledger=ledger,
                    key=witness.key,
                    state=state,
                    now=int(self.clock()),
                    fresh_seconds=self.fresh_seconds,
                )
        except AgenticOSError as error:
            return Standing(name=witness.name, code=error.code, message=error.message)
        return Standing(name=witness.name, code=newest.code, cosigned_at=newest.cosigned_at)


def _failed(name: str, code: str, message: str) -> WitnessOutcome:
    return WitnessOutcome(name=name, code=code, message=message)
