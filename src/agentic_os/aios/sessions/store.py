"""The session store: documents and their index, changed together or not at all.

A transaction is built in ``.dotaios/session-store/.bootstrap-<id>/`` and committed by renaming
that folder to ``pending``; from then on it is only ever rolled forward, by its writer or by the
next one: the document, then the index, each renamed over the old file, which keeps a name in
``pending``. What is left goes to ``.dotaios/changes/session-<id>``. The names, the manifest and
every state in between are the convention's, so that either program finishes what the other one
left. A state that fits neither before nor after is refused and not touched
(DOTAIOS_SESSION_STORE_POISONED).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal
from uuid import uuid4

from agentic_os.aios.folder.allowance import SESSION_INDEX_BYTES
from agentic_os.aios.folder.json_text import JsonObject, compact, object_lines, parse_object
from agentic_os.aios.folder.layer import Stamp
from agentic_os.aios.folder.tree import SESSION_INDEX, SESSION_STORE, SESSIONS
from agentic_os.aios.sessions.codec import conflict_group
from agentic_os.aios.sessions.faults import session_fault
from agentic_os.aios.writing import staging
from agentic_os.aios.writing.changes import CHANGES
from agentic_os.aios.writing.faults import POISONED, write_fault
from agentic_os.aios.writing.locks import SESSIONS_LOCK, holding
from agentic_os.aios.writing.plan import sha256
from agentic_os.aios.writing.writer import PRIVATE, FolderWriter, Seen

Kind = Literal["create", "grow", "conflict", "reconcile", "delete"]

ROWS: Final = 20_000
WARNED_ROWS: Final = 15_000
KEPT_TRANSACTIONS: Final = 20
MANIFEST_FORMAT: Final = "dotaios-session-store-transaction/v1"

_PENDING: Final = f"{SESSION_STORE}/pending"
_ABANDONED = re.compile(r"\.(?:bootstrap|private|discard)-[A-Za-z0-9-]{1,64}")
_CLEANUP = re.compile(r"\.cleanup-[A-Za-z0-9-]{1,64}")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The index as it was read: its rows, each with its line, and what was seen of the file."""

    rows: tuple[JsonObject, ...]
    seen: Seen

    def of_source(self, identity: str, home: str | None) -> list[JsonObject]:
        """Return the rows of one source, whichever spelling of its path they hold."""
        return [
            row
            for row in self.rows
            if (path := row.get("source_path")) is not None
            and portable(str(path), home) == identity
        ]


def portable(path: str, home: str | None) -> str:
    """Write a path relative to the home folder, ``~/...``, so that no user name is kept."""
    if home and path.startswith(f"{home.rstrip('/')}/"):
        return f"~/{path[len(home.rstrip('/')) + 1 :]}"
    return path


def index_bytes(rows: Sequence[JsonObject]) -> bytes:
    """Write an index, its rows in the convention's order.

    Raises:
        AiosError: DOTAIOS_SESSION_INVENTORY_TOO_LARGE.
    """
    ordered = sorted(
        rows,
        key=lambda row: (str(row.get("captured_at")), str(row.get("session_id")), str(row["path"])),
    )
    data = "".join(compact(row) + "\n" for row in ordered).encode("utf-8")
    if len(ordered) > ROWS or len(data) > SESSION_INDEX_BYTES:
        raise session_fault("INVENTORY_TOO_LARGE")
    return data


def marked(rows: Sequence[JsonObject]) -> list[JsonObject]:
    """Give rows of one source the marks of a conflict, and take marks that mean nothing away."""
    bare = [
        {name: value for name, value in row.items() if not name.startswith("conflict_")}
        for row in rows
    ]
    bare.sort(key=lambda row: (str(row["captured_at"]), str(row["session_id"])))
    shared = Counter(str(row["source_path"]) for row in bare if "source_path" in row)
    first: dict[str, str] = {}
    for row in bare:
        source = str(row.get("source_path"))
        if shared[source] > 1:
            row["conflict_group"] = conflict_group(source)
            if source in first:
                row["conflict_of"] = first[source]
            first.setdefault(source, str(row["session_id"]))
    return bare


def document_paths(writer: FolderWriter) -> list[str]:
    """List the documents that lie in the days' folders."""
    paths: list[str] = []
    for day in writer.names(SESSIONS):
        stamp = writer.stamp(f"{SESSIONS}/{day}")
        if stamp is not None and stamp.is_folder:
            names = writer.names(f"{SESSIONS}/{day}")
            paths += [f"{SESSIONS}/{day}/{name}" for name in names if name.endswith(".md")]
    return paths


class SessionStore:
    """The store of one folder.

    Args:
        writer: the open folder.
    """

    __slots__ = ("_writer",)

    def __init__(self, writer: FolderWriter) -> None:
        """Keep the writer; nothing is read yet."""
        self._writer = writer

    @contextmanager
    def locked(self, *, wait_seconds: float | None = None) -> Iterator[None]:
        """Hold the store's lock, whatever a stopped writer left first finished.

        Raises:
            AiosError: DOTAIOS_SESSION_STORE_CONTENTION, DOTAIOS_SESSION_STORE_POISONED.
        """
        with holding(self._writer, SESSIONS_LOCK, wait_seconds=wait_seconds):
            self._recover()
            yield

    def index(self) -> Index:
        """Read the index, strictly.

        Raises:
            AiosError: DOTAIOS_SESSION_RECONCILIATION_REQUIRED for a row that is none;
                DOTAIOS_SESSION_INVENTORY_TOO_LARGE.
        """
        stamp = self._writer.stamp(SESSION_INDEX)
        if stamp is not None and stamp.size > SESSION_INDEX_BYTES:
            raise session_fault("INVENTORY_TOO_LARGE", SESSION_INDEX)
        seen = self._writer.see(SESSION_INDEX, limit_bytes=SESSION_INDEX_BYTES, shared=True)
        rows: list[JsonObject] = []
        for row in object_lines(seen.data.decode("utf-8", "surrogateescape")):
            if row is None or not _is_row(row):
                raise session_fault("RECONCILIATION_REQUIRED", SESSION_INDEX)
            rows.append(row)
        return Index(rows=tuple(rows), seen=seen)

    def commit(
        self,
        kind: Kind,
        *,
        index: Index,
        rows: Sequence[JsonObject],
        target: str | None = None,
        document: bytes | None = None,
    ) -> None:
        """Change a document and the index in one transaction.

        Args:
            kind: what the change is.
            index: the index as it was read under this lock.
            rows: the new index.
            target: the document's path; ``None`` when only the index changes.
            document: its new bytes; ``None`` removes it.

        Raises:
            AiosError: a write fault; before the commit nothing happened, after it the next writer
                finishes.
        """
        before = None if target is None else self._writer.see(target)
        after = index_bytes(rows)
        identifier = str(uuid4())
        manifest: JsonObject = {
            "format": MANIFEST_FORMAT,
            "id": identifier,
            "kind": kind,
            "target": target,
            "canonical_before": None if before is None else _hash(before),
            "canonical_identity_before": None if before is None else _identity(before.stamp),
            "canonical_after": None if document is None else sha256(document),
            "projection_before": _hash(index.seen),
            "projection_identity_before": _identity(index.seen.stamp),
            "projection_after": sha256(after),
        }
        built = f"{SESSION_STORE}/.bootstrap-{identifier}"
        if document is not None:
            staging.create(self._writer, f"{built}/canonical.md", document)
        staging.create(self._writer, f"{built}/index.jsonl", after)
        staging.create(self._writer, f"{built}/manifest.json", (compact(manifest) + "\n").encode())
        staging.sync(self._writer, built)
        if target is not None:
            self._writer.make_folder(target.rpartition("/")[0])
        self._writer.make_folder(SESSIONS)
        staging.rename(self._writer, built, _PENDING)
        self._roll_forward(manifest)

    def _recover(self) -> None:
        """Finish or discard what a stopped writer left."""
        for name in self._writer.names(SESSION_STORE):
            path = f"{SESSION_STORE}/{name}"
            if name == "pending":
                data = self._writer.see(f"{_PENDING}/manifest.json").data
                manifest = parse_object(data.decode("utf-8", "replace"))
                if manifest is None or not _is_manifest(manifest):
                    raise write_fault(POISONED)
                self._roll_forward(manifest)
            elif _ABANDONED.fullmatch(name) or _CLEANUP.fullmatch(name):
                staging.remove_tree(self._writer, path)

    def _roll_forward(self, manifest: JsonObject) -> None:
        target = manifest["target"]
        if isinstance(target, str):
            self._place(
                "canonical.md",
                target,
                manifest["canonical_before"],
                manifest["canonical_after"],
                "previous.md",
            )
        self._place(
            "index.jsonl",
            SESSION_INDEX,
            manifest["projection_before"],
            manifest["projection_after"],
            "previous-index.jsonl",
        )
        staging.rename(self._writer, _PENDING, f"{CHANGES}/session-{manifest['id']}")
        self._prune()

    def _place(
        self, staged: str, target: str, before: object, after: object, previous: str
    ) -> None:
        """Bring one file to its new state from wherever a stopped writer left it."""
        writer = self._writer
        staged, previous = f"{_PENDING}/{staged}", f"{_PENDING}/{previous}"
        stamp = writer.stamp(target)
        for name in (staged, previous):
            if stamp is not None and _same_file(writer.stamp(name), stamp):
                staging.unlink(writer, name)
        current = _hash(writer.see(target))
        if current == after:
            staging.unlink(writer, staged)
            return
        if current != before:
            raise write_fault(POISONED, target)
        if after is None:
            staging.rename(writer, target, f"{_PENDING}/deleted.md")
            return
        if _hash(writer.see(staged)) != after:
            raise write_fault(POISONED, target)
        if before is None:
            staging.link(writer, staged, target)
            staging.unlink(writer, staged)
            return
        staging.unlink(writer, previous)
        staging.narrow(writer, target)
        staging.link(writer, target, previous)
        staging.rename(writer, staged, target)

    def _prune(self) -> None:
        """Keep the leftovers of the last transactions only."""
        kept: list[tuple[int, str]] = []
        for name in self._writer.names(CHANGES):
            if name.startswith("session-"):
                stamp = self._writer.stamp(f"{CHANGES}/{name}")
                kept.append((0 if stamp is None else stamp.ctime_ns, name))
        for _, name in sorted(kept)[:-KEPT_TRANSACTIONS]:
            staging.remove_tree(self._writer, f"{CHANGES}/{name}")


def _is_row(row: JsonObject) -> bool:
    texts = (row.get("session_id"), row.get("captured_at"), row.get("path"))
    return all(isinstance(text, str) and text for text in texts)


def _is_manifest(manifest: JsonObject) -> bool:
    hashes = ("canonical_before", "canonical_after", "projection_before", "projection_after")
    target = manifest.get("target")
    return (
        manifest.get("format") == MANIFEST_FORMAT
        and isinstance(manifest.get("id"), str)
        and all(
            name in manifest and (manifest[name] is None or _HASH.fullmatch(str(manifest[name])))
            for name in hashes
        )
        and (target is None or (isinstance(target, str) and target.startswith(f"{SESSIONS}/")))
    )


def _same_file(one: Stamp | None, other: Stamp) -> bool:
    return one is not None and (one.device, one.inode) == (other.device, other.inode)


def _identity(stamp: Stamp | None) -> JsonObject | None:
    if stamp is None:
        return None
    return {"dev": str(stamp.device), "ino": str(stamp.inode), "mode": PRIVATE}


def _hash(seen: Seen) -> str | None:
    return sha256(seen.data) if seen.exists else None
