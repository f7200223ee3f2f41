"""Secrets that are known by where they stand: credential files, headers, signed addresses, prose.

Each row is a cheap search for one literal character, and a pattern whose first group is the secret.
The value must still look like one, or at least not be a placeholder.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentic_os.text.secrets.judging import is_placeholder, is_random, is_typed


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceRule:
    """One place: a character and a search that a clean text fails, then the pattern."""

    id: str
    char: str
    sentinel: re.Pattern[str]
    pattern: str
    accepts: Callable[[str], bool]


def _written(value: str) -> bool:
    return not is_placeholder(value)


def _hashed(value: str) -> bool:
    return len(set(value)) >= _LEAST_HASH_CHARACTERS


def _place(
    identity: str, char: str, sentinel: str, pattern: str, accepts: Callable[[str], bool]
) -> PlaceRule:
    return PlaceRule(
        id=identity, char=char, sentinel=re.compile(sentinel), pattern=pattern, accepts=accepts
    )


_LEAST_HASH_CHARACTERS = 12

PLACES: tuple[PlaceRule, ...] = (
    _place(
        "netrc-password",
        "machine",
        r"machine[ \t]+\S",
        r"(?:\bmachine[ \t]+\S+|\bdefault)(?:\s+(?:login|account)\s+\S+){0,2}"
        r"\s+password\s+(\S{6,256})",
        _written,
    ),
    _place(
        "pgpass-password",
        ":",
        r":(?:\d{2,5}|\*):[^:\s/]{1,64}:[^:\s/]{1,64}:\S{8}",
        r"(?m)^[\w.*-]{1,255}:(?:\d{2,5}|\*):[^:\s/]{1,64}:[^:\s/]{1,64}:([^:\s]{8,256})$",
        is_typed,
    ),
    _place(
        "password-hash",
        "$",
        r"\$(?:2[abxy]?|apr1|[156y]|argon2(?:id|i|d)|scrypt|pbkdf2[\w-]*)\$",
        r"(\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|(?:apr1|[156y])\$(?:[\w=,./]{1,40}\$){1,2}[./A-Za-z0-9]{22,}"
        r"|(?:argon2(?:id|i|d)|scrypt|pbkdf2[\w-]*)\$(?:[^\s$]{1,80}\$){1,3}[A-Za-z0-9+/=._-]{16,}))",
        _hashed,
    ),
    _place(
        "password-hash",
        "{",
        r"\{(?:SSHA|SHA|SMD5)(?:256|512)?\}",
        r"(\{(?:SSHA|SHA|SMD5)(?:256|512)?\}[A-Za-z0-9+/]{20,}={0,2})",
        _hashed,
    ),
    _place(
        "signed-address",
        "=",
        r"=(?=[\w%+/.~-]{16})(?:(?<=[?&;]sig=)|(?<=ignature=)|(?<=ecurity-[Tt]oken=))",
        r"(?i)(?:[?&;]sig|[?&;](?:x-\w+-)?signature|security-token)=([\w%+/.~-]{16,}={0,2})",
        is_random,
    ),
    _place(
        "session-cookie",
        "ookie",
        r"ookie[\"']?:",
        r"(?i)\b(?:set-)?cookie[\"']?:[ \t\"']*(?:[\w.-]{1,64}=[^;\s]{0,15};[ \t]*){0,8}"
        r"[\w.-]{1,64}=([^;\s\"']{16,4096})",
        is_random,
    ),
    _place(
        "authorization-header",
        "uthorization",
        r"uthorization[\"']?:",
        r"(?i)\b(?:proxy-)?authorization[\"']?:[ \t\"']*"
        r"[a-z][\w-]{1,20}[ \t]+([\w.~+/-]{16,}={0,2})",
        is_random,
    ),
    _place(
        "config-password",
        'assword"',
        r"assword\"[ \t]+value=",
        r"(?i)password\"[ \t]+value=\"([^\"\s]{6,})\"",
        _written,
    ),
    _place(
        "bundler-password",
        "BUNDLE_",
        r"BUNDLE_\w+=",
        r"BUNDLE_\w+=[\"']?([0-9a-f]{8}:[0-9a-f]{8})\b",
        _written,
    ),
    _place(
        "vendor-key",
        "-",
        r"-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        r"(?i)\b(?:heroku|hubspot|snyk|squarespace|kucoin|messagebird|sendbird|polymarket|travis|plaid)"
        r"[\w. -]{0,40}[\"']?[ \t]{0,4}(?:=|:|=>)[ \t]{0,4}[\"']?"
        r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b",
        _written,
    ),
)


def placed(rule: PlaceRule, text: str) -> Iterator[tuple[int, int]]:
    """Yield where the secrets of one place stand."""
    for match in re.finditer(rule.pattern, text):
        value = match.group(1).rstrip(".*:!")
        if rule.accepts(value):
            yield match.start(1), match.start(1) + len(value)
