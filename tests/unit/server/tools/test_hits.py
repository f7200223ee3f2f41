from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentic_os.server.tools.hits import short_coverage, short_hit, shortened

HIT: dict[str, Any] = {
    "project": "shop-1a2b3c4d",
    "name": "Retry",
    "kind": "memory",
    "tier": 0,
    "path": "m.md",
    "lines": [3, 4],
    "snippet": "four tries",
    "score": 1.0,
    "sha256": "0" * 64,
    "confirmed": True,
    "indexed_at": "2026-11-30T12:00:00Z",
    "stale": False,
    "symbol": None,
    "branch": "main",
    "commit": "1" * 40,
}


def test_what_is_as_usual_is_not_told() -> None:
    assert short_hit(HIT) == {
        "project": "shop-1a2b3c4d",
        "name": "Retry",
        "kind": "memory",
        "path": "m.md",
        "lines": [3, 4],
        "snippet": "four tries",
    }


def test_what_is_not_as_usual_is_told() -> None:
    odd = short_hit({**HIT, "confirmed": False, "stale": True, "symbol": "f", "relevance": 0.4})

    assert (odd["confirmed"], odd["stale"], odd["symbol"], odd["relevance"]) == (
        False,
        True,
        "f",
        0.4,
    )
    assert short_coverage({"projects_searched": 0, "stale": True, "relaxed": False}) == {
        "projects_searched": 0,
        "stale": True,
    }


@given(st.text(max_size=60), st.integers(2, 40))
def test_a_snippet_is_a_beginning_of_the_passage(text: str, most: int) -> None:
    short = shortened(text, most)

    assert short == text or (len(text) > most and short.endswith(" …"))
    assert text.startswith(short.removesuffix(" …").rstrip())
    assert len(short) <= most + 2
