from dataclasses import replace

import pytest

from agentic_os.errors import SettingsError
from agentic_os.files.processes import MAX_COMMAND_WORDS
from agentic_os.language_models.choice import (
    MAX_LIMIT_SECONDS,
    CommandChoice,
    HttpChoice,
    provider_for,
)
from agentic_os.language_models.command import CommandProvider
from agentic_os.language_models.http import HttpProvider

HTTP = HttpChoice(url="http://127.0.0.1:11434/v1/", model="llama3.2:3b")
COMMAND = CommandChoice(words=("/usr/bin/ask", "--model", "small"))


def test_an_address_becomes_a_provider_with_a_name_of_its_own() -> None:
    provider = provider_for(HTTP, {})
    assert isinstance(provider, HttpProvider)
    assert provider.name == "llama3.2:3b at 127.0.0.1:11434"
    assert (provider.url, provider.key, provider.loopback) == (
        "http://127.0.0.1:11434/v1",
        None,
        True,
    )
    other = provider_for(replace(HTTP, url="https://models.example/v1"), {})
    assert isinstance(other, HttpProvider)
    assert (other.name, other.loopback) == ("llama3.2:3b at models.example", False)


def test_a_command_becomes_a_provider() -> None:
    provider = provider_for(COMMAND, {"A": "b"})
    assert isinstance(provider, CommandProvider)
    assert provider.name == "command ask"
    assert provider.environ == {"A": "b"}


@pytest.mark.parametrize(
    "url", ["http://localhost:1/v1", "http://[::1]:1/v1", "https://192.0.2.7/v1"]
)
def test_addresses_that_are_safe(url: str) -> None:
    assert provider_for(replace(HTTP, url=url), {}).name


@pytest.mark.parametrize(
    "url",
    [
        "",
        "nonsense",
        "http://models.example/v1",
        "http://127.0.0.1.evil.example/v1",
        "http://localhost@evil.example/v1",
        "https://name:key@models.example/v1",
        "https://models.example/v1?key=x",
        "https://models.example/v1#x",
        "ftp://127.0.0.1/v1",
        "file:///etc/passwd",
        "https://models.example:99999/v1",
        "https://[::1/v1",
        "https://models.example/\n",
        "https://models.example/" + "x" * 3_000,
    ],
)
def test_addresses_that_are_not(url: str) -> None:
    with pytest.raises(SettingsError) as refused:
        provider_for(replace(HTTP, url=url), {})
    assert refused.value.code == "MODEL_URL_REFUSED"


@pytest.mark.parametrize("model", ["", "a b", "x" * 300, "ä", "a\n"])
def test_names_of_models_that_cannot_be(model: str) -> None:
    with pytest.raises(SettingsError, match="model's name"):
        provider_for(replace(HTTP, model=model), {})


def test_a_key_comes_from_the_variable_and_is_not_shown() -> None:
    provider = provider_for(replace(HTTP, key_variable="SOME_KEY"), {"SOME_KEY": " sesame \n"})
    assert isinstance(provider, HttpProvider)
    assert provider.key == "sesame"
    assert "sesame" not in repr(provider)
    command = provider_for(COMMAND, {"SOME_KEY": "sesame"})
    assert "sesame" not in repr(command)


@pytest.mark.parametrize("environ", [{}, {"SOME_KEY": " "}])
def test_a_missing_key_is_named(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="SOME_KEY") as refused:
        provider_for(replace(HTTP, key_variable="SOME_KEY"), environ)
    assert refused.value.code == "MODEL_KEY_MISSING"


@pytest.mark.parametrize("name", ["", "A-B", "1A", "A\n", "x" * 200])
def test_a_variable_that_cannot_be_one(name: str) -> None:
    with pytest.raises(SettingsError, match="variable"):
        provider_for(replace(HTTP, key_variable=name), {name: "x"})


def test_a_key_that_would_break_the_header_is_refused_without_being_shown() -> None:
    with pytest.raises(SettingsError, match="printable") as refused:
        provider_for(replace(HTTP, key_variable="K"), {"K": "ses\r\nx: ame"})
    assert "ses" not in refused.value.message


@pytest.mark.parametrize("words", [(), ("",), ("x",) * (MAX_COMMAND_WORDS + 1), ("a", "b\0")])
def test_commands_that_cannot_be(words: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError, match="command"):
        provider_for(replace(COMMAND, words=words), {})


@pytest.mark.parametrize("seconds", [0, -1, MAX_LIMIT_SECONDS + 1, float("nan")])
def test_time_limits_that_cannot_be(seconds: float) -> None:
    for choice in (HTTP, COMMAND):
        with pytest.raises(SettingsError, match="time limit"):
            provider_for(replace(choice, limit_seconds=seconds), {})
