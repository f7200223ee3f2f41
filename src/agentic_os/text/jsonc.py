"""JSON as editors write it, its comments and trailing commas blanked out. Pure."""

import re

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*|/\*.*?(?:\*/|\Z)|,(?=\s*[\]}])', re.DOTALL)
_NOT_NEWLINE = re.compile(r"[^\n]")


def plain_json(text: str) -> str:
    """Return strict JSON for a text with comments and trailing commas, of the same length.

    >>> plain_json('{"a": "//", /* b */ "c": [1,], // d')
    '{"a": "//",         "c": [1 ],     '
    """
    if "//" in text or "/*" in text:
        text = _TOKEN.sub(_without_comment, text)
    return _TOKEN.sub(_without_comma, text)


def _without_comment(found: re.Match[str]) -> str:
    token = found[0]
    return _NOT_NEWLINE.sub(" ", token) if token[0] == "/" else token


def _without_comma(found: re.Match[str]) -> str:
    return " " if found[0] == "," else found[0]
