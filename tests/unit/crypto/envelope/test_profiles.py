"""The ROOT profile: both algorithms must verify; either one broken refuses.

``test_root_profile_vector.json`` holds an envelope signed by ML-DSA-87 (cryptography) and
SLH-DSA-SHA2-256s (SLH-DSA): signing takes seconds in pure Python, verifying does not.
"""

import json
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import decode_base64, encode_base64, sha256_text
from agentic_os.crypto.envelope.profiles import (
    FAST_PROFILE,
    ROOT_PROFILE,
    SLH_DSA_256S,
    profile_algorithms,
    verify_profile_signature,
)
from agentic_os.crypto.envelope.public_keys import read_public_key_envelope
from agentic_os.crypto.envelope.signed import envelope_text, read_envelope, verify_envelope
from agentic_os.crypto.keys.pairs import ML_DSA_87
from agentic_os.errors import CryptoError

VECTOR = json.loads((Path(__file__).parent / "test_root_profile_vector.json").read_bytes())
KEY = read_public_key_envelope(VECTOR["key"])


def _verify(document: dict[str, Any]) -> object:
    return verify_envelope(
        read_envelope(encode(document)),
        artifact_kind="ring0.bundle",
        profiles=frozenset({ROOT_PROFILE}),
        key=KEY,
        at=datetime(2026, 6, 1, tzinfo=UTC),
    )


def test_both_signatures_verify() -> None:
    payload = _verify(VECTOR["envelope"])
    assert isinstance(payload, dict)
    assert payload["kind"] == "ring0.bundle"


@pytest.mark.parametrize("place", [0, 1])
def test_either_signature_broken_refuses(place: int) -> None:
    document = deepcopy(VECTOR["envelope"])
    signature = bytearray(decode_base64(document["signatures"][place]["sig_b64"]))
    signature[100] ^= 1
    document["signatures"][place]["sig_b64"] = encode_base64(bytes(signature))
    with pytest.raises(CryptoError, match="does not verify"):
        _verify(document)


@pytest.mark.parametrize("place", [0, 1])
def test_either_signature_missing_refuses(place: int) -> None:
    document = deepcopy(VECTOR["envelope"])
    del document["signatures"][place]
    with pytest.raises(CryptoError, match="exactly"):
        _verify(document)


def test_profiles_name_their_exact_algorithms() -> None:
    assert profile_algorithms(ROOT_PROFILE) == {ML_DSA_87, SLH_DSA_256S}
    assert profile_algorithms(FAST_PROFILE) == {ML_DSA_87}
    with pytest.raises(CryptoError) as caught:
        profile_algorithms("")
    assert caught.value.code == "PROFILE_UNKNOWN"


@pytest.mark.parametrize("algorithm", [ML_DSA_87, SLH_DSA_256S])
def test_wrong_lengths_do_not_verify(algorithm: str) -> None:
    raw = KEY.part(algorithm).raw
    assert not verify_profile_signature(algorithm, raw[:-1], b"", b"text")
    assert not verify_profile_signature(algorithm, raw, b"", b"text")
    assert not verify_profile_signature(algorithm, raw, b"\x00" * 29_792, b"text")


def test_an_unknown_algorithm_is_an_error_not_a_no() -> None:
    with pytest.raises(CryptoError) as caught:
        verify_profile_signature("RSA", b"", b"", b"")
    assert caught.value.code == "ALGORITHM_UNKNOWN"


@pytest.mark.parametrize(
    ("algorithm", "fingerprint", "text_sha256"),
    [
        (
            ML_DSA_87,
            "sha256:33b6d0adf5c4f68a1991499111db5380b99fa9038fc658337dd5d45e87850e93",
            "sha256:ded9c653f42f31d21beb9875533634872dca6e90b0612a174a32af8f42297527",
        ),
        (
            SLH_DSA_256S,
            "sha256:e7a7400f62313058f83bc21ac9a013adb9214752df8207b2fd01c1f369d60092",
            "sha256:db35b9d1f978714c326b90e0031877093cfa1384c4f43fb0e313a3abaad67c76",
        ),
    ],
)
def test_what_the_real_root_signed_is_reproduced(
    algorithm: str, fingerprint: str, text_sha256: str
) -> None:
    """AIII's published ring-0 bundle: the bytes under both its signatures, by their hashes."""
    text = envelope_text(
        artifact_kind="ring0.bundle",
        signature_profile=ROOT_PROFILE,
        alg=algorithm,
        key_id="aiii_ring0_20260602_k14",
        public_key_fingerprint=fingerprint,
        payload_sha256="sha256:79c634328039394efe1b64c2914bdecebe2481be436e311f0719b5c572db6913",
    )
    assert sha256_text(text) == text_sha256
