"""Each check, on a small fleet that it is about."""

import os
import re
from collections.abc import Sequence

import pytest

from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.doctor.fleet import (
    MAX_ALIKE_ENTRIES,
    MEMORY_LIMIT_BYTES,
    MEMORY_LIMIT_LINES,
    MEMORY_NOTICE_LINES,
    MEMORY_WARN_LINES,
    examine,
)
from agentic_os.doctor.identifiers import CHECKS
from agentic_os.results import Check
from support.fleet.builder import FleetBuilder


@pytest.fixture
def whole(fleet: FleetBuilder) -> FleetBuilder:
    """A fleet at which there is nothing to find."""
    project = fleet.project("whole")
    project.fact("f", "text")
    project.index("- [F](f.md) - text\n")
    return fleet


def checks(person: Person, fleet: FleetBuilder, projects: Sequence[str] = ()) -> list[Check]:
    with open_workspace(person, [str(fleet.root)]) as workspace:
        return list(examine(workspace, workspace.project_ids(projects)))


def findings(person: Person, fleet: FleetBuilder, check: str) -> list[Check]:
    return [each for each in checks(person, fleet) if each.id == check and each.status != "ok"]


def test_a_whole_fleet_passes_every_check(person: Person, whole: FleetBuilder) -> None:
    made = checks(person, whole)

    assert [check.id for check in made] == ["sqlite.version", "store.health", *_others()]
    assert {check.status for check in made} == {"ok", "none"}
    assert all(
        check.message.startswith("nothing to check: ") for check in made if check.status == "none"
    )


def _others() -> list[str]:
    return [name for name in CHECKS if name not in {"sqlite.version", "store.health"}]


def test_every_check_is_in_the_table(person: Person, whole: FleetBuilder) -> None:
    odd = whole.project("odd", "obsidian-graphify-rag")
    odd.write("AGENTS.md", "one\n")
    odd.write("CLAUDE.md", "two\n")
    whole.project("odd", path="again/odd")

    assert {check.id for check in checks(person, whole)} == CHECKS.keys()


def test_a_check_passed_only_where_it_had_nothing_to_say(
    person: Person, whole: FleetBuilder
) -> None:
    whole.project("whole", path="second")

    by_id: dict[str, list[Check]] = {}
    for check in checks(person, whole):
        by_id.setdefault(check.id, []).append(check)

    assert [check.status for check in by_id["fleet.names"]] == ["warn", "warn"]
    assert [check.status for check in by_id["secrets"]] == ["ok"]


def test_one_project_alone(person: Person, whole: FleetBuilder) -> None:
    other = whole.project("other")
    other.fact("f", "not listed")
    (whole.root / "gone/.agents").mkdir(parents=True)

    alone = checks(person, whole, ["whole"])

    assert {check.status for check in alone} == {"ok", "none"}
    assert "roots.walk" not in {check.id for check in alone}
    assert {check.status for check in checks(person, whole, ["other"])} == {"ok", "none", "warn"}
    walked = [each.message for each in checks(person, whole) if each.id == "roots.walk"]
    assert [message.partition(":")[0].partition(";")[0] for message in walked] == [
        "DESCRIPTOR_MISSING",
        "1 repository without a descriptor passed over, 1 with files for agents",
    ]


def test_the_store_is_looked_into(person: Person, whole: FleetBuilder) -> None:
    with open_workspace(person, [str(whole.root)]) as workspace:
        workspace.store.connection.close()
        health = next(check for check in _until(examine(workspace), "store.health"))

    assert health.status == "fail"
    assert "agentic-os purge" in health.hint


def _until(made: "object", name: str) -> list[Check]:
    found = []
    for check in made:  # type: ignore[attr-defined]  # an iterator that fails afterwards
        found.append(check)
        if check.id == name:
            return [check]
    return found


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (MEMORY_NOTICE_LINES, None),
        (MEMORY_NOTICE_LINES + 1, "warn"),
        (MEMORY_WARN_LINES + 1, "warn"),
        (MEMORY_LIMIT_LINES, "warn"),
        (MEMORY_LIMIT_LINES + 1, "fail"),
    ],
)
def test_memory_that_grows_too_long(
    person: Person, whole: FleetBuilder, lines: int, status: str | None
) -> None:
    index = whole.root / "whole/.agents/memory/MEMORY.md"
    index.write_text("- [F](f.md) - text\n" + "Prose.\n" * (lines - 1))

    found = findings(person, whole, "memory.length")

    assert [check.status for check in found] == ([] if status is None else [status])
    if status is not None:
        assert f"{lines} lines" in found[0].message
        near = MEMORY_WARN_LINES < lines <= MEMORY_LIMIT_LINES
        assert ("very near" in found[0].message) == near


def test_memory_that_has_too_many_bytes(person: Person, whole: FleetBuilder) -> None:
    index = whole.root / "whole/.agents/memory/MEMORY.md"
    index.write_text("- [F](f.md) - text\n" + "x" * MEMORY_LIMIT_BYTES + "\n")

    (found,) = findings(person, whole, "memory.length")

    assert found.status == "fail"


def test_the_index_and_the_facts(person: Person, whole: FleetBuilder) -> None:
    project = whole.project("p")
    project.fact("listed", "text")
    project.fact("unlisted", "text", title="Odd <b>\x1b[31m")
    project.index("- [L](listed.md)\n- [G](gone.md)\n- [R](refused.md)\n")
    os.mkfifo(project.folder / ".agents/memory/refused.md")

    found = findings(person, whole, "memory.index")

    by_code = {check.message.split(":")[0]: check for check in found}
    assert {code: (check.path, check.line) for code, check in by_code.items()} == {
        "FACT_MISSING": (".agents/memory/MEMORY.md", 2),
        "FACT_UNLISTED": (".agents/memory/unlisted.md", None),
    }
    assert "\x1b" not in by_code["FACT_UNLISTED"].message
    (unread,) = findings(person, whole, "evidence.unread")
    assert (unread.path, unread.status) == (".agents/memory/refused.md", "fail")


def test_surfaces_that_are_not_there(person: Person, whole: FleetBuilder) -> None:
    whole.project("p", "obsidian-graphify")
    (whole.root / "p/.agents/vault").symlink_to(whole.root)

    found = findings(person, whole, "surface.missing")

    codes = [check.message.split(":")[0] for check in found]
    assert codes == ["MEMORY_MISSING", "SURFACE_REFUSED"]


def test_a_graph_that_was_not_built_is_no_finding(person: Person, whole: FleetBuilder) -> None:
    project = whole.project("p", "obsidian-graphify")
    project.note("n.md", "text")

    (check,) = [each for each in checks(person, whole) if each.id == "graph"]

    assert check.status == "none"
    assert "not built yet" in check.message


def test_a_graph_that_cannot_be_read(person: Person, whole: FleetBuilder) -> None:
    project = whole.project("p", "obsidian-graphify")
    graph = project.write(
        "graphify-out/graph.json",
        '{"nodes": [{"id": "a", "label": "a", "source_file": "a.py"}], "links": []}',
    )
    assert findings(person, whole, "graph") == []
    graph.write_text("no graph")

    (found,) = findings(person, whole, "graph")

    assert found.status == "fail"
    assert found.message.startswith("GRAPH_NOT_JSON: ")
    assert "its last good state is used" in found.message
    graph.unlink()
    graph.symlink_to("elsewhere.json")
    assert findings(person, whole, "graph") == []
    refused = [
        each for each in findings(person, whole, "surface.missing") if "graph" in each.message
    ]
    assert [check.message.split(":")[0] for check in refused] == ["SURFACE_REFUSED"]


def test_a_stale_record(person: Person, whole: FleetBuilder) -> None:
    project = whole.project("p")
    config = project.folder / ".agents/config.yaml"
    record = '# --- scaffold record\nscaffold:\n  variables: {"project_name": "other"}\n'
    config.write_text(config.read_text() + record)

    made = [each for each in checks(person, whole) if "RECORD_" in each.message]

    assert [(check.id, check.status, check.project) for check in made] == [
        ("contract", "ok", made[0].project)
    ]
    config.write_text(config.read_text().replace('{"project_name": "other"}', "[]"))
    broken = [each for each in checks(person, whole) if "RECORD_UNREADABLE" in each.message]
    assert [check.status for check in broken] == ["warn"]


def test_a_descriptor_that_vanishes_meanwhile(person: Person, whole: FleetBuilder) -> None:
    with open_workspace(person, [str(whole.root)]) as workspace:
        (whole.root / "whole/.agents/config.yaml").unlink()
        made = list(examine(workspace))

    assert {check.status for check in made} == {"ok", "none"}


def test_instructions_that_drift(person: Person, whole: FleetBuilder) -> None:
    project = whole.project("p")
    project.write("AGENTS.md", "one\ntwo\n")
    project.write("CLAUDE.md", "one\nthree\n")

    (found,) = findings(person, whole, "instructions.drift")

    assert "differ in 2 lines" in found.message
    (project.folder / "CLAUDE.md").unlink()
    (absent,) = findings(person, whole, "instructions.drift")
    assert absent.status == "none"


def test_a_listed_project_that_is_gone(person: Person, whole: FleetBuilder) -> None:
    folder = person.home / "config"
    folder.mkdir()
    (folder / "projects.toml").write_text(f'roots = ["{whole.root}"]\n[[project]]\npath = "gone"\n')

    with open_workspace(person, []) as workspace:
        made = [each for each in examine(workspace) if each.id == "roots.walk"]

    assert [check.status for check in made] == ["warn"]
    assert made[0].message.startswith("LISTED_PROJECT_MISSING: ")


def test_bounds_of_the_walk_are_no_finding_but_said(person: Person, whole: FleetBuilder) -> None:
    (whole.root / "/".join("abcdefghijk")).mkdir(parents=True)

    (check,) = [each for each in checks(person, whole) if each.id == "roots.walk"]

    assert check.status == "ok"
    assert check.message.startswith("DEPTH_LIMIT: ")


def test_text_that_was_read_leniently(person: Person, whole: FleetBuilder) -> None:
    project = whole.project("p")
    project.write(".agents/memory/f.md", "---\nname: x\n")
    project.write(".agents/CAPABILITIES.md", "# Ours\n")
    project.index("- [F](f.md)\n")

    made = [each for each in checks(person, whole) if each.id == "text.form"]

    assert [(each.status, re.split(":", each.message)[0]) for each in made] == [
        ("ok", "CAPABILITIES_FOREIGN"),
        ("warn", "FRONT_MATTER_UNCLOSED"),
    ]


def test_secrets_are_named_by_place(person: Person, whole: FleetBuilder) -> None:
    project = whole.project("p")
    project.fact("f", "AKIAQYLPMN5HHHFPZAM2")
    project.index("- [F](f.md)\n")

    (found,) = findings(person, whole, "secrets")

    assert (found.status, found.path, found.line) == ("fail", ".agents/memory/f.md", 7)
    assert "AKIA" not in found.message + found.hint


def test_findings_of_one_kind_do_not_bury_the_others(person: Person, whole: FleetBuilder) -> None:
    project = whole.project("flood")
    lines = "".join(f"- [a](gone{number}.md) - x\n" for number in range(MAX_ALIKE_ENTRIES + 7))
    project.index(lines)

    found = findings(person, whole, "memory.index")

    assert len(found) == MAX_ALIKE_ENTRIES + 1
    assert found[-1].message == "7 more like these were found"
    assert found[-1].status == "warn"
    assert found[-1].project == found[0].project


def test_what_was_not_looked_at_is_not_called_well(fleet: FleetBuilder, person: Person) -> None:
    fleet.project("shop").fact("f", "x")

    with open_workspace(person, [str(fleet.root)]) as workspace:
        said = {check.id: check.message for check in examine(workspace)}
    with open_workspace(person, [str(fleet.root / "shop/.agents/memory")]) as workspace:
        empty = {check.id: check.message for check in examine(workspace)}

    for name in ("index", "engine.grants", "graph", "instructions.drift"):
        assert said[name].startswith("nothing to check: "), name
    assert not said["secrets"].startswith("nothing")
    assert empty["secrets"] == "nothing to check: there is no project"
