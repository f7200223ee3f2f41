"""The server over streamable HTTP: separately gated, on loopback only unless told otherwise.

Every request needs the bearer token; ``Host`` and ``Origin`` are checked against DNS rebinding;
bodies, sessions and the rate of requests are bounded. Another address than loopback needs an
explicit flag and TLS files. OAuth is not here: its place is the library's ``token_verifier``, which
would stand where ``Gate`` stands.
"""

import hmac
import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agentic_os.errors import ServerError, UsageError
from agentic_os.files.publishing import private_folder, publish
from agentic_os.files.reading import Folder
from agentic_os.network.addresses import is_loopback
from agentic_os.network.rates import TokenBuckets
from agentic_os.server.application import make_application

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

    from agentic_os.server.served import ServedPerson
    from agentic_os.server.tools.calls import Profile

MCP_PATH: Final = "/mcp"
_EVERYBODY: Final = ""
MAX_BODY_BYTES: Final = 1_048_576
MAX_SESSIONS: Final = 64
IDLE_SECONDS: Final = 1_800.0
REQUESTS_PER_MINUTE: Final = 600
HTTP_PARSER: Final = "h11"
"""Named: another that happens to be installed keeps blanks around values (RFC 9110, 5.5)."""
KEEP_ALIVE_SECONDS: Final = 75
"""How long an idle connection is kept, so that a client that reuses one does not find it closed."""
TOKEN_BYTES: Final = 32
TOKEN_FILE_BYTES: Final = 4_096
TOKEN_NAME: Final = "mcp-token"  # noqa: S105 - the name of a file
MIN_TOKEN_CHARS: Final = 16


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
    """Refuse an address that is not loopback without the flag and TLS.

    Raises:
        UsageError: ``BIND_REFUSED``.
    """
    if is_loopback(options.host):
        return
    if not options.remote or options.certificate is None or options.private_key is None:
        raise UsageError(
            "only loopback is served without --remote and TLS files",
            code="BIND_REFUSED",
            hint="Give --remote with --tls-certificate and --tls-key, or listen on 127.0.0.1.",
        )


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
        raise ServerError("the token file cannot be read", code="TOKEN_INVALID") from None
    if mode & 0o077:
        raise ServerError(
            "the token file is readable by others",
            code="TOKEN_INVALID",
            hint="Run chmod 600 on it.",
        )
    with Folder.open(path.parent) as folder:
        data = folder.read(path.name, limit_bytes=TOKEN_FILE_BYTES).data
    token = data.decode("ascii", "replace").strip()
    if len(token) < MIN_TOKEN_CHARS:
        raise ServerError(
            f"the token has fewer than {MIN_TOKEN_CHARS} characters", code="TOKEN_INVALID"
        )
    return token


class Gate:
    """ASGI middleware: the token, then the rate of requests."""

    def __init__(
        self,
        app: "ASGIApp",
        *,
        token: str,
        requests_per_minute: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Guard ``app``."""
        self._app = app
        self._token = token.encode()
        self._rates = TokenBuckets(per_minute=requests_per_minute, clock=clock)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Let a request through, or answer 401 or 429."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse

        if not self._knows(scope):
            refusal = PlainTextResponse(
                "a bearer token is needed\n", 401, {"WWW-Authenticate": "Bearer"}
            )
            await refusal(scope, receive, send)
        elif self._rates.take(_EVERYBODY):
            slow = PlainTextResponse("too many requests\n", 429, {"Retry-After": "1"})
            await slow(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _knows(self, scope: "Scope") -> bool:
        headers = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(headers) != 1:
            return False
        scheme, _, token = headers[0].partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)


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
    """Put an MCP application behind every guard of this module."""
    from mcp.server.transport_security import TransportSecuritySettings

    names = options.hosts or ("127.0.0.1", "localhost", "[::1]")
    scheme = "https" if options.certificate else "http"
    hosts = [*names, *(f"{name}:*" for name in names)]
    app = application.streamable_http_app(
        streamable_http_path=MCP_PATH,
        max_request_body_size=MAX_BODY_BYTES,
        session_idle_timeout=IDLE_SECONDS,
        max_sessions=MAX_SESSIONS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=hosts,
            allowed_origins=[f"{scheme}://{host}" for host in hosts],
        ),
        host=options.host,
    )
    app.add_middleware(Gate, token=token, requests_per_minute=options.requests_per_minute)
    return app


def serve_http(
    make_served: "Callable[[], ServedPerson]",
    options: HttpOptions,
    token: str,
    *,
    profile: "Profile" = "full",
) -> None:
    """Serve in the foreground until SIGTERM or Ctrl-C."""
    import uvicorn

    check_options(options)

    scheme = "https" if options.certificate else "http"
    sys.stderr.write(f"listening on {scheme}://{options.host}:{options.port}{MCP_PATH}\n")
    uvicorn.run(
        make_http_app(make_served, options, token, profile=profile),
        host=options.host,
        port=options.port,
        ssl_certfile=None if options.certificate is None else str(options.certificate),
        ssl_keyfile=None if options.private_key is None else str(options.private_key),
        log_level="warning",
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        http=HTTP_PARSER,
        timeout_graceful_shutdown=5,
    )
