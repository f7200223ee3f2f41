"""No request makes the witness fail: whatever is changed in one, the answer has a code.

A signed request is taken apart member by member; one leaf is replaced by anything that JSON can
hold, or by what has broken readers before: line ends, times at the ends of the calendar, huge
numbers. Times in envelopes and ledgers, receipts and policies go the same way.
"""

import asyncio
import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentic_os.crypto.envelope.public_keys import (
    make_identity_envelope,
    parse_time,
    read_public_key_envelope,
)
from agentic_os.crypto.envelope.signed import read_envelope
from agentic_os.crypto.tlog.checkpoint import parse_signed_checkpoint
from agentic_os.crypto.tlog.checkpoint_proof import parse_tlog_proof
from agentic_os.crypto.tlog.note import parse_signatures
from agentic_os.crypto.tlog.note_keys import parse_vkey
from agentic_os.errors import AgenticOSError
from agentic_os.witness.client.policy import parse_policy
from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.json import read_receipt, write_request
from agentic_os.witness.protocol.refusal import Refusal
from agentic_os.witness.service.config import WitnessConfig
from agentic_os.witness.service.desk import WitnessDesk
from agentic_os.witness.service.server import open_desk
from support.witness.actors import BORN, Owner, new_witness

OWNER = Owner(seed=1).add(5).rotated().add(2)
REQUEST = build_bookmark(OWNER.ledger(), ordinal=len(OWNER.lines), old_size=0, binds=True)
TREE: dict[str, Any] = json.loads(write_request(REQUEST))
BROKE_READERS: st.SearchStrategy[object] = st.sampled_from(
    [
        "did:aiii:identity:sha256:" + "0" * 63 + "\n",
        "a\rb",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "9999-12-31T23:59:60Z",
        "\x00",
        "\ud800",
        2**64,
        -(2**70),
        True,
        None,
        [],
        {},
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def places(tree: object, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield above
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield from places(value, (*above, name))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from places(value, (*above, index))


def changed(tree: Any, place: tuple[str | int, ...], value: object) -> Any:
    if not place:
        return value
    copy = tree.copy()
    copy[place[0]] = changed(tree[place[0]], place[1:], value)
    return copy


@pytest.fixture(scope="module")
def desk() -> Iterator[WitnessDesk]:
    with tempfile.TemporaryDirectory() as place:
        opened = open_desk(
            WitnessConfig(folder=new_witness(Path(place) / "w"), requests_per_minute=0)
        )
        yield opened
        opened.store.close()


@given(place=st.sampled_from(list(places(TREE))), value=BROKE_READERS | ANYTHING)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_changed_bookmark_is_answered(
    desk: WitnessDesk, place: tuple[str | int, ...], value: object
) -> None:
    body = json.dumps(changed(TREE, place, value)).encode()
    reply = asyncio.run(desk.bookmark(body))
    assert not isinstance(reply.result, Refusal) or reply.result.status < 500


@given(data=st.binary(max_size=300) | st.text().map(lambda text: text.encode("utf-8", "replace")))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_answered(desk: WitnessDesk, data: bytes) -> None:
    for ask in (desk.bookmark, desk.add_checkpoint):
        result = asyncio.run(ask(data)).result
        assert isinstance(result, Refusal)
        assert 400 <= result.status < 500


ENVELOPE: dict[str, Any] = json.loads(
    make_identity_envelope(OWNER.identity_key.public, created_at=BORN).document
)


@given(place=st.sampled_from(list(places(ENVELOPE))), value=BROKE_READERS | ANYTHING)
@settings(max_examples=300, deadline=None)
def test_a_changed_envelope_is_refused_with_a_code(
    place: tuple[str | int, ...], value: object
) -> None:
    data = json.dumps(changed(ENVELOPE, place, value)).encode()
    with suppress(AgenticOSError):
        read_public_key_envelope(data)


@given(text=st.text() | st.datetimes().map(lambda at: f"{at.isoformat()}-23:59"))
@settings(max_examples=300, deadline=None)
def test_a_time_is_read_or_refused_with_a_code(text: str) -> None:
    with suppress(AgenticOSError):
        parse_time(text)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_times_at_the_ends_of_the_calendar_are_refused(text: str) -> None:
    with pytest.raises(AgenticOSError):
        parse_time(text)


PARSERS = (
    parse_policy,
    parse_signed_checkpoint,
    parse_tlog_proof,
    read_envelope,
    read_receipt,
    lambda data: parse_vkey(data.decode("utf-8", "replace")),
    lambda data: parse_signatures(data.decode("utf-8", "replace")),
)
SEEDS = (
    b"witness w1 witness.example/w1+00000000+BAAA https://w1\nquorum w1\n",
    OWNER.ledger().head(3).note.data,
    b"c2sp.org/tlog-proof@v1\nindex 3\n\n" + OWNER.ledger().head(3).note.data,
    write_request(REQUEST),
    OWNER.checkpoint_signer.key.vkey.encode(),
)


@given(
    seed=st.sampled_from(SEEDS),
    at=st.floats(min_value=0, max_value=1),
    cut=st.integers(min_value=0, max_value=40),
    put=st.binary(max_size=40) | st.text(max_size=10).map(str.encode),
)
@settings(max_examples=400, deadline=None)
def test_every_parser_refuses_with_a_code(seed: bytes, at: float, cut: int, put: bytes) -> None:
    start = int(at * len(seed))
    data = seed[:start] + put + seed[start + cut :]
    for parse in PARSERS:
        with suppress(AgenticOSError):
            parse(data)
