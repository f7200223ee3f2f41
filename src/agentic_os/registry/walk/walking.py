"""The walk: one listing per folder, bounded, through no link.

Every folder is opened by its real path without following a link in its last component,
and is listed once. The walk decides nothing about a folder's content: it says where the
candidates are (``.agents`` or ``.claude`` in a folder), which folders hold agents' files or
are checkouts, inside which checkout they lie, and what was not looked at.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from agentic_os.errors import RootMissingError
from agentic_os.files.reading import EntryKind
from agentic_os.registry.codes import diagnostic
from agentic_os.registry.descriptor.values import LAYOUTS
from agentic_os.registry.walk.enclosing import checkouts_above
from agentic_os.registry.walk.listing import FOLDER_FLAGS, GIT, Listing, scan
from agentic_os.registry.walk.pruning import AIOS_FILE, Pruning, is_closed
from agentic_os.results import Diagnostic
from agentic_os.settings.values import Limits, Root
from agentic_os.text.fencing import one_line

PROGRESS_FOLDERS = 256
DEFAULT_ENTRIES = Limits().entries

Progress = Callable[[int, int], None]
"""Called now and then with the folders listed and the candidates found so far."""

_GIT_KINDS = frozenset({"folder", "file"})


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that may be a project.

    ``folder`` is its real absolute path, ``relative`` its path below ``root`` (empty for
    the root itself). ``layouts`` tells what ``.agents`` and ``.claude`` are.
    ``checkouts`` are the folders at or above it that hold a ``.git``, nearest first.
    """

    folder: str
    root: Path
    relative: str
    layouts: Mapping[str, EntryKind]
    checkouts: tuple[str, ...] = ()
    listed: bool = False


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that holds agents' files or a ``.git``; parents come before what is below them.

    ``held`` are the names of the files and folders, and what each of them is; ``git`` is what
    ``.git`` is, ``None`` where there is none. ``checkouts`` is as for a candidate.
    """

    folder: str
    relative: str
    held: Mapping[str, EntryKind]
    git: EntryKind | None = None
    checkouts: tuple[str, ...] = ()


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """What the walk of one root saw.

    ``pruned`` counts the folders of dependencies, builds and caches that it passed over.
    """

    root: Path
    folders: int
    pruned: int
    candidates: tuple[Candidate, ...]
    holdings: tuple[Holding, ...] = ()
    diagnostics: tuple[Diagnostic, ...]


class WalkOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What every walk of one run shares.

    ``seen`` holds the real paths of the folders that were listed, so that roots which
    overlap or arrive twice are counted once.
    """

    limits: Limits = msgspec.field(default_factory=Limits)
    pruning: Pruning = msgspec.field(default_factory=Pruning)
    aios: Path | None = None
    home: Path | None = None
    progress: Progress | None = None
    seen: set[str] = msgspec.field(default_factory=set)


def walk(root: Root, options: WalkOptions) -> Walk:
    """Walk one root.

    Raises:
        RootMissingError: the root does not exist or is not a folder; it is named as the
            person typed it.
    """
    real = os.path.realpath(root.path)
    if not os.path.isdir(real):  # noqa: PTH112 - real is a plain string on the hot path
        raise RootMissingError(
            f"the root {one_line(root.typed)} does not exist or is not a folder",
            hint=f"it comes from the {root.origin}",
        )
    run = _Run(Path(real), options)
    if real in options.seen:
        run.note("ROOT_OVERLAPS", f"the root {one_line(root.typed)} was walked already", "")
    else:
        run.walk(real)
    return run.result()


def listed_candidate(
    folder: Path, *, home: Path | None = None, limit: int = DEFAULT_ENTRIES
) -> tuple[Candidate, Holding] | None:
    """Look at one folder that the person lists as a project; ``None`` if it is no folder.

    Its enclosing checkouts are looked up, nothing below it is walked.
    """
    real = os.path.realpath(folder)
    try:
        fd = os.open(real, FOLDER_FLAGS)
    except (OSError, ValueError):
        return None
    try:
        listing = scan(fd, limit)
    except OSError:
        return None
    finally:
        os.close(fd)
    special = listing.special
    checkouts = checkouts_above(real, home=home)
    candidate = Candidate(
        folder=real,
        root=Path(real),
        relative="",
        layouts={name: special[name] for name in LAYOUTS if name in special},
        checkouts=checkouts,
        listed=True,
    )
    git = special.get(GIT)
    holding = Holding(
        folder=real,
        relative="",
        held=listing.held,
        git=git if git in _GIT_KINDS else None,
        checkouts=checkouts,
    )
    return candidate, holding


class _Run:
    """The walk of one root."""

    def __init__(self, root: Path, options: WalkOptions) -> None:
        self._root = root
        self._options = options
        self._aios = os.path.realpath(options.aios) if options.aios else None
        self._home = os.path.realpath(options.home) if options.home else None
        self._folders = 0
        self._pruned = 0
        self._candidates: list[Candidate] = []
        self._holdings: list[Holding] = []
        self._diagnostics: list[Diagnostic] = []
        self._deep = 0
        self._first_deep = ""

    def walk(self, real: str) -> None:
        """List the root and everything below it, depth first, in the order of names."""
        limits, seen, progress = self._options.limits, self._options.seen, self._options.progress
        above = checkouts_above(os.path.dirname(real), home=self._options.home)  # noqa: PTH120
        stack: list[tuple[str, str, int, tuple[str, ...]]] = [(real, "", 0, above)]
        while stack:
            path, relative, depth, checkouts = stack.pop()
            if path in seen:
                continue
            if self._folders >= limits.folders:
                shown = one_line(relative)
                message = f"the walk stopped after {limits.folders} folders, before {shown}"
                self.note("FOLDER_LIMIT", message, relative)
                break
            seen.add(path)
            self._folders += 1
            listing = self._list(path, relative)
            if listing is None:
                continue
            self._pruned += listing.pruned
            if listing.special or listing.held:
                checkouts = self._found(path, relative, listing, checkouts)
            below = self._entered(listing, relative)
            if depth >= limits.depth:
                self._too_deep(below, relative)
                continue
            prefix = relative + "/" if relative else ""
            start = path.rstrip("/")  # the file system's own root ends in a slash
            stack.extend((f"{start}/{name}", prefix + name, depth + 1, checkouts) for name in below)
            if progress and self._folders % PROGRESS_FOLDERS == 0:
                progress(self._folders, len(self._candidates))
        if self._deep:
            message = (
                f"{self._deep} folders deeper than {limits.depth} levels were not entered,"
                f" first {one_line(self._first_deep)}"
            )
            self.note("DEPTH_LIMIT", message, self._first_deep)

    def result(self) -> Walk:
        """Return what was seen."""
        if self._options.progress:
            self._options.progress(self._folders, len(self._candidates))
        return Walk(
            root=self._root,
            folders=self._folders,
            pruned=self._pruned,
            candidates=tuple(self._candidates),
            holdings=tuple(self._holdings),
            diagnostics=tuple(self._diagnostics),
        )

    def note(self, code: str, message: str, relative: str) -> None:
        """Keep a diagnostic about a folder below the root."""
        self._diagnostics.append(diagnostic(code, message, path=one_line(relative) or "."))

    def _list(self, path: str, relative: str) -> Listing | None:
        """List one folder; ``None`` if it cannot be listed or is an AIOS folder."""
        limit = self._options.limits.entries
        try:
            fd = os.open(path, FOLDER_FLAGS)
            try:
                listing = scan(fd, limit)
            finally:
                os.close(fd)
        except FileNotFoundError:
            return None  # it went away between two listings
        except OSError as fault:
            reason = fault.strerror or "unknown reason"
            shown = one_line(relative) or "the root"
            self.note("FOLDER_UNREADABLE", f"{shown} cannot be listed: {reason}", relative)
            return None
        if listing.cut:
            shown = one_line(relative) or "the root"
            self.note("ENTRY_LIMIT", f"{shown} has more than {limit} entries", relative)
        if AIOS_FILE in listing.markers or path == self._aios:
            shown = one_line(relative) or "the root"
            self.note("AIOS_FOLDER_SKIPPED", f"{shown} is an AIOS folder", relative)
            return None
        return listing

    def _entered(self, listing: Listing, relative: str) -> list[str]:
        """Return the names of the folders to enter, in reverse order."""
        if is_closed(listing.markers, listing.below):
            return []
        below = listing.below
        if self._options.pruning.exclude:
            below = [name for name in below if not self._excluded(name, relative)]
        below.sort(reverse=True)
        return below

    def _excluded(self, name: str, relative: str) -> bool:
        return self._options.pruning.excludes(name, f"{relative}/{name}" if relative else name)

    def _look(
        self,
        path: str,
        relative: str,
        special: Mapping[str, EntryKind],
        checkouts: tuple[str, ...],
    ) -> None:
        """Keep the folder as a candidate if it holds a layout."""
        layouts: dict[str, EntryKind] = {name: special[name] for name in LAYOUTS if name in special}
        if layouts:
            candidate = Candidate(
                folder=path,
                root=self._root,
                relative=relative,
                layouts=layouts,
                checkouts=checkouts,
                listed=not relative,
            )
            self._candidates.append(candidate)

    def _found(
        self, path: str, relative: str, listing: Listing, checkouts: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Keep what a folder holds; return the checkouts that what lies below it is in.

        The home folder's own files and git folder are the person's and no project's.
        """
        git = listing.special.get(GIT)
        at_home = path == self._home
        if git in _GIT_KINDS and not at_home:
            checkouts = (path, *checkouts)
        self._look(path, relative, listing.special, checkouts)
        if not at_home:
            self._holdings.append(
                Holding(
                    folder=path,
                    relative=relative,
                    held=listing.held,
                    git=git if git in _GIT_KINDS else None,
                    checkouts=checkouts,
                )
            )
        return checkouts

    def _too_deep(self, below: list[str], relative: str) -> None:
        if below:
            if not self._deep:
                first = below[-1]
                self._first_deep = f"{relative}/{first}" if relative else first
            self._deep += len(below)
