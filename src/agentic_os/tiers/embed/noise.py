"""Keeps what libraries print away from stdout, which carries data and the MCP protocol."""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def noise_aside() -> Iterator[None]:
    """Send what Python code prints to stderr while the block runs, and quieten log warnings.

    Handles are not swapped: another thread may be speaking a protocol on them. The libraries
    used here print from Python alone; a test watches the process's real stdout.
    """
    root = logging.getLogger()
    silent = logging.NullHandler()  # logging.warning() would install a handler of its own
    before = logging.root.manager.disable
    root.addHandler(silent)
    logging.disable(max(before, logging.WARNING))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        logging.disable(before)
        root.removeHandler(silent)


def stay_offline() -> None:
    """Tell hub libraries to fetch nothing, unless the person's environment says otherwise.

    To be called before they are imported: they read the variable once.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
