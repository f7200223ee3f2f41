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

PERSON_ID = "@person"
"""The project of what harnesses keep about no project; no other id holds an ``@``."""


class Holds(msgspec.Struct, frozen=True, kw_only=True):
    """What lies in a project for agents, by listing: nothing of it was opened.

    Attributes:
        tops: names in its own folder that some convention begins with.
        nested: paths of instructions that govern a folder below it.
        found: what of it is there, as it is shown: files, and folders of files.
    """

    tops: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    found: tuple[str, ...] = ()


class PersonalFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of the person's that a harness keeps what it knows in.

    Attributes:
        prefix: what the paths of its files begin with, wherever they are shown.
        folder: where it is.
        tops: names in it that are looked at; empty for all.
    """

    prefix: str
    folder: Path
    tops: tuple[str, ...] = ()


def located(folder: Path, personal: Sequence[PersonalFolder], path: str) -> tuple[Path, str]:
    """Return the folder that a path of a project is read in, and the path there."""
    for place in personal:
        if path.startswith(f"{place.prefix}/"):
            return place.folder, path[len(place.prefix) + 1 :]
    return folder, path


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A project: one or more checkouts of it, of which ``folder`` is the one that is read.

    ``root`` is the root of the fleet it was found under and ``relative`` its path below
    that (empty for the root itself). ``remote`` is the normalised git remote and
    ``subpath`` the path below the checkout: together they tell whether something else is
    about this project. ``branch`` and ``commit`` are those of ``folder``. ``only`` are the
    surfaces that the person limits it to, by name; ``None`` for all. ``personal`` are folders
    of the person's, outside of it, that harnesses keep about it.
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
    holds: Holds = Holds()
    only: frozenset[str] | None = None
    personal: tuple[PersonalFolder, ...] = ()

    @property
    def described(self) -> bool:
        """Whether a descriptor registers it, and not the person alone."""
        return self.descriptor.described

    @property
    def bare(self) -> bool:
        """Whether it was taken in and holds nothing for agents: code and documents alone."""
        return not self.described and self.tier is None

    @property
    def has_corpus(self) -> bool:
        """Whether its code and documents belong into the index: of tier 3, or taken in."""
        by_tier = self.surfaces.rag is not None or not self.described
        return self.retrieval and by_tier and self.wants("corpus")

    def wants(self, surface: str) -> bool:
        """Whether a surface of it may be taken, by what the person limits it to."""
        return self.only is None or surface in self.only

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
        layout=project.layout if project.described else "",
        contract_version=descriptor.contract_version,
        stack=descriptor.label if project.described else None,
        described=project.described,
        bare=project.bare,
        found=(
            *(one_line(path) for path in project.holds.found),
            *(place.prefix for place in project.personal),
        ),
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
