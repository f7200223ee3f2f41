"""The fleet: every project below the roots, as a frozen value.

The rim that joins walk, descriptors, surfaces and git. One bad project, or one folder
that cannot be read, is reported and spoils nothing else (design section 6); only a root
that was named and does not exist is an error.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import msgspec

from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.registry.codes import diagnostic
from agentic_os.registry.descriptor.known import KnownDescriptor, KnownDescriptors
from agentic_os.registry.descriptor.layouts import Clock, DescriptorReader
from agentic_os.registry.identity.checkouts import CheckoutReader
from agentic_os.registry.identity.clones import compare_clones
from agentic_os.registry.identity.folding import Sighting, fold
from agentic_os.registry.lookup import containing_project, find_project
from agentic_os.registry.project import Project, project_views
from agentic_os.registry.secret_names import redactor_of, without_secret_names, without_secrets
from agentic_os.registry.surfaces import survey
from agentic_os.registry.walk.pruning import Pruning
from agentic_os.registry.walk.walking import (
    Candidate,
    Progress,
    Walk,
    WalkOptions,
    listed_candidate,
    walk,
)
from agentic_os.results import Diagnostic, RootView, ScanData
from agentic_os.settings.values import ListedProject, Root, Settings
from agentic_os.text.fencing import one_line
from agentic_os.text.secrets.values_of import redacted_value

_NOTHING_KNOWN: KnownDescriptors = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """All projects by name, the roots in the order they were given, and what was noticed.

    ``diagnostics`` are those that belong to no root and no project. ``known`` holds every
    descriptor that was met, for the next run. ``redaction_allow`` are the person's strings
    that are no secrets.
    """

    projects: tuple[Project, ...]
    roots: tuple[RootView, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    known: KnownDescriptors = field(default_factory=dict, repr=False, compare=False)
    redaction_allow: frozenset[str] = frozenset()

    @property
    def view(self) -> ScanData:
        """The answer of ``scan``."""
        return ScanData(
            projects=project_views(self.projects, self.redaction_allow),
            roots=self.roots,
        )

    def find(self, text: str, *, current: Path, paths: bool = True) -> Project:
        """Return the project that an id, alias, name or path means.

        Without ``paths`` nothing on disk is looked at for the text: it may come from a model.

        Raises:
            UnknownProjectError: none does, or more than one.
        """
        return find_project(self.projects, text, current=current, paths=paths)

    def containing(self, path: Path) -> Project | None:
        """Return the innermost project that holds ``path``, if any."""
        return containing_project(self.projects, path)


def load_fleet(
    roots: Sequence[Root],
    settings: Settings,
    *,
    aios: Path | None = None,
    home: Path | None = None,
    known: KnownDescriptors = _NOTHING_KNOWN,
    progress: Progress | None = None,
    clock: Clock = time.time_ns,
) -> Fleet:
    """Find every project below the roots, and those that the settings list by path.

    Listed projects outside the roots are left out when the roots come from the command
    line: those are then the whole fleet.

    Args:
        roots: what to walk, in the order of the answer.
        settings: excludes, limits, pinned ids, aliases.
        aios: the AIOS folder, which is never walked.
        home: the home folder, whose own ``.git`` and ``.agents`` make no project.
        known: descriptors of an earlier run; unchanged ones are not parsed again.
        progress: called with the folders listed and the candidates found so far.
        clock: nanoseconds since the epoch.

    Raises:
        RootMissingError: a root does not exist or is not a folder.
    """
    options = WalkOptions(
        limits=settings.limits,
        pruning=Pruning(exclude=settings.exclude),
        aios=aios,
        home=home,
        progress=progress,
    )
    walks = _walk_all(roots, options)
    listed = {os.path.realpath(entry.path): entry for entry in settings.projects}
    loader = _Loader(home=home, known=known, clock=clock)
    for found in walks:
        loader.add_walk(found, listed)
    if not any(root.origin == "command line" for root in roots):
        loader.add_listed(listed)
    redactor = redactor_of(settings.redaction_allow)
    clones = without_secrets(compare_clones(loader.sightings), redactor)
    projects = fold(without_secret_names(loader.sightings, redactor), listed, clones)
    counts = _counts(projects)
    return Fleet(
        projects=projects,
        roots=tuple(
            RootView(
                path=one_line(redactor.redact(str(found.root)).text),
                folders=found.folders,
                pruned=found.pruned,
                projects=counts.get(found.root, 0) if found.folders else 0,
                diagnostics=redacted_value(
                    (*found.diagnostics, *loader.of_root.get(position, ())), redactor
                ),
            )
            for position, found in enumerate(walks)
        ),
        diagnostics=redacted_value(tuple(loader.diagnostics), redactor),
        known=MappingProxyType(loader.known),
        redaction_allow=settings.redaction_allow,
    )


def _walk_all(roots: Sequence[Root], options: WalkOptions) -> list[Walk]:
    """Walk the innermost roots first: each then gets its own full depth, and counts once."""
    order = sorted(
        range(len(roots)), key=lambda position: -os.path.realpath(roots[position].path).count("/")
    )
    walks: dict[int, Walk] = {}
    for position in order:
        walks[position] = walk(roots[position], options)
    return [walks[position] for position in range(len(roots))]


def _counts(projects: Sequence[Project]) -> Mapping[Path, int]:
    counts: dict[Path, int] = {}
    for project in projects:
        counts[project.root] = counts.get(project.root, 0) + 1
    return counts


class _Loader:
    """Looks into candidates and keeps what they come to."""

    def __init__(self, *, home: Path | None, known: KnownDescriptors, clock: Clock) -> None:
        self._home = home
        self._home_real = os.path.realpath(home) if home else None
        self._reader = DescriptorReader(known=known, clock=clock)
        self._checkouts = CheckoutReader()
        self._walks = 0
        self._looked_at: set[str] = set()
        self.sightings: list[Sighting] = []
        self.of_root: dict[int, list[Diagnostic]] = {}
        self.diagnostics: list[Diagnostic] = []
        self.known: dict[str, KnownDescriptor] = {}

    def add_walk(self, found: Walk, listed: Mapping[str, ListedProject]) -> None:
        """Look into the candidates of one walk."""
        noted = self.of_root.setdefault(self._walks, [])
        self._walks += 1
        for candidate in found.candidates:
            if candidate.folder in listed and not candidate.listed:
                candidate = msgspec.structs.replace(candidate, listed=True)  # noqa: PLW2901 - the same one, marked
            self._looked_at.add(candidate.folder)
            noted.extend(self._look(candidate))

    def add_listed(self, listed: Mapping[str, ListedProject]) -> None:
        """Look into the listed projects that no walk met."""
        for folder, entry in listed.items():
            if folder in self._looked_at:
                continue
            before = len(self.sightings)
            candidate = listed_candidate(Path(folder), home=self._home)
            if candidate is not None:
                self.diagnostics.extend(self._look(candidate))
            if len(self.sightings) == before:
                message = f"no project at {one_line(entry.typed)}, which projects.toml lists"
                self.diagnostics.append(diagnostic("LISTED_PROJECT_MISSING", message))

    def _look(self, candidate: Candidate) -> list[Diagnostic]:
        """Look into one candidate; return what belongs to its root when it is no project."""
        try:
            with Folder.open(Path(candidate.folder)) as folder:
                reading = self._reader.read(folder, candidate.folder, candidate.layouts)
                self.known.update(reading.known)
                if reading.descriptor is None:
                    return self._of_root(candidate, reading.diagnostics)
                surfaces, noted = survey(folder, reading.descriptor)
        except FilesError as fault:
            message = f"{one_line(candidate.relative) or 'the root'}: {fault.message}"
            path = one_line(candidate.relative) or "."
            return [diagnostic("FOLDER_UNREADABLE", message, path=path)]
        location = self._checkouts.locate(candidate)
        self.sightings.append(
            Sighting(
                candidate=candidate,
                descriptor=reading.descriptor,
                surfaces=surfaces,
                location=location,
                diagnostics=(*reading.diagnostics, *noted),
            )
        )
        return []

    def _of_root(self, candidate: Candidate, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
        """Turn diagnostics of a folder that is no project into those of its root."""
        if candidate.folder == self._home_real:
            return []  # the person's own ~/.agents is no project that stopped resolving
        prefix = f"{one_line(candidate.relative)}/" if candidate.relative else ""
        return [
            msgspec.structs.replace(noted, path=f"{prefix}{noted.path}") for noted in diagnostics
        ]
