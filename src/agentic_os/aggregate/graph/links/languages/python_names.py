"""What a name of a Python module is: followed through imports, stars and aliases.

As the interpreter binds names, as far as reading shows it:

- the last unconditional binding wins; conditional ones after it are further candidates;
- a star import after it offers what its module exports (``__all__``, else every name without
  a leading underscore);
- a package's submodule answers where no binding does;
- an alias (``Name = other.Name``) stands for what it names.

Chains are followed at most ``MAX_HOPS`` modules deep, each step once, and into a third project
where the provider's import means exactly one module of it.
"""

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.aggregate.graph.links.languages.definitions import (
    MAX_HOPS,
    Definition,
    Elsewhere,
    Trail,
    unique,
)
from agentic_os.code.values import STAR, Binding, SourceFacts

MAX_STEPS = 64
"""Names on the way to what one name is; aliases within a module are no hops."""


class PythonNames:
    """Looks names up and remembers the answers."""

    def __init__(self, elsewhere: Elsewhere) -> None:
        """Follow imports out of a project by ``elsewhere``."""
        self._elsewhere = elsewhere
        self._known: dict[tuple[str, str, str], list[Definition]] = {}
        self._tables: dict[tuple[str, str], dict[str, list[Binding]]] = {}

    def member(self, code: ProjectCode, path: str, name: str) -> list[Definition]:
        """Return what ``name`` of the module at ``path`` can be; empty when nothing shows."""
        key = (code.project, path, name)
        if key not in self._known:
            self._known[key] = unique(self._find(code, path, name, 0, frozenset()))
        return self._known[key]

    def attribute(self, item: Definition, name: str) -> list[Definition]:
        """Return what ``item.name`` can be, where ``item`` is a module or a package."""
        if item.form == "module":
            found = self.member(item.code, item.path, name)
            if found:
                return found
        module = self.module(item.code, f"{item.name}.{name}")
        return [] if module is None else [module]

    def _part(self, item: Definition, name: str, hops: int, trail: Trail) -> list[Definition]:
        found = self._find(item.code, item.path, name, hops, trail) if item.form == "module" else []
        module = None if found else self.module(item.code, f"{item.name}.{name}", hops)
        return found if module is None else [module]

    def module(self, code: ProjectCode, name: str, hops: int = 0) -> Definition | None:
        """Return the module or the namespace package of that name in a project."""
        provided = code.python_modules.get(name)
        if provided is not None:
            return Definition.module(code, provided.path, name, hops)
        prefix = f"{name}."
        if any(module.startswith(prefix) for module in code.python_modules):
            return Definition(code=code, path="", line=1, name=name, form="package")
        return None

    def _table(self, code: ProjectCode, path: str, facts: SourceFacts) -> dict[str, list[Binding]]:
        key = (code.project, path)
        if key not in self._tables:
            table: dict[str, list[Binding]] = {}
            for binding in facts.bindings:
                table.setdefault(binding.name, []).append(binding)
            self._tables[key] = table
        return self._tables[key]

    def _find(
        self, code: ProjectCode, path: str, name: str, hops: int, trail: Trail
    ) -> list[Definition]:
        step = (code.project, path, name)
        facts = code.facts(path)
        if facts is None or hops > MAX_HOPS or len(trail) > MAX_STEPS or step in trail:
            return []
        trail |= {step}
        table = self._table(code, path, facts)
        bindings = table.get(name, [])
        last = max((i for i, item in enumerate(bindings) if item.certain), default=0)
        live = bindings[last:]
        found: list[Definition] = []
        for binding in live:
            found.extend(self._follow(code, path, binding, hops, trail))
        after = live[0].line if live and live[0].certain else 0
        for star in table.get(STAR, []):
            if star.line > after:
                found.extend(self._star(code, path, star, name, hops, trail))
        if found:
            return found
        return self._submodule(code, path, name, hops)

    def _follow(
        self,
        code: ProjectCode,
        path: str,
        binding: Binding,
        hops: int,
        trail: Trail,
    ) -> list[Definition]:
        match binding.kind:
            case "definition" | "value":
                return [
                    Definition(
                        code=code,
                        path=path,
                        line=binding.line,
                        name=binding.name,
                        form=binding.kind,
                        hops=hops,
                    )
                ]
            case "alias":
                return self._alias(code, path, binding, hops, trail)
            case "import":
                return self._imported(code, path, binding, hops, trail)
            case "star":
                return []

    def _alias(
        self,
        code: ProjectCode,
        path: str,
        binding: Binding,
        hops: int,
        trail: Trail,
    ) -> list[Definition]:
        root, *chain = binding.member.split(".")
        found = self._find(code, path, root, hops, trail)
        for name in chain:
            if not all(item.is_module for item in found):
                found = []
                break
            # On the same trail: two modules may name each other without an end.
            found = [each for item in found for each in self._part(item, name, hops, trail)]
        if found:
            return found
        return [
            Definition(
                code=code,
                path=path,
                line=binding.line,
                name=binding.name,
                form="value",
                hops=hops,
            )
        ]

    def _imported(
        self,
        code: ProjectCode,
        path: str,
        binding: Binding,
        hops: int,
        trail: Trail,
    ) -> list[Definition]:
        module = absolute_module(code, path, binding.module)
        target = self._target(code, path, module)
        if not binding.member:
            bound = self.module(target.code if target else code, module, hops)
            return [] if bound is None else [bound]
        if target is not None:
            found = self._find(target.code, target.path, binding.member, hops + 1, trail)
            if found:
                return found
        owner = code if target is None else target.code
        submodule = owner.python_modules.get(f"{module}.{binding.member}")
        if submodule is None:
            return []
        return [Definition.module(owner, submodule.path, submodule.module, hops)]

    def _target(self, code: ProjectCode, path: str, module: str) -> Definition | None:
        """Return the module that an import in a provider's file leads to, not itself."""
        provided = code.python_modules.get(module)
        if provided is None:
            return self._elsewhere(code, path, module)
        return None if provided.path == path else Definition.module(code, provided.path, module)

    def _star(
        self,
        code: ProjectCode,
        path: str,
        star: Binding,
        name: str,
        hops: int,
        trail: Trail,
    ) -> list[Definition]:
        target = self._target(code, path, absolute_module(code, path, star.module))
        facts = None if target is None else target.code.facts(target.path)
        if target is None or facts is None:
            return []
        listed = facts.exports is not None and not facts.dynamic
        visible = name in (facts.exports or ()) if listed else not name.startswith("_")
        if not visible:
            return []
        return self._find(target.code, target.path, name, hops + 1, trail)

    def _submodule(self, code: ProjectCode, path: str, name: str, hops: int) -> list[Definition]:
        module = code.python_module_of.get(path)
        if module is None or path.rpartition("/")[2] not in {"__init__.py", "__init__.pyi"}:
            return []
        provided = code.python_modules.get(f"{module}.{name}")
        if provided is None:
            return []
        return [Definition.module(code, provided.path, provided.module, hops)]


def absolute_module(code: ProjectCode, path: str, module: str) -> str:
    """Return a module's full name where ``path`` writes it with leading dots."""
    inner = module.lstrip(".")
    level = len(module) - len(inner)
    if not level:
        return module
    own = code.python_module_of.get(path, "")
    parts = own.split(".") if own else []
    if path.rpartition("/")[2] not in {"__init__.py", "__init__.pyi"}:
        parts = parts[:-1]
    if level > 1:
        parts = parts[: len(parts) - (level - 1)] if level - 1 < len(parts) else []
    return ".".join([*parts, *([inner] if inner else [])])
