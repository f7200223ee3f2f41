"""Lead a person through the first steps; each is a plain command, printed before it is taken."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import typer

from agentic_os.aggregate.fleet import Person
from agentic_os.aggregate.workspace import open_workspace
from agentic_os.cli.actions.fleet.state import likely_roots
from agentic_os.cli.output import home_shown, progress, say, write
from agentic_os.errors import AgenticOSError
from agentic_os.files.places import places_from
from agentic_os.server.setup.harnesses import harnesses
from agentic_os.settings.location import load_settings
from agentic_os.text.fencing import one_line

MODEL_MEGABYTES: Final = 23
EXAMPLES: Final = 3
MAX_TITLES: Final = 60
"""Titles that the examples are chosen from."""
MAX_LOOKED_AT: Final = 400
"""Folders of a likely root that are looked at for repositories."""
_TITLES = """
SELECT name FROM document WHERE kind IN ('memory', 'vault', 'instruction') AND NOT template
    AND length(name) > 5 AND name NOT LIKE '[%' AND name NOT LIKE '%.md'
GROUP BY name ORDER BY min(kind = 'instruction'), max(length(label)) DESC, name LIMIT ?
"""


def lead(*, yes: bool) -> None:
    """Go through the steps."""
    person = Person.here()
    places = places_from(person.environ)
    asks = sys.stdin.isatty() and not yes
    taken = yes or asks
    if not load_settings(places, home=person.home).roots:
        _offer_roots(person, asks=asks, taken=taken)
    if load_settings(places, home=person.home).roots:
        _examples(person)
    _offer_model(places.data, asks=asks, taken=taken)
    for one in harnesses(person.environ, person.home):
        if not one.is_set_up:
            words = ("mcp", "install", "--client", one.client.name)
            _step(words, f"Let {one.client.name} ask, too?", asks=asks, taken=taken)
    say("From now on: agentic-os search WORDS; agentic-os alone says what is next.")


def _offer_roots(person: Person, *, asks: bool, taken: bool) -> None:
    found = [(root, *_repositories(root)) for root in likely_roots(person.home, person.current)]
    found = [one for one in found if one[1] + one[2]]
    if not found:
        say("No folder with repositories was found in the usual places.")
        say("Name yours: agentic-os roots add DIR")
        return
    for root, described, others in found:
        counted = f"{described} projects with a descriptor, {others} other repositories"
        place = f"{home_shown(root)} ({counted})"
        if not others:
            words = ("roots", "add", str(root))
            _step(words, f"Take in {place}?", asks=asks, taken=taken)
            continue
        # A descriptor's refusal stays; without one, taking the folder in is the person's leave.
        everything = ("roots", "add", str(root), "--adopt")
        if _step(everything, f"Take in all of {place}?", asks=asks, taken=taken) or not asks:
            continue
        if described:
            described_alone = ("roots", "add", str(root), "--no-adopt")
            _step(
                described_alone, f"Only the {described} with a descriptor?", asks=True, taken=True
            )


def _repositories(root: Path) -> tuple[int, int]:
    """Count what lies one and two levels below: described projects, other repositories."""
    described = others = looked = 0
    level = [root]
    for _ in range(2):
        below: list[Path] = []
        for folder in level:
            try:
                children = [
                    one for one in folder.iterdir() if one.is_dir() and not one.is_symlink()
                ]
            except OSError:
                continue
            for child in children:
                looked += 1
                if looked > MAX_LOOKED_AT:
                    return described, others
                if (child / ".agents/config.yaml").is_file() or (
                    child / ".claude/config.yaml"
                ).is_file():
                    described += 1
                elif (child / ".git").exists():
                    others += 1
                elif not child.name.startswith("."):
                    below.append(child)
        level = below
    return described, others


def _examples(person: Person) -> None:
    """Refresh the store, and show questions in the person's own words."""
    try:
        with (
            progress("Reading", "projects") as tick,
            open_workspace(person, (), freshness="wait", progress=tick) as workspace,
        ):
            count = len(workspace.fleet.projects)
            rows = workspace.store.connection.execute(_TITLES, (MAX_TITLES,)).fetchall()
    except AgenticOSError as fault:
        say(f"agentic-os: {fault.message} [{fault.code}]")
        return
    say(f"{count} projects are ready to be asked.")
    if rows:
        say("For example:")
    for name in _unlike([name for (name,) in rows]):
        write(f"agentic-os search {shlex.quote(one_line(name))}\n")


def _unlike(names: Sequence[str]) -> list[str]:
    """Choose examples that begin with different words, as far as there are such."""
    first = {name.split()[0].casefold(): name for name in reversed(names)}
    unlike = [name for name in names if first[name.split()[0].casefold()] == name]
    return [*unlike, *(name for name in names if name not in unlike)][:EXAMPLES]


def _offer_model(data: Path, *, asks: bool, taken: bool) -> None:
    from agentic_os.tiers.embed.listing import list_models

    try:
        if any(model.selected for model in list_models(data, hashed=False).data.models):
            return
    except AgenticOSError:
        return
    question = f"Fetch a model of {MODEL_MEGABYTES} MB, to search by meaning, too?"
    if _step(("model", "prepare"), question, asks=asks, taken=taken):
        _step(("index", "build"), "Build the index?", asks=False, taken=True)


def _step(words: Sequence[str], question: str, *, asks: bool, taken: bool) -> bool:
    """Print a command, and take it if the person wants; tell whether it was taken well."""
    if not asks:
        say(question)
    write(f"agentic-os {shlex.join(words)}\n")
    if not taken or (asks and not typer.confirm(question, default=True, err=True)):
        return False
    sys.stdout.flush()
    command = [sys.executable, "-m", "agentic_os", *words]
    return subprocess.run(command, check=False).returncode == 0
