"""On which line of a TOML text a key stands, for messages only.

TOML libraries give values without positions. This looks at the text line by line, so
inside multi-line strings it can be fooled: a wrong line in a message is all that
follows.
"""

import re

_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\"' -]+?)\s*\]\]?\s*(?:#.*)?$")


def line_of(text: str, *, key: str, table: str = "", position: int = 0) -> int | None:
    """Return the line (from 1) of ``key``, or of its table, or nothing.

    Args:
        text: the TOML text.
        key: the key as written, without quotes.
        table: the table or array of tables that holds it; empty for the top level.
        position: which table of an array, from 0.
    """
    pattern = re.compile(
        rf"""\s*(?:{re.escape(table)}\s*\.\s*)?["']?{re.escape(key)}["']?\s*[=.]"""
    )
    inline = re.compile(rf"""\s*["']?{re.escape(table)}["']?\s*=""") if table else None
    current, seen, fallback = "", -1, None
    for number, line in enumerate(text.split("\n"), start=1):
        header = _HEADER.match(line)
        if header:
            current = header[2].strip("\"' ")
            seen += current == table
            if fallback is None and _headed(current, table, key) and _at(seen, position, table):
                fallback = number
            continue
        inside = current == table and _at(seen, position, table)
        if pattern.match(line) and (inside or (not current and table in line)):
            return number
        if inline is not None and fallback is None and not current and inline.match(line):
            fallback = number
    return fallback


def _headed(current: str, table: str, key: str) -> bool:
    """Whether a header opens the table sought, or, at the top level, is the key itself."""
    return current == table if table else current == key


def _at(seen: int, position: int, table: str) -> bool:
    return not table or seen == position
