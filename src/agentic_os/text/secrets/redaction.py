"""Secrets replaced before anything is stored, embedded or shown (design section 6).

Rules:

- A secret becomes ``[redacted:RULE]``; the text keeps its number of lines.
- Private-key blocks, provider tokens, passwords in URLs, Authorization headers, cookies,
  signatures in addresses, the passwords of ``.netrc``, ``.pgpass`` and htpasswd, random-looking
  values given to a secret's name and what follows a secret's flag are secrets. Git and SHA
  hashes, digests of files, UUIDs, placeholders, paths and plain words are not.
- What the person allowed stays: the allow-list holds secrets, or their SHA-256 in hex.
- A clean text is looked at by a few literal-first searches only.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import msgspec

from agentic_os.text.secrets.assignments import (
    COLON_VALUE,
    EQUALS_VALUE,
    FLAG_SENTINEL,
    IS_VALUE,
    assigned,
    flagged,
)
from agentic_os.text.secrets.judging import is_placeholder, is_random
from agentic_os.text.secrets.places import PLACES, PlaceRule, placed
from agentic_os.text.secrets.rules import FAMILIES, SecretRule

_KEY_BLOCK = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"|---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----|Private-Lines: \d+"
)
_KEY_BLOCK_END = (
    r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"|---- END SSH2 (?:ENCRYPTED )?PRIVATE KEY ----|Private-MAC: \S+"
)
_KEY_MATERIAL = r"[A-Za-z0-9+/=]{16}"
_KEY_LINE = r"[ \t>]*(?:[A-Za-z0-9+/=]+|[\w-]+: [^\n]*)?[ \t]*(?:\n|\Z)"
_URL_PASSWORD = re.compile(r"://[^\s/:@\"'<>`]{0,128}:([^\s/@\"'<>`]{1,256})@")

_AUTHORIZATION = r"(?i)(?<![A-Za-z])(bearer|basic)[ \t]+([\w.~+/-]{8,}={0,2})"


class SecretFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A secret that was replaced: the rule that found it and its 1-based line."""

    rule: str
    line: int


class Redacted(msgspec.Struct, frozen=True, kw_only=True):
    """The text without its secrets, and what was found where."""

    text: str
    findings: tuple[SecretFinding, ...] = ()


class _Span(NamedTuple):
    start: int
    end: int
    rule: str


_Search = Callable[[str], re.Match[str] | None]
_Find = Callable[[str], Iterable[_Span]]


class Redactor:
    """Replaces secrets; one object serves any number of texts.

    Args:
        allow: secrets that may stay, or the lower-case hex SHA-256 of them.
    """

    __slots__ = ("_allow",)

    def __init__(self, allow: frozenset[str] = frozenset()) -> None:
        """Keep the allow-list."""
        self._allow = allow

    def __eq__(self, other: object) -> bool:
        """Whether the other one leaves the same secrets where they are."""
        return isinstance(other, Redactor) and self._allow == other._allow

    def __hash__(self) -> int:
        """Equal for equal allow-lists."""
        return hash(self._allow)

    def redact(self, text: str) -> Redacted:
        """Return ``text`` with every secret replaced, and the findings in order."""
        spans: list[_Span] = []
        for char, search, find in _DETECTORS:
            if char in text and search(text):
                spans += find(text)
        if spans and self._allow:
            spans = [span for span in spans if not self._allowed(text[span.start : span.end])]
        if not spans:
            return Redacted(text=text)
        pieces: list[str] = []
        findings: list[SecretFinding] = []
        at, line = 0, 1
        for start, end, rule in _merged(spans):
            line += text.count("\n", at, start)
            findings.append(SecretFinding(rule=rule, line=line))
            newlines = text.count("\n", start, end)
            line += newlines
            pieces += (text[at:start], f"[redacted:{rule}]", "\n" * newlines)
            at = end
        pieces.append(text[at:])
        return Redacted(text="".join(pieces), findings=tuple(findings))

    def _allowed(self, secret: str) -> bool:
        if secret in self._allow:
            return True
        return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest() in self._allow


def _merged(spans: list[_Span]) -> Iterator[_Span]:
    """Order the spans; where two overlap, the first rule covers both."""
    spans.sort(key=_by_place)
    current = spans[0]
    for span in spans[1:]:
        if span.start >= current.end:
            yield current
            current = span
        elif span.end > current.end:
            current = current._replace(end=span.end)
    yield current


def _by_place(span: _Span) -> tuple[int, int]:
    return span.start, -span.end


def _key_blocks(text: str) -> Iterator[_Span]:
    """Find private-key blocks that hold key material, with or without their end line."""
    begins, ends = re.compile(_KEY_BLOCK), re.compile(_KEY_BLOCK_END)
    material = re.compile(_KEY_MATERIAL)
    match = begins.search(text)
    end = ends.search(text)
    while match:
        start, at = match.span()
        following = begins.search(text, at)
        limit = following.start() if following else len(text)
        if end and end.start() < at:
            end = ends.search(text, at)
        # Each block is looked at up to the next one only, so no text is looked at twice.
        stop = end.end() if end and end.end() <= limit else _unended_block(text, at, limit)
        if material.search(text, at, stop):
            yield _Span(start, stop, "private-key")
        match = following


def _unended_block(text: str, at: int, limit: int) -> int:
    """Return where the lines that look like key material stop."""
    line = re.compile(_KEY_LINE)
    newline = text.find("\n", at, limit)
    if newline < 0:
        return limit
    at = newline + 1
    while at < limit and (match := line.match(text, at, limit)):
        at = match.end()
    return at


def _provider_tokens(rules: tuple[SecretRule, ...], text: str) -> Iterator[_Span]:
    for rule in rules:
        for match in re.finditer(rule.pattern, text):
            if rule.accepts(match.group(rule.group)):
                yield _Span(*match.span(rule.group), rule.id)


def _url_passwords(text: str) -> Iterator[_Span]:
    for match in _URL_PASSWORD.finditer(text):
        if not is_placeholder(match.group(1)):
            yield _Span(*match.span(1), "url-password")


def _authorizations(text: str) -> Iterator[_Span]:
    for match in re.finditer(_AUTHORIZATION, text):
        if _is_authorization(match.group(1), match.group(2)):
            yield _Span(*match.span(2), "authorization-header")


def _is_authorization(scheme: str, value: str) -> bool:
    if scheme.lower() == "bearer":
        return is_random(value)
    try:
        pair = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        return False
    user, colon, password = pair.partition(":")
    return bool(user and colon and password) and not is_placeholder(password)


def _assigned(pattern: re.Pattern[str], text: str) -> Iterator[_Span]:
    for start, end in assigned(pattern, text):
        yield _Span(start, end, "assigned-secret")


def _placed(rule: PlaceRule, text: str) -> Iterator[_Span]:
    for start, end in placed(rule, text):
        yield _Span(start, end, rule.id)


def _flagged(text: str) -> Iterator[_Span]:
    for start, end in flagged(text):
        yield _Span(start, end, "assigned-secret")


# A character and a cheap search that a clean text fails, and what to do when it does not.
_DETECTORS: tuple[tuple[str, _Search, _Find], ...] = (
    *(
        (family.char, family.sentinel.search, partial(_provider_tokens, family.rules))
        for family in FAMILIES
    ),
    *((rule.char, rule.sentinel.search, partial(_placed, rule)) for rule in PLACES),
    ("P", re.compile("P(?:RIVATE KEY|rivate-Lines: )").search, _key_blocks),
    ("@", _URL_PASSWORD.search, _url_passwords),
    ("B", re.compile(r"B(?:earer|EARER|asic|ASIC)[ \t]+(?=\S{8})").search, _authorizations),
    ("b", re.compile(r"b(?:earer|asic)[ \t]+(?=\S{8})").search, _authorizations),
    (":", COLON_VALUE.search, partial(_assigned, COLON_VALUE)),
    ("=", EQUALS_VALUE.search, partial(_assigned, EQUALS_VALUE)),
    (" ", IS_VALUE.search, partial(_assigned, IS_VALUE)),
    ("-", FLAG_SENTINEL.search, _flagged),
)
