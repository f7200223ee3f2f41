"""Every code that the graph writes is in its tables, and every row is written somewhere."""

import re
from pathlib import Path

import agentic_os
from agentic_os.aggregate.graph.codes import GRAPH_CODES, NEAR_MISS_CODES

SOURCES = Path(agentic_os.__file__).parent


def written() -> str:
    places = [*SOURCES.glob("aggregate/graph/**/*.py"), *SOURCES.glob("tiers/graph/*.py")]
    places += SOURCES.glob("cli/commands/ask/graph/*.py")
    return "\n".join(path.read_text() for path in places if path.name != "codes.py")


def test_every_code_is_listed_and_every_row_is_used() -> None:
    text = written()
    found = set(re.findall(r'"((?:GRAPH|GO|FILES|NEAR)_[A-Z_]+)"', text))
    calls = re.findall(r'miss\(\s*[^"]*?"([A-Z][A-Z_]{4,})"', text)
    found |= {code for code in calls if not code.startswith("R")}
    listed = set(GRAPH_CODES) | set(NEAR_MISS_CODES)
    assert found - listed == set()
    assert {code for code in listed if f'"{code}"' not in text} == set()
