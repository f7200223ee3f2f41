"""Whether the process that left a file or a lock behind is still there."""

import os


def is_running(pid: int) -> bool:
    """Whether a process of that id is there, whoever owns it."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
