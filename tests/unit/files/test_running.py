"""Whether a process is still there."""

import os
import subprocess
import sys

from agentic_os.files.running import is_running


def test_a_process_is_there_until_it_is_waited_for() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_running(child.pid)
    assert is_running(os.getpid())
    child.communicate(b"\n")
    assert not is_running(child.pid)
    assert not is_running(2**40)
