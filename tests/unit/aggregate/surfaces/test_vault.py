import pytest

from agentic_os.aggregate.surfaces.vault import (
    is_note_folder,
    is_note_name,
    link_targets,
    note_links,
    note_tags,
    parse_note,
)

NOTE = """---
title: ADR-001
tags: [database, decision]
---

# PostgreSQL

Text with #operations.

## Context

See [[on-call|the rota]] and [[missing]] and [[#Context]].
"""


def test_a_note_is_cut_at_its_headings_and_covers_every_line() -> None:
    documents = parse_note(NOTE, path="v/adr.md", stem="adr").documents

    assert [(d.name, d.start, d.end) for d in documents] == [
        ("ADR-001", 1, 5),
        ("PostgreSQL", 6, 9),
        ("Context", 10, 12),
    ]
    lines = {number for d in documents for number in range(d.start, d.end + 1)}
    assert lines == set(range(1, 13))
    assert {d.label for d in documents} == {"ADR-001"}


def test_a_note_without_headings_is_named_by_its_stem() -> None:
    (document,) = parse_note("only text\n", path="v/log.md", stem="log").documents

    assert (document.name, document.start) == ("log", 1)


def test_an_empty_note_contributes_nothing() -> None:
    assert parse_note("\n\n", path="v/a.md", stem="a").documents == ()


def test_front_matter_alone_is_still_searchable() -> None:
    (document,) = parse_note("---\ntitle: T\n---\n", path="v/a.md", stem="a").documents

    assert document.name == "T"


def test_tags_come_from_front_matter_and_text() -> None:
    assert note_tags(NOTE) == ("database", "decision", "operations")


def test_links_resolve_inside_the_project() -> None:
    targets = link_targets(["v/adr.md", "v/knowledge/on-call.md", "v/deep/er/on-call.md"])

    links = note_links(NOTE, path="v/adr.md", notes=targets)

    assert [(link.target, link.path, link.line) for link in links] == [
        ("on-call", "v/knowledge/on-call.md", 12),
        ("missing", None, 12),
        ("#Context", "v/adr.md", 12),
    ]


def test_a_link_may_name_folders_and_a_neighbour_wins() -> None:
    targets = link_targets(["v/a/x.md", "v/b/x.md", "v/b/home.md"])

    (by_path, beside) = note_links("[[a/x]] [[x.md]]", path="v/b/home.md", notes=targets)

    assert (by_path.path, beside.path) == ("v/a/x.md", "v/b/x.md")


@pytest.mark.parametrize(
    ("name", "expected"),
    [(".obsidian", False), (".trash", False), ("Templates", False), ("decisions", True)],
)
def test_which_folders_hold_notes(name: str, expected: bool) -> None:
    assert is_note_folder(name) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.md", True), ("README.md", False), (".a.md", False), ("a.canvas", False)],
)
def test_which_files_are_notes(name: str, expected: bool) -> None:
    assert is_note_name(name) is expected


def test_links_to_attachments_and_through_parents_resolve() -> None:
    notes = link_targets(["v/a/one.md", "v/b/two.md", "v/Cafe\u0301.md"])
    others = link_targets(["v/files/plan.canvas", "v/b/picture.png"])
    text = (
        "[[../b/two]] [[../../../etc/two]] [[Café]] [[plan.canvas]] [[../b/picture.png]] [[no.png]]"
    )

    links = note_links(text, path="v/a/one.md", notes=notes, others=lambda: others)

    assert [link.path for link in links] == [
        "v/b/two.md",
        None,
        "v/Cafe\u0301.md",
        "v/files/plan.canvas",
        "v/b/picture.png",
        None,
    ]


def test_other_files_are_asked_for_only_where_no_note_is_meant() -> None:
    def unasked() -> dict[str, str]:
        raise AssertionError

    notes = link_targets(["v/one.md"])

    note_links("[[one.md]] [[nowhere]] [[#h]]", path="v/x.md", notes=notes, others=unasked)
