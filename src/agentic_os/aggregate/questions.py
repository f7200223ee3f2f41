"""One service function for each question about the unions.

The command line, the MCP server and any page call these and render what they return; none of
them asks the store itself.
"""

from collections.abc import Sequence
from functools import cache
from typing import TypeVar, get_args

from msgspec.structs import replace

from agentic_os.aggregate.facts import facts_named
from agentic_os.aggregate.store.space import space_bytes
from agentic_os.aggregate.surfaces.sweep import vault_files
from agentic_os.aggregate.surfaces.vault import link_targets
from agentic_os.aggregate.union import (
    capabilities_union,
    equal_groups,
    memory_differences,
    memory_union,
    missing_facts,
    vault_union,
)
from agentic_os.aggregate.workspace import Workspace
from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.registry.codes import HELD_IN_NAMES
from agentic_os.registry.project import Project
from agentic_os.results import (
    AggregateData,
    Answer,
    CapabilitiesData,
    CapabilityCount,
    CapabilityMatrixData,
    CapabilitySection,
    Diagnostic,
    DifferencesData,
    MemoryData,
    VaultData,
)
from agentic_os.text.secrets.values_of import redacted_value

T = TypeVar("T")


def aggregate_fleet(workspace: Workspace) -> Answer[AggregateData]:
    """Return what the store holds and what opening the workspace took in."""
    store = workspace.store
    refreshed = workspace.refreshed
    count = {
        name: int(store.connection.execute(query).fetchone()[0]) for name, query in _COUNTS.items()
    }
    return _answer(
        workspace,
        AggregateData(
            projects=count["projects"],
            facts=count["facts"],
            notes=count["notes"],
            capabilities=count["capabilities"],
            files=count["files"],
            files_read=refreshed.files_read if refreshed else 0,
            files_removed=refreshed.files_removed if refreshed else 0,
            redactions=count["redactions"] + _secret_names(workspace),
            equal_groups=len(equal_groups(store)),
            graph_nodes=count["graph_nodes"],
            graph_edges=count["graph_edges"],
            graph_links=count["graph_links"],
            graph_files_read=refreshed.graph_files_read if refreshed else 0,
            generation=store.generation,
            store_bytes=space_bytes(store.space),
        ),
        None,
    )


def _secret_names(workspace: Workspace) -> int:
    """Names of projects, branches and folders that held a secret; no file holds those."""
    return sum(
        item.code in HELD_IN_NAMES
        for project in workspace.fleet.projects
        for item in project.diagnostics
    )


def memory(
    workspace: Workspace, projects: Sequence[str] = (), *, fact: str | None = None
) -> Answer[MemoryData]:
    """Return the union of memory, whole, of the named projects, or the facts that ``fact`` means.

    Raises:
        UnknownProjectError: a name means no project, or several.
        RegistryError: ``fact`` means none (FACT_UNKNOWN).
    """
    scope = workspace.project_ids(projects)
    data = memory_union(workspace.store, workspace.fleet, scope)
    if fact is not None:
        data = facts_named(redacted_value(data, workspace.redactor, but="text"), fact)
    missing = missing_facts(workspace.store, scope)
    warnings = tuple(
        replace(item, path=f"{project}:{item.path}")
        for project, items in missing.items()
        for item in items
    )
    return _answer(workspace, data, scope, warnings)


def differences(workspace: Workspace, projects: Sequence[str] = ()) -> Answer[DifferencesData]:
    """Keys that projects state with different values."""
    scope = workspace.project_ids(projects)
    return _answer(workspace, memory_differences(workspace.store, scope), scope)


def vault(workspace: Workspace, projects: Sequence[str] = ()) -> Answer[VaultData]:
    """Return the vault notes of all projects that have a vault."""
    scope = workspace.project_ids(projects)
    projects_by_id = {project.id: project for project in workspace.fleet.projects}
    others = cache(lambda name: cache(lambda: _vault_files(projects_by_id.get(name))))
    return _answer(workspace, vault_union(workspace.store, scope, others=others), scope)


def _vault_files(project: Project | None) -> dict[str, str]:
    """List what lies in a vault beside its notes: pictures and canvases are linked, too."""
    vault = project.surfaces.vault if project else None
    if project is None or vault is None or vault.state != "present":
        return {}
    try:
        with Folder.open(project.folder) as folder:
            return link_targets(vault_files(folder, vault.path))
    except FilesError:
        return {}


def capabilities(workspace: Workspace, projects: Sequence[str] = ()) -> Answer[CapabilitiesData]:
    """Return the inverted inventory of skills, servers and hooks, opted-out projects included."""
    scope = workspace.project_ids(projects)
    return _answer(workspace, capabilities_union(workspace.store, scope), scope)


def capability_matrix(
    workspace: Workspace, projects: Sequence[str] = ()
) -> Answer[CapabilityMatrixData]:
    """How many capabilities of each kind each project has, those without any included.

    Raises:
        UnknownProjectError: a name means no project, or several.
    """
    scope = workspace.project_ids(projects)
    views = capabilities_union(workspace.store, scope).capabilities
    sections = get_args(CapabilitySection)
    counts = {
        project.id: dict.fromkeys(sections, 0)
        for project in workspace.fleet.projects
        if scope is None or project.id in scope
    }
    for view in views:
        for project in view.projects:
            counts[project][view.section] += 1
    names = {project.id: project.name for project in workspace.fleet.projects}
    rows = tuple(
        CapabilityCount(project=project, name=names[project], counts=counted)
        for project, counted in sorted(counts.items())
    )
    return _answer(workspace, CapabilityMatrixData(projects=rows), scope)


_COUNTS = {
    "projects": "SELECT count(*) FROM project",
    "facts": "SELECT count(*) FROM document WHERE kind='memory'"
    " AND NOT (type='convention' AND template)",
    "notes": "SELECT count(*) FROM file WHERE role='note'",
    "capabilities": "SELECT count(DISTINCT section || char(0) || name) FROM capability",
    "files": "SELECT count(*) FROM file WHERE role NOT IN ('source', 'document')",
    "redactions": "SELECT count(*) FROM redaction",
    "graph_nodes": "SELECT coalesce(sum(nodes), 0) FROM graph_repo",
    "graph_edges": "SELECT coalesce(sum(edges), 0) FROM graph_repo",
    "graph_links": "SELECT count(*) FROM graph_cross",
}


def _answer(
    workspace: Workspace,
    data: T,
    scope: frozenset[str] | None,
    warnings: tuple[Diagnostic, ...] = (),
) -> Answer[T]:
    unread = workspace.unread(None if scope is None else set(scope))
    unanswerable = workspace.unanswerable(scope)
    answer = Answer(
        data=data,
        omissions=(*unread.omissions, *unanswerable),
        warnings=(*workspace.warnings_for(scope), *warnings),
        incomplete=bool(unread.omissions or unanswerable),
    )
    # What projects wrote was redacted when it was read; the names of their files were not.
    return redacted_value(answer, workspace.redactor, but="text")
