"""Python's imports: a module is found by the provider's layout, never by a package's name."""

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
)
from agentic_os.aggregate.graph.links.languages.definitions import Choice, Definition
from agentic_os.aggregate.graph.links.languages.python_names import PythonNames
from agentic_os.aggregate.graph.links.packages import DeclaredLinks
from agentic_os.code.layout import GENERIC_NAMES, Provided, is_excluded
from agentic_os.code.standard_names import is_standard_module
from agentic_os.code.values import Import, Use


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
        self._names = PythonNames()
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
        code = source.code
        inner = not module or module.startswith(".") or module in code.python_modules
        if inner or is_standard_module("python", module):
            return []
        top = module.partition(".")[0]
        found = [item for item in self._by_module.get(module, ()) if item[0] is not code]
        others = [item for item in self._by_top.get(top, ()) if item is not code]
        if not found and not others:
            hidden = [item for item in self._excluded_tops.get(top, ()) if item is not code]
            if hidden and not _is_local(source, top):
                self._miss(source, "PROVIDER_EXCLUDED", module, hidden)
            return []
        if _is_local(source, top):
            self._miss(source, "LOCAL_SHADOW", module, others)
            return []
        if not found:
            self._miss(source, "MODULE_UNKNOWN", module, others)
            return []
        declared = [item for item in found if self._is_declared(code, *item)]
        if not declared:
            return self._undeclared(source, module, found)
        verdict = CERTAIN if len(declared) == 1 else UNSURE
        return [
            Choice(module=Definition.module(owner, item.path, module), verdict=verdict)
            for owner, item in declared
        ]

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

    def _undeclared(
        self, source: Endpoint, module: str, found: list[tuple[ProjectCode, Provided]]
    ) -> list[Choice]:
        """Judge providers that the consumer's manifests do not name."""
        providers = [code for code, _ in found]
        if module.partition(".")[0].lower() in GENERIC_NAMES:
            self._miss(source, "GENERIC_NAME", module, providers)
            return []
        kept = [item for item in found if item[1].form == "package"]
        if not kept:
            self._miss(source, "UNDECLARED_MODULE", module, providers)
            return []
        if len(kept) > 1:
            self._miss(source, "SEVERAL_PROVIDERS", module, providers)
        verdict = UNDECLARED if len(kept) == 1 else UNSURE
        return [
            Choice(module=Definition.module(code, provided.path, module), verdict=verdict)
            for code, provided in kept[:MAX_CANDIDATES_ENTRIES]
        ]

    def _miss(
        self, source: Endpoint, code: str, subject: str, others: Sequence[ProjectCode]
    ) -> None:
        self._collector.miss(source, RULE_MODULE, code, subject, others)


def _is_local(source: Endpoint, top: str) -> bool:
    """Whether the consumer has a module of that name where the import would find it first."""
    code = source.code
    if any(module.partition(".")[0] == top for module in code.python_modules):
        return True
    folder = source.path.rpartition("/")[0]
    above = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        above.append(folder)
    wanted = {f"{top}/", f"{top}.py", f"{top}.pyi"}
    roots = {root for manifest in code.manifests for root in manifest.source_roots}
    for each in (*above, "src", "lib", "python", *sorted(roots)):
        if wanted & code.folders.get(each, frozenset()):
            return True
    return False


def _excluded_tops(code: ProjectCode) -> set[str]:
    """Top-level names that the project's excluded files would have, were they packages."""
    tops: set[str] = set()
    for path in code.paths.get("python", ()):
        if is_excluded(path):
            *folders, name = path.split("/")
            tops.update(folders[-2:])
            tops.add(name.rpartition(".")[0])
    return tops
