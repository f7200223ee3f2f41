"""Keys that two or more projects state with different values.

A statement is a ``key: value`` line or a ``- **Key**: value`` line in the body of a fact. Front
matter, code blocks, quotes and the convention's own labels (Why, How to apply) are not
statements. Keys and values are compared without case, markup and spacing; what is shown is the
first wording. Nothing here prefers a value.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from agentic_os.results import Difference, Provenance, StatedValue
from agentic_os.text.front_matter import split_front_matter
from agentic_os.text.unicode_form import folded

MAX_STATEMENTS_ENTRIES = 1_000
"""Statements read of one fact; the convention keeps facts under 100 lines."""
KEY_CHARS = 60
VALUE_CHARS = 300
CONVENTION_LABELS = frozenset({"why", "how to apply", "note", "example", "see", "see also", "todo"})

_STATEMENT = re.compile(
    r"^\s{0,8}(?:[-*+]\s+|\d+[.)]\s+)?"
    r"(?:\*\*(?P<bold>[^*:]{1,60}?)(?::\*\*|\*\*\s*:)|(?P<plain>[A-Za-z`][^:*|<>\[\]{}]{0,59}?):)"
    r"\s+(?P<value>\S.*)$"
)
_MARKUP = re.compile(r"[*`\"']+")
_SEPARATORS = re.compile(r"[\s_\-]+")
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One stated value and where it stands."""

    key: str
    value: str
    source: Provenance


def states_too_much(text: str) -> bool:
    """Whether a fact has more statements than are compared."""
    if text.count("\n") < MAX_STATEMENTS_ENTRIES:
        return False
    nowhere = Provenance(project="", path="", lines=(1, 1), sha256="")
    found = islice(_statements(text, nowhere), MAX_STATEMENTS_ENTRIES, None)
    return next(found, None) is not None


def statements(text: str, source: Provenance) -> Iterator[Statement]:
    """Return the first ``MAX_STATEMENTS_ENTRIES`` statements of one fact, each with its own line.

    Args:
        text: the whole redacted fact file, front matter included.
        source: where the fact stands; its lines are replaced by the statement's line.
    """
    return islice(_statements(text, source), MAX_STATEMENTS_ENTRIES)


def _statements(text: str, source: Provenance) -> Iterator[Statement]:
    front = split_front_matter(text)
    fenced = False
    start = front.body_line if front.present else 1
    for number, line in enumerate(text.split("\n")[start - 1 :], start):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or ":" not in line or len(line) > KEY_CHARS + VALUE_CHARS:
            continue
        match = _STATEMENT.match(line)
        if match is None:
            continue
        key = _MARKUP.sub("", match["bold"] or match["plain"]).strip()
        value = match["value"].strip()
        if not normal_key(key) or normal_key(key) in CONVENTION_LABELS or value.startswith("//"):
            continue
        yield Statement(
            key=key,
            value=value,
            source=Provenance(
                project=source.project,
                path=source.path,
                lines=(number, number),
                sha256=source.sha256,
                branch=source.branch,
                commit=source.commit,
            ),
        )


def differences(stated: Iterable[Statement]) -> tuple[Difference, ...]:
    """Return the keys on which projects differ, with every value and all of its sources."""
    keys: dict[str, dict[str, list[Statement]]] = {}
    for statement in stated:
        values = keys.setdefault(normal_key(statement.key), {})
        values.setdefault(normal_value(statement.value), []).append(statement)
    found = []
    for key in sorted(keys):
        values = keys[key]
        projects = {item.source.project for items in values.values() for item in items}
        if len(values) < 2 or len(projects) < 2:  # noqa: PLR2004 - it takes two to differ
            continue
        found.append(
            Difference(
                key=next(iter(values.values()))[0].key,
                values=tuple(
                    StatedValue(value=items[0].value, sources=tuple(item.source for item in items))
                    for items in values.values()
                ),
            )
        )
    return tuple(found)


def normal_key(key: str) -> str:
    """Return a key without case, markup and separators: ``Base-URL`` and ``base url`` are one."""
    return folded(_SEPARATORS.sub(" ", _MARKUP.sub("", key)).strip())


def normal_value(value: str) -> str:
    """Return a value without case, markup, spacing and a closing full stop."""
    return folded(" ".join(_MARKUP.sub("", value).split()).rstrip("."))
