"""Names that live by their punctuation: C++, C#, .NET, --flag, @scope/name.

The store's tokenizer drops punctuation, and with it what tells C++ from C. Such a name is also
indexed as one token, whose signs are spelt with private characters, which tokenizers keep. A
question that asks for the name asks for that token.

>>> [plain(token) for token in index_names("C++ on .NET, see --dry-run of @scope/x; F# not C.")]
['c++', '.net', '--dry-run', '@scope/x', 'f#']
>>> encoded("C++") == encoded("c++"), encoded("plain"), encoded("a.b")
(True, None, None)
"""

import re

_PRIVATE = 0xE000
_SIGNS = "+#.-@/_"
_TO_PRIVATE = {ord(sign): chr(_PRIVATE + ord(sign)) for sign in _SIGNS}
_FROM_PRIVATE = {_PRIVATE + ord(sign): sign for sign in _SIGNS}

# Each begins with its sign: a literal first character lets the search skip what cannot match.
_AFTER_WORD = (
    re.compile(r"\+\+(?<=\w\+\+)(?![\w+])"),
    re.compile(r"#(?<=\w#)(?![\w#])"),
)
_BEFORE_WORD = (
    re.compile(r"\.(?<![\w.)\]\"'/]\.)[^\W\d_]\w*"),
    re.compile(r"-(?<![\w-]-)-?[^\W\d_]\w*(?:-\w+)*"),
    re.compile(r"@(?<![\w.@+-]@)[^\W\d_][\w.-]*(?:/\w[\w.-]*)?"),
)
_LAST_WORD = re.compile(r"[^\W\d_]\w*\Z")
_MAX_WORD_CHARS = 40
_NAME = re.compile(
    r"(?:[^\W\d_]\w*(?:\+\+|#)|\.[^\W\d_]\w*|--?[^\W\d_]\w*(?:-\w+)*"
    r"|@[^\W\d_][\w.-]*(?:/\w[\w.-]*)?)\Z"
)


def encoded(name: str) -> str | None:
    """Return the token of a punctuated name; ``None`` for any other text."""
    return _encoded(name) if _NAME.match(name) else None


def plain(token: str) -> str:
    """Return the name that a token stands for, lower-cased."""
    return token.translate(_FROM_PRIVATE)


def index_names(text: str) -> list[str]:
    """Return the tokens of a text's punctuated names, each once, in their order."""
    places: dict[str, int] = {}
    for pattern in _AFTER_WORD:
        for match in pattern.finditer(text):
            before = text[max(0, match.start() - _MAX_WORD_CHARS) : match.start()]
            if word := _LAST_WORD.search(before):
                start = match.start() - len(word.group())
                places.setdefault(word.group() + match.group(), start)
    for pattern in _BEFORE_WORD:
        for match in pattern.finditer(text):
            places.setdefault(match.group().rstrip(".-"), match.start())
    return list(dict.fromkeys(_encoded(name) for name in sorted(places, key=places.__getitem__)))


def _encoded(name: str) -> str:
    return name.lower().translate(_TO_PRIVATE)
