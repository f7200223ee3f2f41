"""Whatever is typed, a command ends with one of the documented codes and says something."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.fleet.builder import FleetBuilder
from support.process.cli_call import call

CODES = {0, 1, 2, 3, 64}
# Without --markdown and the groups that write where they are told to.
WORDS = [
    "scan",
    "aggregate",
    "memory",
    "vault",
    "capabilities",
    "search",
    "doctor",
    "paths",
    "purge",
    "roots",
    "list",
    "--json",
    "--jsonl",
    "--root",
    "--project",
    "--kind",
    "--mode",
    "--limit",
    "--differences",
    "--explain",
    "--projects-only",
    "--templates",
    "--help",
    "--version",
    "--",
    "memory",
    "lexical",
    "5",
    "shop",
    "{root}",
]
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=()), max_size=12)
ARGUMENTS = st.lists(st.one_of(st.sampled_from(WORDS), TEXT), max_size=7)


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        fleet = FleetBuilder(root=Path(folder) / "fleet")
        project = fleet.project("shop", "obsidian-only")
        project.fact("f", 'The lighthouse is lit: **a** `b` "c" (d) [e] {f} 50% x_y -z ~w ^v')
        project.note("n.md", "# Note\n\nlight\n")
        project.capabilities(skills={"steer": "Steers"})
        yield fleet.root


def encodable(words: list[str]) -> list[str]:
    """What a shell can hand over: lone surrogates stand for bytes only where Python puts them."""
    return [word.encode("utf-8", "replace").decode() for word in words]


@settings(max_examples=150, deadline=None)
@given(words=ARGUMENTS)
def test_any_arguments(root: Path, words: list[str]) -> None:
    typed = [str(root) if word == "{root}" else word for word in encodable(words)]

    finished = call(*typed, current=root)

    assert finished.code in CODES
    if finished.code in {1, 64} and typed:
        assert finished.words
    plain = {"--help", "-h", "--version", "--", "--jsonl"}
    if (
        "--json" in typed
        and plain.isdisjoint(typed)
        and not any(word.startswith("-") and word not in WORDS for word in typed)
    ):
        assert len(finished.text.splitlines()) == 1
        assert json.loads(finished.text)["schema"].startswith("agentic-os/")


@settings(max_examples=120, deadline=None)
@given(
    query=st.text(st.characters(exclude_characters="\0", exclude_categories=()), min_size=1),
    mode=st.sampled_from(["auto", "lexical", "hybrid"]),
    limit=st.integers(1, 1_000),
    flags=st.sets(st.sampled_from(["--templates", "--explain", "--projects-only"])),
)
def test_any_query(root: Path, query: str, mode: str, limit: int, flags: set[str]) -> None:
    options = ["--mode", mode, "--limit", str(limit), *sorted(flags), "--root", str(root)]

    finished = call("search", *options, "--json", "--", query)

    assert finished.code == (64 if not query.strip() else 0), finished.words
    if finished.code == 0:
        data = finished.data
        assert len(data["hits"]) <= min(limit, data["total"])
        assert all(hit["confirmed"] for hit in data["hits"])
