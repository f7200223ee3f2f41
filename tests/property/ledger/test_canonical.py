"""The fast path of canonical JSON never says more than the strict one."""

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.crypto.canonical.json import (
    canonicalize,
    canonicalize_strict,
    encode,
    is_canonical,
    read_value,
)
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.values import Number, is_number
from agentic_os.errors import CryptoError

NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{0,10}[1-9])?", fullmatch=True).filter(
    is_number
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | NUMBERS.map(Number)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
)
JSON_LIKE = st.text(
    alphabet=st.sampled_from(list('{}[]:,"\\u0018ed.-+ntrfalsEx/ \n\x00\x01é\U0001f600')),
    max_size=30,
)


def _outcome(data: bytes, read: Any) -> bytes | None:
    try:
        result = read(data)
    except CryptoError:
        return None
    assert isinstance(result, bytes)
    return result


@given(VALUES)
def test_what_is_written_is_canonical_and_reads_back(value: Any) -> None:
    text = encode(value)
    assert is_canonical(text)
    assert canonicalize(text) == canonicalize_strict(text) == text
    assert encode(decode(text)) == text
    assert json.loads(text, parse_int=_Verbatim, parse_float=_Verbatim) == json.loads(
        text.decode(), parse_int=_Verbatim, parse_float=_Verbatim
    )


@given(VALUES, st.data())
def test_both_paths_agree_after_one_byte_changed(value: Any, data: Any) -> None:
    text = bytearray(encode(value))
    at = data.draw(st.integers(0, len(text) - 1))
    text[at] = data.draw(st.integers(0, 255))
    mutated = bytes(text)
    strict = _outcome(mutated, canonicalize_strict)
    assert _outcome(mutated, canonicalize) == strict
    assert is_canonical(mutated) == (strict == mutated)


@given(JSON_LIKE)
@settings(max_examples=500)
def test_both_paths_agree_on_things_that_look_like_json(text: str) -> None:
    data = text.encode()
    strict = _outcome(data, canonicalize_strict)
    assert _outcome(data, canonicalize) == strict
    assert is_canonical(data) == (strict == data)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_one_error_or_none(data: bytes) -> None:
    strict = _outcome(data, canonicalize_strict)
    assert is_canonical(data) == (strict is not None and strict == data)


@given(VALUES, st.integers(0, 3), st.booleans())
def test_other_spellings_of_a_value_have_its_canonical_form(
    value: Any, indent: int, ascii_only: bool
) -> None:
    text = encode(value)
    tree = json.loads(text, parse_float=_Verbatim, parse_int=_Verbatim)
    spelled = _spell(tree, indent=indent, ascii_only=ascii_only)
    assert canonicalize(spelled) == text


@dataclass(frozen=True)
class _Verbatim:
    """A number that prints as it was written."""

    text: str


def _spell(tree: Any, *, indent: int, ascii_only: bool) -> bytes:
    space = " " * indent + "\n" * indent
    match tree:
        case _Verbatim():
            text = tree.text
        case dict():
            members = [
                f"{json.dumps(key, ensure_ascii=ascii_only)}{space}:{space}"
                + _spell(tree[key], indent=indent, ascii_only=ascii_only).decode()
                for key in reversed(tree)
            ]
            text = "{" + space + f"{space},{space}".join(members) + space + "}"
        case list():
            items = [_spell(one, indent=indent, ascii_only=ascii_only).decode() for one in tree]
            text = "[" + space + ",".join(items) + space + "]"
        case _:
            text = json.dumps(tree, ensure_ascii=ascii_only)
    return text.encode()


def _read(data: bytes, read: Any) -> tuple[str, Any]:
    try:
        return "value", read(data)
    except CryptoError as error:
        return error.code, error.message


def _types(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _types(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_types(inner) for inner in value]
    return type(value)


@given(VALUES.map(encode) | JSON_LIKE.map(str.encode))
def test_a_fast_reading_is_the_strict_one(data: bytes) -> None:
    kind, value = _read(data, read_value)
    assert (kind, value) == _read(data, decode)
    if kind == "value":
        assert _types(value) == _types(decode(data))
        assert repr(value) == repr(decode(data))  # the order of members, too


@given(VALUES, st.data())
def test_a_fast_reading_is_the_strict_one_after_one_byte_changed(value: Any, data: Any) -> None:
    text = bytearray(encode(value))
    at = data.draw(st.integers(0, len(text) - 1))
    text[at] = data.draw(st.integers(0, 255))
    assert _read(bytes(text), read_value) == _read(bytes(text), decode)
