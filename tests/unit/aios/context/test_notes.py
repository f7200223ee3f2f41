import pytest

from agentic_os.aios.context.notes import (
    HEADER_CHARS,
    carry_over,
    current_work,
    focus,
    header_text,
    items,
    plan,
    recent_decisions,
    section,
)
from agentic_os.text.budget import utf16_length

NOTE = """# Day

## Focus

  The gate
Second

## Plan
<!-- comment -->
- [ ] one
- [X] two
* three
- four
- five
**bold** stays

## Close

### Done
- nothing

### Carry-over
- Pay
- pay
### Reflection
- no
"""


def test_sections_end_where_the_next_one_starts() -> None:
    assert section(NOTE, "Focus") == "The gate\nSecond"
    assert section("  ## Focus  \nx\n### y\n", "Focus") == "x\n### y"
    assert section(NOTE, "Nothing") == ""
    assert section(section(NOTE, "Close"), "Carry-over", level=3) == "- Pay\n- pay"


def test_daily_parts() -> None:
    assert focus(NOTE) == "The gate"
    assert focus("") == ""
    assert plan(NOTE) == ("one", "two", "three", "four")
    assert items("- \n-x\n\n* y\n**bold**") == ["-x", "y", "**bold**"]


def test_carry_over_is_marked_then_closed_without_repetition() -> None:
    today = "## Plan\n- [ ] Carried over from 2026-11-28: call\n- other\n"
    assert carry_over(today, NOTE) == ("Carried over from 2026-11-28: call", "Pay")
    many = "## Close\n### Carry-over\n" + "".join(f"- item {n}\n" for n in range(9))
    assert len(carry_over("", many)) == 5


def test_headers_are_cut_to_their_units() -> None:
    assert header_text("---\na: b\n---\n\n  # T  \n") == "# T"
    assert utf16_length(header_text("😀" * 500)) == HEADER_CHARS - 1
    assert header_text("x" * HEADER_CHARS) == "x" * HEADER_CHARS
    assert header_text("x" * (HEADER_CHARS + 1)) == "x" * (HEADER_CHARS - 1) + "…"


def test_current_work_is_its_section_else_the_body() -> None:
    assert current_work("# W\n\n## Current Work\nNow.\n## Past\nThen.\n") == "Now."
    assert current_work("---\na: b\n---\n# W\nAll.\n") == "# W\nAll."


@pytest.mark.parametrize(
    ("log", "titles"),
    [
        ("# Log\n## a\nx\n##  b \n## c\n## d\n", ("d", "c", "b")),
        ("# Log\n### not one\n", ()),
        ("## only", ("only",)),
        ("## \n## x\n", ("x",)),
        ("", ()),
    ],
)
def test_recent_decisions(log: str, titles: tuple[str, ...]) -> None:
    assert recent_decisions(log) == titles
