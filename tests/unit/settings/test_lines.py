import pytest

from agentic_os.settings.lines import line_of

TEXT = """\
# roots = nothing
"roots" = ["a"]
limits.depth = 3

[ redaction ] # words
allow = []

[[project]]
path = "a"

[[project]]
# path = "no"
  path = "b"
"""


@pytest.mark.parametrize(
    ("key", "table", "position", "line"),
    [
        ("roots", "", 0, 2),
        ("depth", "limits", 0, 3),
        ("allow", "redaction", 0, 6),
        ("path", "project", 0, 9),
        ("path", "project", 1, 13),
        ("id", "project", 1, 11),
        ("project", "", 0, 8),
        ("nothing", "", 0, None),
        ("nothing", "elsewhere", 0, None),
    ],
)
def test_a_key_is_found_in_its_own_table(
    key: str, table: str, position: int, line: int | None
) -> None:
    assert line_of(TEXT, key=key, table=table, position=position) == line


def test_a_key_of_an_inline_table_is_found_at_its_table() -> None:
    assert line_of("a = 1\nlimits = { dept = 3 }\n", key="dept", table="limits") == 2
