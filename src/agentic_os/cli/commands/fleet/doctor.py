"""``agentic-os doctor``."""

from typing import TYPE_CHECKING

import typer

from agentic_os.cli.options import Json, JsonLines, Projects, Roots

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentic_os.doctor.identity import OwnPlaces
    from agentic_os.results import Check

FINDINGS = 3


def doctor(
    root: Roots = None, project: Projects = None, json: Json = False, jsonl: JsonLines = False
) -> None:
    """Check the health of the fleet, of the tool, and of an identity that lives here.

    Nothing is changed and no witness is asked. With --project only its checks and those of the
    tool are made. Exits with 3 where something was found.

    Example: agentic-os doctor --root ~/code
    """
    from collections import Counter

    from agentic_os.cli.output import say, schema_name, write, write_document, write_json
    from agentic_os.results import Answer, Check, DoctorData, Envelope

    if json and jsonl:
        raise typer.BadParameter("--json and --jsonl exclude each other")
    checks: list[Check] = []
    for check in _examined(root or (), project or ()):
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


def _examined(roots: "Sequence[str]", projects: "Sequence[str]") -> "Iterator[Check]":
    from agentic_os.aggregate.workspace import Person, open_workspace
    from agentic_os.cli.actions.trust.ledger.opening import verifying
    from agentic_os.doctor.fleet import examine
    from agentic_os.doctor.identity import examine_identity

    with open_workspace(Person.here(), roots) as workspace:
        yield from examine(workspace, workspace.project_ids(projects))
    if not projects:
        places = own_places()
        with verifying(places.identity) as tick:
            found = list(examine_identity(places, progress=tick))
        yield from found


def own_places() -> "OwnPlaces":
    """Where the identity, its witness policy and an own witness are, or would be."""
    import os

    from agentic_os.cli.actions.trust.ledger.opening import IDENTITY_FOLDER
    from agentic_os.cli.commands.trust.witness import WITNESS_FOLDER
    from agentic_os.doctor.identity import OwnPlaces
    from agentic_os.files.places import places_from
    from agentic_os.identity.witness_policy import POLICY_NAME

    places = places_from(os.environ)
    return OwnPlaces(
        identity=places.data / IDENTITY_FOLDER,
        policy=places.config / POLICY_NAME,
        witness=places.data / WITNESS_FOLDER,
    )


def _line(check: "Check") -> str:
    from agentic_os.text.fencing import one_line

    place = ""
    if check.project:
        place = f" {check.project}"
        if check.path:
            place += f":{check.path}" + (f":{check.line}" if check.line else "")
    hint = f" ({check.hint})" if check.hint and check.status != "ok" else ""
    return one_line(f"{check.status:<4} {check.id}{place}: {check.message}{hint}") + "\n"
