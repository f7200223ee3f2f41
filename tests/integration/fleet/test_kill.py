"""A writer that is killed, wherever it stands, leaves the old state or the new one."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentic_os.aggregate.store.database import open_store
from agentic_os.aggregate.store.space import space_for
from agentic_os.aggregate.workspace import Person
from support.fleet.builder import FleetBuilder
from support.fleet.store_dump import fresh, opened
from support.process.cli_process import MODULE, run

PROJECTS = 12
FACTS = 25
ROUNDS = 8

# Runs the command line and dies by SIGKILL at a named point of the writer's work.
DYING = """
import os, signal, sys
from contextlib import contextmanager
from agentic_os.aggregate.refresh import intake, surfaces
from agentic_os.aggregate.store import database, space
from agentic_os.cli.entry import main

point, number = sys.argv[1], int(sys.argv[2])
left = number

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def counted(real):
    def wrapped(*arguments, **named):
        global left
        left -= 1
        if left < 0:
            die()
        return real(*arguments, **named)
    return wrapped

if point == "record":
    space.publish = counted(space.publish)
elif point == "schema":
    real = database._statements
    def statements(script):
        for at, statement in enumerate(real(script)):
            if at == number:
                die()
            yield statement
    database._statements = statements
elif point == "file":
    intake.parse_file = counted(intake.parse_file)
else:
    real_transaction = surfaces.transaction
    @contextmanager
    def transaction(connection):
        with real_transaction(connection):
            yield
            if point == "before commit":
                die()
        die()
    surfaces.transaction = transaction
sys.exit(main(sys.argv[3:]))
"""


def write(fleet: FleetBuilder, number: int, *, keep: int = PROJECTS) -> None:
    """Bring every file of the fleet to the state ``number``."""
    for at in range(keep):
        project = fleet.project(f"p{at}", "obsidian-graphify" if at < 2 else "obsidian-only")
        project.index("".join(f"- [Fact {n}](f{n}.md)\n" for n in range(FACTS)))
        project.note("note.md", f"# Note {number}\n\nWritten in round {number}.\n")
        if at < 2:
            project.write("graphify-out/graph.json", graph(number))
        for fact in range(FACTS):
            project.fact(f"f{fact}", f"Round {number} says getUserName{fact} is {number * fact}.")


def graph(number: int) -> str:
    """A code graph of its own for each state."""
    nodes = [
        {"id": f"n{each}", "label": f"f{each}_{number}()", "source_file": "a.py"}
        for each in range(40)
    ]
    links = [
        {"source": f"n{each}", "target": f"n{(each * 7 + number) % 40}", "relation": "calls"}
        for each in range(40)
    ]
    return json.dumps({"nodes": nodes, "links": links})


def dies(point: str, number: int, root: Path) -> None:
    command = (sys.executable, "-c", DYING, point, str(number))
    finished = run("aggregate", "--root", root, command=command)
    assert finished.code == -signal.SIGKILL, (finished.code, finished.words)


def generation(person: Person, root: Path) -> int | None:
    store = open_store(space_for(Path(person.environ["AGENTIC_OS_CACHE_DIR"]), [root]))
    if store is None:
        return None
    try:
        return store.generation
    finally:
        store.close()


@pytest.mark.parametrize(
    ("point", "number", "after"),
    [
        ("record", 0, None),
        ("schema", 0, None),
        ("schema", 6, None),
        ("file", 0, 0),
        ("file", 200, 0),
        ("before commit", 0, 0),
        ("after commit", 0, 1),
    ],
)
def test_killed_in_the_first_run(
    fleet: FleetBuilder,
    person: Person,
    tmp_path: Path,
    point: str,
    number: int,
    after: int | None,
) -> None:
    write(fleet, 1)

    dies(point, number, fleet.root)

    assert generation(person, fleet.root) == after
    assert opened(person, fleet.root) == fresh(person, fleet.root, tmp_path / "other")


@pytest.mark.parametrize(
    ("point", "number", "after"),
    [("file", 0, 1), ("file", 200, 1), ("before commit", 0, 1), ("after commit", 0, 2)],
)
def test_killed_in_a_later_run(
    fleet: FleetBuilder, person: Person, tmp_path: Path, point: str, number: int, after: int
) -> None:
    write(fleet, 1)
    opened(person, fleet.root)
    write(fleet, 2)
    (fleet.root / "p0/.agents/memory/f3.md").unlink()

    dies(point, number, fleet.root)

    assert generation(person, fleet.root) == after
    assert opened(person, fleet.root) == fresh(person, fleet.root, tmp_path / "other")


def test_killed_at_random_moments(fleet: FleetBuilder, person: Person, tmp_path: Path) -> None:
    dice = random.Random(5)
    write(fleet, 0)
    started = time.monotonic()
    assert run("aggregate", "--root", fleet.root).code == 0
    usual = time.monotonic() - started
    killed = 0
    for number in range(1, ROUNDS + 1):
        write(fleet, number, keep=dice.randint(PROJECTS // 2, PROJECTS))
        process = subprocess.Popen(
            [*MODULE, "aggregate", "--root", str(fleet.root)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(dice.uniform(0, usual))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        # Whatever it came to, the store can be opened at once, and by a command.
        assert generation(person, fleet.root) is not None
        if number % 4 == 0:
            assert run("search", "getUserName3", "--root", fleet.root).code == 0

    assert killed
    assert opened(person, fleet.root) == fresh(person, fleet.root, tmp_path / "other")
