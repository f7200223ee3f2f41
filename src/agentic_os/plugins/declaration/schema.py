"""The subset of JSON Schema that describes arguments and results (section 13).

No references and no combinators: a schema is bounded by its own length. Patterns are RE2's,
since a plugin's author chooses both the pattern and, through an agent, the text.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec

_TYPES: Final[Mapping[str, Callable[[object], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}
NESTING: Final = 16
_Type = Literal["object", "array", "string", "boolean", "null", "integer", "number"]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]


class Schema(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename="camel",
):
    """A description of a JSON value; a member that is absent allows everything."""

    type: _Type | None = None
    title: str = ""
    description: str = ""
    properties: dict[str, "Schema"] | None = None
    required: tuple[str, ...] = ()
    additional_properties: bool = True
    items: "Schema | None" = None
    enum: Annotated[tuple[Any, ...], msgspec.Meta(max_length=256)] | None = None
    const: object = msgspec.UNSET
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: float | None = None
    exclusive_maximum: float | None = None
    min_length: _Count | None = None
    max_length: _Count | None = None
    min_items: _Count | None = None
    max_items: _Count | None = None
    pattern: Annotated[str, msgspec.Meta(max_length=512)] | None = None


def read_schema(value: object) -> Schema | None:
    """Read a schema; the empty text stands for none.

    Raises:
        ValueError: it is none of the subset, or nested too deep.
    """
    if value == "":
        return None
    schema = msgspec.convert(value, Schema)  # a ValidationError is a ValueError
    _check_depth(schema, 1)
    return schema


def faults(schema: Schema, value: object, place: str = "") -> Iterator[str]:
    """Yield what is wrong with a value, each with its place; nothing where it fits.

    >>> schema = read_schema({"type": "object", "required": ["a"], "properties":
    ...     {"a": {"type": "integer", "minimum": 1}}})
    >>> list(faults(schema, {"a": 0})), list(faults(schema, {}))
    (['a is less than 1'], ['a is missing'])
    """
    name = place or "the value"
    if schema.type is not None and not _TYPES[schema.type](value):
        yield f"{name} is not of the type {schema.type}"
        return
    if schema.enum is not None and not any(_same(value, one) for one in schema.enum):
        yield f"{name} is none of the values allowed"
    if schema.const is not msgspec.UNSET and not _same(value, schema.const):
        yield f"{name} is not the value required"
    yield from _content_faults(schema, value, place)


def _content_faults(schema: Schema, value: object, place: str) -> Iterator[str]:
    name = place or "the value"
    match value:
        case bool():
            return
        case int() | float():
            yield from _number_faults(schema, value, name)
        case str():
            yield from _text_faults(schema, value, name)
        case list():
            yield from _bounds(schema.min_items, schema.max_items, len(value), name, "items")
            if schema.items is not None:
                for at, item in enumerate(value):
                    yield from faults(schema.items, item, f"{place}[{at}]")
        case dict():
            yield from _member_faults(schema, value, place)
        case _:
            return


def _member_faults(schema: Schema, value: dict[str, object], place: str) -> Iterator[str]:
    properties = schema.properties or {}
    prefix = f"{place}." if place else ""
    for key in schema.required:
        if key not in value:
            yield f"{prefix}{key} is missing"
    for key, item in value.items():
        if key in properties:
            yield from faults(properties[key], item, f"{prefix}{key}")
        elif not schema.additional_properties:
            yield f"{prefix}{key} is not known"


def _number_faults(schema: Schema, value: float, name: str) -> Iterator[str]:
    if schema.minimum is not None and value < schema.minimum:
        yield f"{name} is less than {schema.minimum:g}"
    if schema.maximum is not None and value > schema.maximum:
        yield f"{name} is more than {schema.maximum:g}"
    if schema.exclusive_minimum is not None and value <= schema.exclusive_minimum:
        yield f"{name} is not more than {schema.exclusive_minimum:g}"
    if schema.exclusive_maximum is not None and value >= schema.exclusive_maximum:
        yield f"{name} is not less than {schema.exclusive_maximum:g}"


def _text_faults(schema: Schema, value: str, name: str) -> Iterator[str]:
    yield from _bounds(schema.min_length, schema.max_length, len(value), name, "characters")
    if schema.pattern is not None and not _pattern(schema.pattern)(value):
        yield f"{name} does not match its pattern"


def _bounds(low: int | None, high: int | None, count: int, name: str, unit: str) -> Iterator[str]:
    if low is not None and count < low:
        yield f"{name} has fewer than {low} {unit}"
    if high is not None and count > high:
        yield f"{name} has more than {high} {unit}"


@functools.lru_cache(maxsize=256)
def _pattern(pattern: str) -> Callable[[str], object]:
    import re2  # comes with the extra that runs plugins

    try:
        search: Callable[[str], object] = re2.compile(pattern).search
    except re2.error:
        return lambda _: None
    return search


def _same(value: object, other: object) -> bool:
    """Equality as JSON has it: true is not 1."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    return value == other


def _check_depth(schema: Schema, level: int) -> None:
    if level > NESTING:
        raise ValueError(f"nested deeper than {NESTING} levels")
    for inner in (*(schema.properties or {}).values(), schema.items):
        if inner is not None:
            _check_depth(inner, level + 1)
