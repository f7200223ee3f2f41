"""Words of identifiers, and full-text queries from what people type.

The store's FTS5 tables use ``porter unicode61``, which splits at ``_``, ``-``, ``.`` and
``/`` but keeps ``getUserName`` whole. ``index_extra`` gives the parts that it misses, for
a column of their own; ``fts_query`` asks for the whole and the parts. So
``get_user_name``, ``getUserName``, ``get-user-name`` and ``user name`` find each other.
"""

# ruff: noqa: SIM905 - a long word list reads better as words

import re
import unicodedata
from collections.abc import Iterable

MAX_QUERY_TERMS_ENTRIES = 64
"""Distinct terms of one query; the rest is left out (FTS5 bounds its expressions)."""

# Words of a question that say nothing about what it asks for. Code holds few of them, so that
# each would weigh more than the words that matter.
_STOP_WORDS = frozenset(
    "a an and any are as at be been but by can do does for from had has have how i if in into is it"
    " its may not of on or over should so such than that the their them then there these they this"
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


def index_extra(text: str) -> str:
    """Return the parts of the camel-case and mixed identifiers of ``text``, lower-cased.

    Each identifier counts once; ``getUserName2HTTPServer`` gives ``get user name 2 http
    server``. Words of one part give nothing.
    """
    ascii_letters = text.isascii() or not any(map(_is_other_letter, set(text)))
    words = _humped_words(text) if ascii_letters else dict.fromkeys(_WORD.findall(text))
    if not words:
        return ""
    split = (_parts(word) for word in words if not _is_one_part(word))
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


def query_terms(query: str) -> tuple[str, ...]:
    """Return the words and quoted phrases of ``query``, as written, without doubles.

    Pieces without a letter or digit are left out, so is what exceeds
    ``MAX_QUERY_TERMS_ENTRIES``.
    """
    clean = _SURROGATES.sub(" ", query.replace("\0", " "))
    found: dict[str, None] = {}
    for match in _QUERY_PIECE.finditer(clean):
        phrase = match.group(1)
        term = " ".join(phrase.split()) if phrase is not None else match.group()
        if any(map(_is_token_char, term)):
            found[term] = None
            if len(found) == MAX_QUERY_TERMS_ENTRIES:
                break
    return tuple(found)


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
    terms = query_terms(query)
    telling = [term for term in terms if term.strip(_PUNCTUATION).lower() not in _STOP_WORDS]
    groups = [_group(term) for term in telling or terms]
    return (" OR " if any_term else " AND ").join(groups) or None


def _group(term: str) -> str:
    """Return one term's alternatives as an FTS5 expression."""
    alternatives = {_quoted(term): None}
    if " " not in term:
        parts = [part for word in _WORD.findall(term) for part in _parts(word)]
        if 1 < len(parts) <= _MOST_PARTS_ENTRIES:
            alternatives[_quoted(" ".join(parts))] = None
            if _JOINED.match(term):
                alternatives[_quoted("".join(parts))] = None
    if len(alternatives) == 1:
        return next(iter(alternatives))
    return "(" + " OR ".join(alternatives) + ")"


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
