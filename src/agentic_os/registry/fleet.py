"""The fleet: every project below the roots, as a frozen value.

The rim that joins walk, descriptors, surfaces and git. One bad project, or one folder
that cannot be read, is reported and spoils nothing else (design section 6); only a root
that was named and does not exist is an error. Folders without a descriptor are taken in where
the person said so, and counted elsewhere (``adoption``).
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
from agentic_os.registry.adoption import (
    Standing,
    excludes_remote,
    holds_agents_files,
    holds_of,
    holds_shared_files,
    standings,
    survey_undescribed,
)
from agentic_os.registry.codes import diagnostic
from agentic_os.registry.descriptor.known import KnownDescriptor, KnownDescriptors
from agentic_os.registry.descriptor.layouts import Clock, DescriptorReader
from agentic_os.registry.identity.checkouts import CheckoutReader
from agentic_os.registry.identity.clones import compare_checkouts
from agentic_os.registry.identity.folding import Sighting, fold
from agentic_os.registry.lookup import containing_project, find_project
from agentic_os.registry.project import Project, project_views
from agentic_os.registry.secret_names import redactor_of, without_secret_names, without_secrets
from agentic_os.registry.surfaces import survey
from agentic_os.registry.walk.pruning import Pruning
from agentic_os.registry.walk.walking import (
    Candidate,
    Holding,
    Progress,
    Walk,
    WalkOptions,
    listed_candidate,
    walk,
)
from agentic_os.results import Diagnostic, RootView, ScanData
from agentic_os.settings.values import HarnessMemory, ListedProject, Root, Settings
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
    environ: Mapping[str, str] | None = None,
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
        environ: may move the folders that harnesses keep for the person.

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
    loader = _Loader(home=home, known=known, clock=clock, exclude_remotes=settings.exclude_remotes)
    for root, found in zip(roots, walks, strict=True):
        loader.add_walk(found, listed, adopt=root.adopt)
    whole = not any(root.origin == "command line" for root in roots)
    if whole:
        loader.add_listed(listed)
    redactor = redactor_of(settings.redaction_allow)
    compared = without_secrets(compare_checkouts(loader.sightings), redactor)
    projects = fold(without_secret_names(loader.sightings, redactor), listed, compared)
    counts = _counts(projects)
    if home is not None and settings.harness_memory != HarnessMemory():
        # Most people name no harness: what looks for their folders is not loaded.
        from agentic_os.registry.personal import attach

        projects, noted = attach(
            projects,
            loader.sightings,
            settings.harness_memory,
            environ=environ or {},
            home=home,
            whole=whole,
        )
        loader.diagnostics.extend(noted)
    return Fleet(
        projects=projects,
        roots=tuple(
            RootView(
                path=one_line(redactor.redact(str(found.root)).text),
                folders=found.folders,
                pruned=found.pruned,
                projects=counts.get(found.root, 0) if found.folders else 0,
                passed_over=loader.passed_over[position].repositories,
                passed_over_with_files=loader.passed_over[position].with_files,
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


@dataclass(slots=True)
class _PassedOver:
    """Repositories without a descriptor that nobody took in, and those with agents' files."""

    repositories: int = 0
    with_files: int = 0


_NO_DESCRIPTOR = frozenset({"DESCRIPTOR_FOREIGN", "DESCRIPTOR_MISSING", "LAYOUT_NOT_A_FOLDER"})
"""What may be said of a folder that has no descriptor: anything else hides what one says."""


class _Loader:
    """Looks into candidates and keeps what they come to."""

    def __init__(
        self,
        *,
        home: Path | None,
        known: KnownDescriptors,
        clock: Clock,
        exclude_remotes: Sequence[str] = (),
    ) -> None:
        self._home = home
        self._home_real = os.path.realpath(home) if home else None
        self._reader = DescriptorReader(known=known, clock=clock)
        self._checkouts = CheckoutReader()
        self._exclude_remotes = exclude_remotes
        self._looked_at: set[str] = set()
        self._described: dict[str, int] = {}
        self.sightings: list[Sighting] = []
        self.of_root: dict[int, list[Diagnostic]] = {}
        self.diagnostics: list[Diagnostic] = []
        self.known: dict[str, KnownDescriptor] = {}
        self.passed_over: list[_PassedOver] = []

    def add_walk(
        self, found: Walk, listed: Mapping[str, ListedProject], *, adopt: bool = False
    ) -> None:
        """Look into the candidates of one walk, then at the folders without a descriptor.

        Args:
            found: what the walk saw.
            listed: what projects.toml says about a folder, by its real path.
            adopt: whether the person takes in what has no descriptor below this root.
        """
        noted: dict[str, list[Diagnostic]] = {}
        for candidate in found.candidates:
            if candidate.folder in listed and not candidate.listed:
                candidate = msgspec.structs.replace(candidate, listed=True)  # noqa: PLW2901 - the same one, marked
            self._looked_at.add(candidate.folder)
            noted[candidate.folder] = self._look(candidate)
        passed = _PassedOver()
        decided = self._described.keys() | {
            folder
            for folder, said in noted.items()
            if not _NO_DESCRIPTOR.issuperset(item.code for item in said)
        }
        for standing in standings(found.holdings, decided, self._is_submodule):
            holding = standing.holding
            if standing.described:
                self._hold(standing)
                continue
            entry = listed.get(holding.folder)
            wanted = adopt if entry is None or entry.adopt is None else entry.adopt
            if not wanted:
                if entry is None or entry.adopt is None:
                    passed.repositories += 1
                    passed.with_files += (
                        holds_agents_files(holding)
                        or bool(standing.nested)
                        or holds_shared_files(holding)
                    )
                continue
            candidate = _undescribed_candidate(
                found.root, holding, listed=entry is not None or not holding.relative
            )
            self._looked_at.add(holding.folder)
            noted[holding.folder] = self._take_in(candidate, standing)
        self.passed_over.append(passed)
        self.of_root[len(self.passed_over) - 1] = [item for said in noted.values() for item in said]

    def _is_submodule(self, holding: Holding) -> bool:
        """Whether a checkout belongs to the repository of another one."""
        found = self._checkouts.read(holding.folder) if holding.git == "file" else None
        return found is not None and found.kind == "submodule"

    def _hold(self, standing: Standing) -> None:
        """Keep what lies for agents in a project with a descriptor."""
        at = self._described.get(standing.holding.folder)
        if at is not None:
            self.sightings[at] = msgspec.structs.replace(
                self.sightings[at], holds=holds_of(standing)
            )

    def _take_in(self, candidate: Candidate, standing: Standing) -> list[Diagnostic]:
        """Make a project of a folder without a descriptor; return what its root is to be told."""
        location = self._checkouts.locate(candidate)
        if excludes_remote(self._exclude_remotes, location.remote):
            return []
        try:
            with Folder.open(Path(candidate.folder)) as folder:
                descriptor, surfaces, holds = survey_undescribed(folder, standing)
        except FilesError as fault:
            return _unreadable(candidate, fault)
        self.sightings.append(
            Sighting(
                candidate=candidate,
                descriptor=descriptor,
                surfaces=surfaces,
                location=location,
                holds=holds,
            )
        )
        return []

    def add_listed(self, listed: Mapping[str, ListedProject]) -> None:
        """Look into the listed projects that no walk met."""
        for folder, entry in listed.items():
            if folder in self._looked_at:
                continue
            if entry.adopt is False:
                continue
            before = len(self.sightings)
            found = listed_candidate(Path(folder), home=self._home)
            if found is not None:
                self.diagnostics.extend(self._listed(*found, entry))
            if len(self.sightings) == before:
                message = f"no project at {one_line(entry.typed)}, which projects.toml lists"
                self.diagnostics.append(diagnostic("LISTED_PROJECT_MISSING", message))

    def _listed(
        self, candidate: Candidate, holding: Holding, entry: ListedProject
    ) -> list[Diagnostic]:
        """Look into a folder that the person lists by its path."""
        before = len(self.sightings)
        noted = self._look(candidate)
        if len(self.sightings) > before:
            self._hold(Standing(holding, described=True))
            return noted
        if not entry.adopt or not _NO_DESCRIPTOR.issuperset(item.code for item in noted):
            return noted
        return self._take_in(candidate, Standing(holding, described=False))

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
            return _unreadable(candidate, fault)
        location = self._checkouts.locate(candidate)
        self._described[candidate.folder] = len(self.sightings)
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


def _unreadable(candidate: Candidate, fault: FilesError) -> list[Diagnostic]:
    """Say that a folder that may be a project cannot be looked into."""
    message = f"{one_line(candidate.relative) or 'the root'}: {fault.message}"
    path = one_line(candidate.relative) or "."
    return [diagnostic("FOLDER_UNREADABLE", message, path=path)]


def _undescribed_candidate(root: Path, holding: Holding, *, listed: bool) -> Candidate:
    return Candidate(
        folder=holding.folder,
        root=root,
        relative=holding.relative,
        layouts={},
        checkouts=holding.checkouts,
        listed=listed,
    )


def passed_over(fleet: Fleet) -> str:
    """Say how many repositories have no descriptor and were not taken in; empty for none."""
    repositories = sum(root.passed_over for root in fleet.roots)
    if not repositories:
        return ""
    files = sum(root.passed_over_with_files for root in fleet.roots)
    noun = "repository" if repositories == 1 else "repositories"
    return (
        f"{repositories} {noun} without a descriptor passed over, {files} with files for agents;"
        " --adopt takes them in, and `agentic-os roots add DIR --adopt` for good"
    )
