"""Own files: whole or not at all, private whatever the umask, one writer at a time."""

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from agentic_os.errors import FilesError
from agentic_os.files import locking
from agentic_os.files.publishing import (
    ExclusiveLock,
    private_folder,
    publish,
    remove_leftovers,
)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """An empty folder of the test's own."""
    folder = tmp_path / "desk"
    folder.mkdir()
    return folder


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def code_of(action: Callable[[], object]) -> str:
    with pytest.raises(FilesError) as caught:
        action()
    return caught.value.code


@contextmanager
def umask(value: int) -> Iterator[None]:
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def child(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a Python script that prints a line when it is where the test wants it."""
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


# --- publish ----------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_published_file_has_its_bytes_and_mode_whatever_the_umask(
    desk: Path, mask: int, mode: int
) -> None:
    path = desk / "file"
    path.write_bytes(b"old")
    with umask(mask):
        publish(path, b"new", mode)
    assert path.read_bytes() == b"new"
    assert mode_of(path) == mode
    assert list(desk.iterdir()) == [path]


def test_the_default_mode_is_private(desk: Path) -> None:
    publish(desk / "file", b"")
    assert mode_of(desk / "file") == 0o600


def test_short_writes_are_continued(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data[:3])))
    publish(desk / "file", b"0123456789")
    assert (desk / "file").read_bytes() == b"0123456789"


def test_file_and_folder_are_synced_around_the_rename(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(fd: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
        done.append("sync folder" if is_folder else f"sync {os.fstat(fd).st_size} bytes")
        real_sync(fd)

    def replace(self: Path, target: Path) -> Path:
        done.append("rename")
        return real_replace(self, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    publish(desk / "file", b"data")
    assert done == ["sync 4 bytes", "rename", "sync folder"]


@pytest.mark.parametrize("step", ["write", "fsync", "fchmod"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    desk: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_args: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(desk))

    path = desk / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(FilesError) as caught:
        publish(path, b"new")
    assert caught.value.code == "PUBLISH_FAILED"
    assert str(desk) not in caught.value.message
    assert os.strerror(errno.ENOSPC) in caught.value.message
    assert path.read_bytes() == b"old"
    assert list(desk.iterdir()) == [path]


@pytest.mark.parametrize(("number", "fails"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_only_a_folder_that_cannot_be_synced_at_all_is_let_pass(
    desk: Path, monkeypatch: pytest.MonkeyPatch, number: int, *, fails: bool
) -> None:
    real = os.fsync

    def sync(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(number, os.strerror(number))
        real(fd)

    monkeypatch.setattr(os, "fsync", sync)
    if fails:
        assert code_of(lambda: publish(desk / "file", b"new")) == "PUBLISH_FAILED"
    else:
        publish(desk / "file", b"new")
    assert (desk / "file").read_bytes() == b"new"


def test_an_interrupted_write_leaves_nothing_behind(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_args: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        publish(desk / "file", b"new")
    assert list(desk.iterdir()) == []


@pytest.mark.parametrize("name", ["missing/file", "nul\0", "x" * 300])
def test_what_cannot_be_written_is_refused(desk: Path, name: str) -> None:
    assert code_of(lambda: publish(desk / name, b"")) == "PUBLISH_FAILED"


def test_a_link_is_replaced_not_written_through(desk: Path) -> None:
    (desk / "target").write_bytes(b"target")
    (desk / "link").symlink_to("target")
    publish(desk / "link", b"new")
    assert (desk / "target").read_bytes() == b"target"
    assert not (desk / "link").is_symlink()


KILLED_WRITER = """
    import os, sys, time
    from pathlib import Path
    from agentic_os.files.publishing import publish

    def stop(*_args):
        print("ready", flush=True)
        time.sleep(600)

    setattr(os, sys.argv[2], stop)
    publish(Path(sys.argv[1]), b"new" * 1000)
"""


@pytest.mark.parametrize("step", ["fchmod", "fsync"])
def test_a_killed_writer_leaves_the_old_file(desk: Path, step: str) -> None:
    path = desk / "file"
    path.write_bytes(b"old")
    with child(KILLED_WRITER, str(path), step) as process:
        assert len(list(desk.iterdir())) == 2
        assert remove_leftovers(desk) == 0  # its writer still runs
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert path.read_bytes() == b"old"
    assert remove_leftovers(desk) == 1
    assert list(desk.iterdir()) == [path]
    publish(path, b"newer")
    assert path.read_bytes() == b"newer"


def test_only_leftovers_of_dead_writers_are_removed(desk: Path) -> None:
    dead = 2**31 - 1  # above any pid_max
    kept = [
        f".file.{os.getpid()}-00.partial",
        ".file.partial",
        ".file.-00.partial",
        ".file.x1-00.partial",
        f".file.{dead}-00.tmp",
        f"file.{dead}-00.partial",
        f".file.{dead}.partial",
    ]
    for name in kept:
        (desk / name).touch()
    for name in (f".file.{dead}-00.partial", f".a.b.{dead}-ff.partial", f".f.{10**30}-0.partial"):
        (desk / name).touch()
    assert remove_leftovers(desk) == 3
    assert sorted(path.name for path in desk.iterdir()) == sorted(kept)


def test_a_leftover_of_another_users_live_process_stays(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_allowed(*_args: object) -> NoReturn:
        raise PermissionError(errno.EPERM, "no")

    (desk / ".file.1-00.partial").touch()
    monkeypatch.setattr(os, "kill", not_allowed)
    assert remove_leftovers(desk) == 0


def test_leftovers_of_a_missing_folder_are_an_error(desk: Path) -> None:
    assert code_of(lambda: remove_leftovers(desk / "missing")) == "FILE_UNREADABLE"


def test_a_leftover_that_cannot_be_removed_is_not_counted(desk: Path) -> None:
    (desk / f".file.{2**31 - 1}-00.partial").mkdir()
    assert remove_leftovers(desk) == 0


# --- private folders --------------------------------------------------------------------


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777])
def test_a_private_folder_and_its_new_parents_are_private(desk: Path, mask: int) -> None:
    desk.chmod(0o755)
    with umask(mask):
        assert private_folder(desk / "a" / "b") == desk / "a" / "b"
    assert mode_of(desk / "a" / "b") == 0o700
    assert mode_of(desk / "a") == 0o700
    assert mode_of(desk) == 0o755


def test_an_existing_folder_is_narrowed_and_kept(desk: Path) -> None:
    (desk / "a").mkdir()
    (desk / "a").chmod(0o777)
    (desk / "a" / "kept").touch()
    private_folder(desk / "a")
    assert mode_of(desk / "a") == 0o700
    assert (desk / "a" / "kept").exists()


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_file_in_the_way_is_named(desk: Path, name: str) -> None:
    (desk / "file").touch()
    assert code_of(lambda: private_folder(desk / name)) == "NOT_A_FOLDER"


def test_another_users_folder_is_refused(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    desk.chmod(0o755)
    assert code_of(lambda: private_folder(desk)) == "FOLDER_NOT_OURS"
    assert mode_of(desk) == 0o755


def test_a_folder_that_cannot_be_made_is_refused(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert code_of(lambda: private_folder(desk / "a")) == "PUBLISH_FAILED"
    assert code_of(lambda: private_folder(desk / "nul\0")) == "PUBLISH_FAILED"


def test_a_folder_made_meanwhile_is_taken(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.mkdir

    def late(self: Path, mode: int = 0o777) -> None:
        real(self, mode)
        real(self, mode)  # as if another process had been faster

    monkeypatch.setattr(Path, "mkdir", late)
    private_folder(desk / "a")
    assert mode_of(desk / "a") == 0o700


# --- the lock ---------------------------------------------------------------------------

HOLDER = """
    import sys
    from pathlib import Path
    from agentic_os.files.publishing import ExclusiveLock

    with ExclusiveLock(Path(sys.argv[1])):
        print("ready", flush=True)
        sys.stdin.readline()
"""


def test_another_process_is_kept_out_and_named(desk: Path) -> None:
    lock = ExclusiveLock(desk / "lock")
    with child(HOLDER, str(desk / "lock")) as process:
        assert not lock.try_acquire()
        assert lock.holder() == process.pid
        with pytest.raises(FilesError, match=f"lock is held by process {process.pid}") as caught:
            lock.acquire(0.02)
        assert caught.value.code == "LOCK_BUSY"
        process.send_signal(signal.SIGKILL)  # a dead holder holds nothing
        process.wait()
        lock.acquire(0)
    assert lock.holder() == os.getpid()
    assert lock.held
    lock.release()


def test_a_waiting_process_gets_the_lock_when_it_is_released(desk: Path) -> None:
    lock = ExclusiveLock(desk / "lock")
    with child(HOLDER, str(desk / "lock")) as process:
        assert process.stdin is not None
        releaser = threading.Timer(0.05, process.stdin.close)
        releaser.start()
        lock.acquire(60)
        releaser.join()
    assert lock.held
    lock.release()


def test_two_locks_of_one_process_exclude_each_other(desk: Path) -> None:
    first, second = ExclusiveLock(desk / "lock"), ExclusiveLock(desk / "lock")
    assert first.try_acquire()
    assert not first.try_acquire()  # not reentrant
    assert not second.try_acquire()
    first.release()
    first.release()
    assert not first.held
    assert first.holder() is None
    assert second.try_acquire()
    second.release()


def test_the_lock_file_is_private_and_stays(desk: Path) -> None:
    with umask(0), ExclusiveLock(desk / "lock"):
        assert mode_of(desk / "lock") == 0o600
        assert (desk / "lock").read_text() == str(os.getpid())
    assert (desk / "lock").read_text() == ""


def test_with_keeps_a_lock_that_is_already_held(desk: Path) -> None:
    lock = ExclusiveLock(desk / "lock")
    assert lock.try_acquire()
    with lock as same:
        assert same is lock
        assert lock.held
    assert not lock.held


def test_with_waits_no_longer_than_it_was_told(desk: Path) -> None:
    with ExclusiveLock(desk / "lock"):
        late = ExclusiveLock(desk / "lock", timeout_s=0)
        assert code_of(late.__enter__) == "LOCK_BUSY"


def test_a_holder_without_a_name_is_another_process(desk: Path) -> None:
    with ExclusiveLock(desk / "lock"):
        (desk / "lock").write_text("gibberish")
        with pytest.raises(FilesError, match="held by another process"):
            ExclusiveLock(desk / "lock").acquire(0)


def test_a_deleted_lock_file_is_made_anew(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening and locking, the file at the path may become another."""
    path = desk / "lock"
    real = locking.take_flock
    deletions = iter([True, True, False])

    def delete_first(fd: int) -> bool:
        if next(deletions):
            path.unlink()
        return real(fd)

    monkeypatch.setattr(locking, "take_flock", delete_first)
    lock = ExclusiveLock(path)
    assert lock.try_acquire()
    assert path.read_text() == str(os.getpid())
    lock.release()


def test_a_replaced_lock_file_is_not_taken_for_ours(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = desk / "lock"
    real = locking.take_flock

    def replace(fd: int) -> bool:
        path.with_name("new").touch()
        path.with_name("new").replace(path)
        return real(fd)

    monkeypatch.setattr(locking, "take_flock", replace)
    assert not ExclusiveLock(path).try_acquire()


def test_a_forked_child_lets_go_of_its_copy_only(desk: Path) -> None:
    script = """
        import os, sys
        from pathlib import Path
        from agentic_os.files.publishing import ExclusiveLock

        lock = ExclusiveLock(Path(sys.argv[1]))
        assert lock.try_acquire()
        pid = os.fork()
        if pid == 0:
            assert not lock.held
            lock.release()
            os._exit(0)
        os.waitpid(pid, 0)
        assert lock.held
        print("ready", flush=True)
        sys.stdin.readline()
    """
    with child(script, str(desk / "lock")) as process:
        assert not ExclusiveLock(desk / "lock").try_acquire()
        assert ExclusiveLock(desk / "lock").holder() == process.pid


def test_a_release_frees_the_lock_though_a_child_still_has_the_handle(desk: Path) -> None:
    script = """
        import os, sys, time
        from pathlib import Path
        from agentic_os.files.publishing import ExclusiveLock

        lock = ExclusiveLock(Path(sys.argv[1]))
        assert lock.try_acquire()
        pid = os.fork()
        if pid == 0:
            sys.stdin.readline()
            os._exit(0)
        lock.release()
        print("ready", flush=True)
        os.waitpid(pid, 0)
    """
    with child(script, str(desk / "lock")) as process:
        lock = ExclusiveLock(desk / "lock")
        assert lock.try_acquire()
        lock.release()
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def test_an_unusable_lock_file_is_an_error_and_leaks_no_handle(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def broken(*_args: object) -> NoReturn:
        raise OSError(errno.ENOLCK, "no locks")

    (desk / "link").symlink_to("elsewhere")
    handles = len(list(Path("/dev/fd").iterdir()))
    for name in ("missing/lock", "link", "nul\0"):
        lock = ExclusiveLock(desk / name)
        assert code_of(lock.try_acquire) == "LOCK_UNUSABLE"
    monkeypatch.setattr(fcntl, "flock", broken)
    assert code_of(ExclusiveLock(desk / "lock").try_acquire) == "LOCK_UNUSABLE"
    assert len(list(Path("/dev/fd").iterdir())) == handles
    assert not (desk / "elsewhere").exists()


def test_a_platform_without_file_locks_is_refused(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert code_of(ExclusiveLock(desk / "lock").try_acquire) == "PLATFORM_UNSUPPORTED"


def test_the_holder_of_no_lock_file_is_nobody(desk: Path) -> None:
    assert ExclusiveLock(desk / "lock").holder() is None
