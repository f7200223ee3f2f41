"""What single commands print, in this process."""

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from agentic_os.cli.entry import main
from support.fleet.builder import FleetBuilder
from support.process.cli_call import call


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def small(fleet: FleetBuilder) -> FleetBuilder:
    shop = fleet.project("shop")
    shop.fact("f", "one\nthe lighthouse\nis lit", title="Light", description="of it")
    shop.fact("g", "<!-- nothing -->", title="Template")
    shop.index("- [Light](f.md) - x\n")
    fleet.project("dock").fact("f", "one\nthe lighthouse\nis lit", title="Light")
    return fleet


def test_aggregate_counts_and_writes_the_view(small: FleetBuilder, tmp_path: Path) -> None:
    target = tmp_path / "view.md"

    text = call("aggregate", "--root", small.root, "--markdown", target)
    again = call("aggregate", "--root", small.root, "--markdown", target, "--json")
    printed = call("aggregate", "--root", small.root, "--markdown", "-")

    rows = dict(line.split("\t") for line in text.text.splitlines())
    assert (rows["projects"], rows["facts"], rows["files"]) == ("2", "3", "4")
    assert rows["facts stated in several projects"] == "1"
    assert again.data["files_removed"] == 0
    assert printed.text.startswith("# Global view\n")
    assert printed.text.replace(f"{tmp_path}/", "") == target.read_text()
    assert target.stat().st_mode & 0o777 == 0o644


def test_the_view_goes_nowhere_where_it_must_not(small: FleetBuilder, tmp_path: Path) -> None:
    below = call("aggregate", "--root", small.root, "--markdown", small.root / "shop/view.md")
    nowhere = call("aggregate", "--root", small.root, "--markdown", tmp_path / "no/view.md")
    folder = call("aggregate", "--root", small.root, "--markdown", tmp_path)

    assert (below.code, nowhere.code, folder.code) == (64, 64, 1)
    assert "OUTPUT_BELOW_ROOT" in below.words
    assert "PUBLISH_FAILED" in folder.words
    assert str(tmp_path) not in folder.words


def test_memory_says_what_is_odd_about_a_fact(small: FleetBuilder) -> None:
    rows = [line.split("\t") for line in call("memory", "--root", small.root).text.splitlines()]

    said = {(row[0].rpartition("-")[0], row[2]): row[3] for row in rows}
    assert said == {
        ("dock", "Light"): " (not in MEMORY.md, same in 1 more)",
        ("shop", "MEMORY.md"): "",
        ("shop", "Light"): "of it (same in 1 more)",
        ("shop", "Template"): " (unfilled template, not in MEMORY.md)",
    }


def test_differences_are_rows(fleet: FleetBuilder) -> None:
    for name, port in (("one", 80), ("two", 81)):
        fleet.project(name).fact("f", f"- **Port**: {port}")

    rows = call("memory", "--differences", "--root", fleet.root).text.splitlines()

    assert [row.split("\t")[:2] for row in rows] == [["Port", "80"], ["Port", "81"]]
    assert all(row.endswith(":.agents/memory/f.md:7") for row in rows)


def test_hits_on_a_terminal_are_read_line_by_line(
    small: FleetBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    with redirect_stdout(Terminal()) as stream:
        code = main(["search", "lighthouse", "--project", "shop", "--root", str(small.root)])

    assert code == 0
    first, second = stream.getvalue().splitlines()
    assert first.endswith(":.agents/memory/f.md:8  [memory] Light")
    assert second == "    the \x1b[1mlighthouse\x1b[22m"


def test_a_relaxed_search_says_so(small: FleetBuilder) -> None:
    finished = call("search", "lighthouse zebra", "--root", small.root)

    assert "2 of 2 hits in 2 projects, no passage has every word" in finished.words


def test_a_hit_that_only_the_graph_knows_says_so(fleet: FleetBuilder) -> None:
    project = fleet.project("p", "obsidian-graphify")
    project.write(
        "graphify-out/graph.json",
        '{"nodes": [{"id": "a", "label": "load()", "source_file": "gone.py",'
        ' "source_location": "L4"}], "links": []}',
    )

    finished = call("search", "load", "--root", fleet.root)

    assert "\tgraph, not confirmed\tload()\t" in finished.text


def test_ranked_projects_are_rows(small: FleetBuilder) -> None:
    finished = call("search", "lighthouse", "--projects-only", "--root", small.root)

    assert [row.split("\t")[1:3] for row in finished.text.splitlines()] == [
        ["dock", "1"],
        ["shop", "1"],
    ]
    assert "2 projects in 2 projects" in finished.words


def test_surfaces_in_a_scan(fleet: FleetBuilder) -> None:
    fleet.project("none", None)
    full = fleet.project("full", "obsidian-graphify-rag")
    full.fact("f", "text")

    rows = [line.split("\t") for line in call("scan", "--root", fleet.root).text.splitlines()]

    assert [(row[1], row[2], row[3]) for row in rows] == [
        ("3", "obsidian-graphify-rag", "memory vault(missing) graph(missing) rag(unset)"),
        ("-", "none", "-"),
    ]
    assert rows[0][5] == "MEMORY_INDEX_MISSING VAULT_MISSING"


def test_a_hit_on_a_terminal_is_plain_where_no_style_is_wanted(
    small: FleetBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with redirect_stdout(Terminal()) as stream:
        main(["search", "lighthouse", "--project", "shop", "--root", str(small.root)])

    assert stream.getvalue().splitlines()[1] == "    the lighthouse"


def test_paths_may_be_absolute(small: FleetBuilder) -> None:
    found = call("search", "lighthouse", "--project", "shop", "--absolute", "--root", small.root)

    assert found.text.split("\t")[0] == f"{small.root}/shop/.agents/memory/f.md:8"


def test_lines_of_a_passage_are_one_line_of_cells(fleet: FleetBuilder) -> None:
    fleet.project("p").fact("f", "one lighthouse\ntwo lighthouse")

    (row,) = call(
        "search", "lighthouse", "--root", fleet.root, "--kind", "memory"
    ).text.splitlines()

    assert "<U+000A>" not in row
    assert row.count("\t") == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["zebra"], "Fewer words"),
        (["zebra", "--kind", "vault"], "Try without --kind vault."),
        (["zebra", "--project", "shop"], "Try without --project shop."),
    ],
)
def test_nothing_found_says_what_may_help(small: FleetBuilder, words: list[str], said: str) -> None:
    assert said in call("search", *words, "--root", small.root).words


def test_nothing_found_says_what_was_asked_and_how_it_may_be_spelled(fleet: FleetBuilder) -> None:
    fleet.project("shop").fact("f", "The Lighthouse keeper sleeps", title="Keepers")
    other = fleet.project("dock", "obsidian-only")
    other.note("n.md", "# Harbour capabilities\n\nOpen at night.\n")

    def words(*asked: str) -> list[str]:
        return call("search", *asked, "--root", fleet.root).words.splitlines()

    said = words("lighthuose")
    assert said[0].startswith("nothing found: 0 of 0 hits in 2 projects; asked: memory")
    assert said[1:] == [
        "Spelled nearly so: lighthouse",
        "Try: agentic-os search lighthouse",
    ]
    assert "Try: agentic-os search 'harbour zzz'" in words("habrour", "zzz")
    assert "Spelled nearly so: capabilities" in words("capabilites")
    # What may not be shown is not offered either.
    narrow = words("lighthuose", "--kind", "vault")
    assert narrow[0].endswith("asked: vault")
    assert narrow[1:] == [
        "Try without --kind vault.",
        "Fewer words, or a part of one, may find more. By meaning: agentic-os model prepare",
    ]
    assert not any("lighthouse" in line for line in words("lighthuose", "--project", "dock"))


def test_where_no_project_is_that_is_said(tmp_path: Path) -> None:
    assert "agentic-os scan" in call("search", "zebra", "--root", tmp_path).words
