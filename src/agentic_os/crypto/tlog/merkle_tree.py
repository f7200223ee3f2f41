"""Growing Merkle trees: one that makes proofs, and one that only knows its root.

``MerkleTree`` keeps the hash of every complete subtree, level by level (64 bytes a leaf
in all), so that a proof for any earlier size reads O(log n) kept hashes and never the
leaves again. ``MerkleFrontier`` keeps at most 63 hashes and answers only for the root:
verification of a long ledger uses it to stay flat in memory.

Both are append-only. Source of the shapes: RFC 9162 section 2.1.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from agentic_os.crypto.tlog.merkle import EMPTY_ROOT, HASH_BYTES, node_hash
from agentic_os.errors import CryptoError

TREE_LEAVES: Final = 2**63 - 1
"""Largest tree size that a checkpoint may state."""


class MerkleFrontier:
    """The right edge of a growing tree: size and root, nothing older."""

    __slots__ = ("_peaks", "_size")

    def __init__(self) -> None:
        """Start with the empty tree."""
        self._peaks: list[bytes] = []
        self._size = 0

    @property
    def size(self) -> int:
        """Number of leaves."""
        return self._size

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash (32 bytes, see ``merkle.leaf_hash``)."""
        _require_hashes((leaf,))
        size = self._size
        peaks = self._peaks
        while size & 1:
            leaf = node_hash(peaks.pop(), leaf)
            size >>= 1
        peaks.append(leaf)
        self._size += 1

    def extend(self, leaves: Sequence[bytes]) -> None:
        """Add many leaf hashes at once, level by level: a third faster than one by one."""
        _require_hashes(leaves)
        size, nodes = self._size, list(leaves)
        risen: list[bytes] = []
        sha256 = hashlib.sha256
        while nodes:
            if size & 1:
                nodes.insert(0, self._peaks.pop())
            if len(nodes) & 1:
                risen.append(nodes.pop())
            pairs = zip(nodes[::2], nodes[1::2], strict=True)
            nodes = [sha256(b"\x01" + left + right).digest() for left, right in pairs]
            size >>= 1
        self._peaks.extend(reversed(risen))
        self._size += len(leaves)

    def root(self) -> bytes:
        """Return the root of the tree as it is now."""
        return _fold(self._peaks)


class MerkleTree:
    """A growing tree that proves inclusion and consistency for any size it has passed."""

    __slots__ = ("_levels",)

    def __init__(self) -> None:
        """Start with the empty tree."""
        self._levels: list[bytearray] = [bytearray()]

    @property
    def size(self) -> int:
        """Number of leaves."""
        return len(self._levels[0]) // HASH_BYTES

    def append(self, leaf: bytes) -> int:
        """Add one leaf hash and return its index (0 for the first)."""
        _require_hashes((leaf,))
        index = position = self.size
        level = 0
        self._levels[0] += leaf
        while position & 1:
            leaf = node_hash(self._kept(level, position - 1), leaf)
            level += 1
            position >>= 1
            if level == len(self._levels):
                self._levels.append(bytearray())
            self._levels[level] += leaf
        return index

    def extend(self, leaves: bytes | bytearray) -> None:
        """Add many leaf hashes at once, one after the other in ``leaves``, level by level."""
        if len(leaves) % HASH_BYTES:
            raise CryptoError("a leaf hash has 32 bytes", code="MERKLE_HASH")
        self._levels[0] += leaves
        pair, sha256 = 2 * HASH_BYTES, hashlib.sha256
        for level, below in enumerate(self._levels):
            if len(below) < pair:
                return
            if level + 1 == len(self._levels):
                self._levels.append(bytearray())
            above = self._levels[level + 1]
            fresh = bytes(below[2 * len(above) : len(below) - len(below) % pair])
            above += b"".join(
                [
                    sha256(b"\x01" + fresh[start : start + pair]).digest()
                    for start in range(0, len(fresh), pair)
                ]
            )

    def leaf(self, index: int) -> bytes:
        """Return the leaf hash at ``index``."""
        if not 0 <= index < self.size:
            raise CryptoError(
                f"leaf {index} lies outside a tree of {self.size}", code="MERKLE_RANGE"
            )
        return self._kept(0, index)

    def root(self, size: int | None = None) -> bytes:
        """Return the root of the first ``size`` leaves (all of them by default)."""
        size = self._checked(size)
        return EMPTY_ROOT if size == 0 else self._range(0, size)

    def inclusion_proof(self, index: int, size: int | None = None) -> tuple[bytes, ...]:
        """Prove that leaf ``index`` stands in the tree of the first ``size`` leaves.

        Raises:
            CryptoError: ``MERKLE_RANGE`` when ``index`` or ``size`` lies outside the tree.
        """
        size = self._checked(size)
        if not 0 <= index < size:
            raise CryptoError(f"leaf {index} lies outside a tree of {size}", code="MERKLE_RANGE")
        proof: list[bytes] = []
        start, end = 0, size
        while end - start > 1:
            middle = start + _largest_power_below(end - start)
            if index < middle:
                proof.append(self._range(middle, end))
                end = middle
            else:
                proof.append(self._range(start, middle))
                start = middle
        return tuple(reversed(proof))

    def consistency_proof(self, old_size: int, size: int | None = None) -> tuple[bytes, ...]:
        """Prove that the first ``size`` leaves extend the first ``old_size``.

        Empty for ``old_size`` 0 and for equal sizes (see ``merkle``).

        Raises:
            CryptoError: ``MERKLE_RANGE`` when a size lies outside the tree or they are swapped.
        """
        size = self._checked(size)
        if not 0 <= old_size <= size:
            raise CryptoError(
                f"no tree of {old_size} stands inside one of {size}", code="MERKLE_RANGE"
            )
        if old_size in (0, size):
            return ()
        proof: list[bytes] = []
        start, end, is_whole = 0, size, True
        while old_size != end:
            middle = start + _largest_power_below(end - start)
            if old_size <= middle:
                proof.append(self._range(middle, end))
                end = middle
            else:
                proof.append(self._range(start, middle))
                start = middle
                is_whole = False
        if not is_whole:
            proof.append(self._range(start, end))
        return tuple(reversed(proof))

    def _checked(self, size: int | None) -> int:
        if size is None:
            return self.size
        if not 0 <= size <= self.size:
            raise CryptoError(
                f"size {size} lies outside a tree of {self.size}", code="MERKLE_RANGE"
            )
        return size

    def _kept(self, level: int, position: int) -> bytes:
        start = position * HASH_BYTES
        return bytes(self._levels[level][start : start + HASH_BYTES])

    def _range(self, start: int, end: int) -> bytes:
        # Every range asked for starts at a multiple of the largest power of two that fits
        # into it, so it splits into complete, kept subtrees of falling height.
        peaks: list[bytes] = []
        while start < end:
            level = (end - start).bit_length() - 1
            peaks.append(self._kept(level, start >> level))
            start += 1 << level
        return _fold(peaks)


def _fold(peaks: list[bytes]) -> bytes:
    if not peaks:
        return EMPTY_ROOT
    current = peaks[-1]
    for peak in reversed(peaks[:-1]):
        current = node_hash(peak, current)
    return current


def _largest_power_below(count: int) -> int:
    return 1 << ((count - 1).bit_length() - 1)


def _require_hashes(leaves: Sequence[bytes]) -> None:
    if not {HASH_BYTES}.issuperset(map(len, leaves)):
        raise CryptoError("a leaf hash has 32 bytes", code="MERKLE_HASH")
