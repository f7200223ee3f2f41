"""Proofs against a naive tree written straight from RFC 9162 section 2.1."""

import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.crypto.tlog.merkle import consistency_holds, inclusion_holds, leaf_hash
from agentic_os.crypto.tlog.merkle_tree import MerkleFrontier, MerkleTree

SIZES = st.integers(min_value=0, max_value=200)
HASHES = st.binary(min_size=32, max_size=32)


def split(count: int) -> int:
    power = 1
    while power * 2 < count:
        power *= 2
    return power


def naive_root(data: list[bytes]) -> bytes:
    if not data:
        return hashlib.sha256(b"").digest()
    if len(data) == 1:
        return hashlib.sha256(b"\x00" + data[0]).digest()
    k = split(len(data))
    return hashlib.sha256(b"\x01" + naive_root(data[:k]) + naive_root(data[k:])).digest()


def naive_path(index: int, data: list[bytes]) -> list[bytes]:
    if len(data) == 1:
        return []
    k = split(len(data))
    if index < k:
        return [*naive_path(index, data[:k]), naive_root(data[k:])]
    return [*naive_path(index - k, data[k:]), naive_root(data[:k])]


def naive_subproof(old: int, data: list[bytes], whole: bool) -> list[bytes]:
    if old == len(data):
        return [] if whole else [naive_root(data)]
    k = split(len(data))
    if old <= k:
        return [*naive_subproof(old, data[:k], whole), naive_root(data[k:])]
    return [*naive_subproof(old - k, data[k:], False), naive_root(data[:k])]


def leaves(count: int) -> list[bytes]:
    return [b"leaf %d" % index for index in range(count)]


def tree_of(data: list[bytes]) -> MerkleTree:
    tree = MerkleTree()
    for item in data:
        tree.append(leaf_hash(item))
    return tree


@given(size=SIZES, drawn=st.data())
@settings(max_examples=150, deadline=None)
def test_roots_and_proofs_equal_the_naive_tree(size: int, drawn: st.DataObject) -> None:
    data = leaves(size)
    tree = tree_of(data)
    at = drawn.draw(st.integers(min_value=0, max_value=size))
    old = drawn.draw(st.integers(min_value=0, max_value=at))

    assert tree.root(at) == naive_root(data[:at])
    expected = naive_subproof(old, data[:at], whole=True) if 0 < old < at else []
    proof = tree.consistency_proof(old, at)
    assert list(proof) == expected
    assert consistency_holds(
        old_size=old, old_root=tree.root(old), new_size=at, new_root=tree.root(at), proof=proof
    )
    if at:
        index = drawn.draw(st.integers(min_value=0, max_value=at - 1))
        path = tree.inclusion_proof(index, at)
        assert list(path) == naive_path(index, data[:at])
        assert inclusion_holds(
            index=index, size=at, leaf=tree.leaf(index), proof=path, root=tree.root(at)
        )


@given(size=SIZES)
@settings(max_examples=50, deadline=None)
def test_the_frontier_agrees_with_the_tree(size: int) -> None:
    frontier = MerkleFrontier()
    for item in leaves(size):
        frontier.append(leaf_hash(item))

    assert frontier.root() == naive_root(leaves(size))


@given(runs=st.lists(st.integers(min_value=0, max_value=40), max_size=8))
@settings(max_examples=100, deadline=None)
def test_the_frontier_takes_many_leaves_at_once(runs: list[int]) -> None:
    frontier, taken = MerkleFrontier(), 0
    for run in runs:
        frontier.extend([leaf_hash(item) for item in leaves(taken + run)[taken:]])
        taken += run
        assert (frontier.size, frontier.root()) == (taken, naive_root(leaves(taken)))
        frontier.append(leaf_hash(leaves(taken + 1)[taken]))
        taken += 1
    assert frontier.root() == naive_root(leaves(taken))


@given(runs=st.lists(st.integers(min_value=0, max_value=40), max_size=8))
@settings(max_examples=100, deadline=None)
def test_the_tree_takes_many_leaves_at_once(runs: list[int]) -> None:
    tree, taken = MerkleTree(), 0
    for run in runs:
        tree.extend(b"".join(leaf_hash(item) for item in leaves(taken + run)[taken:]))
        taken += run
        assert tree.root() == naive_root(leaves(taken))
        tree.append(leaf_hash(leaves(taken + 1)[taken]))
        taken += 1
    assert tree._levels == tree_of(leaves(taken))._levels


@given(
    size=st.integers(min_value=2, max_value=120),
    fork=st.integers(min_value=0, max_value=118),
    drawn=st.data(),
)
@settings(max_examples=150, deadline=None)
def test_no_proof_of_a_fork_holds(size: int, fork: int, drawn: st.DataObject) -> None:
    data = leaves(size)
    old = drawn.draw(st.integers(min_value=1, max_value=size - 1))
    forked = list(data)
    forked[fork % old] = b"forked"
    honest, other = tree_of(data), tree_of(forked)

    for proof in (honest.consistency_proof(old), other.consistency_proof(old)):
        assert not consistency_holds(
            old_size=old,
            old_root=honest.root(old),
            new_size=size,
            new_root=other.root(),
            proof=proof,
        )


@given(
    old_size=st.integers(min_value=-2, max_value=2**64),
    new_size=st.integers(min_value=-2, max_value=2**64),
    old_root=HASHES,
    new_root=HASHES,
    proof=st.lists(st.one_of(HASHES, st.binary(max_size=40)), max_size=70),
)
@settings(max_examples=300, deadline=None)
def test_arbitrary_input_never_raises_and_never_holds(
    old_size: int, new_size: int, old_root: bytes, new_root: bytes, proof: list[bytes]
) -> None:
    held = consistency_holds(
        old_size=old_size, old_root=old_root, new_size=new_size, new_root=new_root, proof=proof
    )
    assert not held or (old_size == new_size and old_root == new_root and not proof)
    assert not inclusion_holds(
        index=old_size, size=new_size, leaf=old_root, proof=proof, root=new_root
    ) or (new_size == 1 and old_root == new_root)
