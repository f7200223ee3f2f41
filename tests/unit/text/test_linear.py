"""No input makes a parser slow: sixteen times the text is about sixteen times the work.

Each pair is measured in one run and compared as a ratio, so neither the machine nor its
load matters; a quadratic pattern would need two hundred and fifty-six times as long.
"""

import re
import time
from collections.abc import Callable

import pytest

from agentic_os.files.git.config import parse_git_config
from agentic_os.text.fencing import fence
from agentic_os.text.front_matter import split_front_matter
from agentic_os.text.markdown.structure import (
    links,
    sections,
    tables,
    tags,
    wikilinks,
    without_comments,
)
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.text.tokens import fts_query, index_extra, is_identifier

SMALL_CHARS = 4 * 1024
GROWTH = 16
ALLOWED_GROWTH = 80
SHORTEST_SECONDS = 0.0005  # less than this is not measured but taken as this
TRIES = 3

SEEDS = [
    *("a", "A0", " ", "\n", "-", ".", ":", "=", '"', "`", "` `` ", "[", "[a](", "[a](<", "[[a|"),
    *("<!--", "a<!--", "\n<!--", "~~~\n", "```\n", "#a ", "\n# a", "|-", "|-|\n", "\\", "\\`"),
    *("---\n", "a: b\n", "a:\n", "- a\n", 'm: {a: "', '["a,', '"\\', "\\'", "a: |\n x\n"),
    *("ghp_", "sk-a", "eyJaaaaaaaaa.", "://a:", "://u:p", "a@", "Bearer a1", "password=", "key:a1"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAA\n"),
    *("Private-Lines: 1\n", "-----END PRIVATE KEY-----", "token: a1b2c3d4e5f6\n", ".aaaaaa."),
    *("--token a1", "--a-", "--a.a", "-u a:a1", "=a", "a.token=a1"),
    *("aB", "a0", "a.b", "a/", "a::", "👩\u200d", '[remote "', 'x = "\\\n'),
]  # fmt: skip

# A pattern may be slow only where a run is followed by what it does not want.
FRAMES = ["# a{}b", "## {}# c", "- [a](b{}c) d", "x: a{}b", "| a{}b |", "[[a{}b", "/ {}x"]
RUNS = [" ", "\t", "a", "a.", "-", "_", "#", "(1) ", "*", "=", "/", "\\", "'", '"', "~", "aB", "|"]

REDACTOR = Redactor()
FUNCTIONS: dict[str, Callable[[str], object]] = {
    "redact": REDACTOR.redact,
    "front matter": split_front_matter,
    "front matter block": lambda text: split_front_matter(f"---\n{text}\n---\n"),
    "front matter value": lambda text: split_front_matter(f'---\na: "{text}\n---\n'),
    "front matter list": lambda text: split_front_matter(f"---\na: [{text}]\n---\n"),
    "sections": sections,
    "links": links,
    "wikilinks": wikilinks,
    "tags": tags,
    "tables": lambda text: tables(text.split("\n")),
    "comments": without_comments,
    "index_extra": index_extra,
    "fts_query": fts_query,
    "is_identifier": is_identifier,
    "fence": fence,
    "git config": parse_git_config,
}


def seconds(action: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    action(text)
    return time.process_time() - start


def growth(action: Callable[[str], object], seed: str, frame: str = "{} ") -> float:
    small = seed * (SMALL_CHARS // len(seed))
    shortest = min(seconds(action, frame.format(small)) for _ in range(2))
    return seconds(action, frame.format(small * GROWTH)) / max(shortest, SHORTEST_SECONDS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_work_grows_as_the_text_does(name: str) -> None:
    for seed in SEEDS:
        measured = [growth(FUNCTIONS[name], seed)]
        while measured[-1] > ALLOWED_GROWTH and len(measured) < TRIES:
            measured.append(growth(FUNCTIONS[name], seed))
        assert min(measured) <= ALLOWED_GROWTH, repr(seed)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_run_before_another_character_is_no_more_work(name: str) -> None:
    for frame in FRAMES:
        for run in RUNS:
            measured = [growth(FUNCTIONS[name], run, frame)]
            while measured[-1] > ALLOWED_GROWTH and len(measured) < TRIES:
                measured.append(growth(FUNCTIONS[name], run, frame))
            assert min(measured) <= ALLOWED_GROWTH, (frame, run)


def test_the_measure_sees_quadratic_work() -> None:
    def quadratic(text: str) -> int:
        return sum(text.count("b", at) for at in range(0, len(text), 4))

    def backtracking(text: str) -> object:
        return re.search(r"[ ]+#\Z", text)

    assert growth(quadratic, "a") > ALLOWED_GROWTH
    assert growth(backtracking, " ", "# a{}b") > ALLOWED_GROWTH
