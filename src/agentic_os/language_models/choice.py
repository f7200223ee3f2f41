"""The provider that the person's settings name, and the rules it must keep.

- Text leaves the machine encrypted: an address is https, or http on loopback.
- A key stands in an environment variable that the settings name; it is never written down here,
  shown, or sent anywhere but to the address it belongs to.
- A command is a list of words, started without a shell.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

from agentic_os.errors import SettingsError
from agentic_os.files.processes import MAX_COMMAND_WORDS
from agentic_os.language_models.command import CommandProvider
from agentic_os.language_models.http import HttpProvider
from agentic_os.language_models.interface import Provider
from agentic_os.network.addresses import is_loopback

DEFAULT_LIMIT_SECONDS = 120.0
MAX_LIMIT_SECONDS = 3_600.0
MAX_URL_CHARS = 2_000
MAX_MODEL_CHARS = 200


_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_MODEL = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpChoice:
    """An OpenAI-compatible address, up to and without ``/chat/completions``, and a model of it.

    ``key_variable`` names the environment variable that holds the key, if one is needed.
    """

    url: str
    model: str
    key_variable: str | None = None
    limit_seconds: float = DEFAULT_LIMIT_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandChoice:
    """A command that reads a prompt on stdin and writes the answer on stdout."""

    words: tuple[str, ...]
    limit_seconds: float = DEFAULT_LIMIT_SECONDS


ProviderChoice: TypeAlias = HttpChoice | CommandChoice


def provider_for(choice: ProviderChoice, environ: Mapping[str, str]) -> Provider:
    """Make the provider that a choice names; nothing is started or reached yet.

    Raises:
        SettingsError: MODEL_URL_REFUSED, MODEL_KEY_MISSING or SETTINGS_VALUE_INVALID.
    """
    if not 0 < choice.limit_seconds <= MAX_LIMIT_SECONDS:
        raise _invalid(f"the time limit must lie between 0 and {MAX_LIMIT_SECONDS:.0f} seconds")
    match choice:
        case HttpChoice():
            return _http(choice, environ)
        case CommandChoice(words=words):
            if not words or not words[0] or len(words) > MAX_COMMAND_WORDS:
                raise _invalid("the command has no words, or too many")
            if any("\0" in word for word in words):
                raise _invalid("the command holds a NUL character")
            return CommandProvider(
                words=words, limit_seconds=choice.limit_seconds, environ=dict(environ)
            )


def _http(choice: HttpChoice, environ: Mapping[str, str]) -> HttpProvider:
    if not _MODEL.fullmatch(choice.model) or len(choice.model) > MAX_MODEL_CHARS:
        raise _invalid("the model's name is empty, too long, or not printable")
    host, port, loopback = _address(choice.url)
    return HttpProvider(
        url=choice.url.rstrip("/"),
        place=f"{host}:{port}" if port else host,
        model=choice.model,
        key=_key(choice, environ),
        limit_seconds=choice.limit_seconds,
        loopback=loopback,
    )


def _address(url: str) -> tuple[str, int | None, bool]:
    """Return the host and port of an address, and whether it is on this machine."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as fault:
        raise _refused("is not an address") from fault
    host = parts.hostname
    if host is None or len(url) > MAX_URL_CHARS or not _MODEL.fullmatch(url):
        raise _refused("is not an address")
    if parts.username is not None or parts.query or parts.fragment:
        raise _refused("holds a name, a query or a fragment", "A key belongs into a variable.")
    loopback = is_loopback(host)
    if parts.scheme != "https" and not (parts.scheme == "http" and loopback):
        raise _refused("is neither https nor on this machine", "Passages would travel unencrypted.")
    return host, port, loopback


def _key(choice: HttpChoice, environ: Mapping[str, str]) -> str | None:
    name = choice.key_variable
    if name is None:
        return None
    if not _VARIABLE.fullmatch(name):
        raise _invalid("the key's variable is not the name of one")
    key = environ.get(name, "").strip()
    if not key:
        raise SettingsError(
            f"the variable {name} holds no key",
            code="MODEL_KEY_MISSING",
            hint=f"Set {name}, or leave it out of the settings if no key is needed.",
        )
    if not _MODEL.fullmatch(key):
        raise _invalid(f"the key in {name} is not printable ASCII")
    return key


def _refused(fault: str, hint: str = "") -> SettingsError:
    return SettingsError(f"the model's address {fault}", code="MODEL_URL_REFUSED", hint=hint)


def _invalid(fault: str) -> SettingsError:
    return SettingsError(fault, code="SETTINGS_VALUE_INVALID")
