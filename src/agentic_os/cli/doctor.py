"""``agentic-os doctor``."""

from typing import TYPE_CHECKING

import typer

from agentic_os.cli.options import Json, JsonLines, Projects, Roots

if TYPE_CHECKING:
    from agentic_os.results import Check

FINDINGS = 3


def doctor(
    root: Roots = None, project: Projects = None, json: Json = False, jsonl: JsonLines = False
) -> None:
    """Check the health of the fleet and of the tool; change nothing.

    Exits with 3 where something was found.

    Example: agentic-os doctor --root ~/code
    """
    from collections import Counter

    from agentic_os.aggregate.workspace import Person, open_workspace
    from agentic_os.cli.output import say, schema_name, write, write_document, write_json
    from agentic_os.doctor import examine
    from agentic_os.results import Answer, Check, DoctorData, Envelope

    if json and jsonl:
        raise typer.BadParameter("--json and --jsonl exclude each other")
    checks: list[Check] = []
    with open_workspace(Person.here(), root or ()) as workspace:
        for check in examine(workspace, workspace.project_ids(project or ())):
            checks.append(check)
            if jsonl:
                write_json(Envelope(schema=schema_name("doctor-check"), data=check))
            elif not json:
                write(_line(check))
    counted = Counter(check.status for check in checks)
    counts: dict[str, int] = {name: counted[name] for name in ("ok", "warn", "fail")}
    if json:
        write_document("doctor", Answer(data=DoctorData(checks=tuple(checks), counts=counts)))
    elif jsonl:
        write_json(
            Envelope(schema=schema_name("doctor"), data=DoctorData(checks=(), counts=counts))
        )
    say(f"{counts['fail']} fail, {counts['warn']} warn, {counts['ok']} ok")
    if counts["fail"] or counts["warn"]:
        raise typer.Exit(FINDINGS)


def _line(check: "Check") -> str:
    from agentic_os.text.fencing import one_line

    place = ""
    if check.project:
        place = f" {check.project}"
        if check.path:
            place += f":{check.path}" + (f":{check.line}" if check.line else "")
    hint = f" ({check.hint})" if check.hint and check.status != "ok" else ""
    return one_line(f"{check.status:<4} {check.id}{place}: {check.message}{hint}") + "\n"
