"""What a person sees at 80 and at 200 columns: short ids, whole words, nothing folded inside."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder
from support.process.cli_process import MODULE, run
from support.process.terminal import on_terminal

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PROSE = " ".join(f"word{number} of the quay" for number in range(120))
FACT = f"{PROSE} where the lighthouse stands, {PROSE}"


@pytest.fixture
def fleet_of_two(fleet: FleetBuilder) -> FleetBuilder:
    """Two projects of one name, one of another, with lines that no terminal holds."""
    fleet.project("shop").fact("long-name-of-a-fact-about-the-lighthouse", FACT, title="Keepers")
    fleet.project("shop", path="copies/shop").fact("other", "A lighthouse elsewhere", title="Far")
    fleet.project("dock", "obsidian-only").note("n.md", "# The lighthouse\n\none\ntwo lighthouse\n")
    return fleet


def lines(drawn: str) -> list[str]:
    """What is seen, line by line, without what was drawn over."""
    shown = ESCAPES.sub("", drawn.replace("\r\n", "\n")).split("\n")
    return [line.rpartition("\r")[2] for line in shown]


@pytest.mark.parametrize("columns", [80, 200])
def test_hits_keep_within_the_terminal_and_break_no_word(
    fleet_of_two: FleetBuilder, columns: int
) -> None:
    code, drawn = on_terminal(
        "search", "lighthouse", "--root", fleet_of_two.root, COLUMNS=str(columns)
    )

    shown = lines(drawn)
    assert code == 0
    assert max(map(len, shown)) <= columns
    assert "\x1b[1mlighthouse\x1b[22m" in drawn
    assert "<U+000A>" not in drawn
    assert any(line.startswith("    … ") for line in shown)
    assert any(line.endswith(" …") for line in shown)
    said = {word for line in shown if line.startswith("    ") for word in line.split()}
    known = {*FACT.split(), "…", "#", "The", "two", "A", "elsewhere"}
    assert said <= known, said - known
    places = [line.split()[0] for line in shown if re.match(r"\S+\.md:\d+", line)]
    named = sorted({place.partition(":")[0] for place in places})
    assert len(named) == 3
    assert named[0] == "dock"
    assert all(re.fullmatch(r"shop-[0-9a-f]{4,7}", name) for name in named[1:])


def test_what_a_terminal_shows_is_accepted_back(fleet_of_two: FleetBuilder) -> None:
    _, drawn = on_terminal("search", "lighthouse", "--root", fleet_of_two.root)
    places = [line.split()[0] for line in lines(drawn) if re.match(r"\S+\.md:\d+", line)]

    assert len(places) >= 3
    for place in places:
        opened = run("open", place, "--print", "--root", fleet_of_two.root)
        named = place.partition(":")[0]
        one = ("--project", named, "--json", "--root", fleet_of_two.root)
        project = run("search", "lighthouse", *one)
        assert opened.code == 0, opened.words
        assert Path(opened.text.strip()).is_file()
        assert len({hit["project"] for hit in project.data["hits"]}) == 1
        assert project.data["hits"][0]["project"].startswith(named)


def test_programs_are_given_whole_ids(fleet_of_two: FleetBuilder) -> None:
    rows = run("search", "lighthouse", "--root", fleet_of_two.root).text.splitlines()

    assert rows
    for row in rows:
        assert re.match(r"(shop|dock)-[0-9a-f]{8}:", row)


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize(
    "command", ["scan", "memory", "vault", "capabilities", "instructions", "memory --differences"]
)
def test_rows_stack_and_are_folded_inside_no_id_and_no_path(
    fleet: FleetBuilder, command: str, columns: int
) -> None:
    for number in range(12):
        project = fleet.project(f"harbour-master-{number:02d}", "obsidian-only")
        project.fact("opening", f"- **Opening**: {number} o'clock", title="Opening hours")
        project.note("lights.md", "# Lights of the pier\n")
        project.write("AGENTS.md", "Be brief.\n")
        project.capabilities(skills={f"steer-{number}": "Steers a ship"})

    _, drawn = on_terminal(*command.split(), "--root", fleet.root, COLUMNS=str(columns))

    shown = lines(drawn)
    # A path is never broken: one that is longer than a line is the terminal's to wrap.
    assert all(len(line) <= columns or " " not in line.strip() for line in shown)
    whole = "\n".join(shown)
    for number in range(12):
        assert re.search(rf"(?<!\S)\S*harbour-master-{number:02d}(?=[\s:/]|$)", whole, re.MULTILINE)
    if command == "scan":
        assert whole.count("warning: MEMORY_INDEX_MISSING: 12 projects, ") == 1


@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root reads every folder"
)
def test_a_memory_folder_that_may_not_be_read_is_no_whole_answer(
    fleet: FleetBuilder,
) -> None:
    fleet.project("open").fact("f", "lighthouse")
    closed = fleet.project("closed")
    closed.fact("f", "lighthouse")
    folder = closed.folder / ".agents/memory"
    folder.chmod(0)
    # Another user, or root without its leave to read everything.
    command: tuple[str, ...] = MODULE
    if os.geteuid() == 0:
        command = (
            "setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all",
            sys.executable, "-m", "agentic_os",
        )  # fmt: skip
    try:
        asked = run("search", "lighthouse", "--root", fleet.root, command=command)
        document = run("memory", "--json", "--root", fleet.root, command=command)
    finally:
        folder.chmod(0o700)

    assert asked.code == document.code == 2
    assert asked.text.count("lighthouse") >= 1
    assert "left out: SURFACE_UNREADABLE: closed-" in asked.words
    (omission,) = document.document["omissions"]
    assert omission["scope"].startswith("closed-")
    assert not any(line.startswith(("info:", "error:")) for line in asked.words.splitlines())
