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
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Return whether a host name or an address stands for this machine."""
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def is_loopback_url(url: str) -> bool:
    """Return whether a URL leads to this machine; what is no URL does not."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host is not None and is_loopback(host)
