"""Values given to a secret's name: ``NAME: value``, ``NAME=value``, ``--name value``.

Rules:

- The name decides first: it must name a secret, not something about one (its path, its hash).
- After ``:``, ``=`` or "is" stands anything in prose, so the value must look generated.
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
# "the password is ...", in the languages whose words for one are known below.
IS_VALUE = re.compile(
    r" (?:is|ist|est|es|\u00e9|\u00e8|jest|je|on|\u00e4r|er|was|lautet)(?=[ \t])"
    + _VALUE.replace("[>=]?+", "", 1)
)
_NAME_CHARS = 80
_NAME_WORDS = (
    *("passw", "passphrase", "pwd", "secret", "token", "key", "credential", "auth"),
    *("kennwort", "mot de passe", "motdepasse", "mot_de_passe", "contrase", "clave", "senha"),
    *(
        "wachtwoord",
        "l\u00f6senord",
        "losenord",
        "passord",
        "adgangskode",
        "has\u0142o",
        "haslo",
        "heslo",
    ),
    *(
        "salasana",
        "jelsz\u00f3",
        "\u015fifre",
        "sifre",
        "parola",
        "\u043f\u0430\u0440\u043e\u043b\u044c",
    ),
    *("\u5bc6\u7801", "\u5bc6\u78bc", "\u53e3\u4ee4", "\u30d1\u30b9\u30ef\u30fc\u30c9"),
    *("\ube44\ubc00\ubc88\ud638", "m\u1eadt kh\u1ea9u", "kata sandi"),
)
"""What a name that holds a secret has in it, in the languages of many notes."""
_FOREIGN = "|".join(word.replace("contrase", r"contrase(?:\u00f1|n)a") for word in _NAME_WORDS[8:])
_NAME = (
    rf"(?i)(?:passw(?:or)?d|passwort|{_FOREIGN}"
    r"|passphrase|pwd|secret|token|credential|auth(?:orization)?"
    r"|(?:api|access|private|encryption|signing|master|account|auth)[_\- ]?key)"
    r"([\w.-]{0,40})[\"'`*\]]{0,4}[ \t]{0,8}\Z"
)
# A name that goes on like this names something about a secret, not the secret.
_ABOUT = (
    r"(?:\A|[_.-]|(?=[A-Z]))(?i:hash|sha\d*|digest|checksum|fingerprint|ids?|name|path|file|dir|ur[li]"
    r"|type|kind|env|expir\w*|ttl|at|count|limit|size|length|version|model|budget|scope|policy"
    r"|i[sz]ers?|ority|ors?)\Z"
)
_FILE_ENDING = (
    r"\.(?i:md|markdown|mdx|txt|rst|py|pyi|sh|js|mjs|cjs|jsx|ts|tsx|json|jsonc|jsonl|ya?ml|toml|ini|cfg"
    r"|conf|lock|html?|css|scss|xml|svg|go|rs|rb|java|kt|c|h|cc|cpp|hpp|cs|php|sql|ps1|bat|tmpl|j2|csv)\Z"
)
_DIGEST = r"[0-9a-fA-F]+"
_DIGEST_CHARS = frozenset({32, 40, 56, 64, 96, 128})
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
        if _is_file_digest(value, text[max(0, end - _NAME_CHARS) : end]):
            continue
        if secret := next(filter(is_random, _readings(value)), None):
            yield at, at + len(secret)


def _readings(value: str) -> Iterator[str]:
    """Yield a value as it stands, then without what a file's name or path puts behind it."""
    yield value
    first = value.partition("/")[0]
    yield first
    yield re.sub(_FILE_ENDING, "", first)


def _is_file_digest(value: str, before: str) -> bool:
    """Whether a value is the digest of a file whose name stands before it."""
    named = before.rpartition("\n")[2].rstrip(" \t\"'`*])")
    return (
        len(value) in _DIGEST_CHARS
        and re.fullmatch(_DIGEST, value) is not None
        and re.search(r"/[^\s/]*\Z|" + _FILE_ENDING, named) is not None
    )


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
