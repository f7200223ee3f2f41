"""Flushing staged lines into an archive, shard by shard, whatever stops it.

Rules (DotAIOS convention, bounded memory archives):

- ``<active>.pending`` holds whole lines that no longer live elsewhere. They are appended to the
  active archive in batches; each replaces the active file whole, and ``<active>.pending-id`` says
  which bytes were there before and after, so that a stopped flush neither loses nor doubles one.
- Before the active archive would cross 2 MiB it becomes the next shard: marker, shard (published
  exclusively), empty active file, marker away. A line over 2 MiB is a shard of its own.
- A marker that is left is finished or dropped by the hashes that it holds; any other state is
  refused. Lines are moved as bytes and never read as JSON.
"""

import os
import re
import stat
from typing import Final

from agentic_os.aios.archives.faults import (
    LEGACY,
    LINE_TOO_LARGE,
    STATE_INVALID,
    archive_fault,
)
from agentic_os.aios.folder.json_text import Json, JsonObject, compact, parse_object
from agentic_os.aios.folder.tree import MEMORY
from agentic_os.aios.writing import staging
from agentic_os.aios.writing.plan import sha256
from agentic_os.aios.writing.writer import MISSING, PRIVATE, FolderWriter, Seen

SHARD_BYTES: Final = 2 * 1024 * 1024
LINE_BYTES: Final = 4 * 1024 * 1024
STAGED_BYTES: Final = 64 * 1024 * 1024
WITNESS: Final = b'{"version":1,"protocol":"durable-marker"}\n'

_READABLE: Final = 0o644


class Archive:
    """One archive: its active file, shards, staged lines and marks.

    Args:
        writer: the open folder; the caller holds the archive's lock.
        stem: ``events-archive`` or ``signals-archive``.
    """

    def __init__(self, writer: FolderWriter, stem: str) -> None:
        """Name the files; nothing is read yet."""
        self._writer = writer
        self._shard = re.compile(rf"{re.escape(stem)}\.(\d{{6}})\.jsonl")
        self._stem = stem
        self.active = f"{MEMORY}/{stem}.jsonl"
        self.pending = f"{self.active}.pending"
        self._pending_id = f"{self.active}.pending-id"
        self._marker = f"{self.active}.rotation"
        self._witness = f"{self.active}.rotation-format"

    def staged(self) -> tuple[bytes, JsonObject] | None:
        """Return lines that are staged, and what is known of them; ``None`` when there are none.

        Raises:
            AiosError: DOTAIOS_ARCHIVE_STATE_INVALID.
        """
        seen = self._owned(self.pending)
        if not seen.exists:
            return None
        known = parse_object(self._owned(self._pending_id).data.decode("utf-8", "replace"))
        return seen.data, known or {}

    def stage(self, lines: bytes, known: JsonObject) -> None:
        """Stage whole lines, after what is known of where they come from.

        Raises:
            AiosError: DOTAIOS_ARCHIVE_LINE_TOO_LARGE before anything changes; a write fault.
        """
        if any(len(line) > LINE_BYTES for line in lines_of(lines)):
            raise archive_fault(LINE_TOO_LARGE, self.active)
        self._mark(known)
        self._put(self.pending, lines)

    def flush(self) -> None:
        """Append what is staged to the archive; the staged file is empty afterwards.

        Raises:
            AiosError: DOTAIOS_ARCHIVE_STATE_INVALID, _LEGACY_RECOVERY_REQUIRED; a write fault.
        """
        self._writer.drop_partials(MEMORY, self._stem)
        self._settle()
        staged = self.staged()
        if staged is None:
            return
        pending, known = self._resumed(*staged)
        while pending:
            active = self._owned(self.active)
            batch = _batch(pending, len(active.data))
            if not batch:
                self._rotate(active)
                continue
            after = active.data + batch
            known["step"] = {
                "before": sha256(active.data),
                "after": sha256(after),
                "taken": len(batch),
                "size": len(pending),
            }
            self._mark(known)
            self._put(self.active, after)
            pending = pending[len(batch) :]
            self._put(self.pending, pending)
        if len(self._owned(self.active).data) > SHARD_BYTES:
            self._rotate(self._owned(self.active))

    def drop(self) -> None:
        """Remove the staged file and what is known of it."""
        for path in (self.pending, self._pending_id):
            staging.unlink(self._writer, path)

    def _resumed(self, pending: bytes, known: JsonObject) -> tuple[bytes, JsonObject]:
        """Take a batch off the staged lines that was appended before a flush was stopped."""
        step = known.get("step")
        taken = step.get("taken") if isinstance(step, dict) else None
        if not isinstance(step, dict) or not isinstance(taken, int):
            return pending, known
        if step.get("size") != len(pending):
            return pending, known
        now = sha256(self._owned(self.active).data)
        if now == step.get("after"):
            pending = pending[taken:]
            self._put(self.pending, pending)
        elif now != step.get("before"):
            raise archive_fault(STATE_INVALID, self.active)
        return pending, known

    def _rotate(self, active: Seen) -> None:
        """Make the active file the next shard and start it anew."""
        if not self._owned(self._witness).exists:
            self._put(self._witness, WITNESS)
        numbers = self._numbers()
        number = (numbers[-1] if numbers else 0) + 1
        marker: JsonObject = {
            "version": 1,
            "shardNumber": number,
            "chunkBytes": len(active.data),
            "chunkHash": sha256(active.data),
            "beforeHash": sha256(active.data),
            "afterHash": sha256(b""),
        }
        self._put(self._marker, (compact(marker) + "\n").encode())
        self._finish(marker, active)

    def _finish(self, marker: JsonObject, active: Seen) -> None:
        """Carry out a rotation whose marker stands."""
        count, after = marker["chunkBytes"], marker["afterHash"]
        chunk = active.data[: count if isinstance(count, int) else 0]
        shard = self._shard_path(marker["shardNumber"])
        if not self._owned(shard).exists:
            self._writer.put(shard, chunk, expected=MISSING, mode=PRIVATE)
        if sha256(self._owned(shard).data) != marker["chunkHash"]:
            raise archive_fault(STATE_INVALID, shard)
        rest = active.data[len(chunk) :]
        if sha256(rest) != after:
            raise archive_fault(STATE_INVALID, self.active)
        self._put(self.active, rest)
        staging.unlink(self._writer, self._marker)

    def _settle(self) -> None:
        """Finish or drop a rotation that was stopped; refuse what maintenance cannot have left."""
        witness = self._owned(self._witness)
        if witness.exists and witness.data != WITNESS:
            raise archive_fault(STATE_INVALID, self._witness)
        stood = self._owned(self._marker)
        active = self._owned(self.active)
        numbers = self._numbers()
        if not stood.exists:
            if not witness.exists and numbers:
                newest = self._owned(self._shard_path(numbers[-1])).data
                if newest and active.data.startswith(newest):
                    raise archive_fault(LEGACY, self._shard_path(numbers[-1]))
            return
        marker = parse_object(stood.data.decode("utf-8", "replace"))
        if marker is None or not _is_marker(marker):
            raise archive_fault(STATE_INVALID, self._marker)
        number = marker["shardNumber"]
        if numbers and isinstance(number, int) and numbers[-1] > number:
            raise archive_fault(STATE_INVALID, self._marker)
        now = sha256(active.data)
        shard = self._owned(self._shard_path(number))
        if now == marker["beforeHash"]:
            self._finish(marker, active)
        elif now == marker["afterHash"] and sha256(shard.data) == marker["chunkHash"]:
            staging.unlink(self._writer, self._marker)
        else:
            raise archive_fault(STATE_INVALID, self._marker)

    def _mark(self, known: JsonObject) -> None:
        self._put(self._pending_id, (compact(known) + "\n").encode())

    def _put(self, path: str, data: bytes) -> None:
        self._writer.put(path, data, expected=self._owned(path), mode=PRIVATE)

    def _owned(self, path: str) -> Seen:
        """Read a file of the archive that is ours alone; one that others may read is narrowed."""
        seen = self._writer.see(path, limit_bytes=STAGED_BYTES)
        if seen.stamp is None:
            return seen
        mode = stat.S_IMODE(seen.stamp.mode)
        if mode not in (PRIVATE, _READABLE) or self._writer.owner(path) != os.geteuid():
            raise archive_fault(STATE_INVALID, path)
        if mode != PRIVATE:
            staging.narrow(self._writer, path)
            return self._writer.see(path, limit_bytes=STAGED_BYTES)
        return seen

    def _numbers(self) -> list[int]:
        names = (self._shard.fullmatch(name) for name in self._writer.names(MEMORY))
        return sorted(int(found[1]) for found in names if found is not None)

    def _shard_path(self, number: Json) -> str:
        return f"{MEMORY}/{self._stem}.{number:06d}.jsonl"


def lines_of(data: bytes) -> list[bytes]:
    """Split bytes into lines that keep their LF; a last line without one gets it."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    return lines[:-1] if lines[-1] == b"\n" else lines


def _batch(pending: bytes, held: int) -> bytes:
    """Take the lines that fit beside what the active file holds; empty where none does."""
    taken = 0
    for line in lines_of(pending):
        alone = held == 0 and taken == 0
        if not alone and held + taken + len(line) > SHARD_BYTES:
            break
        taken += len(line)
        if taken > SHARD_BYTES:
            break
    return pending[:taken] if held + taken <= SHARD_BYTES or held == 0 else b""


def _is_marker(marker: JsonObject) -> bool:
    numbers = (marker.get("shardNumber"), marker.get("chunkBytes"))
    hashes = (marker.get("chunkHash"), marker.get("beforeHash"), marker.get("afterHash"))
    return (
        marker.get("version") == 1
        and all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers)
        and all(isinstance(text, str) and len(text) == len(sha256(b"")) for text in hashes)
    )
