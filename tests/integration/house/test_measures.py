"""What may be counted about the house stays within these limits; they are only ever lowered.

``make measure`` prints the whole table, and ``--list`` each row behind a figure.
"""

import ast
from pathlib import Path
from textwrap import dedent

import pytest

import agentic_os
from support.house import measures

MOST_COPIES = 27
MOST_DOUBLE_CONSTANTS = 4
MOST_OTHER_UNITS = 0
MOST_COMPLEX_PER_1000_FUNCTIONS = 40
LEAST_IMPERATIVE_PERCENT = 90


@pytest.fixture(scope="module")
def house() -> list[measures.Module]:
    return measures.read(Path(agentic_os.__file__).parent)


def module(path: str, text: str) -> measures.Module:
    """One module of a made house."""
    return measures.Module(path=path, text=dedent(text))


def test_runs_that_stand_in_two_places(house: list[measures.Module]) -> None:
    found = measures.copies(house)
    assert len(found) <= MOST_COPIES, "\n".join(map(str, found))


def test_constants_that_are_defined_twice(house: list[measures.Module]) -> None:
    found = measures.constants(house)
    assert len(found) <= MOST_DOUBLE_CONSTANTS, found


def test_entries_are_entries(house: list[measures.Module]) -> None:
    found = measures.counted_as_entries(house)
    assert len(found) <= MOST_OTHER_UNITS, found


def test_functions_with_many_ways_through(house: list[measures.Module]) -> None:
    ways = measures.complexities(house)
    found = [place for number, place in ways if number > measures.COMPLEX]
    assert 1000 * len(found) <= MOST_COMPLEX_PER_1000_FUNCTIONS * len(ways), found


def test_docstrings_command(house: list[measures.Module]) -> None:
    said = measures.moods(house)
    assert 100 * said["imperative"] >= LEAST_IMPERATIVE_PERCENT * said.total(), said


LOOP = """
    def total(rows):
        found = []
        for row in rows:
            if row is None:
                continue
            elif row.size > 3:
                found.append(row.size)
            else:
                found.extend([1, 2])
        while found:
            return sum(found)
        raise ValueError
"""


def test_a_renamed_run_is_a_copy_and_another_one_is_none() -> None:
    renamed = LOOP.replace("row", "line").replace("found", "met").replace("2]", "7]")
    crossed = LOOP.replace("found.extend", "rows.extend")
    (copy,) = measures.copies([module("a/one.py", LOOP), module("b/two.py", renamed)])
    assert (copy.left, copy.right, copy.lines, copy.more) == ("a/one.py", "b/two.py", 12, 0)
    assert (copy.left_lines, copy.right_lines) == ((2, 13), (2, 13))
    assert str(copy) == " 12 lines a/one.py:2-13 ~ b/two.py:2-13"
    assert measures.copies([module("a/one.py", LOOP), module("b/two.py", crossed)]) == []
    assert measures.copies([module("a/one.py", LOOP)]) == []


def test_lists_and_imports_are_no_copies() -> None:
    names = "\n".join(f"from agentic_os.text import name{number}" for number in range(30))
    values = "VALUES = (\n" + "\n".join(f"    {number}," for number in range(30)) + "\n)\n"
    houses = [module(f"{room}/names.py", f"{names}\n{values}") for room in ("a", "b")]
    assert measures.copies(houses) == []


def test_one_constant_in_two_modules() -> None:
    houses = [
        module("a/one.py", "LIMIT_BYTES = 64 * 1024\nCODE = 7\n_T = TypeVar('_T')\n"),
        module("b/two.py", "_LIMIT_BYTES: int = 64 * 1024\nCODE = 8\n_T = TypeVar('_T')\n"),
    ]
    assert measures.constants(houses) == {
        ("LIMIT_BYTES", "64 * 1024"): ["a/one.py:1", "b/two.py:1"]
    }


def test_who_imports_whom() -> None:
    houses = [
        module("a/one.py", "X = 1\n"),
        module("b/two.py", "def f():\n    from agentic_os.a import one\n    return one\n"),
        module("b/three.py", "import agentic_os.b.two\nfrom agentic_os.a.one import X\n"),
    ]
    assert measures.importers(houses) == {
        "a.one": {"b.two", "b.three"},
        "b.two": {"b.three"},
        "b.three": set(),
    }


def test_ways_through_a_function() -> None:
    (function,) = module("a/one.py", LOOP).functions
    assert measures.complexity(function) == 5
    tree = ast.parse("def f(a, b):\n    return [x for x in a if x and b or x]\n").body[0]
    assert isinstance(tree, ast.FunctionDef)
    assert measures.complexity(tree) == 4


def test_moods_of_functions() -> None:
    text = """
        def one(): "Read the file."
        def two(): "Whether it was read."
        def three(): "The text."
        class Four:
            @property
            def five(self): "The text."
    """
    said = measures.moods([module("a/one.py", text)])
    assert said == {"imperative": 1, "clause": 1, "noun phrase": 1}


def test_units_of_constants() -> None:
    text = "MAX_HOPS_ENTRIES = 8\nMAX_FILES_ENTRIES = 9\n"
    assert measures.counted_as_entries([module("a/one.py", text)]) == [
        "a/one.py:1 MAX_HOPS_ENTRIES"
    ]


def test_the_table_names_every_figure(house: list[measures.Module]) -> None:
    rows = dict(measures.table(house))
    assert rows["modules with one importer"].isdigit()
    assert sum(number for _, number, _ in measures.rooms(house)) == len(house)
    assert "copies of 10 lines or more:" in measures.listing(house[:40])
