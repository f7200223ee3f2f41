"""The lock files of the convention: a running original and this program exclude each other.

A lock is a file that is created exclusively and holds a record of its owner; it appears whole
(a link gives it its name), carries ``flock`` as well, and is removed by whoever wrote it.

- A holder on this machine whose process is gone is taken over: the lock is renamed away, while
  ``flock`` of that very file is held, so two takers cannot remove a third one's lock.
- A record that cannot be read, or one of another machine, counts as abandoned after five minutes.
- A record that says ``poisoned`` is never taken over.
"""

import fcntl
import json
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final
from uuid import uuid4

from agentic_os.aios.folder.json_text import JsonObject, compact, parse_object
from agentic_os.aios.writing.faults import (
    EVENT_STORE_LOCKED,
    LOCKED,
    POISONED,
    SESSIONS_LOCKED,
    write_fault,
)
from agentic_os.aios.writing.writer import PRIVATE, FolderWriter
from agentic_os.files.handles import READ_FLAGS
from agentic_os.files.running import is_running

STALE_SECONDS: Final = 5 * 60
EVENTS_WAIT_SECONDS: Final = 2.0
STORE_WAIT_SECONDS: Final = 10.0
RECORD_BYTES: Final = 4096

_STEP_SECONDS: Final = (0.010, 0.045)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockForm:
    """One of the convention's lock files.

    Args:
        path: the lock, relative to the folder.
        format: the value of ``format`` in its record; ``None`` for the event log's form.
        wait_seconds: how long a live holder is waited for.
        code: the refusal after that.
    """

    path: str
    format: str | None
    wait_seconds: float
    code: str

    def record(self) -> tuple[JsonObject, str]:
        """Make the record of this process, and the token that proves it."""
        token = str(uuid4())
        now = int(time.time() * 1000)
        if self.format is None:
            return {"pid": os.getpid(), "ts": now, "token": token, "host": host_name()}, token
        return {"format": self.format, "pid": os.getpid(), "owner": token, "at": now}, token


EVENTS_LOCK: Final = LockForm(
    path="memory/events.jsonl.lock",
    format=None,
    wait_seconds=EVENTS_WAIT_SECONDS,
    code=EVENT_STORE_LOCKED,
)
SIGNALS_ARCHIVE_LOCK: Final = LockForm(
    path="memory/signals-archive.jsonl.lock",
    format=None,
    wait_seconds=EVENTS_WAIT_SECONDS,
    code=EVENT_STORE_LOCKED,
)
SESSIONS_LOCK: Final = LockForm(
    path=".dotaios/session-store/store.lock",
    format="dotaios-session-store-lock/v1",
    wait_seconds=STORE_WAIT_SECONDS,
    code=SESSIONS_LOCKED,
)
CHANGES_LOCK: Final = LockForm(
    path=".dotaios/changes/write.lock",
    format="dotaios-file-replacement-lock/v1",
    wait_seconds=STORE_WAIT_SECONDS,
    code=LOCKED,
)


@contextmanager
def holding(
    writer: FolderWriter, form: LockForm, *, wait_seconds: float | None = None
) -> Iterator[None]:
    """Hold a lock file.

    Raises:
        AiosError: the form's code while somebody else holds it; DOTAIOS_SESSION_STORE_POISONED.
    """
    parent, _, name = form.path.rpartition("/")
    wait = form.wait_seconds if wait_seconds is None else wait_seconds
    deadline = time.monotonic() + wait
    with writer.folder(parent) as folder:
        while (held := _taken(writer, folder, name, form)) is None:
            if time.monotonic() >= deadline:
                raise write_fault(form.code)
            time.sleep(random.uniform(*_STEP_SECONDS))  # noqa: S311 - waiters must not march in step
        handle, token = held
        _sweep(writer, folder, name)
        try:
            yield
        finally:
            _release(writer, folder, name, token)
            os.close(handle)


@cache
def host_name() -> str:
    """Name this machine and its process numbers: boot id and the inode of the pid namespace."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"
    return os.uname().nodename


def _taken(writer: FolderWriter, folder: int, name: str, form: LockForm) -> tuple[int, str] | None:
    """Try once: the handle that carries ``flock`` and our token, or ``None``."""
    record, token = form.record()
    partial = f".{name}.{token}.tmp"
    handle = writer.system.create(folder, partial, PRIVATE)
    try:
        writer.system.write(handle, (compact(record) + "\n").encode())
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        writer.system.link(folder, partial, folder, name)
    except FileExistsError:
        os.close(handle)
        _take_over(writer, folder, name, form)
        return None
    except (BlockingIOError, FileNotFoundError):  # somebody took it for a leftover: once more
        os.close(handle)
        return None
    except BaseException:
        os.close(handle)
        raise
    finally:
        with suppress(FileNotFoundError):
            writer.system.unlink(folder, partial)
    return handle, token


def _sweep(writer: FolderWriter, folder: int, name: str) -> None:
    """Remove what takers left that were stopped before their lock had its name."""
    for other in os.listdir(folder):
        if not (other.startswith(f".{name}.") and other.endswith(".tmp")):
            continue
        with suppress(OSError):
            handle = os.open(other, READ_FLAGS, dir_fd=folder)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                writer.system.unlink(folder, other)
            finally:
                os.close(handle)


def _take_over(writer: FolderWriter, folder: int, name: str, form: LockForm) -> None:
    """Rename an abandoned lock away; a live one stays."""
    try:
        handle = os.open(name, READ_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        opened = os.fstat(handle)
        record = parse_object(os.read(handle, RECORD_BYTES).decode("utf-8", "replace"))
        if record is not None and record.get("poisoned") is True:
            raise write_fault(POISONED)
        if not _abandoned(record, time.time() - opened.st_mtime):
            return
        with suppress(FileNotFoundError):
            named = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if (named.st_dev, named.st_ino) != (opened.st_dev, opened.st_ino):
                return
            suffix = f"steal.{os.getpid()}.{int(time.time() * 1000)}"
            aside = f"{name}.{suffix if form.format is None else f'stale.{uuid4()}'}"
            writer.system.rename(folder, name, folder, aside)
            writer.system.unlink(folder, aside)
    finally:
        os.close(handle)


def _abandoned(record: JsonObject | None, age_seconds: float) -> bool:
    pid = None if record is None else record.get("pid")
    if record is None or isinstance(pid, bool) or not isinstance(pid, int) or pid <= 0:
        return age_seconds > STALE_SECONDS
    host = record.get("host")
    if host is not None and host != host_name():
        return age_seconds > STALE_SECONDS
    return not is_running(pid)


def _release(writer: FolderWriter, folder: int, name: str, token: str) -> None:
    """Remove our lock; one that somebody took over stays theirs."""
    with suppress(FileNotFoundError):
        handle = os.open(name, READ_FLAGS, dir_fd=folder)
        try:
            text = os.read(handle, RECORD_BYTES).decode("utf-8", "replace")
        finally:
            os.close(handle)
        with suppress(json.JSONDecodeError):
            record = json.loads(text)
            if isinstance(record, dict) and token in {record.get("token"), record.get("owner")}:
                writer.system.unlink(folder, name)
