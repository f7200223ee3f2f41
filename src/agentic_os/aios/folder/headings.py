"""Headings of a text that stand over nothing: a template that nobody filled in yet."""

import re

_HEADING = re.compile(r"(#{1,6})\s")
_GAP = re.compile(r"\n{3,}")


def without_empty_headings(text: str) -> str:
    """Drop headings of level 2 and more with nothing below them, and a title left alone so."""
    lines = text.split("\n")
    kept: list[str] = []
    dropped = False
    fenced = [False] * len(lines)
    inside = False
    for at, line in enumerate(lines):
        if line.lstrip().startswith(("```", "~~~")):
            inside = not inside
        fenced[at] = inside
    for at, line in enumerate(lines):
        level = 0 if fenced[at] else _level(line)
        if level > 1 and _is_empty(lines, fenced, at, level):
            dropped = True
        else:
            kept.append(line)
    said = [line for line in kept if line.strip()]
    alone = dropped and len(said) == 1 and _level(said[0]) == 1
    return "" if alone else _GAP.sub("\n\n", "\n".join(kept)) if dropped else text


def _level(line: str) -> int:
    found = _HEADING.match(line)
    return 0 if found is None else len(found.group(1))


def _is_empty(lines: list[str], fenced: list[bool], at: int, level: int) -> bool:
    """Whether only blank lines and deeper empty headings stand below a heading."""
    for below in range(at + 1, len(lines)):
        depth = 0 if fenced[below] else _level(lines[below])
        if depth and depth <= level:
            return True
        if not depth and lines[below].strip():
            return False
    return True
