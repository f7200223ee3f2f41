"""The journal: the one writer of a ledger file.

::

    open      lock the folder -> set a torn tail aside -> verify everything -> ready
    append    tail on disk = tail in memory -> sign -> admit on a fork -> write -> sync -> memory
    failure   anywhere between the first write and memory: FROZEN until a restart

Invariants:

- One process writes: the folder's lock is taken before the first byte is read and held until
  ``close``. Nothing here locks per append.
- Memory never runs ahead of the disk, and an append is answered only after ``sync``
  returned. A batch is one write and one sync; refused whole, acknowledged whole, though a
  machine that stops in between may leave its first lines.
- What the reader would refuse is never written: every line passes the chain's own rule,
  signature included, on a fork of the chain, before the first byte goes out.
- Before an append the last ``TAIL_LINES`` lines on disk must be byte for byte those that
  were verified, the file must have the length that was verified, and the name must still
  stand for the same file. Otherwise somebody else wrote, and the journal freezes.
- Frozen is for ever: no method thaws it. Reading stays possible.

How a journal comes to be, torn tails included, is told in ``opening.py``.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from agentic_os.crypto.canonical.texts import bare_hash
from agentic_os.crypto.keys.pairs import SigningKey
from agentic_os.crypto.tlog.merkle import leaf_hash
from agentic_os.crypto.tlog.merkle_tree import MerkleTree
from agentic_os.errors import LedgerError
from agentic_os.files.closing import SelfClosing
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.ledger.answers import VerifyData
from agentic_os.ledger.file.storage import LineReader, Storage
from agentic_os.ledger.line.entry import Draft, Line, encode_entry, new_salt, sign_line, timestamp
from agentic_os.ledger.line.frame import line_of, read_line
from agentic_os.ledger.line.payloads import Role
from agentic_os.ledger.rule.chain import Chain, Step

TAIL_LINES: Final = 9
BATCH_LINES: Final = 1_024

Signers = Mapping[Role, SigningKey]


class SignedDraft(NamedTuple):
    """A draft and the role whose key is to sign it."""

    draft: Draft
    role: Role


class Journal(SelfClosing):
    """An open, verified ledger that can grow; made by ``opening``, ended by ``close``."""

    __slots__ = (
        "_chain",
        "_frozen",
        "_leaves",
        "_lock",
        "_size",
        "_storage",
        "_tail",
        "_tree",
        "torn_aside",
        "verified",
    )

    def __init__(
        self,
        storage: Storage,
        chain: Chain,
        lock: ExclusiveLock | None,
        tail: deque[tuple[int, bytes]],
        verified: VerifyData,
        leaves: bytearray,
    ) -> None:
        """Take over what ``open_journal`` has verified."""
        self._storage = storage
        self._chain = chain
        self._lock = lock
        self._tail = tail
        self._size = storage.size()
        self._leaves = leaves
        self._tree: MerkleTree | None = None
        self._frozen = ""
        self.verified = verified
        self.torn_aside = ""

    @property
    def chain(self) -> Chain:
        """The state after the last durable line. Read it; only the journal moves it."""
        return self._chain

    @property
    def frozen(self) -> str:
        """Why the journal no longer writes; empty while it does."""
        return self._frozen

    @property
    def tree(self) -> MerkleTree:
        """The tree with all proofs; built at the first question, from what was verified."""
        if self._tree is None:
            tree = MerkleTree()
            tree.extend(self._leaves)
            self._tree, self._leaves = tree, bytearray()
        return self._tree

    def read_from(self, offset: int) -> LineReader:
        """Return the lines from a byte on, as they stand on the disk now."""
        return LineReader(self._storage, start=offset)

    def hash_at(self, seq: int) -> str:
        """Return the bare entry hash of a line, as it was verified: what a bookmark states.

        Old lines are read from the file again and held against the verified tree, so that neither a
        cache nor the disk can put another hash in their place.

        Raises:
            LedgerError: ``LEDGER_SEQ_UNKNOWN``; ``JOURNAL_TAIL_CHANGED`` freezes the journal.
        """
        recent = self._chain.hash_at(seq)
        if recent is not None:
            return recent
        if not 1 <= seq <= self._chain.size:
            raise LedgerError(f"there is no line {seq}", code="LEDGER_SEQ_UNKNOWN")
        raw = next(islice(LineReader(self._storage), seq - 1, None), b"")
        if leaf_hash(raw) != self.tree.leaf(seq - 1):
            raise self._freeze("the file was changed by somebody else")
        return bare_hash(read_line(raw).hash)

    def append(self, drafts: Sequence[SignedDraft], signers: Signers) -> tuple[Line, ...]:
        """Sign and write lines; they are durable when this returns.

        Args:
            drafts: at most ``BATCH_LINES``, in order; the gate has passed them.
            signers: the private keys of the roles that the drafts name.

        Raises:
            LedgerError: ``JOURNAL_FROZEN``; ``SIGNER_MISSING``; ``LEDGER_LINE_TOO_LONG``;
                ``JOURNAL_TAIL_CHANGED`` and ``APPEND_UNCERTAIN`` freeze the journal.
            VerificationError: the chain's rule refuses a line; nothing was written.
        """
        if self._frozen:
            raise LedgerError(
                f"the ledger is frozen: {self._frozen}",
                code="JOURNAL_FROZEN",
                hint="Restart; boot verifies the whole ledger again.",
            )
        if not 0 < len(drafts) <= BATCH_LINES:
            raise LedgerError(f"a batch has 1 to {BATCH_LINES} entries", code="BATCH_SIZE")
        self._require_tail()
        fork = self._chain.fork()
        steps = [self._admit(fork, one, signers) for one in drafts]
        self._write(b"".join(step.line + b"\n" for step in steps))
        for step in steps:
            self._remember(step.line)
        self._chain = fork
        return tuple(line_of(step.frame, step.line) for step in steps)

    def close(self) -> None:
        """Let go of the file, and of the lock where the journal took it."""
        self._storage.close()
        if self._lock is not None:
            self._lock.release()

    def _admit(self, fork: Chain, one: SignedDraft, signers: Signers) -> Step:
        key = signers.get(one.role)
        if key is None:
            raise LedgerError(f"the {one.role} key is not at hand", code="SIGNER_MISSING")
        entry = encode_entry(one.draft, seq=fork.size + 1, ts=timestamp(), salt=new_salt())
        return fork.admit(sign_line(entry, prev_hash=fork.head_hash, role=one.role, key=key))

    def _require_tail(self) -> None:
        try:
            same = self._storage.is_in_place() and self._storage.size() == self._size
            start = self._tail[0][0] if self._tail else 0
            on_disk = self._storage.read(start, self._size - start)
        except OSError as error:
            raise self._freeze(f"the file cannot be read: {error.strerror}") from None
        leaves = [leaf_hash(line) for line in on_disk.split(b"\n")[:-1]]
        if not same or leaves != [leaf for _, leaf in self._tail]:
            raise self._freeze("the file was changed by somebody else")

    def _write(self, data: bytes) -> None:
        try:
            self._storage.append(data)
            self._storage.sync()
        except BaseException as error:
            reason = error.strerror if isinstance(error, OSError) else type(error).__name__
            self._frozen = f"a write may not have reached the disk ({reason})"
            if not isinstance(error, OSError):
                raise
            raise LedgerError(
                f"it is not certain that the entry was written: {reason}",
                code="APPEND_UNCERTAIN",
                hint="Restart; boot tells whether the entry is there.",
            ) from None

    def _remember(self, line: bytes) -> None:
        leaf = leaf_hash(line)
        self._tail.append((self._size, leaf))
        self._size += len(line) + 1
        if self._tree is not None:
            self._tree.append(leaf)
        else:
            self._leaves += leaf

    def _freeze(self, reason: str) -> LedgerError:
        self._frozen = reason
        return LedgerError(
            f"the ledger freezes: {reason}",
            code="JOURNAL_TAIL_CHANGED",
            hint="Restart; boot verifies the whole ledger again.",
        )
