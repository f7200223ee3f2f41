"""The commands of ``agentic-os aios`` over whole folders: documents, exit codes, no writes."""

import builtins
import json
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentic_os.cli.commands.person.aios import app
from agentic_os.cli.entry import main
from agentic_os.errors import AiosError
from agentic_os.files.places import places_from
from agentic_os.settings.editing import add_grant
from agentic_os.settings.values import Grant
from support.aios.builder import SECRET, AiosBuilder, tree

RUNNER = CliRunner()
TODAY = datetime.now().astimezone().date().isoformat()


@pytest.fixture
def aios(places: Path) -> AiosBuilder:
    builder = AiosBuilder(places / "aios").complete()
    builder.jsonl(
        "memory/events.jsonl",
        {"ts": f"{TODAY}T08:00:00.000Z", "summary": "Planned the rollout", "project": "alpha"},
    )
    return builder


def run(*words: str) -> tuple[int, str, str]:
    result = RUNNER.invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def code_of(*words: str) -> str:
    with pytest.raises(AiosError) as caught:
        run(*words)
    wrong = caught.value.code in {"DOTAIOS_ARGUMENT_INVALID", "DOTAIOS_MEMORY_POLICY_INVALID"}
    assert caught.value.exit_code == (64 if wrong else 1)
    assert "/" not in caught.value.message.replace("--memory, --project", "")
    return caught.value.code


def attach(aios: AiosBuilder, places: Path, checkout: Path) -> Path:
    checkout.mkdir(parents=True, exist_ok=True)
    found = checkout.stat()
    identity = {"type": "directory", "dev": str(found.st_dev), "ino": str(found.st_ino)}
    state = places / "data/aios/projects.json"
    state.parent.mkdir(parents=True, exist_ok=True)
    entry = {"path": str(checkout), "root_identity": identity}
    state.write_text(json.dumps({"version": 1, "paths": {"A1": entry}}))
    assert aios.root.exists()
    return state


@pytest.mark.usefixtures("aios")
def test_compact_briefs() -> None:
    code, text, words = run("brief", "--compact")
    assert (code, words) == (0, "")
    assert text.startswith(f"Memory: Shared\n\n## Active Context · {TODAY}\n\n### Identity\n")
    code, text, words = run("brief", "--compact", "--json", "--project", "A1", "--budget", "400")
    document = json.loads(text)
    assert (code, words, text.count("\n")) == (0, "", 1)
    assert document["dotaiosMemory"] == {"mode": "project", "project": "A1"}
    assert document["contextBudget"]["limit"] == 400
    code, text, _ = run("brief", "--compact", "--first-message", "Private chat please")
    assert (code, text.split("\n")[0]) == (0, "Memory: Off")


def test_lean_briefs(aios: AiosBuilder) -> None:
    aios.write("context/north-star.md", f"key {SECRET}")
    code, text, words = run("brief", "--lean")
    assert code == 0
    assert "# Ada" in text
    assert SECRET not in text
    assert words == "Left out because they look like secrets: 1.\n"
    document = json.loads(run("brief", "--lean", "--json")[1])
    assert document["schema"] == "agentic-os/aios-brief-lean/v1"
    assert document["data"]["sections"][2] == {
        "title": "North star",
        "text": None,
        "withheld": True,
    }


@pytest.mark.parametrize(
    "words",
    [
        ("--compact", "--lean"),
        ("--lean", "--project", "A1"),
        ("--lean", "--memory", "shared"),
        ("--lean", "--cwd", "/"),
        ("--memory", "shared"),
    ],
)
def test_briefs_that_are_not_offered(aios: AiosBuilder, words: tuple[str, ...]) -> None:
    assert aios.root.exists()
    assert code_of("brief", *words) == "DOTAIOS_ARGUMENT_INVALID"


def test_the_project_of_a_working_directory(
    aios: AiosBuilder, places: Path, tmp_path: Path
) -> None:
    state = attach(aios, places, tmp_path / "code/alpha")
    inside = str(tmp_path / "code/alpha")
    receipt = run("brief", "--compact", "--cwd", inside)[1].split("\n")[0]
    assert receipt == "Memory: This project"
    outside = run("brief", "--compact", "--cwd", str(tmp_path))[1]
    assert outside.startswith("Memory: Shared")
    spoken = run("brief", "--compact", "--cwd", inside, "--first-message", "use my memory")[1]
    assert spoken.startswith("Memory: Shared")
    explicit = run("brief", "--compact", "--cwd", inside, "--memory", "shared")[1]
    assert explicit.startswith("Memory: Shared")
    moved = state.rename(tmp_path / "elsewhere.json")
    assert run("brief", "--compact", "--cwd", inside)[1].startswith("Memory: Shared")
    named = run("brief", "--compact", "--cwd", inside, "--state-path", str(moved))[1]
    assert named.startswith("Memory: This project")
    assert code_of("brief", "--compact", "--cwd", "here") == "DOTAIOS_ARGUMENT_INVALID"


def test_the_context_of_a_project(aios: AiosBuilder) -> None:
    code, text, words = run("context", "alpha", "--json")
    document = json.loads(text)
    assert (code, words) == (0, "")
    assert list(document) == ["project", "generated_at", "context_budget", "context"]
    assert document["project"] == "alpha"
    assert "Planned the rollout" in document["context"]
    assert run("context", "alpha", "--budget", "500")[1].startswith("> [AIOS]") is False
    aios.write(
        "memory/events.jsonl",
        json.dumps({"ts": f"{TODAY}T01:00:00Z", "summary": "a\u200b", "project": "alpha"}),
    )
    assert run("context", "alpha")[2] == "Hidden or controlling characters in what is shown: 1.\n"
    assert code_of("context", "nobody") == "DOTAIOS_PROJECT_SELECTOR_UNKNOWN"


@pytest.mark.usefixtures("aios")
def test_searches() -> None:
    code, text, words = run("search", "release", "policy", "--scope", "context")
    assert (code, words) == (0, "")
    assert text.startswith("Memory: Shared\n\n-- context/ (1 match)\n")
    assert run("search", "absent")[:2] == (0, "Memory: Shared\n\nNo results.\n")
    found = run(
        "search",
        "rollout",
        "--project",
        "A1",
        "--limit",
        "1",
        "--session-project",
        "x",
        "--agent",
        "x",
        "--since",
        "7d",
    )
    assert found[1].startswith("Memory: This project\n")


def test_incomplete_searches(aios: AiosBuilder) -> None:
    aios.write("vault/large.md", b"x" * (4 * 1024 * 1024 + 1))
    code, text, words = run("search", "absent")
    assert code == 2
    assert text.endswith("No results in what was searched. Not searched: vault.\n")
    assert words.startswith("Search incomplete for vault: ")
    assert "[file_too_large]" in words
    assert str(aios.root) not in text + words
    code, text, words = run(
        "search", "x", "--memory", "project", "--project", "A1", "--scope", "vault"
    )
    assert code == 2
    assert "[scope_forbidden_by_memory_policy]" in words


def test_follows(aios: AiosBuilder) -> None:
    text = run("search", "release policy", "--scope", "context")[1]
    reference = text.split("> Follow: ")[1].split("\n")[0]
    code, page, words = run("search", "--follow", reference)
    document = json.loads(page)
    assert (code, words) == (0, "")
    assert document["text"] == (aios.root / "context/work.md").read_text()
    assert json.loads(run("search", "--follow", reference, "--json", "--budget", "3530")[1])
    aios.write("context/work.md", "release policy\u202e")
    hidden = run("search", "release policy", "--scope", "context")[1]
    words = run("search", "--follow", hidden.split("> Follow: ")[1].split("\n")[0])[2]
    assert words == "Hidden or controlling characters in what is shown: 1.\n"
    code, page, words = run("search", "--follow", reference)
    assert (code, json.loads(page)["reason"]) == (2, "source_changed")
    code, page, _ = run("search", "--follow", reference, "--memory", "off")
    assert (code, json.loads(page)["status"]) == (0, "off")


@pytest.mark.parametrize(
    "words",
    [
        ("x", "--json"),
        ("x", "--budget", "6000"),
        ("--follow", "ds1.x", "x"),
        ("--follow", "ds1.x", "--limit", "1"),
        ("--follow", "ds1.x", "--scope", "all"),
        ("--follow", "ds1.x", "--since", "1d"),
        (),
        ("x", "--scope", "everything"),
        ("x", "--limit", "0"),
    ],
)
def test_searches_that_are_not_offered(aios: AiosBuilder, words: tuple[str, ...]) -> None:
    assert aios.root.exists()
    assert code_of("search", *words) == "DOTAIOS_ARGUMENT_INVALID"


def test_a_granted_vault_of_the_settings(aios: AiosBuilder, places: Path, tmp_path: Path) -> None:
    outside = tmp_path / "obsidian"
    outside.mkdir()
    (outside / "a.md").write_text("# The gate\n")
    aios.write("aios.json", json.dumps({"vault_path": str(outside)}))
    words = ("search", "gate", "--scope", "vault")
    assert code_of(*words) == "DOTAIOS_EVIDENCE_ROOT_UNAUTHORIZED"
    grant = Grant(project="aios-vault", endpoint=str(outside))
    add_grant(places_from(os.environ), grant, home=places)
    assert "The >>gate<<" in run(*words)[1]
    aios.write("aios.json", json.dumps({"vault_path": str(tmp_path)}))
    assert code_of(*words) == "DOTAIOS_EVIDENCE_ROOT_UNAUTHORIZED"


def test_the_persons_allow_list(aios: AiosBuilder, places: Path) -> None:
    aios.write("context/identity.md", f"not a secret: {SECRET}")
    config = places / "config/projects.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[redaction]\nallow = ["{SECRET}"]\n')
    assert SECRET in run("brief", "--compact")[1]


def test_resolutions(
    aios: AiosBuilder, places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attach(aios, places, tmp_path / "code/alpha")
    (tmp_path / "code/alpha/AGENTS.md").write_text("x")
    code, text, words = run(
        "resolve",
        "cut a release",
        "--project",
        "A1",
        "--supports-conventions",
        "agents-md",
        "--json",
    )
    document = json.loads(text)
    assert (code, words) == (0, "")
    assert document["status"] == "matched"
    assert document["project_route"]["status"] == "ready"
    assert document["location"] == str(tmp_path / "code/alpha")
    monkeypatch.chdir(tmp_path / "code/alpha")
    tool = ("--tool", "google.drive.list", "--page-size", "5")
    document = json.loads(run("resolve", "cut a release", *tool)[1])
    assert document["tool"]["argv_suffix"] == ["google", "drive", "--page-size", "5", "--json"]
    monkeypatch.chdir(tmp_path)
    code, text, _ = run("resolve", "cut a release")
    assert (code, json.loads(text)["next_action"]["summary"]) == (2, "detached_directory")
    assert run("resolve", "x", "--memory", "off")[0] == 0
    assert code_of("resolve", "x", "--query", "y") == "DOTAIOS_ARGUMENT_INVALID"
    assert code_of("resolve", "x", "--supports-conventions", "y") == "DOTAIOS_ARGUMENT_INVALID"


def test_an_option_of_resolve_may_be_given_once(aios: AiosBuilder) -> None:
    assert aios.root.exists()
    code, text, words = run("resolve", "x", "--project", "a", "--project", "b")
    assert code != 0
    assert text == ""
    assert "--project may be given once" in words


def test_another_home(aios: AiosBuilder, tmp_path: Path) -> None:
    other = AiosBuilder(tmp_path / "other/aios")
    code, text, _ = run("resolve", "x", "--project", "A1", "--home", str(tmp_path / "other"))
    assert (code, json.loads(text)["next_action"]["summary"]) == (2, "unknown_project")
    assert run("brief", "--compact", "--path", str(other.root))[1].count("###") == 0
    assert aios.root.exists()


def test_a_terminal_gets_no_escapes(aios: AiosBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    aios.write("context/identity.md", "# Me \x1b[31mred\n")
    assert "\x1b[31m" in run("brief", "--compact")[1]
    monkeypatch.setattr("agentic_os.cli.actions.person.context.on_terminal", lambda: True)
    assert "<U+001B>[31mred" in run("brief", "--compact")[1]


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("brief", "--compact"),
    ("brief", "--compact", "--json"),
    ("brief", "--compact", "--project", "A1"),
    ("brief", "--lean"),
    ("context", "alpha"),
    ("search", "rollout"),
    ("search", "rollout", "--project", "A1"),
    ("search", "--follow", "ds1.x"),
    ("resolve", "cut a release", "--project", "A1"),
    ("context", "nobody"),
    ("search", "x", "--scope", "nowhere"),
)


@pytest.mark.parametrize("words", COMMANDS)
def test_no_command_writes(
    aios: AiosBuilder, places: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    attach(aios, places, tmp_path / "code/alpha")
    before = tree(tmp_path)
    RUNNER.invoke(app, list(words))
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "words",
    [
        ("brief", "--memory", "off"),
        ("brief", "--compact", "--json", "--memory", "off", "--cwd", "/"),
        ("brief", "--lean", "--memory", "off"),
        ("context", "alpha", "--memory", "off"),
        ("search", "x", "--memory", "off"),
        ("search", "--follow", "ds1.x", "--memory", "off"),
        ("resolve", "x", "--memory", "off"),
    ],
)
def test_off_touches_no_file_of_the_person(
    aios: AiosBuilder, places: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    run(*words)  # loads the code
    touched: list[str] = []

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        def watching(*arguments: Any, **options: Any) -> Any:
            touched.extend(
                str(argument)
                for argument in arguments
                if isinstance(argument, (str, bytes, os.PathLike)) and str(places) in str(argument)
            )
            touched.extend("by handle" for name in options if name == "dir_fd")
            return call(*arguments, **options)

        return watching

    for name in ("open", "stat", "lstat", "scandir", "listdir", "readlink", "access"):
        monkeypatch.setattr(os, name, watched(getattr(os, name)))
    monkeypatch.setattr(builtins, "open", watched(builtins.open))
    code, text, _ = run(*words)
    monkeypatch.undo()
    assert code == 0
    assert "Memory: Off" in text
    assert touched == []
    assert aios.root.exists()


def test_help_has_an_example_for_every_command() -> None:
    for name in ("brief", "context", "search", "resolve"):
        code, text, _ = run(name, "--help")
        assert code == 0
        assert f"agentic-os aios {name}" in text


def test_yesterdays_rows_are_shown_too(aios: AiosBuilder) -> None:
    yesterday = (datetime.now().astimezone().date() - timedelta(days=1)).isoformat()
    aios.jsonl("memory/events.jsonl", {"ts": f"{yesterday}T12:00:00Z", "summary": "before"})
    assert f"- [{yesterday}] before" in run("brief", "--compact")[1]


def test_a_vault_is_granted_by_naming_it_once_more(aios: AiosBuilder, tmp_path: Path) -> None:
    outside = tmp_path / "notes"
    outside.mkdir()
    (outside / "a.md").write_text("the rollout of the vault\n")
    assert run("grant-vault")[2] == "The vault lies inside the AIOS folder; it needs no grant.\n"
    aios.write("aios.json", json.dumps({"vault_path": str(outside)}))

    code, shown, said = run("grant-vault")
    assert (code, shown) == (0, f"{outside}\n")
    assert "not granted" in said
    assert run("search", "rollout")[0] == 2
    assert code_of("grant-vault", str(tmp_path)) == "DOTAIOS_ARGUMENT_INVALID"

    assert run("grant-vault", str(outside)) == (0, "", "Granted: searches read this vault.\n")
    assert "already" in run("grant-vault", str(outside))[2]
    code, shown, _ = run("search", "rollout")
    assert code == 0
    assert "vault/" in shown
    assert run("grant-vault", "--revoke")[2] == "The vault is no longer granted.\n"
    assert run("search", "rollout")[0] == 2


def test_the_bad_file_stands_in_the_words_and_in_the_document(
    aios: AiosBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    aios.write("projects/alpha/README.md", "---\nid: A1\nname: Shop: till\n---\n")
    assert main(["aios", "brief", "--compact", "--json"]) == 1
    out, err = capsys.readouterr()
    error = json.loads(out)["error"]
    assert (error["path"], error["line"]) == ("projects/alpha/README.md", 3)
    assert "in projects/alpha/README.md, line 3" in err
    assert "needs quotes" in err
