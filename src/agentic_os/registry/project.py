"""One project of the fleet, as a frozen value and as ``scan`` prints it."""

from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from agentic_os.registry.values import Descriptor, Layout
from agentic_os.results import Checkout, Diagnostic, ProjectView, Surfaces
from agentic_os.text.fencing import one_line
from agentic_os.text.redacted_values import redacted_value
from agentic_os.text.redaction import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
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

    @property
    def view(self) -> ProjectView:
        """The project as ``shown`` gives it, without an allow-list."""
        return self.shown(frozenset())

    def shown(self, redaction_allow: frozenset[str]) -> ProjectView:
        """Return the project as ``scan`` prints it: absolute paths, command line only.

        Secrets are replaced, in paths too, except what ``redaction_allow`` lists.
        """
        descriptor, surfaces = self.descriptor, self.surfaces
        if surfaces.rag is not None:
            endpoint = one_line(surfaces.rag.path)
            surfaces = replace(surfaces, rag=replace(surfaces.rag, path=endpoint))
        view = ProjectView(
            id=self.id,
            name=self.name,
            path=one_line(str(self.folder)),
            root=one_line(str(self.root)),
            layout=self.layout,
            contract_version=descriptor.contract_version,
            stack=descriptor.label,
            tier=descriptor.tier,
            retrieval=descriptor.retrieval,
            surfaces=surfaces,
            language=descriptor.language,
            description=descriptor.description,
            branch=self.branch,
            commit=self.commit,
            aliases=self.aliases,
            checkouts=self.checkouts,
            diagnostics=self.diagnostics,
        )
        return redacted_value(view, Redactor(allow=redaction_allow))
