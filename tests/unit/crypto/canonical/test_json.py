"""AIII-CANONICAL-JSON-V1: every vector of the format, accepted and rejected."""

import hashlib
import json

import pytest

from agentic_os.crypto.canonical.json import (
    are_canonical,
    canonicalize,
    canonicalize_strict,
    encode,
    is_canonical,
)
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.values import INTEGER_DIGITS_CHARS, NESTING_LEVELS, Number
from agentic_os.errors import CryptoError

ACCEPTED = [
    (
        r'{"b":1,"a":2}',
        '{"a":2,"b":1}',
        "d3626ac30a87e6f7a6428233b3c68299976865fa5508e4267c5415c76af7a772",
    ),
    (
        r'{ "a" : 1 }',
        '{"a":1}',
        "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862",
    ),
    (
        '{"u":"<>&"}',
        '{"u":"<>&"}',
        "eb376e1cb69d5bda1a648e08c343a241c5822e3c2d76399a71f1e087d7a28bdf",
    ),
    (
        '{"n":-0.25}',
        '{"n":-0.25}',
        "47087bb9788a3ae0c70b62e870b09896ef980b7b724206f16dcc528359df3ae9",
    ),
    (
        '{"n":9007199254740993}',
        '{"n":9007199254740993}',
        "4ac8309cc76123ef6c5325ef925fc873e9b5856ec4f844ef1462f9303960378a",
    ),
    (
        '{"z":{"y":[3,1,{"k":"v"}],"x":true}}',
        '{"z":{"x":true,"y":[3,1,{"k":"v"}]}}',
        "4a59a273e38b4ebcb69ed431cd2e99c1b1d22eaaa56c4cf20200d9791b909bac",
    ),
    (
        r'{"\ue000":1,"\ud83d\ude00":2}',
        '{"\ue000":1,"\U0001f600":2}',
        "871954531859c7572c6279f90eb83a594ddc3a289e8bdc28d2a84ffb8c1a1703",
    ),
    (
        r'{"c":"\u0007\u001f\u007f\/\u2028"}',
        '{"c":"\\u0007\\u001f\x7f/\u2028"}',
        "a816ac9c0489cfb5cbf8a4ee4b886e1ff8fdeafeb0b3e3d4b97cced1f314ecc4",
    ),
    ("{}", "{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    (
        '{"claim":"The operator prefers direct communication.","confidence":0.87}',
        '{"claim":"The operator prefers direct communication.","confidence":0.87}',
        "370c0b628ae3d2ddbc756031593534a64d37b85ddd5be83699b49d0a991d249b",
    ),
]

REJECTED = [
    b"",
    b"{",
    b"[",
    b'{"a":1,}',
    b"[1,]",
    b"[1 2]",
    b'{"a" 1}',
    b"{1:2}",
    b"01",
    b"1.",
    b".5",
    b"1.0",
    b"1.50",
    b"1e2",
    b"1E2",
    b"1e300",
    b"+1",
    b"-",
    b"-0",
    b"-0.0",
    b"nul",
    b"True",
    b"NaN",
    b"Infinity",
    b'"\\ud800"',
    b'"\\udc00"',
    b'"\\ud800\\u0041"',
    b'"\\ud800x"',
    b'"\\ud8"',
    b'"\\u12x4"',
    b'"\\x41"',
    b'"\\u0000"',
    b'["\\u0000"]',
    b'{"a":1,"a":2}',
    b'{"a":1,"\\u0061":2}',
    b'{"z":{"a":1,"a":1}}',
    b"1 2",
    b"{} {}",
    b'"a\x01b"',
    b'"a\nb"',
    b'"open',
    b'"\\',
    b"\xef\xbb\xbf1",
    b'"\xff"',
    b'"\xed\xa0\x80"',
    b"\xc2\xa01",
    b"\x0c1",
]


@pytest.mark.parametrize(("given", "canonical", "sha256"), ACCEPTED)
def test_vectors_of_the_format_are_reproduced(given: str, canonical: str, sha256: str) -> None:
    result = canonicalize(given.encode())
    assert result.decode() == canonical
    assert hashlib.sha256(result).hexdigest() == sha256
    assert canonicalize_strict(given.encode()) == result
    assert is_canonical(result)
    assert is_canonical(given.encode()) == (given == canonical)


@pytest.mark.parametrize("given", REJECTED)
def test_what_the_format_rejects_is_rejected_by_both_paths(given: bytes) -> None:
    for read in (canonicalize, canonicalize_strict, decode):
        with pytest.raises(CryptoError) as caught:
            read(given)
        assert caught.value.code == "CANONICAL_INVALID"
    assert not is_canonical(given)


def test_a_nul_is_allowed_in_a_key_only() -> None:
    assert canonicalize(b'{"\\u0000":1}') == b'{"\\u0000":1}'
    assert is_canonical(b'{"\\u0000":1}')
    with pytest.raises(CryptoError, match="U\\+0000"):
        encode({"a": "\x00"})


def test_an_escaped_backslash_before_u0000_is_not_a_nul() -> None:
    assert is_canonical(b'"\\\\u0000"')


@pytest.mark.parametrize("spelling", [b"[%s]", b'{"a":%s}'])
def test_depth_is_bounded_alike_on_both_paths(spelling: bytes) -> None:
    inner = b"1"
    for _ in range(NESTING_LEVELS):
        inner = spelling % inner
    assert canonicalize(inner) == canonicalize_strict(inner) == inner
    too_deep = spelling % inner
    for read in (canonicalize, canonicalize_strict):
        with pytest.raises(CryptoError, match="deeper"):
            read(too_deep)
    with pytest.raises(CryptoError, match="deeper"):
        encode([[decode(inner)]])
    with pytest.raises(CryptoError, match="deeper"):
        encode({"a": {"a": decode(inner)}})


def test_many_brackets_are_not_depth() -> None:
    wide = b"[" + b",".join([b"[]"] * 200) + b"]"
    assert is_canonical(wide)
    text = json.dumps("[" * 200).encode()
    assert is_canonical(text)
    flat = b"[" + b",".join([b'{"a":[1]}'] * 50) + b"]"
    assert is_canonical(flat)


def test_hostile_nesting_neither_overflows_nor_loops() -> None:
    for text in (b"[" * 200_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000):
        with pytest.raises(CryptoError):
            canonicalize(text)


def test_numbers_stay_text() -> None:
    assert decode(b"0.1000000000000000055511151231257827") == Number(
        "0.1000000000000000055511151231257827"
    )
    assert decode(b"9007199254740993") == 9007199254740993
    huge = b"1" * 10_000
    assert canonicalize(huge) == huge
    assert decode(huge) == Number(huge.decode())
    assert isinstance(decode(b"1" * INTEGER_DIGITS_CHARS), int)
    assert is_canonical(b"[0.00000000001]")
    with pytest.raises(CryptoError, match="grammar"):
        Number("1.0")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, b"1"),
        (0.0, b"0"),
        (0.87, b"0.87"),
        (1e-6, b"0.000001"),
        (1.5e-6, b"0.0000015"),
        (1e20, b"100000000000000000000"),
        (-2.5, b"-2.5"),
        (True, b"true"),
        (None, b"null"),
        (10**30, b"1" + b"0" * 30),
        ((1, "b"), b'[1,"b"]'),
        ({"b": [], "a": {}}, b'{"a":{},"b":[]}'),
        ("\b\f\n\r\t\x00"[:5], b'"\\b\\f\\n\\r\\t"'),
    ],
)
def test_values_are_written_as_the_original_writes_them(value: object, text: bytes) -> None:
    assert encode(value) == text  # type: ignore[arg-type]  # the table is heterogeneous
    assert is_canonical(text)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -0.0,
        1e21,
        9.9e-7,
        "\ud800",
        {"\udc00": 1},
        {1: 2},
        b"bytes",
        {1, 2},
        pytest.param(10**5000, id="integer of 5001 digits"),
    ],
)
def test_values_without_a_canonical_form_are_refused(value: object) -> None:
    with pytest.raises(CryptoError) as caught:
        encode(value)  # type: ignore[arg-type]  # refusing other types is the point
    assert caught.value.code == "CANONICAL_INVALID"


def test_many_texts_are_canonical_when_each_is() -> None:
    good = [b'{"a":1}', b"{}", b'{"a":0.5,"b":[1,{"c":"\xc3\xa9"}]}']
    assert are_canonical([])
    assert are_canonical(good)
    assert are_canonical([*good, b"[" * NESTING_LEVELS + b"]" * NESTING_LEVELS])
    for bad in (b'{"a":1.0}', b'{"a": 1}', b"{}{}", b"", b"{},{}", b"{}\n{}", b'"\\u0000"'):
        assert not are_canonical([*good, bad])
        assert not are_canonical([bad, *good])
    assert not are_canonical([b'{"a":1', b'"b":2}'])
    deep = b"[" * (NESTING_LEVELS + 1) + b"]" * (NESTING_LEVELS + 1)
    assert not are_canonical([*good, deep])
    assert are_canonical([b'{"\\u0000":1}'])  # a NUL in a key: the slow path decides
