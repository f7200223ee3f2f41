"""AIII-CANONICAL-JSON-V1: one text for one value (AII OS formats, section 1.1).

Rules::

    input     one JSON value in valid UTF-8, nothing but white space around it
    objects   keys sorted by code point (= by UTF-8 byte); equal keys refused at any depth,
              compared after unescaping
    strings   escapes only for the quote, the backslash and controls below U+0020
              (short forms b f n r t, else lowercase u00xx); all else literal; U+0000 is
              refused in a value, lone surrogates everywhere; no normalisation
    numbers   kept as text, never a float: -?(0|[1-9][0-9]*)(.[0-9]*[1-9])?, and not -0
    nesting   at most NESTING_LEVELS (a bound of our own; the format states none)

``canonicalize_strict`` is the rule written out. ``canonicalize`` and ``is_canonical`` first
try a round trip through msgspec, which can only ever answer "these bytes are canonical
already"; any doubt goes to the strict reader. A property test holds the two equal.
"""

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from typing import cast

import msgspec

from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.values import (
    NESTING_LEVELS,
    JsonInput,
    JsonValue,
    Number,
    invalid,
    is_nested_too_deep,
    is_number,
)
from agentic_os.errors import CryptoError
from agentic_os.text.unicode_form import SURROGATE

CANONICALIZATION = "AIII-CANONICAL-JSON-V1"

_MUST_ESCAPE = re.compile(r'["\\\x00-\x1f]')
_ESCAPES = {chr(code): f"\\u{code:04x}" for code in range(0x20)} | {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}
_NO_OPENING_BRACKET = bytes(set(range(256)) - set(b"{[\n"))
_UNSURE = object()
_FIXED_NOTATION = (1e-6, 1e21)  # the original's writer refuses floats outside [low, high)


def canonicalize(data: bytes) -> bytes:
    """Return the canonical form of a JSON text.

    Raises:
        CryptoError: ``CANONICAL_INVALID``; the message names the rule and the position in
            characters.
    """
    return data if _round_trips(data) else canonicalize_strict(data)


def is_canonical(data: bytes) -> bool:
    """Whether ``data`` is byte for byte the canonical form of a JSON value."""
    if _round_trips(data):
        return True
    try:
        return canonicalize_strict(data) == data
    except CryptoError:
        return False


def are_canonical(texts: Sequence[bytes]) -> bool:
    """Whether every text is canonical; much faster for many short ones without line feeds.

    Canonical text holds no line feed, so texts that hold none, joined by line feeds, equal the
    re-encoding of the whole exactly when each equals its own.
    """
    joined = b"\n".join(texts) + b"\n"
    if joined.count(b"\n") == len(texts) and b"\\u0000" not in joined:
        with suppress(msgspec.MsgspecError, ValueError, RecursionError):
            trees = _FAST_DECODER.decode_lines(joined)
            opened = joined.translate(None, _NO_OPENING_BRACKET).split(b"\n")
            is_shallow = max(map(len, opened)) <= NESTING_LEVELS
            if is_shallow and _FAST_ENCODER.encode_lines(trees) == joined:
                return True
    return all(is_canonical(text) for text in texts)


def read_value(data: bytes) -> JsonValue:
    """``decode``, several times faster where ``data`` is canonical and holds no fraction.

    Raises:
        CryptoError: ``CANONICAL_INVALID``.
    """
    tree = _round_trip(data, _WHOLE_DECODER)
    return decode(data) if tree is _UNSURE else cast("JsonValue", tree)


def canonicalize_strict(data: bytes) -> bytes:
    """``canonicalize`` without the fast path."""
    return encode(decode(data))


def encode(value: JsonInput) -> bytes:
    """Return the canonical form of a Python value.

    A ``float`` is written in fixed notation as the original's writer does (1.0 becomes
    ``1``) and refused outside 1e-6 <= |x| < 1e21, zero apart.

    Raises:
        CryptoError: ``CANONICAL_INVALID`` for a value that has no canonical form.
    """
    parts: list[str] = []
    _write(value, parts, 1)
    return "".join(parts).encode("utf-8")


@lru_cache(maxsize=4_096)  # long ledgers say the same few fractions over and over
def _verbatim(text: str) -> msgspec.Raw:
    if not is_number(text):
        raise ValueError(text)
    return msgspec.Raw(text.encode("ascii"))


def _no_fraction(text: str) -> object:
    raise ValueError(text)


_FAST_DECODER = msgspec.json.Decoder(float_hook=_verbatim)
_WHOLE_DECODER = msgspec.json.Decoder(float_hook=_no_fraction)
_FAST_ENCODER = msgspec.json.Encoder(order="deterministic")


def _round_trips(data: bytes) -> bool:
    """Whether the fast path is sure that ``data`` is canonical; False means "not sure"."""
    return _round_trip(data, _FAST_DECODER) is not _UNSURE


def _round_trip(data: bytes, decoder: "msgspec.json.Decoder[object]") -> object:
    """Return the tree of ``data`` if the fast path is sure that it is canonical, else ``_UNSURE``.

    The encoder writes canonical text for every tree that it is given, save two things, which
    are screened here: U+0000 in a value, and nesting. Duplicate keys collapse in the tree, so
    the result is shorter than the input; fractions are carried as text by ``_verbatim``, or
    refused by ``_no_fraction``.
    """
    if b"\\u0000" in data:
        return _UNSURE
    try:
        tree = decoder.decode(data)
        if _FAST_ENCODER.encode(tree) != data or is_nested_too_deep(data, tree):
            return _UNSURE
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError):
        return _UNSURE
    return tree


def _write(value: JsonInput, parts: list[str], level: int) -> None:
    match value:
        case None:
            parts.append("null")
        case bool():
            parts.append("true" if value else "false")
        case int():
            parts.append(_integer_text(value))
        case float():
            parts.append(_float_text(value))
        case Number():
            parts.append(value.text)
        case str():
            if "\x00" in value:
                raise invalid("U+0000 in a string")
            _write_string(value, parts)
        case Mapping():
            _write_object(value, parts, level)
        case Sequence() if not isinstance(value, bytes | bytearray | memoryview):
            _write_array(value, parts, level)
        case _:
            raise invalid(f"a {type(value).__name__} has no canonical form")


def _bound(level: int) -> None:
    if level > NESTING_LEVELS:
        raise invalid(f"nested deeper than {NESTING_LEVELS} levels")


def _write_array(items: Sequence[JsonInput], parts: list[str], level: int) -> None:
    _bound(level)
    parts.append("[")
    for place, item in enumerate(items):
        if place:
            parts.append(",")
        _write(item, parts, level + 1)
    parts.append("]")


def _write_object(members: Mapping[str, JsonInput], parts: list[str], level: int) -> None:
    _bound(level)
    if not all(isinstance(key, str) for key in members):
        raise invalid("a key is not a string")
    parts.append("{")
    for place, key in enumerate(sorted(members)):
        if place:
            parts.append(",")
        _write_string(key, parts)
        parts.append(":")
        _write(members[key], parts, level + 1)
    parts.append("}")


def _write_string(text: str, parts: list[str]) -> None:
    if SURROGATE.search(text):
        raise invalid("a lone surrogate")
    parts.append('"')
    parts.append(_MUST_ESCAPE.sub(lambda match: _ESCAPES[match.group()], text))
    parts.append('"')


def _integer_text(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        raise invalid("an integer too long for this type; give a Number") from None


def _float_text(value: float) -> str:
    if value == 0 and math.copysign(1, value) > 0:
        return "0"
    low, high = _FIXED_NOTATION
    if not low <= abs(value) < high:
        raise invalid("a float outside fixed notation")
    return format(Decimal(repr(value)), "f").removesuffix(".0")
