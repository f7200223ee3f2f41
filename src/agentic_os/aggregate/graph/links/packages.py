"""R1 and R1b: one project's manifest names another project's package.

R1: the normalised name equals exactly one project's declared package. R1b: the dependency
points somewhere (a path, a git URL, a replacement, a submodule, a CI workflow) and exactly
one project is there; this overrides an ambiguity of R1.
"""

import posixpath
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.aggregate.graph.links.edges import (
    CERTAIN,
    MAX_CANDIDATES_ENTRIES,
    RULE_LOCATION,
    RULE_PACKAGE,
    UNSURE,
    EdgeCollector,
    Endpoint,
    Verdict,
)
from agentic_os.code.layout import is_excluded
from agentic_os.code.manifests.values import Dependency, Manifest
from agentic_os.files.git.checkout import normalise_remote


@dataclass(slots=True)
class DeclaredLinks:
    """Which project depends on which package of which other project, for certain."""

    held: set[tuple[str, str, str, str]] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)

    def add(self, consumer: str, provider: str, ecosystem: str, package: str) -> None:
        """Record one declared dependency."""
        self.held.add((consumer, provider, ecosystem, package))
        self.pairs.add((consumer, provider))

    def holds(self, consumer: str, provider: str, ecosystem: str, package: str) -> bool:
        """Whether the consumer declares that package of the provider."""
        return (consumer, provider, ecosystem, package) in self.held


def declaring(codes: Sequence[ProjectCode], ecosystem: str) -> dict[str, list[ProjectCode]]:
    """Return the projects that declare each package outside tests, examples and the like."""
    found: dict[str, list[ProjectCode]] = {}
    for code in codes:
        for (kind, name), (manifest, _) in code.packages.items():
            if kind == ecosystem and not is_excluded(manifest.path):
                found.setdefault(name, []).append(code)
    return found


def package_edges(
    codes: Sequence[ProjectCode], consumers: Sequence[ProjectCode], collector: EdgeCollector
) -> DeclaredLinks:
    """Derive R1 and R1b of the consumers; return what everybody declares, for the other rules."""
    links = DeclaredLinks()
    rule = _Packages(codes, {code.project for code in consumers}, collector, links)
    for code in codes:
        rule.consumer(code)
    return links


class _Packages:
    """Judges dependencies; only those of ``consumers`` become edges and near-misses.

    What the others declare decides as well where a name leads that is passed on.
    """

    def __init__(
        self,
        codes: Sequence[ProjectCode],
        consumers: Collection[str],
        collector: EdgeCollector,
        links: DeclaredLinks,
    ) -> None:
        self.codes = codes
        self.consumers = consumers
        self.collector = collector
        self.links = links
        self.providers: dict[tuple[str, str], list[ProjectCode]] = {}
        self.hidden: dict[tuple[str, str], list[ProjectCode]] = {}
        for code in codes:
            for key, (manifest, _) in code.packages.items():
                hidden = is_excluded(manifest.path)
                (self.hidden if hidden else self.providers).setdefault(key, []).append(code)

    def consumer(self, code: ProjectCode) -> None:
        """Link one project's dependencies: those that point somewhere first."""
        settled: set[tuple[str, str]] = set()
        own = [item for item in code.manifests if not is_excluded(item.path)]
        for manifest in own:
            for dependency in manifest.dependencies:
                if dependency.kind != "name" and self._pointed(code, manifest, dependency):
                    settled.add((dependency.ecosystem, dependency.name))
        for manifest in own:
            for dependency in manifest.dependencies:
                key = (dependency.ecosystem, dependency.name)
                if dependency.name and key not in settled:
                    self._named(code, manifest, dependency)

    # -- R1 ----------------------------------------------------------------------------

    def _named(self, code: ProjectCode, manifest: Manifest, dependency: Dependency) -> None:
        key = (dependency.ecosystem, dependency.name)
        found = [item for item in self.providers.get(key, ()) if item is not code]
        source = (code, manifest, dependency)
        if not found:
            hidden = [item for item in self.hidden.get(key, ()) if item is not code]
            if hidden:
                self._miss(source, RULE_PACKAGE, "PROVIDER_EXCLUDED", hidden)
        elif code.declares(*key):
            self._miss(source, RULE_PACKAGE, "LOCAL_SHADOW", found)
        elif len(found) == 1:
            self._link(source, found[0], RULE_PACKAGE, CERTAIN)
            self.links.add(code.project, found[0].project, *key)
        else:
            for provider in found[:MAX_CANDIDATES_ENTRIES]:
                self._link(source, provider, RULE_PACKAGE, UNSURE)
            self._miss(source, RULE_PACKAGE, "SEVERAL_PROVIDERS", found)

    # -- R1b ---------------------------------------------------------------------------

    def _pointed(self, code: ProjectCode, manifest: Manifest, dependency: Dependency) -> bool:
        if dependency.kind == "path":
            found = self._at_path(code, manifest, dependency.target)
        else:
            remote = normalise_remote(dependency.target)
            found = [item for item in self.codes if remote and item.remote == remote]
            found = _with_package(found, dependency)
        if any(item is code for item in found):
            return False
        source = (code, manifest, dependency)
        if len(found) != 1:
            if found:
                self._miss(source, RULE_LOCATION, "SEVERAL_PROVIDERS", found)
            return False
        provider = found[0]
        self._link(source, provider, RULE_LOCATION, CERTAIN)
        self.links.pairs.add((code.project, provider.project))
        for ecosystem, name in provider.packages:
            if name == dependency.name or not dependency.name:
                self.links.add(code.project, provider.project, ecosystem, name)
        return True

    # -- what is noted -----------------------------------------------------------------

    def _link(
        self, declared: "_Declared", provider: ProjectCode, rule: str, verdict: Verdict
    ) -> None:
        code, _, dependency = declared
        if code.project not in self.consumers:
            return
        key = (dependency.ecosystem, dependency.name)
        if key in provider.packages:
            manifest, line = provider.packages[key]
            node = provider.manifest_node(manifest.path)
            target = Endpoint(code=provider, path=manifest.path, line=line, node=node)
        else:
            node = provider.manifest_node("")
            path = "" if node is None else node.path
            target = Endpoint(code=provider, path=path, line=1, node=node)
        self.collector.link(
            _endpoint(declared),
            target,
            relation="depends_on",
            rule=rule,
            verdict=verdict,
            detail=dependency.name or dependency.target,
        )

    def _miss(
        self, declared: "_Declared", rule: str, reason: str, others: Sequence[ProjectCode]
    ) -> None:
        code, _, dependency = declared
        if code.project in self.consumers:
            subject = dependency.name or dependency.target
            self.collector.miss(_endpoint(declared), rule, reason, subject, others)

    def _at_path(self, code: ProjectCode, manifest: Manifest, target: str) -> list[ProjectCode]:
        """Find the innermost project at or above a path; names only are compared."""
        if not code.folder or "\0" in target:
            return []
        joined = posixpath.join(code.folder, manifest.folder, target)
        wanted = posixpath.normpath(joined)
        inside = [
            item
            for item in self.codes
            if item.folder and (wanted == item.folder or wanted.startswith(f"{item.folder}/"))
        ]
        if not inside:
            return []
        deepest = max(len(item.folder) for item in inside)
        return [item for item in inside if len(item.folder) == deepest]


_Declared = tuple[ProjectCode, Manifest, Dependency]
"""A dependency and where it is declared."""


def _endpoint(declared: _Declared) -> Endpoint:
    code, manifest, dependency = declared
    node = code.manifest_node(manifest.path)
    return Endpoint(code=code, path=manifest.path, line=dependency.line, node=node)


def _with_package(found: list[ProjectCode], dependency: Dependency) -> list[ProjectCode]:
    """Of several projects of one repository, prefer those that declare the package."""
    if len(found) == 1 or not dependency.name:
        return found
    key = (dependency.ecosystem, dependency.name)
    return [item for item in found if key in item.packages] or found
