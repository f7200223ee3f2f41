"""The exact texts, against the vector of the formats reference, section 4.3."""

import hashlib
from datetime import UTC, datetime

import pytest

from agentic_os.crypto.envelope.public_keys import identity_id, make_identity_envelope
from agentic_os.crypto.envelope.receipts import NO_ORDINAL, ZERO_LEDGER_HASH, receipt_text
from agentic_os.crypto.keys.pairs import ML_DSA_87, SigningKey
from agentic_os.witness.protocol.bookmark import binding_text, origin_key_digits, request_text

KEY = SigningKey(ML_DSA_87, bytes(range(32)))
ENVELOPE = make_identity_envelope(KEY.public, created_at=datetime(2026, 1, 1, tzinfo=UTC))
IDENTITY = (
    "did:aiii:identity:sha256:1faccb611bc7c814cc295aceeff0743b06ec27a876694c3f10729acddecdee4b"
)
ENTRY_2 = "56e768dbec2fc02042590b0b52776f4479e4017991766ccca563aefc8eec44cd"


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def test_the_published_vector_is_reproduced() -> None:
    request = request_text(
        identity_id=IDENTITY, public_key=ENVELOPE, ordinal=2, ledger_hash=ENTRY_2
    )
    receipt = receipt_text(
        identity_id=IDENTITY,
        previous_ordinal=NO_ORDINAL,
        previous_hash=ZERO_LEDGER_HASH,
        ordinal=2,
        ledger_hash=ENTRY_2,
        witnessed_at="2026-01-01T00:00:02Z",
    )

    assert ENVELOPE.sha256 == (
        "sha256:7c45d7678bfa4535c79e3cc9fbb5b01773864b426ab8d352507dde5ca4eebcfe"
    )
    assert identity_id(ENVELOPE) == IDENTITY
    assert sha256(request) == (
        "sha256:882cd42e737cb8fc607af0343ad3ff11d487869282245b5b14c14fa04ed81a77"
    )
    assert sha256(receipt) == (
        "sha256:d30471ba03f8b6b8b9962146a9d62143e44396bce01850b1248d65b6af21403c"
    )


def test_a_receipt_is_six_lines_below_its_header() -> None:
    text = receipt_text(
        identity_id="i",
        previous_ordinal=-1,
        previous_hash="p",
        ordinal=42,
        ledger_hash="h",
        witnessed_at="t",
    )

    assert text == (
        b"AIII-WITNESS-RECEIPT\nidentity_id:i\nprevious_witnessed_ledger_ordinal:-1\n"
        b"previous_witnessed_ledger_hash:p\nledger_ordinal:42\nledger_hash:h\nwitnessed_at:t\n"
    )


def test_a_binding_names_origin_and_key() -> None:
    assert binding_text(origin="o", vkey="o+1+k") == (
        b"AGENTIC-OS-ORIGIN-BINDING-V1\norigin:o\ncheckpoint_vkey:o+1+k\n"
    )


@pytest.mark.parametrize(
    ("origin", "digits"),
    [
        ("example.com/ledger/00112233445566ff", "00112233445566ff"),
        ("example.com:8443/a/ledger/00112233445566ff", "00112233445566ff"),
        ("example.com/ledger/00112233445566FF", None),
        ("example.com/ledger/00112233445566ff0", None),
        ("example.com/ledger/00112233445566ff\n", None),
        ("my secret diary/ledger/00112233445566ff", None),
        ("/ledger/00112233445566ff", None),
        ("example.com", None),
    ],
)
def test_an_identitys_origin_ends_with_its_first_key(origin: str, digits: str | None) -> None:
    assert origin_key_digits(origin) == digits
