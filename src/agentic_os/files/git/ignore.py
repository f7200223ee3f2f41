"""The rules of ``.gitignore`` files, applied without running git.

The pattern language is that of git's ``gitignore`` document: negation, folder-only and
anchored patterns, ``*``, ``?``, bracket expressions, ``**``. The rules of a deeper file come
before those of the files above it, and the last rule of a file that fits decides. Whoever
walks does not enter an ignored folder, as git does not; so no rule can bring back what lies
in one.

Patterns are untrusted. Each component becomes an expression that cannot backtrack and ``**``
is matched by components, so one question costs at most (components of the pattern) x
(components of the path) matches: the expressions of the usual library take exponential time
for ``*a*a*a*a*b``. What is no pattern, or beyond the bounds, is left out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

MAX_IGNORE_BYTES = 512 * 1024
"""Bytes of one ``.gitignore`` file; a larger one is not read."""
MAX_RULES_ENTRIES = 4_000
"""Rules of one file; the rest is left out."""
MAX_PATTERN_CHARS = 1_000

_CLASSES = {
    "alnum": r"a-zA-Z0-9",
    "alpha": r"a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": r"0-9",
    "graph": r"\x21-\x7e",
    "lower": r"a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": r"A-Z",
    "xdigit": r"0-9a-fA-F",
}
_Part = re.Pattern[str] | None
"""One component of a pattern; ``None`` stands for ``**``."""


@dataclass(frozen=True, slots=True)
class _Rule:
    parts: tuple[_Part, ...]
    negated: bool
    folders_only: bool

    def fits(self, path: Sequence[str], *, folder: bool) -> bool:
        if self.folders_only and not folder:
            return False
        if len(self.parts) == 2 and self.parts[0] is None and self.parts[1] is not None:  # noqa: PLR2004 - ``**/name``, the usual form
            return self.parts[1].match(path[-1]) is not None
        return _fits(self.parts, path)


@dataclass(frozen=True, slots=True)
class _Level:
    depth: int
    rules: tuple[_Rule, ...]


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that hold in one folder: its own file's and those of the folders above."""

    levels: tuple[_Level, ...] = ()

    def below(self, folder: str, text: str) -> "IgnoreRules":
        """Return these rules and those of a file that lies in ``folder``.

        Args:
            folder: where the file lies, relative to the top; empty for the top.
            text: what it holds.
        """
        rules = parse_ignore(text)
        if not rules:
            return self
        depth = folder.count("/") + 1 if folder else 0
        return IgnoreRules((_Level(depth, rules), *self.levels))

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Whether a path, relative to the top, is ignored; its folders are known not to be."""
        parts = path.split("/")
        for level in self.levels:
            inner = parts[level.depth :]
            if not inner:  # a folder above the one that these rules lie in
                continue
            for rule in level.rules:
                if rule.fits(inner, folder=folder):
                    return not rule.negated
        return False


def parse_ignore(text: str) -> tuple[_Rule, ...]:
    """Read the rules of one file, the last one first."""
    rules: list[_Rule] = []
    for line in text.split("\n"):
        rule = _rule(line)
        if rule is not None:
            rules.append(rule)
            if len(rules) == MAX_RULES_ENTRIES:
                break
    return tuple(reversed(rules))


def _rule(line: str) -> _Rule | None:
    line = _without_trailing_spaces(line.removesuffix("\r"))
    if not line or line.startswith("#") or len(line) > MAX_PATTERN_CHARS:
        return None
    negated = line.startswith("!")
    line = line.removeprefix("!")
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    if not line:
        return None
    anchored = "/" in line
    parts: list[_Part] = [] if anchored else [None]
    for part in line.removeprefix("/").split("/"):
        if part == "**" and anchored:
            if not parts or parts[-1] is not None:
                parts.append(None)
            continue
        pattern = _component(part)
        if pattern is None:
            return None
        parts.append(pattern)
    return _Rule(tuple(parts), negated, folders_only)


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if backslashes % 2 and len(bare) < len(line) else bare


def _fits(parts: Sequence[_Part], path: Sequence[str]) -> bool:
    """Match components; ``**`` takes any number of them, at the end at least one.

    As with ``*`` in a name, only the last ``**`` ever needs another try.
    """
    part = at = 0
    retry_part, retry_at = -1, 0
    while at < len(path):
        if part < len(parts):
            pattern = parts[part]
            if pattern is None:
                retry_part, retry_at = part, at
                part += 1
                if part == len(parts):
                    return True
                continue
            if pattern.match(path[at]) is not None:
                part += 1
                at += 1
                continue
        if retry_part < 0:
            return False
        retry_at += 1
        part, at = retry_part + 1, retry_at
    return part == len(parts)


@lru_cache(maxsize=4_096)
def _component(text: str) -> re.Pattern[str] | None:
    """Compile one component; ``None`` if it can match no name."""
    pieces: list[str] = [""]  # what stands between the stars
    at = 0
    while at < len(text):
        if text[at] == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
            at += 1
            continue
        found = _atom(text, at)
        if found is None:
            return None
        expression, at = found
        pieces[-1] += expression
    first, *rest = pieces
    # Between stars the leftmost place is as good as any: later ones need not be tried.
    middle = "".join(f"(?>.*?{piece})" for piece in rest[:-1])
    last = f".*{rest[-1]}" if rest else ""
    try:
        return re.compile(rf"(?s:{first}{middle}{last})\Z")
    except re.error:
        return None


def _atom(text: str, at: int) -> tuple[str, int] | None:
    """Read what stands for one character: its expression, and where the next one starts."""
    char = text[at]
    if char == "?":
        return ".", at + 1
    if char == "[":
        return _bracket(text, at + 1)
    if char == "\\":
        at += 1
        char = text[at : at + 1]
    return (re.escape(char), at + 1) if char else None


def _bracket(text: str, at: int) -> tuple[str, int] | None:
    """Read a bracket expression behind its ``[``; ``None`` if it is not closed."""
    negated = text[at : at + 1] in {"!", "^"}
    at += negated
    ranges = ""
    first = True
    while at < len(text):
        char = text[at]
        if char == "]" and not first:
            return (f"[^{ranges}]" if negated else f"[{ranges}]"), at + 1
        first = False
        if char == "[" and text.startswith("[:", at) and (end := text.find(":]", at)) > 0:
            named = _CLASSES.get(text[at + 2 : end])
            if named is None:
                return None
            ranges += named
            at = end + 2
            continue
        low, at = _bracket_char(text, at)
        if not low:
            return None
        high = low
        if text[at : at + 1] == "-" and text[at + 1 : at + 2] not in {"", "]"}:
            high, at = _bracket_char(text, at + 1)
            if not high:
                return None
        ranges += f"{re.escape(low)}-{re.escape(max(low, high))}"
    return None


def _bracket_char(text: str, at: int) -> tuple[str, int]:
    if text[at] == "\\":
        at += 1
    return text[at : at + 1], at + 1
