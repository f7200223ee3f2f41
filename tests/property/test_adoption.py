"""Adoption over drawn trees: an opt-out is never read, nothing is written, order is no matter."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.aggregate import questions
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.settings.selection import command_line_roots
from support.fleet.builder import ProjectBuilder, descriptor
from support.fleet.conventions import FIXTURES

FORMS = sorted(FIXTURES)
_UNION = """
SELECT project.id, file.path, document.kind, document.name, document.body
FROM document JOIN file ON file.pk = document.file JOIN project ON project.pk = document.project
ORDER BY 1, 2, 3, 4, 5
"""
_TOOLS = "SELECT section, name, detail FROM capability ORDER BY 1, 2, 3"
Files = Mapping[str, str]
Repositories = Mapping[str, Files]


def files_of(forms: list[str]) -> Files:
    """The files of some rows; of two names for one file the first is written."""
    files: dict[str, str] = {}
    for form in forms:
        path = FIXTURES[form].path
        apart = (not f"{other}/".startswith(f"{path}/") for other in files)
        if all(apart) and all(not path.startswith(f"{other}/") for other in files):
            files[path] = FIXTURES[form].text
    return files


repositories = st.dictionaries(
    st.sampled_from(["alpha", "beta", "gamma"]),
    st.lists(st.sampled_from(FORMS), max_size=8, unique=True).map(files_of),
    min_size=1,
)


def write(root: Path, drawn: Repositories, *, backwards: bool = False) -> None:
    """Write repositories; file systems list in the order of writing."""
    for name, files in sorted(drawn.items(), reverse=backwards):
        builder = ProjectBuilder(folder=root / name)
        builder.write(".git/HEAD", "ref: refs/heads/main\n")
        for path, text in sorted(files.items(), reverse=backwards):
            builder.write(path, text)


def held(person: Person, root: Path, *, adopt: bool = True) -> tuple[object, ...]:
    """All that the store holds of the fleet."""
    with open_workspace(person, command_line_roots([str(root)], adopt=adopt)) as workspace:
        run = workspace.store.connection.execute
        rows = [(row[0].rpartition("-")[0], *row[1:]) for row in run(_UNION)]
        facts = questions.memory(workspace).data.total
        return sorted(rows), list(run(_TOOLS)), facts


def person_in(folder: Path) -> Person:
    environ = {
        f"AGENTIC_OS_{name}_DIR": str(folder / name.lower())
        for name in ("CONFIG", "DATA", "CACHE", "STATE")
    }
    return Person(environ=environ, home=folder / "home", current=folder)


def snapshot(root: Path) -> list[tuple[str, int, int]]:
    return sorted(
        (str(path), path.lstat().st_size, path.lstat().st_mtime_ns) for path in root.rglob("*")
    )


@settings(deadline=None, max_examples=25)
@given(drawn=repositories)
def test_the_same_whichever_order_and_nothing_is_written(drawn: Repositories) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        write(folder / "one", drawn)
        write(folder / "two", drawn, backwards=True)
        before = snapshot(folder / "one")
        first = held(person_in(folder / "p"), folder / "one")
        assert first == held(person_in(folder / "q"), folder / "two")
        assert first == held(person_in(folder / "p"), folder / "one")
        assert snapshot(folder / "one") == before


@settings(deadline=None, max_examples=25)
@given(drawn=repositories, stack=st.sampled_from(["none", None]))
def test_adoption_reads_nothing_of_what_is_opted_out(
    drawn: Repositories, stack: str | None
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        root = folder / "fleet"
        write(root, drawn)
        for own in drawn:
            ProjectBuilder(folder=root / own).write(
                ".agents/config.yaml", descriptor(own, stack, layout=".agents")
            )
        adopted = held(person_in(folder / "p"), root)
        assert adopted == held(person_in(folder / "q"), root, adopt=False)
        rows = adopted[0]
        assert isinstance(rows, list)
        assert {row[2] for row in rows} <= {"capability"}
