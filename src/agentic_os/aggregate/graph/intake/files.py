"""The files that a graph names and the manifests beside them: listed, compared, read.

This is the part of a refresh that reads; ``graph_listing`` tells whether it is needed.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from agentic_os.aggregate.graph.intake.listing import (
    Listing,
    known_files,
    names_digest,
    shadow_names,
)
from agentic_os.aggregate.graph.intake.redaction import (
    holds_secret,
    redacted_facts,
    redacted_manifest,
)
from agentic_os.aggregate.graph.store import stored_manifests
from agentic_os.code.layout import EXCLUDED_FOLDERS
from agentic_os.code.manifests.node import workspace_globs
from agentic_os.code.manifests.reading import WORKFLOW_FOLDER, is_manifest, read_manifest
from agentic_os.code.manifests.values import MAX_MANIFEST_BYTES, Manifest
from agentic_os.code.passages.density import MAX_SOURCE_MARKS, marks_of
from agentic_os.code.reading import MAX_SOURCE_BYTES, language_of, read_source
from agentic_os.errors import FilesError
from agentic_os.files.reading import Fingerprint
from agentic_os.text.secrets.redaction import Redactor

MAX_FILES_ENTRIES = 50_000
MAX_PROJECT_SOURCE_BYTES = 16 * 1024 * 1024
"""Sources parsed of one project, in order of path: one project cannot hold up the rest."""
MAX_RUN_MARKS = 1_000_000
"""Words and marks of one project's sources that one run parses (some 4 MB of code); the next run
goes on, so that no project holds up a question for long."""
PENDING_SIZE = -2
"""Stands for the size of a source that a later run will read."""
BEYOND_SIZE = -3
"""Stands for the size of a source beyond ``MAX_PROJECT_SOURCE_BYTES``."""
DENSE_FACTS = b""
"""Stands for the facts of a source with more words and marks than are parsed."""
MAX_MANIFESTS_ENTRIES = 1_000
MAX_BUILD_RECORD_BYTES = 64 * 1024 * 1024
_MAX_BASE_FOLDERS_ENTRIES = 500
_MAX_BASE_LEVELS = 4
_BASE_SAMPLES_ENTRIES = 20
_BUILD_RECORD = "manifest.json"

_encoder = msgspec.msgpack.Encoder()


@dataclass(slots=True, kw_only=True)
class Plan:
    """What has to be read, and what is gone."""

    files: list[tuple[str, Fingerprint | None]] = field(default_factory=list)
    files_gone: list[str] = field(default_factory=list)
    manifests: list[tuple[str, Fingerprint]] = field(default_factory=list)
    manifests_gone: list[str] = field(default_factory=list)
    folders: dict[str, tuple[str, str]] = field(default_factory=dict)
    folders_changed: bool = False

    @property
    def manifests_changed(self) -> bool:
        """Whether a manifest came, went or changed."""
        return bool(self.manifests or self.manifests_gone)


class FileReader:
    """Compares and reads one project's files and manifests."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        rid: int,
        listing: Listing,
        now_ns: int,
        redactor: Redactor,
    ) -> None:
        """Work on project ``rid``; ``now_ns`` is the time of this reading."""
        self.redactor = redactor
        self.connection = connection
        self.rid = rid
        self.listing = listing
        self.now_ns = now_ns
        self.beyond: set[str] = set()
        self.marks = 0
        self.most_marks = MAX_RUN_MARKS

    # -- comparing -----------------------------------------------------------------------

    def plan(self, paths: list[str]) -> Plan:
        """Compare the files that the graph names, and the manifests beside them."""
        plan = Plan()
        wanted = paths[:MAX_FILES_ENTRIES]
        known = self._known("graph_file")
        total = 0
        for path in wanted:
            seen = self.listing.file(path)
            total += 0 if seen is None else min(seen.size, MAX_SOURCE_BYTES)
            if total > MAX_PROJECT_SOURCE_BYTES:
                self.beyond.add(path)
            if path not in known or self._differs(known[path], seen):
                plan.files.append((path, seen))
        plan.files_gone = sorted(known.keys() - set(wanted))
        folders = _with_ancestors(wanted)
        self._plan_manifests(plan, folders)
        plan.folders = {
            folder: (self._shadow_names(folder), names_digest(self.listing, folder))
            for folder in sorted({*folders, "", WORKFLOW_FOLDER, *self._workspaces()})
        }
        stored = {
            row[0]: (row[1], row[2])
            for row in self.connection.execute(
                "SELECT path, names, digest FROM graph_folder WHERE rid=?", (self.rid,)
            )
        }
        plan.folders_changed = stored != plan.folders
        return plan

    def _shadow_names(self, folder: str) -> str:
        names = shadow_names(self.listing, folder)
        if not holds_secret(names, self.redactor):
            return names
        return "\n".join(
            name for name in names.split("\n") if not holds_secret(name, self.redactor)
        )

    def _known(self, table: str) -> dict[str, tuple[Fingerprint, int]]:
        query = (
            f"SELECT path, size, mtime_ns, ctime_ns, inode, read_at_ns FROM {table}"  # noqa: S608 - two fixed names
            " WHERE rid=?"
        )
        return {
            row[0]: (Fingerprint(*row[1:5]), row[5])
            for row in self.connection.execute(query, (self.rid,))
        }

    def _differs(self, known: tuple[Fingerprint, int], seen: Fingerprint | None) -> bool:
        fingerprint, read_at = known
        if seen is None:
            return fingerprint.size >= 0
        return fingerprint != seen or not seen.settled(read_at)

    def _plan_manifests(self, plan: Plan, folders: Iterable[str]) -> None:
        known = self._known("graph_manifest")
        found: dict[str, Fingerprint] = {}
        for folder in sorted({*folders, "", WORKFLOW_FOLDER, *self._workspaces()}):
            for name in self.listing.entries(folder):
                path = f"{folder}/{name}".lstrip("/")
                if len(found) < MAX_MANIFESTS_ENTRIES and path.isprintable() and is_manifest(path):
                    seen = self.listing.file(path)
                    if seen is not None and not holds_secret(path, self.redactor):
                        found[path] = seen
        plan.manifests = [
            (path, seen)
            for path, seen in found.items()
            if path not in known or self._differs(known[path], seen)
        ]
        plan.manifests_gone = sorted(known.keys() - found.keys())

    def _workspaces(self) -> list[str]:
        """Return the folders of npm workspaces that the graph may name no file of."""
        if self.listing.file("package.json") is None:
            return []
        try:
            read = self.listing.root.read("package.json", limit_bytes=MAX_MANIFEST_BYTES)
        except FilesError:
            return []
        folders: list[str] = []
        for pattern in workspace_globs(read.data.decode("utf-8", "replace")):
            plain = pattern.strip("/").removeprefix("./")
            if plain.endswith("/*"):
                parent = plain[: -len("/*")]
                folders += [
                    f"{parent}/{entry.name}"
                    for entry in self.listing.entries(parent).values()
                    if entry.kind == "folder" and entry.name.isprintable()
                ]
            elif "*" not in plain and ".." not in plain:
                folders.append(plain)
        return folders[:MAX_MANIFESTS_ENTRIES]

    # -- reading -------------------------------------------------------------------------

    def carry_out(self, plan: Plan) -> int:
        """Read what the plan names and store what it says; returns how many files were read."""
        run = self.connection.execute
        many = self.connection.executemany
        many(
            "DELETE FROM graph_file WHERE rid=? AND path=?",
            ((self.rid, path) for path in plan.files_gone),
        )
        many(
            "DELETE FROM graph_manifest WHERE rid=? AND path=?",
            ((self.rid, path) for path in plan.manifests_gone),
        )
        count = 0
        numbers = dict(known_files(self.connection, self.rid))
        fresh: list[tuple[object, ...]] = []
        for path, seen in plan.files:
            row, read = self._file_row(path, seen)
            count += read
            if path in numbers:
                run(
                    "UPDATE graph_file SET size=?, mtime_ns=?, ctime_ns=?, inode=?, read_at_ns=?,"
                    " sha256=?, facts=? WHERE fid=?",
                    (*row, numbers[path]),
                )
            else:
                fresh.append((self.rid, path, *row))
        many(
            "INSERT INTO graph_file(rid, path, size, mtime_ns, ctime_ns, inode, read_at_ns,"
            " sha256, facts, built) VALUES(?,?,?,?,?,?,?,?,?,'')",
            fresh,
        )
        for path, seen in plan.manifests:
            count += self._read_manifest(path, seen)
        if plan.folders_changed:
            run("DELETE FROM graph_folder WHERE rid=?", (self.rid,))
            many(
                "INSERT INTO graph_folder VALUES(?,?,?,?)",
                ((self.rid, path, *found) for path, found in sorted(plan.folders.items())),
            )
        return count

    def _file_row(
        self, path: str, seen: Fingerprint | None
    ) -> tuple[tuple[int, int, int, int, int, str, bytes | None], bool]:
        if seen is None:
            return (-1, 0, 0, 0, self.now_ns, "", None), False
        source = language_of(path) is not None
        if path in self.beyond:
            return (*((BEYOND_SIZE, 0, 0, 0) if source else seen), self.now_ns, "", None), False
        try:
            read = self.listing.root.read(path, limit_bytes=MAX_SOURCE_BYTES)
        except FilesError:
            return (*seen, self.now_ns, "", None), False
        if source and self.marks >= self.most_marks:
            return (PENDING_SIZE, 0, 0, 0, self.now_ns, read.sha256, None), True
        return (*read.fingerprint, self.now_ns, read.sha256, self._facts(path, read.data)), True

    def _facts(self, path: str, data: bytes) -> bytes | None:
        if language_of(path) is None:
            return None
        marks = marks_of(data)
        if marks > MAX_SOURCE_MARKS:
            return DENSE_FACTS
        self.marks += marks
        try:
            facts = read_source(path, data)
        except Exception:  # noqa: BLE001 - whatever a parser trips over, the other projects go on
            return None
        return None if facts is None else _encoder.encode(redacted_facts(facts, self.redactor))

    def _read_manifest(self, path: str, seen: Fingerprint) -> bool:
        sha256, manifest = "", Manifest(path, problems=("MANIFEST_UNREADABLE",))
        try:
            read = self.listing.root.read(path, limit_bytes=MAX_MANIFEST_BYTES)
        except FilesError:
            pass
        else:
            sha256 = read.sha256
            seen = read.fingerprint
            try:
                manifest = read_manifest(path, read.data) or manifest
            except Exception:  # noqa: BLE001 - whatever a parser trips over, the others go on
                manifest = Manifest(path, problems=("MANIFEST_INVALID",))
        self.connection.execute(
            "INSERT OR REPLACE INTO graph_manifest VALUES(?,?,?,?,?,?,?,?,?)",
            (
                self.rid,
                path,
                *seen,
                self.now_ns,
                sha256,
                _encoder.encode(redacted_manifest(manifest, self.redactor)),
            ),
        )
        return bool(sha256)

    def record_build_hashes(self, graph_path: str, *, renewed: bool) -> None:
        """Note what every file was when the graph was built, as far as that can be known.

        Graphify writes a record of it beside the graph. A file that it does not name is taken
        for what it was when this graph was taken in.

        Args:
            graph_path: the graph's file.
            renewed: whether the graph itself is new; otherwise what is known stays.
        """
        folder = graph_path.rpartition("/")[0]
        record = f"{folder}/{_BUILD_RECORD}".lstrip("/")
        hashes: dict[str, str] = {}
        if self.listing.file(record) is not None:
            try:
                read = self.listing.root.read(record, limit_bytes=MAX_BUILD_RECORD_BYTES)
                hashes = build_hashes(read.data)
            except FilesError:
                hashes = {}
        by_name: dict[str, list[str]] = {}
        for key in hashes:
            by_name.setdefault(key.rpartition("/")[2], []).append(key)
        rows = []
        for path, fid in known_files(self.connection, self.rid):
            near = by_name.get(path.rpartition("/")[2], [])
            same = [key for key in near if key == path or key.endswith(f"/{path}")]
            rows.append((hashes[same[0]] if len(same) == 1 else "", fid))
        unrecorded = "sha256" if renewed else "built"
        self.connection.executemany(
            f"UPDATE graph_file SET built=coalesce(nullif(?, ''), {unrecorded}) WHERE fid=?",  # noqa: S608 - two fixed names
            rows,
        )

    def list_manifests(self, paths: list[str]) -> None:
        """Give manifests that nodes stand for a place among the files, as they were read."""
        self.connection.executemany(
            "INSERT OR IGNORE INTO graph_file(rid, path, size, mtime_ns, ctime_ns, inode,"
            " read_at_ns, sha256, built) SELECT rid, path, size, mtime_ns, ctime_ns, inode,"
            " read_at_ns, sha256, '' FROM graph_manifest WHERE rid=? AND path=?",
            ((self.rid, path) for path in paths),
        )

    # -- what is stored ------------------------------------------------------------------

    def readable(self) -> list[str]:
        """Return the paths of the sources that were read."""
        return [
            row[0]
            for row in self.connection.execute(
                "SELECT path FROM graph_file WHERE rid=? AND length(facts) > 0 ORDER BY path",
                (self.rid,),
            )
        ]

    def manifests(self) -> list[Manifest]:
        """Return the project's manifests in order of path."""
        return stored_manifests(self.connection, self.rid)


def base_of(listing: Listing, paths: list[str]) -> str:
    """Return the folder that a graph's paths are relative to; empty for the project's root.

    Old graphs name files relative to the deepest folder that held them all. Where none
    of the named sources is found at the root, the one folder that holds a sample of them
    all is taken.
    """
    sources = [path for path in paths if language_of(path) is not None]
    sample = sources[:: max(1, len(sources) // _BASE_SAMPLES_ENTRIES)][:_BASE_SAMPLES_ENTRIES]
    if not sample or any(listing.file(path) is not None for path in sample):
        return ""
    fitting = [
        folder
        for folder in _inner_folders(listing)
        if all(listing.file(f"{folder}/{path}") is not None for path in sample)
    ]
    return fitting[0] if len(fitting) == 1 else ""


def _inner_folders(listing: Listing) -> Iterator[str]:
    pending, seen = [("", 0)], 0
    while pending and seen < _MAX_BASE_FOLDERS_ENTRIES:
        folder, depth = pending.pop(0)
        seen += 1
        if folder:
            yield folder
        if depth >= _MAX_BASE_LEVELS:
            continue
        for entry in listing.entries(folder).values():
            hidden = entry.name.startswith(".") or entry.name in EXCLUDED_FOLDERS
            if entry.kind == "folder" and not hidden:
                pending.append((f"{folder}/{entry.name}".lstrip("/"), depth + 1))


def build_hashes(data: bytes) -> dict[str, str]:
    """Read Graphify's ``manifest.json``: MD5 by path as it was when the graph was built.

    Anything that is not of that shape gives nothing.
    """
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return {}
    found: dict[str, str] = {}
    if isinstance(document, dict):
        for key, value in document.items():
            digest = value.get("ast_hash") or value.get("hash") if isinstance(value, dict) else None
            if isinstance(digest, str) and digest:
                found[str(key).replace("\\", "/")] = digest.lower()
    return found


def _with_ancestors(paths: Iterable[str]) -> list[str]:
    folders: set[str] = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(folders)
