"""Which files of a project the corpus holds, found by listing and not by reading.

Rules (design section 5):

- in a git checkout, tracked files count, and files that no ignore rule hides; without git,
  the ``.gitignore`` files alone decide. git is never run;
- dependency and output folders are not entered, unless the person includes them, or git tracks one
  below the top that holds no sign of being a copy. Other folders that a walk for projects
  prunes (dotted ones, ``build``, ``target``) are entered where git tracks something in them;
- other projects of the fleet and other repositories below this one are not entered, nor are
  ``.agents`` and ``.claude``, which other surfaces hold;
- no link is followed, no special file opened; everything that is left out is counted.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from agentic_os.aggregate.surfaces.documents import Role
from agentic_os.aggregate.surfaces.sweep import LIMIT_BYTES, Candidate
from agentic_os.code.passages.admission import (
    LeftOut,
    folder_left_out,
    is_copy,
    kind_of,
    may_be_own,
    name_left_out,
)
from agentic_os.errors import FilesError
from agentic_os.files.git.checkout import read_checkout
from agentic_os.files.git.ignore import MAX_IGNORE_BYTES, IgnoreRules
from agentic_os.files.git.index import read_index
from agentic_os.files.reading import Entry, Fingerprint, Folder
from agentic_os.registry.walk.enclosing import checkouts_above
from agentic_os.registry.walk.listing import GIT
from agentic_os.registry.walk.pruning import AIOS_FILE, MARKER_FILES, enters, is_closed
from agentic_os.text.decoding import decode

CORPUS_LIMIT_ENTRIES = 200_000
"""Names of one project that are looked at."""
CORPUS_DEPTH_FOLDERS = 48
_IGNORE_FILE = ".gitignore"
_NEVER = frozenset({GIT, ".agents", ".claude"})
_ROLES = {"source": Role.SOURCE, "document": Role.DOCUMENT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """What git knows of a project: the tracked files and folders, and the rules above it.

    Without git, or where its index cannot be read, nothing is tracked and ``fault`` says why.
    ``prefix`` is the project's path below the checkout's top, with a slash at its end.
    """

    files: AbstractSet[str] = frozenset()
    folders: AbstractSet[str] = frozenset()
    rules: IgnoreRules = field(default_factory=IgnoreRules)
    prefix: str = ""
    fault: FilesError | None = None


def tracked(folder: Path, *, home: Path | None = None, personal: str = "") -> Tracked:
    """Read what git knows of the project in ``folder``, in whatever checkout it lies.

    Args:
        folder: the project's real folder.
        home: the person's home folder, whose own ``.git`` makes no checkout.
        personal: the text of the person's own ignore file; every other rule goes before it.
    """
    for top in checkouts_above(str(folder), home=home):
        checkout = read_checkout(Path(top))
        if checkout is None:
            continue
        prefix = str(folder)[len(top.rstrip("/")) :].lstrip("/")
        prefix = f"{prefix}/" if prefix else ""
        rules = _rules_above(Path(top), checkout.common_dir, prefix, personal)
        try:
            index = read_index(checkout.git_dir)
        except FilesError as fault:
            return Tracked(rules=rules, prefix=prefix, fault=fault)
        files = {path[len(prefix) :] for path in index if path.startswith(prefix)}
        return Tracked(files=files, folders=_folders(files), rules=rules, prefix=prefix)
    return Tracked(rules=IgnoreRules().below("", personal))


def _folders(files: AbstractSet[str]) -> frozenset[str]:
    found: set[str] = set()
    for path in files:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


def _rules_above(top: Path, common_dir: Path, prefix: str, personal: str) -> IgnoreRules:
    """Return the person's excludes, the checkout's, and those of the folders above the project."""
    rules = IgnoreRules().below("", personal)
    try:
        with Folder.open(common_dir) as git:
            rules = rules.below("", _ignore_text(git, "info/exclude"))
        with Folder.open(top) as opened:
            above = ""
            for part in prefix.split("/")[:-1]:
                path = f"{above}/{_IGNORE_FILE}" if above else _IGNORE_FILE
                rules = rules.below(above, _ignore_text(opened, path))
                above = f"{above}/{part}" if above else part
    except FilesError:
        pass
    return rules


def _ignore_text(folder: Folder, path: str) -> str:
    try:
        return decode(folder.read(path, limit_bytes=MAX_IGNORE_BYTES).data).text
    except FilesError:
        return ""


def _hides(rules: IgnoreRules, path: str) -> bool:
    """Whether a folder, or one above it, is ignored."""
    parts = path.split("/")
    return any(
        rules.ignores("/".join(parts[:count]), folder=True) for count in range(1, len(parts) + 1)
    )


_Below = tuple[str, IgnoreRules, bool]
"""A folder to walk: its path, the rules that hold in it, and whether they hide it."""


def _nothing(_path: str) -> bool:
    """Include no folder that rules leave out."""
    return False


@dataclass(slots=True)
class CorpusFiles:
    """One walk of a project; ``left_out`` fills while it is iterated.

    Attributes:
        known: what git knows of the project.
        others: folders below the project that are projects of their own.
        held: paths that other surfaces of the project have taken in.
        included: says of a folder's path that the person wants it, whatever its name.
        left_out: each file, or whole folder (ends in ``/``), that was left out, with the reason.
    """

    known: Tracked
    others: AbstractSet[str] = frozenset()
    held: AbstractSet[str] = frozenset()
    included: Callable[[str], bool] = _nothing
    left_out: list[tuple[str, LeftOut]] = field(default_factory=list)
    seen: int = 0

    def walk(self, root: Folder) -> Iterator[Candidate]:
        """Yield every file that counts, folder by folder.

        Raises:
            FilesError: the project's own folder cannot be listed.
        """
        top = self.known.prefix.rstrip("/")
        hidden = bool(top) and _hides(self.known.rules, top)
        pending: list[tuple[str, int, IgnoreRules, bool]] = [("", 0, self.known.rules, hidden)]
        while pending:
            here, depth, rules, ignored = pending.pop()
            try:
                with root.descend(here) as folder:
                    below = yield from self._folder(folder, here, rules, ignored=ignored)
            except FilesError:
                if not here:
                    raise
                self.left_out.append((f"{here}/", LeftOut.UNREADABLE))
                continue
            if depth >= CORPUS_DEPTH_FOLDERS and below:
                self.left_out += [(f"{path}/", LeftOut.TOO_DEEP) for path, _, _ in below]
                continue
            pending.extend((path, depth + 1, inner, hid) for path, inner, hid in reversed(below))

    def _folder(
        self, folder: Folder, here: str, rules: IgnoreRules, *, ignored: bool
    ) -> Generator[Candidate, None, list[_Below]]:
        entries, truncated = folder.entries(
            limit_entries=max(0, CORPUS_LIMIT_ENTRIES - self.seen), stat=True
        )
        self.seen += len(entries)
        if truncated:
            self.left_out.append((f"{here}/", LeftOut.TOO_MANY))
        below: list[_Below] = []
        reason = self._closed(here, entries) if here else None
        if reason is not None:
            self.left_out.append((f"{here}/", reason))
            return below
        if any(entry.name == _IGNORE_FILE and entry.kind == "file" for entry in entries):
            text = _ignore_text(folder, _IGNORE_FILE)
            rules = rules.below((self.known.prefix + here).rstrip("/"), text)
        for entry in entries:
            path = f"{here}/{entry.name}" if here else entry.name
            if entry.kind == "folder":
                hidden = ignored or rules.ignores(self.known.prefix + path, folder=True)
                if self._enters(path, entry.name, hidden=hidden):
                    below.append((path, rules, hidden))
                continue
            found = self._file(entry, path, folder, rules, ignored=ignored)
            if found is not None:
                yield found
        return below

    def _closed(self, here: str, entries: Sequence[Entry]) -> LeftOut | None:
        """Say why nothing below a folder is taken, by what lies in it."""
        names = {entry.name for entry in entries}
        name = here.rpartition("/")[2]
        if folder_left_out(name) and not self.included(here) and any(map(is_copy, names)):
            return LeftOut.VENDORED
        if GIT in names:
            return LeftOut.OTHER_REPOSITORY
        markers = {name for name in names if name in MARKER_FILES}
        if AIOS_FILE in markers:
            return LeftOut.OTHER_REPOSITORY
        return LeftOut.VENDORED if is_closed(markers, sorted(names)) else None

    def _enters(self, path: str, name: str, *, hidden: bool) -> bool:
        """Whether a folder is walked; counts it where it is left out as a whole."""
        if name in _NEVER or path in self.others or not _is_text(path):
            return False
        if path in self.known.folders or (not hidden and self.included(path)):
            allowed = self.included(path) or may_be_own(name, path)
            reason = None if allowed else folder_left_out(name)
        elif hidden:
            return False
        else:
            reason = folder_left_out(name)
            if reason is None and not enters(name):
                return False
        if reason is not None:
            self.left_out.append((f"{path}/", reason))
        return reason is None

    def _file(
        self, entry: Entry, path: str, folder: Folder, rules: IgnoreRules, *, ignored: bool
    ) -> Candidate | None:
        if path in self.held or entry.name == GIT:
            return None
        if path not in self.known.files and (
            ignored or rules.ignores(self.known.prefix + path, folder=False)
        ):
            return None
        role = _ROLES[kind_of(entry.name)]
        found = _admitted(entry, path)
        if isinstance(found, LeftOut):
            self.left_out.append((path, found))
            return None
        return Candidate(role, path, found, folder, entry.name)


def _admitted(entry: Entry, path: str) -> Fingerprint | LeftOut:
    """Return the fingerprint of a file that counts, or why it does not."""
    if entry.kind != "file":
        return LeftOut.LINK if entry.kind == "link" else LeftOut.SPECIAL
    if entry.fingerprint is None:
        return LeftOut.UNREADABLE
    if not _is_text(path):
        return LeftOut.NAME
    size = entry.fingerprint.size
    reason = name_left_out(entry.name, size)
    if reason is None and size > LIMIT_BYTES[_ROLES[kind_of(entry.name)]]:
        reason = LeftOut.TOO_LARGE
    return reason or entry.fingerprint


def _is_text(path: str) -> bool:
    """Whether a path can be stored: it has a name in every encoding."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
