"""Signed documents from strangers: read, or refused with one kind of error; never anything else."""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.texts import decode_base64
from agentic_os.crypto.envelope.profiles import FAST_PROFILE, ROOT_PROFILE
from agentic_os.crypto.envelope.public_keys import (
    make_named_envelope,
    parse_time,
    read_public_key_envelope,
)
from agentic_os.crypto.envelope.signed import read_envelope, seal, verify_envelope
from agentic_os.crypto.keys.files import decode_key
from agentic_os.crypto.keys.transition import verify_transition_line
from agentic_os.crypto.tlog.checkpoint import parse_checkpoint, parse_signed_checkpoint
from agentic_os.crypto.tlog.checkpoint_proof import parse_tlog_proof
from agentic_os.crypto.tlog.note import parse_note, parse_signatures
from agentic_os.crypto.tlog.note_keys import parse_vkey
from agentic_os.errors import CryptoError, LedgerError, VerificationError
from agentic_os.ledger.file.head import read_head
from agentic_os.ledger.file.verify import verify_storage
from agentic_os.ledger.gold import GoldChain
from agentic_os.ledger.line.frame import read_line
from agentic_os.ledger.line.vocabulary import ENTRY_TYPES
from agentic_os.ledger.projection.database import SqliteDatabase
from agentic_os.ledger.projection.snapshot import read_seal
from agentic_os.ledger.projection.tables import Projection
from agentic_os.ledger.rule.genesis import self_made_bundle
from support.ledger.builder import BORN, KEYS, Builder, MemoryStorage

PLATFORM = KEYS["platform"]
PUBLISHED = make_named_envelope(PLATFORM.public, key_type="ring0", created_at=BORN)
SEALED = seal(
    "ring0.bundle", {"laws": "x", "n": [1, {"a": None}]}, key=PLATFORM, envelope=PUBLISHED
)
LINE = Builder().genesis().experience(1).lines[1]
VECTOR = Path(__file__).parents[2] / "unit/crypto/envelope/test_root_profile_vector.json"

TIMES = st.builds(
    "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}".format,
    st.sampled_from([0, 1, 2, 1970, 2026, 9998, 9999]),
    st.sampled_from([1, 12, 13]),
    st.sampled_from([1, 28, 31]),
    st.sampled_from([0, 23, 24]),
    st.sampled_from([0, 59]),
    st.sampled_from([0, 59, 60]),
    st.sampled_from(["Z", "", "+23:59", "-23:59", "+24:00", ".999999999Z", ".000000000Z"]),
)
TEXT = TIMES | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
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
    lambda data: Builder().genesis().chain().admit(data),
    read_line,
    parse_note,
    parse_signed_checkpoint,
    parse_tlog_proof,
    decode_key,
    lambda data: parse_vkey(data.decode("latin-1")),
    lambda data: parse_signatures(data.decode("latin-1")),
    lambda data: parse_checkpoint(data.decode("latin-1")),
    lambda data: parse_time(data.decode("latin-1")),
    lambda data: decode_base64(data.decode("latin-1")),
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


@given(TIMES)
@settings(max_examples=300)
def test_every_time_is_a_moment_or_refused(text: str) -> None:
    _quietly(lambda data: parse_time(data.decode()), text.encode())


@given(st.sampled_from(["created_at", "not_before", "expires_at"]), TIMES)
def test_a_genesis_whose_root_has_any_time_is_judged(name: str, text: str) -> None:
    """Such a time once ended verification, boot and doctor with a traceback."""
    envelope, published = self_made_bundle(laws="x", purpose="x", platform=PLATFORM, at=BORN)
    document = encode(decode(published.document) | {name: text})  # type: ignore[operator]  # an object
    builder = Builder().genesis(envelope=envelope, ring0_key=replace(published, document=document))
    found, _ = verify_storage(MemoryStorage(builder.data))
    assert {one.code for one in found.findings} <= {"LEDGER_GENESIS_INVALID"}


@given(TEXT | st.integers().map(str) | st.just("9" * 5_000))
def test_any_cursor_of_the_tables_is_read(text: str) -> None:
    projection = Projection(SqliteDatabase(None))
    rows = [("seq", text), ("hash", "x")]
    projection.db.execute_many("INSERT INTO meta (name, value) VALUES (?, ?)", rows)
    assert projection.cursor.seq >= 0
    projection.close()


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
