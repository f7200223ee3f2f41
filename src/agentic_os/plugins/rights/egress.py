"""The way out for guests: https to one granted host, at an address that was looked at (section 16).

The name is resolved once, every address is checked, and the connection goes to one of them: what
a name means cannot change between check and use. No proxy, no cookies, no redirects.
"""

import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from agentic_os.plugins.rights.effects import ANSWER_BYTES
from agentic_os.plugins.rights.ports import Incoming, OperationFailed, Outgoing

ADDRESSES: Final = 16
_SHOWN_HEADERS: Final = ("content-type", "etag", "last-modified", "location", "retry-after")


def resolved(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))[:ADDRESSES]


def is_public(address: str) -> bool:
    """Return whether an address is one of the world's, not of this machine or its networks.

    >>> is_public("93.184.215.14"), is_public("127.0.0.1"), is_public("::ffff:10.0.0.1")
    (True, False, False)
    """
    parsed = ipaddress.ip_address(address)
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    found = mapped or parsed
    return found.is_global and not found.is_multicast


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedEgress:
    """Fetches over https from addresses that were checked."""

    resolve: Callable[[str, int], Sequence[str]] = resolved
    allowed: Callable[[str], bool] = is_public
    trust: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    def fetch(self, request: Outgoing) -> Incoming:
        """Ask one host once.

        Raises:
            OperationFailed: ``OPERATION_TARGET_INVALID``, ``NET_REMOTE_OUTCOME_FAILED``,
                ``NET_RESPONSE_TOO_LARGE``.
        """
        import httpx

        address = self._address(request)
        deadline = time.monotonic() + request.seconds
        bracketed = f"[{address}]" if ":" in address else address
        # The certificate is the name's, although the connection goes to the address.
        try:
            with (
                httpx.Client(verify=self.trust, trust_env=False, timeout=request.seconds) as client,
                client.stream(
                    request.method,
                    f"https://{bracketed}:{request.port}{request.path}",
                    content=request.body or None,
                    headers={**request.headers, "Host": _host(request)},
                    extensions={"sni_hostname": request.host},
                ) as response,
            ):
                body = bytearray()
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > ANSWER_BYTES:
                        raise OperationFailed(
                            "NET_RESPONSE_TOO_LARGE", f"more than {ANSWER_BYTES} bytes"
                        )
                    if time.monotonic() > deadline:
                        raise _failed("it took too long")
                headers = {
                    name: response.headers[name]
                    for name in _SHOWN_HEADERS
                    if name in response.headers
                }
                return Incoming(status=response.status_code, headers=headers, body=bytes(body))
        except httpx.HTTPError as fault:
            raise _failed(type(fault).__name__) from None

    def _address(self, request: Outgoing) -> str:
        try:
            addresses = self.resolve(request.host, request.port)
        except OSError:
            raise _failed("the name is not known") from None
        if not addresses or not all(map(self.allowed, addresses)):
            raise OperationFailed(
                "OPERATION_TARGET_INVALID", "the host is none of the public internet"
            )
        return addresses[0]


def _host(request: Outgoing) -> str:
    return request.host if request.port == 443 else f"{request.host}:{request.port}"  # noqa: PLR2004


def _failed(why: str) -> OperationFailed:
    return OperationFailed("NET_REMOTE_OUTCOME_FAILED", why)
