"""The first hour of a person with twelve repositories, at 80 and at 200 columns."""

import re
import shlex
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder
from support.fleet.git_repository import git
from support.model.lent import lend_tiny
from support.process.cli_process import run
from support.process.terminal import on_terminal

NAMES = [f"a-rather-long-name-{number:02d}" for number in range(10)] + ["shop", "dock"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def home(places: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve described repositories and one other below ~/code; nothing is configured."""
    fleet = FleetBuilder(root=places / "code")
    for name in NAMES:
        project = fleet.project(name, "obsidian-only")
        body = f"The harbour of {name}\nis closed at night."
        project.fact("harbour", body, title="Harbour hours", description="when it is open")
        project.index("# Memory\n\n- [Harbour hours](harbour.md) — when it is open\n")
        project.note("lights.md", "# Lights\n\nThe pier has two.\n")
    (places / "code/plain/.git").mkdir(parents=True)
    monkeypatch.setenv("EDITOR", "echo opened")
    return places


def lines(drawn: str) -> list[str]:
    """What a person sees of it, without what was drawn over."""
    shown = ESCAPES.sub("", drawn.replace("\r\n", "\n"))
    return [line.rpartition("\r")[2] for line in shown.split("\n")]


def test_the_first_answer_comes_with_the_third_command(home: Path) -> None:
    lend_tiny(home / "data")
    alone = run(current=home)
    started = run("start", "--yes", current=home, environ={"PATH": "/usr/bin:/bin"})
    asked = run("search", "harbour", "--limit", "3")

    assert "agentic-os start" in alone.text
    assert alone.code == started.code == asked.code == 0
    assert f"roots add {home / 'code'} --adopt" in started.text
    assert "13 projects are ready to be asked" in started.words
    assert started.text.count("agentic-os search 'Harbour hours'") == 1
    first = asked.text.splitlines()[0].split("\t")
    assert first[1:3] == ["memory", "Harbour hours"]
    opened = run("open", first[0])
    assert opened.text.startswith("opened +")
    assert opened.text.strip().endswith("/.agents/memory/harbour.md")


def test_elsewhere_than_on_a_terminal_the_steps_are_only_printed(home: Path) -> None:
    finished = run("start", current=home, environ={"PATH": "/usr/bin:/bin"})

    assert finished.code == 0
    assert f"agentic-os roots add {home / 'code'} --adopt\n" in finished.text
    assert "agentic-os model prepare\n" in finished.text
    assert not (home / "config").exists()


def test_on_a_terminal_each_step_is_asked_for(home: Path) -> None:
    code, drawn = on_terminal(
        "start", typed="n\ny\nn\nn\n", current=home, PATH="/usr/bin:/bin", COLUMNS="80"
    )

    shown = "\n".join(lines(drawn))
    assert code == 0
    assert "12 projects with a descriptor, 1 other repositories" in shown
    assert "12 projects are ready to be asked" in shown
    assert "Fetch a model of" in shown
    assert run("roots", "list").text.strip() == str(home / "code"), "declined: not adopted"


@pytest.fixture
def plain(places: Path) -> Path:
    """Twelve repositories as git and a harness leave them; none has a descriptor."""
    for name in NAMES:
        folder = places / "code" / name
        (folder / "src").mkdir(parents=True)
        (folder / "CLAUDE.md").write_text(
            f"# {name}\n\n## Deploying {name}\n\nThe harbour closes at noon.\n"
        )
        (folder / "README.md").write_text(f"# {name}\n\nThe {name} service.\n")
        (folder / "src/main.py").write_text("def handle(): ...\n")
        git(folder, "init", "-q")
    return places


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("fleet_of", ["home", "plain"])
def test_the_first_hour_on_a_terminal(
    request: pytest.FixtureRequest, fleet_of: str, columns: int
) -> None:
    current: Path = request.getfixturevalue(fleet_of)
    wide = {"COLUMNS": str(columns), "PATH": "/usr/bin:/bin"}

    alone = on_terminal(current=current, **wide)
    started = on_terminal("start", typed="y\nn\nn\n", current=current, **wide)
    asked = on_terminal("search", "harbour", "closes", current=current, **wide)
    state = on_terminal(current=current, **wide)

    assert [code for code, _ in (alone, started, asked, state)] == [0] * 4
    assert "agentic-os start" in "\n".join(lines(alone[1]))
    said = "\n".join(lines(started[1]))
    counted = "12 projects with a descriptor, 1 other" if fleet_of == "home" else "0 projects with"
    assert counted in said
    assert f"agentic-os roots add {current / 'code'} --adopt" in said
    examples = re.findall(r"^agentic-os search (.+?)\s*$", said, re.MULTILINE)
    assert 1 <= len(examples) <= 3
    assert "Fetch a model of 23 MB" in said
    answer = lines(asked[1])
    assert re.match(rf"({'|'.join(NAMES)}):\S+\.md:\d+", answer[0]), "the third command answers"
    assert any("harbour" in line for line in answer[1:])
    for drawn in (alone[1], asked[1], state[1]):
        assert max(map(len, lines(drawn))) <= columns
    assert re.search(r"^projects +1[23]$", "\n".join(lines(state[1])), re.MULTILINE)
    # An example is an answer, too: it is made of the person's own words.
    found = run("search", *shlex.split(examples[0]), current=current)
    assert found.text.strip()


def test_twelve_projects_fit_a_screen_of_80_columns(home: Path) -> None:
    run("roots", "add", home / "code")

    drawn = lines(on_terminal("scan", COLUMNS="80")[1])
    narrow = [line for line in drawn if line and not line.startswith("Looking")]
    wide = lines(on_terminal("scan", COLUMNS="200")[1])

    assert len(narrow) <= 26
    for name in NAMES:
        assert sum(line.startswith(f"{name}  ") for line in narrow) == 1
        assert any(f"~/code/{name}" in line.split() for line in narrow)
        assert any(f"~/code/{name}" in line for line in wide)
    assert str(home) not in "\n".join(narrow)


def test_the_help_clips_nothing_at_80_columns(home: Path) -> None:
    code, drawn = on_terminal("--help", COLUMNS="80")

    shown = lines(drawn)
    assert code == 0
    assert home.is_dir()
    assert max(map(len, shown)) <= 80
    assert [line for line in shown[1:] if line.endswith("...")] == []
    for title in ("Ask:", "Set up:", "Agents:", "Your AIOS folder:", "Identity and witness:"):
        assert title in shown


def test_the_state_says_what_comes_next(home: Path) -> None:
    before = run(current=home).text
    run("roots", "add", home / "code")
    run("search", "harbour")
    after = run(current=home).text

    assert "none configured" in before
    assert "~/code" in after
    assert re.search(r"^projects +12$", after, re.MULTILINE)
    assert 'agentic-os search "words"' in after
    assert "agentic-os model prepare" in after


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("nonsense", "HIT_INVALID"),
        ("shop:../x:1", "OUTSIDE_ROOT"),
        ("nobody:a.md:1", "PROJECT_UNKNOWN"),
    ],
)
def test_only_a_file_of_a_project_is_opened(home: Path, place: str, code: str) -> None:
    finished = run("open", place, "--root", home / "code")

    assert finished.code != 0
    assert code in finished.words
    assert "opened" not in finished.text


def test_without_an_editor_the_path_can_be_printed(home: Path) -> None:
    place = "shop:.agents/memory/harbour.md:7"
    gone = run("open", place, "--root", home / "code", environ={"EDITOR": "no-such-editor"})
    printed = run("open", place, "--root", home / "code", "--print")

    assert "EDITOR_MISSING" in gone.words
    assert printed.text == f"{home}/code/shop/.agents/memory/harbour.md\n"


def test_a_folder_given_as_an_argument_is_told_how_to_name_it(home: Path) -> None:
    finished = run("scan", str(home / "code"))

    assert finished.code == 64
    assert f"agentic-os scan --root {home / 'code'}" in finished.words


def test_the_version_has_a_short_form() -> None:
    assert run("-V").text == run("--version").text


def test_purging_all_leaves_nothing_that_was_derived(home: Path) -> None:
    run("roots", "add", home / "code")
    run("search", "harbour")
    lend_tiny(home / "data")

    finished = run("purge", "--all")

    assert "1 store and models" in finished.words
    assert "bytes freed" in finished.words
    assert not (home / "cache").exists()
    assert list((home / "data").iterdir()) == []
    assert (home / "config/projects.toml").is_file()
    assert run("purge", "--all", "--json").data == {"spaces": [], "bytes": 0, "folders": []}
