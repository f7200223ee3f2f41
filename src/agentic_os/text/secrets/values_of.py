"""The one walk over the texts of a value: to mask the secrets in them, or to find what holds one.

The texts that projects wrote are redacted where they are read. Names (of files, folders, branches)
reach an answer on other ways; ``redacted_value`` goes over the whole value, once, where it is made.
Who drops or refuses what holds a secret asks ``texts_of``.

>>> rewritten({"a": ("b", 1)}, str.upper)
{'A': ('B', 1)}
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from agentic_os.text.secrets.redaction import Redactor

T = TypeVar("T")

_LEAST_CHARS = 12
"""No text that is shorter holds a secret together with what makes it one."""
_NO_TEXTS = frozenset({bool, int, float, type(None)})


def redacted_value(value: T, redactor: Redactor, *, but: str = "") -> T:
    """Return a value with every secret in its texts replaced; the same object where there is none.

    All texts are looked at in one go first: most values hold no secret, and many are asked
    about. Between two texts stands a line end, which no rule but that of key blocks looks across.

    Args:
        value: what is shown.
        redactor: knows the secrets.
        but: the name of a field that was redacted when it was read, and may be long.
    """
    if not redactor.redact("\n".join(texts_of(value, but=but))).findings:
        return value

    def clean(text: str) -> str:
        return redactor.redact(text).text if len(text) >= _LEAST_CHARS else text

    return rewritten(value, clean, but=but)


def texts_of(value: object, *, but: str = "") -> list[str]:
    """Return every text in a value, keys of mappings included, in order.

    Args:
        value: frozen dataclasses, structs, tuples, lists and mappings of texts and of numbers.
        but: the name of a field that is passed over.
    """
    texts: list[str] = []
    _collect(value, texts, but)
    return texts


def rewritten(value: T, change: Callable[[str], str], *, but: str = "") -> T:
    """Return a value with every text changed; the same object where nothing is.

    Args:
        value: as for ``texts_of``.
        change: what a text becomes.
        but: the name of a field that stays as it is.
    """
    return cast("T", _rewritten(value, change, but))


def _collect(value: object, texts: list[str], but: str) -> None:
    kind = value.__class__
    if kind is str:
        texts.append(cast("str", value))
    elif kind in _NO_TEXTS:
        pass
    elif kind is tuple or kind is list:
        for item in cast("tuple[object, ...]", value):
            _collect(item, texts, but)
    elif isinstance(value, Mapping):
        for pair in value.items():
            _collect(pair, texts, but)
    else:
        for name in _names(cast("Hashable", kind), but):
            _collect(getattr(value, name), texts, but)


def _rewritten(value: object, change: Callable[[str], str], but: str) -> object:
    if isinstance(value, str):
        new = change(value)
        return value if new == value else new
    if isinstance(value, tuple | list):
        items = [_rewritten(item, change, but) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, Mapping):
        return {
            _rewritten(key, change, but): _rewritten(item, change, but)
            for key, item in value.items()
        }
    return _rewritten_record(value, change, but)


def _rewritten_record(value: Any, change: Callable[[str], str], but: str) -> object:
    changed: dict[str, object] = {}
    for name in _names(cast("Hashable", value.__class__), but):
        old = getattr(value, name)
        new = _rewritten(old, change, but)
        if new is not old:
            changed[name] = new
    if not changed:
        return value
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **changed)
    return replace(value, **changed)


@cache
def _names(kind: Hashable, but: str) -> tuple[str, ...]:
    """Return the fields of a dataclass or a struct but one; none of any other type."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        names = kind.__struct_fields__
    else:
        names = tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
    return tuple(name for name in names if name != but)
