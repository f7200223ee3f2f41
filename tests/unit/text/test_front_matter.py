"""Front matter as people and tools write it, and as YAML would lose it."""

import pytest

from agentic_os.text.front_matter import (
    BAD_LINE,
    DUPLICATE_KEY,
    NO_KEYS,
    UNCLOSED,
    split_front_matter,
)


def fields(block: str) -> dict[str, str]:
    found = split_front_matter(f"---\n{block}\n---\nbody\n")
    assert found.present
    assert found.closed
    assert found.body == "body\n"
    assert found.body_line == block.count("\n") + 4
    return found.fields


def test_the_flat_form_of_facts() -> None:
    found = split_front_matter(
        "---\nname: A name\ndescription: It is so.\ntype: user\n---\n\nBody\n"
    )
    assert found.fields == {"name": "A name", "description": "It is so.", "type": "user"}
    assert (found.present, found.closed, found.problems) == (True, True, ())
    assert found.body == "\nBody\n"
    assert found.body_line == 6


@pytest.mark.parametrize(
    "value",
    [
        "no",
        "1.10",
        "2026-01-02",
        "2026-13-45",
        "null",
        "~",
        "fixes #12 for good",
        "foo: bar: baz",
        "@team decides",
        "`code` first",
        "*starred*",
        "[x] y",
        "[x]",
        "- dash",
        "& anchor",
        "%percent",
        '"open quote',
        "it's",
        '"a" and "b"',
        "a --- b",
        "{not: a map}",
        "| pipe",
        "emoji 🚀",
        "a\\nb",
        "???",
    ],
)
@pytest.mark.parametrize("key", ["name", "description"])
def test_values_stay_as_written(key: str, value: str) -> None:
    assert fields(f"{key}: {value}") == {key: value}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"quoted: text"', "quoted: text"),
        ("'single'", "single"),
        ("'it''s'", "it's"),
        ('"say \\"hi\\""', 'say "hi"'),
        ('"back\\\\slash"', "back\\slash"),
        ('"tab\\tnew\\nline"', "tab\tnew\nline"),
        ('"\\u00e4\\x41"', "äA"),
        ('"\\ud83d\\ude80"', "🚀"),
        ('"lone \\ud83d"', "lone \ufffd"),
        ('"unknown \\d"', "unknown \\d"),
        ('"nul\\0 cr\\r slash\\/"', "nul cr\r slash/"),
        ('"with" # comment', "with"),
        ("'with' # comment", "with"),
        ('"not"#comment', '"not"#comment'),
        ('""', ""),
        ("''", ""),
        ('"', '"'),
        ("'", "'"),
        ("", ""),
        ("   spaced   ", "spaced"),
        ("\ttabbed", "tabbed"),
    ],
)
def test_quotes_around_a_whole_value_are_removed(written: str, value: str) -> None:
    assert fields(f"name: {written}") == {"name": value}


@pytest.mark.parametrize(
    ("block", "value"),
    [
        ("k: |\n  one\n  two", "one\ntwo"),
        ("k: |\n  one\n\n    two\n", "one\n\n  two"),
        ("k: |-\n  one", "one"),
        ("k: >\n  one\n  two\n\n  three", "one two\nthree"),
        ("k: >-\n  one\n  two", "one two"),
        ("k: >\n\n\n  one\n\n\n\n  two\n\n", "one\ntwo"),
        ("k: >2+ # comment\n  one", "one"),
        ("k: |\n", ""),
        ("k: |\n   \n\n", ""),
        ("k: one\n  two\n\tthree", "one two three"),
        ("k:\n  one\n  two", "one two"),
        ('k: "one\n  two"', "one two"),
        ("k:\n", ""),
        ("k:\n\n", ""),
        ("k: |\n  a: b\n  # c", "a: b\n# c"),
    ],
)
def test_further_lines_are_joined(block: str, value: str) -> None:
    assert fields(f"{block}\nnext: x") == {"k": value, "next": "x"}


@pytest.mark.parametrize(
    ("block", "value"),
    [
        ("tags: [a, b]", "a, b"),
        ('tags: ["a", "b", \'c\']', "a, b, c"),
        ("tags: [\"a, b\", c, 'd, e']", "a, b, c, d, e"),
        ("tags: []", ""),
        ("tags: ['a, b, c, d', e]", "a, b, c, d, e"),
        ('tags: ["a, b]', '"a, b'),
        ("tags: [a,, b,]", "a, b"),
        ("tags: [a,\n  b]", "a, b"),
        ('tags: ["open, b]', '"open, b'),
        ("tags: ['x', 'y]", "x, 'y"),
        ("tags:\n  - a\n  - 'b c'", "a, b c"),
        ("tags:\n- a\n- b\n# no\n- c", "a, b"),
        ("tags:\n  - a\n    more\n  # comment\n  - b", "a more, b"),
        ("tags:\n  -\n  - b", "b"),
        ("tags:\n  - key: value", "key: value"),
        ("related: [[note]]", "[[note]]"),
    ],
)
def test_lists_become_one_text(block: str, value: str) -> None:
    assert split_front_matter(f"---\n{block}\n---\n").fields == {block.partition(":")[0]: value}


def test_nested_metadata_is_a_fallback() -> None:
    nested = (
        "name: a\nmetadata:\n  node_type: memory\n  type: feedback\n  name: inner\n"
        "  modified: 2026-01-02T03:04:05Z\n  deep:\n    type: deeper\n  tags: [x, y]\nlast: z"
    )
    assert fields(nested) == {
        "name": "a",
        "node_type": "memory",
        "type": "feedback",
        "modified": "2026-01-02T03:04:05Z",
        "tags": "x, y",
        "last": "z",
    }


def test_an_explicit_key_wins_wherever_it_stands() -> None:
    assert fields("metadata:\n  type: inner\ntype: outer")["type"] == "outer"
    assert fields("type: outer\nmetadata:\n  type: inner")["type"] == "outer"


def test_inline_metadata_is_a_fallback_too() -> None:
    found = fields('metadata: {type: user, name: "a, b", x}\ndescription: d')
    assert found == {"type": "user", "name": "a, b", "description": "d"}


def test_scalar_metadata_is_an_ordinary_key() -> None:
    assert fields("metadata: text") == {"metadata": "text"}
    assert fields("metadata:") == {"metadata": ""}
    assert fields("metadata:\n  metadata:\n    type: user\n  a: b") == {"a": "b"}


def test_other_nested_mappings_are_passed_over() -> None:
    assert fields("author:\n  name: Bob\n  type: person\nname: real") == {"name": "real"}


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("key:value", "key", "value"),
        ("two words: v", "two words", "v"),
        ("kebab-key: v", "kebab-key", "v"),
        ("ab a: v", "ab a", "v"),
        ("Key.Sub/x: v", "Key.Sub/x", "v"),
        ('"quoted": v', "quoted", "v"),
        ("'quoted': v", "quoted", "v"),
        ("spaced  : v", "spaced", "v"),
        ("größe: v", "größe", "v"),
    ],
)
def test_keys_are_words(line: str, key: str, value: str) -> None:
    assert fields(line) == {key: value}


@pytest.mark.parametrize(
    "line",
    [
        "no colon here",
        "https://example.org",
        "<<<<<<< HEAD",
        "=======",
        "@key: v",
        "- item",
        "  indented: first",
        ": empty",
        "12: number",
        "? complex",
        '"": v',
    ],
)
def test_a_line_that_is_no_key_is_passed_over_and_said(line: str) -> None:
    found = split_front_matter(f"---\n{line}\nname: a\n{line}\n---\nbody")
    assert found.fields["name"].startswith("a")
    assert BAD_LINE in found.problems
    assert len(found.problems) == 1
    assert found.body == "body"


def test_comments_and_blank_lines_are_no_problem() -> None:
    found = split_front_matter("---\n# comment\n\n  \nname: a\n# end\n---\n")
    assert found.fields == {"name": "a"}
    assert found.problems == ()


def test_the_last_of_two_equal_keys_wins_and_is_said() -> None:
    found = split_front_matter("---\na: 1\na: 2\na: 3\n---\n")
    assert found.fields == {"a": "3"}
    assert found.problems == (DUPLICATE_KEY,)


@pytest.mark.parametrize(
    "text",
    ["", "text", "text\n---\nname: a\n---\n", "\n---\nno key\n---\n", " ---\nname: a\n---\n"],
)
def test_a_block_starts_on_the_first_line_with_text(text: str) -> None:
    found = split_front_matter(text)
    assert (found.present, found.closed, found.fields, found.problems) == (False, False, {}, ())
    assert (found.body, found.body_line) == (text, 1)


@pytest.mark.parametrize("first", ["--- x", "----", "---x", "--", "--- # comment"])
def test_the_first_line_is_dashes_only(first: str) -> None:
    text = f"{first}\nname: a\n---\nbody"
    found = split_front_matter(text)
    assert not found.present
    assert found.body == text


@pytest.mark.parametrize("text", ["---", "--- "])
def test_dashes_alone_are_a_body(text: str) -> None:
    assert split_front_matter(text).body == text
    assert not split_front_matter(text).present


@pytest.mark.parametrize("start", ["---", "---  ", "---\t"])
@pytest.mark.parametrize("end", ["---", "--- ", "...", "...\t"])
@pytest.mark.parametrize("after", ["\nbody", ""])
def test_delimiters_may_have_spaces_after_them(start: str, end: str, after: str) -> None:
    found = split_front_matter(f"{start}\nname: a\n{end}{after}")
    assert found.closed
    assert found.fields == {"name": "a"}
    assert found.body == after.strip("\n")
    assert found.body_line == 4


@pytest.mark.parametrize("almost", [" ---", "----", "--- x", "a ---", "....", "x..."])
def test_dashes_within_a_line_do_not_end_the_block(almost: str) -> None:
    found = split_front_matter(f"---\nname: a\n{almost}\ntype: b\n---\nbody")
    assert found.fields["type"] == "b"
    assert found.body == "body"


def test_dashes_in_the_body_are_text() -> None:
    found = split_front_matter("---\nname: a\n---\none\n---\ntwo\n---\n")
    assert found.body == "one\n---\ntwo\n---\n"


@pytest.mark.parametrize("text", ["---\n", "---\nname: a\n", "---\nname: a\nbody\n ---\n"])
def test_a_block_without_end_loses_nothing(text: str) -> None:
    found = split_front_matter(text)
    assert (found.present, found.closed, found.fields) == (True, False, {})
    assert (found.body, found.body_line, found.problems) == (text, 1, (UNCLOSED,))


def test_a_block_of_prose_is_a_body_between_rules() -> None:
    text = "---\n\nSome prose.\n\n---\nMore.\n"
    found = split_front_matter(text)
    assert not found.present
    assert (found.body, found.body_line, found.problems) == (text, 1, (NO_KEYS,))


@pytest.mark.parametrize(("text", "line"), [("---\n---\nb", 3), ("---\n\n# c\n---\nb", 5)])
def test_an_empty_block_is_a_block(text: str, line: int) -> None:
    found = split_front_matter(text)
    assert (found.present, found.closed, found.fields, found.problems) == (True, True, {}, ())
    assert (found.body, found.body_line) == ("b", line)


def test_the_body_starts_where_it_says() -> None:
    text = "---\nname: |\n  a\n\n  b\ntags:\n- x\n---\nBODY\nmore\n"
    found = split_front_matter(text)
    assert text.split("\n")[found.body_line - 1] == "BODY"
    assert found.fields == {"name": "a\n\nb", "tags": "x"}


def test_quoted_commas_of_any_number_stay_together() -> None:
    found = fields("metadata: {name: \"a, b, c, d\", type: user, title: 'e, f, g'}")
    assert found == {"name": "a, b, c, d", "type": "user", "title": "e, f, g"}
    assert fields('k: ["a, b, c", d, "e"]') == {"k": "a, b, c, d, e"}


def test_a_block_keeps_what_stands_deeper() -> None:
    assert fields("k: |\n      deeper\n    base  \n\n    last\nnext: x") == {
        "k": "  deeper\nbase\n\nlast",
        "next": "x",
    }


def test_a_rule_of_dashes_with_other_signs_opens_nothing() -> None:
    for opening in ("---X", "--- yaml", "---\u00a0"):
        assert not split_front_matter(f"{opening}\nname: x\n---\nbody").present
    assert split_front_matter("--- \t\nname: x\n---\nbody").present


def test_a_second_block_fills_in_what_the_first_does_not_say() -> None:
    text = "---\npermalink: a/b\ntype: x\n---\n\n---\nname: N\ntype: y\n---\nbody\n"
    found = split_front_matter(text)

    assert found.fields == {"permalink": "a/b", "type": "x", "name": "N"}
    assert (found.body, found.body_line) == ("body\n", 10)
    assert found.problems == ("FRONT_MATTER_SECOND",)


@pytest.mark.parametrize(
    "below",
    [
        "---\nNote: a rule stands above\n---\n",  # no key that names or describes
        "---\nname: N\nplain words\n---\n",
        "---\nname: N\n",
        "text\n---\nname: N\n---\n",
    ],
)
def test_a_rule_below_the_block_opens_no_second_one(below: str) -> None:
    found = split_front_matter(f"---\na: 1\n---\n{below}")

    assert found.fields == {"a": "1"}
    assert (found.body, found.body_line) == (below, 4)


def test_blank_lines_may_stand_above_a_block() -> None:
    found = split_front_matter("\n \n---\nname: N\n---\nbody\n")

    assert found.fields == {"name": "N"}
    assert (found.body, found.body_line) == ("body\n", 6)


def test_a_block_between_plus_signs_is_toml() -> None:
    text = '+++\nname = "N"\ntags = ["a", "b"]\ndraft = true\n[extra]\nx = 1\n+++\nbody\n'
    found = split_front_matter(text)

    assert found.fields == {"name": "N", "tags": "a, b", "draft": "true"}
    assert (found.body, found.body_line) == ("body\n", 8)


@pytest.mark.parametrize("text", ["+++\nname = N\n+++\nb", "+++\n+++ \n", "+++ x\n+++\n", "+++"])
def test_other_plus_signs_lose_no_text(text: str) -> None:
    found = split_front_matter(text)

    assert text.endswith(found.body)
    assert found.closed is (text == "+++\n+++ \n")
