"""The unions as they are asked for: whole, scoped, each item with its source."""

from collections.abc import Iterator

import pytest

from agentic_os.aggregate import questions as answers
from agentic_os.aggregate.purging import purge_spaces
from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.errors import UnknownProjectError
from support.fleet.builder import FleetBuilder


@pytest.fixture
def workspace(fleet: FleetBuilder, person: Person) -> Iterator[Workspace]:
    for name in ("one", "two"):
        project = fleet.project(name, "obsidian-only")
        project.fact("f", f"- **Port**: {name}\n", title="F", description=f"of {name}")
        project.index(f"# Memory of {name}\n\n- [F](f.md)\n- [Gone](gone.md)\n")
        project.note("sub/n.md", f"# Note\n\n## Part\n\n[[m#x]] [[#Part]] [[no]] #tag-{name}\n")
        project.note("m.md", "---\ntags: [a, b]\n---\nplain\n")
        project.capabilities(skills={"steer": name, "stop": "same"}, servers={"s": "npx"})
        project.write(".mcp.json", '{"mcpServers": {"s": {"command": "npx", "args": ["s"]}}}')
    with open_workspace(person, [str(fleet.root)]) as opened:
        yield opened


def test_memory_of_one_project(workspace: Workspace) -> None:
    whole = answers.memory(workspace)
    one = answers.memory(workspace, ["one"])

    assert (whole.data.total, one.data.total) == (4, 2)
    assert [fact.kind for fact in one.data.facts] == ["index", "fact"]
    fact = one.data.facts[1]
    assert (fact.title, fact.description, fact.listed) == ("F", "of one", True)
    assert fact.provenance.lines == (1, 8)
    assert len(fact.provenance.sha256) == 64
    assert [item.code for item in one.warnings] == ["FACT_MISSING"]
    assert one.warnings[0].path is not None
    assert one.warnings[0].path.endswith(":.agents/memory/MEMORY.md")
    assert len(whole.warnings) == 2


def test_differences_of_all_and_of_one(workspace: Workspace) -> None:
    (difference,) = answers.differences(workspace).data.differences

    assert {value.value for value in difference.values} == {"one", "two"}
    assert answers.differences(workspace, ["one"]).data.differences == ()


def test_notes_of_one_project(workspace: Workspace) -> None:
    assert answers.vault(workspace).data.total == 4
    first, second = answers.vault(workspace, ["two"]).data.notes

    assert (first.title, first.tags, first.headings) == ("m", ("a", "b"), ())
    assert (second.title, second.headings, second.tags) == ("Note", ("Note", "Part"), ("tag-two",))
    assert [(link.target, link.path) for link in second.links] == [
        ("m", ".agents/vault/m.md"),
        ("#Part", ".agents/vault/sub/n.md"),
        ("no", None),
    ]
    assert second.links[0].line == 5


def test_capabilities_of_one_project(workspace: Workspace) -> None:
    whole = {item.name: item for item in answers.capabilities(workspace).data.capabilities}
    one = answers.capabilities(workspace, ["one"]).data

    assert [variant.detail for variant in whole["steer"].variants] == ["one", "two"]
    assert whole["steer"].differs
    assert not whole["stop"].differs
    assert len(whole["stop"].variants[0].sources) == 2
    assert [variant.detail for variant in whole["s"].invocations] == ["stdio npx"]
    assert one.counts == {
        "skill": 2,
        "mcp": 1,
        "hook": 0,
        "agent": 0,
        "command": 0,
        "plugin": 0,
    }
    assert all(len(item.projects) == 1 for item in one.capabilities)


def test_what_the_store_holds(workspace: Workspace) -> None:
    data = answers.aggregate_fleet(workspace).data

    assert (data.projects, data.facts, data.notes, data.capabilities) == (2, 2, 4, 3)
    assert (data.files, data.files_read, data.files_removed, data.generation) == (12, 12, 0, 1)
    assert data.store_bytes > 0


def test_projects_by_name(workspace: Workspace) -> None:
    assert workspace.project_ids(()) is None
    ids = workspace.project_ids(["one", "two", "one"])
    assert ids == frozenset(project.id for project in workspace.fleet.projects)
    with pytest.raises(UnknownProjectError):
        workspace.project_ids(["three"])


def test_purging_what_is_not_there(person: Person, fleet: FleetBuilder) -> None:
    own = purge_spaces(person, [str(fleet.root)], everything=False).data
    whole = purge_spaces(person, [], everything=True).data

    assert (own.spaces, own.bytes, whole.spaces) == ((), 0, ())


def test_a_memory_that_keeps_no_index_lists_all_its_facts(
    person: Person, fleet: FleetBuilder
) -> None:
    project = fleet.project("one")
    project.fact("alone", "It rains.")
    project.write(".serena/memories/style.md", "# Style\n\nTabs.\n")
    project.write("memory-bank/progress.md", "# Progress\n\nHalf.\n")
    with open_workspace(person, [str(fleet.root)]) as opened:
        facts = answers.memory(opened).data.facts
    assert {fact.title: fact.listed for fact in facts} == {
        "alone": False,
        "style": True,
        "Progress": True,
    }
