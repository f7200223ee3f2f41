"""What a descriptor comes to, as frozen values."""

from typing import Literal

import msgspec

from agentic_os.registry.descriptor.memory_block import DeclaredPath, MemoryChoice
from agentic_os.results import Diagnostic

Layout = Literal[".agents", ".claude"]
Context = Literal["repo", "ambient"]

LAYOUTS: tuple[Layout, ...] = (".agents", ".claude")
CONTEXTS: tuple[Context, ...] = ("repo", "ambient")
CONFIG_NAME = "config.yaml"


class Descriptor(msgspec.Struct, frozen=True, kw_only=True):
    """What a project says about itself.

    ``contract_version`` is 0 where it is absent and ``None`` where it is malformed.
    ``choice`` tells a recorded memory from a declined one (``none``) and from one of
    which nothing is recorded (``unknown``). ``tier`` is derived from ``stack``.
    ``degraded`` descriptors say nothing usable: everything is at its default. ``described`` is
    false where there is no descriptor: the person took the folder in, and its surfaces are what
    was found in it.
    """

    layout: Layout
    name: str
    description: str | None = None
    created: str | None = None
    contract_version: int | None = 0
    init_version: str | None = None
    context: Context | None = None
    language: str | None = None
    delivery: str | None = None
    choice: MemoryChoice = "unknown"
    stack: str | None = None
    tier: int | None = None
    memory: DeclaredPath | None = None
    vault: DeclaredPath | None = None
    graph: DeclaredPath | None = None
    rag_endpoint: str | None = None
    degraded: bool = False
    described: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def path(self) -> str:
        """The descriptor's own path in its project."""
        return f"{self.layout}/{CONFIG_NAME}"

    @property
    def retrieval(self) -> bool:
        """Whether memory, vault, graph and index may be opened at all (design section 5)."""
        return self.choice == "recorded"

    @property
    def opted_out(self) -> bool:
        """Whether memory was declined, as a decision."""
        return self.choice == "none"

    @property
    def label(self) -> str:
        """The stack as it is shown: its name, ``none`` or ``unknown``."""
        if self.choice == "recorded":
            return self.stack or "unknown"
        return self.choice

    @property
    def memory_path(self) -> str | None:
        """The memory folder, relative to the project."""
        return self.memory.path if self.memory else None

    @property
    def vault_path(self) -> str | None:
        """The vault folder, relative to the project."""
        return self.vault.path if self.vault else None

    @property
    def graph_path(self) -> str | None:
        """The graph file, relative to the project."""
        return self.graph.path if self.graph else None


class NotADescriptor(msgspec.Struct, frozen=True, kw_only=True):
    """Another tool's ``config.yaml``, or a file that is too large to look at."""

    layout: Layout
    foreign: bool
    diagnostics: tuple[Diagnostic, ...] = ()


ParsedDescriptor = Descriptor | NotADescriptor
