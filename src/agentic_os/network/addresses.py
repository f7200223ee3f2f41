"""Which addresses belong to this machine.

Two decisions hang on that, for every client of the program: plain HTTP is spoken to this machine
alone, and this machine is never asked through a proxy, since a proxy of the environment's would
look for the service on its own loopback interface.

>>> is_loopback("127.0.0.1"), is_loopback("[::1]"), is_loopback("localhost")
(True, True, True)
>>> is_loopback_url("http://127.0.0.1:8787/w1"), is_loopback_url("http://127.0.0.1.example.org")
(True, False)
"""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Self
from urllib.parse import urlsplit

HOST_PREFIX_BITS = 64
ADDRESSES_KEPT = 4_096


def is_loopback(host: str) -> bool:
    """Return whether a host name or an address stands for this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return _plain(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_loopback_url(url: str) -> bool:
    """Return whether a URL leads to this machine; what is no URL does not."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host is not None and is_loopback(host)


@dataclass(frozen=True, slots=True)
class Networks:
    """A set of addresses and networks, such as the proxies that somebody trusts.

    >>> proxies = Networks.read(["10.0.0.0/8", "::1"])
    >>> "10.1.2.3" in proxies, "::1" in proxies, "192.0.2.1" in proxies
    (True, True, False)
    """

    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()

    @classmethod
    def read(cls, texts: Iterable[str]) -> Self:
        """Read addresses and networks.

        Raises:
            ValueError: one of them is neither.
        """
        return cls(tuple(ipaddress.ip_network(text) for text in texts))

    def __contains__(self, address: str) -> bool:
        """Return whether an address lies in one of them; what is no address does not."""
        try:
            parsed = _plain(address) if self.networks else None
        except ValueError:
            return False
        return any(parsed in network for network in self.networks)


@lru_cache(maxsize=ADDRESSES_KEPT)
def share_of(address: str) -> str:
    """Return what an address is counted as: an IPv6 host is given a /64, and may use all of it.

    >>> share_of("2001:db8::1:2"), share_of("::ffff:192.0.2.1"), share_of("192.0.2.1")
    ('2001:db8::/64', '192.0.2.1', '192.0.2.1')
    """
    try:
        parsed = _plain(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(ipaddress.IPv6Network((int(parsed), HOST_PREFIX_BITS), strict=False))


def _plain(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Read an address; an IPv4 address that came by IPv6 is one of IPv4."""
    parsed = ipaddress.ip_address(address)
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed


def client_address(peer: str, forwarded: Iterable[str], trusted: Networks) -> str:
    """Return whom a request comes from.

    Args:
        peer: the address at the other end of the connection.
        forwarded: the values of ``X-Forwarded-For``, in the order of the headers.
        trusted: proxies whose word counts.

    The last address that no trusted proxy has is the client: whatever stands before it the
    client may have written.

    >>> proxies = Networks.read(["127.0.0.1"])
    >>> client_address("127.0.0.1", ["1.2.3.4, 192.0.2.1"], proxies)
    '192.0.2.1'
    >>> client_address("192.0.2.9", ["1.2.3.4"], proxies)
    '192.0.2.9'
    """
    client = peer
    hops = [hop.strip() for value in forwarded for hop in value.split(",")]
    while client in trusted and hops:
        hop = hops.pop()
        try:
            client = str(ipaddress.ip_address(hop))
        except ValueError:
            break
    return client
