import json
from collections.abc import Callable
from typing import Any

import pytest

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.crypto.envelope.public_keys import key_fingerprint
from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import VerificationError
from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.bookmark import KeySignature, Receipt
from agentic_os.witness.protocol.json import read_receipt, read_request, receipt_tree, write_request
from agentic_os.witness.protocol.refusal import RequestRefusedError
from support.witness.actors import Owner

LEDGER = Owner(seed=1).add(6).ledger()
PLAIN = write_request(build_bookmark(LEDGER, ordinal=6, old_size=None, binds=False))
PROVED = write_request(build_bookmark(LEDGER, ordinal=6, old_size=4, binds=True))
KEY_ID = LEDGER.envelope.key_id
SLH_KEYS = [
    {
        "alg": "SLH-DSA-SHA2-256s",
        "public_key_b64": encode_base64(bytes(64)),
        "public_key_fingerprint": key_fingerprint("SLH-DSA-SHA2-256s", KEY_ID, bytes(64)),
    }
]
SECRET = "we met at the harbour"


def changed(body: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    tree = json.loads(body)
    change(tree)
    return json.dumps(tree).encode()


def refusal(body: bytes) -> str:
    with pytest.raises(RequestRefusedError) as caught:
        read_request(body)
    assert caught.value.refusal.status == 400
    assert caught.value.refusal.code == "MALFORMED"
    return caught.value.refusal.message


@pytest.mark.parametrize("body", [PLAIN, PROVED])
def test_a_request_is_read_as_it_was_written(body: bytes) -> None:
    assert write_request(read_request(body)) == body
    spaced = json.dumps(json.loads(body), indent=1).encode()
    assert write_request(read_request(spaced)) == body


def test_a_rotated_identity_sends_its_chain_of_keys() -> None:
    ledger = Owner(seed=1).add(3).rotated().add(2).rotated().ledger()
    body = write_request(build_bookmark(ledger, ordinal=7, old_size=0, binds=True))
    read = read_request(body)

    assert write_request(read) == body
    assert read.proof
    assert read.proof.chain
    assert len(read.proof.chain.steps) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree.update(entry=SECRET),
        lambda tree: tree["identity_signature"].update(note=SECRET),
        lambda tree: tree["identity_public_key"].update(note=SECRET),
        lambda tree: tree["identity_public_key"]["keys"][0].update(note=SECRET),
        lambda tree: tree["identity_public_key"].update(key_id=SECRET),
        lambda tree: tree["proof"].update(note=SECRET),
        lambda tree: tree["proof"]["binding"].update(note=SECRET),
        lambda tree: tree["proof"].update(key_chain={"entry": SECRET}),
    ],
)
def test_no_member_may_carry_words(change: Callable[[dict[str, Any]], object]) -> None:
    message = refusal(changed(PROVED, change))

    assert SECRET not in message


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree.update(ledger_ordinal=0),
        lambda tree: tree.update(ledger_ordinal=-1),
        lambda tree: tree.update(ledger_ordinal=2**63),
        lambda tree: tree.update(ledger_ordinal=True),
        lambda tree: tree.update(ledger_ordinal="6"),
        lambda tree: tree.update(ledger_ordinal=6.5),
        lambda tree: tree.update(ledger_hash=tree["ledger_hash"].upper()),
        lambda tree: tree.update(ledger_hash="sha256:" + tree["ledger_hash"]),
        lambda tree: tree.update(ledger_hash=tree["ledger_hash"] + "\n"),
        lambda tree: tree.update(identity_public_key="text"),
        lambda tree: tree["identity_public_key"].update(key_type="witness"),
        lambda tree: tree["identity_public_key"].update(keys=[]),
        lambda tree: tree["identity_public_key"].update(keys=SLH_KEYS),
        lambda tree: tree["identity_public_key"]["keys"][0].update(public_key_b64="AAAA"),
        lambda tree: tree["identity_public_key"].update(expires_at="tomorrow"),
        lambda tree: tree.pop("identity_signature"),
        lambda tree: tree["identity_signature"].update(sig_b64="A" * 9000),
    ],
)
def test_wrong_values_are_refused(change: Callable[[dict[str, Any]], object]) -> None:
    refusal(changed(PLAIN, change))


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda proof: proof.update(origin="other.example"), "another origin"),
        (lambda proof: proof.update(old_size=-1), "old_size"),
        (lambda proof: proof.update(consistency=["AAAA"]), "32 bytes"),
        (lambda proof: proof.update(consistency=[encode_base64(bytes(32))] * 64), "63"),
        (lambda proof: proof.update(checkpoint="nothing"), "note"),
        (lambda proof: proof.update(checkpoint="\ud800"), "surrogate"),
        (lambda proof: proof["binding"].update(vkey="x"), "vkey"),
        (lambda proof: proof["binding"].update(sig_b64="*"), "base64"),
        (
            lambda proof: proof.update(checkpoint=proof["checkpoint"].replace("\n6\n", "\n7\n", 1)),
            "ordinal",
        ),
        (
            lambda proof: proof.update(
                checkpoint=proof["checkpoint"].replace("\n\n", f"\n{SECRET}\n\n", 1)
            ),
            "extension",
        ),
        (
            lambda proof: proof.update(
                key_chain={
                    "first_public_key_b64": "AAAA",
                    "steps": [{"line": "{}", "inclusion": ["x"]}],
                }
            ),
            "32 bytes",
        ),
    ],
)
def test_wrong_proofs_are_refused(change: Callable[[dict[str, Any]], object], rule: str) -> None:
    assert rule in refusal(changed(PROVED, lambda tree: change(tree["proof"])))


def test_a_binding_is_of_a_note_key() -> None:
    other = NoteSigner(
        kind="cosignature", name=LEDGER.origin, private=SigningKey(ED25519, bytes(32))
    )
    body = changed(PROVED, lambda tree: tree["proof"]["binding"].update(vkey=other.key.vkey))

    assert "note key" in refusal(body)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"1", b'{"a":1,"a":2}', b"\xff"])
def test_what_is_no_object_is_refused(body: bytes) -> None:
    refusal(body)


def receipt() -> Receipt:
    return Receipt(
        identity_id="i",
        previous_ordinal=-1,
        previous_hash="0" * 64,
        ordinal=3,
        ledger_hash="a" * 64,
        witnessed_at="2026-01-01T00:00:00Z",
        signature=KeySignature(
            signature_profile="p",
            alg="a",
            key_id="k",
            public_key_fingerprint="f",
            signature_input_sha256="s",
            sig_b64="b",
        ),
    )


def test_a_receipt_is_read_as_it_was_written_with_more_beside_it() -> None:
    tree = {**receipt_tree(receipt()), "cosignature": "— w AAAAAAA=\n", "later": 1}

    assert read_receipt(json.dumps(tree).encode()) == receipt()


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree.update(ledger_hash="x"),
        lambda tree: tree.update(previous_witnessed_ledger_ordinal=-2),
        lambda tree: tree.pop("witness_signature"),
    ],
)
def test_wrong_receipts_are_refused(change: Callable[[dict[str, Any]], object]) -> None:
    tree = json.loads(json.dumps(receipt_tree(receipt())))
    change(tree)

    with pytest.raises(VerificationError) as caught:
        read_receipt(json.dumps(tree).encode())
    assert caught.value.code == "RECEIPT_INVALID"
