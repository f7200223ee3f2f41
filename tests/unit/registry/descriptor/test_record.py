import json
from collections.abc import Callable

import pytest

from agentic_os.registry.descriptor.record import (
    compare_record,
    has_surrogate_escapes,
    read_record,
    split_record,
)
from agentic_os.registry.descriptor.values import Descriptor

PATH = ".agents/config.yaml"
MOST = {str(number): "" for number in range(10_000)}
MARKED = "# --- scaffold record (words) ---\n"


def test_the_record_starts_at_its_marker_line() -> None:
    split = split_record("a: 1\n\n" + MARKED + "scaffold:\n  preset: core\n")
    assert split.visible == "a: 1\n\n"
    assert split.record == MARKED + "scaffold:\n  preset: core\n"


def test_without_a_marker_it_starts_at_its_key() -> None:
    split = split_record("a: 1\nscaffold:\n  preset: core\n")
    assert (split.visible, split.record) == ("a: 1\n", "scaffold:\n  preset: core\n")


@pytest.mark.parametrize(
    "text", ["a: 1\n", "", "a:\n  scaffold:\n    b: 1\n", "# see scaffold:\n", "scaffolding: 1\n"]
)
def test_where_there_is_none_everything_is_visible(text: str) -> None:
    split = split_record(text)
    assert (split.visible, split.record) == (text, "")


def test_a_file_may_begin_with_it() -> None:
    assert split_record("scaffold:\n  preset: x\n").visible == ""
    assert split_record(MARKED + "scaffold:\n").visible == ""
    assert split_record("\n" + MARKED).record == MARKED
    assert split_record("\nscaffold: {}").record == "scaffold: {}"


def test_keys_below_the_record_stay_visible_on_their_lines() -> None:
    text = "a: 1\n" + MARKED + "scaffold:\n  preset: x\n# mine\ncontext: ambient\nb:\n  c: 1\n"
    split = split_record(text)
    assert split.record == MARKED + "scaffold:\n  preset: x\n# mine\n"
    assert split.visible == "a: 1\n\n\n\n\ncontext: ambient\nb:\n  c: 1\n"
    assert split.visible.count("\n") == text.count("\n")


def test_the_record_is_read_as_json() -> None:
    variables = {"project_name": "Rocket 🚀", "x": ""}
    text = (
        'project:\n  name: "Rocket 🚀"\n'
        f"{MARKED}scaffold:\n  preset: core\n"
        f"  variables: {json.dumps(variables)}\n"
        f'  manifest: {{"AGENTS.md": "00ff"}}\n'
    )
    record = read_record(text.encode(), path=PATH)
    assert record is not None
    assert record.preset == "core"
    assert record.variables == variables
    assert record.manifest == {"AGENTS.md": "00ff"}
    assert record.diagnostics == ()


def test_windows_line_ends_make_no_difference() -> None:
    text = f'{MARKED}scaffold:\n  preset: core\n  variables: {{"a": "b"}}\n'
    record = read_record(text.replace("\n", "\r\n").encode(), path=PATH)
    assert record is not None
    assert (record.preset, record.variables) == ("core", {"a": "b"})


def test_no_record_is_none_and_an_empty_one_is_empty() -> None:
    assert read_record(b"project: {}\n", path=PATH) is None
    record = read_record(b"scaffold:\n", path=PATH)
    assert record is not None
    assert (record.preset, record.variables, record.manifest) == (None, {}, {})


@pytest.mark.parametrize(
    ("variables", "kept"),
    [
        ("{broken", {}),
        ("[1]", {}),
        ("3", {}),
        ('{"a": 1, "b": "c"}', {"b": "c"}),
        ("{" + '"a":' + "[" * 100_000, {}),
        ('{"a": "\\ud83d"}', {"a": "?"}),
        ("{" + ",".join(f'"{n}": ""' for n in range(10_001)) + "}", {}),
        (json.dumps(MOST), MOST),
    ],
)
def test_a_damaged_record_is_reported_and_never_raises(
    variables: str, kept: dict[str, str]
) -> None:
    record = read_record(f"scaffold:\n  variables: {variables}\n".encode(), path=PATH)
    assert record is not None
    assert record.variables == kept
    if kept in ({"a": "?"}, MOST):
        assert record.diagnostics == ()
        return
    [noted] = record.diagnostics
    assert (noted.code, noted.path) == ("RECORD_UNREADABLE", PATH)
    assert "scaffold.variables" in noted.message


@pytest.mark.parametrize(
    ("record", "found"),
    [
        (r'{"a": "\ud83d\ude80"}', True),
        (r'{"a": "\uDE80"}', True),
        (r'{"a": "\u00e9"}', False),
        ("{}", False),
    ],
)
def test_surrogate_escapes_are_noticed(record: str, found: bool) -> None:
    assert has_surrogate_escapes(record) is found


def test_a_stale_record_is_reported_and_the_visible_block_counts(
    parse: Callable[..., Descriptor], config: Callable[..., str]
) -> None:
    text = config("stack: obsidian-only\nvault_path: .agents/vault")
    descriptor = parse(text)
    record = read_record(text.encode(), path=PATH)
    assert record is not None
    noted = compare_record(record, descriptor)
    assert [one.code for one in noted] == ["RECORD_DISAGREES"]
    assert "memory_stack" in noted[0].message
    assert descriptor.stack == "obsidian-only"


@pytest.mark.parametrize(
    ("key", "value"),
    [("project_name", "other"), ("language", "go"), ("delivery", "library")],
)
def test_every_field_that_both_state_is_compared(
    parse: Callable[..., Descriptor], config: Callable[..., str], key: str, value: str
) -> None:
    text = config("stack: auto", record=f'scaffold:\n  variables: {{"{key}": "{value}"}}\n')
    record = read_record(text.encode(), path=PATH)
    assert record is not None
    [noted] = compare_record(record, parse(text))
    assert noted.message == f"scaffold.variables.{key} says otherwise than the visible block"
    assert noted.path == PATH


def test_a_damaged_manifest_is_named() -> None:
    record = read_record(b"scaffold:\n  manifest: [\n", path=PATH)
    assert record is not None
    assert "scaffold.manifest" in record.diagnostics[0].message


def test_a_record_that_agrees_is_silent(
    parse: Callable[..., Descriptor], config: Callable[..., str]
) -> None:
    text = config("stack: auto")
    record = read_record(text.encode(), path=PATH)
    assert record is not None
    assert compare_record(record, parse(text)) == ()
    alias = text.replace("stack: auto", "stack: obsidian").replace(
        '"memory_stack": "auto"', '"memory_stack": "obsidian"'
    )
    record = read_record(alias.encode(), path=PATH)
    assert record is not None
    assert compare_record(record, parse(alias)) == ()
