"""Which files a project's surfaces come to, and what is said of those that are not read."""

import os
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.aggregate.refresh.freshness import digest_now
from agentic_os.aggregate.surfaces import sweep as sweeping
from agentic_os.aggregate.surfaces.documents import Role
from agentic_os.aggregate.surfaces.sweep import (
    LIMIT_BYTES,
    MEMORY_DEPTH_FOLDERS,
    VAULT_DEPTH_FOLDERS,
    Candidate,
    outline,
    sweep,
)
from agentic_os.errors import FilesError
from agentic_os.files import reading
from agentic_os.files.reading import Folder
from agentic_os.text.fencing import one_line
from support.fleet.builder import FleetBuilder, ProjectBuilder


def swept(person: Person, fleet: FleetBuilder) -> tuple[dict[str, Role], dict[str, str]]:
    """Roles of the candidates and codes of the rest, by path."""
    (project,) = find_fleet(person, [str(fleet.root)]).fleet.projects
    roles: dict[str, Role] = {}
    codes: dict[str, str] = {}
    with Folder.open(project.folder) as folder:
        for found in sweep(project, folder):
            if isinstance(found, Candidate):
                assert found.path.endswith(found.name)
                roles[found.path] = found.role
            else:
                codes[found.diagnostic.path or ""] = found.diagnostic.code
    return roles, codes


@pytest.fixture
def project(fleet: FleetBuilder) -> ProjectBuilder:
    return fleet.project("p", "obsidian-only")


def test_every_surface_by_its_role(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    for path in (
        ".agents/memory/MEMORY.md",
        ".agents/memory/fact.md",
        ".agents/memory/SHOUTED.MD",
        ".agents/memory/README.md",
        ".agents/memory/schema.md",
        ".agents/memory/.hidden.md",
        ".agents/memory/fact.md.new",
        ".agents/memory/fact.txt",
        ".agents/memory/.gitkeep",
        ".agents/memory/.obsidian/x.md",
        ".agents/memory/below/MEMORY.md",
        ".agents/memory/below/deep.markdown",
        ".agents/vault/log.md",
        ".agents/vault/a/b/note.md",
        ".agents/vault/README.md",
        ".agents/vault/templates/t.md",
        ".agents/vault/.obsidian/x.md",
        ".agents/vault/picture.png",
        ".agents/CAPABILITIES.md",
        ".mcp.json",
        "README.md",
    ):
        project.write(path, "text")

    roles, codes = swept(person, fleet)

    assert codes == dict.fromkeys(
        (
            ".agents/memory/.hidden.md",
            ".agents/memory/.obsidian",
            ".agents/memory/fact.md.new",
            ".agents/memory/fact.txt",
        ),
        "MEMORY_FILE_NOT_READ",
    )
    assert roles == {
        ".agents/memory/MEMORY.md": Role.INDEX,
        ".agents/memory/README.md": Role.FACT,
        ".agents/memory/SHOUTED.MD": Role.FACT,
        ".agents/memory/below/MEMORY.md": Role.FACT,
        ".agents/memory/below/deep.markdown": Role.FACT,
        ".agents/memory/schema.md": Role.FACT,
        ".agents/memory/fact.md": Role.FACT,
        ".agents/vault/log.md": Role.NOTE,
        ".agents/vault/a/b/note.md": Role.NOTE,
        ".agents/CAPABILITIES.md": Role.CAPABILITIES,
        ".mcp.json": Role.TOOLING,
    }


def test_what_is_no_plain_file_is_said(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder, tmp_path: Path
) -> None:
    memory = project.write(".agents/memory/good.md", "text").parent
    vault = project.note("good.md", "text").parent
    (tmp_path / "secret.md").write_text("secret")
    for folder in (memory, vault):
        (folder / "link.md").symlink_to(tmp_path / "secret.md")
        (folder / "folder.md").mkdir()
        os.mkfifo(folder / "fifo.md")
        (folder / os.fsdecode(b"od\xff.md")).write_text("text")
    (vault / "linked-folder").symlink_to(tmp_path)
    (memory / "linked-folder").symlink_to(tmp_path)
    (vault / "linked.png").symlink_to(tmp_path / "secret.md")
    (memory / "large.md").write_bytes(b"x" * (LIMIT_BYTES[Role.FACT] + 1))
    (memory / "fits.md").write_bytes(b"x" * LIMIT_BYTES[Role.FACT])
    os.mkfifo(project.folder / ".mcp.json")

    roles, codes = swept(person, fleet)

    assert set(roles) == {
        ".agents/memory/good.md",
        ".agents/memory/fits.md",
        ".agents/vault/good.md",
    }
    assert codes == {
        ".agents/memory/link.md": "LINK_REFUSED",
        ".agents/memory/fifo.md": "NOT_REGULAR",
        ".agents/memory/large.md": "FILE_TOO_LARGE",
        ".agents/memory/od<U+DCFF>.md": "NAME_NOT_UTF8",
        ".agents/memory/folder.md": "NOT_REGULAR",
        ".agents/memory/linked-folder": "LINK_REFUSED",
        ".agents/vault/link.md": "LINK_REFUSED",
        ".agents/vault/fifo.md": "NOT_REGULAR",
        ".agents/vault/od<U+DCFF>.md": "NAME_NOT_UTF8",
        ".agents/vault/linked-folder": "LINK_REFUSED",
        ".mcp.json": "NOT_REGULAR",
    }


def test_bounds_are_said(
    person: Person,
    fleet: FleetBuilder,
    project: ProjectBuilder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(5):
        project.write(f".agents/memory/f{number}.md", "text")
        project.note(f"n{number}.md", "text")
    monkeypatch.setattr(sweeping, "MEMORY_LIMIT_ENTRIES", 3)
    monkeypatch.setattr(sweeping, "VAULT_LIMIT_ENTRIES", 4)

    roles, codes = swept(person, fleet)

    assert sorted(roles.values()) == [Role.FACT] * 3 + [Role.NOTE] * 4
    assert codes == {
        ".agents/memory": "TOO_MANY_ENTRIES",
        ".agents/vault": "TOO_MANY_ENTRIES",
    }


def test_a_vault_is_walked_only_so_deep(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    deep = "/".join(f"d{number}" for number in range(VAULT_DEPTH_FOLDERS + 1))
    project.note("top.md", "text")
    project.note(f"{deep}/note.md", "text")

    roles, codes = swept(person, fleet)

    assert set(roles) == {".agents/vault/top.md"}
    assert codes == {f".agents/vault/{deep}": "VAULT_TOO_DEEP"}


def test_a_memory_is_walked_only_so_deep(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    deep = "/".join(f"d{number}" for number in range(MEMORY_DEPTH_FOLDERS + 1))
    project.write(f".agents/memory/{deep}/fact.md", "text")

    roles, codes = swept(person, fleet)

    assert roles == {}
    assert codes == {f".agents/memory/{deep}": "MEMORY_TOO_DEEP"}


def test_a_vault_inside_the_memory_is_walked_once(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write(
        ".agents/config.yaml",
        "project:\n  name: p\nmemory:\n  stack: obsidian-only\n"
        "  memory_path: notes\n  vault_path: notes/vault\n",
    )
    project.write("notes/fact.md", "text")
    project.write("notes/vault/note.md", "text")

    roles, codes = swept(person, fleet)

    assert codes == {}
    assert roles == {"notes/fact.md": Role.FACT, "notes/vault/note.md": Role.NOTE}


_NAMES = st.text("aA.é\u0301-_ ", min_size=1, max_size=6).filter(lambda name: name.strip(".") != "")
_ENDINGS = st.sampled_from(["", ".md", ".MD", ".markdown", ".txt", ".md.new", ".json"])


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sets(
        st.lists(_NAMES, min_size=1, max_size=3).flatmap(
            lambda parts: _ENDINGS.map(lambda end: "/".join(parts) + end)
        ),
        max_size=6,
    )
)
def test_no_file_of_a_memory_is_neither_read_nor_named(
    person: Person, tmp_path_factory: pytest.TempPathFactory, paths: set[str]
) -> None:
    root = tmp_path_factory.mktemp("fleet")
    builder = FleetBuilder(root=root).project("p", "obsidian-only")
    written = set()
    for path in sorted(paths):
        file = builder.folder / ".agents/memory" / path
        with suppress(OSError):  # one name is a file and a folder: the first one stays
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("text")
            written.add(file)

    (found,) = find_fleet(person, [str(root)]).fleet.projects
    with Folder.open(found.folder) as folder:
        told = {
            each.path if isinstance(each, Candidate) else each.diagnostic.path
            for each in sweep(found, folder)
        }

    for file in written:
        place = file.relative_to(builder.folder)
        names = {one_line(str(part)) for part in (place, *place.parents)}
        assert told & names, place


def test_surfaces_that_vanish_meanwhile(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder, tmp_path: Path
) -> None:
    project.fact("f", "text")
    project.note("n.md", "text")
    (found,) = find_fleet(person, [str(fleet.root)]).fleet.projects
    (project.folder / ".agents/memory").rename(tmp_path / "memory")
    (project.folder / ".agents/vault").rename(tmp_path / "vault")
    (project.folder / ".agents/vault").symlink_to(tmp_path / "vault")

    with Folder.open(found.folder) as folder:
        codes = [each.diagnostic.code for each in sweep(found, folder)]  # type: ignore[union-attr]

    assert codes == ["FILE_MISSING", "LINK_REFUSED"]


def test_folders_that_cannot_be_listed(
    person: Person,
    fleet: FleetBuilder,
    project: ProjectBuilder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project.fact("f", "text")
    project.note("n.md", "text")

    def refused(*_: object, **__: object) -> None:
        raise FilesError("not now", code="FILE_UNREADABLE")

    monkeypatch.setattr(Folder, "entries", refused)
    roles, codes = swept(person, fleet)

    assert roles == {}
    assert codes == {
        ".agents": "FILE_UNREADABLE",
        ".agents/memory": "FILE_UNREADABLE",
        ".agents/vault": "FILE_UNREADABLE",
    }


def test_names_that_cannot_be_looked_at(
    person: Person,
    fleet: FleetBuilder,
    project: ProjectBuilder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that vanished between listing and stat comes without a fingerprint."""
    project.fact("f", "text")
    monkeypatch.setattr(reading, "_entry_fingerprint", lambda _: None)

    roles, codes = swept(person, fleet)

    assert roles == {}
    assert codes == {".agents/memory/f.md": "FILE_UNREADABLE"}


def test_an_opted_out_project_has_only_its_inventory(person: Person, fleet: FleetBuilder) -> None:
    project = fleet.project("p", None)
    project.fact("f", "text")
    project.note("n.md", "text")
    project.capabilities()

    roles, codes = swept(person, fleet)

    assert (set(roles), codes) == ({".agents/CAPABILITIES.md"}, {})


def test_a_layout_that_is_a_plain_file(person: Person, fleet: FleetBuilder) -> None:
    project = fleet.project("p", layout=".claude")
    project.write(".agents", "../elsewhere")
    project.capabilities()

    roles, codes = swept(person, fleet)

    assert (set(roles), codes) == ({".claude/CAPABILITIES.md"}, {})


Noted = list[tuple[str, object]]


def outlines(person: Person, fleet: FleetBuilder) -> tuple[Noted, Noted, bool]:
    """What a sweep and an outline note of the one project, and whether the latter was whole."""
    (project,) = find_fleet(person, [str(fleet.root)]).fleet.projects
    by_sweep: Noted = []
    by_outline: Noted = []
    with Folder.open(project.folder) as folder:
        for _ in sweep(project, folder, lambda path, seen: by_sweep.append((path, seen))):
            pass
        whole = outline(project, folder, lambda path, seen: by_outline.append((path, seen)))
    return by_sweep, by_outline, whole


def test_an_outline_is_what_a_sweep_lists(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    for path in (
        ".agents/memory/MEMORY.md",
        ".agents/memory/fact.md",
        ".agents/memory/below/deep.md",
        ".agents/vault/a/b/note.md",
        ".agents/vault/c.md",
        ".agents/vault/templates/t.md",
        ".agents/vault/.obsidian/x.md",
        "/".join([".agents/vault", *(f"d{n}" for n in range(VAULT_DEPTH_FOLDERS + 2)), "n.md"]),
        ".agents/CAPABILITIES.md",
    ):
        project.write(path, "text\n")
    (project.folder / ".agents/memory/linked.md").symlink_to("fact.md")
    (project.folder / ".agents/vault/linked").symlink_to("a")
    os.mkfifo(project.folder / ".agents/memory/pipe.md")

    by_sweep, by_outline, whole = outlines(person, fleet)

    assert whole
    assert msgspec.json.encode(by_outline) == msgspec.json.encode(by_sweep)
    assert [path for path, _ in by_outline] == [
        ".agents/memory",
        ".agents/memory/below",
        ".agents",
        ".agents/vault",
        ".agents/vault/a",
        ".agents/vault/a/b",
        *("/".join([".agents/vault", *(f"d{n}" for n in range(end))]) for end in range(1, 25)),
        ".agents/CAPABILITIES.md",
    ]


@pytest.mark.parametrize("limit", ["MEMORY_LIMIT_ENTRIES", "VAULT_LIMIT_ENTRIES"])
def test_an_outline_that_is_cut_is_not_whole(
    person: Person,
    fleet: FleetBuilder,
    project: ProjectBuilder,
    limit: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("memory/MEMORY.md", "memory/fact.md", "vault/a.md", "vault/b.md"):
        project.write(f".agents/{name}", "text\n")
    monkeypatch.setattr(sweeping, limit, 2)
    assert outlines(person, fleet)[2]
    project.write(".agents/memory/other.md", "text\n")
    project.write(".agents/vault/c.md", "text\n")

    assert not outlines(person, fleet)[2]


def test_what_cannot_be_listed_is_not_whole(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(".agents/memory/MEMORY.md", "text\n")
    project.write(".agents/vault/a.md", "text\n")

    def refuse(_self: Folder, **_: object) -> None:
        raise FilesError("no", code="FILE_UNREADABLE")

    monkeypatch.setattr(Folder, "outline", refuse)

    assert not outlines(person, fleet)[2]


def test_a_name_that_is_no_text_has_no_digest(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write(".agents/memory/MEMORY.md", "text\n")
    (found,) = find_fleet(person, [str(fleet.root)]).fleet.projects
    assert digest_now(found) is not None

    Path(os.fsdecode(os.fsencode(project.folder) + b"/.agents/memory/\xff.md")).touch()

    assert digest_now(found) is None
