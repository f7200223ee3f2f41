"""R2, R3, R3b, R3c, R3d for JavaScript and TypeScript.

A bare specifier means the package of that name; its entry is found from ``exports`` or
``main``. Where an entry names a build product that is not in the project, the source it is
made from is found by convention, and the edge is no more than INFERRED. Specifiers that a
``tsconfig`` maps, and those that a file of the consumer answers, stay inside the consumer.
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
from agentic_os.aggregate.graph.links.languages.python import (
    RELATIONS,
    RULE_DIRECT,
    RULE_MODULE,
    RULE_RE_EXPORT,
    RULE_SEVERAL,
    RULE_UNIQUE,
)
from agentic_os.aggregate.graph.links.languages.script_names import Exported, ScriptNames
from agentic_os.aggregate.graph.links.packages import DeclaredLinks
from agentic_os.code.layout import GENERIC_NAMES, is_excluded
from agentic_os.code.script.layout import find_file, resolve_entry, split_specifier
from agentic_os.code.standard_names import is_standard_module
from agentic_os.code.values import DEFAULT_EXPORT, Import, SourceFacts, Use


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    provider: ProjectCode
    path: str
    verdict: Verdict


def script_edges(codes: Sequence[ProjectCode], links: DeclaredLinks, account: Account) -> None:
    """Derive the JavaScript and TypeScript edges of every project."""
    rule = _Script(codes, links, account)
    for code in codes:
        for path, facts in code.sources("script"):
            if facts.imports:
                rule.file(code, path, facts)


class _Script:
    def __init__(
        self, codes: Sequence[ProjectCode], links: DeclaredLinks, account: Account
    ) -> None:
        self.links = links
        self.account = account
        self.names = ScriptNames()
        self.providers: dict[str, list[ProjectCode]] = {}
        for code in codes:
            for (ecosystem, name), (manifest, _) in code.packages.items():
                if ecosystem == "npm" and not is_excluded(manifest.path):
                    self.providers.setdefault(name, []).append(code)

    def file(self, code: ProjectCode, path: str, facts: SourceFacts) -> None:
        """Link the imports of one file, then the uses of what they took."""
        taken = [self._import(code, path, item) for item in facts.imports]
        for use in facts.uses:
            self._use(code, path, facts, use, taken)

    # -- choosing the provider -----------------------------------------------------------

    def _choices(self, place: Place, specifier: str) -> list[_Choice]:
        code = place.code
        split = split_specifier(specifier)
        if split is None or is_standard_module("script", specifier):
            return []
        written, subpath = split
        name = _real_name(code, written)
        found = [item for item in self.providers.get(name, ()) if item is not code]
        if not found:
            return []
        if code.declares("npm", name) or _is_mapped(code, specifier) or _is_file(code, specifier):
            self._miss(place, "LOCAL_SHADOW", specifier, found, "this project answers it itself")
            return []
        declared = [
            item for item in found if self.links.holds(code.project, item.project, "npm", name)
        ]
        if not declared and name in GENERIC_NAMES:
            self._miss(place, "GENERIC_NAME", specifier, found, "any project may have that name")
            return []
        kept = declared or found
        verdict = CERTAIN if declared else UNDECLARED
        if len(kept) > 1:
            verdict = UNSURE
            self._miss(place, "SEVERAL_PROVIDERS", specifier, kept, "several declare the package")
        choices = [
            self._landed(place, item, name, subpath, verdict)
            for item in kept[:MAX_CANDIDATES_ENTRIES]
        ]
        return [choice for choice in choices if choice is not None]

    def _landed(
        self, place: Place, provider: ProjectCode, name: str, subpath: str, verdict: Verdict
    ) -> _Choice | None:
        manifest, _ = provider.packages[("npm", name)]
        landing = resolve_entry(manifest.folder, manifest.entries, subpath, provider.files)
        if landing is None:
            self._miss(
                place,
                "ENTRY_UNKNOWN",
                name if subpath == "." else f"{name}/{subpath[2:]}",
                [provider],
                "its manifest's entry leads to no file of its graph",
            )
            return None
        if is_excluded(landing.path):
            self._miss(
                place, "PROVIDER_EXCLUDED", name, [provider], "the entry is a test or example"
            )
            return None
        sure = verdict if landing.exact else verdict.capped(UNDECLARED)
        return _Choice(provider=provider, path=landing.path, verdict=sure)

    def _miss(
        self, place: Place, code: str, subject: str, others: Sequence[ProjectCode], detail: str
    ) -> None:
        self.account.miss(place, RULE_MODULE, code, subject, others, detail)

    # -- imports -------------------------------------------------------------------------

    def _import(self, code: ProjectCode, path: str, item: Import) -> list[tuple[Exported, _Choice]]:
        place = Place(code=code, path=path, line=item.line, node=code.nodes.file(path))
        taken: list[tuple[Exported, _Choice]] = []
        for choice in self._choices(place, item.module):
            goal = Goal(
                code=choice.provider,
                path=choice.path,
                line=1,
                node=choice.provider.nodes.file(choice.path),
            )
            self.account.link(
                place,
                goal,
                relation="imports",
                rule=RULE_MODULE,
                verdict=choice.verdict,
                detail=item.module,
            )
            if not item.member:
                taken.append((Exported.module(choice.path), choice))
                continue
            found = self._member(place, item, choice)
            self._symbols(place, found, "imports", f"{item.module}#{item.member}", choice)
            taken.extend((each, choice) for each in found)
        return taken

    def _member(self, place: Place, item: Import, choice: _Choice) -> list[Exported]:
        provider = choice.provider
        found = self.names.exported(provider, choice.path, item.member)
        if found:
            return found
        if item.member == DEFAULT_EXPORT:
            # CommonJS without a default: the module itself stands for it.
            return [Exported.module(choice.path)]
        nodes = [node for node in provider.nodes.named(item.member) if not is_excluded(node.path)]
        nodes = [node for node in nodes if not node.label.startswith(".")]
        if not 0 < len(nodes) <= MAX_CANDIDATES_ENTRIES:
            code = "NAME_UNKNOWN" if not nodes else "TOO_MANY_CANDIDATES"
            self.account.miss(
                place,
                RULE_DIRECT,
                code,
                f"{item.module}#{item.member}",
                (provider,),
                "no export of that name is seen",
            )
            return []
        return [
            Exported(path=node.path, line=node.line, name=item.member, form="label")
            for node in nodes
        ]

    # -- symbols -------------------------------------------------------------------------

    def _symbols(
        self,
        place: Place,
        found: list[Exported],
        relation: str,
        wanted: str,
        choice: _Choice,
        *,
        several: bool = False,
    ) -> None:
        several = several or len(found) > 1
        for item in found[:MAX_CANDIDATES_ENTRIES]:
            if item.form == "module":
                continue
            nodes = choice.provider.nodes
            node = nodes.symbol(item.path, item.name, item.line) or nodes.file(item.path)
            rule, verdict = _judged(item, several=several)
            self.account.link(
                place,
                Goal(code=choice.provider, path=item.path, line=item.line, node=node),
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
        taken: list[list[tuple[Exported, _Choice]]],
    ) -> None:
        ends: dict[tuple[str, str, int, str], tuple[Exported, _Choice, bool]] = {}
        for start, choice in (each for index in use.imports for each in taken[index]):
            for end, whole in self._walk(choice.provider, start, use.chain):
                if end.form != "module":
                    key = (choice.provider.project, end.path, end.line, end.name)
                    ends.setdefault(key, (end, choice, whole))
        if not ends:
            return
        node = code.user_node(path, facts, use.scope)
        place = Place(code=code, path=path, line=use.line, node=node)
        for end, choice, whole in list(ends.values())[:MAX_CANDIDATES_ENTRIES]:
            relation = RELATIONS[use.kind] if whole else "references"
            wanted = ".".join((use.local, *use.chain))
            self._symbols(place, [end], relation, wanted, choice, several=len(ends) > 1)

    def _walk(
        self, provider: ProjectCode, start: Exported, chain: tuple[str, ...]
    ) -> list[tuple[Exported, bool]]:
        current = [start]
        for position, name in enumerate(chain):
            if any(item.form != "module" for item in current):
                return [(item, False) for item in current]
            current = [
                each for item in current for each in self.names.exported(provider, item.path, name)
            ]
            if current and all(item.form != "module" for item in current):
                return [(item, position == len(chain) - 1) for item in current]
        return [(item, True) for item in current]


def _judged(item: Exported, *, several: bool) -> tuple[str, Verdict]:
    if several:
        return RULE_SEVERAL, UNSURE
    if item.form == "label":
        return RULE_UNIQUE, UNDECLARED
    if item.hops:
        return RULE_RE_EXPORT, RE_EXPORTED
    return RULE_DIRECT, CERTAIN


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
