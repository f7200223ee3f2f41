import pytest

from agentic_os.errors import UsageError
from agentic_os.server.tools.paging import page, read_cursor, write_cursor


def test_pages_follow_each_other_without_gap() -> None:
    items = [f"item-{number}" for number in range(25)]
    offset, cursors = 0, 0
    seen: list[str] = []
    while True:
        part = page(items, budget=60, offset=offset, question="q")
        seen += part.items
        assert part.truncated is bool(part.cursor)
        if not part.cursor:
            break
        offset = read_cursor(part.cursor, "q")
        cursors += 1

    assert seen == items
    assert cursors > 2


def test_one_item_is_taken_however_long() -> None:
    assert page(["x" * 500, "y"], budget=10).items == ("x" * 500,)


def test_an_empty_cursor_means_the_beginning() -> None:
    assert read_cursor("", "q") == 0


@pytest.mark.parametrize("cursor", ["!", "e30", write_cursor(3, "other"), write_cursor(-1, "q")])
def test_a_cursor_of_another_question_is_refused(cursor: str) -> None:
    with pytest.raises(UsageError) as fault:
        read_cursor(cursor, "q")

    assert fault.value.code == "CURSOR_INVALID"
