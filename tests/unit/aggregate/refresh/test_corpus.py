"""Which files the corpus takes, and that it changes with them."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentic_os.aggregate.refresh import corpus, corpus_files
from agentic_os.aggregate.refresh.corpus import (
    CorpusRefreshed,
    corpus_projects,
    left_out_files,
    refresh_corpus,
    was_built,
)
from agentic_os.aggregate.refresh.intake import Intake
from agentic_os.aggregate.store.database import Store, open_store, writing
from agentic_os.aggregate.surfaces.sources import Passage, chunk_ids, text_hash
from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.code import languages, reading
from agentic_os.errors import FilesError
from agentic_os.files.reading import FileRead, Folder
from support.fleet.builder import FleetBuilder, ProjectBuilder, descriptor
from support.fleet.git_repository import git, listed, repository
from support.fleet.languages import SOURCES

RAG = "obsidian-graphify-rag"


@dataclass(frozen=True)
class Built:
    result: CorpusRefreshed
    files: dict[str, str]
    names: list[tuple[str, str, str, int, int]]


def build(person: Person, root: Path, *, everyone: bool = False, **more: Any) -> Built:
    """One ``index build``, and what the store holds afterwards."""
    with opened(person, root) as workspace:
        space, fleet, redactor = workspace.store.space, workspace.fleet, workspace.redactor
    with writing(space) as store:
        result = refresh_corpus(store, fleet, redactor, everyone=everyone, home=person.home, **more)
    read = open_store(space)
    assert read is not None
    try:
        return Built(result, files(read), passages(read))
    finally:
        read.close()


@contextmanager
def opened(person: Person, root: Path) -> Iterator[Workspace]:
    with open_workspace(person, [str(root)]) as workspace:
        yield workspace


def files(store: Store) -> dict[str, str]:
    rows = store.connection.execute(
        "SELECT path, role FROM file WHERE role IN ('source', 'document')"
    )
    return dict(rows.fetchall())


def passages(store: Store) -> list[tuple[str, str, str, int, int]]:
    return store.connection.execute(
        "SELECT document.kind, file.path, document.name, line_start, line_end FROM document"
        " JOIN file ON file.pk = document.file WHERE document.kind IN ('code', 'document')"
        " ORDER BY file.path, line_start"
    ).fetchall()


@pytest.fixture
def project(fleet: FleetBuilder) -> ProjectBuilder:
    built = fleet.project("p", RAG)
    built.fact("f", "lighthouse")
    built.index("- [F](f.md)\n")
    built.note("n.md", "# Note\n\ntext\n")
    built.capabilities(skills={"s": "does"})
    return built


def test_sources_and_documents_are_taken_and_other_surfaces_are_not(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write("src/a.py", "import os\n\ndef f():\n    pass\n")
    project.write("docs/guide.md", "# Guide\n\ntext\n")
    built = build(person, fleet.root)

    assert built.files == {"src/a.py": "source", "docs/guide.md": "document"}
    assert built.names == [
        ("document", "docs/guide.md", "Guide", 1, 3),
        ("code", "src/a.py", "a.py", 1, 1),
        ("code", "src/a.py", "f", 3, 4),
    ]
    assert (built.result.files, built.result.passages) == (2, 3)
    assert built.result.changed
    assert len(built.result.projects) == 1


def test_only_projects_with_an_index_are_taken_unless_all_are_asked_for(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write("a.py", "x = 1\n")
    fleet.project("lower", "obsidian-graphify").write("b.py", "x = 1\n")
    fleet.project("none", "none").write("c.py", "x = 1\n")
    fleet.project("bare", None).write("d.py", "x = 1\n")

    assert set(build(person, fleet.root).files) == {"a.py"}
    assert set(build(person, fleet.root, everyone=True).files) == {"a.py", "b.py"}
    assert set(build(person, fleet.root).files) == {"a.py"}


def test_a_project_that_opts_out_loses_its_sources_at_once(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write("a.py", "x = 1\n")
    build(person, fleet.root)
    project.write(".agents/config.yaml", descriptor("p", "none"))

    with opened(person, fleet.root) as workspace:
        assert files(workspace.store) == {}


def test_a_search_keeps_sources_and_does_not_look_at_them(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    target = project.write("a.py", "x = 1\n")
    build(person, fleet.root)
    target.unlink()

    with opened(person, fleet.root) as workspace:
        assert files(workspace.store) == {"a.py": "source"}
    assert build(person, fleet.root).files == {}


def test_an_unchanged_project_is_listed_and_not_read(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.py", "b.md"):
        target = project.write(name, "x = 1\n")
        os.utime(target, (1, 1))
    monkeypatch.setattr("agentic_os.files.fingerprints.SETTLE_NS", -(10**18))
    build(person, fleet.root)
    again = build(person, fleet.root).result

    assert (again.files_read, again.files_removed, again.changed) == (0, 0, False)


def test_one_changed_file_is_read_and_replaced(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentic_os.files.fingerprints.SETTLE_NS", -(10**18))
    project.write("a.py", "def f(): pass\n")
    project.write("b.py", "def g(): pass\n")
    build(person, fleet.root)
    project.write("a.py", "def changed(): pass\n\ndef more(): pass\n")
    again = build(person, fleet.root)

    assert again.result.files_read == 1
    assert [name for _, _, name, _, _ in again.names] == ["changed", "more", "g"]


def test_a_file_that_another_surface_takes_is_taken_from_the_corpus(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write("notes/n.md", "# N\n")
    assert build(person, fleet.root).files == {"notes/n.md": "document"}
    text = descriptor("p", RAG).replace("vault_path: .agents/vault", "vault_path: notes")
    project.write(".agents/config.yaml", text)

    with opened(person, fleet.root) as workspace:
        assert files(workspace.store) == {}
    built = build(person, fleet.root)
    assert "notes/n.md" not in built.files


def test_a_file_that_becomes_a_document_changes_its_kind(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write("x.py", "# hi\n")
    build(person, fleet.root)
    (project.folder / "x.py").rename(project.folder / "x.md")

    assert build(person, fleet.root).names == [("document", "x.md", "hi", 1, 1)]


def test_in_a_checkout_tracked_files_and_files_that_no_rule_hides_count(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    repository(
        project.folder,
        {
            "a.py": "1",
            ".gitignore": "*.log\nout/\nforced.py\n",
            "forced.py": "2",
            "build/tracked.py": "3",
            ".github/workflows/ci.yml": "on: push\n",
            "out/kept.py": "4",
            "sub/.gitignore": "!keep.log\nlocal.py\n",
        },
    )
    for name in ("new.py", "x.log", "out/not.py", "build/not.py", "sub/local.py", ".cache/x.py"):
        project.write(name, "5")
    (project.folder / ".git/info/exclude").write_text("excluded.py\n")
    project.write("excluded.py", "6")
    built = build(person, fleet.root)

    assert set(built.files) == {
        ".github/workflows/ci.yml",
        ".gitignore",
        "a.py",
        "build/not.py",
        "build/tracked.py",
        "forced.py",
        "new.py",
        "out/kept.py",
        "sub/.gitignore",
    }
    own = {name for name in listed(project.folder) if not name.startswith((".agents", ".cache"))}
    assert set(built.files) == own


def test_without_git_the_ignore_files_alone_decide(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write(".gitignore", "*.log\n/local.py\n")
    project.write("sub/.gitignore", "*.tmp.py\n")
    for name in ("a.py", "x.log", "local.py", "sub/local.py", "sub/b.tmp.py", ".hidden/x.py"):
        project.write(name, "1")

    assert set(build(person, fleet.root).files) == {
        ".gitignore",
        "a.py",
        "sub/.gitignore",
        "sub/local.py",
    }


def test_a_project_below_the_top_of_its_checkout(person: Person, fleet: FleetBuilder) -> None:
    built = fleet.project("mono", RAG, path="mono/packages/one")
    repository(
        fleet.root / "mono",
        {
            ".gitignore": "*.out.py\n/packages/one/hidden.py\n",
            "packages/.gitignore": "dropped.py\n",
            "packages/one/a.py": "1",
            "packages/two/b.py": "2",
        },
    )
    for name in ("x.out.py", "hidden.py", "dropped.py", "new.py"):
        built.write(name, "3")

    assert set(build(person, fleet.root).files) == {"a.py", "new.py"}


def test_a_project_in_an_ignored_folder_has_its_tracked_files_alone(
    person: Person, fleet: FleetBuilder
) -> None:
    built = fleet.project("inner", RAG, path="mono/ignored/inner")
    repository(fleet.root / "mono", {".gitignore": "ignored/\n", "ignored/inner/a.py": "1"})
    built.write("b.py", "2")

    assert set(build(person, fleet.root).files) == {"a.py"}


def test_other_projects_and_other_repositories_are_not_entered(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    inner = fleet.project("inner", "auto", path="p/packages/inner")
    inner.write("theirs.py", "1")
    repository(project.folder / "clone", {"other.py": "2"})
    project.write("env/pyvenv.cfg", "home = x\n")
    project.write("env/lib/x.py", "3")
    project.write("aios-like/aios.json", "{}")
    project.write("aios-like/x.py", "3")
    project.write("mine.py", "4")
    built = build(person, fleet.root)

    assert set(built.files) == {"mine.py"}
    assert built.result.left_out == {"other-repository": 2, "vendored": 1}


def test_what_is_left_out_is_counted(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("x = 'outside'\n")
    project.write("node_modules/x/index.js", "1")
    project.write("dist/app.js", "1")
    project.write(".env", "TOKEN=1")
    project.write("logo.png", b"\x89PNG")
    project.write("weird", b"\0\1\2")
    project.write("made.go", "// Code generated by x. DO NOT EDIT.\n")
    project.write("long.js", "x" * 60_000)
    project.write("large.py", "x = 1\n" * 100_000)
    project.write("rows.csv", "a,b\n")
    (project.folder / "link.py").symlink_to(outside)
    (project.folder / "linked").symlink_to(tmp_path)
    os.mkfifo(project.folder / "pipe.py")
    bad = os.fsencode(project.folder) + b"/\xff.py"
    with open(bad, "wb") as file:  # noqa: PTH123 - a name that is no text
        file.write(b"x")
    secret = project.write("locked.py", "x = 1\n")
    secret.chmod(0)
    built = build(person, fleet.root)

    unreadable = {"unreadable": 1} if os.geteuid() else {}
    assert set(built.files) - {"locked.py"} == set()
    assert dict(built.result.left_out) == {
        "binary": 2,
        "data": 1,
        "generated": 2,
        "link": 2,
        "minified": 1,
        "name": 1,
        "secret": 1,
        "special": 1,
        "too-large": 1,
        "vendored": 1,
        **unreadable,
    }
    # The list names each of them, and none that was taken.
    with opened(person, fleet.root) as workspace:
        listed_out = list(left_out_files(workspace.store, workspace.fleet, home=person.home))
    assert Counter(one.reason for one in listed_out) == built.result.left_out
    named = {one.path: one.reason for one in listed_out}
    assert named["node_modules/"] == "vendored"
    assert named["dist/"] == "generated"
    assert named["made.go"] == "generated"
    assert named["weird"] == "binary"
    assert named["link.py"] == "link"
    assert named[".env"] == "secret"
    assert all(one.path.encode() for one in listed_out)


def test_a_file_that_becomes_binary_disappears(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write("a.py", "x = 1\n")
    build(person, fleet.root)
    project.write("a.py", b"\0\0\0")
    built = build(person, fleet.root)

    assert built.files == {}
    assert built.result.files_removed == 1


def test_secrets_never_reach_the_store(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    project.write("a.py", f"def f():\n    return '{token}'\n")
    build(person, fleet.root)

    with opened(person, fleet.root) as workspace:
        (body,) = workspace.store.connection.execute(
            "SELECT body FROM document WHERE kind='code'"
        ).fetchone()
    assert token not in body
    assert "[redacted:" in body


@pytest.mark.parametrize("data", [b"", b"DIRC\0\0\0\x02\0\0\0\x05", b"JUNK" * 100])
def test_a_broken_index_is_said_and_the_rules_decide(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder, data: bytes
) -> None:
    repository(project.folder, {"a.py": "1", ".gitignore": "b.py\n"})
    project.write("b.py", "2")
    (project.folder / ".git/index").write_bytes(data)
    built = build(person, fleet.root)

    assert "a.py" in built.files
    assert "b.py" not in built.files
    (said,) = built.result.diagnostics
    assert said.code == "GIT_INDEX_INVALID"
    assert said.path in built.result.projects


def test_a_project_that_vanished_is_said(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write("a.py", "1")
    with opened(person, fleet.root) as workspace:
        space, found, redactor = workspace.store.space, workspace.fleet, workspace.redactor
    project.folder.rename(fleet.root / "elsewhere")
    with writing(space) as store:
        result = refresh_corpus(store, found, redactor)

    assert [item.code for item in result.diagnostics] == ["FILE_MISSING"]


def test_too_many_and_too_deep(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_files, "CORPUS_DEPTH_FOLDERS", 2)
    project.write("a/b/c/d.py", "1")
    assert build(person, fleet.root).result.left_out == {"too-deep": 1}
    monkeypatch.setattr(corpus_files, "CORPUS_LIMIT_ENTRIES", 3)
    for number in range(5):
        project.write(f"f{number}.py", "1")

    assert build(person, fleet.root).result.left_out["too-many"] >= 1


def test_a_folder_that_cannot_be_listed_is_counted(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("shut/a.py", "1")
    project.write("b.py", "2")
    descend = Folder.descend

    def refusing(self: Folder, relative: str) -> Folder:
        return descend(self, "missing" if relative == "shut" else relative)

    monkeypatch.setattr(Folder, "descend", refusing)
    built = build(person, fleet.root)

    assert built.files == {"b.py": "source"}
    assert built.result.left_out == {"unreadable": 1}


def test_an_interrupted_build_keeps_the_projects_that_were_finished(
    person: Person, fleet: FleetBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "three", "two"):
        fleet.project(name, RAG).write(f"{name}.py", "1")
    finish = Intake.finish
    calls = []

    def interrupted(self: Intake) -> None:
        calls.append(1)
        if len(calls) == 3:  # the fleet's own refresh, the first project, the second
            raise KeyboardInterrupt
        finish(self)

    with opened(person, fleet.root):
        pass
    with monkeypatch.context() as patch:
        patch.setattr(Intake, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            build(person, fleet.root)
    with opened(person, fleet.root) as workspace:
        assert set(files(workspace.store)) == {"one.py"}
        assert not was_built(workspace.store.connection)

    assert set(build(person, fleet.root).files) == {"one.py", "two.py", "three.py"}
    with opened(person, fleet.root) as workspace:
        assert was_built(workspace.store.connection)
        assert [item.name for item in corpus_projects(workspace.fleet)] == ["one", "three", "two"]


def test_what_was_committed_of_a_large_project_stays_when_the_rest_is_interrupted(
    person: Person, fleet: FleetBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = fleet.project("one", RAG)
    for number in range(7):
        os.utime(project.write(f"m{number}.py", f"{number}"), (1, 1))
    monkeypatch.setattr("agentic_os.files.fingerprints.SETTLE_NS", -(10**18))
    take, taken = Intake.take_read, []

    def interrupted(self: Intake, *arguments: Any) -> None:
        taken.append(1)
        if len(taken) == 6:
            raise KeyboardInterrupt
        take(self, *arguments)

    with opened(person, fleet.root):
        pass
    monkeypatch.setattr(corpus, "PORTION_FILES", 2)
    with monkeypatch.context() as patch:
        patch.setattr(Intake, "take_read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            build(person, fleet.root)
    with opened(person, fleet.root) as workspace:
        assert len(files(workspace.store)) == 4

    built = build(person, fleet.root)

    assert len(built.files) == 7
    assert built.result.files_read == 3


def test_a_git_folder_that_is_broken_leaves_the_rules(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    (project.folder / ".git").write_text("gitdir: nowhere\n")
    project.write(".gitignore", "b.py\n")
    project.write("a.py", "1")
    project.write("b.py", "2")

    assert set(build(person, fleet.root).files) == {".gitignore", "a.py"}


def test_an_ignore_file_that_is_too_large_or_a_link_is_no_rule(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write("large/.gitignore", "*.py\n" * 200_000)
    project.write("large/a.py", "1")
    project.write("rules", "*.py\n")
    (project.folder / "linked").mkdir()
    (project.folder / "linked/.gitignore").symlink_to("../rules")
    project.write("linked/b.py", "2")

    assert {"large/a.py", "linked/b.py"} <= set(build(person, fleet.root).files)


def test_a_file_that_cannot_be_read_is_counted_and_one_that_vanished_is_not(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("shut.py", "1")
    project.write("gone.py", "2")
    read = Folder.read

    def refusing(self: Folder, relative: str, **named: int) -> FileRead:
        if relative in {"shut.py", "gone.py"}:
            code = "FILE_UNREADABLE" if relative == "shut.py" else "FILE_MISSING"
            raise FilesError("no", code=code)
        return read(self, relative, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Folder, "read", refusing)
    built = build(person, fleet.root)

    assert built.files == {}
    assert built.result.left_out == {"unreadable": 1}


def test_a_project_that_is_not_in_the_store_yet_is_left_for_the_next_time(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write("a.py", "1")
    with opened(person, fleet.root) as workspace:
        space, found, redactor = workspace.store.space, workspace.fleet, workspace.redactor
    with writing(space) as store:
        store.connection.execute("DELETE FROM project")
        result = refresh_corpus(store, found, redactor)

    assert (result.projects, result.files) == ((), 0)


def test_a_branch_switch_is_a_change_like_any_other(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    repository(project.folder, {"a.py": "def old(): pass\n"})
    build(person, fleet.root)
    git(project.folder, "checkout", "-q", "-b", "next")
    project.write("a.py", "def new(): pass\n")
    git(project.folder, "commit", "-qam", "two")

    assert [name for _, _, name, _, _ in build(person, fleet.root).names] == ["new"]


def test_ids_of_passages_survive_edits_above_them() -> None:
    one, two = (Passage(path="a.py", name=name, text_hash="h") for name in "fg")
    ids = chunk_ids("p", [one, two, one])

    assert len(set(ids)) == 3
    assert chunk_ids("p", [two, one])[1] == ids[0]
    assert chunk_ids("q", [one])[0] != ids[0]
    assert text_hash("a.py", "f", "x") == text_hash("a.py", "f", "x")
    assert text_hash("a.py", "f", "x") != text_hash("b.py", "f", "x")


def test_own_code_in_a_folder_with_a_copys_name(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    for path in (
        "src/vendor/own.py",
        "src/dist/own.py",
        "vendor/theirs.py",
        "src/extern/LICENSE.txt",
        "src/extern/theirs.py",
        "src/node_modules/theirs.js",
    ):
        project.write(path, "def f():\n    return 1\n")
    git(project.folder, "init", "-q")
    git(project.folder, "add", "-f", ".")

    built = build(person, fleet.root)
    wanted = build(person, fleet.root, include=("vendor", "src/extern"))

    assert {path for path in built.files if "own" in path or "theirs" in path} == {
        "src/vendor/own.py",
        "src/dist/own.py",
    }
    assert built.result.left_out["vendored"] == 3
    assert {"vendor/theirs.py", "src/extern/theirs.py"} <= wanted.files.keys()
    assert "src/node_modules/theirs.js" not in wanted.files


def test_what_the_person_ignores_everywhere_is_not_taken(
    person: Person, fleet: FleetBuilder, project: ProjectBuilder
) -> None:
    project.write("journal.private.md", "what I think")
    project.write("kept.private.md", "tracked all the same")
    project.write("notes.md", "for all")
    project.write(".gitignore", "!again.private.md\n")
    project.write("again.private.md", "the project's rule goes first")
    git(project.folder, "init", "-q")
    git(project.folder, "add", "-f", "kept.private.md")

    built = build(person, fleet.root, personal="*.private.md\n")

    assert {path for path in built.files if path.endswith(".md")} == {
        "again.private.md",
        "kept.private.md",
        "notes.md",
    }


def test_a_grammar_that_comes_later_cuts_its_files_anew(
    person: Person, fleet: FleetBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = SOURCES["ruby"]
    fleet.project("p", RAG).write(source.path, source.text)
    with monkeypatch.context() as without:
        without.setattr(languages, "is_installed", lambda language: language != "ruby")
        without.setattr(reading, "is_installed", lambda language: language != "ruby")
        lines = build(person, fleet.root)
    (said,) = lines.result.diagnostics
    assert (said.code, said.message) == ("LANGUAGES_MISSING", "1 files of ruby were cut by lines")
    assert {name for _, path, name, *_ in lines.names if path == source.path} == {"till.rb"}

    cut = build(person, fleet.root)
    assert cut.result.diagnostics == ()
    assert {name for _, path, name, *_ in cut.names if path == source.path} >= {
        "Shop.Till.pay",
        "top",
    }
    assert not build(person, fleet.root).result.changed
