"""Front matter of the AIOS folder: strict YAML, unique keys, read by its nodes.

The convention reads YAML 1.2's core schema, so ``status: on``, ``12:30`` and
``2026-11-30`` are text here, which PyYAML's own tables would turn into something else.
Nothing is constructed from the nodes: no object, no merged key, no expanded alias.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final

from agentic_os.aios.folder.faults import FRONT_MATTER_INVALID, INVALID_UTF8, fault
from agentic_os.errors import AiosError
from agentic_os.text.front_matter import YAML_STRING_TAG

if TYPE_CHECKING:
    from yaml import SafeLoader
    from yaml.nodes import MappingNode, Node

FRONT_MATTER_BYTES: Final = 16 * 1024
"""A project's front matter must close within this many bytes of its README."""

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---\r?\n")
_CLOSING = re.compile(rb"(?:^|\n)---(?:\r?\n|\Z)")
_FIRST_LINE: Final = 2
"""The line of a file on which the text between the delimiters begins."""
_CORE_SCALARS: Final = (
    ("null", r"^(?:~|null|Null|NULL|)$"),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$"),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"),
    (
        "float",
        (
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One top-level value: its text if it is a string, its string items if it is a list."""

    text: str | None = None
    items: tuple[str, ...] = ()

    @property
    def words(self) -> str | None:
        """The trimmed text, if it is a string that is not blank."""
        return (self.text or "").strip() or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The text between the delimiters, and where the body starts, in bytes."""

    text: str
    body_from: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """The fields of a front matter and where the body starts, in bytes.

    ``present`` is false when the file does not open with a delimiter.
    """

    fields: Mapping[str, Field]
    body_from: int
    present: bool

    def text(self, *names: str) -> str | None:
        """Return the first of ``names`` that holds a non-blank string."""
        found = (self.fields[name].words for name in names if name in self.fields)
        return next((words for words in found if words is not None), None)


def read_front_matter(data: bytes, *, limit_bytes: int = FRONT_MATTER_BYTES) -> FrontMatter:
    """Read the front matter at the beginning of ``data``, a file or its first bytes.

    Raises:
        AiosError: DOTAIOS_FRONTMATTER_INVALID when it does not close within
            ``limit_bytes``, is not YAML, repeats a key or is not a mapping;
            DOTAIOS_INVALID_UTF8.
    """
    block = front_matter_block(data, limit_bytes=limit_bytes)
    if block is None:
        return FrontMatter(fields={}, body_from=0, present=False)
    return FrontMatter(fields=_fields(block.text), body_from=block.body_from, present=True)


def front_matter_block(data: bytes, *, limit_bytes: int) -> Block | None:
    """Find the text between the delimiters; ``None`` when the file does not open with one.

    Raises:
        AiosError: DOTAIOS_FRONTMATTER_INVALID when it does not close within
            ``limit_bytes``; DOTAIOS_INVALID_UTF8.
    """
    opening = _OPENING.match(data)
    if opening is None:
        return None
    window = data[opening.end() : limit_bytes]
    closing = _CLOSING.search(window)
    # A delimiter that the window's end cuts short could go on in the file.
    cut = (
        closing is not None
        and not closing.group().endswith(b"\n")
        and (opening.end() + closing.end() >= limit_bytes)
    )
    if closing is None or cut:
        raise _invalid(1)
    try:
        text = window[: closing.start()].decode("utf-8")
    except UnicodeDecodeError:
        raise fault(INVALID_UTF8) from None
    return Block(text=text, body_from=opening.end() + closing.end())


def without_front_matter(text: str) -> str:
    """Drop a closed front matter, delimiters and leading blank lines; else ``text`` as is."""
    if not text.startswith(("---\n", "---\r\n")):
        return text
    lines = re.split(r"\r?\n", text)
    closing = next((at for at, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    return text if closing is None else "\n".join(lines[closing + 1 :]).lstrip("\n")


def _fields(block: str) -> dict[str, Field]:
    root = _compose(block)
    if root is None:
        return {}
    from yaml.nodes import MappingNode

    if not isinstance(root, MappingNode):
        raise _invalid(_FIRST_LINE)
    _require_unique_keys(root)
    return {
        key.value: _field(value)
        for key, value in root.value
        if isinstance(key.value, str) and key.tag == YAML_STRING_TAG
    }


def _field(node: "Node") -> Field:
    from yaml.nodes import ScalarNode, SequenceNode

    if isinstance(node, ScalarNode) and node.tag == YAML_STRING_TAG:
        return Field(text=node.value)
    if isinstance(node, SequenceNode):
        items = (item for item in node.value if isinstance(item, ScalarNode))
        return Field(items=tuple(item.value for item in items if item.tag == YAML_STRING_TAG))
    return Field()


def _compose(block: str) -> "Node | None":
    import yaml

    try:
        found: Node | None = yaml.compose(block, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _invalid(_FIRST_LINE + (0 if mark is None else mark.line)) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise _invalid(_FIRST_LINE) from None
    return found


@cache
def _loader() -> "type[SafeLoader]":
    """Make the loader whose plain scalars follow the core schema."""
    import yaml

    base: type[SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class CoreLoader(base):  # type: ignore[valid-type,misc]  # one of two bases, both loaders
        yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}

    for name, pattern in _CORE_SCALARS:
        CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(pattern), None)
    return CoreLoader


def _require_unique_keys(root: "MappingNode") -> None:
    """Refuse a mapping, at any depth, that repeats a scalar key; each node is seen once."""
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode

    seen: set[int] = set()
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            waiting.extend(node.value)
        elif isinstance(node, MappingNode):
            keys: set[tuple[str, str]] = set()
            for key, value in node.value:
                waiting.extend((key, value))
                if isinstance(key, ScalarNode):
                    if (key.tag, key.value) in keys:
                        raise _invalid(_FIRST_LINE + key.start_mark.line)
                    keys.add((key.tag, key.value))


def _invalid(line: int) -> AiosError:
    """Make the error of a front matter that is wrong on ``line`` of its file."""
    made = fault(FRONT_MATTER_INVALID)
    made.line = line
    return made
