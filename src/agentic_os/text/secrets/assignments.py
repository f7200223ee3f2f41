"""Values given to a secret's name: ``NAME: value``, ``NAME=value``, ``--name value``.

Rules:

- The name decides first: it must name a secret, not something about one (its path, its hash).
- After ``:`` or ``=`` stands anything in prose, so the value must look generated.
- After a flag such as ``--password``, and after ``-u user:``, stands the secret itself: what a
  person makes up is enough. A placeholder, a path or a plain word is not.
"""

import re
from collections.abc import Iterator

from agentic_os.text.secrets.judging import is_random, is_typed

_VALUE_CHAR = r"[^\s\"'`,;<>(){}\[\]|&]"
# The separator and a value of eight characters with a digit; then the name before it.
_VALUE = (
    rf"[>=]?+[ \t\"'`*]{{0,6}}+(?![:=])(?={_VALUE_CHAR}{{8}})"
    rf"(?=[^\s\"'`]{{0,64}}?(?:\d|[a-z][A-Z]))({_VALUE_CHAR}+)"
)
COLON_VALUE = re.compile(":" + _VALUE)
EQUALS_VALUE = re.compile("=" + _VALUE)
_NAME_CHARS = 80
_NAME_WORDS = ("passw", "passphrase", "pwd", "secret", "token", "key", "credential", "auth")
_NAME = (
    r"(?i)(?:passw(?:or)?d|passphrase|pwd|secret|token|credential|auth(?:orization)?"
    r"|(?:api|access|private|encryption|signing|master|account|auth)[_\- ]?key)"
    r"([\w.-]{0,40})[\"'`*\]]{0,4}[ \t]{0,8}\Z"
)
# A name that goes on like this names something about a secret, not the secret.
_ABOUT = (
    r"(?:\A|[_.-]|(?=[A-Z]))(?i:hash|sha\d*|digest|checksum|fingerprint|ids?|name|path|file|dir|ur[li]"
    r"|type|kind|env|expir\w*|ttl|at|count|limit|size|length|version|model|budget|scope|policy"
    r"|i[sz]ers?|ority|ors?)\Z"
)
FLAG_SENTINEL = re.compile(r"-(?:u|-[A-Za-z])")
_FLAG = (
    r"(?i)(?<![\w-])(?:--(?:[a-z0-9]{1,32}[-_.]){0,6}"
    r"(?:passw(?:or)?d|passphrase|pass|pwd|secret|token|credentials?"
    r"|(?:api|access|secret|private|account|auth)[-_]?key)[ \t=]{1,8}"
    r"|(?:-u|--user)[ \t=]{1,8}[\"']?[\w.@+-]{1,64}:)"
    rf"[\"']?(?![a-z]{{1,16}}=)({_VALUE_CHAR}{{8,256}})"
)


def assigned(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield where the secrets after one kind of separator stand.

    In ``--set=db.password=value`` the last equals sign is the one that assigns.
    """
    for match in pattern.finditer(text):
        value, at, end = match.group(1).rstrip(".*:"), match.start(1), match.start()
        if not _is_secret_name(text, end):
            outer, separator, _ = value.rstrip("=").rpartition("=")
            end = at + len(outer)
            if not separator or not _is_secret_name(text, end):
                continue
            value, at = value[len(outer) + 1 :], end + 1
        if is_random(value):
            yield at, at + len(value)


def flagged(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the secrets after a flag of a command line stand."""
    for match in re.finditer(_FLAG, text):
        value = match.group(1).rstrip(".*:")
        if is_typed(value):
            yield match.start(1), match.start(1) + len(value)


def _is_secret_name(text: str, end: int) -> bool:
    """Whether the words before a separator, on its line, name a secret."""
    words = text[max(0, end - _NAME_CHARS) : end].rpartition("\n")[2]
    lowered = words.lower()
    if not any(word in lowered for word in _NAME_WORDS):
        return False
    name = re.search(_NAME, words)
    return name is not None and not re.search(_ABOUT, name.group(1))
