"""Granted engines are asked, bounded, believed only as far as the files say the same."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.files import processes
from agentic_os.results import Kind, SearchMode
from agentic_os.settings.values import Grant, Limits, Settings
from agentic_os.tiers.engines import asking as engine_asking
from agentic_os.tiers.engines import process as engine_process
from agentic_os.tiers.engines.codes import ENGINE_CODES
from agentic_os.tiers.engines.grants import endpoint_of
from agentic_os.tiers.engines.surface import NOBODY, Engines, align, ask_engines
from agentic_os.tiers.interface import Candidate, Query
from support.engine.builder import (
    ENGINE,
    engine_command,
    engine_project,
    hostile_command,
    name_endpoint,
    row,
)
from support.fleet.builder import FleetBuilder, ProjectBuilder
from support.process.loopback import loopback

SOURCE = "import os\n\n\ndef light_the_lamp():\n    return os.environ\n\n\ndef other():\n    pass\n"
CONTENT = "def light_the_lamp():\n    return os.environ"


def ask(
    fleet: FleetBuilder,
    person: Person,
    *,
    granted: bool = True,
    seconds: int = 120,
    kinds: frozenset[Kind] = frozenset(),
    mode: SearchMode = "auto",
    limit: int = 10,
) -> Engines:
    """Ask all engines of a fleet, granted as their descriptors say or not at all."""
    projects = find_fleet(person, [str(fleet.root)]).fleet.projects
    grants = tuple(
        Grant(project=project.id, endpoint=endpoint)
        for project in projects
        if granted and (endpoint := endpoint_of(project)) is not None
    )
    settings = Settings(grants=grants, limits=Limits(engine_seconds=seconds))
    query = Query(text="where is the lamp lit", kinds=kinds, mode=mode, limit=limit)
    return ask_engines(projects, settings, query, person.environ)


def code(engines: Engines) -> str | None:
    (answer,) = engines.answers.values()
    return None if answer.fault is None else answer.fault.code


def shop(fleet: FleetBuilder, endpoint: str) -> ProjectBuilder:
    project = engine_project(fleet, "shop", endpoint)
    project.write("src/lamp.py", SOURCE)
    return project


def rows_file(tmp_path: Path, *rows: dict[str, object]) -> Path:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(rows))
    return file


def alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] not in {"Z", "X"}


def gone(pids: str) -> bool:
    """Whether processes end within a moment."""
    for _ in range(200):
        if not any(alive(int(pid)) for pid in pids.split()):
            return True
        time.sleep(0.02)
    return False


def test_a_real_engine_over_stdio(fleet: FleetBuilder, person: Person, tmp_path: Path) -> None:
    rows = rows_file(tmp_path, row("src/lamp.py", CONTENT, 4, 5, 0.75), row("src/lamp.py", "gone"))
    record = tmp_path / "record"
    project = shop(fleet, engine_command(rows, "--record", record))
    person = Person(
        environ={**person.environ, "SECRET_KEY": "x", "COCOINDEX_CODE_DIR": "/c"},
        home=person.home,
        current=person.current,
    )

    engines = ask(fleet, person, limit=3)

    (found,) = engines.found.candidates
    assert (found.path, found.lines, found.kind, found.tier) == ("src/lamp.py", (4, 5), "code", 3)
    assert (found.score, engines.found.total) == (0.75, 1)
    assert engines.found.by_project[found.project].best == 0.75
    assert [(item.code, item.scope, item.count) for item in engines.omissions] == [
        ("HIT_CHANGED", found.project, 1)
    ]
    assert engines.answered == {found.project}
    assert not engines.failed
    said = json.loads(record.read_text())
    assert said["query"] == "where is the lamp lit"
    assert said["refresh_index"] is False
    assert said["limit"] == 7  # what its schema allows, although more were wanted
    assert said["folder"] == os.path.realpath(project.folder)
    assert said["session"]
    assert "SECRET_KEY" not in said["variables"]
    assert {"PATH", "DO_NOT_TRACK", "COCOINDEX_CODE_DIR", "COCOINDEX_DISABLE_USAGE_TRACKING"} <= (
        set(said["variables"])
    )


@contextmanager
def served(rows: Path, tmp_path: Path) -> Iterator[str]:
    """The same engine over HTTP."""
    port = tmp_path / "port"
    server = subprocess.Popen([sys.executable, str(ENGINE), str(rows), "--http", str(port)])
    try:
        for _ in range(600):
            if port.exists() and port.read_text():
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port.read_text()}/mcp"
    finally:
        server.kill()
        server.wait()


def test_a_real_engine_over_http(fleet: FleetBuilder, person: Person, tmp_path: Path) -> None:
    rows = rows_file(tmp_path, row("src/lamp.py", CONTENT, 4, 5))
    with served(rows, tmp_path) as url:
        shop(fleet, url)
        engines = ask(fleet, person, seconds=60)

    assert [item.lines for item in engines.found.candidates] == [(4, 5)]
    assert engines.omissions == ()


@pytest.mark.parametrize(
    ("endpoint", "code_"),
    [("ccc mcp", "ENGINE_NOT_GRANTED"), ("http://127.0.0.1:9/", "ENGINE_NOT_GRANTED")],
)
def test_nothing_is_asked_without_a_grant(
    fleet: FleetBuilder, person: Person, endpoint: str, code_: str
) -> None:
    shop(fleet, endpoint)

    engines = ask(fleet, person, granted=False)

    assert code(engines) == code_
    assert [(item.code, item.scope, item.count) for item in engines.omissions] == [
        (code_, "engine", 1)
    ]
    assert not engines.failed
    assert engines.answered == frozenset()


def test_an_engine_is_never_started_without_its_exact_grant(
    fleet: FleetBuilder, person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    project = shop(fleet, hostile_command("mute", mark))
    started: list[str] = []

    def noting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            started.append(name)
            return real(*given, **named)

        return called

    # Not an audit hook: it would stay in this process, and slow down and race every later test.
    monkeypatch.setattr(subprocess.Popen, "__init__", noting("Popen", subprocess.Popen.__init__))
    for name in ("fork", "posix_spawn", "posix_spawnp", "system"):
        monkeypatch.setattr(os, name, noting(name, getattr(os, name)))
    assert code(ask(fleet, person, granted=False)) == "ENGINE_NOT_GRANTED"
    projects = find_fleet(person, [str(fleet.root)]).fleet.projects
    old = Settings(grants=(Grant(project=projects[0].id, endpoint="ccc mcp"),))
    other = Settings(grants=(Grant(project="other", endpoint=endpoint_of(projects[0]) or ""),))
    assert code(ask_engines(projects, old, Query(text="x"), person.environ)) == (
        "ENGINE_GRANT_VOID"
    )
    assert code(ask_engines(projects, other, Query(text="x"), person.environ)) == (
        "ENGINE_NOT_GRANTED"
    )
    assert ask(fleet, person, mode="lexical") == NOBODY
    assert ask(fleet, person, kinds=frozenset({"memory", "graph"})) == NOBODY
    name_endpoint(project, "shop", f"sh -c 'touch {mark}'")
    void = ask_engines(
        find_fleet(person, [str(fleet.root)]).fleet.projects, old, Query(text="x"), {}
    )
    assert [(item.code, item.scope) for item in void.omissions] == [
        ("ENGINE_GRANT_VOID", projects[0].id)
    ]
    assert not void.failed
    assert started == []
    assert not mark.exists()
    monkeypatch.setattr(engine_process, "TERM_SECONDS", 0.01)
    assert code(ask(fleet, person)) == "ENGINE_FAILED"
    assert started != []


@pytest.mark.parametrize(
    ("way", "code_", "reason"),
    [
        ("crash", "ENGINE_FAILED", "ended"),
        ("exit", "ENGINE_FAILED", "ended"),
        ("error", "ENGINE_FAILED", "error"),
        ("is-error", "ENGINE_FAILED", "error"),
        ("says-failed", "ENGINE_FAILED", "failed"),
        ("old", "ENGINE_FAILED", "ended"),
        ("no-tool", "ENGINE_TOOL_MISSING", "no search tool"),
        ("endless-pages", "ENGINE_TOOL_MISSING", "no search tool"),
        ("flood", "ENGINE_ANSWER_INVALID", "bytes"),
        ("many-lines", "ENGINE_ANSWER_INVALID", "lines"),
        ("huge", "ENGINE_ANSWER_INVALID", "bytes"),
        ("nonsense", "ENGINE_ANSWER_INVALID", "no list"),
        ("deep", "ENGINE_ANSWER_INVALID", "no list"),
        ("wrong-shape", "ENGINE_ANSWER_INVALID", "protocol"),
    ],
)
def test_an_engine_that_misbehaves_costs_only_itself(
    fleet: FleetBuilder,
    person: Person,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    way: str,
    code_: str,
    reason: str,
) -> None:
    monkeypatch.setattr(engine_process, "TERM_SECONDS", 0.01)
    shop(fleet, hostile_command(way))

    engines = ask(fleet, person, seconds=60)

    assert code(engines) == code_, engines
    assert code_ in ENGINE_CODES
    (said,) = engines.omissions
    assert said.code == code_
    assert reason in said.reason
    assert "\x1b" not in said.reason
    assert engines.failed
    assert engines.found.total == 0
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_an_engine_that_hangs_is_ended_with_what_it_started(
    fleet: FleetBuilder, person: Person, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    shop(fleet, hostile_command("hang", mark))

    engines = ask(fleet, person, seconds=3)

    assert code(engines) == "ENGINE_TIMED_OUT"
    assert engines.failed
    assert len(mark.read_text().split()) == 2
    assert gone(mark.read_text())


def test_an_engine_that_hears_nothing_is_ended(
    fleet: FleetBuilder, person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = engine_process._start

    def deaf(*arguments: Any) -> processes.Child:
        child = start(*arguments)
        assert gone_deaf(tmp_path / "mark")
        return child

    monkeypatch.setattr(engine_process, "_start", deaf)
    shop(fleet, hostile_command("hears-nothing", tmp_path / "mark"))

    assert code(ask(fleet, person, seconds=60)) == "ENGINE_FAILED"
    assert gone((tmp_path / "mark").read_text())


def gone_deaf(mark: Path) -> bool:
    """Whether an engine said that it closed its ears."""
    for _ in range(500):
        if mark.exists() and mark.read_text():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("way", ["leave-child", "leave-daemon", "deaf"])
def test_nothing_is_left_over_after_a_good_answer(
    fleet: FleetBuilder,
    person: Person,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:
    monkeypatch.setattr(engine_process, "GRACE_SECONDS", 0.2)
    monkeypatch.setattr(engine_process, "TERM_SECONDS", 0.1)
    mark = tmp_path / "mark"
    shop(fleet, hostile_command(way, mark))

    engines = ask(fleet, person, seconds=60)

    assert code(engines) is None
    assert gone(mark.read_text())


@pytest.mark.parametrize("way", ["noise", "asks", "other-tool", "evil-schema", "plain"])
def test_an_engine_may_be_odd(
    fleet: FleetBuilder,
    person: Person,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    way: str,
) -> None:
    rows = rows_file(tmp_path, row("src/lamp.py", CONTENT, 4, 5))
    shop(fleet, hostile_command(way, rows))

    engines = ask(fleet, person, seconds=60)

    assert code(engines) is None, engines
    assert [item.lines for item in engines.found.candidates] == [(4, 5)]
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", "")


@pytest.mark.parametrize(
    ("endpoint", "code_"),
    [
        ("no-such-program-anywhere mcp", "ENGINE_NOT_STARTED"),
        ("var/index", "ENGINE_IS_A_PATH"),
        ("./engine serve", "ENGINE_ENDPOINT_INVALID"),
        ("http://127.0.0.1:1/mcp", "ENGINE_UNREACHABLE"),
    ],
)
def test_endpoints_that_cannot_be_asked(
    fleet: FleetBuilder, person: Person, endpoint: str, code_: str
) -> None:
    shop(fleet, endpoint)

    engines = ask(fleet, person)

    assert code(engines) == code_
    assert engines.failed == (code_ in {"ENGINE_NOT_STARTED", "ENGINE_UNREACHABLE"})
    assert [item.code for item in engines.omissions] == [code_]


def test_a_program_that_is_none_cannot_be_started(
    fleet: FleetBuilder, person: Person, tmp_path: Path
) -> None:
    program = tmp_path / "engine"
    program.write_bytes(b"\x7fELF but no program")
    program.chmod(0o755)
    shop(fleet, f"{program} mcp")

    assert code(ask(fleet, person)) == "ENGINE_NOT_STARTED"


def test_an_address_that_redirects_elsewhere_is_not_followed(
    fleet: FleetBuilder, person: Person, capfd: pytest.CaptureFixture[str]
) -> None:
    with loopback() as elsewhere, loopback() as server:
        server.answers["/mcp"] = (307, b"", {"location": f"{elsewhere.url}/mcp"})
        shop(fleet, f"{server.url}/mcp")
        engines = ask(fleet, person)
        assert code(engines) == "ENGINE_UNREACHABLE"
        assert server.posted
        assert elsewhere.posted == []
        assert elsewhere.asked == []
    assert capfd.readouterr().err == ""


def test_an_address_that_says_too_much_or_packs_it(fleet: FleetBuilder, person: Person) -> None:
    kind = {"content-type": "application/json"}
    with loopback() as server:
        server.answers["/mcp"] = (200, b" " * 5_000_000, kind)
        server.answers["/packed"] = (200, b"x", {**kind, "content-encoding": "gzip"})
        server.answers["/words"] = (200, b"\x1b[2J", {"content-type": "text/html"})
        shop(fleet, f"{server.url}/mcp")
        engine_project(fleet, "packed", f"{server.url}/packed")
        engine_project(fleet, "words", f"{server.url}/words")
        engines = ask(fleet, person)
        headers = [asked for asked, _ in server.posted]

    said = {item.scope.rpartition("-")[0]: (item.code, item.reason) for item in engines.omissions}
    assert {name: code_ for name, (code_, _) in said.items()} == {
        "shop": "ENGINE_ANSWER_INVALID",
        "packed": "ENGINE_ANSWER_INVALID",
        "words": "ENGINE_UNREACHABLE",
    }
    assert "bytes" in said["shop"][1]
    assert "packed" in said["packed"][1]
    assert {asked["accept-encoding"] for asked in headers} == {"identity"}
    assert not any("authorization" in asked or "cookie" in asked for asked in headers)


def test_an_address_that_never_answers(fleet: FleetBuilder, person: Person) -> None:
    with loopback() as server:
        server.delay_seconds = 3.0
        server.answers["/mcp"] = (200, b"{}", {"content-type": "application/json"})
        shop(fleet, f"{server.url}/mcp")
        assert code(ask(fleet, person, seconds=1)) == "ENGINE_TIMED_OUT"


def test_several_engines_side_by_side_and_one_list(
    fleet: FleetBuilder, person: Person, tmp_path: Path
) -> None:
    for name, scores in (("a", (0.9, 0.2)), ("b", (0.8, 0.7)), ("c", ())):
        file = tmp_path / f"{name}.json"
        file.write_text(
            json.dumps([row(f"{at}.py", "x = 1", 1, 1, score) for at, score in enumerate(scores)])
        )
        project = engine_project(fleet, name, hostile_command("plain", file))
        project.write("0.py", "x = 1\n")
        project.write("1.py", "x = 1\n")
    engine_project(fleet, "broken", hostile_command("crash"))
    fleet.project("none-named", "obsidian-graphify-rag")
    fleet.project("out", "none")

    engines = ask(fleet, person, seconds=60)

    order = [(item.project.rpartition("-")[0], item.path) for item in engines.found.candidates]
    assert order == [("a", "0.py"), ("b", "0.py"), ("b", "1.py"), ("a", "1.py")]
    assert {name.rpartition("-")[0] for name in engines.answered} == {"a", "b", "c"}
    assert {name.rpartition("-")[0] for name in engines.found.by_project} == {"a", "b"}
    assert [item.code for item in engines.omissions] == ["ENGINE_FAILED"]
    assert engines.failed


def test_engines_whose_turn_does_not_come_are_said(
    fleet: FleetBuilder, person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_asking, "AT_ONCE_ENTRIES", 1)
    monkeypatch.setattr(engine_asking, "ALL_ENGINES_FACTOR", 1)
    monkeypatch.setattr(engine_process, "TERM_SECONDS", 0.01)
    for name in ("a", "b"):
        engine_project(fleet, name, hostile_command("mute", tmp_path / name))

    engines = ask(fleet, person, seconds=1)

    assert [item.code for item in engines.omissions] == ["ENGINE_TIMED_OUT"] * 2
    started = [tmp_path / name for name in ("a", "b") if (tmp_path / name).exists()]
    assert len(started) <= 1
    assert all(gone(mark.read_text()) for mark in started)


def test_engines_are_asked_from_any_thread(
    fleet: FleetBuilder, person: Person, tmp_path: Path
) -> None:
    rows = rows_file(tmp_path, row("src/lamp.py", CONTENT, 4, 5))
    shop(fleet, hostile_command("plain", rows))
    found: list[Engines] = []

    thread = threading.Thread(target=lambda: found.append(ask(fleet, person, seconds=60)))
    thread.start()
    thread.join()

    assert [engines.found.total for engines in found] == [1]


def candidate(
    path: str, start: int, end: int, *, kind: Kind = "code", symbol: str | None = None
) -> Candidate:
    return Candidate(
        project="p",
        kind=kind,
        tier=3,
        path=path,
        name=path,
        start=start,
        end=end,
        score=1.0,
        sha256="",
        indexed_at="",
        symbol=symbol,
    )


def test_what_two_engines_found_is_one_hit() -> None:
    ours = candidate("a.py", 3, 9, symbol="lamp")
    memory = candidate("a.py", 1, 99, kind="memory")

    assert align([candidate("a.py", 9, 12)], [[memory], [ours]]) == [ours]
    apart = [candidate("a.py", 10, 12), candidate("b.py", 3, 9)]
    assert align(apart, [[memory], [ours]]) == apart


def test_no_child_is_remembered_afterwards(
    fleet: FleetBuilder, person: Person, tmp_path: Path
) -> None:
    shop(fleet, hostile_command("plain", rows_file(tmp_path)))

    assert code(ask(fleet, person, seconds=60)) is None
    assert processes._running == {}
