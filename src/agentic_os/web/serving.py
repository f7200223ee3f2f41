"""Run the page in the foreground: a port of this machine, a login, until Ctrl-C."""

import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Final

from agentic_os.web.application import make_application
from agentic_os.web.codes import ERRORS
from agentic_os.web.live import Watcher
from agentic_os.web.served import Served
from agentic_os.web.session import LoginDesk
from agentic_os.web.shells import read_build

HOST: Final = "127.0.0.1"
HTTP_PARSER: Final = "h11"
_REDIRECT = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={}">'


def serve_page(
    served: Served, *, port: int, open_browser: bool, say: Callable[[str], None]
) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        served: whose fleet, folder and identity.
        port: where; 0 takes a free one.
        open_browser: whether the person's browser is opened at the login.
        say: prints a line of words.

    Raises:
        ServerError: ``PORT_IN_USE``, ``PAGE_NOT_BUILT``.
    """
    import uvicorn

    build = read_build()
    desk = LoginDesk()
    watcher = Watcher(served.sweep)
    with listening(port) as socket_:
        bound: int = socket_.getsockname()[1]
        app = make_application(served, port=bound, desk=desk, build=build, watcher=watcher)
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                http=HTTP_PARSER,
                log_level="warning",
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=2,
            )
        )

        def invite() -> str:
            return f"http://{HOST}:{bound}/login#{desk.new_code()}"

        say(f"The page is served at http://{HOST}:{bound}/ until Ctrl-C.")
        say(f"Log a browser in, once, within two minutes: {invite()}")
        with tempfile.TemporaryDirectory(prefix="agentic-os-") as folder:
            if open_browser:
                _open(invite(), Path(folder))
            if sys.stdin.isatty():
                say("Enter prints another address, for another browser.")
                threading.Thread(target=_invite_on_enter, args=(invite, say), daemon=True).start()
            server.run(sockets=[socket_])


def listening(port: int) -> socket.socket:
    """Return a socket that listens on loopback.

    Raises:
        ServerError: ``PORT_IN_USE``.
    """
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen(128)
    except OSError as fault:
        made.close()
        said = f"port {port} of this machine cannot be used: {fault.strerror}"
        raise ERRORS.error("PORT_IN_USE", said) from None
    return made


def _open(address: str, folder: Path) -> None:
    """Open the browser by a private file, so that no list of processes shows the code."""
    page = folder / "login.html"
    page.touch(mode=0o600)
    page.write_text(_REDIRECT.format(address), "utf-8")
    webbrowser.open(page.as_uri())


def _invite_on_enter(invite: Callable[[], str], say: Callable[[str], None]) -> None:
    for _line in sys.stdin:
        say(invite())
