"""Print the working context of the AIOS folder, or that of one of its projects."""

from pathlib import Path

from agentic_os.aios.context.brief import attached_project, read_brief
from agentic_os.aios.context.lean import read_lean
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.notes.brief import write_brief
from agentic_os.aios.policy import MemoryPolicy, resolve_policy
from agentic_os.cli.actions.person.changes import show
from agentic_os.cli.actions.person.keeping import maintain
from agentic_os.cli.actions.person.reach import folder_access, say_held_back
from agentic_os.cli.output import on_terminal, schema_name, write, write_json
from agentic_os.text.fencing import terminal_safe


def brief(
    *,
    kind: str | None,
    dry_run: bool,
    compact: bool,
    lean: bool,
    json: bool,
    path: str | None,
    memory: str | None,
    project: str | None,
    budget: int,
    first_message: str | None,
    cwd: str | None,
    state_path: str | None,
) -> None:
    """Print what the folder knows about now: identity, priorities, work, days, projects."""
    asked = project is not None or memory is not None
    policy = resolve_policy(
        mode=memory,
        project=project,
        first_message=first_message,
        deferred_project=cwd is not None,
    )
    if policy.mode != "off":
        _check_brief(kind, compact=compact, lean=lean, asked=asked or bool(first_message or cwd))
        if not (compact or lean):
            access = folder_access(policy, path)
            data = write_brief(access, policy, dry_run=dry_run)
            show("aios-brief", "", data, json=json)
            maintain(access, policy, data.status)
            return
    access = folder_access(policy, path, state_path)
    if lean and policy.mode != "off":
        _print_lean(access, json=json)
        return
    if cwd is not None and not asked and policy.mode != "off":
        policy = _attached(access, cwd, first_message)
    found = read_brief(access, policy, budget=budget)
    if json:
        write(found.hook_json() + "\n")
    else:
        _print_text(found.text())
    say_held_back(found.context.withheld, found.context.hidden_characters)


def context(*, project: str, json: bool, path: str | None, memory: str | None, budget: int) -> None:
    """Print the continuity of one project: its README, sessions, signals, events."""
    policy = resolve_policy(mode=memory, project=project)
    found = read_brief(folder_access(policy, path), policy, budget=budget)
    if json:
        write(found.project_json() + "\n")
    else:
        _print_text(found.text())
    say_held_back(found.context.withheld, found.context.hidden_characters)


def _check_brief(kind: str | None, *, compact: bool, lean: bool, asked: bool) -> None:
    if kind not in (None, "daily"):
        raise argument_fault("the only kind of brief is daily")
    if compact and lean:
        raise argument_fault("choose either --compact or --lean")
    if not compact and asked:
        raise argument_fault(
            "--memory, --project, --first-message and --cwd go with --compact only"
        )


def _attached(access: AiosAccess, cwd: str, first_message: str | None) -> MemoryPolicy:
    """Choose project memory when ``cwd`` lies in a verified checkout."""
    found = attached_project(access, Path(cwd))
    return resolve_policy(project=found, first_message=first_message)


def _print_lean(access: AiosAccess, *, json: bool) -> None:
    found = read_lean(access)
    if json:
        write_json({"schema": schema_name("aios-brief-lean"), "data": found.as_json()})
    else:
        _print_text(found.text())
    say_held_back(found.withheld, 0)


def _print_text(text: str) -> None:
    """Print text of the folder, byte for byte unless it goes to a terminal."""
    write((terminal_safe(text) if on_terminal() else text) + "\n")
