"""Secrets replaced in every text of a value: what an answer shows, names and paths included.

The texts that projects wrote are redacted where they are read. Names (of files, folders, branches)
reach an answer on other ways; this goes over the whole value, once, where it is made.
"""

from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from agentic_os.text.redaction import Redactor

T = TypeVar("T")

_LEAST_CHARS = 12
"""No text that is shorter holds a secret together with what makes it one."""


def redacted_value(value: T, redactor: Redactor) -> T:
    """Return a value with every secret in its texts replaced; the same object where there is none.

    Goes into structs, frozen dataclasses, tuples, lists and mappings, keys included.
    """
    return cast("T", _redacted(value, redactor))


def _redacted(value: object, redactor: Redactor) -> object:
    if isinstance(value, str):
        return _redacted_text(value, redactor)
    if isinstance(value, tuple | list):
        items = [_redacted(item, redactor) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, Mapping):
        return {_redacted(key, redactor): _redacted(item, redactor) for key, item in value.items()}
    if isinstance(value, msgspec.Struct) or (is_dataclass(value) and not isinstance(value, type)):
        return _redacted_fields(value, redactor)
    return value


def _redacted_text(text: str, redactor: Redactor) -> str:
    if len(text) < _LEAST_CHARS or (text.isalnum() and text.islower()):
        return text  # too short, or a hash or a word, which are no secrets by themselves
    return redactor.redact(text).text


def _redacted_fields(value: Any, redactor: Redactor) -> object:
    changed: dict[str, object] = {}
    for name in _names(cast("Hashable", type(value))):
        old = getattr(value, name)
        if old is None or isinstance(old, int | float):
            continue
        new = _redacted(old, redactor)
        if new is not old and new != old:
            changed[name] = new
    if not changed:
        return value
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **changed)
    return replace(value, **changed)


@cache
def _names(kind: Hashable) -> tuple[str, ...]:
    names = getattr(kind, "__struct_fields__", None)
    return names or tuple(field.name for field in fields(cast("Any", kind)))
