"""Every code that the graph writes is in its tables, and speaks with their words."""

import re
from pathlib import Path

import agentic_os
from agentic_os.aggregate.graph.codes import (
    GRAPH_CODES,
    NEAR_MISS_CODES,
    graph_diagnostic,
    graph_error,
)

SOURCES = Path(agentic_os.__file__).parent


def written() -> str:
    places = [*SOURCES.glob("aggregate/graph/**/*.py"), *SOURCES.glob("tiers/graph/*.py")]
    places += SOURCES.glob("cli/commands/ask/graph/*.py")
    return "\n".join(path.read_text() for path in places if path.name != "codes.py")


def test_every_code_is_listed_and_every_row_is_used() -> None:
    text = written()
    found = set(re.findall(r'"((?:GRAPH|GO|FILES|NEAR)_[A-Z_]+)"', text))
    rules = "\n".join(path.read_text() for path in SOURCES.glob("aggregate/graph/links/**/*.py"))
    found |= set(re.findall(r'"([A-Z]+(?:_[A-Z]+)+)"', rules))
    named = re.findall(r'^([A-Z_]+_CODE) = "([A-Z_]+)"', codes_module(), re.MULTILINE)
    found |= {code for name, code in named if re.search(rf"\b{name}\b", text)}
    listed = set(GRAPH_CODES) | set(NEAR_MISS_CODES)
    assert found == listed


def codes_module() -> str:
    return (SOURCES / "aggregate/graph/codes.py").read_text()


def test_no_code_is_given_without_its_table() -> None:
    """An error or omission built by hand could say another hint than the reference page."""
    assert re.findall(r"(?:GraphError|Omission|Diagnostic)\(\s*[^)]*code=", written()) == []


def test_an_error_says_the_hint_of_its_row_and_its_meaning_where_no_words_are_given() -> None:
    row = GRAPH_CODES["GRAPH_TRUNCATED"]
    fault = graph_error("GRAPH_TRUNCATED")
    assert (fault.code, fault.message, fault.hint) == (row.code, row.meaning, row.hint)
    shown = graph_diagnostic("GRAPH_TRUNCATED", fault.message, "graph.json")
    assert (shown.severity, shown.hint, shown.path) == (row.severity, row.hint, "graph.json")


def test_the_diagnostic_of_a_file_that_cannot_be_read_speaks_with_the_rooms_table() -> None:
    assert graph_diagnostic("FILE_TOO_LARGE", "x", "graph.json").hint
