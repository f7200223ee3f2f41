"""Producer contract, section 3, and the memory rows of reader behaviours, sections 4 and 6."""

from collections.abc import Callable

import pytest

from agentic_os.registry.descriptor.values import Descriptor

Config = Callable[..., str]
Parse = Callable[..., Descriptor]
Codes = Callable[[object], list[str]]

FULL = (
    "tier: {tier}\nstack: {stack}\nmemory_path: .agents/memory\nvault_path: .agents/vault\n"
    "graph_path: graphify-out/graph.json\nrag_endpoint:"
)
V0 = 'project:\n  name: "old"\n  project_init_version: 0.4.0\n'
V1 = V0 + "  project_init_contract_version: 1\n"


@pytest.mark.parametrize(
    ("stack", "tier", "vault", "graph"),
    [
        ("auto", 0, None, None),
        ("obsidian-only", 1, ".agents/vault", None),
        ("obsidian-graphify", 2, ".agents/vault", "graphify-out/graph.json"),
        ("obsidian-graphify-rag", 3, ".agents/vault", "graphify-out/graph.json"),
    ],
)
def test_every_stack_with_the_surfaces_of_its_tier(
    config: Config, parse: Parse, stack: str, tier: int, vault: str | None, graph: str | None
) -> None:
    lines = [f"tier: {tier}", f"stack: {stack}", "memory_path: .agents/memory"]
    lines += [f"vault_path: {vault}"] if vault else []
    lines += [f"graph_path: {graph}"] if graph else []
    lines += ["rag_endpoint:        # set by hand"] if tier == 3 else []
    found = parse(config("\n".join(lines)))
    assert (found.stack, found.tier, found.label) == (stack, tier, stack)
    assert (found.memory_path, found.vault_path, found.graph_path) == (
        ".agents/memory",
        vault,
        graph,
    )
    assert found.rag_endpoint is None
    assert found.retrieval
    assert not found.opted_out
    assert found.diagnostics == ()


def test_the_alias_of_a_stack_is_permanent(config: Config, parse: Parse) -> None:
    found = parse(config("stack: obsidian\nvault_path: .agents/vault"))
    assert (found.stack, found.tier, found.diagnostics) == ("obsidian-only", 1, ())


def test_stack_none_is_a_decision(config: Config, parse: Parse) -> None:
    found = parse(config("stack: none"))
    assert (found.choice, found.label, found.tier) == ("none", "none", None)
    assert found.opted_out
    assert not found.retrieval
    assert (found.memory_path, found.vault_path, found.graph_path) == (None, None, None)
    assert found.diagnostics == ()


def test_surfaces_beside_stack_none_are_ignored_and_reported(
    config: Config, parse: Parse, codes: Codes
) -> None:
    found = parse(config(FULL.format(tier=2, stack="none")))
    assert found.memory_path is None
    assert not found.retrieval
    assert codes(found.diagnostics) == ["TIER_DISAGREES", *["SURFACE_BELOW_TIER"] * 3]


@pytest.mark.parametrize(
    ("head", "choice", "label"),
    [(V0, "unknown", "unknown"), (V1, "none", "none"), (V1.replace("1\n", "2\n"), "none", "none")],
)
def test_an_absent_block_is_declined_from_v1_on_and_unknown_before(
    config: Config, parse: Parse, head: str, choice: str, label: str
) -> None:
    found = parse(config(head=head))
    assert (found.choice, found.label, found.retrieval) == (choice, label, False)
    assert found.opted_out is (choice == "none")
    assert found.tier is None
    assert found.diagnostics == ()


def test_an_absent_block_with_a_malformed_version_is_unknown(
    config: Config, parse: Parse, codes: Codes
) -> None:
    found = parse(config(head=V0 + "  project_init_contract_version: two\n"))
    assert (found.choice, found.contract_version) == ("unknown", None)
    assert codes(found.diagnostics) == ["CONTRACT_MALFORMED"]


@pytest.mark.parametrize("memory", ["memory:\n", "memory: []\n", "memory: on\n", "memory: 3\n"])
def test_a_block_that_is_no_mapping_reads_no_memory(
    config: Config, parse: Parse, codes: Codes, memory: str
) -> None:
    found = parse(config(memory))
    assert codes(found.diagnostics) == ["MEMORY_MALFORMED"]
    assert (found.choice, found.retrieval, found.memory_path) == ("unknown", False, None)
    assert found.name == "shop"


def test_a_block_that_stands_twice_counts_last(config: Config, parse: Parse, codes: Codes) -> None:
    found = parse(config("memory:\n  stack: auto\nmemory:\n  stack: none\n"))
    assert codes(found.diagnostics) == ["KEY_DUPLICATE"]
    assert found.choice == "none"
    found = parse(config("stack: none\nstack: auto"))
    assert codes(found.diagnostics) == ["KEY_DUPLICATE"]
    assert found.diagnostics[0].message == "memory.stack stands twice; the last one counts"
    assert found.tier == 0


@pytest.mark.parametrize(
    ("declared", "tier", "expected"),
    [
        ("2", 2, []),
        ('"2"', 2, []),
        ("2.0", 2, []),
        ("null", 0, []),
        ("", 0, []),
        ("3.9", 0, ["TIER_MALFORMED"]),
        ("true", 0, ["TIER_MALFORMED"]),
        ("three", 0, ["TIER_MALFORMED"]),
        (".inf", 0, ["TIER_MALFORMED"]),
        (".nan", 0, ["TIER_MALFORMED"]),
        ("[3]", 0, ["TIER_MALFORMED"]),
        ("{a: 1}", 0, ["TIER_MALFORMED"]),
        ("-1", 0, ["TIER_OUT_OF_RANGE"]),
        ("99", 3, ["TIER_OUT_OF_RANGE"]),
        ("1e999", 0, ["TIER_MALFORMED"]),
        ("9" * 400, 0, ["TIER_MALFORMED"]),
        ("2026-13-45", 0, ["TIER_MALFORMED"]),
    ],
)
def test_without_a_stack_the_tier_is_the_only_evidence(
    config: Config, parse: Parse, codes: Codes, declared: str, tier: int, expected: list[str]
) -> None:
    found = parse(config(f"tier: {declared}\nvault_path: v\ngraph_path: g.json"))
    noted = [code for code in codes(found.diagnostics) if code != "SURFACE_BELOW_TIER"]
    assert noted == ["STACK_MISSING", *expected]
    assert (found.tier, found.stack, found.retrieval) == (tier, None, True)
    assert found.label == "unknown"


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("0", ["TIER_DISAGREES"]),
        ("3", ["TIER_DISAGREES"]),
        ("99", ["TIER_OUT_OF_RANGE", "TIER_DISAGREES"]),
        ("true", ["TIER_MALFORMED"]),
        ("1", []),
    ],
)
def test_the_stack_is_the_truth_and_a_tier_that_disagrees_is_reported(
    config: Config, parse: Parse, codes: Codes, declared: str, expected: list[str]
) -> None:
    found = parse(config(f"tier: {declared}\nstack: obsidian-only\nvault_path: .agents/vault"))
    assert (found.tier, found.vault_path) == (1, ".agents/vault")
    assert codes(found.diagnostics) == expected


@pytest.mark.parametrize(
    ("stack", "shown"),
    [
        ("surprise", "surprise"),
        ('"a\\x1b[31m"', "a<U+001B>[31m"),
        ("Auto", "Auto"),
        ("true", "true"),
    ],
)
def test_a_stack_that_nobody_knows_leaves_the_tier(
    config: Config, parse: Parse, codes: Codes, stack: str, shown: str
) -> None:
    found = parse(config(f"tier: 1\nstack: {stack}\nvault_path: v"))
    assert (found.tier, found.stack, found.label) == (1, shown, shown)
    assert codes(found.diagnostics) == ["STACK_UNKNOWN"]


def test_a_stack_that_is_no_word_is_unknown(config: Config, parse: Parse, codes: Codes) -> None:
    found = parse(config("stack: [auto]"))
    assert (found.tier, found.stack) == (0, None)
    assert codes(found.diagnostics) == ["STACK_UNKNOWN"]
    found = parse(config('stack: ""\ntier: 1\nvault_path: v'))
    assert codes(found.diagnostics) == ["STACK_UNKNOWN"]


@pytest.mark.parametrize(
    ("layout", "path"), [(".agents", ".agents/memory"), (".claude", ".claude/memory")]
)
def test_an_absent_memory_path_lies_beside_the_descriptor(
    config: Config, parse: Parse, layout: str, path: str
) -> None:
    found = parse(config("stack: auto"), layout)
    assert found.memory_path == path
    assert found.memory is not None
    assert found.memory.conventional
    assert found.diagnostics == ()


def test_v0_has_no_tier_and_the_graph_lies_where_it_always_lies(
    config: Config, parse: Parse
) -> None:
    memory = "stack: obsidian-graphify\nvault_path: .claude/vault\nmemory_path: .claude/memory"
    found = parse(config(memory, head=V0), ".claude")
    assert (found.contract_version, found.tier) == (0, 2)
    assert found.graph_path == "graphify-out/graph.json"
    assert found.graph is not None
    assert found.graph.conventional
    assert found.diagnostics == ()


def test_from_v1_on_a_surface_of_the_tier_must_be_declared(
    config: Config, parse: Parse, codes: Codes
) -> None:
    found = parse(config("stack: obsidian-graphify", head=V1))
    assert (found.vault_path, found.graph_path) == (None, None)
    assert codes(found.diagnostics) == ["SURFACE_UNDECLARED", "SURFACE_UNDECLARED"]


@pytest.mark.parametrize(
    ("tier", "stack", "ignored"),
    [(0, "auto", 2), (1, "obsidian-only", 1), (2, "obsidian-graphify", 0)],
)
def test_a_surface_below_its_tier_is_ignored_with_a_warning(
    config: Config, parse: Parse, codes: Codes, tier: int, stack: str, ignored: int
) -> None:
    found = parse(config(FULL.format(tier=tier, stack=stack)))
    assert codes(found.diagnostics) == ["SURFACE_BELOW_TIER"] * ignored
    assert (found.vault_path is None) is (tier < 1)
    assert (found.graph_path is None) is (tier < 2)


@pytest.mark.parametrize("key", ["memory_path", "vault_path", "graph_path"])
@pytest.mark.parametrize(
    "path",
    [
        "../out",
        "/etc",
        '"a\\0b"',
        '"..\\\\x"',
        "~/x",
        "[a]",
        "{a: b}",
        "C:\\x",
        ".",
    ],
)
def test_a_path_that_leaves_the_project_is_refused(
    config: Config, parse: Parse, codes: Codes, key: str, path: str
) -> None:
    lines = {
        "memory_path": ".agents/memory",
        "vault_path": ".agents/vault",
        "graph_path": "g.json",
    } | {key: path}
    body = "\n".join(f"{name}: {text}" for name, text in lines.items())
    found = parse(config("stack: obsidian-graphify\n" + body))
    assert codes(found.diagnostics) == ["SURFACE_OUTSIDE"]
    assert key in found.diagnostics[0].message
    assert getattr(found, key) is None
    declared = getattr(found, key.removesuffix("_path"))
    assert declared is not None
    assert declared.path is None


def test_escapes_come_before_the_tier(config: Config, parse: Parse, codes: Codes) -> None:
    found = parse(config("stack: auto\ngraph_path: ../../graph.json\nvault_path: [x]"))
    assert codes(found.diagnostics) == ["SURFACE_OUTSIDE", "SURFACE_OUTSIDE"]
    assert found.graph is None
    assert found.vault is None


@pytest.mark.parametrize("value", ["", '""', '"  "', "null", "~  # words"])
def test_an_unset_endpoint_is_silent(config: Config, parse: Parse, value: str) -> None:
    body = FULL.format(tier=3, stack="obsidian-graphify-rag") + f" {value}"
    found = parse(config(body))
    assert found.rag_endpoint is None
    assert found.diagnostics == ()


@pytest.mark.parametrize(
    ("value", "endpoint"),
    [
        ("ccc mcp", "ccc mcp"),
        ("http://127.0.0.1:8731/mcp", "http://127.0.0.1:8731/mcp"),
        ('"localhost:8080"', "localhost:8080"),
        (".cocoindex_code/target_sqlite.db", ".cocoindex_code/target_sqlite.db"),
        ("8080", "8080"),
        ("a #b  # words", "a"),
    ],
)
def test_an_endpoint_is_opaque(config: Config, parse: Parse, value: str, endpoint: str) -> None:
    found = parse(config(FULL.format(tier=3, stack="obsidian-graphify-rag") + f" {value}"))
    assert found.rag_endpoint == endpoint
    assert found.diagnostics == ()


@pytest.mark.parametrize(
    "value", ["{host: x}", "[a]", "true", '"a\\nb"', '"a\\x1b[0m"', "x" * 2001]
)
def test_an_endpoint_that_is_no_line_of_text_is_unset(
    config: Config, parse: Parse, codes: Codes, value: str
) -> None:
    found = parse(config(FULL.format(tier=3, stack="obsidian-graphify-rag") + f" {value}"))
    assert found.rag_endpoint is None
    assert codes(found.diagnostics) == ["FIELD_MALFORMED"]


def test_an_endpoint_below_tier_three_is_ignored(
    config: Config, parse: Parse, codes: Codes
) -> None:
    found = parse(config("stack: auto\nrag_endpoint: ccc mcp"))
    assert found.rag_endpoint is None
    assert codes(found.diagnostics) == ["SURFACE_BELOW_TIER"]


def test_an_unquoted_endpoint_with_a_colon_breaks_the_file_and_says_where(
    config: Config, parse: Parse
) -> None:
    found = parse(config("stack: auto\nrag_endpoint: host: port"))
    assert found.degraded
    assert found.diagnostics[0].code == "DESCRIPTOR_UNPARSEABLE"
    assert found.diagnostics[0].line == 14
