"""A fleet that is looked at by one thread and asked by many."""

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
