"""Runs the command line under an audit hook that writes down every change below a root.

Started as a script: ``watched.py RECORD ROOT -- ARGUMENTS``. The record gets one line for every
event that would change something below ROOT, start a process anywhere, or open one of the paths
named in the variable ``WATCHED_CLOSED`` (one a line).
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
STARTS = (
    "subprocess.Popen",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "pty.spawn",
)
# Event: the places of its paths and of their folder handles among its arguments.
CHANGES = {
    "os.chflags": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((0, 2), (1, 3)),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.removexattr": ((0, None),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.setxattr": ((0, None),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
    "shutil.chown": ((0, None),),
    "shutil.rmtree": ((0, None),),
    "sqlite3.connect": ((0, None),),
}


def handle_path(handle: int) -> str:
    """The path of an open handle."""
    if sys.platform == "darwin":
        import fcntl

        return os.fsdecode(fcntl.fcntl(handle, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    return str(Path(f"/proc/self/fd/{handle}").readlink())


def absolute(path: Any, folder: int | None) -> str:
    """The path an event means, links above its last part resolved."""
    if isinstance(path, int):
        return handle_path(path)
    place = Path(os.fsdecode(path))
    if not place.is_absolute():
        base = Path(handle_path(folder)) if folder is not None and folder >= 0 else Path.cwd()
        place = base / place
    return str(place.parent.resolve() / place.name)


class Watch:
    """Decides about events and writes down those that count."""

    def __init__(self, record: Path, root: Path, closed: frozenset[str]) -> None:
        self.record = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.root = os.path.realpath(root)
        self.closed = closed
        self.opening: int | None = None
        self.busy = False

    def below(self, path: Any, folder: int | None) -> bool:
        place = absolute(path, folder)
        return place == self.root or place.startswith(self.root + os.sep)

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        os.write(self.record, f"{event} {arguments!r}\n".encode("utf-8", "backslashreplace"))

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.busy:
            return
        self.busy = True
        try:
            if self.counts(event, arguments):
                self.note(event, arguments)
        finally:
            self.busy = False

    def counts(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event in STARTS:
            return True
        if event == "open":
            return self.opens(*arguments)
        if event not in CHANGES:
            return False
        return any(
            self.below(arguments[path], None if folder is None else arguments[folder])
            for path, folder in CHANGES[event]
        )

    def opens(self, path: Any, mode: str | None, flags: int) -> bool:
        folder, self.opening = self.opening, None
        if path is None or isinstance(path, int):
            return False
        place = absolute(path, folder)
        if place in self.closed:
            return True
        writes = bool(flags & WRITES) or (mode is not None and not set(mode).isdisjoint("wax+"))
        return writes and self.below(path, folder)

    def remembering(self, real: Callable[..., int]) -> Callable[..., int]:
        """``os.open`` that tells the hook its folder handle, which the event leaves out."""

        def opened(path: Any, flags: int, *more: Any, dir_fd: int | None = None) -> int:
            self.opening = dir_fd
            return real(path, flags, *more, dir_fd=dir_fd)

        return opened


def main() -> int:
    """Watch the command line, or a file of Python where the first argument is one."""
    record, root, dashes, *arguments = sys.argv[1:]
    assert dashes == "--"
    closed = frozenset(os.environ.get("WATCHED_CLOSED", "").splitlines())
    watch = Watch(Path(record), Path(root), closed)
    os.supports_dir_fd.add(opened := watch.remembering(os.open))
    os.open = opened
    sys.addaudithook(watch.hook)
    if arguments[0].endswith(".py"):
        exec(compile(Path(arguments[0]).read_text(), arguments[0], "exec"), {"root": root})  # noqa: S102 - the test's own script
        return 0
    from agentic_os.cli.entry import main as command_line

    return command_line(arguments)


if __name__ == "__main__":
    sys.exit(main())
