"""The page as a process: who may ask it, what it answers, and how it ends."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import jsonschema
import pytest

from support.fleet.builder import FleetBuilder
from support.process.cli_process import run
from support.process.document_check import PUBLISHED
from support.process.page import Page, served

SCHEMAS = (
    "scan",
    "doctor",
    "memory",
    "memory-differences",
    "vault",
    "capabilities",
    "index-status",
    "graph-stats",
    "graph-links",
)
EVIL = '<img src=x onerror="window.__pwned=1"><script>window.__pwned=1</script>\u202egnp.exe'


@pytest.fixture
def page(fleet: FleetBuilder) -> Iterator[Page]:
    shop = fleet.project("shop")
    shop.fact("rate", "The lighthouse sends 20 requests a second.\n")
    shop.fact("evil", EVIL)
    fleet.project("till").fact("rate", "The lighthouse sends 40 requests a second.\n")
    with served(fleet.root) as page:
        yield page


def test_a_code_logs_in_once_and_without_it_nothing_is_answered(page: Page) -> None:
    for path in ("/api/scan", "/api/events", "/api/nothing", "/open?project=x&path=y"):
        refused = page.client.get(path)
        assert refused.status_code == (303 if path.startswith("/open") else 401)
    assert page.client.get("/").status_code == 303
    assert page.client.get("/login").status_code == 200
    assert page.log_in("0" * 43) == 403
    assert page.log_in() == 204
    assert page.log_in() == 403
    assert page.client.get("/").status_code == 200
    cookie = next(iter(page.client.cookies.jar))
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "strict"


def test_other_hosts_origins_and_methods_are_refused(page: Page) -> None:
    page.log_in()

    def status(path: str = "/api/scan", *, method: str = "GET", **headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return page.client.request(method, path, headers=named).status_code

    assert status() == 200
    assert status(Host="evil.example") == 421
    assert status(Host=f"127.0.0.1.evil.example:{page.port}") == 421
    assert status(Origin="http://evil.example") == 403
    assert status(Origin=page.address) == 200
    assert status(Sec_Fetch_Site="cross-site") == 403
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"):
        assert status(method=method) == 405
        assert status("/", method=method) == 405
    assert page.client.post("/login", content=b"x" * 10_000).status_code == 413


def test_every_answer_carries_the_policy_and_no_permission_for_other_sites(page: Page) -> None:
    page.log_in()
    for path in ("/", "/graph", "/api/scan", "/api/nothing", "/nowhere", "/static/x", "/login"):
        answer = page.client.get(path)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert "server" not in answer.headers


def test_paths_lead_nowhere_else(page: Page) -> None:
    page.log_in()
    for path in (
        "/static/..%2fgate.py",
        "/static/../gate.py",
        "/static/names.json",
        "/api/../api/scan/x",
        "/api/%2e%2e/scan",
        "/api/scan%00",
        "/docs",
        "/openapi.json",
    ):
        assert page.client.get(path).status_code in {303, 404}, path


def test_the_documents_are_those_of_the_commands(page: Page, fleet: FleetBuilder) -> None:
    page.log_in()
    for name in SCHEMAS:
        document = page.ask(name)
        schema = json.loads((PUBLISHED / f"{name}.json").read_text("utf-8"))
        jsonschema.Draft202012Validator(schema).validate(document)
        words = name.replace("memory-differences", "memory --differences")
        command = [*words.replace("-", " ", 1).split()] if "--" not in words else words.split()
        printed = run(*command, "--root", fleet.root, "--json").document
        if name not in {"scan", "doctor", "index-status"}:
            assert document["data"] == printed["data"], name
    found = page.ask("search", q="lighthouse", limit=5)
    printed = run("search", "lighthouse", "--limit", "5", "--root", fleet.root, "--json").document
    keys = ("project", "path", "lines", "sha256", "confirmed", "score")
    assert [[hit[key] for key in keys] for hit in found["data"]["hits"]] == [
        [hit[key] for key in keys] for hit in printed["data"]["hits"]
    ]


def test_no_absolute_path_and_no_secret_leaves(page: Page, fleet: FleetBuilder) -> None:
    key = "ghp_" + "k7Qz2Vb9Xn4Lm8Rt6Yw3Pd5Hs1Jc0Fa2Gu7E"
    fleet.project("keys").fact("token", f"home is {Path.home()}/x and the lighthouse key {key}\n")
    page.log_in()
    answers = [page.client.get(f"/api/{name}").text for name in (*SCHEMAS, "identity")]
    answers += [page.client.get("/api/search", params={"q": "lighthouse"}).text]
    for text in answers:
        assert str(fleet.root) not in text
        assert str(Path.home()) not in text
        assert key not in text


def test_a_file_is_read_now_and_only_if_an_answer_may_name_it(
    page: Page, fleet: FleetBuilder
) -> None:
    page.log_in()
    hit = page.ask("search", q="lighthouse", project="shop")["data"]["hits"][0]
    asked = {"project": hit["project"], "path": hit["path"], "line": str(hit["lines"][0])}
    data = page.ask("file", **asked)["data"]
    assert any("lighthouse" in line for line in data["lines"])
    assert data["sha256"] == hit["sha256"]
    file = fleet.root / "shop" / hit["path"]
    file.write_text(file.read_text() + "a new last line\n")
    assert "a new last line" in page.ask("file", **asked)["data"]["lines"]
    sent = page.client.get("/open", params={**asked, "editor": "vscode"})
    assert sent.status_code == 303
    assert sent.headers["location"] == f"vscode://file{file}:{hit['lines'][0]}"
    for wrong in (
        {"path": "../till/.agents/config.yaml"},
        {"path": "/etc/passwd"},
        {"path": ".agents/config.yaml"},
        {"path": ".git/config"},
        {"project": "nothing"},
        {"line": "0"},
        {"editor": "javascript"},
    ):
        for path in ("/api/file", "/open"):
            answer = page.client.get(path, params={**asked, **wrong})
            expected = 200 if "editor" in wrong and path == "/api/file" else None
            assert answer.status_code == expected or answer.status_code in {400, 500}, (path, wrong)


def test_wrong_questions_are_named(page: Page) -> None:
    page.log_in()
    for path, name in (
        ("search", "q"),
        ("search?q=x&kind=y", "kind"),
        ("search?q=x&limit=0", "limit"),
        ("search?q=a&q=b", "q"),
        ("graph-view?x0=nan", "x0"),
        ("graph-path?name=a", "to"),
        ("aios-context?memory=all", "memory"),
    ):
        answer = page.client.get(f"/api/{path}")
        assert answer.status_code == 400, path
        error = answer.json()["error"]
        assert error["code"] == "ARGUMENT_INVALID"
        assert f"parameter {name} " in error["message"]
    unknown = page.client.get("/api/memory", params={"project": "nothing"})
    assert unknown.json()["error"]["code"] == "PROJECT_UNKNOWN"
    assert page.client.get("/api/nothing").json()["error"]["code"] == "DOCUMENT_UNKNOWN"


def test_memory_off_reads_nothing_of_the_folder(page: Page) -> None:
    page.log_in()
    data = page.ask("aios-context", memory="off")["data"]
    assert data["memory"] == "off"
    assert data["sections"] == []
    missing = page.client.get("/api/aios-context", params={"memory": "shared"})
    assert missing.json()["error"]["code"] == "DOTAIOS_FOLDER_MISSING"


def test_an_edit_reaches_an_open_page_by_itself(page: Page, fleet: FleetBuilder) -> None:
    page.log_in()
    page.ask("scan")
    with page.client.stream("GET", "/api/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        seen = generations(lines, 1)
        fleet.project("shop").fact("fresh", "A word as new as zanzibar.\n")
        while not page.ask("search", q="zanzibar")["data"]["hits"]:
            seen = generations(lines, 1, after=seen)
    assert page.ask("search", q="zanzibar")["data"]["hits"][0]["confirmed"]


def generations(lines: Iterator[str], count: int, *, after: int = -1) -> int:
    """Read events until ``count`` new generations were told; the last one."""
    for line in lines:
        if line.startswith("data: ") and int(line[6:]) != after:
            after = int(line[6:])
            count -= 1
            if count == 0:
                return after
    raise AssertionError("the stream ended")


def test_a_port_in_use_is_an_error(fleet: FleetBuilder) -> None:
    fleet.project("shop").fact("rate", "text")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run("dashboard", "--no-open", "--port", port, "--root", fleet.root)
    assert done.code == 1
    assert "PORT_IN_USE" in done.words
    assert "served" not in done.words


def test_ctrl_c_ends_it_with_its_streams(page: Page) -> None:
    page.log_in()
    with page.client.stream("GET", "/api/events") as stream:
        next(stream.iter_lines())
        assert page.stop() in {0, 130}
    assert b"Traceback" not in b"".join(page.said)
    with pytest.raises(httpx.TransportError):
        page.client.get("/login")


def test_nothing_is_written_below_the_root(page: Page, fleet: FleetBuilder) -> None:
    def state() -> dict[str, tuple[int, int]]:
        return {
            str(path): (path.lstat().st_mtime_ns, path.lstat().st_size)
            for path in sorted(fleet.root.rglob("*"))
        }

    before = state()
    page.log_in()
    for name in SCHEMAS:
        page.ask(name)
    page.ask("search", q="lighthouse")
    page.ask("graph-view")
    assert state() == before


def test_the_code_is_in_no_argument_and_no_log(page: Page) -> None:
    page.log_in()
    command = Path(f"/proc/{page.process.pid}/cmdline")
    if command.exists():
        assert page.code.encode() not in command.read_bytes()
    page.stop()
    assert page.code.encode() not in page.said[-1]
