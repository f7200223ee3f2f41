"""The strict reader of canonical JSON: every rule but key order and white space.

The standard library's decoder reads the text; its hooks refuse what canonical JSON has no place
for (equal keys, other spellings of a number, NaN), and one walk over the result refuses the rest.

>>> decode(b' {"b": 1.5, "a": [true]} ')
{'b': Number(text='1.5'), 'a': [True]}
>>> decode(b'{"a": 1, "a": 2}')
Traceback (most recent call last):
agentic_os.errors.CryptoError: not canonical JSON: a key stands twice
"""

import json
import re
from typing import NoReturn

from agentic_os.crypto.canonical.values import (
    INTEGER_DIGITS_CHARS,
    NESTING_LEVELS,
    JsonValue,
    Number,
    invalid,
    is_nested_too_deep,
    is_number,
)
from agentic_os.text.unicode_form import SURROGATE

_SUSPICIOUS_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")


def decode(data: bytes) -> JsonValue:
    """Return the value of a JSON text that obeys every rule but order and white space.

    Integers of at most ``INTEGER_DIGITS_CHARS`` digits come as ``int``; fractions and longer
    integers as ``Number``.

    Raises:
        CryptoError: ``CANONICAL_INVALID``.
    """
    try:
        value: JsonValue = _DECODER.decode(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise invalid("not valid UTF-8", error.start) from None
    except json.JSONDecodeError as error:
        raise invalid(error.msg, error.pos) from None
    except RecursionError:
        raise invalid(f"nested deeper than {NESTING_LEVELS} levels") from None
    if is_nested_too_deep(data, value):
        raise invalid(f"nested deeper than {NESTING_LEVELS} levels")
    # UTF-8 spells no surrogate and the decoder refuses a raw U+0000, so only an escape can
    # smuggle one in; texts without such an escape, nearly all, need no walk.
    if _SUSPICIOUS_ESCAPE.search(data):
        _check_strings(value)
    return value


def _members(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise invalid("a key stands twice")
    return members


def _number(text: str) -> int | Number:
    if "." in text or len(text) > INTEGER_DIGITS_CHARS or not is_number(text):
        return Number(text)  # refuses what is outside the grammar
    return int(text)


def _constant(text: str) -> NoReturn:
    raise invalid(f"{text} is no number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_number, parse_float=_number, parse_constant=_constant
)


def _check_strings(value: JsonValue) -> None:
    match value:
        case str():
            if "\x00" in value:
                raise invalid("U+0000 in a string")
            _check_surrogates(value)
        case list():
            for item in value:
                _check_strings(item)
        case dict():
            for key, item in value.items():
                _check_surrogates(key)  # a key may hold U+0000
                _check_strings(item)
        case _:
            pass


def _check_surrogates(text: str) -> None:
    if SURROGATE.search(text):
        raise invalid("a lone surrogate")
