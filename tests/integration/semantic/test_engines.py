"""Searches that ask projects' own engines: granted ones, merged and confirmed; others never."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentic_os.tiers.engines import process as engine_process
from support.engine.builder import engine_project, hostile_command, name_endpoint, row
from support.fleet.builder import FleetBuilder, ProjectBuilder
from support.model.lent import lend_tiny
from support.process import watched
from support.process.cli_call import call
from support.process.cli_process import MODULE, run

SOURCE = "import os\n\n\ndef ignite():\n    token = 'AKIAQYLPMN5HHHFPZAM2'\n    return token\n"
SECRET = "AKIAQYLPMN5HHHFPZAM2"


@pytest.fixture(autouse=True)
def bounds(monkeypatch: pytest.MonkeyPatch, places: Path) -> None:
    """Engines may take their time on a busy machine, and are ended at once."""
    monkeypatch.setattr(engine_process, "TERM_SECONDS", 0.01)
    (places / "config").mkdir()
    (places / "config/projects.toml").write_text("[limits]\nengine_seconds = 120\n")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    file = tmp_path / "rows.json"
    content = "\n".join(SOURCE.split("\n")[3:6])
    file.write_text(json.dumps([row("src/lamp.py", content, 4, 6, 0.9)]))
    return file


@pytest.fixture
def shop(fleet: FleetBuilder, rows: Path) -> ProjectBuilder:
    """A project whose granted engine finds a passage that holds no word of the question."""
    project = engine_project(fleet, "shop", hostile_command("plain", rows))
    project.write("src/lamp.py", SOURCE)
    project.fact("f", "The lighthouse is lit at dusk.", title="Light")
    assert call("roots", "grant", "shop", "--yes", "--root", fleet.root).code == 0
    return project


def test_an_engines_passage_is_a_hit_among_the_others(
    fleet: FleetBuilder, shop: ProjectBuilder
) -> None:
    finished = call("search", "lighthouse", "--explain", "--json", "--root", fleet.root)

    assert finished.code == 0, finished.words
    assert SECRET not in finished.text
    memory, code = finished.data["hits"]
    assert memory["kind"] == "memory"
    assert (code["kind"], code["tier"], code["path"]) == ("code", 3, "src/lamp.py")
    assert (code["lines"], code["confirmed"], code["stale"]) == ([4, 6], True, False)
    assert code["snippet"].startswith("def ignite():")
    assert "[redacted:" in code["snippet"]
    assert finished.data["total"] == 2
    assert finished.data["coverage"]["surfaces"]["engine"] == 1
    traces = {trace["surface"]: trace for trace in finished.data["explain"]}
    assert (traces["engine"]["hits"], traces["engine"]["missing"]) == (1, None)
    assert traces["engine"]["milliseconds"] > 0
    assert shop.folder.name == "shop"


@pytest.mark.usefixtures("shop")
def test_words_index_and_engine_answer_together(fleet: FleetBuilder, places: Path) -> None:
    lend_tiny(places / "data")
    assert call("index", "build", "--root", fleet.root).code == 0

    finished = call("search", "lighthouse at dusk", "--explain", "--json", "--root", fleet.root)

    assert (finished.code, finished.document["omissions"]) == (0, []), finished.words
    found = [(hit["kind"], hit["path"], hit["lines"]) for hit in finished.data["hits"]]
    assert found[0][:2] == ("memory", ".agents/memory/f.md")
    assert ("code", "src/lamp.py", [4, 6]) in found
    assert len({(path, *lines) for _, path, lines in found}) == len(found)  # each place once
    assert all(hit["confirmed"] for hit in finished.data["hits"])
    surfaces = finished.data["coverage"]["surfaces"]
    assert (surfaces["memory"], surfaces["semantic"], surfaces["engine"]) == (1, 1, 1)
    traces = {trace["surface"]: trace for trace in finished.data["explain"]}
    assert all(traces[name]["hits"] for name in ("memory", "semantic", "engine"))


@pytest.mark.usefixtures("shop")
def test_modes_and_kinds_decide_whether_engines_are_asked(fleet: FleetBuilder) -> None:
    def kinds(*words: str) -> list[str]:
        finished = call("search", "lighthouse", *words, "--json", "--root", fleet.root)
        assert finished.code == 0, finished.words
        return [hit["kind"] for hit in finished.data["hits"]]

    assert kinds() == ["memory", "code"]
    assert kinds("--mode", "hybrid") == ["memory", "code"]
    assert kinds("--mode", "semantic") == ["code"]
    assert kinds("--mode", "lexical") == ["memory"]
    assert kinds("--kind", "code") == ["code"]
    assert kinds("--kind", "memory") == ["memory"]
    assert kinds("--kind", "document") == []


@pytest.mark.usefixtures("shop")
def test_an_identifier_is_answered_by_its_words_first(fleet: FleetBuilder) -> None:
    fleet.project("dock").fact("f", "See light_house.", title="Dock")

    finished = call("search", "light_house", "--json", "--root", fleet.root)

    assert [hit["kind"] for hit in finished.data["hits"]] == ["memory", "memory", "code"]


def test_semantic_alone_needs_somebody_who_answers(
    fleet: FleetBuilder, shop: ProjectBuilder
) -> None:
    name_endpoint(shop, "shop", hostile_command("plain"))

    finished = call("search", "lighthouse", "--mode", "semantic", "--json", "--root", fleet.root)

    assert finished.document["error"]["code"] == "SEMANTIC_UNAVAILABLE"


def test_a_void_grant_is_said_and_the_rest_answers(
    fleet: FleetBuilder, shop: ProjectBuilder, tmp_path: Path
) -> None:
    name_endpoint(shop, "shop", f"sh -c 'touch {tmp_path}/started'")

    finished = call("search", "lighthouse", "--explain", "--json", "--root", fleet.root)

    assert finished.code == 0, finished.words
    assert [hit["kind"] for hit in finished.data["hits"]] == ["memory"]
    (said,) = finished.document["omissions"]
    assert said["code"] == "ENGINE_GRANT_VOID"
    assert finished.data["coverage"]["surfaces"]["engine"] == 0
    (trace,) = [item for item in finished.data["explain"] if item["surface"] == "engine"]
    assert trace["missing"] == "it names another endpoint than you granted (ENGINE_GRANT_VOID)"
    assert not (tmp_path / "started").exists()


def test_a_granted_engine_that_fails_makes_the_answer_incomplete(fleet: FleetBuilder) -> None:
    project = engine_project(fleet, "shop", hostile_command("crash"))
    project.fact("f", "The lighthouse.", title="Light")
    call("roots", "grant", "shop", "--yes", "--root", fleet.root)

    finished = call("search", "lighthouse", "--json", "--root", fleet.root)

    assert finished.code == 2
    assert [hit["kind"] for hit in finished.data["hits"]] == ["memory"]
    assert [item["code"] for item in finished.document["omissions"]] == ["ENGINE_FAILED"]
    assert finished.document["error"]["code"] == "INCOMPLETE"


def test_an_engine_is_believed_only_as_far_as_the_file(
    fleet: FleetBuilder, shop: ProjectBuilder, rows: Path
) -> None:
    shop.write(".env", "lighthouse=1\n")
    rows.write_text(
        json.dumps(
            [
                row("src/lamp.py", "def invented(): pass"),
                row("../../secret", "lighthouse"),
                row("/etc/hostname", ""),
                row(".env", "lighthouse=1"),
                row(".agents/memory/f.md", "The lighthouse is lit at dusk."),
                row("src/lamp.py\x1b[2J", ""),
            ]
        )
    )

    finished = call("search", "lighthouse", "--json", "--root", fleet.root)

    assert [hit["kind"] for hit in finished.data["hits"]] == ["memory"]
    counts = {item["code"]: item["count"] for item in finished.document["omissions"]}
    assert counts == {
        "HIT_CHANGED": 1,
        "HIT_UNREADABLE": 1,
        "ENGINE_HIT_REFUSED": 3,
        "ENGINE_HIT_COVERED": 1,
    }
    words = call("search", "lighthouse", "--root", fleet.root)
    assert "\x1b" not in words.words + words.text


def cloned(project: ProjectBuilder) -> None:
    """Let a project be a checkout of one remote."""
    for name in ("objects", "refs/heads"):
        (project.folder / ".git" / name).mkdir(parents=True)
    project.write(".git/HEAD", "ref: refs/heads/main\n")
    project.write(".git/config", '[remote "origin"]\n\turl = https://example.org/a/shop.git\n')


def test_a_clone_that_claims_a_granted_project_runs_nothing(
    fleet: FleetBuilder, tmp_path: Path, places: Path
) -> None:
    mark = tmp_path / "mark"
    endpoint = f"sh -c 'pwd > {mark}'"
    real = engine_project(fleet, "shop", endpoint)
    cloned(real)
    assert call("roots", "grant", "shop", "--yes", "--root", fleet.root).code == 0
    evil = engine_project(FleetBuilder(root=fleet.root / "a-first"), "shop", endpoint)
    cloned(evil)
    evil.fact("f", "Other words.", title="Other")

    finished = call("search", "words", "--json", "--root", fleet.root)

    assert not mark.exists()
    assert [item["code"] for item in finished.document["omissions"]] == ["ENGINE_CLONES_DIFFER"]
    assert finished.code == 0
    again = call("roots", "grant", "shop", "--yes", "--json", "--root", fleet.root)
    assert again.document["error"]["code"] == "ENGINE_CLONES_DIFFER"

    file = places / "config/projects.toml"
    file.write_text(file.read_text() + f'\n[[project]]\npath = "{real.folder}"\n')
    call("search", "words", "--root", fleet.root)
    assert Path(mark.read_text().strip()) == Path(os.path.realpath(real.folder))


def test_a_file_that_is_called_by_a_secret(
    fleet: FleetBuilder, shop: ProjectBuilder, rows: Path
) -> None:
    shop.write(f"src/{SECRET}.py", "def ignite(): ...\n")
    rows.write_text(json.dumps([row(f"src/{SECRET}.py", "def ignite(): ...")]))

    finished = call("search", "dusk", "--kind", "code", "--json", "--root", fleet.root)

    (hit,) = finished.data["hits"]
    assert hit["snippet"] == "def ignite(): ..."
    assert SECRET not in finished.text
    assert hit["name"].startswith("[redacted:")


@pytest.mark.usefixtures("shop")
def test_projects_are_ranked_over_engines_too(fleet: FleetBuilder) -> None:
    dock = fleet.project("dock")
    for number in range(3):
        dock.fact(f"f{number}", "A lighthouse.", title=f"Dock {number}")

    finished = call("search", "lighthouse", "--projects-only", "--json", "--root", fleet.root)

    ranked = [(item["name"], item["hits"]) for item in finished.data["projects"]]
    assert sorted(ranked) == [("dock", 3), ("shop", 2)]
    assert ranked[0][0] == "shop"  # found by its words and by its engine
    assert finished.data["hits"] == []


def test_nothing_ungranted_is_ever_run(fleet: FleetBuilder, tmp_path: Path) -> None:
    """Every command, under the audit hook, over projects that name engines of all forms."""
    mark = tmp_path / "started"
    engine_project(fleet, "shell", f"sh -c 'touch {mark}'")
    engine_project(fleet, "real", hostile_command("mute", mark))
    engine_project(fleet, "address", "http://127.0.0.1:9/mcp")
    own = engine_project(fleet, "own", "./engine serve")
    own.write("engine", f"#!/bin/sh\ntouch {mark}\n").chmod(0o755)
    granted_elsewhere = engine_project(fleet, "moved", "true")
    assert call("roots", "grant", "moved", "--yes", "--root", fleet.root).code == 0
    name_endpoint(granted_elsewhere, "moved", f"sh -c 'touch {mark}'")
    record = tmp_path / "record"

    for words in (
        ["search", "x"],
        ["search", "x", "--mode", "hybrid", "--explain"],
        ["search", "x", "--projects-only"],
        ["scan"],
        ["aggregate"],
        ["roots", "grant", "shell", "--yes"],
        ["roots", "grant", "shell", "--revoke"],
    ):
        finished = run(
            record,
            fleet.root,
            "--",
            *words,
            "--root",
            fleet.root,
            command=(sys.executable, watched.__file__),
        )
        assert finished.code == 0, finished.words
        assert record.read_text() == "", words
    assert not mark.exists()
    # The same watch sees a granted engine start.
    assert call("roots", "grant", "shell", "--yes", "--root", fleet.root).code == 0
    run(
        record,
        fleet.root,
        "--",
        *("search", "x", "--root", str(fleet.root)),
        command=(sys.executable, watched.__file__),
    )
    assert "subprocess.Popen" in record.read_text()
    assert mark.exists()


def test_a_plain_search_loads_no_client(fleet: FleetBuilder, shop: ProjectBuilder) -> None:
    name_endpoint(shop, "shop", "ccc mcp --ungranted")

    finished = run(
        "-X",
        "importtime",
        *("-m", "agentic_os", "search", "x", "--root", str(fleet.root)),
        command=(sys.executable,),
    )

    loaded = {line.rpartition("|")[2].strip() for line in finished.words.splitlines()}
    assert "agentic_os.tiers.engines.surface" in loaded
    assert not loaded & {"mcp", "mcp_types", "httpx2", "pydantic"}


def test_interrupted_searches_leave_nothing_behind(fleet: FleetBuilder, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    engine_project(fleet, "shop", hostile_command("hang", mark))
    assert call("roots", "grant", "shop", "--yes", "--root", fleet.root).code == 0
    process = subprocess.Popen(
        [*MODULE, "search", "x", "--root", str(fleet.root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    for _ in range(1_000):
        if mark.exists() and len(mark.read_text().split()) == 2:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=60)

    assert process.returncode == 130, words
    for pid in map(int, mark.read_text().split()):
        for _ in range(200):
            status = Path(f"/proc/{pid}/stat")
            if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
                break
            time.sleep(0.02)
        else:
            os.kill(pid, signal.SIGKILL)
            raise AssertionError("left behind")
