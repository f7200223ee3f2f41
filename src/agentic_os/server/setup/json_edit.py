"""Edits of a JSON text that keep every other byte: comments, order, blanks.

Pure. Text is inserted or taken out and nothing is printed anew. Comments and trailing commas, which
clients allow in their files, are read over. A path is made of names of objects and, at its end,
the index of an element.

>>> set_in('{"a": 1} // mine', ("a",), 2)
'{"a": 2} // mine'
>>> remove_in('{"a": 1, /* mine */ "b": 2}', ("b",))
'{"a": 1 /* mine */}'
"""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentic_os.text.jsonc import plain_json

Path = Sequence[str | int]
_INDENT = "  "


class _Member(NamedTuple):
    """A member of an object, or an element of an array, and where it stands."""

    name: str | int
    start: int
    value: int
    end: int


def parse(text: str) -> object:
    """Read JSON with comments and trailing commas.

    Raises:
        ValueError: it is none.
    """
    try:
        return json.loads(plain_json(text))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def set_in(text: str, path: Path, value: object) -> str:
    """Set a value; objects on the way are made.

    Raises:
        ValueError: something on the way is no object.
    """
    plain = plain_json(text)
    at = _first(plain, 0)
    for depth, name in enumerate(path):
        found = _found(plain, at, name)
        if found is None:
            return _inserted(text, plain, at, path, depth, value)
        at = found.value
        if depth == len(path) - 1:
            return text[:at] + _shown(value, depth + 1) + text[found.end :]
    raise ValueError("the path is empty")


def append_in(text: str, path: Path, value: object) -> str:
    """Append to the array at a path, which is made if it is not there.

    Raises:
        ValueError: something on the way is no object, or the end no array.
    """
    plain = plain_json(text)
    at = _first(plain, 0)
    for name in path:
        found = _found(plain, at, name)
        if found is None:
            return set_in(text, path, [value])
        at = found.value
    elements = list(_members(plain, at, "["))
    shown = _shown(value, len(path) + 1)
    if not elements:
        return f"{text[: at + 1]}{shown}{text[at + 1 :]}"
    end = elements[-1].end
    return f"{text[:end]}, {shown}{text[end:]}"


def remove_in(text: str, path: Path) -> str:
    """Take out a member or an element; text without it stays as it is.

    Raises:
        ValueError: something on the way has another form.
    """
    plain = plain_json(text)
    at = _first(plain, 0)
    for depth, name in enumerate(path):
        members = list(_members(plain, at, "[" if isinstance(name, int) else "{"))
        place = next((number for number, one in enumerate(members) if one.name == name), None)
        if place is None:
            return text
        found = members[place]
        at = found.value
        if depth == len(path) - 1:
            return _without(text, plain, members, place)
    raise ValueError("the path is empty")


def _without(text: str, plain: str, members: list[_Member], place: int) -> str:
    """Cut a member with one comma: the one after it, or that before the last."""
    found = members[place]
    start, end = found.start, found.end
    after = _first(plain, end)
    if place < len(members) - 1:
        end = after + 1
    elif place:
        comma = plain.index(",", members[place - 1].end)
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    while start and text[start - 1] in " \t\r\n":
        start -= 1
    return text[:start] + text[end:]


def _inserted(text: str, plain: str, at: int, path: Path, depth: int, value: object) -> str:
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    inner = "\n" + _INDENT * (depth + 1)
    follows = plain[_first(plain, at + 1)] != "}"
    end = "," if follows else "\n" + _INDENT * depth
    end += " " if follows and not plain[at + 1].isspace() else ""
    member = f"{json.dumps(path[depth])}: {_shown(value, depth + 1)}"
    return f"{text[: at + 1]}{inner}{member}{end}{text[at + 1 :]}"


def _found(plain: str, at: int, name: str | int) -> _Member | None:
    opening = "[" if isinstance(name, int) else "{"
    return next((one for one in _members(plain, at, opening) if one.name == name), None)


def _shown(value: object, depth: int) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + _INDENT * depth)


def _members(plain: str, at: int, opening: str) -> Iterator[_Member]:
    """List what an object or an array holds."""
    if plain[at : at + 1] != opening:
        raise ValueError("another form")
    decoder = json.JSONDecoder()
    count, at = 0, _first(plain, at + 1)
    while plain[at] not in "}]":
        start, name = at, count
        if opening == "{":
            key, end = decoder.raw_decode(plain, at)
            at = _first(plain, _first(plain, end) + 1)
        else:
            key = name
        _, end = decoder.raw_decode(plain, at)
        yield _Member(key, start, at, end)
        count, at = count + 1, _first(plain, end)
        if plain[at] == ",":
            at = _first(plain, at + 1)


def _first(plain: str, at: int) -> int:
    """Return the position of the next character that is no blank."""
    while at < len(plain) and plain[at] in " \t\r\n":
        at += 1
    return at
