"""On a real terminal: tables, a progress bar, and no escape that a project wrote."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder
from support.model.lent import lend_tiny
from support.process.cli_process import run
from support.process.terminal import on_terminal

COLOUR = re.compile("\x1b\\[(?:3[0-8]|9[0-7]|4[0-8])[0-9;]*m")
EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\u202egpj.exe\x9b5m"
"""A window title, a cleared screen, colours, reversed text, an eight-bit introducer."""


@pytest.fixture
def evil(fleet: FleetBuilder) -> FleetBuilder:
    """A project that writes escapes wherever it can."""
    project = fleet.project("evil", "obsidian-only")
    project.write(
        ".agents/config.yaml",
        'project:\n  name: "evil \\e]0;owned\\a\\e[31m \\u202e"\n'
        '  description: "\\e[2J"\n  project_init_version: 1.2.2\n'
        "  project_init_contract_version: 2\n"
        "memory:\n  stack: obsidian-only\n  tier: 1\n  memory_path: .agents/memory\n"
        "  vault_path: .agents/vault\n",
    )
    project.fact("f", f"lighthouse {EVIL}", title=f"Title {EVIL}", description=EVIL)
    project.index(f"# Memory {EVIL}\n\n- [F {EVIL}](f.md)\n- [Gone {EVIL}](gone{EVIL}.md)\n")
    project.note(f"note-{EVIL.replace('/', '')}.md", f"# Note {EVIL}\n\n#tag [[{EVIL}]]\n")
    project.capabilities(
        skills={f"skill {EVIL}": EVIL}, servers={f"server {EVIL}": EVIL}, hooks=((EVIL, EVIL),)
    )
    project.write("AGENTS.md", EVIL)
    project.write("CLAUDE.md", "other")
    return fleet


COMMANDS = ["scan", "aggregate", "memory", "vault", "capabilities", "search lighthouse", "doctor"]


@pytest.mark.parametrize("command", [*COMMANDS, "search lighthouse --projects-only --explain"])
def test_nothing_a_project_wrote_reaches_the_terminal_raw(evil: FleetBuilder, command: str) -> None:
    code, drawn = on_terminal(*command.split(), "--root", evil.root)

    assert code in {0, 3}, drawn
    assert "owned\x07" not in drawn
    assert "\x1b]" not in drawn
    assert "\x1b[31mred" not in drawn
    assert "\x1b[2J" not in drawn
    assert "\u202e" not in drawn
    assert "\x9b" not in drawn
    assert "\x07" not in drawn


def unmarked(drawn: str) -> str:
    """What is drawn, without the marks of the words that were asked for."""
    return drawn.replace("\x1b[1m", "").replace("\x1b[22m", "")


def test_what_was_written_is_shown_spelt_out(evil: FleetBuilder) -> None:
    _, drawn = on_terminal("search", "lighthouse", "--root", evil.root)

    assert "lighthouse <U+001B>]0;owned<U+0007>" in unmarked(drawn)


@pytest.mark.parametrize("command", COMMANDS[:5])
def test_a_terminal_gets_a_table(fleet: FleetBuilder, command: str) -> None:
    project = fleet.project("shop", "obsidian-only")
    project.fact("f", "lighthouse")
    project.note("n.md", "# Note\n")
    project.capabilities(skills={"steer": "Steers"})

    code, drawn = on_terminal(*command.split(), "--root", fleet.root)

    assert code == 0
    assert "─────" in drawn
    assert "\x1b[1m" in drawn, "the heads of columns stand out"


def test_hits_are_lines_to_read_on_a_terminal(fleet: FleetBuilder) -> None:
    fleet.project("shop").fact("f", "one\nlighthouse two\nlighthouse three", title="Light")

    _, drawn = on_terminal("search", "lighthouse", "--root", fleet.root)

    assert "\x1b[1mlighthouse\x1b[22m" in drawn, "the words of the question stand out"
    lines = unmarked(drawn).replace("\r\n", "\n").split("\n")
    assert lines[0].endswith("[memory] Light")
    assert lines[1:3] == ["    lighthouse two", "    lighthouse three"]


def test_aggregate_shows_how_far_it_is(fleet: FleetBuilder) -> None:
    for number in range(30):
        fleet.project(f"p{number}").fact("f", "text")

    _, drawn = on_terminal("aggregate", "--root", fleet.root)

    assert "Reading" in drawn
    assert "━" in drawn
    assert "30/30" in drawn


def test_scan_shows_how_far_it_is(fleet: FleetBuilder) -> None:
    for number in range(30):
        fleet.project(f"p{number}", path=f"a/b/p{number}")

    _, drawn = on_terminal("scan", "--root", fleet.root)
    piped = run("scan", "--root", fleet.root)

    assert "Looking" in drawn
    assert "33/?" in drawn
    assert "━" in drawn
    assert drawn.index("Looking") < drawn.index("p17")
    assert b"Looking" not in piped.stderr
    assert b"\x1b" not in piped.stderr
    assert b"Looking" not in piped.stdout


def test_a_build_of_the_index_shows_how_far_and_how_fast_it_is(
    fleet: FleetBuilder, places: Path
) -> None:
    lend_tiny(places / "data")
    project = fleet.project("p")
    for fact in range(600):
        project.fact(f"f{fact}", f"alpha {fact} beta")

    code, drawn = on_terminal("index", "build", "--root", fleet.root)

    assert code == 0, drawn
    assert "Embedding" in drawn
    assert re.search(r"(?:64|128|600)/600", drawn)
    assert re.search(r"\d+ a second", drawn)


SLOW_MODEL = """
import sys, time
from agentic_os.tiers.embed.onnx import OnnxEmbedder
real = OnnxEmbedder.encode_documents
def slow(embedder, texts):
    time.sleep(0.6)
    return real(embedder, texts)
OnnxEmbedder.encode_documents = slow
from agentic_os.cli.entry import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_build_of_the_index_says_how_long_it_will_take(fleet: FleetBuilder, places: Path) -> None:
    lend_tiny(places / "data")
    project = fleet.project("p")
    for fact in range(384):
        project.fact(f"f{fact}", f"alpha {fact:04} beta")

    _, drawn = on_terminal(
        "index",
        "build",
        "--root",
        fleet.root,
        command=(sys.executable, "-c", SLOW_MODEL),
        COLUMNS="80",
    )

    # Six steps of 0.6 s and equal texts: after two of them four are left.
    plain = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", drawn)
    said = [(int(a), int(b)) for a, b in re.findall(r"(\d+)/384 texts.*?0:(\d\d) left", plain)]
    assert said
    for done, left in said:
        assert abs(left - (384 - done) / 64 * 0.6) <= 2, said
    assert "\u2026" not in plain, "nothing is cut at 80 columns"


def test_a_first_question_shows_how_far_the_reading_is(fleet: FleetBuilder) -> None:
    for number in range(1_000):
        fleet.project(f"p{number}").fact("f", f"alpha {number}")

    _, drawn = on_terminal("search", "alpha", "--root", fleet.root, COLUMNS="80")
    _, again = on_terminal("scan", "--root", fleet.root / "p1", COLUMNS="80")
    asked = run("search", "alpha", "--root", fleet.root)

    assert re.search(r"Reading.* \d+/1000", re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", drawn))
    assert drawn.index("Reading") < drawn.index("[memory]")
    assert "Reading" not in again
    assert "Reading" not in asked.words


def test_no_colour_where_none_is_wanted(evil: FleetBuilder) -> None:
    for command in ("scan", "aggregate"):
        _, drawn = on_terminal(command, "--root", evil.root, NO_COLOR="1")
        assert COLOUR.search(drawn) is None, command
    _, drawn = on_terminal("scan", "--root", evil.root, TERM="dumb")
    assert "\x1b" not in drawn


def test_a_narrow_terminal_loses_no_row(fleet: FleetBuilder) -> None:
    for number in range(3):
        fleet.project(f"project-with-a-long-name-{number}").fact("f", "text " * 50)

    code, drawn = on_terminal("scan", "--root", fleet.root, COLUMNS="40")

    assert code == 0
    for number in range(3):
        assert f"-{number}" in drawn


def test_documents_are_the_same_on_a_terminal(fleet: FleetBuilder) -> None:
    fleet.project("shop").fact("f", "lighthouse")

    _, drawn = on_terminal("scan", "--json", "--root", fleet.root)

    assert drawn.startswith('{"schema":"agentic-os/scan/v1"')
    assert "\x1b" not in drawn


def test_a_ledger_shows_progress_and_no_escape_of_its_lines(tmp_path: Path) -> None:
    laws = tmp_path / "laws.md"
    laws.write_text(f"# Laws {EVIL}\n")
    assert run("ledger", "init", "--domain", "x.example", "--laws", laws).code == 0
    note = json.dumps({"id": "note_1", "content": f"met {EVIL}"})
    assert run("ledger", "append", "working.note", note).code == 0

    code, drawn = on_terminal("ledger", "verify")
    assert code == 0
    assert "Verifying" in drawn
    size = (Path(os.environ["AGENTIC_OS_DATA_DIR"]) / "identity/ledger.jsonl").stat().st_size
    plain = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", drawn)
    assert f"{size}/{size} bytes" in plain
    code, drawn = on_terminal("ledger", "show")
    assert code == 0
    assert "working.note" in drawn
    assert "\x1b]0;owned" not in drawn
    assert "\u202e" not in drawn
    assert not COLOUR.search(drawn)
    quiet = run("ledger", "verify")
    assert quiet.stderr == b""  # nothing is drawn where nobody watches
