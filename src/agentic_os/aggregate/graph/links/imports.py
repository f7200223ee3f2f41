"""R2, R3, R3b, R3d: modules and symbols that one project takes from another.

One rule for all languages. A language says which module of which provider an import means
and what a name of that module is; the rule makes the edges:

- R2: the consumer's file imports the provider's module;
- R3: the name is defined in that module; R3b: it is reached through re-exports;
- R3d: it can be more than one definition, which makes an AMBIGUOUS edge;
- a use follows its chain (``module.attribute``) to the first thing that is no module.

An edge is never surer than the choice of the module it came through. A name that reading
does not lead to is a near-miss, never a guess by its spelling.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Protocol

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.aggregate.graph.links.edges import (
    CERTAIN,
    MAX_CANDIDATES_ENTRIES,
    RE_EXPORTED,
    RELATIONS,
    RULE_DIRECT,
    RULE_MODULE,
    RULE_RE_EXPORT,
    RULE_SEVERAL,
    UNSURE,
    EdgeCollector,
    Endpoint,
    Verdict,
)
from agentic_os.aggregate.graph.links.languages.definitions import Choice, Definition, unique
from agentic_os.code.values import STAR, Import, SourceFacts, Use

Taken = list[tuple[Definition, Choice]]
"""What one import binds, each with the choice of provider it came through."""


class ImportLanguage(Protocol):
    """How one language's imports and names are resolved."""

    family: str
    """The language family whose sources are read (``language_family``)."""
    separator: str
    """What stands between a module and a member of it in an edge's detail."""

    def choices(self, source: Endpoint, module: str) -> list[Choice]:
        """Return the modules of other projects that an import means.

        What was nearly linked is told to the collector that the language was made with.
        """

    def bound(self, choice: Choice, item: Import) -> Definition | None:
        """Return the module that ``item.local`` stands for where no member is named."""

    def attribute(self, module: Definition, name: str) -> list[Definition]:
        """Return what ``module.name`` can be; empty when nothing shows."""

    def means(self, module: Definition, item: Import, use: Use) -> bool:
        """Whether a use can mean that import; only Go leaves it open."""


class ImportRule:
    """Links the imports of one language, and the uses of what they took."""

    def __init__(self, language: ImportLanguage, collector: EdgeCollector) -> None:
        """Link what ``language`` resolves into ``collector``."""
        self._language = language
        self._collector = collector

    def link(
        self,
        codes: Sequence[ProjectCode],
        only: Mapping[str, AbstractSet[str]] = MappingProxyType({}),
    ) -> None:
        """Derive the language's edges of every project; of those in ``only``, of these files."""
        for code in codes:
            for path, facts in code.sources(self._language.family, only.get(code.project)):
                if facts.imports:
                    self._file(code, path, facts)

    def _file(self, code: ProjectCode, path: str, facts: SourceFacts) -> None:
        taken = [self._import(code, path, item) for item in facts.imports]
        if any(taken):
            for use in facts.uses:
                self._use(code, path, facts, use, taken)

    def _import(self, code: ProjectCode, path: str, item: Import) -> Taken:
        source = Endpoint(code=code, path=path, line=item.line, node=code.nodes.file(path))
        taken: Taken = []
        for choice in self._language.choices(source, item.module):
            self._module_edge(source, choice.module, item.module, choice.verdict)
            if not item.member:
                bound = self._language.bound(choice, item)
                taken += [] if bound is None else [(bound, choice)]
            elif item.member != STAR:
                wanted = f"{item.module}{self._language.separator}{item.member}"
                found = unique(self._language.attribute(choice.module, item.member))
                if not found:
                    self._unknown(source, wanted, [choice])
                for definition in found[:MAX_CANDIDATES_ENTRIES]:
                    self._edge(
                        source, definition, "imports", wanted, choice, several=len(found) > 1
                    )
                taken += [(definition, choice) for definition in found]
        return taken

    def _use(
        self, code: ProjectCode, path: str, facts: SourceFacts, use: Use, taken: list[Taken]
    ) -> None:
        starts = [
            (start, choice)
            for index in use.imports
            for start, choice in taken[index]
            if self._language.means(start, facts.imports[index], use)
        ]
        if not starts:
            return
        ends: dict[tuple[str, str, int, str], tuple[Definition, Choice, bool]] = {}
        reached = False
        for start, choice in starts:
            for end, whole in self._walk(start, use.chain):
                reached = True
                if not end.is_module:
                    ends.setdefault(end.key, (end, choice, whole))
        source = Endpoint(
            code=code, path=path, line=use.line, node=code.user_node(path, facts, use.scope)
        )
        wanted = ".".join((use.local, *use.chain))
        if not reached:
            self._unknown(source, wanted, [choice for _, choice in starts])
        for end, choice, whole in list(ends.values())[:MAX_CANDIDATES_ENTRIES]:
            # ``Loader.run`` uses Loader: it does not call what is behind the attribute.
            relation = RELATIONS[use.kind] if whole else "references"
            self._edge(source, end, relation, wanted, choice, several=len(ends) > 1)

    def _walk(self, start: Definition, chain: tuple[str, ...]) -> list[tuple[Definition, bool]]:
        """Follow ``.a.b`` from a module; stop at the first thing that is not a module."""
        current = [start]
        for name in chain:
            if any(not item.is_module for item in current):
                return [(item, False) for item in current]
            current = [each for item in current for each in self._language.attribute(item, name)]
        return [(item, True) for item in current]

    def _module_edge(
        self, source: Endpoint, module: Definition, wanted: str, verdict: Verdict
    ) -> None:
        target = Endpoint(
            code=module.code, path=module.path, line=1, node=module.code.nodes.file(module.path)
        )
        self._collector.link(
            source, target, relation="imports", rule=RULE_MODULE, verdict=verdict, detail=wanted
        )

    def _edge(
        self,
        source: Endpoint,
        definition: Definition,
        relation: str,
        wanted: str,
        choice: Choice,
        *,
        several: bool,
    ) -> None:
        if definition.form == "package":
            return
        if definition.form == "module":
            self._module_edge(source, definition, definition.name or wanted, choice.verdict)
            return
        if several:
            rule, verdict = RULE_SEVERAL, UNSURE
        elif definition.hops:
            rule, verdict = RULE_RE_EXPORT, RE_EXPORTED
        else:
            rule, verdict = RULE_DIRECT, CERTAIN
        nodes = definition.code.nodes
        node = nodes.symbol(definition.path, definition.name, definition.line)
        self._collector.link(
            source,
            Endpoint(
                code=definition.code,
                path=definition.path,
                line=definition.line,
                node=node or nodes.file(definition.path),
            ),
            relation=relation,
            rule=rule,
            verdict=verdict.capped(choice.verdict),
            detail=wanted,
        )

    def _unknown(self, source: Endpoint, wanted: str, choices: Sequence[Choice]) -> None:
        providers = [choice.module.code for choice in choices]
        self._collector.miss(source, RULE_DIRECT, "NAME_UNKNOWN", wanted, providers)
