import hashlib

import pytest

from agentic_os.crypto.tlog.merkle import (
    EMPTY_ROOT,
    PROOF_HASHES,
    consistency_holds,
    inclusion_holds,
    leaf_hash,
    node_hash,
)
from agentic_os.crypto.tlog.merkle_tree import MerkleFrontier, MerkleTree
from agentic_os.errors import CryptoError

# The eight leaves and the roots of the reference tree that the transparency projects share.
REFERENCE_LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
REFERENCE_ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def grown(count: int) -> MerkleTree:
    tree = MerkleTree()
    for index in range(count):
        tree.append(leaf_hash(b"entry %d" % index))
    return tree


def reference_tree() -> MerkleTree:
    tree = MerkleTree()
    for data in REFERENCE_LEAVES:
        tree.append(leaf_hash(data))
    return tree


@pytest.mark.parametrize("size", range(9))
def test_roots_equal_the_published_reference_tree(size: int) -> None:
    tree = reference_tree()
    frontier = MerkleFrontier()
    for data in REFERENCE_LEAVES[:size]:
        frontier.append(leaf_hash(data))

    assert tree.root(size).hex() == REFERENCE_ROOTS[size]
    assert frontier.root().hex() == REFERENCE_ROOTS[size]
    assert frontier.size == size


def test_published_proofs_are_made_and_hold() -> None:
    tree = reference_tree()

    inclusion = [node.hex() for node in tree.inclusion_proof(5)]
    consistency = [node.hex() for node in tree.consistency_proof(6)]

    assert inclusion == [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]
    assert consistency == [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]


def test_prefixes_keep_leaves_and_inner_nodes_apart() -> None:
    left, right = leaf_hash(b"a"), leaf_hash(b"b")

    assert leaf_hash(left + right) != node_hash(left, right)
    assert hashlib.sha256(b"").digest() == EMPTY_ROOT


@pytest.mark.parametrize(("old_size", "new_size"), [(1, 2), (3, 7), (4, 8), (6, 6), (0, 5)])
def test_a_consistency_proof_holds_only_as_made(old_size: int, new_size: int) -> None:
    tree = grown(8)
    proof = tree.consistency_proof(old_size, new_size)
    old_root, new_root = tree.root(old_size), tree.root(new_size)

    def holds(path: tuple[bytes, ...], old: bytes = old_root, new: bytes = new_root) -> bool:
        return consistency_holds(
            old_size=old_size, old_root=old, new_size=new_size, new_root=new, proof=path
        )

    assert holds(proof)
    assert not holds((*proof, EMPTY_ROOT))
    assert not holds((EMPTY_ROOT, *proof))
    assert not holds(proof, old=leaf_hash(b"other"))
    if old_size:
        assert not holds(proof, new=leaf_hash(b"other"))
    for index in range(len(proof)):
        assert not holds(proof[:index] + proof[index + 1 :])
        assert not holds((*proof[:index], leaf_hash(b"other"), *proof[index + 1 :]))


@pytest.mark.parametrize(
    ("old_size", "new_size", "proof"),
    [
        (-1, 4, ()),
        (5, 4, ()),
        (2, 4, (b"short",)),
        (3, 4, ()),
        (2, 4, (EMPTY_ROOT,) * (PROOF_HASHES + 1)),
    ],
)
def test_malformed_consistency_input_does_not_hold(
    old_size: int, new_size: int, proof: tuple[bytes, ...]
) -> None:
    assert not consistency_holds(
        old_size=old_size, old_root=EMPTY_ROOT, new_size=new_size, new_root=EMPTY_ROOT, proof=proof
    )


def test_the_empty_tree_is_consistent_with_itself_only_by_its_own_root() -> None:
    def holds(root: bytes) -> bool:
        return consistency_holds(
            old_size=0, old_root=EMPTY_ROOT, new_size=0, new_root=root, proof=()
        )

    assert holds(EMPTY_ROOT)
    assert not holds(leaf_hash(b""))


def test_an_inclusion_proof_holds_only_as_made() -> None:
    tree = grown(7)
    for index in range(7):
        proof = tree.inclusion_proof(index)

        def holds(path: tuple[bytes, ...], at: int = index, leaf: bytes = tree.leaf(index)) -> bool:
            return inclusion_holds(index=at, size=7, leaf=leaf, proof=path, root=tree.root())

        assert holds(proof)
        assert not holds(proof[:-1])
        assert not holds((*proof, EMPTY_ROOT))
        assert not holds(proof, at=(index + 1) % 7)
        assert not holds(proof, leaf=leaf_hash(b"other"))
        assert not holds(proof, at=-1)
        assert not holds(proof, at=7)
        assert not holds((b"", *proof))


def test_the_tree_refuses_what_lies_outside_it() -> None:
    tree = grown(3)

    for call in (
        lambda: tree.inclusion_proof(3),
        lambda: tree.inclusion_proof(0, 4),
        lambda: tree.consistency_proof(3, 2),
        lambda: tree.consistency_proof(-1),
        lambda: tree.root(-1),
        lambda: tree.leaf(3),
    ):
        with pytest.raises(CryptoError) as caught:
            call()
        assert caught.value.code == "MERKLE_RANGE"


def test_only_whole_hashes_are_appended() -> None:
    for growing in (MerkleTree(), MerkleFrontier()):
        with pytest.raises(CryptoError) as caught:
            growing.append(b"not a hash")
        assert caught.value.code == "MERKLE_HASH"
        assert growing.size == 0
    frontier = MerkleFrontier()
    with pytest.raises(CryptoError):
        frontier.extend([b"x" * 31, b"x" * 33])
    assert frontier.size == 0


def test_append_returns_the_index() -> None:
    tree = MerkleTree()

    assert [tree.append(leaf_hash(bytes([n]))) for n in range(3)] == [0, 1, 2]
    assert tree.leaf(1) == leaf_hash(b"\x01")
