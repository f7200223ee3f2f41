"""Every row of the tables is read from a fixture of its own: a row without one fails here."""

import msgspec
import pytest

from agentic_os.aggregate.surfaces.documents import Instruction
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.registry.conventions.matching import Convention
from agentic_os.registry.conventions.tables import ALL, convention_of
from agentic_os.settings.selection import command_line_roots
from support.fleet.builder import FleetBuilder, ProjectBuilder
from support.fleet.conventions import FIXTURES
from support.fleet.git_repository import git

_NAMES = """
SELECT document.name FROM document JOIN file ON file.pk = document.file
WHERE file.path = ? AND document.kind <> 'capability' ORDER BY line_start
"""
_ROWS = "SELECT name, detail FROM capability JOIN file ON file.pk = capability.file ORDER BY name"


def written(fleet: FleetBuilder, *files: tuple[str, str]) -> None:
    project = ProjectBuilder(folder=fleet.root / "one")
    project.folder.mkdir()
    git(project.folder, "init", "-q")
    for path, text in files:
        project.write(path, text)


def test_every_row_has_a_fixture() -> None:
    assert set(FIXTURES) == {row.form for row in ALL}


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.form)
def test_a_row(person: Person, fleet: FleetBuilder, row: Convention) -> None:
    form = row.form
    fixture = FIXTURES[form]
    written(fleet, (fixture.path, fixture.text))
    found = convention_of(fixture.path)
    assert found is not None
    assert found.form == form
    with open_workspace(person, command_line_roots([str(fleet.root)], adopt=True)) as opened:
        run = opened.store.connection.execute
        (project,) = opened.fleet.projects
        assert (project.described, opened.unread().omissions) == (False, ())
        if found.surface == "capabilities":
            names = {name for name, _ in run(_ROWS)}
            assert not [detail for _, detail in run(_ROWS) if "s3" in detail or "--key" in detail]
        else:
            names = {name for (name,) in run(_NAMES, (fixture.path,))}
            assert project.tier == 0
        assert names == set(fixture.names)
        values = [value for (value,) in run("SELECT value FROM instruction")]
        if found.surface == "instructions":
            about = msgspec.json.decode(values[0], type=Instruction)
            assert (about.folder, about.patterns, about.activation) == fixture.scope
            assert (about.form, about.harness) == (form, found.harness)
        else:
            assert values == []
