"""Signed documents from strangers: read, or refused with one kind of error; never anything else."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.envelope.profiles import FAST_PROFILE, ROOT_PROFILE
from agentic_os.crypto.envelope.public_keys import make_named_envelope, read_public_key_envelope
from agentic_os.crypto.envelope.signed import read_envelope, seal, verify_envelope
from agentic_os.crypto.keys.transition import verify_transition_line
from agentic_os.errors import CryptoError, LedgerError, VerificationError
from agentic_os.ledger.file.head import read_head
from agentic_os.ledger.gold import GoldChain
from agentic_os.ledger.line.vocabulary import ENTRY_TYPES
from agentic_os.ledger.projection.snapshot import read_seal
from support.ledger.builder import BORN, KEYS, Builder

PLATFORM = KEYS["platform"]
PUBLISHED = make_named_envelope(PLATFORM.public, key_type="ring0", created_at=BORN)
SEALED = seal(
    "ring0.bundle", {"laws": "x", "n": [1, {"a": None}]}, key=PLATFORM, envelope=PUBLISHED
)
LINE = Builder().genesis().experience(1).lines[1]
VECTOR = Path(__file__).parents[2] / "unit/crypto/envelope/test_root_profile_vector.json"

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(sorted({*SEALED.to_json(), *json.loads(PUBLISHED.document)}))


def _quietly(read: Any, data: bytes) -> None:
    with suppress(CryptoError, VerificationError):
        read(data)


def _open(data: bytes) -> object:
    return verify_envelope(
        read_envelope(data),
        artifact_kind="ring0.bundle",
        profiles=frozenset({FAST_PROFILE, ROOT_PROFILE}),
        key=PUBLISHED,
        at=datetime(2026, 6, 1, tzinfo=UTC),
    )


READERS = [
    read_envelope,
    _open,
    read_public_key_envelope,
    lambda data: verify_transition_line(data, role="identity", old=KEYS["identity"].public),
    lambda data: read_head(data, []),
    read_seal,
    lambda data: GoldChain().admit(data),
]


@given(st.sampled_from(READERS), st.binary(max_size=400))
def test_arbitrary_bytes(read: Any, data: bytes) -> None:
    _quietly(read, data)


@given(st.sampled_from(READERS), VALUES)
def test_arbitrary_json(read: Any, value: Any) -> None:
    _quietly(read, json.dumps(value, allow_nan=True).encode())


@given(st.sampled_from([SEALED.to_json(), decode(PUBLISHED.document)]), NAMES, VALUES)
@settings(max_examples=200)
def test_real_documents_with_one_member_replaced(document: Any, name: str, value: Any) -> None:
    changed = json.loads(encode(document)) | {name: value}
    for read in READERS[:3]:
        _quietly(read, json.dumps(changed).encode())


@given(st.integers(0, 10**6), st.integers(1, 255))
@settings(max_examples=200)
def test_no_changed_byte_of_a_sealed_envelope_opens(at: int, change: int) -> None:
    data = bytearray(encode(SEALED.to_json()))
    data[at % len(data)] ^= change
    try:
        payload = _open(bytes(data))
    except CryptoError:
        return
    # A member that nothing knows, or an order that nothing signs: the payload is the signed one.
    assert payload == SEALED.payload


@given(st.sampled_from(sorted(ENTRY_TYPES)), VALUES)
def test_any_payload_is_read_or_refused(name: str, value: Any) -> None:
    with suppress(LedgerError):
        ENTRY_TYPES[name].read(json.dumps(value, allow_nan=True).encode())


@given(st.integers(0, len(LINE) - 1), st.integers(1, 255))
def test_a_foreign_line_with_a_changed_byte_is_refused_quietly(at: int, change: int) -> None:
    data = bytearray(LINE)
    data[at] ^= change
    _quietly(lambda line: GoldChain().admit(line), bytes(data))


def test_the_two_algorithm_vector_is_read_whole() -> None:
    document = json.loads(VECTOR.read_bytes())
    assert read_envelope(encode(document["envelope"])).signature_profile == ROOT_PROFILE
