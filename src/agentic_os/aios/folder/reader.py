"""The contained reader: every read of the AIOS folder goes through here.

Invariants (design section 6; DotAIOS convention, safe reads):

- The root may be reached through links of the person's own and may itself be one link to
  a folder. Below it every component is opened by handle and no link is followed.
- A file is looked at before it is opened (a FIFO is refused, never waited for), compared
  on the handle, charged to the allowances, read, and compared again on the handle, by name
  and with its folders. Any difference is ``DOTAIOS_CONTEXT_SOURCE_CHANGED``; there is no
  second try.
- A file over its limit is refused, never cut. Text is strict UTF-8.
- What a request holds (``hold=True``) is observed once more by ``recheck``, with the root
  and every folder that was passed through.

Not excluded: a swap away and back again that happens wholly between two observations.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar

from agentic_os.aios.folder.allowance import Amount, Charges
from agentic_os.aios.folder.faults import (
    INVALID_UTF8,
    NOT_REGULAR,
    READ_FAILED,
    SOURCE_CHANGED,
    SOURCE_TOO_LARGE,
    UNSAFE_PATH,
    fault,
    fault_at,
)
from agentic_os.aios.folder.layer import FileLayer, Stamp
from agentic_os.aios.folder.root import open_root
from agentic_os.errors import AiosError
from agentic_os.files.closing import SelfClosing
from agentic_os.files.reading import MAX_DEPTH_FOLDERS, Entry, Folder

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_OPEN_FOLDERS: Final = 32
"""Folder handles that a reader keeps open at once."""

_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRead:
    """The bytes of one accepted read and the stamp that they belong to.

    ``data`` is the whole file, or its beginning when a prefix was asked for; ``path`` is
    relative to the root.
    """

    data: bytes
    stamp: Stamp
    path: str = ""

    @property
    def exact_text(self) -> str:
        """The bytes as text, a byte-order mark kept.

        Raises:
            AiosError: DOTAIOS_INVALID_UTF8.
        """
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise fault_at(INVALID_UTF8, self.path, line) from None

    @property
    def text(self) -> str:
        """The bytes as text without a leading byte-order mark."""
        return self.exact_text.removeprefix(_BOM)


P = ParamSpec("P")
R = TypeVar("R")


def _naming(
    method: "Callable[Concatenate[FolderReader, str, P], R]",
) -> "Callable[Concatenate[FolderReader, str, P], R]":
    """Name the path at fault in every error of a method that takes one."""

    @wraps(method)
    def naming(reader: "FolderReader", relative: str, /, *args: P.args, **rest: P.kwargs) -> R:
        try:
            return method(reader, relative, *args, **rest)
        except AiosError as error:
            error.locate(relative)
            raise

    return naming


class FolderReader(SelfClosing):
    """One root folder, open for one request. Use it as a context manager.

    Relative paths are POSIX; the empty path is the root itself.

    Args:
        root: the folder as the person named it, absolute.
        files: the file layer.

    Raises:
        AiosError: DOTAIOS_FOLDER_MISSING, or a read fault.
    """

    __slots__ = ("_files", "_folder", "_held_files", "_held_folders", "_open", "_passed", "_root")

    def __init__(self, root: Path, *, files: FileLayer) -> None:
        """Open the root and remember how it was found."""
        self._files = files
        self._root, self._folder = open_root(root, files)
        self._open: OrderedDict[str, Folder] = OrderedDict()
        self._passed: dict[str, Stamp] = {}
        self._held_files: dict[str, Stamp | None] = {}
        self._held_folders: dict[str, Stamp | None] = {}

    def close(self) -> None:
        """Close every handle; closing twice is fine."""
        for folder in self._open.values():
            folder.close()
        self._open.clear()
        self._folder.close()

    @property
    def root_stamp(self) -> Stamp:
        """The stamp of the real root folder when it was opened."""
        return self._root.stamp

    @property
    def real_root(self) -> Path:
        """Where the root really is; for containment decisions, never for messages."""
        return self._root.real

    @_naming
    def inspect(self, relative: str, *, hold: bool = False) -> Stamp | None:
        """Stamp a name without following or opening it; ``None`` when it is not there."""
        _, found = self._look(relative)
        if found is None:
            self._check_chain(_split(relative)[0])
        if hold:
            self._hold(self._held_files, relative, found)
        return found

    @_naming
    def read(
        self,
        relative: str,
        *,
        limit_bytes: int,
        charges: Charges,
        prefix_bytes: int | None = None,
        hold: bool = False,
    ) -> SourceRead | None:
        """Read a regular file of at most ``limit_bytes``; ``None`` when it is not there.

        Args:
            relative: the file, below the root.
            limit_bytes: a larger file is refused before it is opened.
            charges: the allowances that pay for the read.
            prefix_bytes: read (and charge) no more than this from the beginning.
            hold: observe the file again in ``recheck``.

        Raises:
            AiosError: a read fault, or a allowance's code.
        """
        folder, named = self._look(relative)
        if hold:
            self._hold(self._held_files, relative, named)
        if folder is None or named is None:
            self._check_chain(_split(relative)[0])
            return None
        return self._accepted(folder, relative, named, limit_bytes, prefix_bytes, charges)

    @_naming
    def read_seen(
        self,
        relative: str,
        seen: Stamp,
        *,
        limit_bytes: int,
        charges: Charges,
        prefix_bytes: int | None = None,
    ) -> SourceRead:
        """Read a file that was observed before and must still be the same.

        Raises:
            AiosError: as ``read``; DOTAIOS_CONTEXT_SOURCE_CHANGED when it is gone.
        """
        folder, named = self._look(relative)
        if folder is None or named != seen:
            raise fault(SOURCE_CHANGED)
        return self._accepted(folder, relative, seen, limit_bytes, prefix_bytes, charges)

    @_naming
    def entries(
        self,
        relative: str,
        *,
        limit_entries: int,
        too_many: str,
        charges: Charges,
        hold: bool = False,
    ) -> list[Entry] | None:
        """List a folder, sorted by name; ``None`` when it is not there.

        Args:
            relative: the folder, below the root.
            limit_entries: a folder with more entries is refused.
            too_many: the code of that refusal.
            charges: the allowances that pay for the entries.
            hold: compare the folder's whole stamp again in ``recheck``.

        Raises:
            AiosError: a read fault, ``too_many``, or a allowance's code.
        """
        folder = self._reach(relative)
        if folder is None:
            if hold:
                self._hold(self._held_folders, relative, None)
            self._check_chain(_split(relative)[0])
            return None
        before = self._files.stamp_folder(folder)
        if hold:
            self._hold(self._held_folders, relative, before)
        entries, truncated = self._files.names(folder, limit_entries=limit_entries)
        charges.charge_entries(len(entries))
        if truncated:
            raise fault(too_many)
        if self._files.stamp_folder(folder) != before:
            raise fault(SOURCE_CHANGED)
        self._check_chain(relative)
        return entries

    def recheck(self) -> None:
        """Observe the root, the folders passed through and all that is held once more.

        Raises:
            AiosError: DOTAIOS_CONTEXT_SOURCE_CHANGED.
        """
        self._root.recheck(self._files)
        for relative in sorted(self._passed):
            self._check_chain(relative)
        for relative, stamp in sorted(self._held_folders.items()):
            folder = self._reach(relative)
            found = None if folder is None else self._files.stamp_folder(folder)
            if found != stamp:
                raise fault(SOURCE_CHANGED)
        for relative, stamp in sorted(self._held_files.items()):
            _, found = self._look(relative)
            if found != stamp:
                raise fault(SOURCE_CHANGED)

    def _look(self, relative: str) -> tuple[Folder | None, Stamp | None]:
        """Return the folder that a name lies in and the name's stamp, as far as they are there."""
        parent, name = _split(relative)
        folder = self._reach(parent)
        return folder, None if folder is None else self._files.stamp(folder, name)

    def _accepted(
        self,
        folder: Folder,
        relative: str,
        named: Stamp,
        limit_bytes: int,
        prefix_bytes: int | None,
        charges: Charges,
    ) -> SourceRead:
        """Read from the handle, with the same stamp before and after, by handle and name."""
        parent, name = _split(relative)
        if not named.is_file:
            raise fault(UNSAFE_PATH if named.is_link else NOT_REGULAR)
        if named.size > limit_bytes:
            raise fault(SOURCE_TOO_LARGE)
        wanted = named.size if prefix_bytes is None else min(named.size, prefix_bytes)
        files = self._files
        handle = files.open_file(folder, name)
        if handle is None:
            raise fault(SOURCE_CHANGED)
        try:
            if files.stamp_file(handle) != named:
                raise fault(SOURCE_CHANGED)
            charges.charge(Amount(bytes=wanted, files=1))
            # One byte more than the size proves that the end was reached.
            data = files.read(handle, wanted if wanted < named.size else wanted + 1)
            if files.stamp_file(handle) != named:
                raise fault(SOURCE_CHANGED)
        finally:
            files.close(handle)
        if len(data) != wanted or files.stamp(folder, name) != named:
            raise fault(SOURCE_CHANGED)
        self._check_chain(parent)
        return SourceRead(data=data, stamp=named, path=relative)

    def _reach(self, relative: str) -> Folder | None:
        """Return the open folder at ``relative``, opening what is not open yet."""
        if relative == "":
            return self._folder
        known = self._open.get(relative)
        if known is not None:
            self._open.move_to_end(relative)
            return known
        parent, name = _split(relative)
        above = self._reach(parent)
        folder = None if above is None else self._files.open_folder(above, name)
        if folder is None:
            if relative in self._passed:
                raise fault(SOURCE_CHANGED)
            return None
        self._open[relative] = folder
        if len(self._open) > MAX_OPEN_FOLDERS:
            self._open.popitem(last=False)[1].close()
        stamp = self._files.stamp_folder(folder)
        passed = self._passed.setdefault(relative, stamp)
        if not passed.same_object(stamp):
            raise fault(SOURCE_CHANGED)
        return folder

    def _check_chain(self, relative: str) -> None:
        """Compare, by name, every folder from the root down to ``relative``."""
        parts = relative.split("/") if relative else []
        for depth in range(len(parts)):
            here = "/".join(parts[: depth + 1])
            passed = self._passed.get(here)
            above = self._reach("/".join(parts[:depth]))
            found = None if above is None else self._files.stamp(above, parts[depth])
            if passed is None:
                if found is not None:
                    raise fault(SOURCE_CHANGED)
                return
            if found is None or not found.same_object(passed):
                raise fault(SOURCE_CHANGED)

    def _hold(self, held: dict[str, Stamp | None], relative: str, stamp: Stamp | None) -> None:
        """Remember an observation; a second, different one is a change."""
        if held.setdefault(relative, stamp) != stamp:
            raise fault(SOURCE_CHANGED)


def _split(relative: str) -> tuple[str, str]:
    """Split a relative path into folder and name; refuse what could leave the root."""
    parts = relative.split("/")
    if "\0" in relative or any(part in {"", ".", ".."} for part in parts):
        raise fault(UNSAFE_PATH)
    if len(parts) > MAX_DEPTH_FOLDERS:
        raise fault(READ_FAILED)
    return "/".join(parts[:-1]), parts[-1]
