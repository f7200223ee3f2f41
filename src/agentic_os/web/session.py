"""How a browser becomes the person's: a one-time code in the address, exchanged for a cookie.

Rules, in this order:

1. A code is 32 random bytes, valid once and for two minutes. It travels in the fragment of the
   address, which no browser sends in a request line and no log shows.
2. The cookie is ``HttpOnly``, ``SameSite=Strict``, for this host alone. Cookies are shared by all
   ports of a host, so its name has the port in it.
3. Codes and sessions live in memory: they end with the process.

Example:
    >>> desk = LoginDesk(clock=lambda: 0.0)
    >>> code = desk.new_code()
    >>> session = desk.exchange(code)
    >>> desk.knows(session), desk.exchange(code)
    (True, None)
"""

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from typing import Final

CODE_BYTES: Final = 32
CODE_SECONDS: Final = 120.0
MAX_SESSIONS: Final = 32
"""Browsers that are logged in at once; the oldest is logged out."""
MAX_CODES: Final = 32


class LoginDesk:
    """Hand out codes, take them back for sessions, and know the sessions."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with nobody logged in."""
        self._clock = clock
        self._lock = threading.Lock()
        self._codes: dict[str, float] = {}
        self._sessions: list[str] = []

    def new_code(self) -> str:
        """Return a code for one login."""
        code = secrets.token_urlsafe(CODE_BYTES)
        with self._lock:
            self._codes[code] = self._clock() + CODE_SECONDS
            while len(self._codes) > MAX_CODES:
                del self._codes[next(iter(self._codes))]
        return code

    def exchange(self, code: str) -> str | None:
        """Return a new session for a valid code, which is used up; None for any other."""
        with self._lock:
            known = next((one for one in self._codes if _equal(one, code)), None)
            if known is None or self._codes.pop(known) < self._clock():
                return None
            session = secrets.token_urlsafe(CODE_BYTES)
            self._sessions.append(session)
            del self._sessions[:-MAX_SESSIONS]
            return session

    def knows(self, session: str) -> bool:
        """Return whether a session is logged in."""
        with self._lock:
            return any(_equal(one, session) for one in self._sessions)


def cookie_name(port: int) -> str:
    """Return the name of the session's cookie on a port."""
    return f"agentic_os_{port}"


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "replace"))
