"""JavaScript's and TypeScript's imports: a bare specifier means the package of that name.

Its entry is found from ``exports`` or ``main``. Where an entry names a build product that is
not in the project, the source it is made from is found by convention, and the edge is no more
than INFERRED. Specifiers that a ``tsconfig`` maps, and those that a file of the consumer
answers, stay inside the consumer.
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
from agentic_os.aggregate.graph.links.languages.script_names import ScriptNames
from agentic_os.aggregate.graph.links.packages import DeclaredLinks, declaring
from agentic_os.code.layout import GENERIC_NAMES, is_excluded
from agentic_os.code.script.layout import find_file, resolve_entry, split_specifier
from agentic_os.code.standard_names import is_standard_module
from agentic_os.code.values import DEFAULT_EXPORT, Import, Use

_Miss = tuple[str, str, Sequence[ProjectCode]]
"""Why an import was not linked: code, subject, and who nearly provided it."""


class ScriptImports:
    """Resolves the imports and exports of JavaScript and TypeScript."""

    family = "script"
    separator = "#"

    def __init__(
        self, codes: Sequence[ProjectCode], links: DeclaredLinks, collector: EdgeCollector
    ) -> None:
        """Index the npm packages that every project declares."""
        self._links = links
        self._collector = collector
        self._names = ScriptNames(self._elsewhere)
        self._providers = declaring(codes, "npm")

    def choices(self, source: Endpoint, module: str) -> list[Choice]:
        """Return the entries of the packages of that name: the declared ones, else all."""
        found, misses = self._resolve(source.code, module)
        for code, subject, others in misses:
            self._collector.miss(source, RULE_MODULE, code, subject, others)
        return found

    def _resolve(self, code: ProjectCode, module: str) -> tuple[list[Choice], list[_Miss]]:
        split = split_specifier(module)
        if split is None or is_standard_module("script", module):
            return [], []
        written, subpath = split
        name = _real_name(code, written)
        found = [item for item in self._providers.get(name, ()) if item is not code]
        if not found:
            return [], []
        if code.declares("npm", name) or _is_mapped(code, module) or _is_file(code, module):
            return [], [("LOCAL_SHADOW", module, found)]
        declared = [
            item for item in found if self._links.holds(code.project, item.project, "npm", name)
        ]
        if not declared and name in GENERIC_NAMES:
            return [], [("GENERIC_NAME", module, found)]
        kept = declared or found
        verdict = CERTAIN if declared else UNDECLARED
        misses: list[_Miss] = []
        if len(kept) > 1:
            verdict = UNSURE
            misses.append(("SEVERAL_PROVIDERS", module, kept))
        choices = []
        for item in kept[:MAX_CANDIDATES_ENTRIES]:
            entry = _entry(item, name, subpath, verdict)
            if isinstance(entry, Choice):
                choices.append(entry)
            else:
                misses.append((entry, name if subpath == "." else f"{name}/{subpath[2:]}", [item]))
        return choices, misses

    def _elsewhere(self, code: ProjectCode, _path: str, module: str) -> Definition | None:
        """Return the entry that a provider's own import means in a third project, for certain."""
        found, _ = self._resolve(code, module)
        if len(found) == 1 and found[0].verdict == CERTAIN:
            return found[0].module
        return None

    def bound(self, choice: Choice, _item: Import) -> Definition:
        """Return the entry itself: a namespace import stands for its module."""
        return choice.module

    def attribute(self, module: Definition, name: str) -> list[Definition]:
        """Return what an export can be; without a default, a module stands for its own."""
        found = self._names.exported(module.code, module.path, name)
        return [module] if not found and name == DEFAULT_EXPORT else found

    def means(self, _module: Definition, _item: Import, _use: Use) -> bool:
        """Return true: a local name in JavaScript is the import's."""
        return True


def _entry(provider: ProjectCode, name: str, subpath: str, verdict: Verdict) -> Choice | str:
    """Return the module that a package's entry is, or the code of why there is none."""
    manifest, _ = provider.packages[("npm", name)]
    landing = resolve_entry(manifest.folder, manifest.entries, subpath, provider.files)
    if landing is None:
        return "ENTRY_UNKNOWN"
    if is_excluded(landing.path):
        return "PROVIDER_EXCLUDED"
    return Choice(
        module=Definition.module(provider, landing.path),
        verdict=verdict if landing.exact else verdict.capped(UNDECLARED),
    )


def _real_name(code: ProjectCode, written: str) -> str:
    """Return the package behind an ``npm:`` alias of the consumer's manifests."""
    for manifest in code.manifests:
        for dependency in manifest.dependencies:
            if dependency.ecosystem == "npm" and dependency.alias == written:
                return dependency.name
    return written


def _is_mapped(code: ProjectCode, specifier: str) -> bool:
    return any(
        specifier.startswith(prefix)
        for manifest in code.manifests
        for prefix in manifest.local_prefixes
    )


def _is_file(code: ProjectCode, specifier: str) -> bool:
    """Whether a file of the consumer answers the specifier below its base folders."""
    return any(find_file(f"{base}{specifier}", code.files) is not None for base in ("", "src/"))
