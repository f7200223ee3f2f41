"""Which fleet projects a request is about, under its memory choice (design section 6).

Without a choice, naming a project means memory ``project``. A name may then also be the slug or id
of an AIOS project: it means the fleet's projects of the same repository, joined by its normalised
URL. The AIOS folder is looked at for nothing else, and only when the fleet itself does not know the
name.
"""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from agentic_os.aggregate.workspace import Workspace
from agentic_os.errors import AiosError, UnknownProjectError
from agentic_os.server.arguments import Memory
from agentic_os.server.codes import ERRORS
from agentic_os.server.scope.aios import person_access
from agentic_os.server.served import ServedPerson


def effective_memory(memory: Memory | UnsetType, names: Sequence[str]) -> Memory:
    """Decide the memory choice of a request, before anything is opened.

    As the AIOS folder decides it: what was chosen; else ``project`` when a project was named;
    else ``shared``. ``shared`` may be chosen with projects here: they then only filter.

    Raises:
        UsageError: ``ARGUMENT_INVALID``: memory ``project`` without a project.
    """
    chosen: Memory = ("project" if names else "shared") if memory is UNSET else memory
    if chosen == "project" and not names:
        raise ERRORS.error(
            "ARGUMENT_INVALID",
            "memory `project` needs `projects`",
            hint="Name the project, or choose memory `shared`.",
        )
    return chosen


def chosen_projects(
    served: ServedPerson, workspace: Workspace, memory: Memory, names: Sequence[str]
) -> tuple[str, ...]:
    """Return the ids of the projects that were named; empty for all.

    Raises:
        UnknownProjectError: a name means no project, or several.
    """
    found: list[str] = []
    for name in names:
        try:
            found.append(workspace.fleet.find(name, current=workspace.current, paths=False).id)
        except UnknownProjectError:
            joined = _joined(served, workspace, name) if memory == "project" else ()
            if not joined:
                raise
            found += joined
    return tuple(dict.fromkeys(found))


def _joined(served: ServedPerson, workspace: Workspace, selector: str) -> tuple[str, ...]:
    from agentic_os.aios.policy import resolve_policy
    from agentic_os.aios.projects.repository import selected_repository

    try:
        policy = resolve_policy(mode="project", project=selector)
        access = person_access(served.person.environ, served.person.home)(policy)
        repository = selected_repository(access, policy)
    except AiosError:
        return ()
    if repository is None:
        return ()
    return tuple(one.id for one in workspace.fleet.projects if one.remote == repository)
