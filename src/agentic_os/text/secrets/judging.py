"""Is this value a secret? Pure judgements on one value, precision before recall."""

import math
import re
from collections import Counter

MIN_SECRET_CHARS = 8
_MIN_CHANGES = 3  # changes between letters and digits that words and versions do not reach
_LONG_RUN_CHARS = 16
_LEAST_CAPITALS = 0.3
_MIN_BITS_PER_CHAR = 2.7
_MIN_DISTINCT_CHARS = 6
_SYMBOLS = frozenset("!@#$%^&*?~+")

# Patterns stay text: most runs never need them, and ``re`` keeps what it compiled.
_PLACEHOLDER = (
    r"(?i)\A\$\w|\$[{(]|\{\{|%\w+%|[<>]|\*\*\*|\.\.\.|…|x{4}|example|sample|change[-_ ]?me"
    r"|placeholder|redacted|dummy|your[-_ ]|my[-_]?(?:secret|token|key|pass)|insert|replace"
    r"|1234567890|abcdefgh|process\.env|os\.environ|\bgetenv\b|secrets\.|vault:|op://|env:"
)
_WEAK_VALUE = (
    r"(?i)(?:password|passwd|pass|pwd|secret|token|user|username|key|none|null|true|false|xxx+)"
    r"\d{0,3}\Z"
)
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z"
_ENVIRONMENT_NAME = r"\$?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z"
_PATH = r"(?:~|\.{1,2})?/[^\s/]+(?:/[^\s/]+)+\Z|(?:~|\.{1,2})/|[A-Za-z]:\\|\w[\w./-]*\.\w{1,5}\Z"
_DIGEST_PREFIX = r"(?i)(?:sha(?:1|224|256|384|512)|md5|blake2[bs]|blake3)[:=-]"
_TIME = r"\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?\Z"
_RUN = r"[A-Za-z0-9]+"
_CHANGE = r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])"
# Words with a number after them, versions, and camel case of whole words.
_PLAIN_PART = (
    r"[a-z]*\d{0,8}\Z|[A-Z]+\d{0,4}\Z|v?\d+(?:(?:alpha|beta|rc)\d*|[a-z])?\Z"
    r"|(?:[A-Z]?[a-z]{3,}+\d?)++\d{0,3}\Z"
)

# A name of a program, alone or at the end of a dotted path: X509AuthorityKey, module.Ed25519Key.
_CODE_NAME = r"(?:[a-z_]{2,}|_)?(?:[A-Z][a-z]+|[A-Z]{1,7}(?![a-z])|\d{1,5})+\Z"
_CODE_WORD = r"[A-Z][a-z]{2,}"
_LEAST_CODE_WORDS = 2
_LONG_WORD_CHARS = 7  # random letters seldom make a capital and six small ones
_MODULE_NAME = r"[a-z_]+\d{0,6}"


def is_placeholder(value: str) -> bool:
    """Whether a value only stands for a secret: a template, an example, one character."""
    return (
        len(set(value)) <= 2  # noqa: PLR2004 - "xx", "----", "0000"
        or re.search(_PLACEHOLDER, value) is not None
        or re.match(_WEAK_VALUE, value) is not None
        or re.match(_ENVIRONMENT_NAME, value) is not None
    )


def is_random(value: str) -> bool:
    """Whether a value given to a secret's name looks generated rather than written.

    Words, versions, times, paths, addresses, UUIDs, tagged digests and placeholders do not.
    A value needs eight characters, entropy, letters and digits, and either many changes
    between the two, or one long mixed run, or a symbol among them; or, without a digit,
    sixteen letters of which many are capitals.
    """
    if len(value) < MIN_SECRET_CHARS or is_placeholder(value) or _is_reference(value):
        return False
    if len(set(value)) < _MIN_DISTINCT_CHARS or entropy_bits(value) < _MIN_BITS_PER_CHAR:
        return False
    runs = re.findall(_RUN, value)
    long = max(map(len, runs), default=0) >= _LONG_RUN_CHARS
    if not any(map(str.isdigit, value)):
        return long and _is_mixed_case(value)
    if not any(map(str.isalpha, value)):
        return False
    if not _SYMBOLS.isdisjoint(value.rstrip("!?")):
        return True
    return not all(re.match(_PLAIN_PART, run) for run in runs) and (
        long or len(re.findall(_CHANGE, value)) >= _MIN_CHANGES
    )


def is_typed(value: str) -> bool:
    """Whether a value that stands where a password belongs looks like one that a person made up.

    As ``is_random``, but a digit among the letters is enough: nothing else stands there, but
    for placeholders, paths and plain words.
    """
    if len(value) < MIN_SECRET_CHARS or is_placeholder(value) or _is_reference(value):
        return False
    if len(set(value)) < _MIN_DISTINCT_CHARS:
        return False
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    plain = all(re.match(_PLAIN_PART, run) for run in re.findall(_RUN, value))
    return is_random(value) or (mixed and not plain)


def _is_reference(value: str) -> bool:
    """Whether a value names something: an address, a UUID, a path, a tagged digest, a time."""
    return (
        "://" in value
        or re.match(_UUID, value) is not None
        or re.match(_PATH, value) is not None
        or re.match(_DIGEST_PREFIX, value) is not None
        or re.match(_TIME, value) is not None
        or _is_code_name(value)
    )


def _is_code_name(value: str) -> bool:
    """Whether a value is a name in a program: words in camel case, and little else."""
    *path, last = value.split(".")
    words = re.findall(_CODE_WORD, last)
    return (
        all(re.fullmatch(_MODULE_NAME, part) for part in path)
        and len(words) >= _LEAST_CODE_WORDS
        and max(map(len, words)) >= _LONG_WORD_CHARS
        and 2 * sum(map(len, words)) >= len(last)
        and re.match(_CODE_NAME, last) is not None
    )


def _is_mixed_case(value: str) -> bool:
    """Whether capitals are as common as in random letters, not as in camel case."""
    capitals = sum(map(str.isupper, value))
    return _LEAST_CAPITALS <= capitals / len(value) <= 1 - _LEAST_CAPITALS


def entropy_bits(value: str) -> float:
    """Return the Shannon entropy of the characters of ``value``, in bits a character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())
