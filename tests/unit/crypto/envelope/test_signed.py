"""AIII-SIGNATURE-V1: seal and open, and every check failing once."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.crypto.envelope.profiles import FAST_PROFILE, ROOT_PROFILE
from agentic_os.crypto.envelope.public_keys import ENVELOPE_BYTES, make_named_envelope
from agentic_os.crypto.envelope.signed import read_envelope, seal, verify_envelope
from agentic_os.crypto.keys.pairs import ML_DSA_87, SigningKey
from agentic_os.errors import CryptoError

KEY = SigningKey(ML_DSA_87, bytes(range(32)))
OTHER = SigningKey(ML_DSA_87, bytes(32))
BORN = datetime(2026, 1, 1, tzinfo=UTC)
PUBLISHED = make_named_envelope(KEY.public, key_type="platform", created_at=BORN)
ELSE = make_named_envelope(OTHER.public, key_type="platform", created_at=BORN)
KIND = "ring0.bundle"


def _sealed() -> dict[str, Any]:
    return seal(KIND, {"laws": "x", "n": 1}, key=KEY, envelope=PUBLISHED).to_json()


def _verify(document: Any, **changes: Any) -> object:
    arguments: dict[str, Any] = {
        "artifact_kind": KIND,
        "profiles": frozenset({FAST_PROFILE}),
        "key": PUBLISHED,
        "at": BORN,
    }
    return verify_envelope(read_envelope(encode(document)), **(arguments | changes))


def test_a_sealed_payload_opens() -> None:
    assert _verify(_sealed()) == {"laws": "x", "n": 1}
    document = _sealed()
    assert verify_envelope(
        read_envelope(document),
        artifact_kind=KIND,
        profiles=frozenset({FAST_PROFILE, ROOT_PROFILE}),
        key=PUBLISHED,
        at=BORN,
    ) == {"laws": "x", "n": 1}


def test_unknown_members_are_ignored() -> None:
    assert _verify(_sealed() | {"comment": "x"}) == {"laws": "x", "n": 1}


def test_another_key_cannot_seal_for_an_envelope() -> None:
    with pytest.raises(CryptoError) as caught:
        seal(KIND, {}, key=OTHER, envelope=PUBLISHED)
    assert caught.value.code == "KEY_MISMATCH"


def _edit_payload(document: dict[str, Any]) -> None:
    document["payload"]["laws"] = "y"


def _edit_payload_and_hash(document: dict[str, Any]) -> None:
    _edit_payload(document)
    document["payload_sha256"] = sha256_text(encode(document["payload"]))


def _edit_payload_and_every_hash(document: dict[str, Any]) -> None:
    other = seal(KIND, {"laws": "y", "n": 1}, key=KEY, envelope=PUBLISHED).to_json()
    signature = document["signatures"][0]["sig_b64"]
    document.update(other)
    document["signatures"][0]["sig_b64"] = signature


def _no_signature(document: dict[str, Any]) -> None:
    document["signatures"] = []


def _twice(document: dict[str, Any]) -> None:
    document["signatures"] *= 2


def _extra(document: dict[str, Any]) -> None:
    document["signatures"].append(document["signatures"][0] | {"alg": "SLH-DSA-SHA2-256s"})


def _root_with_one(document: dict[str, Any]) -> None:
    document["signature_profile"] = ROOT_PROFILE


def _other_key_id(document: dict[str, Any]) -> None:
    document["signatures"][0]["key_id"] = "aiii_platform_0000000000000000"


def _other_fingerprint(document: dict[str, Any]) -> None:
    document["signatures"][0]["public_key_fingerprint"] = sha256_text(b"")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_edit_payload, "payload hash"),
        (_edit_payload_and_hash, "signed text"),
        (_edit_payload_and_every_hash, "does not verify"),
        (_no_signature, "exactly"),
        (_twice, "exactly"),
        (_extra, "exactly"),
        (_root_with_one, "exactly"),
        (_other_key_id, "key id"),
        (_other_fingerprint, "fingerprint"),
    ],
)
def test_an_altered_envelope_is_refused(
    change: Callable[[dict[str, Any]], None], words: str
) -> None:
    document = _sealed()
    change(document)
    with pytest.raises(CryptoError, match=words) as caught:
        _verify(document, profiles=frozenset({FAST_PROFILE, ROOT_PROFILE}))
    assert caught.value.code == "ENVELOPE_REFUSED"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"artifact_kind": "ring5.bundle"}, "kind"),
        ({"profiles": frozenset()}, "profile"),
        ({"profiles": frozenset({ROOT_PROFILE})}, "profile"),
        ({"at": datetime(2025, 1, 1, tzinfo=UTC)}, "valid at"),
        ({"at": datetime(2200, 1, 1, tzinfo=UTC)}, "valid at"),
        ({"key": ELSE}, "key id"),
    ],
)
def test_the_caller_decides_what_is_accepted(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(CryptoError, match=words) as caught:
        _verify(_sealed(), **changes)
    assert caught.value.code == "ENVELOPE_REFUSED"


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (b"[]", "ENVELOPE_INVALID"),
        (b"{}", "ENVELOPE_INVALID"),
        (b'{"a":1,"a":2}', "CANONICAL_INVALID"),
        (b" " * (ENVELOPE_BYTES + 1), "ENVELOPE_INVALID"),
    ],
)
def test_what_is_not_an_envelope_is_refused(document: bytes, code: str) -> None:
    with pytest.raises(CryptoError) as caught:
        read_envelope(document)
    assert caught.value.code == code


def test_another_canonicalization_is_refused() -> None:
    with pytest.raises(CryptoError, match="canonicalization"):
        read_envelope(encode(_sealed() | {"canonicalization": "RFC8785"}))


def test_a_bad_base64_signature_is_refused() -> None:
    document = _sealed()
    document["signatures"][0]["sig_b64"] = "?"
    with pytest.raises(CryptoError) as caught:
        _verify(document)
    assert caught.value.code == "BASE64_INVALID"
