"""The lock files of the convention: one writer at a time, whoever the other one is."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from agentic_os.aios.folder.json_text import object_lines
from agentic_os.aios.folder.system import System
from agentic_os.aios.notes.records import append_event, record_of
from agentic_os.aios.writing.locks import (
    CHANGES_LOCK,
    EVENTS_LOCK,
    SESSIONS_LOCK,
    SIGNALS_ARCHIVE_LOCK,
    LockForm,
    holding,
    host_name,
)
from agentic_os.aios.writing.writer import FolderWriter
from agentic_os.cli.actions.person.reach import STATE_LOCK
from agentic_os.errors import AiosError
from support.aios.builder import NOW, AiosBuilder
from support.aios.stopping import side_by_side, spawn, stopped_at_every_step

FORMS = [EVENTS_LOCK, SIGNALS_ARCHIVE_LOCK, SESSIONS_LOCK, CHANGES_LOCK, STATE_LOCK]


def dead_pid() -> int:
    pid = spawn(lambda: None)
    os.waitpid(pid, 0)
    return pid


def left(aios: AiosBuilder, form: LockForm, text: str, *, age: float = 0) -> Path:
    path = aios.write(form.path, text)
    os.utime(path, (time.time() - age,) * 2)
    return path


def record(form: LockForm, pid: int, **more: object) -> str:
    if form.format is None:
        return json.dumps({"pid": pid, "ts": 1, "token": "theirs", **more})
    return json.dumps({"format": form.format, "pid": pid, "owner": "theirs", "at": 1, **more})


def taken(aios: AiosBuilder, form: LockForm) -> str | None:
    """Take the lock without waiting; the code of the refusal."""
    with FolderWriter(aios.root) as writer:
        try:
            with holding(writer, form, wait_seconds=0.1):
                assert (aios.root / form.path).exists()
        except AiosError as error:
            return error.code
    return None


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.path)
def test_a_lock_of_the_original_excludes_us(aios: AiosBuilder, form: LockForm) -> None:
    path = left(aios, form, record(form, os.getpid()))
    assert taken(aios, form) == form.code
    assert "theirs" in path.read_text()
    path.write_text(record(form, dead_pid()))
    assert taken(aios, form) is None
    assert [one.name for one in path.parent.iterdir() if "lock" in one.name] == []


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.path)
def test_the_record_that_the_original_reads(aios: AiosBuilder, form: LockForm) -> None:
    with FolderWriter(aios.root) as writer, holding(writer, form):
        written = json.loads((aios.root / form.path).read_text())
    assert written["pid"] == os.getpid()
    if form.format is None:
        assert {"pid", "ts", "token"} <= set(written)
    else:
        assert set(written) == {"format", "pid", "owner", "at"}
    assert not (aios.root / form.path).exists()


def test_malformed_records_and_other_machines_wait_five_minutes(aios: AiosBuilder) -> None:
    for text in ('{"pid":"x"}', "", "not json", record(EVENTS_LOCK, dead_pid(), host="elsewhere")):
        left(aios, EVENTS_LOCK, text, age=240)
        assert taken(aios, EVENTS_LOCK) == "DOTAIOS_EVENT_STORE_LOCKED"
        left(aios, EVENTS_LOCK, text, age=360)
        assert taken(aios, EVENTS_LOCK) is None
    left(aios, EVENTS_LOCK, record(EVENTS_LOCK, os.getpid(), host=host_name()), age=9999)
    assert taken(aios, EVENTS_LOCK) == "DOTAIOS_EVENT_STORE_LOCKED"


def test_a_poisoned_store_is_never_taken_over(aios: AiosBuilder) -> None:
    left(aios, SESSIONS_LOCK, record(SESSIONS_LOCK, dead_pid(), poisoned=True))
    assert taken(aios, SESSIONS_LOCK) == "DOTAIOS_SESSION_STORE_POISONED"


@pytest.mark.parametrize("dead", [True, False])
def test_many_writers_lose_no_line(aios: AiosBuilder, *, dead: bool) -> None:
    if dead:
        left(aios, EVENTS_LOCK, record(EVENTS_LOCK, dead_pid()))

    def appending(writer_number: int) -> None:
        with FolderWriter(aios.root) as writer:
            done = 0
            while done < 50:
                event = record_of(NOW, "update", {"summary": f"{writer_number}-{done}"})
                with suppress(AiosError):  # a busy lock: the count below says if more was lost
                    append_event(writer, event)
                    done += 1

    side_by_side(*(lambda number=number: appending(number) for number in range(8)))
    text = (aios.root / "memory/events.jsonl").read_text()
    rows = [row for row in object_lines(text) if row is not None]
    assert len(rows) == len(text.splitlines()) == 400
    assert len({str(row["summary"]) for row in rows}) == 400
    assert not list((aios.root / "memory").glob("*lock*"))


def test_a_holder_killed_at_any_step_does_not_block(aios: AiosBuilder) -> None:
    def act(system: System) -> None:
        with FolderWriter(aios.root, system=system) as writer, holding(writer, EVENTS_LOCK):
            writer.append("memory/events.jsonl", b"{}\n")

    for _ in stopped_at_every_step(lambda: None, act):
        assert taken(aios, EVENTS_LOCK) is None


@contextmanager
def held_as_the_original(path: Path, form: LockForm) -> Iterator[None]:
    """Hold a lock as the original does: made exclusively, then written, no ``flock``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = -1
    while handle < 0:
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            time.sleep(0.003)
    time.sleep(0.002)  # a taker may see the lock before its record
    os.write(handle, record(form, os.getpid()).encode())
    os.close(handle)
    yield
    assert json.loads(path.read_text())["pid"] == os.getpid()
    path.unlink()


@pytest.mark.parametrize("dead", [True, False])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.path)
def test_a_race_with_the_original_over_every_form(
    aios: AiosBuilder, form: LockForm, *, dead: bool
) -> None:
    place, count, inside = aios.root / form.path, aios.root / "count", aios.root / "inside"
    count.write_text("0")

    def alone() -> None:
        inside.touch(exist_ok=False)
        seen = int(count.read_text())
        time.sleep(0.001)
        count.write_text(str(seen + 1))
        inside.unlink()

    def ours() -> None:
        with FolderWriter(aios.root) as writer:
            for _ in range(15):
                with holding(writer, form, wait_seconds=60):
                    alone()

    def theirs() -> None:
        for _ in range(15):
            with held_as_the_original(place, form):
                alone()
            time.sleep(0.005)

    if dead:
        left(aios, form, record(form, dead_pid()))
    side_by_side(ours, ours, theirs, theirs)
    assert count.read_text() == "60"
    assert [one.name for one in place.parent.iterdir() if "lock" in one.name] == []
