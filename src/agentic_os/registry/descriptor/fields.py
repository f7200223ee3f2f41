"""The fields of a descriptor, read one by one; what is wrong is left out and reported."""

from datetime import date
from typing import TYPE_CHECKING

from agentic_os.registry.codes import diagnostic
from agentic_os.registry.descriptor import yaml_nodes
from agentic_os.registry.descriptor.memory_block import (
    MAX_WORD_CHARS,
    MemoryBlock,
    read_memory_block,
)
from agentic_os.registry.descriptor.numbers import whole_number
from agentic_os.registry.descriptor.values import CONTEXTS, Context, Descriptor, Layout
from agentic_os.text.fencing import one_line

if TYPE_CHECKING:
    from yaml import Node

    from agentic_os.results import Diagnostic

MAX_NAME_CHARS = 200
MAX_DESCRIPTION_CHARS = 2000
KNOWN_CONTRACT_VERSION = 2


def clean_name(name: str) -> str:
    """Make a name one short line of visible text; empty when nothing is left."""
    return one_line(" ".join(name[: MAX_NAME_CHARS + 1].split()))[:MAX_NAME_CHARS]


class Fields:
    """Reads the fields of one descriptor and notes what is wrong with them."""

    def __init__(
        self,
        top: yaml_nodes.Block,
        *,
        layout: Layout,
        path: str,
        problems: "list[Diagnostic]",
    ) -> None:
        """Read from the block at the top of the file; diagnostics are appended."""
        self._top = top
        self._layout = layout
        self._path = path
        self._problems = problems
        self._project = yaml_nodes.block(top.nodes.get("project"))

    def read(self, plain_name: str) -> Descriptor:
        """Read every field, in the order of the file."""
        self._report_repeated(self._top, "")
        if self._project is not None:
            self._report_repeated(self._project, "project.")
        elif "project" in self._top.nodes:
            line = yaml_nodes.line_of(self._top.nodes["project"])
            self._note("FIELD_MALFORMED", "project is not a mapping", line)
        contract = self._contract()
        memory = self._memory(contract)
        return Descriptor(
            layout=self._layout,
            name=self._name(plain_name),
            description=self._line("description", MAX_DESCRIPTION_CHARS),
            created=self._created(),
            contract_version=contract,
            init_version=self._line("project_init_version", MAX_WORD_CHARS),
            context=self._context(),
            language=self._top_word("language"),
            delivery=self._top_word("delivery"),
            choice=memory.choice,
            stack=memory.stack,
            tier=memory.tier,
            memory=memory.memory,
            vault=memory.vault,
            graph=memory.graph,
            rag_endpoint=memory.rag_endpoint,
            diagnostics=tuple(self._problems),
        )

    def _memory(self, contract: int | None) -> MemoryBlock:
        return read_memory_block(
            self._top.nodes.get("memory"),
            present="memory" in self._top.nodes,
            contract_version=contract,
            layout=self._layout,
            path=self._path,
            problems=self._problems,
        )

    def _name(self, plain_name: str) -> str:
        node = self._node("name")
        value = self._value(node)
        if node is None or value is None or not value.text.strip():
            self._note(
                "NAME_MISSING",
                "project.name is not text; the folder's name is used",
                yaml_nodes.line_of(node) if node is not None else self._top.line,
            )
            return plain_name
        name = clean_name(value.text)
        if name != value.text.strip():
            self._note("NAME_CLEANED", "project.name was made one visible line", value.line)
        return name

    def _created(self) -> str | None:
        text = self._line("created", MAX_WORD_CHARS)
        if text is None:
            return None
        try:
            date.fromisoformat(text[:10])
        except ValueError:
            line = yaml_nodes.line_of(node) if (node := self._node("created")) else None
            self._note("CREATED_INVALID", "project.created is not a date", line)
        return text

    def _contract(self) -> int | None:
        node = self._node("project_init_contract_version")
        value = yaml_nodes.scalar(node)
        if node is None or (value is not None and value.kind == "null"):
            return 0
        number = whole_number(value)
        line = yaml_nodes.line_of(node)
        if number is None or number < 0:
            self._note(
                "CONTRACT_MALFORMED",
                "project.project_init_contract_version is not a whole number from 0 up",
                line,
            )
            return None
        if number > KNOWN_CONTRACT_VERSION:
            self._note(
                "CONTRACT_NEWER",
                f"contract version {number} is newer than {KNOWN_CONTRACT_VERSION}",
                line,
            )
        return number

    def _context(self) -> Context | None:
        node = self._top.nodes.get("context")
        value = yaml_nodes.scalar(node)
        if node is None or (value is not None and value.kind == "null"):
            return None
        for word in CONTEXTS:
            if value is not None and value.text == word:
                return word
        self._note(
            "CONTEXT_MALFORMED", "context is neither repo nor ambient", yaml_nodes.line_of(node)
        )
        return None

    def _top_word(self, key: str) -> str | None:
        return self._text_of(self._top.nodes.get(key), key, MAX_WORD_CHARS)

    def _line(self, key: str, limit: int) -> str | None:
        return self._text_of(self._node(key), f"project.{key}", limit)

    def _text_of(self, node: "Node | None", shown: str, limit: int) -> str | None:
        """Read an optional line of text, cut and made visible."""
        if node is None:
            return None
        value = yaml_nodes.scalar(node)
        if value is None:
            self._note("FIELD_MALFORMED", f"{shown} is not text", yaml_nodes.line_of(node))
            return None
        if value.kind == "null":
            return None
        return one_line(" ".join(value.text[: limit + 1].split()))[:limit] or None

    def _node(self, key: str) -> "Node | None":
        return self._project.nodes.get(key) if self._project is not None else None

    def _value(self, node: "Node | None") -> yaml_nodes.Scalar | None:
        """Return a scalar that is not null."""
        value = yaml_nodes.scalar(node)
        return None if value is None or value.kind == "null" else value

    def _report_repeated(self, block: yaml_nodes.Block, prefix: str) -> None:
        for key, line in block.repeated:
            shown = one_line(key[:MAX_WORD_CHARS])
            self._note("KEY_DUPLICATE", f"{prefix}{shown} stands twice; the last one counts", line)

    def _note(self, code: str, message: str, line: int | None) -> None:
        self._problems.append(diagnostic(code, message, path=self._path, line=line))
