"""Grant a project's own search engine, or take the grant back."""

import sys
from collections.abc import Sequence

import typer

from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.cli.output import finish_document, say, write
from agentic_os.errors import RegistryError, UsageError
from agentic_os.files.places import places_from
from agentic_os.registry.project import Project
from agentic_os.results import Answer, GrantData
from agentic_os.settings.editing import add_grant, remove_grant
from agentic_os.settings.location import load_settings
from agentic_os.settings.values import Grant
from agentic_os.text.fencing import one_line
from agentic_os.tiers.engines.endpoint import Address
from agentic_os.tiers.engines.grants import Preview, endpoint_of, preview


def grant(
    *, project: str, root: Sequence[str], endpoint: str | None, revoke: bool, yes: bool, json: bool
) -> None:
    """Let a project's own search engine be asked, after showing what would be run."""
    person = Person.here()
    if revoke:
        _finish_grant(_revoked(person, project, root), json=json)
        return
    found = find_fleet(person, root)
    chosen = found.fleet.find(project, current=person.current)
    shown = preview(chosen, person.environ)
    if endpoint is not None and endpoint != shown.endpoint:
        raise RegistryError(
            f"{chosen.id} names another endpoint than the one you gave",
            code="ENGINE_ENDPOINT_DIFFERS",
            hint="Look at it with agentic-os scan --json; nothing was granted.",
        )
    if not found.settings.granted(chosen.id, shown.endpoint):
        _show(chosen, shown)
        _ask(yes=yes)
    _finish_grant(_granted(person, chosen, shown), json=json)


def _show(project: Project, shown: Preview) -> None:
    say(f"{one_line(project.name)} ({project.id}) names this engine of its own:")
    say(f"  endpoint  {one_line(shown.endpoint)}")
    if isinstance(shown.asked, Address):
        say(f"  contacts  {one_line(shown.asked.url)}")
        if not shown.asked.loopback:
            say("  Your questions would leave this machine.")
    else:
        for place, word in enumerate(shown.asked.words):
            say(f"  {'runs      ' if place == 0 else '          '}{one_line(word)}")
        say(f"  program   {one_line(shown.program or 'not installed here')}")
        say(f"  in        {one_line(str(project.folder))}")
        say("  It runs as you, without a shell, and does whatever that program does: it may, for")
        say("  example, write its own index into the project.")
    say("Searches would ask it until the project names another engine.")


def _ask(*, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "there is nobody to ask; nothing was granted",
            code="ANSWER_NEEDED",
            hint='In scripts: --yes --endpoint "THE EXACT STRING".',
        )
    if not typer.confirm("Grant it?", err=True):
        raise UsageError("nothing was granted", code="DECLINED")


def _granted(person: Person, project: Project, shown: Preview) -> Answer[GrantData]:
    given = Grant(project=project.id, endpoint=shown.endpoint)
    edit = add_grant(places_from(person.environ), given, home=person.home)
    address = shown.asked if isinstance(shown.asked, Address) else None
    return Answer(
        data=GrantData(
            project=project.id,
            name=project.name,
            endpoint=shown.endpoint,
            form="command" if address is None else "address",
            granted=True,
            changed=edit.changed,
            words=() if isinstance(shown.asked, Address) else shown.asked.words,
            program=shown.program,
            folder=str(project.folder) if address is None else None,
            url=None if address is None else address.url,
        )
    )


def _revoked(person: Person, name: str, root: Sequence[str]) -> Answer[GrantData]:
    """Take back by id, also where the project is gone or no longer names an engine."""
    places = places_from(person.environ)
    endpoint, shown, project = None, name, name
    if all(have.project != name for have in load_settings(places, home=person.home).grants):
        chosen = find_fleet(person, root).fleet.find(name, current=person.current)
        endpoint, shown, project = endpoint_of(chosen), chosen.name, chosen.id
    edit = remove_grant(places, project, home=person.home)
    return Answer(
        data=GrantData(
            project=project,
            name=shown,
            endpoint=endpoint,
            form="none",
            granted=False,
            changed=edit.changed,
        )
    )


def _finish_grant(answer: Answer[GrantData], *, json: bool) -> None:
    if json:
        finish_document("roots-grant", answer)
        return
    data = answer.data
    if data.granted:
        write(f"{data.project}\t{one_line(data.endpoint or '')}\n")
    done = "Granted" if data.granted else "Revoked"
    say(f"{done}." if data.changed else "Nothing to change.")
