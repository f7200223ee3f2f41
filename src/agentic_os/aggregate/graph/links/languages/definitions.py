"""What a name can stand for in a provider, and the module that an import means."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.aggregate.graph.links.edges import Verdict

MAX_HOPS = 8
"""Re-exports that are followed, one after another."""

Form = Literal["definition", "value", "module", "package"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One thing that a name can stand for; ``hops`` counts the re-exports passed.

    A ``module`` is a file (for Go, the file that stands for its folder); a ``package`` is a
    namespace without a file of its own.
    """

    code: ProjectCode
    path: str
    line: int
    name: str
    form: Form
    hops: int = 0

    @classmethod
    def module(cls, code: ProjectCode, path: str, name: str = "", hops: int = 0) -> "Definition":
        """Make the definition that stands for a module."""
        return cls(code=code, path=path, line=1, name=name, form="module", hops=hops)

    @property
    def is_module(self) -> bool:
        """Whether attributes of it are looked up in a module or a namespace."""
        return self.form in {"module", "package"}

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What makes two definitions the same."""
        return (self.code.project, self.path, self.line, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The module that an import means, in one provider, and how sure that is."""

    module: Definition
    verdict: Verdict


Trail = frozenset[tuple[str, str, str]]
"""The steps of a chain so far: project, file and name."""
Elsewhere = Callable[[ProjectCode, str, str], Definition | None]
"""Asked for a project, a file of it and a module: the module's file in another project."""


def unique(found: list[Definition]) -> list[Definition]:
    """Return each definition once, in a stable order, by the way with the fewest hops."""
    kept: dict[tuple[str, str, int, str], Definition] = {}
    for item in found:
        known = kept.get(item.key)
        if known is None or item.hops < known.hops:
            kept[item.key] = item
    return sorted(kept.values(), key=lambda item: item.key)
