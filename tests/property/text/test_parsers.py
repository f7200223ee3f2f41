"""Whatever the text, the parsers answer, and what they say about it holds."""

import itertools

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentic_os.text.budget import cut_chars, cut_utf16, utf16_length
from agentic_os.text.decoding import decode
from agentic_os.text.fencing import fence, one_line, terminal_safe, visible
from agentic_os.text.front_matter import split_front_matter
from agentic_os.text.jsonl import JsonlFault, iterate_jsonl
from agentic_os.text.markdown.code import masked
from agentic_os.text.markdown.structure import (
    links,
    sections,
    tables,
    tags,
    wikilinks,
    without_comments,
)

PIECES = [
    *"abc 019\n\t#-=|:`~[](){}<>!\\\"'*_.,&@%/éß\u3000\u200b\u202e\x1b\0🚀\ud83d",
    *("\n\n", "---", "\n---\n", "...", "```", "~~~", "<!--", "-->", "[[", "]]", "](", "#tag"),
    *("key: value\n", "metadata:\n  ", "- item\n", "|---|---|\n", "| a | b |\n", "![[x|y#z]]"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.text(max_size=200)
unbroken = settings(deadline=None, max_examples=300)


@unbroken
@given(st.binary(max_size=300) | texts.map(lambda text: text.encode("utf-8", "replace")))
def test_decoded_text_can_be_stored(data: bytes) -> None:
    found = decode(data)
    assert "\r" not in found.text
    assert "\0" not in found.text
    again = decode(found.text.encode("utf-8"))
    assert again.text == found.text.removeprefix("\ufeff")
    assert not again.replaced


@unbroken
@given(texts.filter(lambda text: not text.startswith(("\ufeff", "\ufffe"))))
def test_utf8_and_utf16_give_the_same_text(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode()
    assert decode(clean.encode("utf-8")).text == decode(clean.encode("utf-16")).text


@unbroken
@given(texts | texts.map(lambda text: f"---\n{text}\n---\nbody\n"))
@example("---\n---")
@example("---\n...\n")
def test_front_matter_never_loses_the_body(text: str) -> None:
    found = split_front_matter(text)
    assert text.endswith(found.body)
    assert "\n".join(text.split("\n")[found.body_line - 1 :]) == found.body
    if not (found.present and found.closed):
        assert found.body == text
        assert found.fields == {}
    assert all(key and isinstance(value, str) for key, value in found.fields.items())


@unbroken
@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True).filter(lambda key: key != "metadata"),
        st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=40).filter(
            lambda value: value[0] not in "\"'[|>" and not value.startswith("//")
        ),
        min_size=1,
        max_size=6,
    )
)
def test_plain_fields_come_back_as_written(fields: dict[str, str]) -> None:
    block = "".join(f"{key}: {value}\n" for key, value in fields.items())
    found = split_front_matter(f"---\n{block}---\n")
    assert found.fields == fields
    assert found.problems == ()


@unbroken
@given(texts)
def test_sections_partition_the_text(text: str) -> None:
    found = sections(text)
    count = len(text.split("\n")) - (text.endswith("\n") or not text)
    assert found[0].level == 0
    assert found[0].start == 1
    assert found[-1].end == count
    for before, after in itertools.pairwise(found):
        assert after.start == before.end + 1
        assert 1 <= after.level <= 6
        assert "\n" not in after.title


@unbroken
@given(texts)
def test_masking_moves_nothing(text: str) -> None:
    blanked = masked(text)
    assert len(blanked) == len(text)
    for shown, real in zip(blanked, text, strict=True):
        assert shown == real or (shown == " " and real != "\n")


@unbroken
@given(texts)
def test_marks_are_on_the_lines_they_name(text: str) -> None:
    lines = text.split("\n")
    for link in links(text):
        assert "[" in lines[link.line - 1]
    for wikilink in wikilinks(text):
        assert "[[" in lines[wikilink.line - 1]
        assert wikilink.target in lines[wikilink.line - 1]
        assert wikilink.target or wikilink.heading
    for tag, line in tags(text):
        assert f"#{tag}" in lines[line - 1] or f"#/{tag}" in lines[line - 1] or "#-" in text
    for table in tables(lines):
        assert "|" in lines[table.line - 1]
        assert all(len(row.cells) == len(table.header) for row in table.rows)
        assert all(table.line + 1 < row.line <= len(lines) for row in table.rows)


@unbroken
@given(texts)
def test_removing_comments_keeps_the_lines(text: str) -> None:
    assert without_comments(text).count("\n") == text.count("\n")


@unbroken
@given(texts)
def test_visible_text_is_harmless_and_stays_so(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert not set(shown) & set("\x1b\0\r\x7f\x9b\u202e\u2066\u200b\ufeff\u2028\ud83d")
    shown.encode("utf-8")
    assert terminal_safe(text) == shown
    assert not set(one_line(text)) & set("\n\t")


@unbroken
@given(texts, st.text(max_size=10))
def test_nothing_closes_a_fence_from_inside(text: str, info: str) -> None:
    first, *body, last = fence(text, info).split("\n")
    assert set(last) == {"`"}
    assert first.startswith(last)
    assert not any(last in line for line in body)


@unbroken
@given(texts, st.integers(-2, 80))
def test_cuts_fit(text: str, limit: int) -> None:
    cut = cut_utf16(text, limit)
    assert text.startswith(cut)
    assert utf16_length(cut) <= max(limit, 0)
    if cut != text and limit > 0:
        assert utf16_length(text[: len(cut) + 1]) > limit
    assert len(cut_chars(text, limit)) <= max(limit, 0)


@unbroken
@given(
    st.lists(st.binary(max_size=20) | st.sampled_from([b"{}", b"[1]", b'"x"', b"", b"NaN"])),
    st.integers(0, 20),
)
def test_json_lines_are_all_accounted_for(lines: list[bytes], limit: int) -> None:
    data = b"\n".join(lines)
    found = list(iterate_jsonl(data, max_line_bytes=limit))
    numbers = [number for number, _ in found]
    assert numbers == sorted(set(numbers))
    assert len(numbers) <= data.count(b"\n") + 1
    for number, value in found:
        if isinstance(value, JsonlFault) and value.code == "LINE_TOO_LONG":
            assert len(data.split(b"\n")[number - 1]) > limit
