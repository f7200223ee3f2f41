import pytest

from agentic_os.aggregate.surfaces.memory import (
    group_hash,
    is_fact_name,
    is_template,
    parse_fact,
    parse_index,
)

FACT = """---
name: Retry policy
description: How often a charge is tried
type: project
---

**Why:** banks sleep.
"""


def test_a_fact_is_one_document_over_all_of_its_lines() -> None:
    (document,) = parse_fact(FACT, path="m/a.md", stem="project_retry-policy").documents

    assert (document.name, document.label, document.type) == (
        "Retry policy",
        "How often a charge is tried",
        "project",
    )
    assert (document.start, document.end) == (1, 7)
    assert document.body == FACT
    assert not document.template


def test_without_front_matter_the_stem_names_the_fact() -> None:
    (document,) = parse_fact("Just text.\n", path="m/a.md", stem="note_x").documents

    assert (document.name, document.type, document.label) == ("note_x", "unknown", "")


def test_nested_metadata_gives_the_type() -> None:
    text = "---\nname: a\nmetadata:\n  node_type: memory\n  type: feedback\n---\nBody\n"

    (document,) = parse_fact(text, path="m/a.md", stem="a").documents

    assert document.type == "feedback"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\n<!-- fill in -->\n",
        "<!-- a -->\n\n**Why:** <!-- why -->\n\n**How to apply:** <!-- how -->\n",
        "## Heading\n\n- **Role:**\n",
        "<!-- over\ntwo lines -->\n---\n",
    ],
)
def test_a_body_of_comments_and_bare_labels_is_a_template(body: str) -> None:
    assert is_template(body)


@pytest.mark.parametrize(
    "body", ["text", "**Why:** because", "<!-- a --> text", "- item", "x" * 5000, "`code`"]
)
def test_a_body_that_says_something_is_none(body: str) -> None:
    assert not is_template(body)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.md", True),
        ("A.MD", True),
        ("a.markdown", True),
        ("a.Mdx", True),
        ("SCHEMA.md", True),
        ("readme.md", True),
        (".hidden.md", False),
        ("a.md.new", False),
        ("a.txt", False),
    ],
)
def test_which_names_are_facts(name: str, expected: bool) -> None:
    assert is_fact_name(name) is expected


@pytest.mark.parametrize("stem", ["README", "schema", "Schema"])
def test_what_describes_the_convention_is_no_fact_until_it_says_so(stem: str) -> None:
    plain = parse_fact("# Memory schema\n\ntext\n", path="p", stem=stem).documents[0]
    fact = parse_fact("---\nname: Orders\n---\ntext\n", path="p", stem=stem).documents[0]

    assert (plain.type, plain.template) == ("convention", True)
    assert (fact.name, fact.type, fact.template) == ("Orders", "unknown", False)


def test_the_group_ignores_case_spacing_and_titles() -> None:
    one = parse_fact("---\nname: A\n---\nSame  text\nhere\n", path="p", stem="a").documents[0]
    two = parse_fact("---\nname: B\n---\n\nsame text here\n", path="p", stem="b").documents[0]
    other = parse_fact("---\nname: A\n---\nOther text\n", path="p", stem="a").documents[0]

    assert one.group == two.group != other.group
    assert group_hash("ß") != group_hash("x")


def test_the_index_is_cut_at_headings_and_lists_links() -> None:
    text = (
        "# Memory\n\nProse first. See [site](https://example.org/x.md).\n\n## Index\n\n"
        '- [One](one.md) — first\n- [Two](./two%20b.md#part "title") — second\n'
        "- [One again](one.md)\n- [Not a fact](image.png)\n"
    )

    parsed = parse_index(text)

    assert [(d.name, d.start, d.end) for d in parsed.documents] == [
        ("Memory", 1, 4),
        ("Index", 5, 10),
    ]
    assert [(link.title, link.target, link.line) for link in parsed.index_links] == [
        ("One", "one.md", 7),
        ("Two", "two b.md", 8),
    ]
    assert [d.type for d in parsed.documents] == ["index", "listing"]


def test_links_in_prose_do_not_list_facts() -> None:
    parsed = parse_index("See [one](one.md) for more.\n")

    assert parsed.index_links == ()
    assert parsed.documents[0].name == "MEMORY.md"


def test_forgiven_front_matter_is_said() -> None:
    parsed = parse_fact("---\nname: never closed\n\ntext\n", path="m/a.md", stem="a")

    assert [item.path for item in parsed.diagnostics] == ["m/a.md"]
    assert parsed.documents[0].body == "---\nname: never closed\n\ntext\n"
