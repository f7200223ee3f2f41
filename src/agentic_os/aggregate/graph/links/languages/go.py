"""Go's imports: packages by module path and folder, symbols by package clause.

The module is the longest that is the import path or a prefix of it at a slash. A package is
a folder; a name in it may be defined in several files under build constraints, which makes
it AMBIGUOUS. ``internal`` packages and ``main`` packages cannot be imported from outside.
"""

from collections.abc import Sequence

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.aggregate.graph.links.edges import (
    CERTAIN,
    MAX_CANDIDATES_ENTRIES,
    RULE_MODULE,
    UNDECLARED,
    UNSURE,
    EdgeCollector,
    Endpoint,
    Verdict,
)
from agentic_os.aggregate.graph.links.languages.definitions import Choice, Definition
from agentic_os.aggregate.graph.links.packages import DeclaredLinks, declaring
from agentic_os.code.layout import is_excluded
from agentic_os.code.standard_names import is_standard_module
from agentic_os.code.values import Import, Use


class GoImports:
    """Resolves the imports and selectors of Go."""

    family = "go"
    separator = "."

    def __init__(
        self, codes: Sequence[ProjectCode], links: DeclaredLinks, collector: EdgeCollector
    ) -> None:
        """Index the modules that every project declares."""
        self._links = links
        self._collector = collector
        self._modules = declaring(codes, "go")
        self._names: dict[tuple[str, str], dict[str, list[Definition]]] = {}

    def choices(self, source: Endpoint, module: str) -> list[Choice]:
        """Return the packages that an import path means: in declared modules, else in all."""
        code = source.code
        name = None if is_standard_module("go", module) else self._module_of(module)
        if name is None:
            return []
        found = [item for item in self._modules[name] if item is not code]
        if not found:
            return []
        vendored = any(path.startswith(f"vendor/{module}/") for path in code.files)
        if vendored or code.declares("go", name):
            self._miss(source, "LOCAL_SHADOW", module, found)
            return []
        if "internal" in module[len(name) :].split("/"):
            self._miss(source, "GO_INTERNAL", module, found)
            return []
        declared = [
            item for item in found if self._links.holds(code.project, item.project, "go", name)
        ]
        kept = declared or found
        verdict = CERTAIN if declared else UNDECLARED
        if len(kept) > 1:
            verdict = UNSURE
            self._miss(source, "SEVERAL_PROVIDERS", module, kept)
        choices = [
            self._package(source, item, name, module, verdict)
            for item in kept[:MAX_CANDIDATES_ENTRIES]
        ]
        return [choice for choice in choices if choice is not None]

    def bound(self, choice: Choice, _item: Import) -> Definition:
        """Return the package: an import without a name binds what its clause says."""
        return choice.module

    def attribute(self, module: Definition, name: str) -> list[Definition]:
        """Return the definitions of a name in all files of a package."""
        key = (module.code.project, module.path.rpartition("/")[0])
        if key not in self._names:
            self._names[key] = go_definitions(module.code, key[1])
        return self._names[key].get(name, [])

    def means(self, module: Definition, item: Import, use: Use) -> bool:
        """Whether the local name is the one given, else the one of the package clause."""
        return bool(item.local) or module.name == use.local

    def _module_of(self, module: str) -> str | None:
        while module:
            if module in self._modules:
                return module
            module = module.rpartition("/")[0]
        return None

    def _package(
        self, source: Endpoint, provider: ProjectCode, name: str, module: str, verdict: Verdict
    ) -> Choice | None:
        found = go_package(provider, name, module)
        if isinstance(found, Definition):
            return Choice(module=found, verdict=verdict)
        self._miss(source, found, module, [provider])
        return None

    def _miss(
        self, source: Endpoint, code: str, subject: str, others: Sequence[ProjectCode]
    ) -> None:
        self._collector.miss(source, RULE_MODULE, code, subject, others)


def go_package(code: ProjectCode, name: str, module: str) -> Definition | str:
    """Return the package of an import path, or the code of why it cannot be imported.

    Args:
        code: the project.
        name: the module of the project that the path is in.
        module: the import path.
    """
    manifest, _ = code.packages[("go", name)]
    rest = module[len(name) :].strip("/")
    files = _package_files(code, "/".join(filter(None, (manifest.folder, rest))))
    if not files:
        return "MODULE_UNKNOWN"
    read = [facts for facts in map(code.facts, files) if facts is not None and facts.package]
    clauses = {facts.package for facts in read}
    if clauses == {"main"}:
        return "GO_MAIN"
    clauses -= {"main"}
    clause = next(iter(clauses)) if len(clauses) == 1 else ""
    return Definition.module(code, _face(clause, files), clause)


def _package_files(code: ProjectCode, folder: str) -> list[str]:
    return [
        path
        for path in code.paths.get("go", ())
        if path.rpartition("/")[0] == folder and not is_excluded(path)
    ]


def go_definitions(code: ProjectCode, folder: str) -> dict[str, list[Definition]]:
    """Return what each name of a package can be, in all files of its folder."""
    found: dict[str, list[Definition]] = {}
    for path in _package_files(code, folder):
        facts = code.facts(path)
        if facts is None or facts.package in {"", "main"}:
            continue
        for item in facts.bindings:
            definition = Definition(
                code=code, path=path, line=item.line, name=item.name, form="definition"
            )
            found.setdefault(item.name, []).append(definition)
    return found


def _face(clause: str, files: Sequence[str]) -> str:
    """Return the file that stands for a package: ``doc.go``, its namesake, or the first."""
    for wanted in ("doc.go", f"{clause}.go"):
        for path in files:
            if path.rpartition("/")[2] == wanted:
                return path
    return files[0]
