"""Words of identifiers, and full-text queries from what people type.

The store's FTS5 tables use ``porter unicode61``, which splits at ``_``, ``-``, ``.`` and
``/`` but keeps ``getUserName`` whole. ``index_extra`` gives the parts that it misses, for
a column of their own; ``fts_query`` asks for the whole and the parts. So
``get_user_name``, ``getUserName``, ``get-user-name`` and ``user name`` find each other.
Names that live by their punctuation and scripts without blanks have their own tokens in that
column (``punctuated``, ``unsegmented``).

>>> read_query('where is the "exact phrase" of getUserName').asked
(Term(text='exact phrase', phrase=True), Term(text='getUserName', phrase=False))
>>> read_query("the retry of a job").left_out
('the', 'of', 'a')
>>> fts_query("getUser of C++")
'("getUser" OR "get user" OR "getuser") AND "c\ue02b\ue02b"'
"""

# ruff: noqa: SIM905 - a long word list reads better as words

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from agentic_os.text import punctuated, unsegmented
from agentic_os.text.unicode_form import composed

MAX_QUERY_TERMS_ENTRIES = 64
"""Distinct terms of one query; the rest is left out (FTS5 bounds its expressions)."""

# Words of a question that say nothing about what it asks for. Code holds few of them, so that
# each would weigh more than the words that matter. A negation says a lot, and is none of them.
_STOP_WORDS = frozenset(
    "a an and any are as at be been but by can do does for from had has have how i if in into is it"
    " its may of on or over should so such than that the their them then there these they this"
    " those to was were what when where whether which while who why will with you your".split()
)

_LONGEST_IDENTIFIER_CHARS = 120  # longer runs are data, not names
_LONGEST_NAME_CHARS = 256  # of a path or dotted name in a query
_MOST_PARTS_ENTRIES = 12  # more parts than any name has: a hash or base64
_HEX_CHARS = 12  # hexadecimal runs of at least this length are hashes, not names

# ASCII characters by class, for a cheap look before any regex: a lower, A upper, 0 digit.
_CLASSES = bytes.maketrans(
    bytes(range(128)),
    b"".join(
        b"a" if char.islower() else b"A" if char.isupper() else b"0" if char.isdigit() else b" "
        for char in map(chr, range(128))
    ),
)
# A literal first character lets the search skip what cannot start a hump.
_CASE_HUMP = re.compile(rb"A(?:(?<=aA)|(?<=AA)a)")
_DIGIT_HUMP = re.compile(rb"0(?:(?<=[aA]0)|[aA])")
_WORD = re.compile(r"[^\W_]+")
_WORDS = re.compile(r"[\w\u0300-\u036f\u0e31-\u0e4e\u0eb1-\u0ecd\u1031-\u103e\u17b4-\u17d3]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HEX = re.compile(r"[0-9a-fA-F]+\Z")
_QUERY_PIECE = re.compile(r'"([^"]*)"|[^\s"]+')
_IDENTIFIER = re.compile(
    r"[^\W\d]\w*(?:(?:[.:/#-]|::|->)\w+)*(?:\(\))?\Z|[\w./-]*\w[./]\w[\w./-]*\Z"
)
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]")
_SEPARATOR = re.compile(r"\w(?:[._:/#-]|::|->)\w|\(\)\Z|\A_+\w|\w_+\Z")
_JOINED = re.compile(r"[\w-]+\Z")
_PUNCTUATION = ".,:;!?()[]{}'"
_SURROGATES = re.compile("[\ud800-\udfff]")


class Term(NamedTuple):
    """A word of a query as it was written, or a quoted phrase without its quotes."""

    text: str
    phrase: bool


class QueryTerms(NamedTuple):
    """The terms that a query asks for, and the words of it that are left out."""

    asked: tuple[Term, ...]
    left_out: tuple[str, ...]


def index_extra(text: str) -> str:
    """Return the tokens of a text that the store's tokenizer misses.

    These are the parts of camel-case and mixed identifiers, lower-cased, each identifier once
    (``getUserName2HTTPServer`` gives ``get user name 2 http server``), then names that live by
    their punctuation, then pairs of scripts without blanks.
    """
    text = composed(text)
    parts = _humps_extra(text)
    others = [*punctuated.index_names(text), *unsegmented.index_pairs(text)]
    return " ".join([parts, *others] if parts else others)


def _humps_extra(text: str) -> str:
    ascii_letters = text.isascii() or not any(map(_is_other_letter, set(text)))
    words = _humped_words(text) if ascii_letters else dict.fromkeys(_WORD.findall(text))
    if not words:
        return ""
    split = (
        _parts(word)
        for word in words
        if not _is_one_part(word) and not unsegmented.is_unsegmented(word)
    )
    return " ".join([" ".join(parts) for parts in split if len(parts) > 1])


def _humped_words(text: str) -> dict[str, None]:
    """Return the words around the humps of a text whose letters are all ASCII."""
    classes = text.encode("ascii", "replace").translate(_CLASSES)  # keeps every offset
    words: dict[str, None] = {}
    for hump in (_CASE_HUMP, _DIGIT_HUMP):
        end = 0
        for match in hump.finditer(classes):
            at = match.start()
            if at >= end:
                start = classes.rfind(b" ", 0, at) + 1
                end = classes.find(b" ", at)
                end = end if end >= 0 else len(text)
                words[text[start:end]] = None
    return words


def _is_other_letter(char: str) -> bool:
    return char > "\x7f" and char.isalnum()


def _is_one_part(word: str) -> bool:
    return word.isalpha() and (word.islower() or word.istitle() or word.isupper())


def read_query(query: str) -> QueryTerms:
    """Split a query into the terms that it asks for and the words that are left out.

    Left out are "the", "of" and their like beside other words, and what exceeds
    ``MAX_QUERY_TERMS_ENTRIES``. A word in capitals beside others is meant: CAN, DO, IT. Pieces
    without a letter or digit say nothing and count as neither.
    """
    terms = list(dict.fromkeys(_terms(query)))
    rest = [term.text for term in terms[MAX_QUERY_TERMS_ENTRIES:]]
    terms = terms[:MAX_QUERY_TERMS_ENTRIES]
    shouted = all(term.text.upper() == term.text for term in terms)
    telling = [term for term in terms if term.phrase or _is_telling(term.text, shouted=shouted)]
    asked = telling or terms
    return QueryTerms(
        asked=tuple(asked),
        left_out=(*(term.text for term in terms if term not in asked), *rest),
    )


def query_terms(query: str) -> tuple[str, ...]:
    """Return the words and quoted phrases of ``query``, as written, without doubles.

    Pieces without a letter or digit are left out, so is what exceeds
    ``MAX_QUERY_TERMS_ENTRIES``.
    """
    found = dict.fromkeys(term.text for term in _terms(query))
    return tuple(found)[:MAX_QUERY_TERMS_ENTRIES]


def _terms(query: str) -> Iterable[Term]:
    clean = _SURROGATES.sub(" ", composed(query).replace("\0", " "))
    for match in _QUERY_PIECE.finditer(clean):
        phrase = match.group(1)
        text = " ".join(phrase.split()) if phrase is not None else match.group()
        if any(map(_is_token_char, text)):
            yield Term(text, phrase is not None)


def _is_telling(word: str, *, shouted: bool) -> bool:
    bare = word.strip(_PUNCTUATION)
    if bare.lower() not in _STOP_WORDS:
        return True
    # Not one letter: "I" and "A" are capitals by grammar.
    return not shouted and len(bare) > 1 and bare.isupper()


def is_identifier(query: str) -> bool:
    """Whether ``query`` is one identifier-shaped token.

    That is: no white space, and an underscore, dot, slash, colon or hyphen between
    words, camel case, a digit after a letter, or a call's ``()`` (the retrieval rule of
    design section 5).
    """
    query = query.strip()
    if len(query) > _LONGEST_NAME_CHARS or not _IDENTIFIER.match(query):
        return False
    return _SEPARATOR.search(query) is not None or _CAMEL.search(query) is not None


def fts_query(query: str, *, any_term: bool = False) -> str | None:
    """Build an FTS5 MATCH expression from whatever a person typed.

    Every word is a string of its own, so operators and punctuation have no meaning;
    ``"quoted phrases"`` stay phrases. An identifier also asks for its parts in a row and
    for its parts written together. Beside other words, "the", "of" and their like are not
    asked for.

    Args:
        query: any text.
        any_term: ask for one of the words rather than for all of them.

    Returns:
        The expression, or ``None`` if there is no letter or digit to look for.
    """
    asked = read_query(query).asked
    groups = dict.fromkeys(term_query(term, loose=any_term) for term in asked)
    return (" OR " if any_term else " AND ").join(groups) or None


def term_query(term: Term, *, loose: bool = False) -> str:
    """Build the FTS5 expression of one term: any of its spellings.

    Args:
        term: a term of a query.
        loose: be content with less: a punctuated name without its signs, any pair of a run of
            a script without blanks.
    """
    if not term.phrase:
        token = punctuated.encoded(_bare_name(term.text))
        if token is not None and not loose:
            return _quoted(token)
        alternatives = _spellings(term.text)
        if token is not None:
            alternatives = {_quoted(token): None, **alternatives}
        if len(alternatives) == 1 and not unsegmented.is_unsegmented(term.text):
            return next(iter(alternatives))
        if not unsegmented.is_unsegmented(term.text):
            return "(" + " OR ".join(alternatives) + ")"
    if unsegmented.is_unsegmented(term.text):
        return _scripts_query(term.text, loose=loose)
    return _quoted(term.text)


def _bare_name(term: str) -> str:
    """Strip the punctuation around a term that no name begins or ends with."""
    return term.lstrip("([{'`").rstrip(".,:;!?)]}'`")


def _scripts_query(text: str, *, loose: bool) -> str:
    """Ask for a text with runs of scripts without blanks: each run as a row of its pairs."""
    groups: dict[str, None] = {}
    for word in _WORDS.findall(text):
        for piece, is_run in unsegmented.split_scripts(word):
            if not is_run:
                groups[_quoted(piece)] = None
                continue
            cut = unsegmented.pairs(piece)
            if loose:
                groups.update(dict.fromkeys(map(_quoted, cut)))
            elif cut:
                row = _quoted(" ".join(cut))
                # A single character is found as the beginning of a pair.
                groups[row if len(cut[0]) > 1 else f"{row}*"] = None
    joined = (" OR " if loose else " AND ").join(groups) or _quoted(text)
    return f"({joined})" if len(groups) > 1 else joined


def _spellings(term: str) -> dict[str, None]:
    """Return the ways to write a term: itself, its parts in a row, its parts together."""
    alternatives: dict[str, None] = {_quoted(term): None}
    if " " not in term:
        parts = [part for word in _WORD.findall(term) for part in _parts(word)]
        if 1 < len(parts) <= _MOST_PARTS_ENTRIES:
            alternatives[_quoted(" ".join(parts))] = None
            if _JOINED.match(term):
                alternatives[_quoted("".join(parts))] = None
    return alternatives


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _parts(word: str) -> list[str]:
    """Split a word at its humps and digits; a hash or a blob stays whole."""
    if len(word) > _LONGEST_IDENTIFIER_CHARS:
        return [word.lower()]
    if len(word) >= _HEX_CHARS and _HEX.match(word):
        return [word.lower()]
    parts = _PART.findall(word) if word.isascii() else list(_unicode_parts(word))
    if len(parts) > _MOST_PARTS_ENTRIES:
        return [word.lower()]
    return [part.lower() for part in parts]


def _unicode_parts(word: str) -> Iterable[str]:
    """As ``_PART`` for any script: a part ends before a hump, and at digits."""
    start = 0
    for at in range(1, len(word)):
        before, here = word[at - 1], word[at]
        after = word[at + 1 : at + 2]
        if (
            before.isdecimal() != here.isdecimal()
            or (here.isupper() and not before.isupper())
            or (here.isupper() and after.islower())
        ):
            yield word[start:at]
            start = at
    yield word[start:]


def _is_token_char(char: str) -> bool:
    """Whether unicode61 keeps the character: letters, numbers and private use."""
    return unicodedata.category(char)[0] in "LN" or unicodedata.category(char) == "Co"
