"""The syntax of a git configuration file, as far as remotes need it.

Read as git-config(1) describes: sections with quoted subsections, quoted values,
escapes, comments, continued lines, several values for one key. Broken lines are passed
over; nothing is included or executed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SECTION = re.compile(r'\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?[ \t]*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)[ \t]*")
_VALUE_PIECE = re.compile(r'[^"\\#;\n]+|"|\\\n|\\.|[#;]|\\')
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}
_BLANK = " \t\r"


@dataclass(frozen=True, slots=True, kw_only=True)
class GitConfig:
    """The values of a configuration: section (lower case), subsection, key, value."""

    values: tuple[tuple[str, str, str, str], ...]

    def first(self, section: str, key: str) -> str | None:
        """Return the first value of a key in a section without subsection."""
        for found, name, own, value in self.values:
            if found == section and not name and own == key:
                return value
        return None

    def last(self, section: str, key: str) -> str | None:
        """Return the last value of a key in a section without subsection: the one that counts."""
        values = [
            value
            for found, name, own, value in self.values
            if found == section and not name and own == key
        ]
        return values[-1] if values else None

    def remote(self) -> str | None:
        """Return the first address of ``origin``, else of the only remote, as written."""
        urls: dict[str, str] = {}
        for section, name, key, value in self.values:
            if section == "remote" and name and key == "url" and value:
                urls.setdefault(name, value)
        if "origin" in urls:
            return urls["origin"]
        return next(iter(urls.values())) if len(urls) == 1 else None


def parse_git_config(text: str) -> GitConfig:
    """Parse the text of a configuration file; what is broken is passed over."""
    return GitConfig(values=tuple(_entries(text)))


def _entries(text: str) -> Iterator[tuple[str, str, str, str]]:
    section, name = "", ""
    at = 0
    while at < len(text):
        char = text[at]
        if char in " \t\r\n":
            at += 1
        elif header := _SECTION.match(text, at):
            at = header.end()
            section, dot, legacy = header.group(1).lower().partition(".")
            quoted = header.group(2)
            name = legacy if dot and quoted is None else _ESCAPED.sub(r"\1", quoted or "")
        elif key := _KEY.match(text, at):
            value, at = _value(text, key.end()) if key.group(2) else ("", _line_end(text, at))
            yield section, name, key.group(1).lower(), value
        else:  # a comment, or what no configuration holds
            at = _line_end(text, at)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _value(text: str, at: int) -> tuple[str, int]:
    """Read a value and return it with the offset of the line's end."""
    pieces: list[str] = []
    quoted = False
    kept = 0  # white space at the end goes, unless it was quoted
    while at < len(text) and (match := _VALUE_PIECE.match(text, at)):
        piece = match.group()
        at = match.end()
        if piece == '"':
            quoted = not quoted
            kept = len(pieces)
        elif piece in "#;" and not quoted:
            at = _line_end(text, at)
            break
        elif piece[0] == "\\":
            if piece != "\\\n":
                pieces.append(_ESCAPES.get(piece[1:], piece[1:]))
                kept = len(pieces)
        else:
            pieces.append(piece)
            if quoted:
                kept = len(pieces)
    return "".join(pieces[:kept]) + "".join(pieces[kept:]).rstrip(_BLANK), at
