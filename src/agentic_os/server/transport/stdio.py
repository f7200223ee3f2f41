"""The server over stdio: a foreground process of the harness's own.

stdout carries the protocol alone: the library takes it over and points file descriptor 1 at
stderr, so whatever a dependency prints cannot break the session. The process ends when stdin
closes, when its parent dies, and with Ctrl-C.
"""

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

from agentic_os.errors import OperationInterruptedError
from agentic_os.server.application import make_application
from agentic_os.server.transport.wire import AnsweringStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentic_os.server.served import ServedPerson
    from agentic_os.server.tools.calls import Profile

PARENT_SECONDS = 2.0
"""How often the parent is looked for."""


def serve_stdio(make_served: "Callable[[], ServedPerson]", *, profile: "Profile" = "full") -> None:
    """Serve one session over stdin and stdout, until stdin closes.

    What answers is made by the first request that needs it.
    """
    import anyio

    # The thread that reads stdin would keep the process until the next line.
    before = signal.signal(signal.SIGINT, lambda *_: _leave(OperationInterruptedError.exit_code))
    _watch_parent(os.getppid())
    try:
        anyio.run(_serve, make_served, profile)
    finally:
        signal.signal(signal.SIGINT, before)
    # Threads that still look something up for an abandoned call are not waited for.
    _leave()


async def _serve(make_served: "Callable[[], ServedPerson]", profile: "Profile") -> None:
    from mcp.server.stdio import stdio_server

    application = make_application(make_served, profile=profile)
    async with stdio_server() as (incoming, outgoing):
        messages = AnsweringStream(incoming, outgoing)
        await application.run(messages, outgoing, application.create_initialization_options())


def _watch_parent(parent: int) -> None:
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_SECONDS)
        _leave()

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def _leave(code: int = 0) -> None:
    """End at once, and with it the engines that an abandoned call may still be asking."""
    processes = sys.modules.get("agentic_os.files.processes")
    if processes is not None:
        processes.end_all()
    os._exit(code)
