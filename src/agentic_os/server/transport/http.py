"""The server over streamable HTTP: separately gated, on loopback only unless told otherwise.

Every request needs the bearer token; ``Host`` and ``Origin`` are checked against DNS rebinding;
bodies, sessions and the rate of requests are bounded. Another address than loopback needs an
explicit flag and TLS files. OAuth is not here: its place is the library's ``token_verifier``, which
would stand where ``gate.Gate`` stands.
"""

import secrets
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agentic_os.errors import AgenticOSError
from agentic_os.files.publishing import private_folder, publish
from agentic_os.files.reading import Folder
from agentic_os.network.addresses import is_loopback
from agentic_os.server.application import make_application
from agentic_os.server.codes import ERRORS
from agentic_os.server.transport.bodies import ReadableBodies
from agentic_os.server.transport.connections import bounded_protocol
from agentic_os.server.transport.gate import Gate
from agentic_os.server.transport.sessions import SessionBound

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette

    from agentic_os.server.served import ServedPerson
    from agentic_os.server.tools.calls import Profile

MCP_PATH: Final = "/mcp"
MAX_BODY_BYTES: Final = 1_048_576
MAX_SESSIONS: Final = 64
IDLE_SECONDS: Final = 1_800.0
REQUESTS_PER_MINUTE: Final = 600
BACKLOG: Final = 128
KEEP_ALIVE_SECONDS: Final = 75
"""How long an idle connection is kept, so that a client that reuses one does not find it closed."""
TOKEN_BYTES: Final = 32
TOKEN_FILE_BYTES: Final = 4_096
TOKEN_NAME: Final = "mcp-token"  # noqa: S105 - the name of a file
MIN_TOKEN_CHARS: Final = 16
_KEY_FORBIDDEN: Final = 0o027
"""A group may read a key, as `ssl-cert` on Debian does; nobody else may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """How the server listens.

    ``remote`` allows another address than loopback; then both TLS files are needed and ``hosts``
    names the values of ``Host`` that are accepted.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    remote: bool = False
    certificate: Path | None = None
    private_key: Path | None = None
    hosts: tuple[str, ...] = ()
    requests_per_minute: int = REQUESTS_PER_MINUTE


def check_options(options: HttpOptions) -> None:
    """Refuse an address that is not loopback without the flag and TLS, and unusable TLS files.

    Raises:
        UsageError: ``BIND_REFUSED``.
        ServerError: ``TLS_INVALID``.
    """
    has_tls = options.certificate is not None and options.private_key is not None
    if not is_loopback(options.host) and not (options.remote and has_tls):
        raise ERRORS.error("BIND_REFUSED")
    if (options.certificate is None) != (options.private_key is None):
        raise ERRORS.error("TLS_INVALID", "the TLS certificate and its key are needed together")
    if options.certificate is not None and options.private_key is not None:
        _check_tls(options.certificate, options.private_key)


def _check_tls(certificate: Path, key: Path) -> None:
    import ssl

    for name, path in (("certificate", certificate), ("key", key)):
        try:
            with path.open("rb") as file:
                file.read(1)
        except OSError as fault:
            raise ERRORS.error(
                "TLS_INVALID", f"the TLS {name} cannot be read: {fault.strerror}"
            ) from None
    if key.stat().st_mode & _KEY_FORBIDDEN:
        raise ERRORS.error("TLS_INVALID", "the TLS key can be read or changed by others")
    try:
        # Without a password given here, an encrypted key would ask on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, lambda: "")
    except (ssl.SSLError, OSError, ValueError):
        raise ERRORS.error(
            "TLS_INVALID", "the TLS files are no PEM certificate with its unencrypted key"
        ) from None


def open_socket(host: str, port: int) -> socket.socket:
    """Take the address, so that nothing is said of listening that is not true.

    Raises:
        ServerError: ``LISTEN_FAILED``.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM
        )[0]
        opened = socket.socket(family, kind, protocol)
    except OSError as fault:
        raise _not_listening(host, port, fault) from None
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(BACKLOG)
    except OSError as fault:
        opened.close()
        raise _not_listening(host, port, fault) from None
    return opened


def _not_listening(host: str, port: int, fault: OSError) -> AgenticOSError:
    return ERRORS.error("LISTEN_FAILED", f"cannot listen on {host}:{port}: {fault.strerror}")


def read_token(state: Path, given: Path | None = None) -> str:
    """Read the bearer token from the given file, else the state folder; make it there if missing.

    Raises:
        ServerError: ``TOKEN_INVALID``: missing, too short, or open to others.
        FilesError: it cannot be read or written.
    """
    path = state / TOKEN_NAME if given is None else given
    if given is None and not path.exists():
        private_folder(state)
        publish(path, secrets.token_urlsafe(TOKEN_BYTES).encode("ascii"))
    try:
        mode = path.stat().st_mode
    except OSError:
        raise ERRORS.error("TOKEN_INVALID", "the token file cannot be read") from None
    if mode & 0o077:
        raise ERRORS.error(
            "TOKEN_INVALID", "the token file is readable by others", hint="Run chmod 600 on it."
        )
    with Folder.open(path.parent) as folder:
        data = folder.read(path.name, limit_bytes=TOKEN_FILE_BYTES).data
    token = data.decode("ascii", "replace").strip()
    if len(token) < MIN_TOKEN_CHARS:
        raise ERRORS.error(
            "TOKEN_INVALID",
            f"the token has fewer than {MIN_TOKEN_CHARS} characters",
            hint="Delete the file, and a token is made.",
        )
    return token


def make_http_app(
    make_served: "Callable[[], ServedPerson]",
    options: HttpOptions,
    token: str,
    *,
    profile: "Profile" = "full",
) -> "Starlette":
    """Make the guarded ASGI application of one person."""
    return guarded(make_application(make_served, profile=profile), options, token)


def guarded(application: "Server[Any]", options: HttpOptions, token: str) -> "Starlette":
    """Put an MCP application behind every guard of this package."""
    from mcp.server.transport_security import TransportSecuritySettings

    names = options.hosts or ("127.0.0.1", "localhost", "[::1]")
    scheme = "https" if options.certificate else "http"
    app = application.streamable_http_app(
        streamable_http_path=MCP_PATH,
        max_request_body_size=MAX_BODY_BYTES,
        session_idle_timeout=IDLE_SECONDS,
        max_sessions=MAX_SESSIONS,
        # Gate checks Host and Origin, and more strictly than the library.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        host=options.host,
    )
    app.add_middleware(ReadableBodies, most_bytes=MAX_BODY_BYTES)
    app.add_middleware(SessionBound, most=MAX_SESSIONS)
    app.add_middleware(
        Gate,
        token=token,
        hosts=names,
        scheme=scheme,
        requests_per_minute=options.requests_per_minute,
    )
    return app


def serve_http(
    make_served: "Callable[[], ServedPerson]",
    options: HttpOptions,
    token: str,
    *,
    profile: "Profile" = "full",
) -> None:
    """Serve in the foreground until SIGTERM or Ctrl-C.

    Raises:
        UsageError: ``BIND_REFUSED``.
        ServerError: ``TLS_INVALID``, ``LISTEN_FAILED``.
    """
    import uvicorn

    check_options(options)
    opened = open_socket(options.host, options.port)
    scheme = "https" if options.certificate else "http"
    port = opened.getsockname()[1]

    class Server(uvicorn.Server):
        """Says that it listens once it does."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            with suppress(OSError):  # nobody may be there to read it
                sys.stderr.write(f"listening on {scheme}://{options.host}:{port}{MCP_PATH}\n")
                sys.stderr.flush()

    server = Server(
        uvicorn.Config(
            make_http_app(make_served, options, token, profile=profile),
            ssl_certfile=None if options.certificate is None else str(options.certificate),
            ssl_keyfile=None if options.private_key is None else str(options.private_key),
            log_level="error",
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            http=bounded_protocol(),
            timeout_graceful_shutdown=5,
        )
    )
    with opened:
        server.run(sockets=[opened])
