"""The Merkle tree of RFC 9162: hashing and the pure verification of proofs.

Rules (RFC 9162 section 2.1; ledger format, section Tree):

- leaf hash = SHA-256(0x00 || data), inner hash = SHA-256(0x01 || left || right); the
  prefixes keep a leaf from being passed off as an inner node;
- the root of the empty tree is SHA-256 of nothing;
- an inclusion proof lists the sibling hashes from the leaf up to the root;
- a consistency proof from size 0, or between equal sizes, is empty: the first says
  nothing (any tree extends the empty one), the second demands equal roots;
- a proof with one hash too many or too few does not hold.

Nothing here keeps state or does I/O. ``agentic_os.crypto.tlog.merkle_tree`` makes proofs.

>>> first, second = leaf_hash(b"one"), leaf_hash(b"two")
>>> root = node_hash(first, second)
>>> inclusion_holds(index=1, size=2, leaf=second, proof=[first], root=root)
True
>>> consistency_holds(old_size=1, old_root=first, new_size=2, new_root=root, proof=[second])
True
"""

import hashlib
from collections.abc import Sequence
from typing import Final

HASH_BYTES: Final = 32
PROOF_HASHES: Final = 63
"""Longest proof of a tree of at most 2**63 - 1 leaves (C2SP tlog-witness, add-checkpoint)."""

EMPTY_ROOT: Final = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of one leaf over its exact bytes."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def inclusion_holds(
    *, index: int, size: int, leaf: bytes, proof: Sequence[bytes], root: bytes
) -> bool:
    """Whether ``leaf`` (a leaf hash) stands at ``index`` in the tree ``(size, root)``.

    Source: RFC 9162 section 2.1.3.2. Never raises: malformed input simply does not hold.
    """
    if not 0 <= index < size or not _are_hashes((leaf, root, *proof)):
        return False
    # ``node`` climbs from the leaf, ``last`` from the last leaf beside it: where they meet, the
    # tree's right edge is ragged, and levels without a sibling are climbed without a hash.
    node, last = index, size - 1
    current = leaf
    for sibling in proof:
        if last == 0:
            return False
        if node & 1 or node == last:
            current = node_hash(sibling, current)
            while not node & 1 and node != 0:
                node >>= 1
                last >>= 1
        else:
            current = node_hash(current, sibling)
        node >>= 1
        last >>= 1
    return last == 0 and current == root


def consistency_holds(
    *, old_size: int, old_root: bytes, new_size: int, new_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Whether the tree ``(new_size, new_root)`` extends ``(old_size, old_root)``.

    Source: RFC 9162 section 2.1.4.2, with the two empty proofs of the module's rules.
    For ``old_size`` 0 the old root must be the root of the empty tree. Never raises.
    """
    if not 0 <= old_size <= new_size or not _are_hashes((old_root, new_root, *proof)):
        return False
    if old_size in (0, new_size):
        starts_equal = old_root == (EMPTY_ROOT if old_size == 0 else new_root)
        ends_equal = new_size != 0 or new_root == EMPTY_ROOT
        return not proof and starts_equal and ends_equal
    path = list(proof)
    # An old tree whose size is a power of two is a whole subtree of the new one: its root is known,
    # so the proof leaves it out.
    if old_size & (old_size - 1) == 0:
        path.insert(0, old_root)
    if not path:
        return False
    node, last = old_size - 1, new_size - 1
    while node & 1:
        node >>= 1
        last >>= 1
    # Both roots are built from one proof: a sibling on the left belongs to both trees, one on the
    # right was added later and belongs to the new one alone.
    old = new = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if node & 1 or node == last:
            old = node_hash(sibling, old)
            new = node_hash(sibling, new)
            while not node & 1 and node != 0:
                node >>= 1
                last >>= 1
        else:
            new = node_hash(new, sibling)
        node >>= 1
        last >>= 1
    return last == 0 and old == old_root and new == new_root


def _are_hashes(values: Sequence[bytes]) -> bool:
    return len(values) <= PROOF_HASHES + 2 and all(len(value) == HASH_BYTES for value in values)
