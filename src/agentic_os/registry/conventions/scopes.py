"""What an instruction file applies to: its folder, its globs, and when a harness loads it. Pure."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal

Activation = Literal["always", "paths", "asked", "manual"]
"""``always`` loaded; with files that match (``paths``); when the model asks; when a person does."""

PATTERN_KEYS = ("paths", "globs", "applyTo", "fileMatchPattern")
"""Keys of front matter that hold globs: Claude Code, Cursor and others, Copilot, Kiro."""
MAX_PATTERNS = 100
MAX_PATTERN_CHARS = 500

_WORDS: Mapping[str, Activation] = {
    "always_on": "always",
    "always": "always",
    "glob": "paths",
    "filematch": "paths",
    "model_decision": "asked",
    "auto": "asked",
    "manual": "manual",
}
_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|\{|\}|,|.", re.DOTALL)


def patterns_of(fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the globs of a front matter, as they are written, without the quotes."""
    found: dict[str, None] = {}
    for key in PATTERN_KEYS:
        for part in _split(fields.get(key, "").strip().strip("[]")):
            text = part.strip().strip("\"'").strip()
            if text and len(text) <= MAX_PATTERN_CHARS:
                found[text] = None
    return tuple(found)[:MAX_PATTERNS]


def activation_of(fields: Mapping[str, str], patterns: tuple[str, ...]) -> Activation:
    """Return when a harness loads a file, by its front matter."""
    word = (fields.get("trigger") or fields.get("inclusion") or "").strip().casefold()
    if word in _WORDS:
        return _WORDS[word]
    always = fields.get("alwaysApply", "").strip().casefold()
    if always == "true" or patterns == ("**",):
        return "always"
    if patterns:
        return "paths"
    if always == "false":
        return "asked" if fields.get("description", "").strip() else "manual"
    return "always"


def _split(text: str) -> Iterable[str]:
    """Split at commas that stand in no braces."""
    depth, start = 0, 0
    for at, char in enumerate(text):
        if char == "{":
            depth += 1
        elif char == "}":
            depth = max(0, depth - 1)
        elif char == "," and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def applies(patterns: Iterable[str], path: str) -> bool:
    """Whether any glob means a path; one that begins with ``!`` takes it out again.

    A glob without a slash means a name at any depth.

    >>> [applies([one], "src/a/x.ts") for one in ("*.ts", "src/**", "lib/**", "src/*.{ts,js}")]
    [True, True, False, False]
    """
    found = False
    for pattern in patterns:
        if pattern.startswith("!"):
            found = found and not _regex(pattern[1:]).fullmatch(path)
        elif _regex(pattern).fullmatch(path):
            found = True
    return found


_PIECES = {"**/": "(?:[^/]+/)*+", "**": ".*+", "*": "[^/]*", "?": "[^/]"}
_BRACES = {"{": "(?:", "}": ")", ",": "|"}


@lru_cache(maxsize=1024)
def _regex(pattern: str) -> re.Pattern[str]:
    text = pattern.removeprefix("./").removeprefix("/")
    if text.endswith("/"):
        text += "**"
    if "/" not in text:
        text = f"**/{text}"
    depth = 0
    parts = []
    for piece in _TOKEN.findall(re.sub(r"(?:\*\*/)+", "**/", text)):
        if piece in _BRACES and (depth or piece == "{"):
            depth += {"{": 1, "}": -1}.get(piece, 0)
            parts.append(_BRACES[piece])
        else:
            parts.append(_PIECES.get(piece) or re.escape(piece))
    return re.compile("".join(parts) + ")" * depth, re.DOTALL)
