"""Any query is a valid full-text query, and any spelling of an identifier finds the others."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.text.tokens import fts_query, index_extra, is_identifier, query_terms

unbroken = settings(deadline=None, max_examples=200)
words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)
OPERATORS = [*"\"'*()^+-:{}, \0🚀é\ud83d", "AND", "OR", "NOT", "NEAR(", "a", "b1", "getUser", "x_y"]
queries = st.lists(st.sampled_from(OPERATORS), max_size=30).map("".join) | st.text(max_size=100)


@contextmanager
def table(*texts: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE VIRTUAL TABLE f USING fts5(body, extra, tokenize='porter unicode61')")
        base.executemany("INSERT INTO f VALUES (?, ?)", [(t, index_extra(t)) for t in texts])
        yield base


@unbroken
@given(queries, st.booleans())
def test_every_query_is_accepted(query: str, any_term: bool) -> None:
    expression = fts_query(query, any_term=any_term)
    assert (expression is None) == (not query_terms(query))
    if expression is not None:
        with table("a b1 getUser x_y") as base:
            base.execute("SELECT rowid FROM f WHERE f MATCH ?", (expression,)).fetchall()


@unbroken
@given(st.lists(words, min_size=2, max_size=5))
def test_spellings_find_each_other(parts: list[str]) -> None:
    spellings = [
        "_".join(parts),
        "-".join(parts),
        ".".join(parts),
        "".join(part.title() for part in parts),
        parts[0] + "".join(part.title() for part in parts[1:]),
        " ".join(parts),
    ]
    with table(*spellings) as base:
        for query in spellings:
            found = base.execute(
                "SELECT count(*) FROM f WHERE f MATCH ?", (fts_query(query),)
            ).fetchone()
            assert found == (len(spellings),), query


@unbroken
@given(st.text(max_size=200))
def test_parts_come_from_the_text(text: str) -> None:
    lowered = text.lower()
    for part in index_extra(text).split(" "):
        assert part in lowered or not text.isascii() or not part.isascii()


@unbroken
@given(queries)
def test_an_identifier_is_one_token(query: str) -> None:
    if is_identifier(query):
        assert not any(map(str.isspace, query.strip()))
        assert len(query_terms(query)) == 1
