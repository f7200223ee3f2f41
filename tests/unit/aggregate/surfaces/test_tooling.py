"""Lists of servers in every form that people write: what is one is read, what is none is named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.aggregate.surfaces import tooling
from agentic_os.aggregate.surfaces.documents import ParsedFile
from agentic_os.aggregate.surfaces.tooling import parse_tooling

LISTS = (".mcp.json", ".cursor/mcp.json", ".roo/mcp.json", ".vscode/mcp.json")
GOOD = {"command": "npx", "args": ["-y", "x"]}


def details(parsed: ParsedFile) -> dict[str, str]:
    return {row.name: row.detail for row in parsed.capabilities}


def codes(parsed: ParsedFile) -> list[str]:
    return [item.code for item in parsed.diagnostics]


def read(value: object, path: str = ".mcp.json") -> ParsedFile:
    return parse_tooling(json.dumps(value, indent=1), path=path)


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("key", ["mcpServers", "servers", "mcp", "mcp_servers", None])
def test_every_form_is_read(path: str, key: str | None) -> None:
    listed = {"alpha": GOOD, "beta": {"url": "https://example.org/mcp"}}
    parsed = read(listed if key is None else {key: listed}, path)
    assert details(parsed) == {"alpha": "stdio npx", "beta": "http https://example.org"}
    assert codes(parsed) == []


@pytest.mark.parametrize("name", ["mcp", "servers", "inputs", "hooks"])
def test_a_flat_server_may_be_called_as_a_table_is(name: str) -> None:
    parsed = read({name: GOOD, "alpha": GOOD})
    assert details(parsed) == {name: "stdio npx", "alpha": "stdio npx"}
    assert codes(parsed) == []


def test_servers_inside_the_table_that_an_editor_keeps_them_in() -> None:
    parsed = read({"mcp": {"inputs": [], "servers": {"alpha": GOOD}}})
    assert (details(parsed), codes(parsed)) == ({"alpha": "stdio npx"}, [])


@given(
    bad=st.dictionaries(
        st.text("abc", min_size=1, max_size=4),
        st.sampled_from([None, True, 0, "off", "", [], [1]]),
        max_size=8,
    ),
    key=st.sampled_from(["mcpServers", "servers", "mcp", "mcp_servers", None]),
)
def test_no_bad_entry_loses_a_good_one(bad: dict[str, object], key: str | None) -> None:
    listed = {**bad, "x-good": GOOD, "y-good": {"serverUrl": "http://127.0.0.1:2/mcp"}}
    parsed = read(listed if key is None else {key: listed})
    assert details(parsed) == {"x-good": "stdio npx", "y-good": "http http://127.0.0.1:2"}
    assert codes(parsed) == ["TOOLING_ENTRY_INVALID"] * len(bad)


@pytest.mark.parametrize("bad", [[], "off", 3, True])
@pytest.mark.parametrize("key", ["mcpServers", "servers", "hooks"])
def test_a_bad_table_loses_no_other(bad: object, key: str) -> None:
    parsed = read({key: bad, "mcp_servers": {"alpha": GOOD}})
    assert (list(details(parsed)), codes(parsed)) == (["alpha"], ["TOOLING_ENTRY_INVALID"])


def test_the_entry_is_named_with_its_line_and_without_its_value() -> None:
    parsed = parse_tooling(
        '{"mcpServers": {\n"alpha": {"command": "npx"},\n"beta": "hidden words"}}', path=".mcp.json"
    )
    [problem] = parsed.diagnostics
    assert (problem.path, problem.line) == (".mcp.json", 3)
    assert "beta" in problem.message
    assert "hidden" not in problem.message


@pytest.mark.parametrize("path", LISTS)
def test_an_object_without_a_known_key_is_named(path: str) -> None:
    assert codes(read({"mcpservers": {"alpha": GOOD}}, path)) == ["TOOLING_UNKNOWN"]
    assert codes(read({"alpha": {"cmd": "npx"}}, path)) == ["TOOLING_UNKNOWN"]
    empty: list[dict[str, object]] = [{}, {"$schema": "x"}, {"inputs": []}, {"mcpServers": {}}]
    for harmless in empty:
        assert codes(read(harmless, path)) == []


@pytest.mark.parametrize(
    "path", [".claude/settings.json", ".gemini/settings.json", "opencode.json"]
)
def test_settings_hold_other_things_too(path: str) -> None:
    parsed = read({"theme": "dark", "editor": GOOD}, path)
    assert (parsed.capabilities, parsed.diagnostics) == ((), ())


def test_a_server_that_says_nothing_is_shown_and_named() -> None:
    parsed = read({"mcpServers": {"alpha": {"cmd": "npx"}, "beta": {"enabled": False}}})
    assert details(parsed) == {"alpha": "unknown transport", "beta": "unknown transport (off)"}
    [problem] = parsed.diagnostics
    assert problem.message.startswith("alpha has neither")


@pytest.mark.parametrize("key", ["url", "httpUrl", "serverUrl"])
@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:2/mcp", "http http://127.0.0.1:2"),
        ("https://me:pass-word@example.org:8443/t0ken?key=k#f", "http https://example.org:8443"),
        ("http://[::1]:7/x", "http http://[::1]:7"),
        ("https://me:12/34@example.org/", "http"),
        ("https://${HOST}/mcp", "http"),
        ("unix:///run/x", "http"),
        ("http://x:y/", "http"),
        ("http://[bad/", "http"),
    ],
)
def test_of_an_address_only_the_host_is_shown(key: str, address: str, shown: str) -> None:
    assert details(read({"mcpServers": {"a": {key: address}}})) == {"a": shown}


def test_hooks_and_plugins_that_are_none_lose_no_other() -> None:
    parsed = read(
        {"hooks": {"A": "x", "B": ["y", {"hooks": 1}, {"command": "sh run.sh"}]}},
        ".claude/settings.json",
    )
    assert list(details(parsed)) == ["B run.sh"]
    assert codes(parsed) == ["TOOLING_ENTRY_INVALID"] * 3
    parsed = read({"plugins": [3, {"name": "p"}, {}]}, ".claude-plugin/marketplace.json")
    assert list(details(parsed)) == ["p"]
    assert codes(parsed) == ["TOOLING_ENTRY_INVALID"] * 2


def test_a_file_full_of_bad_entries_is_not_said_in_full() -> None:
    parsed = read({"mcpServers": {f"n{number}": 0 for number in range(500)}})
    assert len(parsed.diagnostics) == tooling.MAX_PROBLEMS
