"""Stops a writer before its n-th change of the disk, and runs writers side by side."""

import os
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import partial

from agentic_os.aios.folder.system import System

_CHANGES = (
    "create",
    "write",
    "truncate",
    "narrow",
    "sync",
    "rename",
    "link",
    "unlink",
    "make_folder",
    "remove_folder",
    "open_appending",
)


class StoppingSystem(System):
    """A system that kills its process before the n-th call, from 0."""

    def __init__(self, stop_at: int) -> None:
        self.left = stop_at


def _stopping(name: str) -> Callable[..., object]:
    def call(self: StoppingSystem, *args: object) -> object:
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1
        return getattr(System, name)(self, *args)

    return call


for _name in _CHANGES:
    setattr(StoppingSystem, _name, _stopping(_name))


def spawn(action: Callable[[], object]) -> int:
    """Run an action in a child process and return its process id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads of the runner
        pid = os.fork()
    if pid:
        return pid
    code = 0
    try:
        action()
    except BaseException:  # noqa: BLE001 - a child reports whatever it was
        traceback.print_exc()
        code = 1
    os._exit(code)


def stopped_at_every_step(
    prepare: Callable[[], object], action: Callable[[System], object]
) -> Iterator[int]:
    """Prepare, stop the action before its n-th step, and yield n; ends when it ran through."""
    step = 0
    while True:
        prepare()
        pid = spawn(partial(action, StoppingSystem(step)))
        status = os.waitpid(pid, 0)[1]
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0
            assert step > 0
            return
        yield step
        step += 1


def side_by_side(*actions: Callable[[], object]) -> None:
    """Run actions in processes of their own; each must succeed."""
    pids = [spawn(action) for action in actions]
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * len(pids)
