import pytest

from agentic_os.aggregate.differences import (
    MAX_STATEMENTS_ENTRIES,
    differences,
    normal_key,
    normal_value,
    statements,
)
from agentic_os.aggregate.surfaces.memory import parse_fact
from agentic_os.results import Diagnostic, Provenance


def source(project: str) -> Provenance:
    return Provenance(project=project, path="m/a.md", lines=(1, 9), sha256="0" * 64)


def stated(text: str, project: str = "p") -> list[tuple[str, str, int]]:
    return [(s.key, s.value, s.source.lines[0]) for s in statements(text, source(project))]


def test_both_forms_are_statements_and_front_matter_is_none() -> None:
    text = (
        "---\nname: A\ndescription: key: value\n---\n\nTimeout: 30 seconds\n"
        "- **Max attempts**: 4\n- **Port:** 8080\n* `Base-URL`: http://x/y\n"
    )

    assert stated(text) == [
        ("Timeout", "30 seconds", 6),
        ("Max attempts", "4", 7),
        ("Port", "8080", 8),
        ("Base-URL", "http://x/y", 9),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "**Why:** because",
        "How to apply: thus",
        "https://example.org",
        "http: //x",
        "at 12:30 we meet",
        "no colon here",
        "key:",
        "| a: b | c |",
        "```\nport: 1\n```",
        "> quoted: text",
    ],
)
def test_what_is_no_statement(line: str) -> None:
    assert stated(line) == []


def test_keys_and_values_are_compared_without_case_markup_and_spacing() -> None:
    assert normal_key("**Base-URL**") == normal_key("base url") == normal_key("base_url")
    assert normal_value("`30`  Seconds.") == normal_value("30 seconds")


def test_only_keys_that_projects_state_differently_are_listed_with_all_sources() -> None:
    facts = {
        "a": "Timeout: 30\nPort: 1\nOnly: here\n",
        "b": "- **timeout**: 10\nPort: 1.\n",
        "c": "timeout: 30\n",
    }

    (found,) = differences(
        s for name, text in facts.items() for s in statements(text, source(name))
    )

    assert found.key == "Timeout"
    assert [(v.value, [s.project for s in v.sources]) for v in found.values] == [
        ("30", ["a", "c"]),
        ("10", ["b"]),
    ]


def test_one_project_alone_does_not_differ() -> None:
    assert differences(statements("Timeout: 1\nTimeout: 2\n", source("a"))) == ()


def test_so_many_statements_are_compared_and_more_are_said() -> None:
    lines = [f"key {number}: value" for number in range(MAX_STATEMENTS_ENTRIES + 1)]
    most, more = "\n".join(lines[:-1]) + "\n", "\n".join(lines) + "\n"

    assert len(stated(most)) == len(stated(more)) == MAX_STATEMENTS_ENTRIES
    assert parse_fact(most, path="m/a.md", stem="a").diagnostics == ()
    assert parse_fact("x\n" * 9_999, path="m/a.md", stem="a").diagnostics == ()
    assert parse_fact(more, path="m/a.md", stem="a").diagnostics == (
        Diagnostic(
            code="STATEMENTS_TOO_MANY",
            severity="warning",
            message="only the first 1000 `key: value` lines are compared",
            hint="Keep a fact under 100 lines; move tables and logs elsewhere.",
            path="m/a.md",
        ),
    )
