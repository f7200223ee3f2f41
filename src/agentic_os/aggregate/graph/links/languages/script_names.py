"""What an export of a JavaScript or TypeScript file is, followed through re-exports.

``export { a } from './x'``, ``export * from './x'`` and their CommonJS forms are followed
inside the project, at most ``MAX_HOPS_ENTRIES`` deep, each step once. A name that two star
exports offer from different places has two answers.
"""

from dataclasses import dataclass
from typing import Literal

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.code.script.layout import resolve_entry, resolve_relative, split_specifier
from agentic_os.code.values import DEFAULT_EXPORT, STAR, Binding

MAX_HOPS_ENTRIES = 8

Form = Literal["definition", "value", "module", "label"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """One thing that an exported name can stand for, in the provider's files."""

    path: str
    line: int
    name: str
    form: Form
    hops: int = 0

    @classmethod
    def module(cls, path: str, hops: int = 0) -> "Exported":
        """Make the value that stands for a file as a whole."""
        return cls(path=path, line=1, name="", form="module", hops=hops)


class ScriptNames:
    """Looks exports up and remembers the answers."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self._known: dict[tuple[str, str, str], list[Exported]] = {}

    def exported(self, code: ProjectCode, path: str, name: str) -> list[Exported]:
        """Return what the export ``name`` of a file can be; empty when nothing shows."""
        key = (code.project, path, name)
        if key not in self._known:
            found = self._find(code, path, name, 0, frozenset())
            unique: dict[tuple[str, int, str], Exported] = {}
            for item in found:
                known = unique.get((item.path, item.line, item.name))
                if known is None or item.hops < known.hops:
                    unique[(item.path, item.line, item.name)] = item
            self._known[key] = [unique[each] for each in sorted(unique)]
        return self._known[key]

    def _find(
        self, code: ProjectCode, path: str, name: str, hops: int, trail: frozenset[tuple[str, str]]
    ) -> list[Exported]:
        step = (path, name)
        facts = code.facts(path)
        if facts is None or hops > MAX_HOPS_ENTRIES or step in trail:
            return []
        trail |= {step}
        own = [item for item in facts.bindings if item.name == name]
        found: list[Exported] = []
        for binding in own:
            found.extend(self._follow(code, path, binding, hops, trail))
        if own or name == DEFAULT_EXPORT:
            return found
        for star in facts.bindings:
            if star.name == STAR:
                target = inner_file(code, path, star.module)
                if target is not None:
                    found.extend(self._find(code, target, name, hops + 1, trail))
        return found

    def _follow(
        self,
        code: ProjectCode,
        path: str,
        binding: Binding,
        hops: int,
        trail: frozenset[tuple[str, str]],
    ) -> list[Exported]:
        if binding.kind == "definition":
            name = binding.member or binding.name
            return [Exported(path=path, line=binding.line, name=name, form="definition", hops=hops)]
        if binding.kind != "import":
            name = binding.member or binding.name
            return [Exported(path=path, line=binding.line, name=name, form="value", hops=hops)]
        target = inner_file(code, path, binding.module)
        if target is None:
            return []
        if not binding.member:
            return [Exported.module(target, hops)]
        return self._find(code, target, binding.member, hops + 1, trail)


def inner_file(code: ProjectCode, path: str, specifier: str) -> str | None:
    """Return the file of the same project that a specifier leads to."""
    if specifier.startswith("."):
        return resolve_relative(path, specifier, code.files)
    split = split_specifier(specifier)
    if split is None or ("npm", split[0]) not in code.packages:
        return None
    manifest, _ = code.packages[("npm", split[0])]
    landing = resolve_entry(manifest.folder, manifest.entries, split[1], code.files)
    return None if landing is None else landing.path
