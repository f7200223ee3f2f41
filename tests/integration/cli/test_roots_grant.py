"""The person's leave to ask a project's own engine: shown first, kept exactly, never assumed."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from support.engine.builder import engine_project, name_endpoint
from support.fleet.builder import FleetBuilder, ProjectBuilder
from support.process.cli_call import call
from support.process.cli_process import run


@pytest.fixture
def shop(fleet: FleetBuilder) -> ProjectBuilder:
    return engine_project(fleet, "shop", "ccc mcp")


@pytest.fixture
def file(places: Path) -> Path:
    return places / "config/projects.toml"


def test_a_grant_shows_what_would_run_and_is_kept_by_id_and_exact_string(
    fleet: FleetBuilder, shop: ProjectBuilder, file: Path
) -> None:
    finished = call("roots", "grant", "shop", "--yes", "--json", "--root", fleet.root)

    assert finished.code == 0, finished.words
    data = finished.data
    identity = data["project"]
    assert identity.startswith("shop-")
    assert data == {
        "project": identity,
        "name": "shop",
        "endpoint": "ccc mcp",
        "form": "command",
        "granted": True,
        "changed": True,
        "words": ["ccc", "mcp"],
        "program": None,
        "folder": str(shop.folder),
        "url": None,
    }
    for shown in ("ccc mcp", "not installed here", str(shop.folder), "without a shell"):
        assert shown in finished.words
    assert file.read_text() == f'[[grant]]\nproject = "{identity}"\nendpoint = "ccc mcp"\n'

    again = call("roots", "grant", "shop", "--root", fleet.root)
    assert (again.code, again.text) == (0, f"{identity}\tccc mcp\n")
    assert "Nothing to change." in again.words


def test_the_program_is_shown_where_it_is_installed(
    fleet: FleetBuilder, shop: ProjectBuilder, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/ccc"
    program.write_text("#!/bin/sh\ntouch started\n")
    program.chmod(0o755)

    finished = call(
        *("roots", "grant", "shop", "--yes", "--json", "--root", fleet.root),
        environ={"PATH": f"{tmp_path}/bin"},
    )

    assert finished.data["program"] == str(program)
    assert not (shop.folder / "started").exists()


def test_an_address_is_shown_as_what_is_contacted(fleet: FleetBuilder) -> None:
    engine_project(fleet, "near", "http://127.0.0.1:8731/mcp")
    engine_project(fleet, "far", "https://engine.example.org/mcp")

    near = call("roots", "grant", "near", "--yes", "--json", "--root", fleet.root)
    far = call("roots", "grant", "far", "--yes", "--json", "--root", fleet.root)

    assert (near.data["form"], near.data["url"]) == ("address", "http://127.0.0.1:8731/mcp")
    assert (near.data["words"], near.data["folder"]) == ([], None)
    assert "leave this machine" not in near.words
    assert "contacts  https://engine.example.org/mcp" in far.words
    assert "leave this machine" in far.words


@pytest.mark.usefixtures("shop")
def test_scripts_name_the_string_they_mean(fleet: FleetBuilder, file: Path) -> None:
    other = call(
        *("roots", "grant", "shop", "--yes", "--endpoint", "ccc  mcp", "--root", fleet.root)
    )
    assert (other.code, "ENGINE_ENDPOINT_DIFFERS" in other.words) == (1, True)
    assert not file.exists()

    same = call("roots", "grant", "shop", "--yes", "--endpoint", "ccc mcp", "--root", fleet.root)
    assert same.code == 0


@pytest.mark.usefixtures("shop")
def test_without_anybody_to_ask_nothing_is_granted(fleet: FleetBuilder, file: Path) -> None:
    finished = run("roots", "grant", "shop", "--json", "--root", fleet.root)

    assert finished.code == 64
    assert finished.document["error"]["code"] == "ANSWER_NEEDED"
    assert not file.exists()


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(("answer", "granted"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_the_person_is_asked(fleet: FleetBuilder, file: Path, answer: str, granted: bool) -> None:
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "agentic_os", "roots", "grant", "shop", "--root", fleet.root],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        os.write(ours, answer.encode())
        stdout, stderr = process.communicate(timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)

    assert b"Grant it?" in stderr
    assert b"Grant it?" not in stdout
    assert (process.returncode, file.exists()) == ((0, True) if granted else (64, False))
    assert granted or b"DECLINED" in stderr


def test_the_question_goes_to_stderr_and_ends_with_the_input(
    fleet: FleetBuilder, shop: ProjectBuilder, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert call("roots", "grant", str(shop.folder), "--root", fleet.root).code == 0
    assert file.exists()
    name_endpoint(shop, "shop", "ccc mcp --other")
    monkeypatch.setattr(sys, "stdin", Terminal("no\n"))
    assert "DECLINED" in call("roots", "grant", "shop", "--root", fleet.root).words


def test_projects_without_an_engine_are_told_why(fleet: FleetBuilder) -> None:
    fleet.project("unset", "obsidian-graphify-rag")
    fleet.project("low", "auto")
    fleet.project("out", "none")
    fleet.project("broken").write(".agents/config.yaml", "a: [\n")
    engine_project(fleet, "path", ".cocoindex_code")
    engine_project(fleet, "own", "./engine serve")
    said = {
        "unset": ("ENGINE_NOT_NAMED", "memory.rag_endpoint is not set"),
        "low": ("ENGINE_NOT_NAMED", "its stack has none"),
        "out": ("ENGINE_NOT_NAMED", "opted out"),
        "broken": ("ENGINE_NOT_NAMED", "cannot be read"),
        "path": ("ENGINE_IS_A_PATH", "path of an index"),
        "own": ("ENGINE_ENDPOINT_INVALID", "a file of the project"),
    }

    for name, (code, reason) in said.items():
        finished = call("roots", "grant", name, "--yes", "--json", "--root", fleet.root)
        assert finished.code == 1
        assert finished.document["error"]["code"] == code
        assert reason in finished.document["error"]["message"]
    unknown = call("roots", "grant", "nobody", "--yes", "--json", "--root", fleet.root)
    assert unknown.document["error"]["code"] == "PROJECT_UNKNOWN"


def test_grants_are_listed_and_void_ones_marked(
    fleet: FleetBuilder, shop: ProjectBuilder, file: Path
) -> None:
    call("roots", "add", fleet.root)
    engine_project(fleet, "dock", "engine mcp")
    fleet.project("plain")
    identity = call("roots", "grant", "shop", "--yes", "--json").data["project"]
    dock = call("roots", "grant", "dock", "--yes", "--json").data["project"]
    file.write_text(file.read_text() + '\n[[grant]]\nproject = "gone"\nendpoint = "x"\n')
    name_endpoint(shop, "shop", "ccc mcp --evil")

    listed = call("roots", "list", "--json")

    assert listed.data["grants"] == [
        {
            "project": identity,
            "endpoint": "ccc mcp",
            "state": "void",
            "named": "ccc mcp --evil",
        },
        {"project": dock, "endpoint": "engine mcp", "state": "valid", "named": "engine mcp"},
        {"project": "gone", "endpoint": "x", "state": "unknown", "named": None},
    ]
    words = call("roots", "list").words
    assert f"engine of {identity}: ccc mcp: VOID, it names ccc mcp --evil now" in words
    assert f"engine of {dock}: engine mcp: granted" in words
    assert "engine of gone: x: VOID, no project has this id" in words
    name_endpoint(shop, "shop", "ccc --key=AKIAQYLPMN5HHHFPZAM2")
    secret = call("roots", "list")
    assert "it names ccc --key=[redacted:" in secret.words
    assert "AKIAQYLPMN5HHHFPZAM2" not in secret.words
    name_endpoint(shop, "shop", "")
    assert "VOID, it names nothing now" in call("roots", "list").words


@pytest.mark.usefixtures("shop")
def test_a_list_is_read_although_a_root_is_gone(
    fleet: FleetBuilder, file: Path, tmp_path: Path
) -> None:
    call("roots", "grant", "shop", "--yes", "--root", fleet.root)
    file.write_text(f'roots = ["{tmp_path}/gone"]\n' + file.read_text())

    finished = call("roots", "list", "--json")

    assert finished.code == 0
    assert finished.data["grants"][0]["state"] == "unknown"


def test_a_grant_is_taken_back_by_name_and_by_id(
    fleet: FleetBuilder, shop: ProjectBuilder, file: Path
) -> None:
    identity = call("roots", "grant", "shop", "--yes", "--json", "--root", fleet.root).data[
        "project"
    ]

    revoked = call("roots", "grant", "shop", "--revoke", "--json", "--root", fleet.root)
    assert (revoked.code, revoked.data["changed"], revoked.data["granted"]) == (0, True, False)
    assert revoked.data["endpoint"] == "ccc mcp"
    assert "grant" not in file.read_text()
    nothing = call("roots", "grant", "shop", "--revoke", "--root", fleet.root)
    assert (nothing.code, nothing.text) == (0, "")
    assert "Nothing to change." in nothing.words

    call("roots", "grant", "shop", "--yes", "--root", fleet.root)
    (shop.folder / ".agents/config.yaml").unlink()
    gone = call("roots", "grant", identity, "--revoke", "--root", fleet.root)
    assert (gone.code, "Revoked." in gone.words) == (0, True)
    assert "grant" not in file.read_text()
