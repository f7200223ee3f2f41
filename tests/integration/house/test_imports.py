"""What each command loads: the start of a command is its imports."""

import os
import re
import sys
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder
from support.process.cli_process import run

HEAVY = frozenset(
    {
        "cryptography",
        "lance",
        "lancedb",
        "mcp",
        "networkx",
        "numpy",
        "onnx",
        "onnxruntime",
        "pyarrow",
        "pydantic",
        "sentence_transformers",
        "slhdsa",
        "starlette",
        "tokenizers",
        "torch",
        "tree_sitter",
        "uvicorn",
    }
)
NOT_FOR_HELP = frozenset({"httpx", "msgspec", "rich", "sqlite3", "tomli", "tomlkit", "yaml"})
_LINE = re.compile(r"^import time:\s+\d+ \|\s+\d+ \|\s*(\S+)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the coverage of this run out of the processes whose imports are read."""
    for name in os.environ:
        if name.startswith("COVERAGE_PROCESS"):
            monkeypatch.delenv(name)


def loaded(*arguments: str | Path) -> set[str]:
    """The top-level packages that a command imports."""
    finished = run(*arguments, command=(sys.executable, "-X", "importtime", "-m", "agentic_os"))
    assert finished.code == 0, finished.words
    return packages_in(finished.words)


def packages_in(words: str) -> set[str]:
    return {name.partition(".")[0] for name in _LINE.findall(words)}


@pytest.fixture
def small(fleet: FleetBuilder) -> FleetBuilder:
    project = fleet.project("shop", "obsidian-only")
    project.fact("f", "lighthouse")
    project.note("n.md", "# Note\n")
    project.capabilities(skills={"steer": "Steers"})
    return fleet


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["search", "--help"], ["roots", "--help"]], ids=" ".join
)
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    packages = loaded(*words)

    assert packages & (HEAVY | NOT_FOR_HELP) == set()
    assert {"agentic_os", "typer"} <= packages


@pytest.mark.parametrize(
    "words",
    [["scan"], ["search", "lighthouse"], ["aggregate"], ["memory"], ["capabilities"]],
    ids=" ".join,
)
def test_fleet_commands_load_nothing_heavy(small: FleetBuilder, words: list[str]) -> None:
    packages = loaded(*words, "--json", "--root", small.root)

    assert packages & HEAVY == set()
    assert "yaml" in packages


def test_a_warm_search_loads_no_producer_of_tables(small: FleetBuilder) -> None:
    run("aggregate", "--root", small.root)

    packages = loaded("search", "lighthouse", "--root", small.root)

    assert packages & {"rich", "httpx", "tomlkit", "platformdirs"} <= {"platformdirs"}


def test_the_reading_of_import_times_can_fail(tmp_path: Path) -> None:
    """A planted import is seen, so that an empty reading cannot pass for a clean one."""
    (tmp_path / "planted.py").write_text("import networkx\nimport json\n")

    finished = run(
        command=(sys.executable, "-X", "importtime", "-c", "import planted"),
        environ={"PYTHONPATH": str(tmp_path)},
    )

    assert {"networkx", "json"} <= packages_in(finished.words)
