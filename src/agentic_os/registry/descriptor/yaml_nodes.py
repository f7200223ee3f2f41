"""Hostile YAML to nodes, never to objects.

Design decision 4. The text is only composed: scalars keep the text that was written, so
nothing is converted and nothing can overflow, raise or run. An alias is the same node
once more, so no expansion exists to bound. Depth is bounded before the C composer, which
recurses, sees the text. Kinds of plain scalars (null, true or false) are told apart when
one is looked at, which saves the resolver's work on all the others.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from agentic_os.text.front_matter import YAML_STRING_TAG

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yaml import CSafeLoader, Node

MAX_NESTING_LEVELS = 64
MAX_EVENTS_ENTRIES = 100_000

ScalarKind = Literal["text", "null", "boolean"]

# Block nesting grows by indentation or by a run of indicators at a line's start; with
# fewer than this many in a row it cannot pass twice MAX_NESTING_LEVELS.
_RUN = rf"[ \t\-?:]{{{MAX_NESTING_LEVELS}}}"
_LONG_RUN = re.compile("\n" + _RUN)
_LONG_FIRST_RUN = re.compile(_RUN)
_ODD_LINE_ENDS = ("\x85", "\u2028", "\u2029")
_MESSAGE_CHARS = 120
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEAN_WORDS = ("yes", "no", "true", "false", "on", "off")
_BOOLEANS = frozenset(
    form for word in _BOOLEAN_WORDS for form in (word, word.capitalize(), word.upper())
)
_MAPPING, _SCALAR = "mapping", "scalar"  # what a node says it is


class Broken(msgspec.Struct, frozen=True, kw_only=True):
    """Why a text is no usable YAML; ``line`` counts from 1."""

    reason: str
    line: int | None
    too_deep: bool = False


class Scalar(msgspec.Struct, frozen=True, kw_only=True):
    """A scalar: the text that was written, what YAML takes it for, its line from 1.

    Numbers and dates are text here.
    """

    text: str
    kind: ScalarKind
    line: int


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A mapping: the last node of each key, the keys that stood twice, its line."""

    nodes: "Mapping[str, Node]"
    repeated: tuple[tuple[str, int], ...]
    line: int


@lru_cache(maxsize=1)
def _composer() -> "type[CSafeLoader]":
    """Return the loader that composes nodes without working out the tags of plain scalars."""
    # Loaded for the first descriptor that an earlier run did not parse: often there is none.
    import yaml

    # A PyYAML that was built without libyaml has no C loader; the other one is slower.
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Composer(loader):  # type: ignore[misc]  # one of two loaders, chosen above
        def descend_resolver(self, *_: object) -> None:
            """Do nothing: there are no path resolvers."""

        def ascend_resolver(self) -> None:
            """Do nothing: there are no path resolvers."""

        def resolve(self, *_: object) -> None:
            """Leave the tag open; ``scalar`` looks at the text when it is asked for."""

    return Composer


def compose(text: str) -> "Node | Broken | None":
    """Return the root node of the only document; ``None`` if it is empty or null."""
    import yaml

    if _suspicious(text):
        fault = _too_deep(text)
        if fault is not None:
            return fault
    try:
        root = yaml.compose(text, Loader=_composer())
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        reason = " ".join(part for part in (fault.problem, fault.context) if part)
        line = None if mark is None else mark.line + 1
        # libyaml has a bound of its own, which its look-ahead can meet before ours.
        return Broken(reason=_cut(reason), line=line, too_deep="nesting depth" in reason)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as fault:
        return Broken(reason=_cut(getattr(fault, "reason", type(fault).__name__)), line=None)
    top = scalar(root)
    return None if top is not None and top.kind == "null" else root


def block(node: Any) -> Block | None:
    """Return a mapping node as a block; ``None`` for any other node.

    Keys that are not scalars are passed over; a key is the text that was written.
    """
    if node is None or node.id != _MAPPING:
        return None
    nodes: dict[str, Node] = {}
    repeated: list[tuple[str, int]] = []
    for key, value in node.value:
        if key.id == _SCALAR:
            name = key.value
            if name in nodes:
                repeated.append((name, line_of(key)))
            nodes[name] = value
    return Block(nodes=nodes, repeated=tuple(repeated), line=line_of(node))


def scalar(node: Any) -> Scalar | None:
    """Return a scalar node as a value; ``None`` for any other node."""
    if node is None or node.id != _SCALAR:
        return None
    text: str = node.value
    kind: ScalarKind = "text"
    if not node.style and node.tag != YAML_STRING_TAG:
        if text in _NULLS:
            kind = "null"
        elif text in _BOOLEANS:
            kind = "boolean"
    return Scalar(text=text, kind=kind, line=line_of(node))


def line_of(node: "Node") -> int:
    """Return the line on which a node starts, from 1."""
    line: int = node.start_mark.line
    return line + 1


def _suspicious(text: str) -> bool:
    """Whether the text could nest deeply; cheap, and true too often rather than too seldom."""
    return (
        text.count("[") + text.count("{") > MAX_NESTING_LEVELS
        or _LONG_RUN.search(text) is not None
        or _LONG_FIRST_RUN.match(text) is not None
        or any(end in text for end in _ODD_LINE_ENDS)
    )


def _too_deep(text: str) -> Broken | None:
    """Count depth and events with the parser, which does not recurse."""
    import yaml

    depth = 0
    try:
        for count, event in enumerate(yaml.parse(text, Loader=_composer())):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_NESTING_LEVELS:
                    reason = f"it is nested more than {MAX_NESTING_LEVELS} levels deep"
                    mark = event.start_mark
                    line = None if mark is None else mark.line + 1
                    return Broken(reason=reason, line=line, too_deep=True)
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if count > MAX_EVENTS_ENTRIES:
                return Broken(reason="it has too many parts", line=None, too_deep=True)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return None  # compose meets the same fault and names it
    return None


def _cut(reason: str) -> str:
    return reason if len(reason) <= _MESSAGE_CHARS else reason[:_MESSAGE_CHARS] + "…"
