import pytest

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.checkpoint import Checkpoint, SignedCheckpoint, sign_checkpoint
from agentic_os.crypto.tlog.checkpoint_proof import (
    EXTRA_BYTES,
    TLOG_PROOF_BYTES,
    TlogProof,
    parse_tlog_proof,
)
from agentic_os.crypto.tlog.merkle import leaf_hash
from agentic_os.crypto.tlog.merkle_tree import MerkleTree
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import CryptoError

SIGNER = NoteSigner(kind="note", name="log.example", private=SigningKey(ED25519, bytes(32)))
HEADER = "c2sp.org/tlog-proof@v1\n"


def tree(count: int) -> MerkleTree:
    grown = MerkleTree()
    for index in range(count):
        grown.append(leaf_hash(b"line %d" % index))
    return grown


def head(grown: MerkleTree) -> SignedCheckpoint:
    checkpoint = Checkpoint(origin="log.example", size=grown.size, root=grown.root())
    return sign_checkpoint(checkpoint, SIGNER)


NOTE = head(tree(4)).note.data.decode()


@pytest.mark.parametrize(("count", "index"), [(1, 0), (4, 3), (7, 2)])
@pytest.mark.parametrize("extra", [b"", b"\x00context"])
def test_a_proof_file_is_read_as_written_and_proves(count: int, index: int, extra: bytes) -> None:
    grown = tree(count)
    proof = TlogProof(
        index=index, hashes=grown.inclusion_proof(index), head=head(grown), extra=extra
    )
    read = parse_tlog_proof(proof.data)

    assert read == proof
    assert read.includes(leaf_hash(b"line %d" % index))
    assert not read.includes(leaf_hash(b"another line"))


def test_the_file_has_the_published_shape() -> None:
    grown = tree(2)
    proof = TlogProof(index=1, hashes=grown.inclusion_proof(1), head=head(grown), extra=b"ab")
    lines = proof.data.decode().split("\n")

    assert lines[:3] == ["c2sp.org/tlog-proof@v1", "extra YWI=", "index 1"]
    assert lines[3] == encode_base64(leaf_hash(b"line 0"))
    assert lines[4:7] == ["", "log.example", "2"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER,
        HEADER + "index 0\n",
        "c2sp.org/tlog-proof@v2\nindex 0\n\n" + NOTE,
        HEADER + "\n" + NOTE,
        HEADER + "extra YWI=\n\n" + NOTE,
        HEADER + "index 00\n\n" + NOTE,
        HEADER + "index -1\n\n" + NOTE,
        HEADER + "extra *\nindex 0\n\n" + NOTE,
        HEADER + "extra " + encode_base64(b"x" * (EXTRA_BYTES + 1)) + "\nindex 0\n\n" + NOTE,
        HEADER + "index 0\nAAAA\n\n" + NOTE,
        HEADER + "index 0\n" + (encode_base64(bytes(32)) + "\n") * 64 + "\n" + NOTE,
        HEADER + "é\nindex 0\n\n" + NOTE,
        "x" * (TLOG_PROOF_BYTES + 1),
    ],
)
def test_malformed_files_are_refused(text: str) -> None:
    with pytest.raises(CryptoError) as caught:
        parse_tlog_proof(text.encode())
    assert caught.value.code == "TLOG_PROOF_INVALID"


def test_the_checkpoint_inside_is_read_as_strictly_as_any() -> None:
    with pytest.raises(CryptoError) as caught:
        parse_tlog_proof((HEADER + "index 0\n\no\n01\nAA==\n\n— o AAAAAAA=\n").encode())
    assert caught.value.code == "CHECKPOINT_INVALID"
