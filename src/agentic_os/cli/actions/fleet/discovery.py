"""Scan the roots and print the projects that were found."""

from collections.abc import Sequence

import typer

from agentic_os.aggregate.fleet import Person, find_fleet, scan_fleet
from agentic_os.cli.actions.asking import IdShown, ids_shown
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
from agentic_os.results import Diagnostic, Envelope, ProjectView, ScanData, Surface


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
    shown = ids_shown(fleet.fleet.projects)
    table(
        ("project", "tier", "stack", "surfaces", "path", "notes"),
        [
            (
                shown(project.id),
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
    _say_of_projects(answer.data.projects, shown)
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


def _say_of_projects(projects: Sequence[ProjectView], shown: IdShown) -> None:
    """Say what was noticed of projects; what several share is said once, of the first of them."""
    alike: dict[str, list[tuple[str, Diagnostic]]] = {}
    for project in projects:
        for item in project.diagnostics:
            if item.severity != "info":
                alike.setdefault(item.code, []).append((shown(project.id), item))
    for found in alike.values():
        (first, _), count = found[0], len({one for one, _ in found})
        about = f"{count} projects, {first}" if count > 1 else first
        say_noticed([item for _, item in (found if count == 1 else found[:1])], about=about)


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
