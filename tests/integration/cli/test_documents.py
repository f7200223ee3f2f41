"""Every document is what its published JSON Schema says, errors included."""

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from agentic_os.results import DOCUMENTS, Envelope
from support.fleet.builder import FleetBuilder
from support.model.lent import lend_tiny
from support.process.cli_call import call

PUBLISHED = Path(__file__).parents[3] / "docs/reference/schemas"


@pytest.fixture
def rich(fleet: FleetBuilder) -> FleetBuilder:
    """A fleet that fills every field: links, tags, differences, secrets, omissions."""
    shop = fleet.project("shop", "obsidian-only")
    shop.fact("f", "See billing.\n\n- **Port**: 80\n- **Key**: AKIAIOSFODNN7EXAMPLA", title="F")
    shop.fact("same", "Both say this.")
    shop.index("# Memory\n\nProse.\n\n- [F](f.md) - x\n- [Gone](gone.md) - y\n")
    shop.note("a/n.md", "---\ntags: one, two\n---\n# Note\n\n## Part\n\n[[m]] [[none]] #three\n")
    shop.note("m.md", "# Other\n")
    shop.capabilities(skills={"steer": "A"}, servers={"docs": "npx"}, hooks=(("Stop", "x.sh"),))
    shop.write(".mcp.json", '{"mcpServers": {"docs": {"command": "npx", "args": ["-y", "d"]}}}')
    billing = fleet.project("billing", "obsidian-graphify-rag")
    billing.fact("f", "- **Port**: 81\n", title="F")
    billing.fact("same", "Both say this.")
    billing.fact("template", "<!-- nothing yet -->")
    billing.capabilities(skills={"steer": "B"})
    os.mkfifo(billing.folder / ".agents/memory/fifo.md")
    bad = fleet.project("bad", path="deep/bad")
    bad.write(".agents/config.yaml", "project: [\n")
    fleet.project("out", None)
    return fleet


COMMANDS = [
    ("scan", "scan"),
    ("aggregate", "aggregate"),
    ("memory", "memory"),
    ("memory --differences", "memory-differences"),
    ("vault", "vault"),
    ("capabilities", "capabilities"),
    ("search port", "search"),
    ("search port --explain --projects-only", "search"),
    ("search nothing-of-that-name", "search"),
    ("doctor", "doctor"),
    ("paths", "paths"),
    ("purge", "purge"),
    ("roots list", "roots-list"),
    ("roots add {root}", "roots-add"),
    ("roots remove {root}", "roots-remove"),
    ("index status", "index-status"),
]


def schema(name: str) -> dict[str, Any]:
    data = DOCUMENTS[name]
    return msgspec.json.schema(Envelope[data])  # type: ignore[valid-type]  # a run-time table


def strict(made: dict[str, Any]) -> dict[str, Any]:
    """The schema without leave for keys it does not name, so that nothing extra passes."""
    closed: dict[str, Any] = json.loads(json.dumps(made))
    for definition in closed["$defs"].values():
        if "properties" in definition:
            definition["additionalProperties"] = False
    return closed


def validate(document: dict[str, Any], name: str) -> None:
    assert document["schema"] == f"agentic-os/{name}/v1"
    assert list(document) == ["schema", "data", "omissions", "warnings", "error"]
    jsonschema.Draft202012Validator(strict(schema(name))).validate(document)


@pytest.mark.parametrize(("command", "name"), COMMANDS, ids=[each[0] for each in COMMANDS])
def test_documents_follow_their_schemas(rich: FleetBuilder, command: str, name: str) -> None:
    words = command.format(root=rich.root).split()
    if words[0] not in {"paths", "roots"}:
        words += ["--root", str(rich.root)]

    finished = call(*words, "--json")

    validate(finished.document, name)
    assert finished.text.count("\n") == 1


def test_documents_of_the_index(rich: FleetBuilder, places: Path) -> None:
    lend_tiny(places / "data")
    for command, name in (
        ("index build --all", "index-build"),
        ("index status", "index-status"),
        ("index optimize", "index-optimize"),
        ("search port --mode semantic --explain", "search"),
    ):
        document = call(*command.split(), "--json", "--root", rich.root).document
        validate(document, name)
        assert document["data"] is not None
    missing = call("index", "optimize", "--json", "--root", rich.root / "shop")
    validate(missing.document, "index-optimize")
    assert missing.document["error"]["code"] == "SEMANTIC_UNAVAILABLE"


def test_the_documents_are_full(rich: FleetBuilder) -> None:
    """What the fixture is for: the schemas are tried on values, not on empty lists."""
    memory = call("memory", "--json", "--root", rich.root).document
    facts = memory["data"]["facts"]
    assert any(fact["links"] for fact in facts)
    assert any(fact["equal_in"] for fact in facts)
    assert any(fact["template"] for fact in facts)
    assert memory["omissions"]
    assert memory["warnings"]
    assert memory["error"]["code"] == "INCOMPLETE"
    differences = call("memory", "--differences", "--json", "--root", rich.root).data
    assert [item["key"] for item in differences["differences"]] == ["Port"]
    notes = call("vault", "--json", "--root", rich.root).data["notes"]
    assert any(link["path"] for note in notes for link in note["links"])
    assert any(link["path"] is None for note in notes for link in note["links"])
    assert {tag for note in notes for tag in note["tags"]} == {"one", "two", "three"}
    found = call("search", "port", "--explain", "--json", "--root", rich.root).data
    assert found["hits"]
    assert found["explain"]
    assert found["coverage"]["projects_failed"]


@pytest.mark.parametrize(
    ("command", "name"), COMMANDS[:11], ids=[each[0] for each in COMMANDS[:11]]
)
def test_errors_are_documents_too(tmp_path: Path, command: str, name: str) -> None:
    if name == "paths":
        finished = call("paths", "--json", environ={"AGENTIC_OS_DATA_DIR": "relative"})
    else:
        finished = call(*command.split(), "--json", "--root", tmp_path / "nowhere")

    expected = name.replace("memory-differences", "memory")
    assert finished.code == 1
    assert finished.document["data"] is None
    assert finished.document["schema"] == f"agentic-os/{expected}/v1"
    jsonschema.Draft202012Validator(strict(schema(expected))).validate(finished.document)


def test_usage_errors_are_documents_too() -> None:
    for words, name in (
        (["search", "--json"], "search"),
        (["roots", "add", "--json"], "roots-add"),
        (["no-such", "--json"], "no-such"),
        (["--json"], "agentic-os"),
    ):
        finished = call(*words)
        assert finished.code == 64
        assert finished.document["schema"] == f"agentic-os/{name}/v1"
        assert finished.document["error"]["code"] == "USAGE"
        assert finished.document["error"]["hint"]


def test_lines_follow_their_schemas(rich: FleetBuilder) -> None:
    scanned = call("scan", "--jsonl", "--root", rich.root).documents
    for document in scanned[:-1]:
        validate(document, "scan-project")
    validate(scanned[-1], "scan")
    assert len(scanned) == 5
    whole = call("scan", "--json", "--root", rich.root).data
    assert [item["data"] for item in scanned[:-1]] == whole["projects"]
    assert scanned[-1]["data"]["roots"] == whole["roots"]

    checked = call("doctor", "--jsonl", "--root", rich.root).documents
    for document in checked[:-1]:
        validate(document, "doctor-check")
    validate(checked[-1], "doctor")


def test_a_schema_can_refuse(rich: FleetBuilder) -> None:
    document = call("scan", "--json", "--root", rich.root).document
    document["data"]["projects"][0]["tier"] = "2"

    with pytest.raises(jsonschema.ValidationError):
        validate(document, "scan")
    document["data"]["projects"][0].update(tier=2, unknown=1)
    with pytest.raises(jsonschema.ValidationError):
        validate(document, "scan")


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_the_published_schemas_are_those_of_the_values(name: str) -> None:
    published = json.loads((PUBLISHED / f"{name}.json").read_text("utf-8"))

    jsonschema.Draft202012Validator.check_schema(published)
    assert published.pop("$id") == f"agentic-os/{name}/v1"
    assert published.pop("$schema") == jsonschema.Draft202012Validator.META_SCHEMA["$schema"]
    assert published == json.loads(json.dumps(schema(name)))
