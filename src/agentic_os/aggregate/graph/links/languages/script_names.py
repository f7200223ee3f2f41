"""What an export of a JavaScript or TypeScript file is, followed through re-exports.

``export { a } from './x'``, ``export * from './x'`` and their CommonJS forms are followed
inside the project, and into a third one that the specifier surely means, at most ``MAX_HOPS``
deep, each step once. A name that two star exports offer from different places has two answers.
"""

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.aggregate.graph.links.languages.definitions import (
    MAX_HOPS,
    Definition,
    Elsewhere,
    Trail,
    unique,
)
from agentic_os.code.script.layout import resolve_entry, resolve_relative, split_specifier
from agentic_os.code.values import DEFAULT_EXPORT, STAR, Binding


class ScriptNames:
    """Looks exports up and remembers the answers."""

    def __init__(self, elsewhere: Elsewhere) -> None:
        """Follow specifiers out of a project by ``elsewhere``."""
        self._elsewhere = elsewhere
        self._known: dict[tuple[str, str, str], list[Definition]] = {}

    def exported(self, code: ProjectCode, path: str, name: str) -> list[Definition]:
        """Return what the export ``name`` of a file can be; empty when nothing shows."""
        key = (code.project, path, name)
        if key not in self._known:
            self._known[key] = unique(self._find(code, path, name, 0, frozenset()))
        return self._known[key]

    def _find(
        self, code: ProjectCode, path: str, name: str, hops: int, trail: Trail
    ) -> list[Definition]:
        step = (code.project, path, name)
        facts = code.facts(path)
        if facts is None or hops > MAX_HOPS or step in trail:
            return []
        trail |= {step}
        own = [item for item in facts.bindings if item.name == name]
        found: list[Definition] = []
        for binding in own:
            found.extend(self._follow(code, path, binding, hops, trail))
        if own or name == DEFAULT_EXPORT:
            return found
        for star in facts.bindings:
            if star.name == STAR:
                target = self._target(code, path, star.module)
                if target is not None:
                    found.extend(self._find(target.code, target.path, name, hops + 1, trail))
        return found

    def _follow(
        self,
        code: ProjectCode,
        path: str,
        binding: Binding,
        hops: int,
        trail: Trail,
    ) -> list[Definition]:
        if binding.kind != "import":
            return [
                Definition(
                    code=code,
                    path=path,
                    line=binding.line,
                    name=binding.member or binding.name,
                    form="definition" if binding.kind == "definition" else "value",
                    hops=hops,
                )
            ]
        target = self._target(code, path, binding.module)
        if target is None:
            return []
        if not binding.member:
            return [Definition.module(target.code, target.path, hops=hops)]
        return self._find(target.code, target.path, binding.member, hops + 1, trail)

    def _target(self, code: ProjectCode, path: str, specifier: str) -> Definition | None:
        inner = inner_file(code, path, specifier)
        if inner is not None:
            return Definition.module(code, inner)
        return self._elsewhere(code, path, specifier)


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
