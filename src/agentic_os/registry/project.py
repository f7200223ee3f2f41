"""One project of the fleet, as a frozen value and as ``scan`` prints it."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from agentic_os.registry.descriptor.values import Descriptor, Layout
from agentic_os.results import Checkout, Diagnostic, ProjectView, Surfaces
from agentic_os.text.fencing import one_line
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.text.secrets.values_of import redacted_value


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A project: one or more checkouts of it, of which ``folder`` is the one that is read.

    ``root`` is the root of the fleet it was found under and ``relative`` its path below
    that (empty for the root itself). ``remote`` is the normalised git remote and
    ``subpath`` the path below the checkout: together they tell whether something else is
    about this project. ``branch`` and ``commit`` are those of ``folder``.
    """

    id: str
    name: str
    root: Path
    folder: Path
    relative: str
    descriptor: Descriptor
    surfaces: Surfaces
    checkouts: tuple[Checkout, ...] = ()
    remote: str | None = None
    subpath: str = ""
    branch: str | None = None
    commit: str | None = None
    aliases: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def layout(self) -> Layout:
        """The folder that holds the descriptor."""
        return self.descriptor.layout

    @property
    def retrieval(self) -> bool:
        """Whether memory, vault, graph and index may be opened (design section 5)."""
        return self.descriptor.retrieval

    @property
    def tier(self) -> int | None:
        """The tier that the stack means; ``None`` without retrieval."""
        return self.descriptor.tier


def project_views(
    projects: Sequence[Project], redaction_allow: frozenset[str] = frozenset()
) -> tuple[ProjectView, ...]:
    """Return projects as ``scan`` prints them: absolute paths, command line only.

    Secrets are replaced, in paths too, except what ``redaction_allow`` lists. All projects are
    looked through in one go.
    """
    views = tuple([_view(project) for project in projects])
    return redacted_value(views, Redactor(allow=redaction_allow))


def _view(project: Project) -> ProjectView:
    descriptor, surfaces = project.descriptor, project.surfaces
    if surfaces.rag is not None:
        endpoint = one_line(surfaces.rag.path)
        surfaces = replace(surfaces, rag=replace(surfaces.rag, path=endpoint))
    return ProjectView(
        id=project.id,
        name=project.name,
        path=one_line(str(project.folder)),
        root=one_line(str(project.root)),
        layout=project.layout,
        contract_version=descriptor.contract_version,
        stack=descriptor.label,
        tier=descriptor.tier,
        retrieval=descriptor.retrieval,
        surfaces=surfaces,
        language=descriptor.language,
        description=descriptor.description,
        branch=project.branch,
        commit=project.commit,
        aliases=project.aliases,
        checkouts=project.checkouts,
        diagnostics=project.diagnostics,
    )
