"""On-demand search of the folder: one request, one transaction, no derived state.

Phases (DotAIOS convention, search): every scope is inspected (folders walked, files
measured), then discovered (JSONL and session bodies read), each under fair ledgers; only
scopes whose remaining demand fits are executed (Markdown read and ranked). A scope that
meets a limit is left out whole with its record; any other fault fails the request. After
ranking, everything that was observed is observed once more. Nothing is written.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from agentic_os.aios.access import AiosAccess
from agentic_os.aios.configuration import read_configuration, vault_place
from agentic_os.aios.eligibility import is_markdown, is_plugin_text
from agentic_os.aios.faults import EVIDENCE_PATH_UNSAFE, argument_fault, as_evidence, fault
from agentic_os.aios.identity import PortableIdentity, resolve_identity
from agentic_os.aios.ledger import NOTHING, Amount, Charges, FairPhase, Ledger, allocate
from agentic_os.aios.matching import Query
from agentic_os.aios.omissions import (
    REASONS,
    ScopeOmission,
    bounded,
    failed,
    forbidden,
    refused,
)
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.reader import FolderReader
from agentic_os.aios.references import root_hash
from agentic_os.aios.search_context import (
    SEARCH_LIMIT,
    PhaseCharges,
    ScopeOutcome,
    SearchContext,
)
from agentic_os.aios.search_markdown import MarkdownCorpus, MarkdownFolder
from agentic_os.aios.search_memory import MemoryScope
from agentic_os.aios.search_sessions import SessionScope, since_instant
from agentic_os.aios.search_values import (
    PROJECT_SCOPES,
    SCOPES,
    SHARED_SCOPES,
    ProjectSelection,
    ScopeResults,
    SearchAnswer,
    SearchScope,
    SessionFilters,
)
from agentic_os.aios.withheld import hidden_characters
from agentic_os.errors import AiosError

DEFAULT_LIMIT: Final = 20
NO_FILTERS: Final = SessionFilters()
QUERY_CHARS: Final = 500
"""Code points of a query."""


class _ScopeSearch(Protocol):
    """One scope in its phases."""

    def inspect(self, charges: PhaseCharges) -> None: ...

    def discover(self, charges: PhaseCharges) -> None: ...

    def execute(self, charges: Charges) -> ScopeOutcome: ...


class _MarkdownScope:
    """A scope that is one folder of Markdown."""

    def __init__(self, context: SearchContext, place: MarkdownFolder) -> None:
        self._corpus = MarkdownCorpus(context, place)

    def inspect(self, charges: PhaseCharges) -> None:
        self._corpus.inspect(charges)

    def discover(self, charges: PhaseCharges) -> None:
        """Nothing is left to discover: the walk measured every file."""

    def execute(self, charges: Charges) -> ScopeOutcome:
        return ScopeOutcome(hits=self._corpus.execute(charges), withheld=self._corpus.withheld)


class _EmptyScope:
    """A scope whose folder does not exist."""

    def inspect(self, charges: PhaseCharges) -> None:
        """Nothing to walk."""

    def discover(self, charges: PhaseCharges) -> None:
        """Nothing to read."""

    def execute(self, _charges: Charges) -> ScopeOutcome:
        return ScopeOutcome(hits=(), withheld=0)


@dataclass(slots=True, kw_only=True)
class _Run:
    """How far one scope has come: what it needs in all, and what it has taken."""

    scope: SearchScope
    search: _ScopeSearch
    demand: Ledger
    spent: Amount = field(default=NOTHING)
    failed: str | None = None

    @property
    def remaining(self) -> Amount:
        return self.demand.used.minus(self.spent)


def search_aios(
    access: AiosAccess,
    policy: MemoryPolicy,
    *,
    query: str,
    scope: str = "all",
    limit: int = DEFAULT_LIMIT,
    filters: SessionFilters = NO_FILTERS,
) -> SearchAnswer:
    """Search the folder under a memory choice.

    Args:
        access: the folder and what is handed in with it.
        policy: the memory choice; Off answers without touching the folder.
        query: 1 to 500 code points, not blank.
        scope: one of ``SCOPES``.
        limit: hits per scope, 1 or more.
        filters: filters of the sessions scope; ``since`` as ``7d`` or an ISO time.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID, DOTAIOS_FOLDER_MISSING,
            DOTAIOS_PROJECT_SELECTOR_*, DOTAIOS_PROJECT_CATALOG_INVALID, or an evidence
            fault that fails the whole request.
    """
    asked = _checked_scope(query, scope, limit)
    if policy.mode == "off":
        return _answer(query, asked, policy)
    since = None if filters.since is None else since_instant(filters.since, access.clock())
    filters = SessionFilters(agent=filters.agent, project=filters.project, since=since)
    try:
        with FolderReader(access.root, files=access.files) as reader:
            return _search(access, policy, reader, query, asked, limit, filters)
    except AiosError as error:
        raise as_evidence(error) from error


def _checked_scope(query: str, scope: str, limit: int) -> SearchScope:
    if not query.strip() or len(query) > QUERY_CHARS:
        raise argument_fault(f"the query must have 1 to {QUERY_CHARS} characters")
    if limit < 1:
        raise argument_fault("the limit must be a positive whole number")
    found = next((known for known in SCOPES if known == scope), None)
    if found is None:
        raise argument_fault(f"the scope must be one of {', '.join(SCOPES)}")
    return found


def _answer(
    query: str,
    scope: SearchScope,
    policy: MemoryPolicy,
    *,
    identity: PortableIdentity | None = None,
    groups: tuple[ScopeResults, ...] = (),
    omissions: tuple[ScopeOmission, ...] = (),
    withheld: int = 0,
) -> SearchAnswer:
    shown = "\n".join(text for group in groups for hit in group.hits for text in hit.texts)
    return SearchAnswer(
        query=query,
        scope=scope,
        memory=policy.mode,
        receipt=policy.receipt,
        notice=policy.notice,
        selection=None
        if identity is None
        else ProjectSelection(slug=identity.slug, id=identity.id),
        projects_omitted=policy.mode == "shared" and scope == "all",
        groups=groups,
        omissions=omissions,
        withheld=withheld,
        hidden_characters=hidden_characters(shown),
    )


def _search(
    access: AiosAccess,
    policy: MemoryPolicy,
    reader: FolderReader,
    query: str,
    scope: SearchScope,
    limit: int,
    filters: SessionFilters,
) -> SearchAnswer:
    physical = Ledger(SEARCH_LIMIT)
    charges = Charges(physical)
    configuration = read_configuration(reader, charges, hold=True)
    identity = None
    if policy.mode == "project" or scope == "projects":
        identity = resolve_identity(reader, charges, policy.selector)
    scopes = _scopes(scope, identity)
    if not scopes:
        reader.recheck()
        return _answer(query, scope, policy, identity=identity, omissions=(forbidden(scope),))
    vault: tuple[FolderReader, str] | None = None
    outside: FolderReader | None = None
    if "vault" in scopes:
        place = vault_place(access, reader, configuration)
        if place.outside is not None:
            outside = _granted(access, place.outside)
            vault = None if outside is None else (outside, "")
        else:
            vault = (reader, place.inside or "")
    try:
        context = SearchContext(
            query=Query(query),
            text=query.strip(),
            limit=limit,
            filters=filters,
            identity=identity,
            reader=reader,
            vault=vault,
            guard=access.guard,
            root=root_hash(reader.root_stamp),
            now_ms=access.clock().timestamp() * 1000,
        )
        groups, omissions, withheld = _transaction(context, scopes, physical)
        reader.recheck()
        if outside is not None:
            outside.recheck()
    finally:
        if outside is not None:
            outside.close()
    return _answer(
        query,
        scope,
        policy,
        identity=identity,
        groups=groups,
        omissions=omissions,
        withheld=withheld,
    )


def _granted(access: AiosAccess, place: Path) -> FolderReader | None:
    """Open the granted external vault; one that does not exist has no notes.

    The grant is for that exact path, so a link that leads elsewhere is not covered by it.
    """
    found = access.files.look_at(place)
    if found is None:
        return None
    if found.is_link:
        raise fault(EVIDENCE_PATH_UNSAFE)
    return FolderReader(place, files=access.files)


def _scopes(scope: SearchScope, identity: PortableIdentity | None) -> tuple[SearchScope, ...]:
    """Return the scopes to search, none when the memory choice forbids the one asked for."""
    if identity is None:
        return SHARED_SCOPES if scope == "all" else (scope,)
    if scope == "all":
        return PROJECT_SCOPES
    return (scope,) if scope in PROJECT_SCOPES else ()


def _scope_search(scope: SearchScope, context: SearchContext) -> _ScopeSearch:
    if scope == "sessions":
        return SessionScope(context)
    if scope == "memory":
        return MemoryScope(context)
    reader, folder = context.reader, str(scope)
    if scope == "vault":
        if context.vault is None:
            return _EmptyScope()
        reader, folder = context.vault
    identity = context.identity
    if scope == "projects" and identity is not None:
        folder = identity.prefix.rstrip("/")
    place = MarkdownFolder(
        reader=reader,
        folder=folder,
        prefix=folder if scope == "projects" else scope,
        accepts=is_plugin_text if scope == "plugins" else is_markdown,
        project_id=None if identity is None else identity.id,
        evidence=scope in {"context", "projects"},
    )
    return _MarkdownScope(context, place)


def _transaction(
    context: SearchContext, scopes: tuple[SearchScope, ...], physical: Ledger
) -> tuple[tuple[ScopeResults, ...], tuple[ScopeOmission, ...], int]:
    available = physical.remaining
    runs = [
        _Run(scope=scope, search=_scope_search(scope, context), demand=Ledger(available))
        for scope in scopes
    ]
    omissions: list[ScopeOmission] = []
    _phase(runs, physical, discover=False)
    runs, left_out = _admitted(runs, physical, available, shares=len(runs))
    omissions.extend(left_out)
    candidates = len(runs)
    _phase(runs, physical, discover=True)
    runs, left_out = _admitted(runs, physical, available, shares=candidates)
    omissions.extend(left_out)
    groups: list[ScopeResults] = []
    withheld = 0
    for run in runs:
        outcome = run.search.execute(Charges(physical))
        groups.append(ScopeResults(scope=run.scope, hits=outcome.hits))
        withheld += outcome.withheld
    return tuple(groups), bounded(omissions), withheld


def _phase(runs: list[_Run], physical: Ledger, *, discover: bool) -> None:
    """Run one phase over all scopes, each with its fair ledger."""
    fair = FairPhase(physical.remaining, len(runs))
    for run in runs:
        ledger = fair.open()
        before = physical.used
        charges = PhaseCharges.of(physical, ledger, run.demand)
        try:
            if discover:
                run.search.discover(charges)
            else:
                run.search.inspect(charges)
        except AiosError as error:
            evidence = as_evidence(error)
            if evidence.code not in REASONS:
                raise
            run.failed = evidence.code
        fair.settle(ledger)
        run.spent = run.spent.plus(physical.used.minus(before))


def _admitted(
    runs: list[_Run], physical: Ledger, available: Amount, *, shares: int
) -> tuple[list[_Run], list[ScopeOmission]]:
    """Allocate what remains; return the scopes that go on and the records of the others."""
    demands = [(run.scope, run.remaining) for run in runs if run.failed is None]
    allocation = allocate(demands, physical.remaining, scopes=max(1, shares))
    kept: list[_Run] = []
    omissions: list[ScopeOmission] = []
    for run in runs:
        if run.scope in allocation.admitted:
            kept.append(run)
        elif run.failed is not None:
            omissions.append(failed(run.scope, run.failed, run.demand.used, available))
        else:
            omissions.append(
                refused(run.scope, run.remaining, allocation.room, run.demand.used, available)
            )
    return kept, omissions
