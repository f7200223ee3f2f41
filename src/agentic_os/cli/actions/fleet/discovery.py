"""Scan the roots and print the projects that were found."""

from collections.abc import Sequence

import typer

from agentic_os.aggregate.fleet import Person, find_fleet, scan_fleet
from agentic_os.cli.output import (
    finish_document,
    progress,
    say,
    say_noticed,
    schema_name,
    table,
    write_json,
)
from agentic_os.registry.fleet import passed_over
from agentic_os.results import Envelope, ProjectView, ScanData, Surface


def print_projects(*, root: Sequence[str], json: bool, jsonl: bool) -> None:
    """Find the projects below the roots and read their descriptors."""
    if json and jsonl:
        raise typer.BadParameter("--json and --jsonl exclude each other")
    with progress("Looking", "folders", document=json or jsonl) as tick:
        fleet = find_fleet(
            Person.here(), root, progress=lambda folders, _projects: tick(folders, None)
        )
    answer = scan_fleet(fleet)
    if json:
        finish_document("scan", answer)
        return
    if jsonl:
        for project in answer.data.projects:
            write_json(Envelope(schema=schema_name("scan-project"), data=project))
        summary = ScanData(projects=(), roots=answer.data.roots)
        write_json(Envelope(schema=schema_name("scan"), data=summary, warnings=answer.warnings))
        return
    table(
        ("project", "tier", "stack", "surfaces", "path", "notes"),
        [
            (
                project.id,
                "-" if project.tier is None else str(project.tier),
                project.stack or "-",
                _surfaces(project),
                project.path,
                " ".join(item.code for item in project.diagnostics),
            )
            for project in answer.data.projects
        ],
    )
    say_noticed(answer.warnings)
    for found in answer.data.roots:
        say_noticed(found.diagnostics, about=found.path)
    for project in answer.data.projects:
        telling = [item for item in project.diagnostics if item.severity != "info"]
        say_noticed(telling, about=project.id)
    if not answer.data.projects:
        for found in answer.data.roots:
            passed = (
                f"; {found.pruned} of dependencies and builds passed over" if found.pruned else ""
            )
            say(f"No project below {found.path} ({found.folders} folders looked at{passed}).")
        say("A project is a folder with .agents/config.yaml (or the older .claude/config.yaml).")
    passed = passed_over(fleet.fleet)
    if passed:
        say(f"{passed[0].upper()}{passed[1:]}.")


def _surfaces(project: ProjectView) -> str:
    if not project.described:
        return "bare" if project.bare else " ".join(project.found)
    surfaces = project.surfaces
    names = []
    for name in ("memory", "vault", "graph", "rag"):
        surface = getattr(surfaces, name)
        if isinstance(surface, Surface):
            names.append(name if surface.state == "present" else f"{name}({surface.state})")
    return " ".join(names) or "-"
