"""On-demand search of the folder: one request, one transaction, no derived state.

Phases (DotAIOS convention, search): every scope is inspected (folders walked, files
measured), then discovered (JSONL and session bodies read), each under fair allowances; only
scopes whose remaining demand fits are executed (Markdown read and ranked). A scope that
meets a limit is left out whole with its record; any other fault fails the request. After
ranking, everything that was observed is observed once more. Nothing is written.
"""

from pathlib import Path
from typing import Final

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import SEARCH_LIMIT, Allowance, Charges
from agentic_os.aios.folder.configuration import read_configuration, vault_place
from agentic_os.aios.folder.faults import (
    EVIDENCE_PATH_UNSAFE,
    EVIDENCE_UNAUTHORIZED,
    argument_fault,
    as_evidence,
    fault,
)
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.since import since_instant
from agentic_os.aios.folder.withheld import hidden_characters
from agentic_os.aios.follow.references import root_hash
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.projects.selection import PortableIdentity, resolve_identity
from agentic_os.aios.search.context import SearchContext
from agentic_os.aios.search.matching import Query
from agentic_os.aios.search.omissions import ScopeOmission, forbidden, ungranted
from agentic_os.aios.search.phases import run_phases
from agentic_os.aios.search.scopes import scopes_of
from agentic_os.aios.search.values import (
    SCOPES,
    ProjectSelection,
    ScopeResults,
    SearchAnswer,
    SearchScope,
    SessionFilters,
)
from agentic_os.errors import AiosError

DEFAULT_LIMIT: Final = 20
NO_FILTERS: Final = SessionFilters()
QUERY_CHARS: Final = 500
"""Code points of a query."""


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
    physical = Allowance(SEARCH_LIMIT)
    charges = Charges(physical)
    configuration = read_configuration(reader, charges, hold=True)
    identity = None
    if policy.mode == "project" or scope == "projects":
        identity = resolve_identity(reader, charges, policy.selector)
    scopes = scopes_of(scope, identity)
    if not scopes:
        reader.recheck()
        return _answer(query, scope, policy, identity=identity, omissions=(forbidden(scope),))
    vault: tuple[FolderReader, str] | None = None
    outside: FolderReader | None = None
    left_out: tuple[ScopeOmission, ...] = ()
    if "vault" in scopes:
        place = vault_place(access, reader, configuration)
        if place.outside is not None and not access.vault_granted(place.outside):
            if scope == "vault":
                raise fault(EVIDENCE_UNAUTHORIZED)
            scopes = tuple(one for one in scopes if one != "vault")
            left_out = (ungranted("vault"),)
        elif place.outside is not None:
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
        groups, omissions, withheld = run_phases(context, scopes, physical)
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
        omissions=left_out + omissions,
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
