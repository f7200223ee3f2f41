"""Python's imports: a module is found by the provider's layout, never by a package's name."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.aggregate.graph.links.edges import (
    CERTAIN,
    MAX_CANDIDATES_ENTRIES,
    RULE_MODULE,
    UNDECLARED,
    UNSURE,
    EdgeCollector,
    Endpoint,
)
from agentic_os.aggregate.graph.links.languages.definitions import Choice, Definition
from agentic_os.aggregate.graph.links.languages.python_names import PythonNames
from agentic_os.aggregate.graph.links.packages import DeclaredLinks
from agentic_os.code.layout import CONVENTIONAL_ROOTS, GENERIC_NAMES, Provided, is_excluded
from agentic_os.code.standard_names import is_standard_module
from agentic_os.code.values import Import, Use

Own = Literal["", "namespace", "module"]
_INITS = frozenset({"__init__.py", "__init__.pyi"})
_NO_NAMES: frozenset[str] = frozenset()


class PythonImports:
    """Resolves the imports and names of Python."""

    family = "python"
    separator = "."

    def __init__(
        self, codes: Sequence[ProjectCode], links: DeclaredLinks, collector: EdgeCollector
    ) -> None:
        """Index the modules that every project provides."""
        self._links = links
        self._collector = collector
        self._names = PythonNames(self._elsewhere)
        self._by_module: dict[str, list[tuple[ProjectCode, Provided]]] = {}
        self._by_top: dict[str, list[ProjectCode]] = {}
        self._excluded_tops: dict[str, list[ProjectCode]] = {}
        for code in codes:
            tops = set()
            for module, provided in code.python_modules.items():
                self._by_module.setdefault(module, []).append((code, provided))
                tops.add(module.partition(".")[0])
            for top in sorted(tops):
                self._by_top.setdefault(top, []).append(code)
            for top in sorted(_excluded_tops(code) - tops):
                self._excluded_tops.setdefault(top, []).append(code)

    def choices(self, source: Endpoint, module: str) -> list[Choice]:
        """Return the providers' modules of that name: the declared ones, else inferred ones."""
        found, miss = self._resolve(source, module)
        if miss is not None:
            self._collector.miss(source, RULE_MODULE, miss.code, module, miss.others)
        return found

    def _resolve(  # noqa: PLR0911 - one refusal after the other
        self, source: Endpoint, module: str
    ) -> tuple[list[Choice], "_Miss | None"]:
        code = source.code
        inner = not module or module.startswith(".") or module in code.python_modules
        if inner or is_standard_module("python", module):
            return [], None
        top = module.partition(".")[0]
        found = [item for item in self._by_module.get(module, ()) if item[0] is not code]
        others = [item for item in self._by_top.get(top, ()) if item is not code]
        hidden = [item for item in self._excluded_tops.get(top, ()) if item is not code]
        if not others and not hidden:
            return [], None
        own = _own(source, top)
        if not others:
            return [], None if own else _Miss("PROVIDER_EXCLUDED", hidden)
        declared = [item for item in found if self._is_declared(code, *item)]
        if own == "module" or (own and not declared):
            return [], _Miss("LOCAL_SHADOW", others)
        if not found:
            return [], _Miss("MODULE_UNKNOWN", others)
        if not declared:
            return self._undeclared(module, found)
        verdict = CERTAIN if len(declared) == 1 else UNSURE
        return [
            Choice(module=Definition.module(owner, item.path, module), verdict=verdict)
            for owner, item in declared
        ], None

    def _elsewhere(self, code: ProjectCode, path: str, module: str) -> Definition | None:
        """Return the module that a provider's own import means in a third project, for certain.

        What is less than certain is that project's edge to judge, not its readers'.
        """
        source = Endpoint(code=code, path=path, line=0, node=None)
        found, _ = self._resolve(source, module)
        if len(found) == 1 and found[0].verdict == CERTAIN:
            return found[0].module
        return None

    def bound(self, choice: Choice, item: Import) -> Definition | None:
        """Return the module that the local name stands for: ``import a.b`` binds ``a``."""
        return self._names.module(choice.module.code, item.binds)

    def attribute(self, module: Definition, name: str) -> list[Definition]:
        """Return what ``module.name`` can be, as the interpreter binds names."""
        return self._names.attribute(module, name)

    def means(self, _module: Definition, _item: Import, _use: Use) -> bool:
        """Return true: a local name in Python is the import's."""
        return True

    def _is_declared(
        self, consumer: ProjectCode, provider: ProjectCode, provided: Provided
    ) -> bool:
        if provided.package:
            return self._links.holds(consumer.project, provider.project, "python", provided.package)
        # A provider that declares no package can still be pointed at.
        return (consumer.project, provider.project) in self._links.pairs

    @staticmethod
    def _undeclared(
        module: str, found: list[tuple[ProjectCode, Provided]]
    ) -> tuple[list[Choice], "_Miss | None"]:
        """Judge providers that the consumer's manifests do not name."""
        providers = [code for code, _ in found]
        if module.partition(".")[0].lower() in GENERIC_NAMES:
            return [], _Miss("GENERIC_NAME", providers)
        kept = [item for item in found if item[1].form == "package"]
        if not kept:
            return [], _Miss("UNDECLARED_MODULE", providers)
        verdict = UNDECLARED if len(kept) == 1 else UNSURE
        return [
            Choice(module=Definition.module(code, provided.path, module), verdict=verdict)
            for code, provided in kept[:MAX_CANDIDATES_ENTRIES]
        ], (_Miss("SEVERAL_PROVIDERS", providers) if len(kept) > 1 else None)


class _Miss(NamedTuple):
    """Why an import was not linked, or not for certain."""

    code: str
    others: list[ProjectCode]


def _own(source: Endpoint, top: str) -> Own:
    """Return what the consumer itself has of that name on the interpreter's path.

    The path of a file in a package begins at the folder that holds the outermost package; of
    any other file, at its own folder. A folder without ``__init__.py`` is a namespace: it comes
    after every installed package, wherever it lies on the path.
    """
    code = source.code
    if top in code.python_modules:
        return "module"
    base = source.path.rpartition("/")[0]
    while base and _INITS & code.folders.get(base, _NO_NAMES):
        base = base.rpartition("/")[0]
    declared = {root for manifest in code.manifests for root in manifest.source_roots}
    found: Own = ""
    for folder in (base, *CONVENTIONAL_ROOTS, *sorted(declared)):
        names = code.folders.get(folder, _NO_NAMES)
        inner = f"{folder}/{top}".lstrip("/")
        if {f"{top}.py", f"{top}.pyi"} & names or _INITS & code.folders.get(inner, _NO_NAMES):
            return "module"
        if f"{top}/" in names:
            found = "namespace"
    return found


def _excluded_tops(code: ProjectCode) -> set[str]:
    """Top-level names that the project's excluded files would have, were they packages."""
    tops: set[str] = set()
    for path in code.paths.get("python", ()):
        if is_excluded(path):
            *folders, name = path.split("/")
            tops.update(folders[-2:])
            tops.add(name.rpartition(".")[0])
    return tops
