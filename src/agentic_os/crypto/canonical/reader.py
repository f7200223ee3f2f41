"""The strict reader of canonical JSON: every rule but key order and white space.

Recursive, bounded by ``NESTING_LEVELS``; linear in the length of the text.
"""

import re

from agentic_os.crypto.canonical.values import (
    INTEGER_DIGITS_CHARS,
    NESTING_LEVELS,
    JsonValue,
    Number,
    invalid,
    is_number,
)

_NUMBER_RUN = re.compile(r"[-+.0-9A-Za-z]+")
_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_HIGH_SURROGATES = range(0xD800, 0xDC00)
_LOW_SURROGATES = range(0xDC00, 0xE000)
_ASTRAL = 0x10000
_UNESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}


def decode(data: bytes) -> JsonValue:
    """The value of a JSON text that obeys every rule but order and white space.

    Integers of at most ``INTEGER_DIGITS_CHARS`` digits come as ``int``; fractions and longer
    integers as ``Number``.

    Raises:
        CryptoError: ``CANONICAL_INVALID``.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid("not valid UTF-8", error.start) from None
    reader = _Reader(text)
    value = reader.value(1)
    reader.skip_space()
    if reader.at != len(text):
        raise invalid("more than one value", reader.at)
    return value


class _Reader:
    """A strict recursive reader; ``at`` is the position in characters."""

    __slots__ = ("at", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        if match is not None:
            self.at = match.end()

    def value(self, level: int) -> JsonValue:
        self.skip_space()
        first = self.text[self.at : self.at + 1]
        if first == "{":
            return self._object(level)
        if first == "[":
            return self._array(level)
        if first == '"':
            start = self.at
            text = self._string()
            if "\x00" in text:
                raise invalid("U+0000 in a string", start)
            return text
        return self._scalar()

    def _scalar(self) -> JsonValue:
        match = _NUMBER_RUN.match(self.text, self.at)
        if match is None:
            raise invalid("a value is missing", self.at)
        word = match.group()
        match word:
            case "null":
                value: JsonValue = None
            case "true":
                value = True
            case "false":
                value = False
            case _ if not is_number(word):
                raise invalid("a word or number outside the grammar", self.at)
            case _ if "." in word or len(word) > INTEGER_DIGITS_CHARS:
                value = Number(word)
            case _:
                value = int(word)
        self.at = match.end()
        return value

    def _enter(self, level: int) -> None:
        if level > NESTING_LEVELS:
            raise invalid(f"nested deeper than {NESTING_LEVELS} levels", self.at)
        self.at += 1
        self.skip_space()

    def _next(self, closing: str) -> bool:
        """Step over a comma (True) or the closing bracket (False)."""
        self.skip_space()
        mark = self.text[self.at : self.at + 1]
        if mark not in {",", closing}:
            raise invalid("a comma or a closing bracket is missing", self.at)
        self.at += 1
        return mark == ","

    def _array(self, level: int) -> list[JsonValue]:
        self._enter(level)
        items: list[JsonValue] = []
        if self.text.startswith("]", self.at):
            self.at += 1
            return items
        while True:
            items.append(self.value(level + 1))
            if not self._next("]"):
                return items

    def _object(self, level: int) -> dict[str, JsonValue]:
        self._enter(level)
        members: dict[str, JsonValue] = {}
        if self.text.startswith("}", self.at):
            self.at += 1
            return members
        while True:
            self.skip_space()
            start = self.at
            if not self.text.startswith('"', start):
                raise invalid("a key is missing", start)
            key = self._string()
            if key in members:
                raise invalid("a key stands twice", start)
            self.skip_space()
            if not self.text.startswith(":", self.at):
                raise invalid("a colon is missing", self.at)
            self.at += 1
            members[key] = self.value(level + 1)
            if not self._next("}"):
                return members

    def _string(self) -> str:
        parts: list[str] = []
        self.at += 1
        while True:
            plain = _PLAIN.match(self.text, self.at)
            if plain is not None:
                parts.append(plain.group())
                self.at = plain.end()
            mark = self.text[self.at : self.at + 1]
            if mark == '"':
                self.at += 1
                return "".join(parts)
            if mark != "\\":
                raise invalid("a control character or the end inside a string", self.at)
            parts.append(self._escape())

    def _escape(self) -> str:
        letter = self.text[self.at + 1 : self.at + 2]
        if letter != "u":
            if letter not in _UNESCAPES:
                raise invalid("an unknown escape", self.at)
            self.at += 2
            return _UNESCAPES[letter]
        unit = self._hex_unit()
        if unit not in _HIGH_SURROGATES and unit not in _LOW_SURROGATES:
            return chr(unit)
        start = self.at
        if unit in _LOW_SURROGATES or not self.text.startswith("\\u", start):
            raise invalid("a lone surrogate", start)
        low = self._hex_unit()
        if low not in _LOW_SURROGATES:
            raise invalid("a lone surrogate", start)
        high_bits = (unit - _HIGH_SURROGATES.start) << 10
        return chr(_ASTRAL + high_bits + (low - _LOW_SURROGATES.start))

    def _hex_unit(self) -> int:
        match = _HEX4.match(self.text, self.at + 2)
        if match is None:
            raise invalid("four hex digits are missing", self.at)
        self.at = match.end()
        return int(match.group(), 16)
