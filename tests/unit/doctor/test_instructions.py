import pytest

from agentic_os.doctor.instructions import POINTER_LINES, drift

LONG = "\n".join(f"Rule {number}." for number in range(POINTER_LINES + 3))


@pytest.mark.parametrize(
    ("agents", "claude"),
    [
        ("same\n", "same\n"),
        ("a  b\n\n\nc\n", "c\na b\n"),
        ("<!-- one comment -->\na\n", "a\n<!-- another\ncomment -->\n"),
        (LONG, "See AGENTS.md.\n"),
        ("@CLAUDE.md\n", LONG),
        ("", ""),
    ],
    ids=["equal", "spacing-and-order", "comments", "pointer", "pointer-back", "empty"],
)
def test_files_that_agree(agents: str, claude: str) -> None:
    assert drift(agents, claude) is None


def test_lines_that_stand_in_one_file_alone_are_counted() -> None:
    assert drift("a\nb\nc\n", "a\nd\n") == 3


def test_a_long_file_that_names_the_other_is_no_pointer() -> None:
    assert drift(LONG, f"{LONG}\nMore than AGENTS.md says.\n") == 1
