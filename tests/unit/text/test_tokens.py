"""Identifiers in full-text search, tried on the real SQLite."""

import sqlite3
from collections.abc import Iterator

import pytest

from agentic_os.text.tokens import (
    MAX_QUERY_TERMS_ENTRIES,
    fts_query,
    index_extra,
    is_identifier,
    query_terms,
)


class Index:
    """An FTS5 table as the store has it: the text and the parts of its identifiers."""

    def __init__(self) -> None:
        self.base = sqlite3.connect(":memory:")
        self.base.execute(
            "CREATE VIRTUAL TABLE f USING fts5(body, extra, tokenize='porter unicode61')"
        )

    def add(self, *texts: str) -> None:
        for text in texts:
            self.base.execute("INSERT INTO f VALUES (?, ?)", (text, index_extra(text)))

    def find(self, query: str, *, any_term: bool = False) -> set[str]:
        expression = fts_query(query, any_term=any_term)
        if expression is None:
            return set()
        found = self.base.execute("SELECT body FROM f WHERE f MATCH ?", (expression,))
        return {body for (body,) in found}


@pytest.fixture
def index() -> Iterator[Index]:
    made = Index()
    yield made
    made.base.close()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getUserName2HTTPServer", "get user name 2 http server"),
        ("call getUserName now", "get user name"),
        ("HTTPServer", "http server"),
        ("XMLHttpRequest", "xml http request"),
        ("sha256 utf8", "sha 256 utf 8"),
        ("2fast", "2 fast"),
        ("getA", "get a"),
        ("aB", "a b"),
        ("my_getUser-itemId", "get user item id"),
        ("getUser getUser", "get user"),
        ("größeÄndern", "größe ändern"),
        ("größe getUser", "get user"),
        ("— getUser —", "get user"),
        ("naïveHTTPServer2x", "naïve http server 2 x"),
        ("plain words only", ""),
        ("Title Case HTTP", ""),
        ("snake_case kebab-case", ""),
        ("2024-01-02 1234", ""),
        ("größe", ""),
        ("", ""),
        ("3f2a9c11deadbeef", ""),
        ("a1b2c3d4e5f6a7", ""),
        ("aB" * 20, ""),
        ("xY" * 20, ""),
        ("xYxYxYxYxYx", "x yx yx yx yx yx"),
        ("getUser" + "x" * 200, ""),
        ("9f8e7d", "9 f 8 e 7 d"),
    ],
)
def test_index_extra_gives_the_parts_that_the_tokenizer_misses(text: str, parts: str) -> None:
    assert set(index_extra(text).split()) == set(parts.split())
    assert index_extra(text) == parts


SPELLINGS = ["get_user_name", "getUserName", "get-user-name", "GetUserName", "GET_USER_NAME"]


@pytest.mark.parametrize(
    "query", [*SPELLINGS, "user name", "user names", "get.user.name", "UserName"]
)
def test_all_spellings_of_an_identifier_find_each_other(index: Index, query: str) -> None:
    documents = {f"calls {spelling} here" for spelling in SPELLINGS}
    index.add(*documents, "another text", "user", "name")
    assert index.find(query) == documents


def test_words_written_together_find_camel_case(index: Index) -> None:
    index.add("getUserName", "other")
    assert index.find("getusername") == {"getUserName"}


def test_parts_must_stand_in_a_row(index: Index) -> None:
    index.add("name of the user to get", "getUserName")
    assert index.find("getUserName") == {"getUserName"}
    assert len(index.find("get user name")) == 2


@pytest.mark.parametrize("query", ["sha256", "sha-256", "sha 256", "SHA256"])
def test_digits_join_and_split(index: Index, query: str) -> None:
    index.add("sha256 sum", "sha-256 sum", "sha1")
    assert index.find(query) == {"sha256 sum", "sha-256 sum"}


def test_all_words_are_needed_unless_any_will_do(index: Index) -> None:
    index.add("one two", "two three")
    assert index.find("one two") == {"one two"}
    assert index.find("one three") == set()
    assert index.find("one three", any_term=True) == {"one two", "two three"}


def test_quoted_phrases_stay_phrases(index: Index) -> None:
    index.add("payment provider", "provider payment")
    assert index.find('"payment provider"') == {"payment provider"}
    assert index.find("payment provider") == {"payment provider", "provider payment"}
    assert index.find('"payment   provider" provider') == {"payment provider"}


HOSTILE = [
    "",
    "   ",
    "*",
    '"',
    '""',
    '"""',
    "'",
    "(",
    ")",
    "NEAR(",
    "a NEAR b",
    "NOT",
    "AND OR NOT",
    "body:x",
    "{body extra}: x",
    "^start",
    "-minus",
    "+plus",
    "a*",
    "a\0b",
    "\0",
    "🚀",
    "🚀 word",
    "\ud83d",
    "half\ud83d word",
    "x\x1b[31m",
    "'; DROP TABLE f; --",
    "%_",
    "\\",
    "a" * 100_000,
    "a " * 100_000,
    " ".join(f"getItem{number}Of" for number in range(5000)),
    '"' * 1001,
    "é" * 50,
    "e\u0301",
    "١٢٣",
    "²½",
    "日本語 text",
]


@pytest.mark.parametrize("query", HOSTILE)
@pytest.mark.parametrize("any_term", [True, False])
def test_no_text_is_a_syntax_error(index: Index, query: str, *, any_term: bool) -> None:
    index.add("a word")
    index.find(query, any_term=any_term)


@pytest.mark.parametrize(
    "query", ["", " ", "*", '"', '""', '"  "', "()", "🚀", "\0", "\ud83d", "--"]
)
def test_nothing_to_look_for_gives_none(query: str) -> None:
    assert fts_query(query) is None


@pytest.mark.parametrize(
    ("query", "expression"),
    [
        ("word", '"word"'),
        ("Word", '"Word"'),
        ("one two", '"one" AND "two"'),
        ("getUser", '("getUser" OR "get user" OR "getuser")'),
        ("a.b", '("a.b" OR "a b")'),
        (
            "a-b-c-d-e-f-g-h-i-j-k-l",
            '("a-b-c-d-e-f-g-h-i-j-k-l" OR "a b c d e f g h i j k l" OR "abcdefghijkl")',
        ),
        ("a-b-c-d-e-f-g-h-i-j-k-l-m", '"a-b-c-d-e-f-g-h-i-j-k-l-m"'),
        ('say "get User"', '"say" AND "get User"'),
    ],
)
def test_the_expression_asks_no_more_than_it_needs(query: str, expression: str) -> None:
    assert fts_query(query) == expression


def test_operators_are_words(index: Index) -> None:
    index.add("this AND that", "this that")
    assert index.find("this AND that") == {"this AND that"}
    assert index.find("NOT this") == set()


def test_punctuation_around_words_does_not_matter(index: Index) -> None:
    index.add("the user's name (here)")
    assert index.find("(user's) name!") == {"the user's name (here)"}
    assert index.find("🚀 name") == {"the user's name (here)"}


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("one two one", ("one", "two")),
        ("a-b c_d", ("a-b", "c_d")),
        ('say "two words" x', ("say", "two words", "x")),
        ('open "quote here', ("open", "quote", "here")),
        ("! word ?", ("word",)),
        ("a\0b", ("a", "b")),
        ("Case kept", ("Case", "kept")),
        ("", ()),
    ],
)
def test_query_terms_are_as_written(query: str, terms: tuple[str, ...]) -> None:
    assert query_terms(query) == terms


def test_the_number_of_terms_is_bounded() -> None:
    assert len(query_terms(" ".join(map(str, range(1000))))) == MAX_QUERY_TERMS_ENTRIES


@pytest.mark.parametrize(
    "query",
    [
        "getUserName",
        "HTTPServer",
        "get_user",
        "get-user",
        "a.b",
        "a.b.c",
        "std::vector",
        "a->b",
        "foo()",
        "src/app/main.py",
        "./x.py",
        "v2",
        "sha256",
        "_private",
        "trailing_",
        "Größe_x",
        "  padded_name  ",
        "org/repo#12",
        "utf-8",
    ],
)
def test_identifiers(query: str) -> None:
    assert is_identifier(query)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "word",
        "Word",
        "HTTP",
        "two words",
        "a_b c",
        "-",
        "?",
        "what?",
        "C++",
        "#12",
        "don't",
        "1",
    ],
)
def test_what_is_no_identifier(query: str) -> None:
    assert not is_identifier(query)
