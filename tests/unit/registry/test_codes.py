import ast
import re
from pathlib import Path

import agentic_os.registry
from agentic_os.registry.codes import CODES, diagnostic

ROOM = Path(agentic_os.registry.__file__).parent


def used_codes() -> set[str]:
    """Every string, and every name of a constant, of the room's source that could be a code."""
    found: set[str] = set()
    for file in ROOM.rglob("*.py"):
        if file.name == "codes.py":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.Name):
                found.add(node.id)
    return found


def test_codes_are_stable_words_with_a_meaning() -> None:
    for code, row in CODES.items():
        assert code == row.code
        assert re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+", code)
        assert row.meaning.endswith(".")
        assert row.severity in {"info", "warning", "error"}


def test_every_code_of_the_table_is_used() -> None:
    assert set(CODES) - used_codes() == set()


def test_a_diagnostic_takes_severity_and_hint_from_the_table() -> None:
    noted = diagnostic("NAME_MISSING", "words", path="a", line=3)
    assert (noted.code, noted.severity, noted.message) == ("NAME_MISSING", "warning", "words")
    assert (noted.path, noted.line) == ("a", 3)
    assert noted.hint == CODES["NAME_MISSING"].hint != ""
