"""The strict reader of one line: every way not to be a line."""

import pytest

from agentic_os.errors import VerificationError
from agentic_os.ledger.line.entry import LINE_BYTES, draft, timestamp
from agentic_os.ledger.line.frame import read_line, split_line
from support.ledger.builder import Builder

LINE = Builder().genesis().experience(1, content='é \\ "ring":3,').lines[1]


def test_a_line_comes_apart_and_its_parts_are_the_bytes() -> None:
    line = read_line(LINE)
    assert (line.seq, line.type, line.layer, line.ring) == (2, "experience.create", "identity", 3)
    assert (line.role, line.ts) == ("identity", "2026-01-01T00:00:01.000000000Z")
    assert line.payload == b'{"content":"\xc3\xa9 \\\\ \\"ring\\":3,","id":"exp_1"}'
    assert line.raw == LINE
    frame = split_line(LINE)
    assert LINE.startswith(frame.head)
    assert frame.head.endswith(b'"type":"experience.create"}')


def _swap(old: bytes, new: bytes) -> bytes:
    assert LINE.count(old) >= 1
    return LINE.replace(old, new, 1)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        LINE + b" ",
        b" " + LINE,
        LINE[:-1],
        LINE + b"\n",
        _swap(b'"layer":"identity"', b'"layer":"other"'),
        _swap(b'"ring":3,"salt"', b'"ring":6,"salt"'),
        _swap(b'"ring":3,"salt"', b'"ring":3.0,"salt"'),
        _swap(b'"ring":3,"salt"', b'"ring": 3,"salt"'),
        _swap(b'"seq":2', b'"seq":02'),
        _swap(b'"seq":2', b'"seq":0'),
        _swap(b'"seq":2', b'"seq":-2'),
        _swap(b'"seq":2', b'"seq":2000000000000000000'),
        _swap(b'"seq":2,', b'"seq":2,"seq":2,'),
        _swap(b'"ts":"2026-01-01', b'"ts":"2026-02-30'),
        _swap(b'"ts":"2026-01-01', b'"ts":"2026-13-01'),
        _swap(b'"ts":"2026', b'"ts":"0000'),
        _swap(b"T00:00:01.", b"T24:00:01."),
        _swap(b"T00:00:01.", b"T00:60:01."),
        _swap(b".000000000Z", b".000000Z"),
        _swap(b".000000000Z", b".000000000+00:00"),
        _swap(b'"type":"experience.create"', b'"type":"Experience.create"'),
        _swap(b'"type":"experience.create"', b'"type":"experience"'),
        _swap(b'"hash":"sha256:', b'"hash":"sha512:'),
        _swap(b'"alg":"ML-DSA-87"', b'"alg":"ML-DSA-65"'),
        _swap(b',"hash":', b',"extra":1,"hash":'),
        _swap(b'"id":"exp_1"}', b'"id":"exp_1"} '),
        _swap(b'{"content"', b'{ "content"'),
        _swap(b'"id":"exp_1"', b'"id":"exp_1","id":"exp_1"'),
        _swap(b'"id":"exp_1"', b'"id":1e5'),
        _swap(b'"payload":{', b'"payload":[{'),
        LINE.replace(b"==", b"=?"),
        LINE.replace(b"\xc3\xa9", b"\xff"),
    ],
)
def test_what_is_not_exactly_a_line_is_refused(line: bytes) -> None:
    with pytest.raises(VerificationError) as caught:
        split_line(line)
    assert caught.value.code == "LEDGER_LINE_INVALID"


def test_a_payload_must_be_an_object() -> None:
    for payload in (b"1", b'"x"', b"[]", b"null", b""):
        at, end = LINE.index(b'{"content"'), LINE.rfind(b',"ring":')
        with pytest.raises(VerificationError):
            split_line(LINE[:at] + payload + LINE[end:])


def test_a_line_has_a_length() -> None:
    builder = Builder().genesis()
    builder.experience(1, content="x" * 100)
    short = builder.lines[-1]
    padding = LINE_BYTES - 1 - len(short)
    longest = short.replace(b"x" * 100, b"x" * (100 + padding))
    assert len(longest) + 1 == LINE_BYTES
    split_line(longest)
    with pytest.raises(VerificationError, match="longer"):
        split_line(longest.replace(b"xx", b"xxx", 1))


def test_names_are_checked_only_when_a_line_stands_alone() -> None:
    changed = LINE.replace(b'"hash":"sha256:', b'"hash":"sha256:Z')
    at = changed.index(b'"hash":"sha256:Z') + 16
    changed = changed[:at] + changed[at + 1 :]
    split_line(changed)
    with pytest.raises(VerificationError, match="sha256 name"):
        read_line(changed)


def test_times_have_nine_digits() -> None:
    assert timestamp(1_767_225_600_000_000_001) == "2026-01-01T00:00:00.000000001Z"
    assert len(timestamp()) == 30


def test_many_dates_are_remembered_in_bounded_memory() -> None:
    from agentic_os.ledger.line import frame

    for year in range(1, 400):
        for month in range(1, 13):
            frame.require_date(b"%04d-%02d-01" % (year, month))
    assert len(frame._known_dates) <= frame._DATES_KEPT


def test_a_draft_is_canonical() -> None:
    assert draft("working.note", {"id": "n", "content": "x"}).payload == (
        b'{"content":"x","id":"n"}'
    )
