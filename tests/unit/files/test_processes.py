import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentic_os.files import processes

SLEEPS = "import time; time.sleep(600)"
DAEMON = """
import os, sys, time
ready = sys.argv[1]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        open(ready + ".new", "w").write(str(os.getpid()))
        os.rename(ready + ".new", ready)
        time.sleep(600)
    os._exit(0)
while not os.path.exists(ready):
    time.sleep(0.01)
"""
"""Leaves a process behind that has another session, another parent and no pipe of ours."""


def python(code: str, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code, *words)


def ran(code: str, *words: str, seconds: float = 30.0, limit: int = 1_000) -> processes.Finished:
    return processes.run(
        python(code, *words),
        environ=os.environ,
        seconds=seconds,
        limit_bytes=limit,
        with_errors=True,
    )


def gone(pid: int) -> bool:
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_what_a_program_says_and_how_it_ends() -> None:
    done = ran("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")

    assert (done.status, done.output, done.errors, done.cut) == (3, b"out\n", b"err\n", False)


def test_its_words_on_stderr_are_read_only_if_asked_for() -> None:
    code = "import sys; print('err', file=sys.stderr); print('out')"

    done = processes.run(python(code), environ=os.environ, seconds=30, limit_bytes=10)

    assert (done.output, done.errors) == (b"out\n", b"")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_says_too_much_is_cut_and_ended(stream: str) -> None:
    code = f"import sys\nwhile True: sys.{stream}.write('x' * 65536)"

    done = ran(code, limit=100)

    assert done.cut
    assert len(done.output) + len(done.errors) == 100


def test_what_takes_too_long_is_ended() -> None:
    with pytest.raises(TimeoutError):
        ran(SLEEPS, seconds=0.3)

    assert processes._running == {}


def test_the_environment_is_what_was_given_and_a_mark() -> None:
    code = f"import os; print(os.environ.pop({processes.MARK!r}) != ''); print(sorted(os.environ))"

    done = processes.run(
        python(code), environ={"LC_CTYPE": "C.UTF-8", "A": "1"}, seconds=30, limit_bytes=1_000
    )

    assert done.output.decode().split("\n")[:2] == ["True", "['A', 'LC_CTYPE']"]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="other systems hide environments")
def test_a_daemon_that_left_its_session_is_ended(tmp_path: Path) -> None:
    ready = tmp_path / "daemon"

    done = ran(DAEMON, str(ready))

    assert done.status == 0
    assert gone(int(ready.read_text()))


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="other systems hide environments")
def test_a_service_that_ran_before_is_left_alone(tmp_path: Path) -> None:
    service = subprocess.Popen(python(SLEEPS), start_new_session=True)
    other = processes.start(python(SLEEPS), environ=os.environ)
    try:
        ran(DAEMON, str(tmp_path / "daemon"))

        assert service.poll() is None
        assert other.process.poll() is None
    finally:
        service.kill()
        service.wait()
        processes.end(other)


def test_every_child_can_be_ended_at_once() -> None:
    children = [processes.start(python(SLEEPS), environ=os.environ) for _ in range(2)]

    processes.end_all()

    assert [child.process.wait(30) for child in children] == [-9, -9]
    processes.end_all()  # who is gone already is no fault
    for child in children:
        processes.end(child)
    assert processes._running == {}


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        processes.run(("/nonexistent/x",), environ={}, seconds=1, limit_bytes=1)
    assert processes._running == {}
