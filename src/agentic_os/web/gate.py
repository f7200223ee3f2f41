"""Who may ask the page, and the headers of every answer.

Rules, in this order; the first that a request breaks answers it (docs/explanation/trust.md):

1. ``Host`` is the page's own address, exactly: 421. It stops DNS rebinding.
2. ``Origin``, where given, is the page's own, and ``Sec-Fetch-Site`` says same-origin or none: 403.
   Only the login, which says nothing, may be come to from elsewhere: a browser is sent there.
3. Only GET, but for POST of a login: 405. Nothing here writes.
4. A body has at most 4 KiB: 413.
5. At most 1,200 requests a minute: 429.
6. Everything but the login and the static files needs a session: 401.

Every answer carries a policy under which the page runs no inline script, loads nothing from another
host, and makes no markup out of text.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final

from agentic_os.network.rates import TokenBuckets
from agentic_os.web.codes import ERRORS
from agentic_os.web.session import LoginDesk, cookie_name

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOGIN_PATH: Final = "/login"
STATIC_PATH: Final = "/static/"
MAX_BODY_BYTES: Final = 4_096
REQUESTS_PER_MINUTE: Final = 1_200
"""As many at once after a rest: a page asks half a dozen documents, and one more a key."""
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Final = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
)
_RAW_HEADERS: Final = tuple((name.lower().encode(), value.encode()) for name, value in HEADERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the rules look at of a request."""

    method: str
    path: str
    headers: Mapping[str, tuple[str, ...]]

    def only(self, name: str) -> str | None:
        """Return a header that is given once; None for none, and for several."""
        found = self.headers.get(name, ())
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why a request is refused: a status, a code of the table, and when to ask again."""

    status: int
    code: str
    wait_seconds: float = 0.0


def refusal(request: Request, *, port: int) -> Refused | None:
    """Return what rules 1 to 4 refuse; None for a request that may be looked at further."""
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    if request.only("host") not in hosts:
        return Refused(status=421, code="HOST_REFUSED")
    if _is_foreign(request, {f"http://{host}" for host in hosts}):
        return Refused(status=403, code="ORIGIN_REFUSED")
    is_login = request.path == LOGIN_PATH
    if request.method != "GET" and not (request.method == "POST" and is_login):
        return Refused(status=405, code="METHOD_REFUSED")
    length = request.only("content-length") or "0"
    is_small = length.isascii() and length.isdigit() and int(length) <= MAX_BODY_BYTES
    if not is_small or "transfer-encoding" in request.headers:
        return Refused(status=413, code="BODY_REFUSED")
    return None


def _is_foreign(request: Request, own: set[str]) -> bool:
    """Return whether another page asks; a browser may be sent to the login from anywhere."""
    if any(origin not in own for origin in request.headers.get("origin", ())):
        return True
    if request.method == "GET" and request.path == LOGIN_PATH:
        return False
    sites = request.headers.get("sec-fetch-site", ())
    return any(site not in {"same-origin", "none"} for site in sites)


def session_of(request: Request, name: str) -> str:
    """Return the session that a request's cookie names; empty for none."""
    for header in request.headers.get("cookie", ()):
        try:
            cookies = SimpleCookie(header)
        except CookieError:
            continue
        if name in cookies:
            return cookies[name].value
    return ""


def is_open(path: str) -> bool:
    """Return whether a path is answered without a session: the login, and what it loads."""
    return path == LOGIN_PATH or path.startswith(STATIC_PATH)


class Gate:
    """ASGI middleware that applies the rules and sets the headers."""

    def __init__(
        self,
        app: "ASGIApp",
        *,
        port: int,
        desk: LoginDesk,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Guard ``app``, which is served on ``port``."""
        self._app = app
        self._port = port
        self._desk = desk
        self._rates = TokenBuckets(limit=REQUESTS_PER_MINUTE, clock=clock)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Let a request through, or refuse it with its code."""
        if scope["type"] != "http":
            # Starting and stopping pass; a web socket gets no answer.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        request = request_of(scope)
        refused = self._refused(request)

        async def guarded(message: "Message") -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_RAW_HEADERS]
            await send(message)

        if refused is None:
            await self._app(scope, receive, guarded)
        else:
            await _response(refused, request)(scope, receive, guarded)

    def _refused(self, request: Request) -> Refused | None:
        if refused := refusal(request, port=self._port):
            return refused
        session = session_of(request, cookie_name(self._port))
        is_known = bool(session) and self._desk.knows(session)
        # Whoever has no session shares one bucket: guessing codes costs the guessers alone.
        if wait := self._rates.take(session if is_known else ""):
            return Refused(status=429, code="RATE_LIMITED", wait_seconds=wait)
        if is_known or is_open(request.path):
            return None
        return Refused(status=401, code="LOGIN_NEEDED")


def request_of(scope: "Scope") -> Request:
    """Return what the rules look at of an ASGI scope."""
    headers: dict[str, tuple[str, ...]] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        headers[key] = (*headers.get(key, ()), value.decode("latin-1"))
    return Request(method=scope["method"], path=scope["path"], headers=headers)


def _response(refused: Refused, request: Request) -> "ASGIApp":
    from starlette.responses import JSONResponse, RedirectResponse

    if refused.code == "LOGIN_NEEDED" and not request.path.startswith("/api/"):
        return RedirectResponse(LOGIN_PATH, 303, {"Cache-Control": "no-store"})

    row = ERRORS[refused.code]
    error = {"code": row.code, "message": row.meaning, "hint": row.hint}
    headers = {"Retry-After": str(int(refused.wait_seconds) + 1)} if refused.wait_seconds else {}
    body = {"schema": "agentic-os/page/v1", "data": None, "error": error}
    return JSONResponse(body, refused.status, {"Cache-Control": "no-store", **headers})
