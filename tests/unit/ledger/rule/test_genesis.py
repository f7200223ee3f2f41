"""The genesis: three keys that were held, one origin, a constitution under a root."""

import json
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.envelope.public_keys import make_named_envelope, read_public_key_envelope
from agentic_os.crypto.envelope.signed import read_envelope, seal
from agentic_os.errors import VerificationError
from agentic_os.ledger.line.entry import draft
from agentic_os.ledger.line.frame import split_line
from agentic_os.ledger.rule.genesis import moment_of
from support.ledger.builder import BORN, KEYS, Builder, key

ROOT_VECTOR = json.loads(
    (Path(__file__).parents[2] / "crypto/envelope/test_root_profile_vector.json").read_bytes()
)


def _payload() -> dict[str, Any]:
    payload = decode(split_line(Builder().genesis().lines[0]).payload)
    assert isinstance(payload, dict)
    return payload


def _refused(payload: dict[str, Any], words: str) -> None:
    with pytest.raises(VerificationError, match=words) as caught:
        Builder().put(draft("ring0.genesis", payload), role="platform").chain()
    assert caught.value.code == "LEDGER_GENESIS_INVALID"


def test_a_self_made_root_is_said_to_be_one(build: Builder) -> None:
    genesis = build.chain().genesis
    assert genesis is not None
    assert (genesis.self_made, genesis.laws) == (True, "# Laws")


def test_a_real_two_algorithm_root_is_accepted_and_named() -> None:
    builder = Builder().genesis(
        envelope=read_envelope(encode(ROOT_VECTOR["envelope"])),
        ring0_key=read_public_key_envelope(encode(ROOT_VECTOR["key"])),
    )
    genesis = builder.chain().genesis
    assert genesis is not None
    assert not genesis.self_made
    assert genesis.ring0_key.key_id == "aiii_ring0_test_k1"
    assert "Tell the truth" in genesis.laws


def test_a_foreign_root_must_use_both_algorithms() -> None:
    published = make_named_envelope(key(9).public, key_type="ring0", created_at=BORN)
    envelope = seal("ring0.bundle", _bundle(), key=key(9), envelope=published)
    with pytest.raises(VerificationError, match="ROOT profile"):
        Builder().genesis(envelope=envelope, ring0_key=published).chain()


def test_a_two_algorithm_root_with_one_broken_signature_is_refused() -> None:
    broken = deepcopy(ROOT_VECTOR["envelope"])
    text = broken["signatures"][1]["sig_b64"]
    broken["signatures"][1]["sig_b64"] = ("B" if text[0] != "B" else "C") + text[1:]
    with pytest.raises(VerificationError, match="does not verify"):
        Builder().genesis(
            envelope=read_envelope(encode(broken)),
            ring0_key=read_public_key_envelope(encode(ROOT_VECTOR["key"])),
        ).chain()


def _bundle(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "ring0.bundle",
        "laws": "x",
        "ordinal": 1,
        "purpose": "y",
        "ring0_version": "1",
        "timestamp": 1,
    } | changes


@pytest.mark.parametrize(
    "changes",
    [
        {"laws": ""},
        {"purpose": ""},
        {"ordinal": 0},
        {"timestamp": 0},
        {"ring0_version": 0},
        {"kind": ""},
    ],
)
def test_an_empty_constitution_is_refused(changes: dict[str, Any]) -> None:
    platform = KEYS["platform"]
    published = make_named_envelope(platform.public, key_type="ring0", created_at=BORN)
    envelope = seal("ring0.bundle", _bundle(**changes), key=platform, envelope=published)
    with pytest.raises(VerificationError) as caught:
        Builder().genesis(envelope=envelope, ring0_key=published).chain()
    assert caught.value.code == "LEDGER_GENESIS_INVALID"


def test_nobody_is_made_part_of_a_ledger_without_the_key() -> None:
    other = _payload()
    stolen = _payload()
    for role in ("operator", "identity"):
        payload = dict(other)
        payload[f"{role}_sig_b64"] = stolen[
            f"{'identity' if role == 'operator' else 'operator'}_sig_b64"
        ]
        _refused(payload, f"{role}'s signature")


def test_the_origin_names_the_identity_key() -> None:
    _refused(_payload() | {"origin": "example.org/ledger/0123456789abcdef"}, "origin")


def test_roles_do_not_share_a_key() -> None:
    payload = _payload()
    payload["operator_public_key_b64"] = payload["identity_public_key_b64"]
    _refused(payload, "share a key")


def test_bytes_that_are_no_key_are_refused() -> None:
    _refused(_payload() | {"platform_public_key_b64": "?" * 3456}, "base64")


def test_moments_are_utc() -> None:
    assert moment_of("2026-01-01T00:00:00.123456789Z") == datetime(
        2026, 1, 1, 0, 0, 0, 123456, tzinfo=UTC
    )
