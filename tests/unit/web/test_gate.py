"""The rules of a request, each broken by itself, and a random mix of broken ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.web.gate import LOGIN_PATH, POLICY, Request, is_open, refusal, session_of

PORT = 8765
HOST = f"127.0.0.1:{PORT}"


def request(method: str = "GET", path: str = "/", **headers: str) -> Request:
    named = {name.replace("_", "-"): (value,) for name, value in headers.items()}
    return Request(method=method, path=path, headers={"host": (HOST,), **named})


def code(asked: Request) -> str:
    refused = refusal(asked, port=PORT)
    return "" if refused is None else f"{refused.status} {refused.code}"


@pytest.mark.parametrize(
    "host",
    [
        "example.org",
        "127.0.0.1",
        "127.0.0.1:80",
        f"127.0.0.1.example.org:{PORT}",
        f"localhost.:{PORT}",
        f"[::1]:{PORT}",
        f"127.0.0.1:{PORT} ",
        f"LOCALHOST:{PORT}",
        "",
    ],
)
def test_another_host_is_refused(host: str) -> None:
    assert code(request(host=host)) == "421 HOST_REFUSED"


def test_no_host_and_two_hosts_are_refused() -> None:
    for hosts in ((), (HOST, HOST)):
        asked = Request(method="GET", path="/", headers={"host": hosts})
        assert code(asked) == "421 HOST_REFUSED"


@pytest.mark.parametrize("origin", ["null", "http://example.org", f"https://{HOST}", "", "file://"])
def test_another_origin_is_refused(origin: str) -> None:
    assert code(request(origin=origin)) == "403 ORIGIN_REFUSED"
    assert code(request("POST", LOGIN_PATH, origin=origin)) == "403 ORIGIN_REFUSED"


def test_another_site_may_lead_to_the_login_and_to_nothing_else() -> None:
    assert code(request(path=LOGIN_PATH, sec_fetch_site="cross-site")) == ""
    for path in ("/", "/api/scan", "/login/", "/static/x"):
        assert code(request(path=path, sec_fetch_site="cross-site")) == "403 ORIGIN_REFUSED"
    assert code(request("POST", LOGIN_PATH, sec_fetch_site="same-site")) == "403 ORIGIN_REFUSED"
    assert code(request(sec_fetch_site="same-origin")) == code(request(sec_fetch_site="none")) == ""


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "get"])
def test_the_page_only_reads(method: str) -> None:
    assert code(request(method)) == "405 METHOD_REFUSED"


@pytest.mark.parametrize("length", ["4097", "-1", "1e3", "\uff11", "x", "9" * 400])
def test_a_large_or_odd_body_is_refused(length: str) -> None:
    assert code(request("POST", LOGIN_PATH, content_length=length)) == "413 BODY_REFUSED"


def test_a_body_without_a_length_is_refused() -> None:
    asked = request("POST", LOGIN_PATH, transfer_encoding="chunked")
    assert code(asked) == "413 BODY_REFUSED"


def test_what_needs_no_session() -> None:
    assert is_open("/login")
    assert is_open("/static/page.js")
    assert not any(map(is_open, ("/", "/api/scan", "/loginx", "/statics", "/api/static/x")))


def test_the_session_of_a_cookie() -> None:
    assert session_of(request(cookie="other=1; mine=abc"), "mine") == "abc"
    assert session_of(request(cookie="mine"), "mine") == ""
    assert session_of(request(), "mine") == ""


def test_the_policy_lets_nothing_in_line_and_nothing_foreign_run() -> None:
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert "default-src 'none'" in POLICY
    assert "require-trusted-types-for 'script'" in POLICY


@given(
    host=st.text(max_size=40),
    origin=st.text(max_size=40),
    method=st.sampled_from(["GET", "POST", "PUT"]),
    path=st.text(max_size=20),
)
def test_only_the_own_host_and_origin_ever_pass(
    host: str, origin: str, method: str, path: str
) -> None:
    asked = request(method, path, host=host, origin=origin)
    if refusal(asked, port=PORT) is None:
        assert host in {HOST, f"localhost:{PORT}"}
        assert origin in {f"http://{HOST}", f"http://localhost:{PORT}"}
        assert method == "GET" or path == LOGIN_PATH
