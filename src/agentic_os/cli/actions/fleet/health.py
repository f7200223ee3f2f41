"""Check the health of the fleet, the tool and the identity, and print each check."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence

import typer

from agentic_os.aggregate.fleet import Person
from agentic_os.cli.actions.asking import asked
from agentic_os.cli.actions.trust.ledger.opening import IDENTITY_FOLDER, verifying
from agentic_os.cli.actions.trust.plugins.opening import plugin_house
from agentic_os.cli.exit_codes import FINDINGS
from agentic_os.cli.options import OWN_WITNESS_FOLDER
from agentic_os.cli.output import say, schema_name, write, write_document, write_json
from agentic_os.doctor.fleet import examine
from agentic_os.doctor.folder import examine_folder
from agentic_os.doctor.identity import OwnPlaces, examine_identity
from agentic_os.doctor.plugins import examine_packages
from agentic_os.files.places import places_from
from agentic_os.identity.witness_policy import POLICY_NAME
from agentic_os.plugins.keeping.house import plugin_places
from agentic_os.results import Answer, Check, DoctorData, Envelope
from agentic_os.server.scope.aios import person_access
from agentic_os.text.fencing import one_line


def examine_all(*, root: Sequence[str], project: Sequence[str], json: bool, jsonl: bool) -> None:
    """Check the health of the fleet, of the tool, and of an identity that lives here."""
    if json and jsonl:
        raise typer.BadParameter("--json and --jsonl exclude each other")
    checks: list[Check] = []
    for check in _examined(root, project, document=json or jsonl):
        checks.append(check)
        if jsonl:
            write_json(Envelope(schema=schema_name("doctor-check"), data=check))
        elif not json:
            write(_line(check))
    counted = Counter(check.status for check in checks)
    counts: dict[str, int] = {name: counted[name] for name in ("ok", "none", "warn", "fail")}
    if json:
        write_document("doctor", Answer(data=DoctorData(checks=tuple(checks), counts=counts)))
    elif jsonl:
        write_json(
            Envelope(schema=schema_name("doctor"), data=DoctorData(checks=(), counts=counts))
        )
    none = f", {counts['none']} with nothing to check" if counts["none"] else ""
    say(f"{counts['fail']} fail, {counts['warn']} warn, {counts['ok']} ok{none}")
    if counts["fail"] or counts["warn"]:
        raise typer.Exit(FINDINGS)


def _examined(roots: Sequence[str], projects: Sequence[str], *, document: bool) -> Iterator[Check]:
    with asked(roots, document=document) as workspace:
        yield from examine(workspace, workspace.project_ids(projects))
    if not projects:
        person = Person.here()
        access = person_access(person.environ, person.home)
        yield from examine_folder(access, places_from(person.environ).aios)
        places = own_places()
        with verifying(places.identity) as tick:
            found = list(examine_identity(places, progress=tick))
        yield from found
        yield from examine_packages(plugin_house, plugin_places(places_from(person.environ)).data)


def own_places() -> OwnPlaces:
    """Where the identity, its witness policy and an own witness are, or would be."""
    places = places_from(os.environ)
    return OwnPlaces(
        identity=places.data / IDENTITY_FOLDER,
        policy=places.config / POLICY_NAME,
        witness=places.data / OWN_WITNESS_FOLDER,
    )


def _line(check: Check) -> str:
    place = ":".join(part for part in (check.project, check.path) if part)
    place += f":{check.line}" if check.path and check.line else ""
    hint = f" ({check.hint})" if check.hint and check.status != "ok" else ""
    at = f" {place}" if place else ""
    status = "-" if check.status == "none" else check.status
    return one_line(f"{status:<4} {check.id}{at}: {check.message}{hint}") + "\n"
