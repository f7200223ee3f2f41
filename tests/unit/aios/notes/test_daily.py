"""The daily note: only the section that is meant changes, byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.aios.notes.daily import (
    SECTIONS,
    new_note,
    section_text,
    with_carried,
    with_section,
)
from agentic_os.errors import AiosError

NOTE = new_note("2026-11-30", created_at="2026-11-30T08:00:00.000Z", source="dotaios brief")


def test_the_brief_goes_after_the_title() -> None:
    assert with_section("# 2026-11-30\n\n## Plan\n- x\n", "Brief", "BODY") == (
        "# 2026-11-30\n\n## Brief\n\nBODY\n\n## Plan\n- x\n"
    )
    assert with_section("", "Brief", "B") == "## Brief\n\nB\n"
    assert with_section("text", "Brief", "B") == "text\n\n## Brief\n\nB\n"
    assert with_section("# T", "Brief", "B") == "# T\n\n## Brief\n\nB\n"


def test_a_section_is_replaced_up_to_the_next() -> None:
    note = "# d\r\n\r\n## Brief\r\nold\r\n### Sub\r\nold\r\n## Plan \r\n- x\r\n"
    assert with_section(note, "Brief", "a\nb") == (
        "# d\r\n\r\n## Brief\r\n\r\na\r\nb\r\n\r\n## Plan \r\n- x\r\n"
    )


def test_two_briefs_are_ambiguous() -> None:
    with pytest.raises(AiosError) as caught:
        with_section("## Brief\na\n## Brief\nb\n", "Brief", "x")
    assert caught.value.code == "DOTAIOS_DAILY_AMBIGUOUS"


@given(st.permutations(SECTIONS), st.lists(st.sampled_from(["-", "abc", "def"]), min_size=1))
def test_sections_do_not_touch_each_other(order: list[str], words: list[str]) -> None:
    note = with_section(NOTE, "Brief", "### Carry-over\n\n- of the brief")
    for at, name in enumerate(order):
        note = with_section(note, name, f"{at} {' '.join(words)}")
    for at, name in enumerate(order):
        assert section_text(note, name) == f"{at} {' '.join(words)}"
        assert with_section(note, name, f"{at} {' '.join(words)}") == note
    assert "- of the brief" in section_text(note, "Brief")
    assert "<!-- Filled in when the day ends. -->" in note


def test_carrying_over() -> None:
    empty = new_note("2026-12-01", created_at="x", source="closeday")
    once = with_carried(empty, "2026-11-30", ["a"])
    assert section_text(once, "Plan") == "Carried over from 2026-11-30:\n\n- a"
    assert with_carried(once, "2026-11-30", ["a"]) == once
    assert section_text(with_carried(once, "2026-11-30", ["A", "b"]), "Plan") == (
        "Carried over from 2026-11-30:\n\n- a\n- b"
    )
    planned = with_section(empty, "Plan", "- x")
    assert section_text(with_carried(planned, "2026-11-30", ["a"]), "Plan") == (
        "- x\n\nCarried over from 2026-11-30:\n\n- a"
    )
