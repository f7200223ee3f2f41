"""Careful steps into parsed documents: every value may be of any shape.

Parsers of TOML, JSON and YAML give nested ``object`` values; these functions take what is
wanted of them and treat every other shape as absent.
"""

from collections.abc import Iterator


def table(value: object, *keys: str) -> dict[str, object]:
    """Follow keys through nested tables; an empty table where one is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        return {}
    return {key: item for key, item in value.items() if isinstance(key, str)}


def items(value: object) -> list[object]:
    """Return a list's elements; empty for anything else."""
    return list(value) if isinstance(value, list) else []


def text(value: object) -> str:
    """Return a text; empty for anything else."""
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """Return the texts of a list."""
    return [item for item in items(value) if isinstance(item, str)]


def text_pairs(value: object) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a table whose values are texts."""
    for key, item in table(value).items():
        if isinstance(item, str):
            yield key, item
