import pytest

from agentic_os.registry.conventions.instructions import HARNESSES, INSTRUCTIONS, NESTED_NAMES
from agentic_os.registry.conventions.matching import Convention, Matcher
from agentic_os.registry.conventions.personal import PERSONAL
from agentic_os.registry.conventions.tables import ALL, ALL_TOPS, convention_of


def matcher(*patterns: str) -> Matcher:
    return Matcher(Convention(one, "h", "instructions", one, "x") for one in patterns)


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("AGENTS.md", "AGENTS.md"),
        ("agents.md", None),
        ("x/AGENTS.md", None),
        ("r/a.md", "r/**/*.md"),
        ("r/x/y/a.md", "r/**/*.md"),
        ("r/a.txt", None),
        ("r", None),
        ("s/one/SKILL.md", "s/*/SKILL.md"),
        ("s/SKILL.md", None),
        ("s/one/two/SKILL.md", None),
        ("t/rules-code/deep/a.md", "t/rules*/**/*.md"),
        ("t/other/a.md", None),
    ],
)
def test_paths(path: str, form: str | None) -> None:
    rows = matcher("AGENTS.md", "r/**/*.md", "s/*/SKILL.md", "t/rules*/**/*.md")
    found = rows.of_path(path)
    assert (found.form if found else None) == form


def test_of_two_rows_the_first_counts() -> None:
    rows = matcher("m/MEMORY.md", "m/*.md")
    assert rows.matched(rows.below(rows.start, "m"), "MEMORY.md") == rows.rows[0]
    assert rows.matched(rows.below(rows.start, "m"), "x.md") == rows.rows[1]


def test_only_folders_that_a_pattern_leads_into_are_listed() -> None:
    rows = matcher("c/rules/**/*.md", "c/CLAUDE.md")
    inside = rows.below(rows.start, "c")
    assert rows.below(rows.start, "d") == frozenset()
    assert rows.below(inside, "worktrees") == frozenset()
    assert rows.below(rows.below(inside, "rules"), "any")
    assert rows.tops == {"c"}


def test_every_row_has_a_name_of_its_own_and_a_place_that_the_walk_keeps() -> None:
    assert len({row.form for row in ALL}) == len(ALL)
    for row in ALL:
        top = row.pattern.split("/")[0]
        assert "*" not in top
        assert top in ALL_TOPS


def test_harnesses_load_forms_that_there_are() -> None:
    forms = {row.form for row in (*INSTRUCTIONS, *PERSONAL)}
    for harness in HARNESSES:
        assert set(harness.forms) <= forms
        assert all(set(group) <= set(harness.forms) for group in harness.first)
    assert {harness.name for harness in HARNESSES} >= {row.harness for row in INSTRUCTIONS} - {
        "agents.md"
    }


def test_nested_files_are_known_by_their_name() -> None:
    for name in NESTED_NAMES:
        found = convention_of(f"packages/api/{name}")
        assert found is not None
        assert found.pattern == name
    assert convention_of("packages/api/.cursorrules") is None
