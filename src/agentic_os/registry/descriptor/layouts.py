"""Which ``config.yaml`` of a folder counts: ``.agents`` first, ``.claude`` second.

Producer contract, section 7: a first layout that is a link, unreadable, broken or another
tool's does not hide a readable second one, and is reported by name. A folder with
``.agents`` in it but no readable descriptor has stopped being a project, and that is
said; a folder with only a ``.claude`` of other content is silent.
"""

import time
from collections.abc import Callable, Mapping

import msgspec

from agentic_os.errors import FilesError
from agentic_os.files.reading import EntryKind, Folder
from agentic_os.registry.codes import diagnostic
from agentic_os.registry.descriptor.known import KnownDescriptor, KnownDescriptors
from agentic_os.registry.descriptor.reading import MAX_DESCRIPTOR_BYTES, parse_descriptor, too_large
from agentic_os.registry.descriptor.values import (
    CONFIG_NAME,
    LAYOUTS,
    Descriptor,
    Layout,
    NotADescriptor,
    ParsedDescriptor,
)
from agentic_os.results import Diagnostic

Clock = Callable[[], int]
"""Nanoseconds since the epoch."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What the layouts of one folder came to.

    Without a descriptor the folder is no project; ``diagnostics`` then belong to the root
    it was found under. ``known`` is what may be kept for the next run, by absolute path.
    """

    descriptor: Descriptor | None
    diagnostics: tuple[Diagnostic, ...]
    known: tuple[tuple[str, KnownDescriptor], ...] = ()


class _Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What reading one layout gave; all ``None`` if there is no such file."""

    layout: Layout
    parsed: ParsedDescriptor | None = None
    problem: Diagnostic | None = None

    @property
    def usable(self) -> Descriptor | None:
        parsed = self.parsed
        return parsed if isinstance(parsed, Descriptor) and not parsed.degraded else None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        own = (self.problem,) if self.problem else ()
        return (*own, *self.parsed.diagnostics) if self.parsed else own


class DescriptorReader:
    """Reads the descriptors of many folders, taking unchanged ones from an earlier run."""

    def __init__(self, *, known: KnownDescriptors, clock: Clock = time.time_ns) -> None:
        """Take what an earlier run knew, and the clock."""
        self._known = known
        self._clock = clock

    def read(self, folder: Folder, path: str, layouts: Mapping[str, EntryKind]) -> Reading:
        """Choose the descriptor of one folder.

        Args:
            folder: the open folder.
            path: its absolute real path.
            layouts: what ``.agents`` and ``.claude`` are in it, where they exist.
        """
        kept: list[tuple[str, KnownDescriptor]] = []
        first = self._outcome(folder, path, LAYOUTS[0], layouts, kept)
        if first.usable is not None:
            shadowed = self._shadowed(folder, layouts)
            return Reading(descriptor=first.usable, diagnostics=(*shadowed,), known=tuple(kept))
        second = self._outcome(folder, path, LAYOUTS[1], layouts, kept)
        return _chosen(first, second, layouts, tuple(kept))

    def _outcome(
        self,
        folder: Folder,
        path: str,
        layout: Layout,
        layouts: Mapping[str, EntryKind],
        kept: list[tuple[str, KnownDescriptor]],
    ) -> _Outcome:
        config = f"{layout}/{CONFIG_NAME}"
        match layouts.get(layout):
            case "folder":
                pass
            case "link":
                message = f"{layout} is a link; it was not followed"
                return _Outcome(
                    layout=layout, problem=diagnostic("DESCRIPTOR_REFUSED", message, path=layout)
                )
            case "file":
                message = f"{layout} is a plain file"
                return _Outcome(
                    layout=layout, problem=diagnostic("LAYOUT_NOT_A_FOLDER", message, path=layout)
                )
            case _:
                return _Outcome(layout=layout)
        try:
            return _Outcome(layout=layout, parsed=self._parsed(folder, path, config, layout, kept))
        except FilesError as fault:
            return _Outcome(layout=layout, problem=_problem(fault, config))

    def _parsed(
        self,
        folder: Folder,
        path: str,
        config: str,
        layout: Layout,
        kept: list[tuple[str, KnownDescriptor]],
    ) -> ParsedDescriptor:
        """Take the parsed descriptor from an earlier run, or read and parse it."""
        absolute = f"{path}/{config}"
        known = self._known.get(absolute)
        if known is not None and known.holds(folder.stat(config)):
            kept.append((absolute, known))
            return known.parsed
        now = self._clock()  # before the read: a write during it must not look quiet
        read = folder.read(config, limit_bytes=MAX_DESCRIPTOR_BYTES)
        name = path.rpartition("/")[2]
        parsed = parse_descriptor(read.data, layout=layout, folder_name=name)
        fresh = KnownDescriptor(fingerprint=read.fingerprint, read_at_ns=now, parsed=parsed)
        kept.append((absolute, fresh))
        return parsed

    def _shadowed(self, folder: Folder, layouts: Mapping[str, EntryKind]) -> tuple[Diagnostic, ...]:
        """Say when the legacy layout has a descriptor too; it is not read."""
        legacy = LAYOUTS[1]
        if layouts.get(legacy) != "folder":
            return ()
        config = f"{legacy}/{CONFIG_NAME}"
        try:
            folder.stat(config)
        except FilesError:
            return ()
        message = f"{config} exists too and is not read"
        return (diagnostic("DESCRIPTOR_SHADOWED", message, path=config),)


def _chosen(
    first: _Outcome,
    second: _Outcome,
    layouts: Mapping[str, EntryKind],
    known: tuple[tuple[str, KnownDescriptor], ...],
) -> Reading:
    """Choose between two layouts of which the first says nothing usable."""
    if second.usable is not None:
        fallback: tuple[Diagnostic, ...] = ()
        if first.diagnostics and not _is_foreign(first):
            message = f"the descriptor in {second.layout}/ was taken instead"
            fallback = (diagnostic("DESCRIPTOR_FALLBACK", message, path=first.layout),)
        return Reading(
            descriptor=second.usable,
            diagnostics=(*first.diagnostics, *fallback),
            known=known,
        )
    for outcome, other in ((first, second), (second, first)):
        if isinstance(outcome.parsed, Descriptor):
            return Reading(descriptor=outcome.parsed, diagnostics=other.diagnostics, known=known)
    noted = (*first.diagnostics, *second.diagnostics)
    if layouts.get(first.layout) == "folder" and not first.diagnostics:
        message = f"{first.layout}/ holds no {CONFIG_NAME}: the folder is no project"
        noted = (diagnostic("DESCRIPTOR_MISSING", message, path=first.layout), *noted)
    return Reading(descriptor=None, diagnostics=noted, known=known)


def _is_foreign(outcome: _Outcome) -> bool:
    return isinstance(outcome.parsed, NotADescriptor) and outcome.parsed.foreign


def _problem(fault: FilesError, config: str) -> Diagnostic | None:
    """Say why a descriptor could not be read; ``None`` if there is no descriptor at all."""
    match fault.code:
        case "FILE_MISSING" | "NOT_A_FOLDER":
            return None
        case "FILE_TOO_LARGE":
            return too_large(config)
        case "LINK_REFUSED":
            message = f"{config} is, or passes through, a link"
            return diagnostic("DESCRIPTOR_REFUSED", message, path=config)
        case _:
            return diagnostic("DESCRIPTOR_UNREADABLE", fault.message, path=config)
