"""Which lines of a passage are quoted."""

import time

import pytest

from agentic_os.tiers.passage import SNIPPET_LINE_CHARS, SNIPPET_LINES, LineMatcher, Passage


def best(query: str, text: str, first_line: int = 1) -> Passage | None:
    with LineMatcher(query) as matcher:
        return matcher.best(text.split("\n"), first_line=first_line)


@pytest.mark.parametrize(
    ("query", "text", "lines", "quoted"),
    [
        ("light", "a\nlight\nb", (2, 2), "light"),
        ("light", "a\nLIGHT\nlight\nlights\nlight\nb", (2, 4), "LIGHT\nlight\nlights"),
        ("red light", "light\nred light\nred", (2, 3), "red light\nred"),
        ('"red light"', "light red\na red light\n", (2, 2), "a red light"),
        ("user name", "x\ngetUserName\ny", (2, 2), "getUserName"),
        ("running", "run\nwalk", (1, 1), "run"),
        ("->", "a\nb -> c", (2, 2), "b -> c"),
        ("x", "ax\nb", (1, 1), "ax"),
    ],
)
def test_the_best_lines(query: str, text: str, lines: tuple[int, int], quoted: str) -> None:
    found = best(query, text)

    assert found is not None
    assert (found.start, found.end) == lines
    assert found.text == quoted
    assert found.end - found.start < SNIPPET_LINES


def test_lines_count_from_where_the_passage_stands() -> None:
    found = best("light", "a\nlight", first_line=40)

    assert found is not None
    assert (found.start, found.end) == (41, 41)


@pytest.mark.parametrize("query", ["light", '"a light"', "->", "qq"])
def test_nothing_matches(query: str) -> None:
    assert best(query, "dark\nnight") is None


@pytest.mark.parametrize(
    ("query", "line", "held"),
    [
        ("needle", "x " * 500 + "needle" + " y" * 500, "needle"),
        ("needle", "needle" + " y" * 500, "needle"),
        ("needle", "x " * 500 + "needle", "needle"),
        ("zebra needle", "x " * 500 + "needle" + " y" * 500, "needle"),
        ("needles", "x " * 500 + "needle" + " y" * 500, ""),
    ],
)
def test_long_lines_are_cut_around_what_matched(query: str, line: str, held: str) -> None:
    found = best(query, line)

    assert found is not None
    assert SNIPPET_LINE_CHARS / 2 < len(found.text) <= SNIPPET_LINE_CHARS
    assert held in found.text
    shown = found.text.removeprefix("… ").removesuffix(" …")
    assert shown in line
    assert set(shown.split()) <= set(line.split()), "no word is cut"
    assert found.text.startswith("… ") == (not line.startswith(shown))
    assert found.text.endswith(" …") == (not line.endswith(shown))


def test_a_run_without_blanks_is_cut_inside() -> None:
    found = best("needle", "x" * 500 + "needle" + "y" * 500)

    assert found is not None
    assert "needle" in found.text
    assert found.text.startswith("… x")
    assert len(found.text) <= SNIPPET_LINE_CHARS


def test_a_name_is_matched_by_any_term_or_literally() -> None:
    with LineMatcher("red light") as matcher:
        assert matcher.matches("the lights")
        assert matcher.matches("RED LIGHT district")
        assert not matcher.matches("dark")
    with LineMatcher("%%") as matcher:
        assert matcher.matches("100%%")
        assert not matcher.matches("100%")


def test_a_word_on_every_line_is_no_more_work_than_the_lines() -> None:
    """A ratio within one run, so that no machine matters; quadratic work would give 256."""

    def seconds(count: int) -> float:
        lines = ["lighthouse"] * count
        with LineMatcher("lighthouse") as matcher:
            start = time.process_time()
            assert matcher.best(lines, first_line=1) is not None
            return time.process_time() - start

    small = min(seconds(1_000) for _ in range(3))
    assert min(seconds(16_000) for _ in range(2)) / max(small, 0.001) < 80
