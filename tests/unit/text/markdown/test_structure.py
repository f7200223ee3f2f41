"""Headings, links, wikilinks, tags and tables, and none of them from code or comments."""

import pytest

from agentic_os.text.markdown.structure import (
    MAX_SECTIONS_ENTRIES,
    MarkdownLink,
    Section,
    WikiLink,
    links,
    sections,
    tables,
    tags,
    wikilinks,
    without_comments,
)

HIDING = [
    "```\n{}\n```",
    "```md title\n{}\n```",
    "~~~\n{}\n~~~",
    "~~~ `x`\n{}\n~~~",
    "````\n```\n{}\n```\n````",
    "~~~\n```\n{}\n~~~",
    "   ```\n   {}\n   ```",
    "- item\n\n    ```\n{}\n    ```",
    "```\n{}",
    "<!-- {} -->",
    "<!--\n{}\n-->",
    "<!--\n\n```\n{}\n-->",
    "<!--\n{}",
    "  <!--\n{}\n",
]
SPANNING = ["`{}`", "\\\\`{}`", "\\```{}``", "``a ` {} ``", "`a\n{} b`", "x <!-- {} --> y"]


# --- sections ---------------------------------------------------------------------------


def heads(text: str) -> list[tuple[int, str, int, int]]:
    return [(s.level, s.title, s.start, s.end) for s in sections(text)]


def test_sections_partition_the_lines() -> None:
    text = "pre\n\n# One\ntext\n## Two\n\n# Three\n"
    assert heads(text) == [
        (0, "", 1, 2),
        (1, "One", 3, 4),
        (2, "Two", 5, 6),
        (1, "Three", 7, 7),
    ]


@pytest.mark.parametrize(
    ("text", "end"), [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\n\n", 2), ("# h", 0)]
)
def test_the_preamble_is_always_first(text: str, end: int) -> None:
    assert sections(text)[0] == Section(level=0, title="", start=1, end=end)


@pytest.mark.parametrize(
    ("line", "level", "title"),
    [
        ("# a", 1, "a"),
        ("###### a", 6, "a"),
        ("#\ta", 1, "a"),
        ("   # a", 1, "a"),
        ("#", 1, ""),
        ("## ", 2, ""),
        ("# a #", 1, "a"),
        ("# a ###  ", 1, "a"),
        ("# #", 1, ""),
        ("# a#", 1, "a#"),
        ("# C# guide", 1, "C# guide"),
        ("# `code` **b**", 1, "`code` **b**"),
        ("# a <!-- c -->", 1, "a <!-- c -->"),
    ],
)
def test_atx_headings(line: str, level: int, title: str) -> None:
    assert heads(line)[1:] == [(level, title, 1, 1)]


@pytest.mark.parametrize("line", ["#a", "####### a", "    # a", "\t# a", "\\# a", "> # a", "a # b"])
def test_lines_that_are_no_headings(line: str) -> None:
    assert len(sections(line)) == 1


@pytest.mark.parametrize(
    ("rule", "level"), [("===", 1), ("=", 1), ("---", 2), ("--", 2), (" ==  ", 1)]
)
def test_setext_headings(rule: str, level: int) -> None:
    assert heads(f"pre\n\nTitle \n{rule}\ntext") == [(0, "", 1, 2), (level, "Title", 3, 5)]
    assert heads(f"Title\n{rule}")[0] == (0, "", 1, 0)


@pytest.mark.parametrize(
    "text",
    [
        "---",
        "\n---",
        "a\n\n---",
        "# a\n---",
        "- a\n---",
        "1. a\n---",
        "> a\n---",
        "| a |\n---",
        "    code\n---",
        "\tcode\n---",
        "a\n- - -",
        "a\n-",
        "a\n=-=",
        "a\n    ===",
    ],
)
def test_rules_that_underline_no_paragraph(text: str) -> None:
    assert [level for level, *_ in heads(text)] == ([0, 1] if text[0] == "#" else [0])


def test_an_underline_belongs_to_one_heading_only() -> None:
    assert heads("Title\n===\n===") == [(0, "", 1, 0), (1, "Title", 1, 3)]
    assert heads("a\n---\nb\n---")[1:] == [(2, "a", 1, 2), (2, "b", 3, 4)]


@pytest.mark.parametrize("hiding", HIDING)
def test_headings_in_code_and_comments_are_none(hiding: str) -> None:
    for inner in ("# no", "no\n===", "no\n---"):
        text = hiding.format(inner)
        assert len(sections(text)) == 1, text


@pytest.mark.parametrize(
    "closed", [hiding for hiding in HIDING if not hiding.endswith(("{}", "{}\n"))]
)
def test_what_follows_code_and_comments_counts_again(closed: str) -> None:
    text = closed.format("x") + "\n\n# yes\n[t](u) [[w]] #tag\n"
    assert [section.title for section in sections(text)] == ["", "yes"]
    assert len(links(text)) == len(wikilinks(text)) == len(tags(text)) == 1
    assert sections(text)[1].start == text.split("\n").index("# yes") + 1


@pytest.mark.parametrize(
    "text",
    [
        "``` a`b\n# yes",  # an info string holds no backtick
        "``\n# yes\n``",
        "~~\n# yes",
        "`a\n\n# yes `",  # a span stays in its paragraph
        "`a\n# yes\nb`",
        "x <!-- open\n# yes",  # within a line only a closed comment hides
        "\\<!-- x\n# yes",
        "<!-->\n# yes",
        "<!--->\n# yes",
        "\\`a\n# yes `",
    ],
)
def test_what_hides_nothing(text: str) -> None:
    assert sections(text)[-1].title.startswith("yes")


def test_a_fence_closes_with_its_own_character_and_length() -> None:
    text = "````\n```\n~~~~\n```` x\n# no\n`````\n# yes"
    assert [section.title for section in sections(text)] == ["", "yes"]


# --- links ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "title", "target"),
    [
        ("[t](u)", "t", "u"),
        ("[](u)", "", "u"),
        ("[t]()", "t", ""),
        ("[t]( u )", "t", "u"),
        ("[t](u.md)", "t", "u.md"),
        ("[t](my file.md)", "t", "my file.md"),
        ("[t](my%20file.md)", "t", "my%20file.md"),
        ("[t](<my file.md>)", "t", "my file.md"),
        ('[t](<a)b> "title")', "t", "a)b"),
        ('[t](u "title")', "t", "u"),
        ("[t](u 'title')", "t", "u"),
        ("[t](u (title))", "t", "u"),
        ('[t](my file.md "a title")', "t", "my file.md"),
        ('[t](u "open)', "t", 'u "open'),
        ("[t](a(b)c.md)", "t", "a(b)c.md"),
        ("[t](a\\)b.md)", "t", "a)b.md"),
        ("[t](a\\b.md)", "t", "a\\b.md"),
        ("[t](../x.md#h?q)", "t", "../x.md#h?q"),
        ("[two\nlines](u)", "two lines", "u"),
        ("[a [b] c](u)", "a [b] c", "u"),
        ("[`code` x](u)", "`code` x", "u"),
        ("[a \\] b](u)", "a ] b", "u"),
        ("[![alt](img)](u)", "![alt](img)", "u"),
        ("x[t](u)y", "t", "u"),
        ("- [Title](file.md) — text", "Title", "file.md"),
        ("[[t](u)", "t", "u"),
        ("[t](<u)", "t", "<u"),
    ],
)
def test_inline_links(text: str, title: str, target: str) -> None:
    assert links(text) == (MarkdownLink(title=title, target=target, line=1),)


@pytest.mark.parametrize(
    "text",
    [
        "![alt](img)",
        "\\[t](u)",
        "[t] (u)",
        "[t][ref]",
        "[t](u",
        "[t](u\n)",
        "[t](a(b)",
        "t](u)",
        "[a\n\nb](u)",
        "[x]",
        "",
    ],
)
def test_what_is_no_link(text: str) -> None:
    assert links(text) == ()


def test_links_know_their_lines() -> None:
    text = "[a](1)\n[b](2) [c](3)\n\n[d\nd](4)\n[e](5)"
    assert [(link.target, link.line) for link in links(text)] == [
        ("1", 1),
        ("2", 2),
        ("3", 2),
        ("4", 4),
        ("5", 6),
    ]


@pytest.mark.parametrize("hiding", HIDING + SPANNING)
def test_code_and_comments_hold_no_links_and_tags(hiding: str) -> None:
    text = hiding.format("[t](u) [[w]] #tag")
    assert (links(text), wikilinks(text), tags(text)) == ((), (), ())


# --- wikilinks --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "target", "heading", "alias"),
    [
        ("[[note]]", "note", "", ""),
        ("[[ note ]]", "note", "", ""),
        ("[[folder/note.md]]", "folder/note.md", "", ""),
        ("[[note#head]]", "note", "head", ""),
        ("[[note#h1#h2]]", "note", "h1#h2", ""),
        ("[[#head]]", "", "head", ""),
        ("[[note|alias]]", "note", "", "alias"),
        ("[[note#head|alias]]", "note", "head", "alias"),
        ("[[note|alias#head]]", "note", "head", "alias"),
        ("[[note\\|alias]]", "note", "", "alias"),
        ("[[note|C# guide]]", "note", "", "C# guide"),
        ("[[note|issue #12]]", "note", "", "issue #12"),
        ("[[note|a|b]]", "note", "", "a|b"),
        ("[[note#head|x#y]]", "note", "head", "x#y"),
        ("[[[note]]]", "note", "", ""),
        ("[[a[[note]]", "note", "", ""),
    ],
)
def test_wikilinks(text: str, target: str, heading: str, alias: str) -> None:
    assert wikilinks(text) == (WikiLink(target=target, heading=heading, alias=alias, line=1),)


def test_embeds_are_marked() -> None:
    assert [link.embed for link in wikilinks("![[a]] [[b]] !x[[c]]")] == [True, False, False]


@pytest.mark.parametrize(
    "text", ["[[]]", "[[ ]]", "[[|a]]", "[[#]]", "[[a\nb]]", "[[a]", "[a]", ""]
)
def test_what_is_no_wikilink(text: str) -> None:
    assert wikilinks(text) == ()


def test_wikilinks_know_their_lines() -> None:
    assert [link.line for link in wikilinks("\n[[a]]\n```\n[[b]]\n```\n[[c]] [[d]]")] == [2, 6, 6]


# --- tags -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#tag", ["tag"]),
        ("a #tag, b", ["tag"]),
        ("#tag/sub/x-y_z", ["tag/sub/x-y_z"]),
        ("#größe #日本", ["größe", "日本"]),
        ("(#tag)", ["tag"]),
        ("x (#tag)", ["tag"]),
        ("#a,#b;#c >#d", ["a", "b", "c", "d"]),
        ("#1a #2024-01", ["1a", "2024-01"]),
        ("#tag/ #-x- #a.b", ["tag", "x", "a"]),
        ("\u3000#wide", ["wide"]),
        ("#123 #1/2", []),
        ("# heading", []),
        ("##tag", []),
        ("a#tag", []),
        ("https://h/x#frag", []),
        ("[t](#anchor)", []),
        ("[[#head]]", []),
        ('<a href="#x">', []),
        ("\\#tag", []),
        ("#", []),
        ("#/", []),
        ("none", []),
    ],
)
def test_tags(text: str, found: list[str]) -> None:
    assert [tag for tag, _ in tags(text)] == found


def test_tags_know_their_lines() -> None:
    assert tags("x\n#a #b\n\n`#c`\n#d") == (("a", 2), ("b", 2), ("d", 5))


# --- tables -----------------------------------------------------------------------------


def rows(text: str) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    return [(t.header, [row.cells for row in t.rows]) for t in tables(text.split("\n"))]


@pytest.mark.parametrize(
    ("text", "header", "cells"),
    [
        ("| a | b |\n|---|---|\n| 1 | 2 |", ("a", "b"), [("1", "2")]),
        ("a | b\n--|--\n1 | 2", ("a", "b"), [("1", "2")]),
        ("|a|b|\n|:-|-:|\n|1|2|", ("a", "b"), [("1", "2")]),
        ("| a |\n| :---: |\n| 1 |", ("a",), [("1",)]),
        ("| a | b |\n|---|---|", ("a", "b"), []),
        ("| a |\n---\n| 1 |", ("a",), [("1",)]),
        ("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |", ("a", "b"), [("1", ""), ("1", "2")]),
        ("| a | b |\n|---|---|\n| x \\| y | `p \\| q` |", ("a", "b"), [("x | y", "`p | q`")]),
        ("| a \\| b | c |\n|---|---|\n| 1 | 2 \\|", ("a | b", "c"), [("1", "2 |")]),
        ("| a | b |\n|---|---|\n|  | 2 |", ("a", "b"), [("", "2")]),
        ("|a|b|\n|-|-|\n\\\\| 1 |", ("a", "b"), [("\\| 1", "")]),
        ("  | a | b |  \n  |---|---|  \n  | 1 | 2 |  ", ("a", "b"), [("1", "2")]),
    ],
)
def test_a_table(text: str, header: tuple[str, ...], cells: list[tuple[str, ...]]) -> None:
    assert rows(text) == [(header, cells)]


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |",
        "| a | b |\n| 1 | 2 |",
        "| a | b |\n|---|",
        "| a |\n|---|---|",
        "a | b\n---",
        "| a | b |\n\n|---|---|",
        "| a | b |\n|---|-x-|",
        "| a | b |\n|---|:|",
        "text\n---",
        "",
        "```\n| a |\n|---|\n```",
        "<!--\n| a |\n|---|\n-->",
    ],
)
def test_what_is_no_table(text: str) -> None:
    assert rows(text) == []


def test_a_table_ends_at_a_line_without_pipe() -> None:
    text = "| a |\n|---|\n| 1 |\n\n| 2 |\ntext\n| b |\n|---|\n| 3 |\nend"
    assert rows(text) == [(("a",), [("1",)]), (("b",), [("3",)])]


def test_rows_know_their_lines() -> None:
    lines = ["text", "| a |", "|---|", "| 1 |", "| 2 |"]
    (table,) = tables(lines, first_line=11)
    assert table.line == 12
    assert [row.line for row in table.rows] == [14, 15]
    (first,) = tables(lines)
    assert first.line == 2


def test_code_spans_stay_in_cells() -> None:
    assert rows("| a | `b` |\n|---|---|\n| `1` | 2 |") == [(("a", "`b`"), [("`1`", "2")])]


# --- comments ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <!-- b --> c", "a  c"),
        ("<!-- a\nb -->\nc", "\n\nc"),
        ("<!-- a --><!-- b -->", ""),
        ("a\n<!-- open\nto the end", "a\n\n"),
        ("a <!-- open", "a <!-- open"),
        ("`<!-- code -->`", "`<!-- code -->`"),
        ("```\n<!-- code -->\n```", "```\n<!-- code -->\n```"),
        ("<!-- ``` --> x", " x"),
        ("plain", "plain"),
        ("<!--> x", " x"),
    ],
)
def test_comments_go_and_lines_stay(text: str, left: str) -> None:
    assert without_comments(text) == left
    assert without_comments(text).count("\n") == text.count("\n")


def test_a_table_beside_code_and_comments() -> None:
    """What is masked keeps its place: neither lines nor cells move."""
    lines = [
        "```",
        "| no | table |",
        "|---|---|",
        "```",
        "",
        "| a `b` | c <!-- d --> |",
        "|---|---|",
        "| one two | `x\\|y` |",
        "| <!-- | --> 3 | 4 |",
        "",
        "<!--",
        "| e | f |",
        "|---|---|",
        "-->",
    ]
    (table,) = tables(lines, first_line=11)
    assert (table.header, table.line) == (("a `b`", "c"), 16)
    assert [(row.cells, row.line) for row in table.rows] == [
        (("one two", "`x|y`"), 18),
        (("3", "4"), 19),
    ]


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (["| a |", "|---|"], 1),
        (["| a |", "---"], 1),
        (["| a |", "aaa"], 0),
        (["| a |", "|aaa|"], 0),
        (["| a |", ":-:"], 1),
        (["| a | b |", "---"], 0),
        (["| a | b |", "--- ---"], 0),
        (["| a | b |", "---|---"], 1),
        (["| a | b |", "|---|"], 0),
    ],
)
def test_what_makes_a_table(lines: list[str], count: int) -> None:
    assert len(tables(lines)) == count


def test_an_image_does_not_end_the_links_of_a_line() -> None:
    found = links("![i](a.png) \\[no](b) [yes](c.md) [angle](<d e>f>) [empty](<>) [one](<x>)")
    assert [(link.title, link.target) for link in found] == [
        ("yes", "c.md"),
        ("angle", "d e"),
        ("empty", ""),
        ("one", "x"),
    ]


def test_a_tag_keeps_its_inner_marks_only() -> None:
    assert [tag for tag, _ in tags("#a/b- #-c #Xx/ #X")] == ["a/b", "c", "Xx", "X"]


def test_the_last_section_holds_the_rest_of_a_text_with_too_many() -> None:
    text = "# a\n" * (MAX_SECTIONS_ENTRIES + 5)
    found = sections(text)
    assert len(found) == MAX_SECTIONS_ENTRIES
    assert (found[-1].start, found[-1].end) == (MAX_SECTIONS_ENTRIES - 1, MAX_SECTIONS_ENTRIES + 5)
    assert len(sections("# a\n" * (MAX_SECTIONS_ENTRIES - 1))) == MAX_SECTIONS_ENTRIES


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("    ```\n    code\n\n# H\n", ["H"]),
        ("\t```\n# H\n", ["H"]),
        ("- item\n\n      ```\n\n# H\n", ["H"]),
        ("    - no list: a block of code\n      ```\n# H\n", ["H"]),
        ("   ```\n# not\n   ```\n", []),
        ("- item\n\n    ```\n# not\n    ```\n", []),
        ("1. one\n   - two\n\n     ```\n# not\n     ```\n", []),
    ],
)
def test_a_fence_reaches_three_blanks_beyond_its_list_item(text: str, titles: list[str]) -> None:
    assert [section.title for section in sections(text) if section.title] == titles
