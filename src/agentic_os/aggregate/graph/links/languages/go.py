"""R2 and R3 for Go: packages by module path and folder, symbols by package clause.

The module is the longest that is the import path or a prefix of it at a slash. A package is
a folder; a name in it may be defined in several files under build constraints, which makes
it AMBIGUOUS. ``internal`` packages and ``main`` packages cannot be imported from outside.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.aggregate.graph.links.edges import (
    CERTAIN,
    MAX_CANDIDATES_ENTRIES,
    UNDECLARED,
    UNSURE,
    Account,
    Goal,
    Place,
    Verdict,
)
from agentic_os.aggregate.graph.links.languages.python import (
    RELATIONS,
    RULE_DIRECT,
    RULE_MODULE,
    RULE_SEVERAL,
)
from agentic_os.aggregate.graph.links.packages import DeclaredLinks
from agentic_os.code.layout import is_excluded
from agentic_os.code.standard_names import is_standard_module
from agentic_os.code.values import Import, SourceFacts, Use


@dataclass(frozen=True, slots=True, kw_only=True)
class _Package:
    """One Go package of a provider: its folder's files and what they define."""

    provider: ProjectCode
    name: str
    files: tuple[str, ...]
    verdict: Verdict

    @property
    def face(self) -> str:
        """The file that stands for the package: ``doc.go``, its namesake, or the first."""
        for wanted in ("doc.go", f"{self.name}.go"):
            for path in self.files:
                if path.rpartition("/")[2] == wanted:
                    return path
        return self.files[0]


def go_edges(codes: Sequence[ProjectCode], links: DeclaredLinks, account: Account) -> None:
    """Derive the Go edges of every project."""
    rule = _Go(codes, links, account)
    for code in codes:
        for path, facts in code.sources("go"):
            if facts.imports:
                rule.file(code, path, facts)


class _Go:
    def __init__(
        self, codes: Sequence[ProjectCode], links: DeclaredLinks, account: Account
    ) -> None:
        self.links = links
        self.account = account
        self.modules: dict[str, list[ProjectCode]] = {}
        for code in codes:
            for (ecosystem, name), (manifest, _) in code.packages.items():
                if ecosystem == "go" and not is_excluded(manifest.path):
                    self.modules.setdefault(name, []).append(code)

    def file(self, code: ProjectCode, path: str, facts: SourceFacts) -> None:
        """Link the imports of one file, then the selectors on them."""
        taken = [self._import(code, path, item) for item in facts.imports]
        for use in facts.uses:
            self._use(code, path, facts, use, taken)

    # -- choosing the provider -----------------------------------------------------------

    def _module_of(self, module: str) -> str | None:
        while module:
            if module in self.modules:
                return module
            module = module.rpartition("/")[0]
        return None

    def _packages(self, place: Place, module: str) -> list[_Package]:
        code = place.code
        if is_standard_module("go", module):
            return []
        name = self._module_of(module)
        if name is None:
            return []
        found = [item for item in self.modules[name] if item is not code]
        if code.declares("go", name) or not found:
            if found:
                self._miss(place, "LOCAL_SHADOW", module, found, "this project is that module")
            return []
        if any(path.startswith(f"vendor/{module}/") for path in code.files):
            self._miss(place, "LOCAL_SHADOW", module, found, "vendored in this project")
            return []
        if "internal" in module[len(name) :].split("/"):
            self._miss(
                place, "GO_INTERNAL", module, found, "internal packages stay in their module"
            )
            return []
        declared = [
            item for item in found if self.links.holds(code.project, item.project, "go", name)
        ]
        kept = declared or found
        verdict = CERTAIN if declared else UNDECLARED
        if len(kept) > 1:
            verdict = UNSURE
            self._miss(place, "SEVERAL_PROVIDERS", module, kept, "several are that module")
        packages = [
            self._package(place, item, name, module, verdict)
            for item in kept[:MAX_CANDIDATES_ENTRIES]
        ]
        return [package for package in packages if package is not None]

    def _package(
        self, place: Place, provider: ProjectCode, name: str, module: str, verdict: Verdict
    ) -> _Package | None:
        manifest, _ = provider.packages[("go", name)]
        rest = module[len(name) :].strip("/")
        folder = "/".join(part for part in (manifest.folder, rest) if part)
        files = tuple(
            path
            for path in provider.paths.get("go", ())
            if path.rpartition("/")[0] == folder and not is_excluded(path)
        )
        if not files:
            self._miss(place, "MODULE_UNKNOWN", module, [provider], "no file of its graph is there")
            return None
        clauses = {
            facts.package
            for facts in (provider.facts(path) for path in files)
            if facts is not None and facts.package
        }
        if clauses == {"main"}:
            self._miss(place, "GO_MAIN", module, [provider], "a main package cannot be imported")
            return None
        clauses -= {"main"}
        clause = next(iter(clauses)) if len(clauses) == 1 else ""
        return _Package(provider=provider, name=clause, files=files, verdict=verdict)

    def _miss(
        self, place: Place, code: str, subject: str, others: Sequence[ProjectCode], detail: str
    ) -> None:
        self.account.miss(place, RULE_MODULE, code, subject, others, detail)

    # -- imports and selectors -----------------------------------------------------------

    def _import(self, code: ProjectCode, path: str, item: Import) -> list[_Package]:
        place = Place(code=code, path=path, line=item.line, node=code.nodes.file(path))
        packages = self._packages(place, item.module)
        for package in packages:
            face = package.face
            self.account.link(
                place,
                Goal(
                    code=package.provider,
                    path=face,
                    line=1,
                    node=package.provider.nodes.file(face),
                ),
                relation="imports",
                rule=RULE_MODULE,
                verdict=package.verdict,
                detail=item.module,
            )
        return packages

    def _use(
        self,
        code: ProjectCode,
        path: str,
        facts: SourceFacts,
        use: Use,
        taken: list[list[_Package]],
    ) -> None:
        for index in use.imports:
            explicit = bool(facts.imports[index].local)
            for package in taken[index]:
                if not explicit and package.name != use.local:
                    continue
                node = code.user_node(path, facts, use.scope)
                place = Place(code=code, path=path, line=use.line, node=node)
                self._selector(place, package, use)

    def _selector(self, place: Place, package: _Package, use: Use) -> None:
        name = use.chain[0] if use.chain else ""
        provider = package.provider
        wanted = f"{use.local}.{name}"
        found: list[tuple[str, int]] = []
        for path in package.files:
            facts = provider.facts(path)
            if facts is None or facts.package in {"", "main"}:
                continue
            found.extend((path, item.line) for item in facts.bindings if item.name == name)
        if not found:
            self.account.miss(
                place,
                RULE_DIRECT,
                "NAME_UNKNOWN",
                wanted,
                (provider,),
                "not defined in the package",
            )
            return
        several = len(found) > 1
        relation = RELATIONS[use.kind] if len(use.chain) == 1 else "references"
        for path, line in found[:MAX_CANDIDATES_ENTRIES]:
            node = provider.nodes.symbol(path, name, line) or provider.nodes.file(path)
            verdict = UNSURE if several else CERTAIN
            self.account.link(
                place,
                Goal(code=provider, path=path, line=line, node=node),
                relation=relation,
                rule=RULE_SEVERAL if several else RULE_DIRECT,
                verdict=verdict.capped(package.verdict),
                detail=wanted,
            )
