"""A room with a table of its errors raises what the table says, and nothing else."""

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import agentic_os
from agentic_os.errors import ErrorTable

SOURCE = Path(agentic_os.__file__).parent
DOCS = Path(__file__).parents[2] / "docs"


def error_codes() -> ModuleType:
    spec = importlib.util.spec_from_file_location("error_codes_page", DOCS / "error_codes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = error_codes()
TABLES: dict[str, ErrorTable] = PAGE.error_tables()
FAMILIES = frozenset(PAGE._families())


def calls(room: str) -> Iterator[tuple[str, ast.Call]]:
    for path in sorted((SOURCE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def literals(room: str) -> set[str]:
    """Every text in a room that has the form of a code, its table apart."""
    found: set[str] = set()
    for path in sorted((SOURCE / room).rglob("*.py")):
        if path == SOURCE / room / "codes.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def test_there_are_tables() -> None:
    assert {"identity", "witness"} <= set(TABLES)


@pytest.mark.parametrize("room", TABLES)
def test_every_error_of_a_room_comes_from_its_table(room: str) -> None:
    past_the_table = [
        place
        for place, call in calls(room)
        if isinstance(call.func, ast.Name)
        and call.func.id in FAMILIES
        and any(
            isinstance(word.value, ast.Constant) for word in call.keywords if word.arg == "code"
        )
    ]
    assert past_the_table == []


@pytest.mark.parametrize("room", TABLES)
def test_every_code_that_is_raised_stands_in_the_table(room: str) -> None:
    raised = {
        call.args[0].value: place
        for place, call in calls(room)
        if ast.unparse(call.func) in ("ERRORS.error", "finding")
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }
    assert raised
    assert {code: place for code, place in raised.items() if code not in TABLES[room]} == {}


@pytest.mark.parametrize("room", TABLES)
def test_every_row_of_a_table_is_used(room: str) -> None:
    assert sorted(set(TABLES[room]) - literals(room)) == []


def test_an_error_gets_family_and_hint_from_its_row() -> None:
    for room, table in TABLES.items():
        for row in table.values():
            error = table.error(row.code)
            assert (type(error), error.code, error.message) == (row.family, row.code, row.meaning)
            assert error.hint == row.hint, room
