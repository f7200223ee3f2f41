"""The journal of applied changes: what each file was before, so that a change can be undone.

A record is published before the first target is touched. At most 50 records and 16 MiB are kept,
the newest always. A change can be undone while every target is as the change left it, or as it
was before (a stopped undo).
"""

import base64
import binascii
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from agentic_os.aios.writing.faults import NOTHING_TO_UNDO, UNDO_REFUSED, write_fault
from agentic_os.aios.writing.locks import LockForm, holding
from agentic_os.aios.writing.writer import MISSING, PRIVATE, FolderWriter, Seen
from agentic_os.errors import AiosError

RECORDS: Final = 50
RECORDS_BYTES: Final = 16 * 1024 * 1024
CHANGES: Final = ".dotaios/changes"

_CHANGE_VERSION: Final = 1
_STAMP: Final = "%Y%m%dT%H%M%S.%fZ"
_SHOWN_CHARS: Final = 8


class RecordedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a change: the bytes before, and the hash of those after."""

    path: str
    before_sha256: str | None
    after_sha256: str | None
    before_b64: str | None

    @classmethod
    def of(cls, path: str, before: Seen, after_sha256: str | None) -> "RecordedTarget":
        """Record what a target was."""
        kept = before.data if before.exists else None
        return cls(
            path=path,
            before_sha256=None if kept is None else hashlib.sha256(kept).hexdigest(),
            after_sha256=after_sha256,
            before_b64=None if kept is None else base64.b64encode(kept).decode("ascii"),
        )

    def before(self) -> bytes | None:
        """Return the bytes before; ``None`` where there was no file."""
        if self.before_b64 is None:
            return None
        try:
            return base64.b64decode(self.before_b64, validate=True)
        except binascii.Error:
            raise write_fault(UNDO_REFUSED, self.path) from None


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One applied change."""

    operation: str
    op: str
    targets: tuple[RecordedTarget, ...]
    version: int = _CHANGE_VERSION
    root: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """Where changes are recorded.

    Args:
        writer: the folder that holds the records.
        lock: the lock of whoever changes something.
        folder: the folder of the records, relative to it.
        clock: the present moment.
        root: the absolute folder of the targets, where it is another than the writer's.
    """

    writer: FolderWriter
    lock: LockForm
    clock: Callable[[], datetime]
    folder: str = CHANGES
    root: str | None = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude other writers for one change."""
        with holding(self.writer, self.lock):
            yield

    def add(self, record: Record) -> None:
        """Publish a record and drop the oldest beyond the bounds."""
        name = f"{self.folder}/{self._stamp()}-{record.op[:_SHOWN_CHARS]}.json"
        record = msgspec.structs.replace(record, root=self.root)
        self.writer.put(name, msgspec.json.encode(record), expected=MISSING, mode=PRIVATE)
        self._prune()

    def find(self, operation: str | None = None) -> tuple[str, Record]:
        """Find the newest record, or the one of an operation id or its beginning.

        Raises:
            AiosError: DOTAIOS_NOTHING_TO_UNDO.
        """
        for name in reversed(self._names()):
            path = f"{self.folder}/{name}"
            try:
                record = msgspec.json.decode(self.writer.see(path).data, type=Record)
            except msgspec.DecodeError:
                continue
            if operation is None or record.op.startswith(operation):
                return path, record
        raise write_fault(NOTHING_TO_UNDO)

    def has(self, operation: str) -> bool:
        """Whether a change of that operation id, or of one that begins so, is recorded."""
        try:
            self.find(operation)
        except AiosError:
            return False
        return True

    def drop(self, path: str) -> None:
        """Remove the record of a change that was undone."""
        self.writer.remove(path, expected=self.writer.see(path))

    def _stamp(self) -> str:
        """Name the present moment; a clock that went back still comes after the newest record."""
        now = self.clock().astimezone(UTC)
        names = self._names()
        if names:
            with suppress(ValueError):
                newest = datetime.strptime(names[-1].split("-")[0], _STAMP).replace(tzinfo=UTC)
                now = max(now, newest + timedelta(microseconds=1))
        return now.strftime(_STAMP)

    def _names(self) -> list[str]:
        return [name for name in self.writer.names(self.folder) if name.endswith(".json")]

    def _prune(self) -> None:
        kept = 0
        for at, name in enumerate(reversed(self._names())):
            path = f"{self.folder}/{name}"
            stamp = self.writer.stamp(path)
            kept += 0 if stamp is None else stamp.size
            if at > 0 and (at >= RECORDS or kept > RECORDS_BYTES):
                self.drop(path)
