"""The person's own folders of harnesses, and which project each of them is about.

Nothing of it is read unless ``[harness_memory]`` names the harness. Claude Code keeps a folder for
each repository, named by the path of its main checkout with every character that is no letter and
no digit made a hyphen. Two paths may come to one name, so a name is never turned back: the paths
that are known are tried, a project's own before that of the repository around it, and a name that
means two projects is read for none of them.
"""

import os
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from agentic_os.errors import FilesError
from agentic_os.files.harness_folders import harness_folder
from agentic_os.files.reading import Folder
from agentic_os.registry.codes import diagnostic
from agentic_os.registry.descriptor.values import LAYOUTS, Descriptor
from agentic_os.registry.identity.folding import Sighting
from agentic_os.registry.project import PERSON_ID, PersonalFolder, Project
from agentic_os.results import Diagnostic, Surfaces
from agentic_os.settings.location import MAX_SETTINGS_BYTES
from agentic_os.settings.values import HarnessMemory
from agentic_os.text.fencing import one_line
from agentic_os.text.shapes import read_shape

MAX_SLUG_CHARS = 200
"""Claude Code cuts longer names and adds a hash of the path."""
MAX_FOLDERS = 20_000
_CLAUDE_MEMORY = "@claude-code/memory"


def slugs(path: str) -> tuple[str, ...]:
    """Return the names that Claude Code may give a path's folder, the newer form first.

    >>> slugs("/home/ann/my_app.v2")
    ('-home-ann-my-app-v2', '-home-ann-my_app-v2')
    """
    composed = unicodedata.normalize("NFC", path)
    return tuple(
        dict.fromkeys(
            (
                "".join(
                    char if char.isascii() and char.isalnum() else "-" * (1 + (char > "\uffff"))
                    for char in composed
                ),
                composed.replace("/", "-").replace(".", "-"),
            )
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """The paths by which a project is known: its own, and those of repositories around it."""

    own: frozenset[str] = frozenset()
    around: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Names by the project that they mean, and those that mean several."""

    of_project: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def matched(names: Iterable[str], known: Mapping[str, Paths]) -> Matched:
    """Return which project each name of a folder means. Pure.

    Args:
        names: of folders of Claude Code's.
        known: the paths of each project, by its id.
    """
    own, around = _by_slug(known, "own"), _by_slug(known, "around")
    of_project: defaultdict[str, list[str]] = defaultdict(list)
    ambiguous: dict[str, tuple[str, ...]] = {}
    for name in sorted(names):
        means = _meant(name, own) or _meant(name, around)
        if len(means) == 1:
            of_project[next(iter(means))].append(name)
        elif means:
            ambiguous[name] = tuple(sorted(means))
    return Matched(
        of_project={project: tuple(found) for project, found in of_project.items()},
        ambiguous=ambiguous,
    )


def _by_slug(known: Mapping[str, Paths], kind: str) -> Mapping[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for project, paths in known.items():
        for path in getattr(paths, kind):
            for slug in slugs(path):
                found[slug].add(project)
    return {slug: frozenset(projects) for slug, projects in found.items()}


def _meant(name: str, projects: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the projects that a name means; a cut one means every path that begins with it."""
    found = projects.get(name)
    if found is None and len(name) > MAX_SLUG_CHARS:
        start = name[:MAX_SLUG_CHARS]
        longer = (own for slug, own in projects.items() if slug.startswith(start))
        found = frozenset[str]().union(*longer)
    return found or frozenset()


def paths_of(projects: Sequence[Project], sightings: Sequence[Sighting]) -> Mapping[str, Paths]:
    """Return the paths by which Claude Code may know the projects that may be opened."""
    by_folder = {one_line(sighting.candidate.folder): sighting for sighting in sightings}
    known: dict[str, Paths] = {}
    for project in projects:
        if not project.retrieval:
            continue
        own: set[str] = set()
        around: set[str] = set()
        for checkout in project.checkouts:
            sighting = by_folder.get(checkout.path)
            if sighting is None:
                continue
            folder = sighting.candidate.folder
            own.add(folder)
            subpath = sighting.location.key.subpath
            above = around if subpath else own
            if subpath:
                around.add(folder.removesuffix(f"/{subpath}"))
            if sighting.location.repository.endswith("/.git"):
                above.add(sighting.location.repository.removesuffix("/.git"))
        known[project.id] = Paths(own=frozenset(own), around=frozenset(around))
    return known


def attach(
    projects: Sequence[Project],
    sightings: Sequence[Sighting],
    chosen: HarnessMemory,
    *,
    environ: Mapping[str, str],
    home: Path,
    whole: bool,
) -> tuple[tuple[Project, ...], tuple[Diagnostic, ...]]:
    """Give each project the person's folders about it, and the person those about none.

    Args:
        projects: the fleet.
        sightings: the folders that it was found in.
        chosen: the harnesses that the person names.
        environ: may move the folders.
        home: the home folder.
        whole: whether what is about no project is wanted too.
    """
    noted: tuple[Diagnostic, ...] = ()
    personal = tuple(_of_person(chosen, environ, home)) if whole else ()
    if chosen.claude_code:
        folder = harness_folder("claude-code", environ, home)
        moved = _moved(folder, home)
        if moved is not None:
            if whole:
                place = PersonalFolder(prefix=_CLAUDE_MEMORY, folder=moved)
                personal = (place, *personal)
        else:
            below = folder / "projects"
            found = matched(_names_with_memory(below), paths_of(projects, sightings))
            projects = [_with(project, below, found) for project in projects]
            noted = tuple(_ambiguous(found))
    if personal:
        projects = [*projects, _person(personal)]
    return tuple(projects), noted


def _with(project: Project, below: Path, found: Matched) -> Project:
    names = found.of_project.get(project.id, ())
    folders = tuple(
        PersonalFolder(
            prefix=_CLAUDE_MEMORY if at == 1 else f"{_CLAUDE_MEMORY}-{at}",
            folder=below / name / "memory",
        )
        for at, name in enumerate(names, 1)
    )
    return msgspec.structs.replace(project, personal=folders) if folders else project


def _ambiguous(found: Matched) -> Iterator[Diagnostic]:
    for projects in sorted(set(found.ambiguous.values())):
        yield diagnostic(
            "HARNESS_MEMORY_AMBIGUOUS",
            f"a memory of Claude Code may be about {' or '.join(projects)}; it was not read",
        )


def _of_person(
    chosen: HarnessMemory, environ: Mapping[str, str], home: Path
) -> Iterator[PersonalFolder]:
    """Yield the folders that are about no project, where they are."""
    for wanted, harness, tops in (
        (chosen.claude_code, "claude-code", ("CLAUDE.md", "rules")),
        (chosen.codex, "codex", ("AGENTS.override.md", "AGENTS.md", "memories")),
        (chosen.gemini, "gemini-cli", ("GEMINI.md",)),
    ):
        folder = harness_folder(harness, environ, home)
        there = tuple(top for top in tops if wanted and os.path.lexists(folder / top))
        if there:
            yield PersonalFolder(prefix=f"@{harness}", folder=folder, tops=there)
    shared = harness_folder("serena", environ, home) / "memories" / "global"
    if chosen.serena and shared.is_dir():
        yield PersonalFolder(prefix="@serena/memories/global", folder=shared)


def _person(personal: tuple[PersonalFolder, ...]) -> Project:
    """Return the project of what harnesses keep about the person, read from those folders alone."""
    folder = personal[0].folder
    return Project(
        id=PERSON_ID,
        name=PERSON_ID.removeprefix("@"),
        root=folder,
        folder=folder,
        relative="",
        descriptor=Descriptor(
            layout=LAYOUTS[0],
            name=PERSON_ID.removeprefix("@"),
            choice="recorded",
            tier=0,
            described=False,
        ),
        surfaces=Surfaces(),
        personal=personal,
        only=frozenset({"memory", "instructions"}),
    )


def _names_with_memory(below: Path) -> tuple[str, ...]:
    """Return the names of Claude Code's folders that hold a memory; nothing of it is read."""
    try:
        with Folder.open(below) as folder:
            entries, _ = folder.entries(limit_entries=MAX_FOLDERS)
    except FilesError:
        return ()
    return tuple(
        entry.name
        for entry in entries
        if entry.kind == "folder" and (below / entry.name / "memory").is_dir()
    )


def _moved(folder: Path, home: Path) -> Path | None:
    """Return the one folder that the person's settings move all memory to, if they do."""
    try:
        with Folder.open(folder) as opened:
            data = opened.read("settings.json", limit_bytes=MAX_SETTINGS_BYTES).data
        said = read_shape(data, _ClaudeSettings).directory
    except (FilesError, ValueError):
        return None
    if said.startswith("~/"):
        return home / said[2:]
    return Path(said) if said.startswith("/") else None


class _ClaudeSettings(msgspec.Struct):
    directory: str = msgspec.field(name="autoMemoryDirectory", default="")
