import ast
from pathlib import Path

import pytest

import agentic_os
from agentic_os.aggregate.codes import CODES as AGGREGATE
from agentic_os.codes import CodeTable
from agentic_os.registry.codes import CODES as REGISTRY

SOURCES = Path(agentic_os.__file__).parent
BY_HAND = {
    "cli/actions/fleet/models.py",
    "tiers/embed/listing.py",
}
"""Modules that still write a diagnostic without a table."""
TABLE = CodeTable(
    ("ONE", "warning", "It is one.", "Make it two."),
    ("TWO", "info", "It is two."),
)


def makers() -> set[str]:
    """Modules that build a ``Diagnostic`` themselves."""
    return {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Diagnostic"
    }


def test_a_diagnostic_takes_severity_and_hint_from_the_table() -> None:
    noted = TABLE.diagnostic("ONE", "one of them", path="a", line=3)

    assert (noted.severity, noted.hint) == ("warning", "Make it two.")
    assert (noted.message, noted.path, noted.line) == ("one of them", "a", 3)


def test_an_omission_without_a_reason_says_what_its_code_means() -> None:
    assert TABLE.omission("TWO", "here").reason == "It is two."
    assert TABLE.omission("TWO", "here", "because", count=4).reason == "because"
    assert TABLE.omission("TWO", "here", count=4).count == 4


def test_a_code_that_stands_in_no_table_cannot_be_used() -> None:
    with pytest.raises(KeyError):
        TABLE.diagnostic("THREE", "never")
    with pytest.raises(KeyError):
        TABLE.omission("THREE", "never")


def test_diagnostics_are_made_by_tables_alone() -> None:
    assert makers() - {"codes.py"} <= BY_HAND


def test_one_code_has_one_row() -> None:
    assert AGGREGATE.keys() & REGISTRY.keys() == set()
