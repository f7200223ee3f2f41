"""A fleet that is looked at by one thread and asked by many."""

import shutil
import threading

import pytest

from agentic_os.aggregate import standing
from agentic_os.aggregate import workspace as workspace_module
from agentic_os.aggregate.standing import StandingFleet
from agentic_os.aggregate.workspace import Look, Person
from agentic_os.errors import RootMissingError
from support.fleet.builder import FleetBuilder


def facts(fleet: StandingFleet) -> int:
    with fleet.workspace() as workspace:
        query = "SELECT count(*) FROM document WHERE kind = 'memory'"
        return int(workspace.store.connection.execute(query).fetchone()[0])


def test_a_question_looks_at_nothing_after_the_first(fleet: FleetBuilder, person: Person) -> None:
    project = fleet.project("shop")
    project.fact("one", "text")
    asked = StandingFleet(person, [str(fleet.root)])
    assert asked.age() is None
    assert facts(asked) == 1
    project.fact("two", "text")
    assert facts(asked) == 1
    asked.look()
    assert facts(asked) == 2
    age = asked.age()
    assert age is not None
    assert age >= 0


def test_questions_that_come_at_once_share_the_first_look(
    fleet: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.project("shop").fact("one", "text")
    looks: list[int] = []
    real = workspace_module.look

    def counted(*arguments: object, **named: object) -> Look:
        looks.append(1)
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(standing, "look", counted)
    asked = StandingFleet(person, [str(fleet.root)])
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(facts(asked))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 6
    assert len(looks) == 1


def test_a_look_that_fails_leaves_the_last_one(fleet: FleetBuilder, person: Person) -> None:
    fleet.project("shop").fact("one", "text")
    asked = StandingFleet(person, [str(fleet.root)])
    assert facts(asked) == 1
    fleet.root.rename(fleet.root.with_name("gone"))
    with pytest.raises(RootMissingError):
        asked.look()
    assert facts(asked) == 1


def kept(fleet: StandingFleet) -> tuple[int, list[str]]:
    with fleet.kept() as workspace:
        query = "SELECT count(*) FROM document WHERE kind = 'memory'"
        count = int(workspace.store.connection.execute(query).fetchone()[0])
        return count, [item.code for item in workspace.warnings]


def test_a_small_fleet_is_looked_at_for_each_question(fleet: FleetBuilder, person: Person) -> None:
    project = fleet.project("shop")
    project.fact("one", "text")
    asked = StandingFleet(person, [str(fleet.root)])
    assert kept(asked) == (1, [])
    project.fact("two", "text")
    assert kept(asked) == (2, [])


def test_a_large_fleet_is_looked_at_beside_the_questions_which_say_its_age(
    fleet: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "SMALL_FLEET_PROJECTS", 0)
    turn, slept = threading.Semaphore(0), threading.Semaphore(0)

    def rest(_seconds: float) -> None:
        slept.release()
        assert turn.acquire(timeout=60)

    now = [100.0]
    project = fleet.project("shop")
    project.fact("one", "text")
    asked = StandingFleet(person, [str(fleet.root)], clock=lambda: now[0], rest=rest)
    assert kept(asked) == (1, [])
    project.fact("two", "text")
    assert kept(asked) == (1, []), "the last look ended this very moment"
    now[0] += 7
    with asked.kept() as workspace:
        (told,) = workspace.warnings
    assert told.code == "FLEET_AGE"
    assert "7 s ago" in told.message
    assert slept.acquire(timeout=60)
    turn.release()
    assert slept.acquire(timeout=60), "it looked, and rests again"
    assert kept(asked) == (2, [])

    # Nobody asks for a while: the thread looks a last time and ends; the next question looks.
    now[0] += standing.WANTED_SECONDS
    (keeper,) = [one for one in threading.enumerate() if one.name == "fleet-look"]
    turn.release()
    keeper.join(timeout=60)
    assert not keeper.is_alive()
    project.fact("three", "text")
    assert kept(asked) == (3, [])
    now[0] += standing.WANTED_SECONDS
    turn.release()


def test_a_store_that_was_deleted_under_a_large_fleet_is_made_anew(
    fleet: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "SMALL_FLEET_PROJECTS", 0)
    ended = threading.Event()

    def rest(_seconds: float) -> None:
        ended.wait(60)

    fleet.project("shop").fact("one", "text")
    asked = StandingFleet(person, [str(fleet.root)], rest=rest)
    assert kept(asked)[0] == 1
    with asked.kept() as workspace:
        space = workspace.store.space
    shutil.rmtree(space.folder)
    assert kept(asked)[0] == 1
    (keeper,) = [one for one in threading.enumerate() if one.name == "fleet-look"]
    monkeypatch.setattr(standing, "WANTED_SECONDS", 0.0)
    ended.set()
    keeper.join(timeout=60)
