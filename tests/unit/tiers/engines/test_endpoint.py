"""What an endpoint asks for is worked out from its text alone."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.tiers.engines.codes import ENGINE_CODES
from agentic_os.tiers.engines.endpoint import (
    Address,
    Command,
    Unaskable,
    find_program,
    read_endpoint,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ccc mcp", ("ccc", "mcp")),
        ("engine", ("engine",)),
        ("/usr/bin/engine --stdio", ("/usr/bin/engine", "--stdio")),
        ("engine 'two words' \"$HOME\" ; rm", ("engine", "two words", "$HOME", ";", "rm")),
        ("engine http://127.0.0.1", ("engine", "http://127.0.0.1")),
    ],
)
def test_commands_are_words_and_no_shell(text: str, words: tuple[str, ...]) -> None:
    assert read_endpoint(text) == Command(words=words)


@pytest.mark.parametrize(
    ("text", "loopback"),
    [
        ("http://127.0.0.1:8731/mcp", True),
        ("http://localhost/mcp", True),
        ("http://[::1]:9/mcp?project=a", True),
        ("https://engine.example.org/mcp", False),
        ("HTTPS://Engine.example.org", False),
    ],
)
def test_addresses(text: str, loopback: bool) -> None:
    assert read_endpoint(text) == Address(url=text, loopback=loopback)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (".cocoindex_code", "ENGINE_IS_A_PATH"),
        (".cocoindex_code/target_sqlite.db", "ENGINE_IS_A_PATH"),
        ("var/index", "ENGINE_IS_A_PATH"),
        ("/srv/index", "ENGINE_IS_A_PATH"),
        ("sqlite:///x", "ENGINE_IS_A_PATH"),
        ("./engine serve", "ENGINE_ENDPOINT_INVALID"),
        ("../other/engine serve", "ENGINE_ENDPOINT_INVALID"),
        ("", "ENGINE_ENDPOINT_INVALID"),
        (" ", "ENGINE_ENDPOINT_INVALID"),
        ("''", "ENGINE_ENDPOINT_INVALID"),
        ("engine 'open", "ENGINE_ENDPOINT_INVALID"),
        ("engine\x1b[2J", "ENGINE_ENDPOINT_INVALID"),
        ("engine\n", "ENGINE_ENDPOINT_INVALID"),
        ("x " * 101, "ENGINE_ENDPOINT_INVALID"),
        ("x" * 2_001, "ENGINE_ENDPOINT_INVALID"),
        ("http://example.org/mcp", "ENGINE_ENDPOINT_INVALID"),
        ("http://127.0.0.1.example.org/mcp", "ENGINE_ENDPOINT_INVALID"),
        ("https://user:word@example.org/mcp", "ENGINE_ENDPOINT_INVALID"),
        ("https://example.org/mcp#x", "ENGINE_ENDPOINT_INVALID"),
        ("https://", "ENGINE_ENDPOINT_INVALID"),
        ("https://[bad", "ENGINE_ENDPOINT_INVALID"),
        ("http://127.0.0.1:99999/", "ENGINE_ENDPOINT_INVALID"),
        ("https://example.org/a b", "ENGINE_ENDPOINT_INVALID"),
    ],
)
def test_what_nobody_can_be_asked_at(text: str, code: str) -> None:
    found = read_endpoint(text)

    assert isinstance(found, Unaskable), found
    assert (found.code, bool(found.reason)) == (code, True)
    assert code in ENGINE_CODES


@given(st.one_of(st.text(), st.from_regex(r"https?://.{0,40}"), st.from_regex(r"[.'\"/ a\\]*")))
def test_any_text_is_worked_out(text: str) -> None:
    found = read_endpoint(text)

    if isinstance(found, Command):
        assert found.words[0]
        assert "/" not in found.words[0] or found.words[0].startswith("/")
    if isinstance(found, Address):
        assert found.url == text


def script(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_programs_are_found_on_the_path_and_never_in_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    installed = script(tmp_path / "bin/engine")
    own = script(project / "bin/engine")
    script(project / "engine")
    (tmp_path / "linked").symlink_to(project / "bin")

    def found(*words: str, path: str) -> Path | None:
        return find_program(words, {"PATH": path}, project)

    assert found("engine", path=str(installed.parent)) == installed
    assert found("engine", "mcp", path=f".::bin:{project}/bin:{installed.parent}") == installed
    assert found("engine", path=f".:{project}/bin:{tmp_path}/linked") is None
    assert found("other", path=str(installed.parent)) is None
    assert found(str(installed), path="") == installed
    assert found(str(own), path="") is None
    assert find_program(("engine",), {}, project) is None
    installed.chmod(0o644)
    assert found("engine", path=str(installed.parent)) is None


def test_a_program_that_links_into_the_project_is_not_taken(tmp_path: Path) -> None:
    project = tmp_path / "project"
    own = script(project / "engine")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/engine").symlink_to(own)

    assert find_program(("engine",), {"PATH": str(tmp_path / "bin")}, project) is None
