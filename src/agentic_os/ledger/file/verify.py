"""Verification of a whole ledger in one pass and flat memory.

Every line goes through the chain; every signature is checked, save those that a cosigned
head covers (``head.py``): only the identity's lines of rings 2 to 4, only below the head, only
when the head lies above ``SKIP_ABOVE_LINES``. If at the head's size
the root differs, or the ledger ends before it, the ledger is not the one that was cosigned,
and that is a finding; if the head was not stated by this chain's identity, it counts for
nothing and every signature is checked after all. The line at the head is checked like those
above it, so the last line of a sound ledger always is. No parameter turns a check off.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.errors import LedgerError, VerificationError
from agentic_os.ledger.answers import Finding, VerifyData
from agentic_os.ledger.file.head import CosignedHead
from agentic_os.ledger.file.storage import LineReader, Storage
from agentic_os.ledger.rule.chain import Chain, Step
from agentic_os.ledger.rule.plain_lines import PLAIN_RINGS

SKIP_ABOVE_LINES: Final = 1_000
"""Below it every signature costs a third of a second at most, and is checked (ADR 0015)."""

Progress: TypeAlias = Callable[[int], None]
Watcher: TypeAlias = Callable[[int, Sequence[bytes], Sequence[bytes]], None]
"""Called with the first seq of a run, its lines, and their hashes."""

TAIL_TORN: Final = "LEDGER_TAIL_TORN"
_HEAD_MISMATCH: Final = "LEDGER_HEAD_MISMATCH"


def verify_storage(
    storage: Storage,
    *,
    witness_keys: Mapping[str, PublicKeyEnvelope] | None = None,
    head: CosignedHead | None = None,
    progress: Progress | None = None,
    watch: Watcher | None = None,
    leaves: bytearray | None = None,
) -> tuple[VerifyData, Chain]:
    """Verify all lines and every signature that is due.

    Args:
        storage: the ledger's bytes.
        witness_keys: pinned witness keys by key id.
        head: a cosigned head; None checks every signature.
        progress: called after every block with the number of bytes read.
        watch: called with every run of lines that verified (from line 1 again when the head
            turns out not to be this chain's); a run of several lines holds plain ones alone.
        leaves: filled with the leaf hashes of all lines that verified, 32 bytes each.

    Returns:
        What was found, and the chain after the last line that verified.

    Raises:
        LedgerError: ``LEDGER_UNREADABLE`` when the storage fails.
    """
    if head is not None and head.size <= SKIP_ABOVE_LINES:
        head = None
    try:
        with _collector_paused():
            return _verified(storage, witness_keys, head, progress, watch, leaves)
    except OSError as error:
        raise LedgerError(
            f"the ledger cannot be read: {error.strerror}", code="LEDGER_UNREADABLE"
        ) from None


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Hold the collector of cycles back, where millions of values are made and none is a cycle.

    It would walk every block's columns again and again, for a tenth of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _verified(
    storage: Storage,
    witness_keys: Mapping[str, PublicKeyEnvelope] | None,
    head: CosignedHead | None,
    progress: Progress | None,
    watch: Watcher | None,
    leaves: bytearray | None,
) -> tuple[VerifyData, Chain]:
    run = _Pass(storage, Chain(witness_keys=witness_keys), head, leaves)
    try:
        data = run.go(progress, watch)
    except _ForeignHeadError:
        if leaves is not None:
            leaves.clear()
        run = _Pass(storage, Chain(witness_keys=witness_keys), None, leaves)
        data = run.go(progress, watch)
    return data, run.chain


class _ForeignHeadError(Exception):
    """The head was not stated by this chain's identity; never leaves this module."""


class _Pass:
    """One reading of a ledger from line 1."""

    def __init__(
        self,
        storage: Storage,
        chain: Chain,
        head: CosignedHead | None,
        leaves: bytearray | None,
    ) -> None:
        self.chain = chain
        chain.leaves = leaves
        self._reader = LineReader(storage)
        self._head = head
        self._checked = 0
        self._skipped = 0

    def go(self, progress: Progress | None, watch: Watcher | None) -> VerifyData:
        findings: list[Finding] = []
        try:
            self._read(progress, watch)
        except VerificationError as error:
            whole = error.code == _HEAD_MISMATCH
            findings.append(
                Finding(
                    code=error.code,
                    message=error.message,
                    seq=None if whole else self.chain.size + 1,
                    hint=error.hint,
                )
            )
        else:
            findings.extend(self._ending())
        if progress is not None:
            progress(self._reader.offset)
        return self._data(tuple(findings))

    def _read(self, progress: Progress | None, watch: Watcher | None) -> None:
        for lines in self._reader.blocks():
            first = self.chain.size + 1
            swept = self.chain.sweep(lines) if self._is_covered(len(lines)) else ()
            self._skipped += len(swept)
            if not swept:
                self._read_singly(lines, watch)
            elif watch is not None:
                watch(first, lines, swept)
            if progress is not None:
                progress(self._reader.offset)

    def _read_singly(self, lines: Sequence[bytes], watch: Watcher | None) -> None:
        chain = self.chain
        for line in lines:
            step = chain.weigh(line)
            if self._is_due(step):
                chain.check_signature(step)
                self._checked += 1
            else:
                self._skipped += 1
            chain.advance(step)
            if self._head is not None and chain.size == self._head.size:
                self._compare(self._head)
            if watch is not None:
                watch(step.seq, (line,), (step.frame.hash,))

    def _is_covered(self, count: int) -> bool:
        return self._head is not None and self.chain.size + count < self._head.size

    def _is_due(self, step: Step) -> bool:
        if self._head is None or step.seq >= self._head.size:
            return True
        return step.frame.role != b"identity" or step.kind.ring not in PLAIN_RINGS

    def _compare(self, head: CosignedHead) -> None:
        self._require_own(head)
        if self.chain.root != head.root:
            raise VerificationError(
                f"the first {head.size} lines are not those that a witness cosigned",
                code=_HEAD_MISMATCH,
                hint="Restore a copy that the witness cosigned: agentic-os ledger repair.",
            )

    def _require_own(self, head: CosignedHead) -> None:
        own = [one.key for one in self.chain.tenures if one.role == "identity"]
        if head.origin != self.chain.origin or not any(head.is_stated_by(key) for key in own):
            raise _ForeignHeadError

    def _ending(self) -> list[Finding]:
        findings: list[Finding] = []
        if self.chain.size == 0 and not self._reader.torn:
            findings.append(Finding(code="LEDGER_EMPTY", message="the ledger has no lines"))
        if self._reader.torn:
            findings.append(
                Finding(
                    code=TAIL_TORN,
                    message=f"the last line is not whole: {len(self._reader.torn)} bytes",
                    seq=self.chain.size + 1,
                    hint="agentic-os ledger repair gives it its end back, or sets it aside.",
                )
            )
        if self._head is not None and self.chain.size < self._head.size:
            self._require_own(self._head)
            findings.append(
                Finding(
                    code="LEDGER_TRUNCATED",
                    message=f"{self._head.size} lines were cosigned, {self.chain.size} are left",
                    hint="Restore a copy that the witness cosigned: agentic-os ledger repair.",
                )
            )
        return findings

    def _data(self, findings: tuple[Finding, ...]) -> VerifyData:
        chain = self.chain
        return VerifyData(
            format="agentic-os",
            lines=chain.size,
            head_hash=chain.head_hash,
            root_hash=chain.root.hex(),
            origin=chain.origin,
            signatures_checked=self._checked,
            signatures_skipped=self._skipped,
            cosigned_size=self._head.size if self._head is not None else 0,
            torn_bytes=len(self._reader.torn),
            self_made_root=chain.genesis.self_made if chain.genesis is not None else None,
            findings=findings,
        )
