"""The ``memory:`` block: the stack is the truth, the tier is derived from it.

Producer contract, section 3, and design decision 1:

- No block at all: at contract >= 1 that is how a declined backend was written (``none``),
  at v0 nothing was recorded (``unknown``). Either way nothing is read.
- ``stack: none``: declined; a surface declared beside it is ignored and reported.
- A known stack decides the tier. A declared tier that disagrees is reported, and neither
  adds nor takes a surface.
- No stack, or one that nobody knows: the declared tier is the only evidence, else 0.
- A path that leaves the project is refused before its tier is looked at; then a surface
  below its tier is ignored with a warning.
- v0 knows no ``graph_path``: by convention it is ``graphify-out/graph.json``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import msgspec

from agentic_os.registry.codes import diagnostic
from agentic_os.registry.descriptor import yaml_nodes
from agentic_os.registry.descriptor.containment import Escape, contained
from agentic_os.registry.descriptor.numbers import whole_number
from agentic_os.text.fencing import one_line

if TYPE_CHECKING:
    from yaml import Node

    from agentic_os.results import Diagnostic

MemoryChoice = Literal["recorded", "none", "unknown"]

TIER_OF_STACK: Mapping[str, int] = MappingProxyType(
    {"auto": 0, "obsidian-only": 1, "obsidian-graphify": 2, "obsidian-graphify-rag": 3}
)
STACK_ALIASES: Mapping[str, str] = MappingProxyType({"obsidian": "obsidian-only"})
DECLINED = "none"
HIGHEST_TIER = 3
VAULT_TIER = 1
GRAPH_TIER = 2
RAG_TIER = 3
CONVENTIONAL_GRAPH_PATH = "graphify-out/graph.json"
MAX_WORD_CHARS = 80
MAX_ENDPOINT_CHARS = 2000


class DeclaredPath(msgspec.Struct, frozen=True, kw_only=True):
    """A path of the memory block.

    ``path`` is relative and contained, or ``None`` where it was refused; ``shown`` is
    what was written, fit for a message. ``conventional`` paths were not written at all.
    """

    path: str | None
    shown: str
    conventional: bool = False


class MemoryBlock(msgspec.Struct, frozen=True, kw_only=True):
    """What the block comes to; paths are ``None`` where nothing is declared."""

    choice: MemoryChoice
    stack: str | None = None
    tier: int | None = None
    memory: DeclaredPath | None = None
    vault: DeclaredPath | None = None
    graph: DeclaredPath | None = None
    rag_endpoint: str | None = None


def read_memory_block(
    node: "Node | None",
    *,
    present: bool,
    contract_version: int | None,
    layout: str,
    path: str,
    problems: "list[Diagnostic]",
) -> MemoryBlock:
    """Work out the block.

    Args:
        node: the value of the top-level ``memory`` key.
        present: whether there is such a key.
        contract_version: 0 where absent, ``None`` where malformed.
        layout: ``.agents`` or ``.claude``, beside which memory lies by default.
        path: the descriptor's path, for the diagnostics.
        problems: diagnostics are appended here.
    """
    if not present:
        declined = contract_version is not None and contract_version >= 1
        return MemoryBlock(choice="none" if declined else "unknown")
    block = yaml_nodes.block(node)
    if block is None:
        line = yaml_nodes.line_of(node) if node is not None else None
        problems.append(
            diagnostic("MEMORY_MALFORMED", "memory: is not a mapping", path=path, line=line)
        )
        return MemoryBlock(choice="unknown")
    reader = _Reader(block, path=path, problems=problems)
    reader.report_repeated()
    stack, known = reader.stack()
    declared_tier = reader.tier()
    if stack == DECLINED:
        reader.report_declined(declared_tier)
        return MemoryBlock(choice="none", stack=DECLINED)
    tier = reader.decided_tier(stack, declared_tier, known=known)
    memory = reader.declared("memory_path", tier, 0)
    if memory is None:
        default = f"{layout}/memory"
        memory = DeclaredPath(path=default, shown=default, conventional=True)
    vault = reader.declared("vault_path", tier, VAULT_TIER)
    if vault is None and tier >= VAULT_TIER:
        reader.report_undeclared("vault_path", tier)
    graph = reader.declared("graph_path", tier, GRAPH_TIER)
    if graph is None and tier >= GRAPH_TIER:
        if contract_version == 0:
            graph = DeclaredPath(
                path=CONVENTIONAL_GRAPH_PATH, shown=CONVENTIONAL_GRAPH_PATH, conventional=True
            )
        else:
            reader.report_undeclared("graph_path", tier)
    return MemoryBlock(
        choice="recorded",
        stack=stack,
        tier=tier,
        memory=memory,
        vault=vault,
        graph=graph,
        rag_endpoint=reader.endpoint(tier),
    )


class _Reader:
    """Reads the keys of one block and notes what is wrong with them."""

    def __init__(self, block: yaml_nodes.Block, *, path: str, problems: "list[Diagnostic]") -> None:
        self._block = block
        self._path = path
        self._problems = problems

    def report_repeated(self) -> None:
        for key, line in self._block.repeated:
            shown = one_line(key[:MAX_WORD_CHARS])
            self._note("KEY_DUPLICATE", f"memory.{shown} stands twice; the last one counts", line)

    def stack(self) -> tuple[str | None, bool]:
        """Return the stack under its own name, and whether anybody knows it."""
        node = self._block.nodes.get("stack")
        value = yaml_nodes.scalar(node)
        if node is None or (value is not None and value.kind == "null"):
            self._note("STACK_MISSING", "memory.stack is absent", self._block.line)
            return None, False
        if value is None:
            self._note("STACK_UNKNOWN", "memory.stack is not a word", yaml_nodes.line_of(node))
            return None, False
        word = STACK_ALIASES.get(value.text, value.text)
        if word in TIER_OF_STACK or word == DECLINED:
            return word, True
        shown = one_line(word[:MAX_WORD_CHARS])
        self._note("STACK_UNKNOWN", f"memory.stack {shown!r} is not known", value.line)
        return shown or None, False

    def tier(self) -> int | None:
        """Return the declared tier, limited to 0 to 3; ``None`` if there is none."""
        node = self._block.nodes.get("tier")
        value = yaml_nodes.scalar(node)
        if node is None or (value is not None and value.kind == "null"):
            return None
        number = whole_number(value)
        line = yaml_nodes.line_of(node)
        if number is None:
            self._note("TIER_MALFORMED", "memory.tier is not a whole number", line)
            return None
        clamped = min(max(number, 0), HIGHEST_TIER)
        if clamped != number:
            self._note(
                "TIER_OUT_OF_RANGE", f"memory.tier lies outside 0 to 3; {clamped} is taken", line
            )
        return clamped

    def decided_tier(self, stack: str | None, declared: int | None, *, known: bool) -> int:
        """Return the tier that counts; the stack's where anybody knows the stack."""
        if not known or stack is None:
            return declared or 0
        tier = TIER_OF_STACK[stack]
        if declared is not None and declared != tier:
            self._note(
                "TIER_DISAGREES",
                f"memory.tier says {declared}, but the stack {stack} is tier {tier}",
                yaml_nodes.line_of(self._block.nodes["tier"]),
            )
        return tier

    def report_declined(self, declared_tier: int | None) -> None:
        """Note what stands beside ``stack: none``."""
        if declared_tier is not None:
            self._note(
                "TIER_DISAGREES",
                f"memory.tier says {declared_tier}, but the stack none has no tier",
                yaml_nodes.line_of(self._block.nodes["tier"]),
            )
        for key in ("memory_path", "vault_path", "graph_path", "rag_endpoint"):
            node = self._block.nodes.get(key)
            if node is not None and not _is_empty(node):
                self._note(
                    "SURFACE_BELOW_TIER",
                    f"memory.{key} is declared beside the stack none; it is ignored",
                    yaml_nodes.line_of(node),
                )

    def declared(self, key: str, tier: int, gate: int) -> DeclaredPath | None:
        """Return a declared path; escapes are refused first, then the tier is looked at."""
        node = self._block.nodes.get(key)
        if node is None or _is_empty(node):
            return None
        line = yaml_nodes.line_of(node)
        value = yaml_nodes.scalar(node)
        if value is None:
            self._note("SURFACE_OUTSIDE", f"memory.{key} is not a path", line)
            return DeclaredPath(path=None, shown="") if tier >= gate else None
        found = contained(value.text)
        if isinstance(found, Escape):
            self._note("SURFACE_OUTSIDE", f"memory.{key} {found.shown!r} {found.reason}", line)
            return DeclaredPath(path=None, shown=found.shown) if tier >= gate else None
        if tier < gate:
            self._note(
                "SURFACE_BELOW_TIER",
                f"memory.{key} needs tier {gate}, the project has {tier}; it is ignored",
                line,
            )
            return None
        return DeclaredPath(path=found, shown=found)

    def report_undeclared(self, key: str, tier: int) -> None:
        self._note(
            "SURFACE_UNDECLARED",
            f"memory.{key} is absent, though the project has tier {tier}",
            self._block.line,
        )

    def endpoint(self, tier: int) -> str | None:
        """Return the endpoint as written; it is opaque and never run (section 4)."""
        node = self._block.nodes.get("rag_endpoint")
        if node is None or _is_empty(node):
            return None
        line = yaml_nodes.line_of(node)
        value = yaml_nodes.scalar(node)
        if (
            value is None
            or value.kind == "boolean"
            or len(value.text) > MAX_ENDPOINT_CHARS
            or not value.text.isprintable()
        ):
            self._note(
                "FIELD_MALFORMED",
                "memory.rag_endpoint is not one short line of text; it is taken as unset",
                line,
            )
            return None
        if tier < RAG_TIER:
            self._note(
                "SURFACE_BELOW_TIER",
                f"memory.rag_endpoint needs tier 3, the project has {tier}; it is ignored",
                line,
            )
            return None
        return value.text.strip()

    def _note(self, code: str, message: str, line: int) -> None:
        self._problems.append(diagnostic(code, message, path=self._path, line=line))


def _is_empty(node: "Node") -> bool:
    """Whether a value is null or blank, which is as good as absent."""
    value = yaml_nodes.scalar(node)
    return value is not None and (value.kind == "null" or not value.text.strip())
