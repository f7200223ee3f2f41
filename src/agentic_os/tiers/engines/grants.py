"""Grants of projects' own engines: what one would allow, and which still hold.

A grant is kept on the person's side, for one project id and one exact string; it is void as soon
as the project's descriptor says anything else (design section 6). Nothing is run or reached here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from agentic_os.errors import RegistryError
from agentic_os.registry.fleet import Fleet
from agentic_os.registry.project import Project
from agentic_os.results import GrantView
from agentic_os.settings.values import Settings
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.tiers.engines.codes import ENGINE_CODES
from agentic_os.tiers.engines.endpoint import (
    Address,
    Command,
    Unaskable,
    find_program,
    read_endpoint,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a grant of a project's engine would allow; ``program`` where it is installed."""

    endpoint: str
    asked: Command | Address
    program: str | None = None


def endpoint_of(project: Project) -> str | None:
    """Return the endpoint that a project names, if its tier has one."""
    rag = project.surfaces.rag
    return rag.path if rag is not None and rag.state == "present" else None


def is_ambiguous(project: Project) -> bool:
    """Return whether clones of a project differ while none is listed.

    Any folder may claim any remote, and with it a project's id: a grant of that id does not say
    which of the folders an engine may run in.
    """
    return any(item.code == "CLONES_DIFFER" for item in project.diagnostics)


def preview(project: Project, environ: Mapping[str, str]) -> Preview:
    """Work out what would be run or reached.

    Raises:
        RegistryError: ENGINE_NOT_NAMED (the project names no endpoint), ENGINE_IS_A_PATH,
            ENGINE_ENDPOINT_INVALID or ENGINE_CLONES_DIFFER.
    """
    endpoint = endpoint_of(project)
    if endpoint is None:
        raise RegistryError(
            f"{project.id} names no engine of its own: {_why_none(project)}",
            code="ENGINE_NOT_NAMED",
            hint="memory.rag_endpoint of a tier-3 project names one, `ccc mcp` say.",
        )
    asked = read_endpoint(endpoint)
    if isinstance(asked, Unaskable):
        raise RegistryError(
            f"the engine of {project.id} cannot be granted: {asked.reason}",
            code=asked.code,
            hint=ENGINE_CODES[asked.code].hint,
        )
    if is_ambiguous(project):
        raise RegistryError(
            f"clones of {project.id} differ: a grant could not say in which one to run",
            code="ENGINE_CLONES_DIFFER",
            hint=ENGINE_CODES["ENGINE_CLONES_DIFFER"].hint,
        )
    program = None
    if isinstance(asked, Command):
        found = find_program(asked.words, environ, project.folder)
        program = None if found is None else str(found)
    return Preview(endpoint=endpoint, asked=asked, program=program)


def grant_views(settings: Settings, fleet: Fleet) -> tuple[GrantView, ...]:
    """Every grant, and whether the project still names what was granted."""
    projects = {project.id: project for project in fleet.projects}
    redactor = Redactor(allow=settings.redaction_allow)
    views = []
    for grant in settings.grants:
        project = projects.get(grant.project)
        named = None if project is None else endpoint_of(project)
        views.append(
            GrantView(
                project=grant.project,
                endpoint=grant.endpoint,
                state="unknown"
                if project is None
                else "valid"
                if named == grant.endpoint
                else "void",
                named=None if named is None else redactor.redact(named).text,
            )
        )
    return tuple(views)


def _why_none(project: Project) -> str:
    if project.descriptor.degraded:
        return "its descriptor cannot be read"
    if not project.retrieval:
        return "it has opted out of retrieval"
    if project.surfaces.rag is None:
        return "its stack has none"
    return "memory.rag_endpoint is not set"
