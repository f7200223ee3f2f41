"""The checks of the AIOS folder: a bad file is named with its line and what mends it."""

import json
from pathlib import Path

import pytest

from agentic_os.aggregate.workspace import Person
from agentic_os.doctor.folder import examine_folder
from agentic_os.files.places import places_from
from agentic_os.results import Check
from agentic_os.server.scope.aios import person_access
from agentic_os.settings.editing import add_grant
from agentic_os.settings.values import Grant
from support.aios.builder import AiosBuilder


@pytest.fixture
def folder(places: Path) -> AiosBuilder:
    (places / "aios").mkdir()
    return AiosBuilder(places / "aios").complete()


def found(person: Person, places: Path) -> dict[str, Check]:
    access = person_access(person.environ, person.home)
    return {check.id: check for check in examine_folder(access, places / "aios")}


def test_a_sound_folder_is_well(person: Person, places: Path, folder: AiosBuilder) -> None:
    checks = found(person, places)

    assert folder.root.is_dir()
    assert {check.status for check in checks.values()} == {"ok"}


def test_without_a_folder_there_is_nothing_to_check(person: Person, places: Path) -> None:
    checks = found(person, places)

    assert all(check.message.startswith("nothing to check") for check in checks.values())


def test_a_slip_in_one_readme_is_named(person: Person, places: Path, folder: AiosBuilder) -> None:
    folder.write("projects/zeta/README.md", "---\nid: Z1\nname: a: b\n---\n# Z\n")

    check = found(person, places)["aios.context"]

    assert (check.status, check.path, check.line) == ("fail", "projects/zeta/README.md", 3)
    assert "quotes" in check.hint


def test_a_vault_elsewhere_needs_a_grant(
    person: Person, places: Path, folder: AiosBuilder, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    stated = {"schema_version": "1.2.0", "vault_path": str(vault)}
    folder.write("aios.json", json.dumps(stated))

    before = found(person, places)["aios.vault"]
    grant = Grant(project="aios-vault", endpoint=str(vault))
    add_grant(places_from(person.environ), grant, home=person.home)
    after = found(person, places)["aios.vault"]

    assert (before.status, after.status) == ("warn", "ok")
    assert "grant-vault" in before.hint
    assert str(vault) not in before.message


def test_settings_that_cannot_be_read_are_said(
    person: Person, places: Path, folder: AiosBuilder
) -> None:
    config = Path(person.environ["AGENTIC_OS_CONFIG_DIR"])
    config.mkdir()
    (config / "projects.toml").write_text("[")

    (check,) = found(person, places).values()

    assert folder.root.is_dir()
    assert check.status == "fail"


COPIES = (
    "memory/events (conflicted copy 2026-03-04).jsonl",
    "memory/events.sync-conflict-20260304-101112-ABCDEFG.jsonl",
    "memory/events 2.jsonl",
    "memory/signals/2026-03-04 (Ann's conflicted copy).jsonl",
    "memory/daily/2026-03-04 2.md",
    "memory/daily/2026-03-04-HOST.md",
)


def test_what_a_sync_tool_left_beside_logs_and_notes_is_named(
    person: Person, places: Path, folder: AiosBuilder
) -> None:
    for path in ("memory/events.jsonl", "memory/signals/2026-03-04.jsonl"):
        folder.write(path, "")
    folder.write("memory/daily/2026-03-04.md", "# Day\n")
    folder.write("memory/daily/README.md", "# Notes\n")
    assert found(person, places)["aios.copies"].status == "ok"
    for path in COPIES:
        folder.write(path, "kept\n")

    access = person_access(person.environ, person.home)
    named = [one for one in examine_folder(access, places / "aios") if one.id == "aios.copies"]

    assert {one.path for one in named} == set(COPIES)
    assert {one.status for one in named} == {"warn"}
    assert all((folder.root / path).read_text() == "kept\n" for path in COPIES)
