"""Public key envelopes: the published vectors, and every rule failing once."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import decode_base64
from agentic_os.crypto.envelope.profiles import FAST_PROFILE, ROOT_PROFILE, SLH_DSA_256S
from agentic_os.crypto.envelope.public_keys import (
    ENVELOPE_BYTES,
    identity_id,
    key_fingerprint,
    make_identity_envelope,
    make_named_envelope,
    make_public_key_envelope,
    parse_time,
    read_public_key_envelope,
)
from agentic_os.crypto.keys.pairs import ML_DSA_87, SigningKey
from agentic_os.errors import CryptoError

KEY = SigningKey(ML_DSA_87, bytes(range(32)))
BORN = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_identity_envelope_is_the_published_one() -> None:
    envelope = make_identity_envelope(KEY.public, created_at=BORN)
    assert envelope.key_id == "aiii_identity_91dc389cfaa01470"
    assert envelope.part(ML_DSA_87).public_key_fingerprint == (
        "sha256:34fd853c0fa448d493368bc3bec4b9a7ec8076467ac738efe0930a53a104b137"
    )
    assert envelope.sha256 == (
        "sha256:7c45d7678bfa4535c79e3cc9fbb5b01773864b426ab8d352507dde5ca4eebcfe"
    )
    assert identity_id(envelope) == (
        "did:aiii:identity:sha256:1faccb611bc7c814cc295aceeff0743b06ec27a876694c3f10729acddecdee4b"
    )
    assert envelope.profile == ROOT_PROFILE
    assert read_public_key_envelope(envelope.document) == envelope


def test_a_real_root_key_has_its_published_fingerprint() -> None:
    raw = decode_base64(
        "7mZQjsm6ia3DLLiUku4gWft9lUdm6Nri0r/MYgIcccBlDqNeOHcYv/4PvG+T7t+dS0QhbbmXW4p6ipc/5i+0Eg=="
    )
    assert key_fingerprint(SLH_DSA_256S, "aiii_ring0_20260602_k14", raw) == (
        "sha256:e7a7400f62313058f83bc21ac9a013adb9214752df8207b2fd01c1f369d60092"
    )


def test_a_window_covers_its_start_and_not_its_end() -> None:
    envelope = make_public_key_envelope(
        key_id="k",
        key_type="witness",
        profile=FAST_PROFILE,
        keys=[(ML_DSA_87, KEY.public.raw)],
        created_at=BORN,
        valid_days=1,
        not_before=BORN,
    )
    assert envelope.is_valid_at(BORN)
    assert not envelope.is_valid_at(datetime(2026, 1, 2, tzinfo=UTC))
    assert not envelope.is_valid_at(datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC))


def test_unknown_members_count_in_the_document() -> None:
    envelope = make_named_envelope(KEY.public, key_type="operator", created_at=BORN)
    document = json.loads(envelope.document) | {"note": "kept"}
    again = read_public_key_envelope(document)
    assert b'"note":"kept"' in again.document
    assert again.sha256 != envelope.sha256


def test_a_missing_algorithm_is_said() -> None:
    envelope = make_identity_envelope(KEY.public, created_at=BORN)
    with pytest.raises(CryptoError) as caught:
        envelope.part(SLH_DSA_256S)
    assert caught.value.code == "KEY_MISSING"


def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        make_named_envelope(KEY.public, key_type="operator", created_at=BORN).document
    )
    return document


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("v", 2),
        ("kind", "another"),
        ("key_id", ""),
        ("key_id", "two\nlines"),
        ("key_type", "operator\n"),
        ("profile", "AIII-PQ-SIGNATURE-V1-NONE"),
        ("created_at", "yesterday"),
        ("not_before", "2026-01-01T00:00:00"),
        ("expires_at", "2000-01-01T00:00:00Z"),
        ("keys", []),
        ("keys", "none"),
    ],
)
def test_a_malformed_envelope_is_refused(member: str, value: object) -> None:
    with pytest.raises(CryptoError) as caught:
        read_public_key_envelope(_document() | {member: value})
    assert caught.value.code in {"KEY_ENVELOPE_INVALID", "PROFILE_UNKNOWN"}


def test_a_doubled_or_foreign_key_or_fingerprint_is_refused() -> None:
    part = _document()["keys"][0]
    for keys in (
        [part, part],
        [part, part | {"alg": SLH_DSA_256S}],
        [part | {"public_key_fingerprint": "sha256:" + "0" * 64}],
        [part | {"alg": "RSA"}],
        [part] * 9,
    ):
        with pytest.raises(CryptoError) as caught:
            read_public_key_envelope(_document() | {"keys": keys})
        assert caught.value.code == "KEY_ENVELOPE_INVALID"


def test_a_member_missing_or_too_large_is_refused() -> None:
    document = _document()
    del document["profile"]
    with pytest.raises(CryptoError):
        read_public_key_envelope(encode(document))
    with pytest.raises(CryptoError, match="larger"):
        read_public_key_envelope(b" " * (ENVELOPE_BYTES + 1))


def test_times_come_back_in_utc() -> None:
    assert parse_time("2026-01-01T01:00:00+01:00") == BORN
