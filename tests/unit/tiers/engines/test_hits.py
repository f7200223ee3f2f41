"""An engine's passages are looked up in the files; only what stands there counts."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.registry.project import Project
from agentic_os.results import Kind
from agentic_os.tiers.engines.codes import ENGINE_CODES
from agentic_os.tiers.engines.hits import FILE_LIMIT_BYTES, Placed, place_hits, relative_path
from agentic_os.tiers.engines.values import EngineHit
from support.engine.builder import engine_project
from support.fleet.builder import FleetBuilder

LINES = ["import os", "", "def lamp():", "    return 1  ", "", "def lamp():", "    return 1", ""]


@pytest.fixture
def project(fleet: FleetBuilder, person: Person) -> Project:
    built = engine_project(fleet, "shop", "ccc mcp")
    built.write("src/lamp.py", "\r\n".join(LINES))
    built.write("README.md", "# Lamp\n\nThe lamp.\n")
    built.write(".agents/memory/secret.md", "The lamp.\n")
    built.write(".agents/vault/note.md", "The lamp.\n")
    built.write(".git/config", "The lamp.\n")
    built.write(".env", "The lamp.\n")
    (found,) = find_fleet(person, [str(fleet.root)]).fleet.projects
    return found


def hit(path: str, content: str = "The lamp.", start: int = 1, end: int = 0) -> EngineHit:
    return EngineHit(path=path, start=start, end=max(start, end), content=content, score=0.5)


def placed(project: Project, *hits: EngineHit, kinds: frozenset[Kind] = frozenset()) -> Placed:
    return place_hits(project, hits, kinds)


def lines(found: Placed) -> tuple[int, int] | None:
    (candidate,) = found.candidates
    return candidate.lines


def test_a_passage_stands_where_the_engine_saw_it(project: Project) -> None:
    found = placed(project, hit("src/lamp.py", "def lamp():\n    return 1", 6, 7))

    (candidate,) = found.candidates
    data = (project.folder / "src/lamp.py").read_bytes()
    assert candidate.sha256 == hashlib.sha256(data).hexdigest()
    assert (candidate.start, candidate.end, candidate.lines) == (6, 7, (6, 7))
    assert (candidate.kind, candidate.tier, candidate.name) == ("code", 3, "lamp.py")
    assert found.dropped == {}


@pytest.mark.parametrize(
    ("content", "start", "where"),
    [
        ("def lamp():\n    return 1", 1, (3, 4)),
        ("def lamp():\r\n    return 1\r\n", 5, (6, 7)),
        ("lamp():\n    return", 3, (3, 4)),
        ("\n\n    return 1\t\n", 99, (7, 7)),
        ("import os", 0, (1, 1)),
        ("import os\n\ndef lamp():", 1, (1, 3)),
    ],
)
def test_a_passage_is_found_again_nearest_to_its_place(
    project: Project, content: str, start: int, where: tuple[int, int]
) -> None:
    assert lines(placed(project, hit("src/lamp.py", content, start))) == where


@pytest.mark.parametrize(
    ("start", "end", "where"), [(3, 4, (3, 4)), (3, 3, (3, 3)), (7, 99, (7, 8))]
)
def test_a_passage_without_text_is_its_lines(
    project: Project, start: int, end: int, where: tuple[int, int]
) -> None:
    assert lines(placed(project, hit("src/lamp.py", " \n", start, end))) == where


def test_documents_are_told_from_code_and_kinds_are_kept(project: Project) -> None:
    both = (hit("README.md"), hit("src/lamp.py", "import os"))

    assert [one.kind for one in placed(project, *both).candidates] == ["document", "code"]
    only = placed(project, *both, kinds=frozenset({"code", "memory"}))
    assert [one.path for one in only.candidates] == ["src/lamp.py"]


def test_one_place_is_one_candidate(project: Project) -> None:
    assert len(placed(project, hit("README.md"), hit("./README.md")).candidates) == 1


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../shop/README.md", "ENGINE_HIT_REFUSED"),
        ("src/../../x", "ENGINE_HIT_REFUSED"),
        ("/etc/passwd", "ENGINE_HIT_REFUSED"),
        ("~/x", "HIT_UNREADABLE"),
        (".", "ENGINE_HIT_REFUSED"),
        ("a\0b", "ENGINE_HIT_REFUSED"),
        ("src\\lamp.py", "ENGINE_HIT_REFUSED"),
        (".git/config", "ENGINE_HIT_REFUSED"),
        ("sub/.GIT/config", "ENGINE_HIT_REFUSED"),
        (".env", "ENGINE_HIT_REFUSED"),
        ("keys/id_rsa", "ENGINE_HIT_REFUSED"),
        (".agents/memory/secret.md", "ENGINE_HIT_COVERED"),
        (".Agents/Memory/secret.md", "ENGINE_HIT_COVERED"),
        (".agents/vault/note.md", "ENGINE_HIT_COVERED"),
        ("inner/.agents/memory/f.md", "ENGINE_HIT_COVERED"),
        ("inner/.claude/Vault/f.md", "ENGINE_HIT_COVERED"),
        ("gone.py", "HIT_UNREADABLE"),
        ("src", "HIT_UNREADABLE"),
        ("README.md/x", "HIT_UNREADABLE"),
        ("link.md", "HIT_UNREADABLE"),
        ("linked/README.md", "HIT_UNREADABLE"),
        ("pipe", "HIT_UNREADABLE"),
        ("large.py", "HIT_UNREADABLE"),
        ("src/lamp.py", "HIT_CHANGED"),
    ],
)
def test_what_is_not_to_be_read_or_not_there_is_dropped(
    project: Project, tmp_path: Path, path: str, code: str
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/README.md").write_text("The lamp.\n")
    (project.folder / "link.md").symlink_to(tmp_path / "outside/README.md")
    (project.folder / "linked").symlink_to(tmp_path / "outside")
    os.mkfifo(project.folder / "pipe")
    (project.folder / "large.py").write_bytes(b"The lamp.\n" * (FILE_LIMIT_BYTES // 10 + 1))

    found = placed(project, hit(path))

    assert (found.candidates, found.dropped) == ((), {code: 1})
    assert code in ENGINE_CODES or code.startswith("HIT_")


def test_lines_beyond_the_file_are_not_there(project: Project) -> None:
    assert placed(project, hit("src/lamp.py", "", 99)).dropped == {"HIT_CHANGED": 1}
    assert placed(project, hit("src/lamp.py", "", 0)).dropped == {"HIT_CHANGED": 1}


def test_absolute_paths_below_the_project_count(project: Project, tmp_path: Path) -> None:
    assert lines(placed(project, hit(str(project.folder / "README.md")))) == (3, 3)
    (tmp_path / "linked").symlink_to(project.folder)
    through = replace(project, folder=tmp_path / "linked")
    real = os.path.realpath(project.folder)
    assert lines(placed(through, hit(f"{real}/README.md"))) == (3, 3)
    assert lines(placed(through, hit(f"{tmp_path}/linked/README.md"))) == (3, 3)


def test_a_project_that_vanished(project: Project, tmp_path: Path) -> None:
    gone = replace(project, folder=tmp_path / "gone")

    assert placed(gone, hit("README.md"), hit("x")).dropped == {"HIT_UNREADABLE": 2}
    assert placed(gone).dropped == {}


def test_a_text_that_stands_everywhere_is_looked_for_within_a_bound(project: Project) -> None:
    (project.folder / "many.txt").write_text("a\n" * 100_000)

    assert lines(placed(project, hit("many.txt", "a", 50_000))) == (1_000, 1_000)


@given(st.text(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_leaves_the_project(text: str) -> None:
    found = relative_path(text, Path("/srv/project"))

    if found is not None:
        assert not found.startswith("/")
        assert ".." not in found.split("/")
        assert Path(os.path.normpath(f"/srv/project/{found}")).is_relative_to("/srv/project")
