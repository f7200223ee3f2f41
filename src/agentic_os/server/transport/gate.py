"""Who may speak to the HTTP server: the token, Host and Origin, the rate of requests.

Host and Origin are read strictly, against DNS rebinding: the library accepts any text after the
colon of an allowed name, ``127.0.0.1:80@evil.example`` for one.
"""

import hmac
import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from agentic_os.network.rates import TokenBuckets

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST_REFUSED: Final = 421
ORIGIN_REFUSED: Final = 403
_EVERYBODY: Final = ""
"""One bucket for all who know the token: it is the person's own."""
_HOST = re.compile(r"(?P<name>[^:\[\]@/\s]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?")
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#\s]+)")
_MAX_PORT = 65_535


class Gate:
    """ASGI middleware: the token, Host and Origin, then the rate of requests."""

    def __init__(
        self,
        app: "ASGIApp",
        *,
        token: str,
        hosts: Sequence[str],
        scheme: str,
        requests_per_minute: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Guard ``app``; ``hosts`` are the names that it is reached by."""
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(host.lower() for host in hosts)
        self._scheme = scheme
        self._rates = TokenBuckets(limit=requests_per_minute, clock=clock)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Let a request through, or answer 401, 421, 403 or 429."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse

        refused = self._refusal(scope)
        if refused is None:
            await self._app(scope, receive, send)
            return
        status, text, headers = refused
        await PlainTextResponse(text, status, headers)(scope, receive, send)

    def _refusal(self, scope: "Scope") -> tuple[int, str, dict[str, str]] | None:
        if not self._knows_token(_values(scope, b"authorization")):
            return 401, "a bearer token is needed\n", {"WWW-Authenticate": "Bearer"}
        if not self._is_host(_values(scope, b"host")):
            return HOST_REFUSED, "this server has another name\n", {}
        if not self._is_origin(_values(scope, b"origin")):
            return ORIGIN_REFUSED, "pages of another origin are not answered\n", {}
        if self._rates.take(_EVERYBODY):
            return 429, "too many requests\n", {"Retry-After": "1"}
        return None

    def _knows_token(self, values: list[bytes]) -> bool:
        if len(values) != 1:
            return False
        scheme, _, token = values[0].partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)

    def _is_host(self, values: list[bytes]) -> bool:
        return len(values) == 1 and is_host(values[0].decode("latin-1"), self._hosts)

    def _is_origin(self, values: list[bytes]) -> bool:
        if not values:
            return True
        found = _ORIGIN.fullmatch(values[0].decode("latin-1"))
        return (
            len(values) == 1
            and found is not None
            and found["scheme"] == self._scheme
            and is_host(found["host"], self._hosts)
        )


def is_host(value: str, names: frozenset[str]) -> bool:
    """Tell whether a Host header is one of ``names``, with a port or without.

    >>> names = frozenset({"127.0.0.1", "[::1]"})
    >>> is_host("127.0.0.1:8765", names), is_host("[::1]", names)
    (True, True)
    >>> is_host("127.0.0.1:8765@evil.example", names), is_host("127.0.0.1:99999", names)
    (False, False)
    """
    found = _HOST.fullmatch(value)
    if found is None or found["name"].lower() not in names:
        return False
    return found["port"] is None or 0 < int(found["port"]) <= _MAX_PORT


def _values(scope: "Scope", name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]
