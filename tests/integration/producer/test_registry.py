"""What the registry makes of projects that the real producer wrote.

Producer contract, sections 1, 3, 8 and 9: no diagnostic at all where the producer made
no fault, and exactly the expected one where it did.
"""

from pathlib import Path

import pytest

from agentic_os.registry.descriptor.memory_block import TIER_OF_STACK
from agentic_os.registry.descriptor.record import compare_record, read_record
from agentic_os.registry.fleet import Fleet, load_fleet
from agentic_os.registry.project import Project
from agentic_os.results import Surface, Surfaces
from agentic_os.settings.values import Root, Settings
from support.fleet.producer import NEWEST, STACKS, Producer, scaffolded_copy


def load(root: Path) -> Fleet:
    return load_fleet([Root(typed="r", path=root, origin="command line")], Settings())


def only(root: Path) -> Project:
    [project] = load(root).projects
    return project


def codes(project: Project) -> list[tuple[str, str]]:
    return [(noted.code, noted.severity) for noted in project.diagnostics]


def expected_surfaces(tier: int | None, layout: str) -> Surfaces:
    """Return the surfaces of a fresh scaffold: no graph was made, no endpoint wired."""
    if tier is None:
        return Surfaces()
    graph = Surface(path="graphify-out/graph.json", state="missing")
    return Surfaces(
        memory=Surface(path=f"{layout}/memory", state="present"),
        vault=Surface(path=f"{layout}/vault", state="present") if tier >= 1 else None,
        graph=graph if tier >= 2 else None,
        rag=Surface(path="", state="unset") if tier >= 3 else None,
    )


def test_every_stack_and_language_without_one_diagnostic(current_scaffolds: Path) -> None:
    fleet = load(current_scaffolds)
    assert {project.name for project in fleet.projects} == {
        f"{stack}-{language}" for stack in STACKS for language in ("python", "rust")
    }
    for project in fleet.projects:
        stack, _, language = project.name.rpartition("-")
        tier = TIER_OF_STACK.get(stack)
        descriptor = project.descriptor
        assert (descriptor.label, project.tier, descriptor.language) == (stack, tier, language)
        assert (descriptor.contract_version, descriptor.init_version) == (2, NEWEST)
        assert project.layout == ".agents"
        assert project.retrieval is (stack != "none")
        assert project.surfaces == expected_surfaces(tier, ".agents")
        assert project.diagnostics == ()
    assert fleet.diagnostics == ()
    assert fleet.roots[0].diagnostics == ()


@pytest.mark.parametrize(
    ("version", "contract", "layout", "stack"),
    [
        ("0.3.0", 0, ".claude", "obsidian-graphify"),
        ("0.4.0", 0, ".claude", "obsidian-graphify"),
        ("0.5.0", 1, ".claude", "obsidian-graphify-rag"),
        ("0.5.2", 1, ".claude", "auto"),
        ("0.6.1", 1, ".claude", "obsidian-only"),
        ("1.0.0", 1, ".claude", "obsidian-graphify-rag"),
        ("1.0.1", 2, ".agents", "auto"),
        ("1.1.0", 2, ".agents", "obsidian-graphify"),
        ("1.1.2", 2, ".agents", "obsidian-only"),
        ("1.1.8", 2, ".agents", "obsidian-graphify-rag"),
        ("1.2.1", 2, ".agents", "none"),
    ],
)
def test_every_older_release(
    old_scaffolds: Path, version: str, contract: int, layout: str, stack: str
) -> None:
    project = only(old_scaffolds / version)
    descriptor = project.descriptor
    assert (descriptor.contract_version, project.layout) == (contract, layout)
    assert (descriptor.label, project.tier) == (stack, TIER_OF_STACK.get(stack))
    assert descriptor.init_version == version
    assert descriptor.created is not None
    expected = expected_surfaces(project.tier, layout)
    if contract == 0:  # by convention, and only if it exists
        expected = Surfaces(memory=expected.memory, vault=expected.vault)
    assert project.surfaces == expected
    both = [("DESCRIPTOR_SHADOWED", "info")] if version == "1.0.1" else []
    assert codes(project) == both


def test_a_whole_fleet_of_all_releases_has_one_project_per_scaffold(old_scaffolds: Path) -> None:
    fleet = load(old_scaffolds)
    assert len(fleet.projects) == 11
    assert len({project.id for project in fleet.projects}) == 11
    assert not any(
        noted.severity != "info" for project in fleet.projects for noted in project.diagnostics
    )


def test_the_record_agrees_with_the_visible_block(
    current_scaffolds: Path, old_scaffolds: Path
) -> None:
    for root in (current_scaffolds, old_scaffolds):
        for project in load(root).projects:
            data = (project.folder / project.descriptor.path).read_bytes()
            record = read_record(data, path=project.descriptor.path)
            assert record is not None
            assert record.diagnostics == ()
            assert record.variables["project_name"] == project.name
            assert compare_record(record, project.descriptor) == ()


@pytest.mark.parametrize("where", ["name", "description"])
def test_an_emoji_leaves_the_project_usable_and_is_said(
    producer: Producer, tmp_path: Path, where: str
) -> None:
    text = "Rocket 🚀 shop"
    options = {"name": text} if where == "name" else {"description": text}
    producer.scaffold(tmp_path / "r/p", **options)  # type: ignore[arg-type] # two strings
    project = only(tmp_path / "r")
    assert getattr(project.descriptor, where) == text
    assert project.tier == 0
    assert codes(project) == [("RECORD_ESCAPES", "info")]
    record = read_record(
        (project.folder / project.descriptor.path).read_bytes(), path=project.descriptor.path
    )
    assert record is not None
    assert record.variables[f"project_{where}"] == text
    assert compare_record(record, project.descriptor) == ()


@pytest.mark.parametrize(
    "name", ["a: b", "a #b", "a | b", "{{cookie}}", "it's", "no", "مشروع", "日本", "- x", "1.10"]
)
def test_odd_names_are_no_fault_of_the_descriptor(
    producer: Producer, tmp_path: Path, name: str
) -> None:
    producer.scaffold(tmp_path / "r/p", name=name)
    project = only(tmp_path / "r")
    assert project.name == name
    assert project.diagnostics == ()


def test_memory_that_was_removed_is_left_behind_and_not_read(
    producer: Producer, current_scaffolds: Path, tmp_path: Path
) -> None:
    folder = scaffolded_copy(current_scaffolds / "auto-python", tmp_path / "r/p")
    producer.run(NEWEST, "remove", "memory", "--apply", "--target", str(folder))
    project = only(tmp_path / "r")
    assert (project.descriptor.choice, project.retrieval) == ("none", False)
    assert project.surfaces == Surfaces()
    assert codes(project) == [("MEMORY_LEFT_BEHIND", "info")]
    producer.run(NEWEST, "add", "memory", "obsidian-graphify", "--apply", "--target", str(folder))
    project = only(tmp_path / "r")
    assert (project.tier, codes(project)) == (2, [])


def test_a_wired_endpoint_is_read_as_written(current_scaffolds: Path, tmp_path: Path) -> None:
    folder = scaffolded_copy(current_scaffolds / "obsidian-graphify-rag-python", tmp_path / "r/p")
    config = folder / ".agents/config.yaml"
    text = config.read_text()
    config.write_text(text.replace("  rag_endpoint:", "  rag_endpoint: ccc mcp", 1))
    project = only(tmp_path / "r")
    assert project.descriptor.rag_endpoint == "ccc mcp"
    assert project.surfaces.rag == Surface(path="ccc mcp", state="present")
    assert codes(project) == []


def test_the_newest_way_to_decline_memory(current_scaffolds: Path, tmp_path: Path) -> None:
    folder = scaffolded_copy(current_scaffolds / "none-python", tmp_path / "r/p")
    config = folder / ".agents/config.yaml"
    text = config.read_text()
    config.write_text(
        "context: repo\n" + text.replace("\nmcps:", "\nmemory:\n  stack: none\n\nmcps:")
    )
    project = only(tmp_path / "r")
    assert (project.descriptor.stack, project.descriptor.context) == ("none", "repo")
    assert project.descriptor.opted_out
    assert codes(project) == []


@pytest.mark.parametrize("how", ["crlf", "mark", "both"])
def test_line_ends_and_a_byte_order_mark_change_nothing(
    current_scaffolds: Path, tmp_path: Path, how: str
) -> None:
    before = only(current_scaffolds / "obsidian-graphify-rust").descriptor
    folder = scaffolded_copy(current_scaffolds / "obsidian-graphify-rust", tmp_path / "r/p")
    config = folder / ".agents/config.yaml"
    data = config.read_bytes()
    if how != "mark":
        data = data.replace(b"\n", b"\r\n")
    if how != "crlf":
        data = b"\xef\xbb\xbf" + data
    config.write_bytes(data)
    assert only(tmp_path / "r").descriptor == before


def test_a_monorepo_of_scaffolds_with_one_name(producer: Producer, tmp_path: Path) -> None:
    producer.scaffold(tmp_path / "r/mono", name="same")
    producer.scaffold(tmp_path / "r/mono/packages/api", name="same", stack="obsidian-only")
    fleet = load(tmp_path / "r")
    assert [project.relative for project in fleet.projects] == ["mono/packages/api", "mono"]
    assert [codes(project) for project in fleet.projects] == [[("NAME_SHARED", "warning")]] * 2
    assert len({project.id for project in fleet.projects}) == 2


def test_everything_switched_on(producer: Producer, tmp_path: Path) -> None:
    producer.run(
        NEWEST,
        *("--preset", "governed", "--memory", "obsidian-graphify-rag", "--language", "python"),
        *("--deploy", "cloud-run", "--delivery", "service", "--iac", "opentofu"),
        *("--observability", "--multi-model", "--mise", "--vscode", "--devcontainer"),
        *("--agents", "claude,codex,cursor,antigravity,vscode,amp,junie,ollama"),
        *("--license", "mit", "--owner", "@acme/core", "--profile", "standalone"),
        *("--mcps", "context7", "--browser"),
        *("--non-interactive", "--name", "all", "--description", "d", str(tmp_path / "r/all")),
    )
    project = only(tmp_path / "r")
    assert (project.tier, project.descriptor.delivery) == (3, "service")
    assert project.diagnostics == ()


def test_the_files_of_a_scaffold_are_untouched(current_scaffolds: Path) -> None:
    def state() -> list[tuple[str, int, int]]:
        return sorted(
            (str(path), path.lstat().st_mtime_ns, path.lstat().st_ctime_ns)
            for path in current_scaffolds.rglob("*")
        )

    before = state()
    load(current_scaffolds)
    assert state() == before
