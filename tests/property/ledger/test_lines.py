"""The reader of lines made for speed accepts exactly what the generic reader accepts."""

import re
from datetime import date
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.crypto.canonical.json import are_canonical, canonicalize_strict, is_canonical
from agentic_os.errors import CryptoError, VerificationError
from agentic_os.ledger.line.entry import LINE_BYTES
from agentic_os.ledger.line.frame import read_line
from agentic_os.ledger.rule.chain import Chain
from support.ledger.builder import Builder

LINES = Builder().genesis().experience(1, content='é \\ \U0001f600 ,"ring":3').lines
HEX = re.compile(r"sha256:[0-9a-f]{64}")


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    layer: str
    payload: dict[str, Any]
    ring: int
    salt: str
    seq: int
    ts: str
    type: str


class _Signature(msgspec.Struct, forbid_unknown_fields=True):
    alg: str
    key_id: str
    role: str
    sig_b64: str


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    entry: _Entry
    hash: str
    prev_hash: str
    sig: _Signature


def generic(line: bytes) -> bool:
    """The format's words, one by one, over a generic JSON reader."""
    try:
        if canonicalize_strict(line) != line or len(line) >= LINE_BYTES:
            return False
        read = msgspec.json.decode(line, type=_Line)
    except (CryptoError, msgspec.MsgspecError):
        return False
    entry, signature = read.entry, read.sig
    stamp = re.fullmatch(
        r"(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{9}Z", entry.ts, re.ASCII
    )
    try:
        date.fromisoformat(stamp[1] if stamp else "")
    except ValueError:
        return False
    return bool(
        entry.layer in {"identity", "anchor"}
        and 0 <= entry.ring <= 5
        and re.fullmatch(r"[0-9a-f]{32}", entry.salt)
        and 1 <= entry.seq < 10**18
        and re.fullmatch(r"[a-z0-9_]+\.[a-z0-9_]+", entry.type)
        and HEX.fullmatch(read.hash)
        and HEX.fullmatch(read.prev_hash)
        and HEX.fullmatch(signature.key_id)
        and signature.alg == "ML-DSA-87"
        and re.fullmatch(r"[a-z]+", signature.role)
        and signature.sig_b64.strip("=").isascii()
        and not re.sub(r"[A-Za-z0-9+/]", "", signature.sig_b64).strip("=")
        and signature.sig_b64.count("=") <= 2
    )


def fast(line: bytes) -> bool:
    try:
        read_line(line)
    except VerificationError:
        return False
    return True


def _agree(line: bytes) -> None:
    assert fast(line) == generic(line)


@pytest.mark.parametrize("line", LINES)
def test_real_lines_are_accepted_by_both(line: bytes) -> None:
    assert fast(line)
    assert generic(line)


@given(st.data())
@settings(max_examples=400)
def test_both_agree_after_bytes_changed(data: st.DataObject) -> None:
    line = bytearray(LINES[1])
    before_signature = line.find(b'"sig_b64"')  # most of a line is signature
    for _ in range(data.draw(st.integers(1, 3))):
        end = before_signature if data.draw(st.booleans()) else len(line) - 1
        at = data.draw(st.integers(0, end))
        line[at] = data.draw(st.sampled_from(list(b'"{}[]:,\\0123456789abcxyzZT-.=+ \x00\xff')))
    _agree(bytes(line))


PIECES = [
    b'{"entry":{"layer":"identity","payload":',
    b'{"entry":{"layer":"anchor","payload":',
    b"{}",
    b'{"a":1}',
    b'{"a":1.0}',
    b'{"b":1,"a":1}',
    b"[]",
    b',"ring":3',
    b',"ring":9',
    b',"salt":"' + b"0" * 32 + b'"',
    b',"seq":1',
    b',"seq":01',
    b',"ts":"2026-01-01T00:00:00.000000000Z"',
    b',"ts":"2026-02-29T00:00:00.000000000Z"',
    b',"type":"a.b"}',
    b',"hash":"sha256:' + b"a" * 64 + b'"',
    b',"prev_hash":"sha256:' + b"b" * 64 + b'"',
    b',"prev_hash":"sha256:' + b"B" * 64 + b'"',
    b',"sig":{"alg":"ML-DSA-87","key_id":"sha256:' + b"c" * 64 + b'"',
    b',"role":"identity"',
    b',"sig_b64":"AA=="}}',
    b',"sig_b64":"A\\u0041"}}',
]
RIGHT = [0, 2, 7, 9, 10, 12, 14, 15, 16, 18, 19, 20]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_both_agree_on_pieces_in_any_order(pieces: list[bytes]) -> None:
    _agree(b"".join(pieces))


@given(st.integers(0, len(RIGHT) - 1), st.sampled_from(PIECES))
@settings(max_examples=300)
def test_both_agree_when_one_piece_is_another(place: int, piece: bytes) -> None:
    parts = [PIECES[number] for number in RIGHT]
    assert fast(b"".join(parts))
    parts[place] = piece
    _agree(b"".join(parts))


RUN = Builder().genesis()
for _number in range(12):
    RUN.experience(_number, content=f"é {_number}")
    RUN.add("belief.upsert", {"claim": f"x{_number}", "confidence": 0.5, "evidence_refs": ["a"]})
    RUN.add("working.note", {"id": "n", "content": '\\ " ,"ring":3'})
OTHERS = [
    *Builder().genesis().experience(1).lines,
    *(
        Builder(lines=list(RUN.lines), prev_hash=RUN.prev_hash)
        .add("policy.set", {"key": "k", "value": 1})
        .lines[-1:]
    ),
]


def _singly(lines: list[bytes]) -> Chain | None:
    chain = Chain()
    chain.admit(RUN.lines[0])
    try:
        for line in lines:
            chain.advance(chain.weigh(line))
    except VerificationError:
        return None
    return chain


def _at_once(lines: list[bytes]) -> Chain | None:
    chain = Chain()
    chain.admit(RUN.lines[0])
    before = (chain.size, chain.head_hash, chain.root)
    if chain.sweep(lines):
        return chain
    assert (chain.size, chain.head_hash, chain.root) == before
    return None


def _same(lines: list[bytes]) -> None:
    """A sweep passes a run only if the chain does, and leaves the chain in the same place."""
    at_once, singly = _at_once(lines), _singly(lines)
    if at_once is not None:
        assert singly is not None
        assert (at_once.size, at_once.head_hash, at_once.root) == (
            singly.size,
            singly.head_hash,
            singly.root,
        )


def test_a_plain_run_is_swept() -> None:
    for length in (1, 2, len(RUN.lines) - 1):
        lines = RUN.lines[1 : 1 + length]
        assert _at_once(lines) is not None
        _same(lines)
    assert _at_once([]) is None


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_sweep_never_passes_what_the_chain_refuses(data: st.DataObject) -> None:
    lines = RUN.lines[1 : data.draw(st.integers(2, len(RUN.lines)))]
    at = data.draw(st.integers(0, len(lines) - 1))
    match data.draw(st.sampled_from(["byte", "byte", "byte", "drop", "swap", "other", "piece"])):
        case "byte":
            line = bytearray(lines[at])
            end = line.find(b'"sig_b64"') if data.draw(st.booleans()) else len(line) - 1
            place = data.draw(st.integers(0, end))
            line[place] = data.draw(st.sampled_from(list(b'"{}[]:,\\09azA-.=+ \x00\xff\n')))
            lines[at] = bytes(line)
        case "drop":
            del lines[at]
        case "swap":
            lines[at], lines[0] = lines[0], lines[at]
        case "other":
            lines[at] = data.draw(st.sampled_from(OTHERS))
        case _:
            old, new = data.draw(st.sampled_from(SMUGGLED))
            lines[at] = lines[at].replace(old, new, 1)
    _same(lines)


SMUGGLED = [
    (b'"id":', b'"id" :'),
    (b'},"ring"', b'}{},"ring"'),
    (b'},"ring"', b'},{},"ring"'),
    (b'},"ring"', b'}\n{},"ring"'),
    (b'},"ring"', b',"x":1},"ring"'),
    (b'"content":', b'"content":"\\u0000","content":'),
    (b'"ring":3', b'"ring":2'),
    (b'"ring":3', b'"ring":4'),
    (b'"layer":"identity"', b'"layer":"anchor"'),
    (b"==", b"=A"),
]


TEXTS = [
    b"{}",
    b'{"a":1}',
    b'{"a":1.0}',
    b'{"a":',
    b"1}",
    b"{},{}",
    b"",
    b"\n",
    b"[]",
    b" {}",
    b'{"b":1,"a":2}',
    b'"\\u0000"',
    b"[" * 70 + b"]" * 70,
    b'"[[["',
    b"1e5",
    b"0.5",
]


@given(st.lists(st.sampled_from(TEXTS), max_size=6))
@settings(max_examples=400)
def test_texts_are_canonical_together_exactly_when_each_is(texts: list[bytes]) -> None:
    assert are_canonical(texts) == all(is_canonical(text) for text in texts)


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_refused_quietly(data: bytes) -> None:
    _agree(data)
