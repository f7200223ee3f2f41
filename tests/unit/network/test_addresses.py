"""Which addresses belong to this machine."""

import doctest

import pytest

from agentic_os.network import addresses
from agentic_os.network.addresses import Networks, is_loopback, is_loopback_url, share_of


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.1", "::1", "[::1]", "::ffff:127.0.0.1"]
)
def test_of_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["", "example.org", "localhost.example.org", "10.0.0.1", "::", "192.0.2.1", "127.1"]
)
def test_of_another_machine(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("url", ["http://[::1]:80/x", "https://localhost/", "HTTP://127.0.0.1:1"])
def test_url_of_this_machine(url: str) -> None:
    assert is_loopback_url(url)


@pytest.mark.parametrize(
    "url",
    ["", "localhost", "http://", "http://[", "http://127.0.0.1@example.org", "http://a.localhost"],
)
def test_url_of_another_machine(url: str) -> None:
    assert not is_loopback_url(url)


def test_the_example_in_the_head_runs() -> None:
    assert doctest.testmod(addresses).failed == 0


def test_an_ipv4_address_that_came_by_ipv6_lies_in_the_networks_of_ipv4() -> None:
    assert "::ffff:10.0.0.1" in Networks.read(["10.0.0.0/8"])
    assert "::1" not in Networks.read(["127.0.0.0/8"])


@pytest.mark.parametrize(
    ("address", "share"),
    [
        ("fe80::1%eth0", "fe80::/64"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("unix", "unix"),
        ("", ""),
    ],
)
def test_what_an_address_is_counted_as(address: str, share: str) -> None:
    assert share_of(address) == share
