import pytest

from agentic_os.aios.folder.eligibility import is_markdown, is_plugin_text, is_skipped
from agentic_os.aios.search.matching import Query
from agentic_os.aios.search.snippets import PLACES, boost, cut, description, places, title_of


def snippets(text: str, query: str) -> list[tuple[int, int, str, str, str]]:
    found = cut(text, places(text, Query(query)))
    return [(s.line, s.line_end, s.content, s.match, s.area) for s in found]


def test_a_line_with_its_neighbours() -> None:
    text = "# Title\n\n  before \nthe ship gate\nafter\nend"
    assert snippets(text, "ship gate") == [
        (3, 5, "before / the ship gate / after", "phrase", "body")
    ]


def test_order_is_kind_then_area_then_line() -> None:
    text = (
        "---\ndescription: 'the gate'\n---\nship here\n\n# About the ship gate\n\n"
        "ship gate again\n\nthe gate\n"
    )
    assert [(line, match, area) for line, _, _, match, area in snippets(text, "ship gate")] == [
        (5, "phrase", "heading"),
        (7, "phrase", "body"),
        (1, "partial", "description"),
        (1, "partial", "body"),
        (3, "partial", "body"),
        (9, "partial", "body"),
    ]
    assert snippets(text, "ship gate")[2][2] == "description: the gate"


def test_terms_on_different_lines_show_the_first_of_each() -> None:
    text = "a meeting\nnothing\nwas planned\nanother meeting"
    assert [entry[0] for entry in snippets(text, "meetings planning")] == [1, 2]
    assert snippets(text, "meetings planning")[0][3] == "inflected"
    assert snippets(text, "absent") == []


def test_beyond_many_phrases_only_headings_are_looked_for() -> None:
    text = "\n\n\n".join(["the gate"] * (PLACES + 20) + ["# The gate", "the gate"])
    found = places(text, Query("gate"))
    assert (found[0].area, len(found)) == ("heading", PLACES + 2)


def test_repeated_passages_are_shown_once() -> None:
    assert snippets("gate\ngate", "gate") == [(1, 2, "gate / gate", "phrase", "body")]
    found = snippets("gate", "gate")
    assert found == [(1, 1, "gate", "phrase", "body")]
    assert len(snippets("---\ndescription: gate\n---\n", "gate")) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nx: y\n---\n# T one \n# U", "T one"),
        ("# \n", None),
        ("---\nopen\n# T", "T"),
        ("text\n#T\n", None),
    ],
)
def test_titles(text: str, expected: str | None) -> None:
    assert title_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('---\na: b\ndescription:  "x: y" \n---\n', "x: y"),
        ("---\ndescription: plain\n---\n", "plain"),
        ("---\ndescription: 'open\n---\n", "'open"),
        ("---\ndescription:\n---\n", None),
        ("---\ndescription: unclosed\n", None),
        ("description: none", None),
    ],
)
def test_descriptions(text: str, expected: str | None) -> None:
    assert description(text) == expected


def test_what_adds_to_a_rank() -> None:
    query = Query("gate")
    heading = places("# gate", query)
    described = places("---\ndescription: gate\n---\n", query)
    assert boost(heading, query, title="x", path="y.md") == 2.0
    assert boost(described, query, title="x", path="y.md") == 3.0
    assert boost([], query, title="The gate", path="gate.md") == 3.5


@pytest.mark.parametrize(
    "name",
    [
        ".hidden.md",
        ".env",
        ".env.local",
        "node_modules",
        ".git",
        "credentials",
        "Credentials.md",
        "token.json",
        "x.pem",
        "X.KEY",
    ],
)
def test_names_that_are_passed_over(name: str) -> None:
    assert is_skipped(name)


def test_names_that_are_searched() -> None:
    assert not any(
        is_skipped(name) for name in ("tokens.md", "keys.md", "environment.md", "a.keys")
    )
    assert is_markdown("A.MD")
    assert not is_markdown("a.md.txt")
    assert is_plugin_text("manifest.json")
    assert not is_plugin_text("other.json")
