"""R2, R3, R3b, R3c, R3d for Python: modules and symbols that one project takes from another.

A module is found by the provider's layout, never by a package's name. A symbol is followed
from the module it is imported from through the provider's own imports, stars and aliases
(``python_names``), as the interpreter would; what has more than one possible definition is
AMBIGUOUS.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.aggregate.graph.links.edges import (
    CERTAIN,
    MAX_CANDIDATES_ENTRIES,
    RE_EXPORTED,
    UNDECLARED,
    UNSURE,
    Account,
    Goal,
    Place,
    Verdict,
)
from agentic_os.aggregate.graph.links.languages.python_names import Definition, PythonNames
from agentic_os.aggregate.graph.links.packages import DeclaredLinks
from agentic_os.code.layout import GENERIC_NAMES, Provided, is_excluded
from agentic_os.code.standard_names import is_standard_module
from agentic_os.code.values import STAR, Import, SourceFacts, Use

RULE_MODULE = "R2"
RULE_DIRECT = "R3"
RULE_RE_EXPORT = "R3b"
RULE_UNIQUE = "R3c"
RULE_SEVERAL = "R3d"
RELATIONS = {
    "call": "calls",
    "inherits": "inherits",
    "reference": "references",
    "decorator": "references",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """The module that an import means, in one provider, and how sure that is."""

    provider: ProjectCode
    provided: Provided
    verdict: Verdict


def python_edges(codes: Sequence[ProjectCode], links: DeclaredLinks, account: Account) -> None:
    """Derive the Python edges of every project."""
    rule: _Python | None = None
    for code in codes:
        for path, facts in code.sources("python"):
            if facts.imports:
                # Every project's layout is looked at: only where something is imported.
                rule = rule or _Python(codes, links, account)
                rule.file(code, path, facts)


class _Python:
    def __init__(
        self, codes: Sequence[ProjectCode], links: DeclaredLinks, account: Account
    ) -> None:
        self.links = links
        self.account = account
        self.names = PythonNames()
        self.by_module: dict[str, list[tuple[ProjectCode, Provided]]] = {}
        self.by_top: dict[str, list[ProjectCode]] = {}
        self.excluded_tops: dict[str, list[ProjectCode]] = {}
        for code in codes:
            tops = set()
            for module, provided in code.python_modules.items():
                self.by_module.setdefault(module, []).append((code, provided))
                tops.add(module.partition(".")[0])
            for top in sorted(tops):
                self.by_top.setdefault(top, []).append(code)
            for top in sorted(_excluded_tops(code) - tops):
                self.excluded_tops.setdefault(top, []).append(code)

    def file(self, code: ProjectCode, path: str, facts: SourceFacts) -> None:
        """Link the imports of one file, then the uses of what they took."""
        targets = [self._import(code, path, item) for item in facts.imports]
        for use in facts.uses:
            self._use(code, path, facts, use, targets)

    # -- choosing the provider -----------------------------------------------------------

    def _choices(self, place: Place, module: str) -> list[_Choice]:
        code = place.code
        inner = not module or module.startswith(".") or module in code.python_modules
        if inner or is_standard_module("python", module):
            return []
        top = module.partition(".")[0]
        found = [item for item in self.by_module.get(module, ()) if item[0] is not code]
        others = [item for item in self.by_top.get(top, ()) if item is not code]
        if not found and not others:
            hidden = [item for item in self.excluded_tops.get(top, ()) if item is not code]
            if hidden and not _is_local(place, top):
                self._miss(place, "PROVIDER_EXCLUDED", module, hidden, _EXCLUDED_DETAIL)
            return []
        if _is_local(place, top):
            self._miss(place, "LOCAL_SHADOW", module, others, "this project has that name itself")
            return []
        if not found:
            self._miss(place, "MODULE_UNKNOWN", module, others, "no file of theirs is that module")
            return []
        declared = [item for item in found if self._is_declared(code, *item)]
        if declared:
            verdict = CERTAIN if len(declared) == 1 else UNSURE
            return [_Choice(provider=c, provided=p, verdict=verdict) for c, p in declared]
        return self._undeclared(place, module, top, found)

    def _is_declared(
        self, consumer: ProjectCode, provider: ProjectCode, provided: Provided
    ) -> bool:
        if provided.package:
            return self.links.holds(consumer.project, provider.project, "python", provided.package)
        # A provider that declares no package can still be pointed at.
        return (consumer.project, provider.project) in self.links.pairs

    def _undeclared(
        self, place: Place, module: str, top: str, found: list[tuple[ProjectCode, Provided]]
    ) -> list[_Choice]:
        """Judge providers that the consumer's manifests do not name."""
        providers = [code for code, _ in found]
        if top.lower() in GENERIC_NAMES:
            self._miss(place, "GENERIC_NAME", module, providers, "any project may have that name")
            return []
        kept = [item for item in found if item[1].form == "package"]
        if not kept:
            self._miss(
                place, "UNDECLARED_MODULE", module, providers, "no manifest names the dependency"
            )
            return []
        verdict = UNDECLARED if len(kept) == 1 else UNSURE
        if len(kept) > 1:
            self._miss(place, "SEVERAL_PROVIDERS", module, providers, "none of them is declared")
        return [
            _Choice(provider=code, provided=provided, verdict=verdict)
            for code, provided in kept[:MAX_CANDIDATES_ENTRIES]
        ]

    def _miss(
        self, place: Place, code: str, subject: str, others: list[ProjectCode], detail: str
    ) -> None:
        self.account.miss(place, RULE_MODULE, code, subject, others, detail)

    # -- imports -------------------------------------------------------------------------

    def _import(
        self, code: ProjectCode, path: str, item: Import
    ) -> list[tuple[Definition, _Choice]]:
        place = Place(code=code, path=path, line=item.line, node=code.nodes.file(path))
        targets: list[tuple[Definition, _Choice]] = []
        for choice in self._choices(place, item.module):
            self._module_edge(place, choice.provider, choice.provided.path, item.module, choice)
            if not item.member:
                base = self._bound_module(choice, item)
                if base is not None:
                    targets.append((base, choice))
            elif item.member != STAR:
                targets.extend(self._member(place, item, choice))
        return targets

    def _bound_module(self, choice: _Choice, item: Import) -> Definition | None:
        """Return the module that the local name stands for: ``import a.b`` binds ``a``."""
        provided = choice.provider.python_modules.get(item.binds)
        if provided is None:
            return Definition.package(choice.provider, item.binds)
        return Definition.module(choice.provider, provided.path, item.binds)

    def _module_edge(
        self, place: Place, provider: ProjectCode, path: str, module: str, choice: _Choice
    ) -> None:
        goal = Goal(code=provider, path=path, line=1, node=provider.nodes.file(path))
        self.account.link(
            place,
            goal,
            relation="imports",
            rule=RULE_MODULE,
            verdict=choice.verdict,
            detail=module,
        )

    def _member(
        self, place: Place, item: Import, choice: _Choice
    ) -> list[tuple[Definition, _Choice]]:
        found = self.names.member(choice.provider, choice.provided.path, item.member)
        wanted = f"{item.module}.{item.member}"
        if not found:
            found = self._by_label(place, item.member, wanted, choice)
        self._symbol_edges(place, found, "imports", wanted, choice)
        return [(definition, choice) for definition in found]

    def _by_label(self, place: Place, name: str, wanted: str, choice: _Choice) -> list[Definition]:
        """R3c: the only definition of that name outside tests in the provider."""
        provider = choice.provider
        nodes = [
            node
            for node in provider.nodes.named(name)
            if node.path in provider.python_module_of and not node.label.startswith(".")
        ]
        if len(nodes) > MAX_CANDIDATES_ENTRIES:
            self.account.miss(
                place,
                RULE_SEVERAL,
                "TOO_MANY_CANDIDATES",
                wanted,
                (provider,),
                f"{len(nodes)} definitions have that name",
            )
            return []
        if not nodes:
            self.account.miss(
                place,
                RULE_DIRECT,
                "NAME_UNKNOWN",
                wanted,
                (provider,),
                _UNSEEN,
            )
        return [
            Definition(
                code=provider, path=node.path, line=node.line, name=name, form="label", hops=0
            )
            for node in nodes
        ]

    # -- symbols -------------------------------------------------------------------------

    def _symbol_edges(
        self,
        place: Place,
        found: list[Definition],
        relation: str,
        wanted: str,
        choice: _Choice,
        *,
        several: bool = False,
    ) -> None:
        several = several or len(found) > 1
        for definition in found[:MAX_CANDIDATES_ENTRIES]:
            if definition.form == "package":
                continue
            if definition.form == "module":
                self._module_edge(place, definition.code, definition.path, definition.name, choice)
                continue
            rule, verdict = _judged(definition, several=several)
            node = definition.code.nodes.symbol(definition.path, definition.name, definition.line)
            if node is None:
                node = definition.code.nodes.file(definition.path)
            self.account.link(
                place,
                Goal(code=definition.code, path=definition.path, line=definition.line, node=node),
                relation=relation,
                rule=rule,
                verdict=verdict.capped(choice.verdict),
                detail=wanted,
            )

    def _use(
        self,
        code: ProjectCode,
        path: str,
        facts: SourceFacts,
        use: Use,
        targets: list[list[tuple[Definition, _Choice]]],
    ) -> None:
        behind = [target for index in use.imports for target in targets[index]]
        if not behind:
            return
        ends: dict[tuple[str, str, int, str], tuple[Definition, _Choice, bool]] = {}
        for start, choice in behind:
            for end, whole in self._walk(start, use.chain):
                if end.form not in {"module", "package"}:
                    key = (end.code.project, end.path, end.line, end.name)
                    ends.setdefault(key, (end, choice, whole))
        wanted = ".".join((use.local, *use.chain))
        if not ends:
            if use.chain and not any(self._walk(start, use.chain) for start, _ in behind):
                place = Place(code=code, path=path, line=use.line, node=None)
                owners = [choice.provider for _, choice in behind]
                self.account.miss(place, RULE_DIRECT, "NAME_UNKNOWN", wanted, owners, _UNSEEN)
            return
        node = code.user_node(path, facts, use.scope)
        place = Place(code=code, path=path, line=use.line, node=node)
        for end, choice, whole in list(ends.values())[:MAX_CANDIDATES_ENTRIES]:
            relation = RELATIONS[use.kind] if whole else "references"
            self._symbol_edges(place, [end], relation, wanted, choice, several=len(ends) > 1)

    def _walk(self, start: Definition, chain: tuple[str, ...]) -> list[tuple[Definition, bool]]:
        """Follow ``.a.b`` from a module; stop at the first thing that is not a module."""
        current = [start]
        for position, name in enumerate(chain):
            following: list[Definition] = []
            for item in current:
                if item.form not in {"module", "package"}:
                    return [(each, False) for each in current]
                following.extend(self.names.attribute(item, name))
            current = following
            if not current:
                return []
            if all(item.form not in {"module", "package"} for item in current):
                whole = position == len(chain) - 1
                return [(item, whole) for item in current]
        return [(item, True) for item in current]


def _judged(definition: Definition, *, several: bool) -> tuple[str, Verdict]:
    if several:
        return RULE_SEVERAL, UNSURE
    if definition.form == "label":
        return RULE_UNIQUE, UNDECLARED
    if definition.hops:
        return RULE_RE_EXPORT, RE_EXPORTED
    return RULE_DIRECT, CERTAIN


def _is_local(place: Place, top: str) -> bool:
    """Whether the consumer has a module of that name where the import would find it first."""
    code = place.code
    if any(module.partition(".")[0] == top for module in code.python_modules):
        return True
    folder = place.path.rpartition("/")[0]
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


_UNSEEN = "the module does not offer that name in any way that reading shows"
_EXCLUDED_DETAIL = "only among tests, examples, fixtures or vendored code"
