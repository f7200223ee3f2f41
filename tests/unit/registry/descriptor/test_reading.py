"""Producer contract, sections 1, 2, 9, 10, 11; reader behaviours, sections 4 and 6."""

from collections.abc import Callable

import pytest

from agentic_os.registry.descriptor.reading import MAX_DESCRIPTOR_BYTES, parse_descriptor
from agentic_os.registry.descriptor.values import Descriptor, NotADescriptor

Config = Callable[..., str]
Parse = Callable[..., Descriptor]
Codes = Callable[[object], list[str]]

PROJECT = 'project:\n  name: "shop"\n  project_init_version: 1.2.2\n'


def test_a_real_descriptor_field_by_field(config: Config, parse: Parse) -> None:
    found = parse(config("tier: 0\nstack: auto\nmemory_path: .agents/memory"))
    assert found == Descriptor(
        layout=".agents",
        name="shop",
        description="Sells things",
        created="2026-11-30",
        contract_version=2,
        init_version="1.2.2",
        language="python",
        delivery="prototype",
        choice="recorded",
        stack="auto",
        tier=0,
        memory=found.memory,
    )
    assert found.path == ".agents/config.yaml"


# --- versions and shapes -------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "version", "expected"),
    [
        ("2", 2, []),
        ("1", 1, []),
        ("0", 0, []),
        ('"2"', 2, []),
        ("2.0", 2, []),
        ("", 0, []),
        ("null", 0, []),
        ("3", 3, ["CONTRACT_NEWER"]),
        ("-1", None, ["CONTRACT_MALFORMED"]),
        ("true", None, ["CONTRACT_MALFORMED"]),
        ("2.5", None, ["CONTRACT_MALFORMED"]),
        ("two", None, ["CONTRACT_MALFORMED"]),
        ("[2]", None, ["CONTRACT_MALFORMED"]),
        (".inf", None, ["CONTRACT_MALFORMED"]),
        ("1.2.2", None, ["CONTRACT_MALFORMED"]),
    ],
)
def test_contract_versions(
    parse: Parse, codes: Codes, written: str, version: int | None, expected: list[str]
) -> None:
    text = PROJECT + f"  project_init_contract_version: {written}\nmemory:\n  stack: auto\n"
    found = parse(text)
    assert found.contract_version == version
    assert codes(found.diagnostics) == expected
    assert found.tier == 0


def test_an_absent_version_is_zero_and_silent(parse: Parse) -> None:
    found = parse(PROJECT)
    assert (found.contract_version, found.diagnostics) == (0, ())


def test_features_are_detected_and_no_version_gates_them(parse: Parse) -> None:
    text = PROJECT + "  project_init_contract_version: 1\nmemory:\n  stack: none\ncontext: repo\n"
    found = parse(text)
    assert (found.choice, found.context) == ("none", "repo")


@pytest.mark.parametrize(
    ("written", "kept", "expected"),
    [
        ("2026-11-30", "2026-11-30", []),
        ('"2026-11-30"', "2026-11-30", []),
        ("2026-11-30T10:00:00Z", "2026-11-30T10:00:00Z", []),
        ("2026-13-45", "2026-13-45", ["CREATED_INVALID"]),
        ("yesterday", "yesterday", ["CREATED_INVALID"]),
        ("", None, []),
        ("[a]", None, ["FIELD_MALFORMED"]),
    ],
)
def test_a_date_is_text(
    parse: Parse, codes: Codes, written: str, kept: str | None, expected: list[str]
) -> None:
    found = parse(PROJECT + f"  created: {written}\n")
    assert found.created == kept
    assert codes(found.diagnostics) == expected


@pytest.mark.parametrize(
    ("line", "context", "expected"),
    [
        ("context: repo", "repo", []),
        ("context: ambient", "ambient", []),
        ("context:", None, []),
        ("# context: repo", None, []),
        ("tooling:\n  context: repo", None, []),
        ("context: elsewhere", None, ["CONTEXT_MALFORMED"]),
        ("context: true", None, ["CONTEXT_MALFORMED"]),
        ("context: [repo]", None, ["CONTEXT_MALFORMED"]),
    ],
)
def test_context(
    parse: Parse, codes: Codes, line: str, context: str | None, expected: list[str]
) -> None:
    found = parse(PROJECT + line + "\n")
    assert found.context == context
    assert codes(found.diagnostics) == expected


def test_a_context_appended_below_the_record_is_seen(config: Config, parse: Parse) -> None:
    found = parse(config("stack: auto") + "context: ambient\n")
    assert (found.context, found.diagnostics) == ("ambient", ())


@pytest.mark.parametrize("language", ["rust", "none", "elixir"])
def test_a_language_is_never_gated(parse: Parse, language: str) -> None:
    found = parse(PROJECT + f"language: {language}\ndelivery: service\n")
    assert (found.language, found.delivery, found.diagnostics) == (language, "service", ())


@pytest.mark.parametrize(
    "deploy",
    ["deploy: none", "deploy:\n  target: fly\n  region: us-central1", "deploy: [x]", "deploy: 3"],
)
def test_deploy_is_a_string_or_a_mapping_and_never_matters(parse: Parse, deploy: str) -> None:
    assert parse(PROJECT + deploy + "\n").diagnostics == ()


def test_fields_of_a_wrong_kind_are_left_out(parse: Parse, codes: Codes) -> None:
    text = (
        'project:\n  name: "a"\n  description: {b: c}\n  project_init_version: [1]\nlanguage: [x]\n'
    )
    found = parse(text)
    assert (found.description, found.init_version, found.language) == (None, None, None)
    assert codes(found.diagnostics) == ["FIELD_MALFORMED"] * 3
    assert [noted.line for noted in found.diagnostics] == [3, 4, 5]


def test_unknown_keys_and_keys_that_are_no_strings_are_ignored(parse: Parse) -> None:
    found = parse(PROJECT + "on:\n  push: 1\n3: x\n? [a]\n: b\nfuture: {a: [1]}\nnull: 1\n")
    assert found.diagnostics == ()


# --- names ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ('"Rocket 🚀"', "Rocket 🚀"),
        ('"a: b #c"', "a: b #c"),
        ("no", "no"),
        ("1.10", "1.10"),
        ("2026-01-01", "2026-01-01"),
        ("true", "true"),
        ("0", "0"),
        ('"مشروع"', "مشروع"),
        ("'it''s'", "it's"),
        ('"{{cookiecutter}} | x"', "{{cookiecutter}} | x"),
        (">-\n    folded\n    name", "folded name"),
    ],
)
def test_names_are_text_whatever_yaml_takes_them_for(parse: Parse, written: str, name: str) -> None:
    found = parse(f"project:\n  name: {written}\n  project_init_version: 1.2.2\n")
    assert (found.name, found.diagnostics) == (name, ())


@pytest.mark.parametrize("written", ["", "null", "[a, b]", "{a: b}", '"  "'])
def test_without_a_name_the_folder_names_the_project(
    parse: Parse, codes: Codes, written: str
) -> None:
    found = parse(f"project:\n  name: {written}\n  project_init_version: 1\n", folder="my\x1bapp")
    assert found.name == "my<U+001B>app"
    assert codes(found.diagnostics) == ["NAME_MISSING"]
    found = parse("project:\n  project_init_version: 1\n", folder="")
    assert found.name == "project"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ('"two\\nlines"', "two lines"),
        ('"\\x1b[31mred\\x1b[0m"', "<U+001B>[31mred<U+001B>[0m"),
        ('"a\\u202Eb"', "a<U+202E>b"),
        ("x" * 500, "x" * 200),
    ],
)
def test_a_name_is_made_one_short_visible_line(
    parse: Parse, codes: Codes, written: str, name: str
) -> None:
    found = parse(f"project:\n  name: {written}\n  project_init_version: 1\n")
    assert found.name == name
    assert codes(found.diagnostics) == ["NAME_CLEANED"]


def test_an_alias_bomb_as_a_name_costs_nothing(parse: Parse, codes: Codes) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    lines += ["project:", "  name: *a9", "  project_init_version: 1.2.2", "language: *a9"]
    found = parse("\n".join(lines))
    assert found.name == "folder"
    assert codes(found.diagnostics) == ["NAME_MISSING", "FIELD_MALFORMED"]


def test_an_alias_of_a_scalar_is_that_scalar(parse: Parse) -> None:
    found = parse("x: &n shop\nproject:\n  name: *n\n  project_init_version: 1\n")
    assert found.name == "shop"


# --- bytes ---------------------------------------------------------------------------


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(
    config: Config, parse: Parse
) -> None:
    text = config("tier: 1\nstack: obsidian-only\nvault_path: .agents/vault")
    plain = parse(text)
    assert plain.diagnostics == ()
    assert parse(text.replace("\n", "\r\n")) == plain
    assert parse(b"\xef\xbb\xbf" + text.encode()) == plain
    assert parse(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()) == plain


def test_bytes_that_are_no_utf8_are_replaced_and_reported(parse: Parse, codes: Codes) -> None:
    found = parse('project:\n  name: "café"\n  project_init_version: 1.2.2\n'.encode("latin-1"))
    assert found.name == "caf\ufffd"
    assert codes(found.diagnostics) == ["DESCRIPTOR_NOT_UTF8"]


def test_utf16_is_read_and_reported(config: Config, parse: Parse, codes: Codes) -> None:
    found = parse(config("stack: auto").encode("utf-16"))
    assert (found.name, found.tier) == ("shop", 0)
    assert codes(found.diagnostics) == ["DESCRIPTOR_NOT_UTF8"]


def test_a_nul_byte_is_replaced(parse: Parse, codes: Codes) -> None:
    found = parse(b'project:\n  name: "a\0b"\n  project_init_version: 1\n')
    assert found.name == "a\ufffdb"
    assert codes(found.diagnostics) == ["DESCRIPTOR_NOT_UTF8"]


@pytest.mark.parametrize("character", ["\x01", "\x1b", "\x7f", "\x9b", "\uffff"])
def test_control_characters_that_yaml_refuses_are_tolerated(
    parse: Parse, codes: Codes, character: str
) -> None:
    found = parse(f'project:\n  name: "a{character}b"\n  project_init_version: 1\n')
    assert found.name == "a\ufffdb"
    assert codes(found.diagnostics) == ["DESCRIPTOR_CONTROL_CHARACTERS"]


def test_an_emoji_in_the_record_leaves_the_project_usable(
    config: Config, parse: Parse, codes: Codes
) -> None:
    record = (
        "# --- scaffold record (x) ---\nscaffold:\n  preset: core\n"
        '  variables: {"project_name": "Rocket \\ud83d\\ude80"}\n'
    )
    found = parse(config("stack: auto", record=record))
    assert (found.name, found.tier) == ("shop", 0)
    assert codes(found.diagnostics) == ["RECORD_ESCAPES"]
    assert found.diagnostics[0].severity == "info"


# --- hostile and broken --------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# words only\n", b"---\n", b"null\n"])
def test_an_empty_file_gets_exactly_one_warning(parse: Parse, codes: Codes, data: bytes) -> None:
    found = parse(data, folder="shop")
    assert found == Descriptor(
        layout=".agents", name="shop", degraded=True, diagnostics=found.diagnostics
    )
    assert codes(found.diagnostics) == ["DESCRIPTOR_EMPTY"]
    assert not found.retrieval


def test_a_file_with_only_the_record_is_empty(parse: Parse, codes: Codes) -> None:
    assert codes(parse("scaffold:\n  preset: x\n").diagnostics) == ["DESCRIPTOR_EMPTY"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("project:\n\tname: a\n", 2),
        ("project: {}\n---\nproject: {}\n", 2),
        ("project:\n  name: a: b\n", 2),
        ("project:\n  name: 'a\n", 3),
        ("project:\n  name: *nobody\n", 2),
        ("project:\n  name: @x\n", 2),
    ],
)
def test_broken_yaml_degrades_the_project_and_names_the_line(
    parse: Parse, codes: Codes, text: str, line: int
) -> None:
    found = parse(text, folder="shop")
    assert (found.degraded, found.name, found.choice) == (True, "shop", "unknown")
    assert codes(found.diagnostics) == ["DESCRIPTOR_UNPARSEABLE"]
    assert found.diagnostics[0].severity == "error"
    assert found.diagnostics[0].line == line


def test_merge_markers_degrade_the_project(config: Config, parse: Parse, codes: Codes) -> None:
    text = config("stack: auto").replace(
        "language:", "<<<<<<< HEAD\nlanguage: go\n=======\nlanguage:", 1
    )
    found = parse(text)
    assert codes(found.diagnostics) == ["DESCRIPTOR_UNPARSEABLE"]
    assert found.degraded


def test_a_fault_of_the_file_never_quotes_its_content(parse: Parse) -> None:
    found = parse("project:\n  token: s3cr3t-value: x\n  name: *s3cr3t\n")
    assert "s3cr3t" not in found.diagnostics[0].message


@pytest.mark.parametrize(
    "text",
    [
        "project: " + "[" * 20_000,
        "project: " + "[" * 2000 + "]" * 2000,
        "- " * 20_000 + "x",
        "{a: " * 50_000,
    ],
)
def test_deep_nesting_is_reported_and_nothing_dies(parse: Parse, codes: Codes, text: str) -> None:
    assert codes(parse(text).diagnostics) == ["DESCRIPTOR_TOO_DEEP"]


def test_a_huge_file_is_not_looked_at(codes: Codes) -> None:
    data = PROJECT.encode() + b"#" * MAX_DESCRIPTOR_BYTES
    found = parse_descriptor(data, layout=".agents", folder_name="x")
    assert isinstance(found, NotADescriptor)
    assert not found.foreign
    assert codes(found.diagnostics) == ["DESCRIPTOR_TOO_LARGE"]
    fits = parse_descriptor(data[:MAX_DESCRIPTOR_BYTES], layout=".agents", folder_name="x")
    assert isinstance(fits, Descriptor)


@pytest.mark.parametrize("project", ["[]", "3", "words", "null"])
def test_a_project_that_is_no_mapping_beside_a_record(
    config: Config, parse: Parse, codes: Codes, project: str
) -> None:
    found = parse(config(head=f"project: {project}\n"))
    assert codes(found.diagnostics) == ["FIELD_MALFORMED", "NAME_MISSING"]
    assert (found.name, found.contract_version) == ("folder", 0)


def test_a_record_without_any_project(parse: Parse, codes: Codes) -> None:
    found = parse("language: go\nscaffold:\n  preset: x\n")
    assert codes(found.diagnostics) == ["NAME_MISSING"]
    assert found.language == "go"


def test_repeated_keys_are_reported_everywhere(parse: Parse, codes: Codes) -> None:
    text = PROJECT + "  name: other\nlanguage: go\nlanguage: rust\n"
    found = parse(text)
    assert (found.name, found.language) == ("other", "rust")
    assert codes(found.diagnostics) == ["KEY_DUPLICATE", "KEY_DUPLICATE"]
    assert [noted.line for noted in found.diagnostics] == [6, 4]
    assert found.diagnostics[1].message.startswith("project.name stands twice")


# --- other tools' files --------------------------------------------------------------

FOREIGN = {
    "a store of memories": "name: m\nversion: 0.1\nmemory:\n  provider: local\n  store: x.db\n",
    "a workflow": "workflow:\n  steps: [a]\n",
    "a project with a name": 'version: "1"\nproject:\n  name: e\n  description: d\nskills: {}\n',
    "a project with a package": "project:\n  name: c\n  package: c\n  type: research\ntools: {}\n",
    "an api key": "github_owner: null\nsome_api_key: abc\n",
    "a list": "- a\n- b\n",
    "a word": "hello\n",
    "a memory of another kind": "project:\n  name: x\nmemory:\n  stack: postgres\n",
    "memory without a project": "memory:\n  stack: auto\n",
    "another context": "project:\n  name: x\ncontext: production\n",
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_foreign_config_is_recognised_and_left_alone(text: str, codes: Codes) -> None:
    found = parse_descriptor(text.encode(), layout=".agents", folder_name="x")
    assert isinstance(found, NotADescriptor)
    assert found.foreign
    assert codes(found.diagnostics) == ["DESCRIPTOR_FOREIGN"]
    assert found.diagnostics[0].severity == "info"
    assert "abc" not in found.diagnostics[0].message


OURS = {
    "a version": "project:\n  name: x\n  project_init_version: 1.2.2\n",
    "a contract": "project:\n  name: x\n  project_init_contract_version: 2\n",
    "the scaffolder's own subset": (
        'project:\n  name: "project-init"\n  project_key: "PI"\n  github_project_number: 2\n'
    ),
    "a context": "context: repo\nproject:\n  name: x\n",
    "a record": "project:\n  name: x\nscaffold:\n  preset: auto\n",
    "a known stack": "project:\n  name: x\nmemory:\n  stack: none\n",
    "the alias of a stack": "project:\n  name: x\nmemory:\n  stack: obsidian\n  vault_path: v\n",
    "a tier": "project:\n  name: x\nmemory:\n  tier: .inf\n",
}


@pytest.mark.parametrize("text", OURS.values(), ids=OURS.keys())
def test_one_piece_of_evidence_is_enough(parse: Parse, text: str) -> None:
    assert not parse(text).degraded


def test_the_scaffolders_own_subset_is_v0_with_unrecorded_memory(parse: Parse) -> None:
    found = parse(OURS["the scaffolder's own subset"])
    assert (found.contract_version, found.choice, found.diagnostics) == (0, "unknown", ())


def test_contract_one_with_the_new_layout(parse: Parse) -> None:
    text = (
        "context: repo\n# project-init: record of choices\nproject:\n"
        '  name: "projects-orchestrator"\n  created: 2026-06-28\n'
        "  project_init_version: 1.2.2\n  project_init_contract_version: 1\n"
        "language: python\ndelivery: library\n"
        "memory:\n  tier: 0\n  stack: auto\n  memory_path: .agents/memory\n"
        'preserve: ["pyproject.toml"]\n'
    )
    found = parse(text)
    assert (found.contract_version, found.context, found.created) == (1, "repo", "2026-06-28")
    assert found.memory_path == ".agents/memory"
    assert found.diagnostics == ()
