"""A source tree that means harm costs itself, and nobody else.

Everything a project can put into its tree lies beside a healthy project: links, pipes, huge
lines, deep nesting, bytes that are no text, patterns that take for ever, an index that is none.
"""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_os.aggregate.refresh.corpus import CorpusRefreshed, refresh_corpus
from agentic_os.aggregate.store.database import writing
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.results import Answer, Kind, SearchData
from agentic_os.tiers.interface import Query
from agentic_os.tiers.route import search
from support.fleet.builder import FleetBuilder, ProjectBuilder
from support.fleet.git_repository import repository

RAG = "obsidian-graphify-rag"
OUTSIDE = "outsidesecretword"
CODE: frozenset[Kind] = frozenset({"code", "document"})


def tree_state(root: Path) -> list[tuple[str, int, int, int]]:
    """Every name below a folder with its kind, size and time of change; no link is followed."""
    found = []
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            stat = Path(folder, name).lstat()
            found.append((f"{folder}/{name}", stat.st_mode, stat.st_size, stat.st_ctime_ns))
    return sorted(found)


def build(person: Person, root: Path) -> CorpusRefreshed:
    with open_workspace(person, [str(root)]) as workspace:
        space, fleet, redactor = workspace.store.space, workspace.fleet, workspace.redactor
    with writing(space) as store:
        return refresh_corpus(store, fleet, redactor, home=person.home)


def ask(person: Person, root: Path, text: str, kinds: frozenset[Kind] = CODE) -> Answer[SearchData]:
    with open_workspace(person, [str(root)]) as workspace:
        return search(workspace, Query(text=text, kinds=kinds, mode="lexical"))


@pytest.fixture
def healthy(fleet: FleetBuilder) -> ProjectBuilder:
    built = fleet.project("healthy", RAG)
    built.write("src/good.py", "class Lighthouse:\n    def shine(self):\n        return 'beam'\n")
    built.write("docs/guide.md", "# Harbour\n\nships come here\n")
    return built


@pytest.fixture
def hostile(fleet: FleetBuilder, tmp_path: Path) -> Iterator[ProjectBuilder]:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.py").write_text(f"{OUTSIDE} = 1\n")
    built = fleet.project("hostile", RAG)
    folder = built.folder
    (folder / "link.py").symlink_to(outside / "x.py")
    (folder / "linked").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.py")
    here = socket.socket(socket.AF_UNIX)
    os.chdir(folder)
    here.bind("socket.py")
    built.write("long.js", b"x" * (10 * 1_048_576))
    built.write("wide.py", b"a = [" + b"1, " * 100_000 + b"]\n")
    built.write("brackets.py", b"x = " + b"(" * 50_000)
    built.write("braces.ts", b"{" * 50_000)
    built.write("calls.go", b"package a\nvar x = " + b"f(" * 50_000)
    built.write("many.py", "def f(): pass\n" * 20_000)
    built.write("nested.py", "".join(f"{' ' * n}def f{n}():\n" for n in range(900)))
    built.write("strange.py", "\ufeffdef ok():\r\n    return '\u202e\u2028\x85'\r\r\n".encode())
    built.write("latin.py", "# gr\xfc\xdfe\nx = 1\n".encode("latin-1"))
    built.write("nul.txt", b"a\0b")
    built.write("/".join(["deep"] * 120) + "/x.py", "x = 1\n")
    built.write(
        ".gitignore", "*a" * 300 + "*b\n[[[[\n\\\n**/**/**/x\n!\n/\n[z-a]\n\0\n" + "#" * 9_999
    )
    built.write("sub/.gitignore", bytes(range(256)))
    built.write("a" * 200 + ".py", "x = 1\n")
    (folder / ".git").write_text("gitdir: /etc\n")
    yield built
    here.close()


@pytest.mark.usefixtures("healthy", "hostile")
def test_a_hostile_tree_spoils_nothing(
    person: Person, fleet: FleetBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fleet.root)
    before = tree_state(fleet.root)
    result = build(person, fleet.root)

    assert tree_state(fleet.root) == before
    assert len(result.projects) == 2
    assert result.left_out["link"] == 3
    assert result.left_out["special"] == 2
    assert result.left_out["binary"] == 3
    assert result.left_out["minified"] >= 2
    assert result.left_out["too-large"] >= 1
    assert result.left_out["too-deep"] == 1
    (hit, *_) = ask(person, fleet.root, "Lighthouse.shine").data.hits
    assert (hit.path, hit.lines, hit.symbol) == ("src/good.py", (2, 2), "Lighthouse.shine")
    assert ask(person, fleet.root, OUTSIDE).data.hits == ()
    assert build(person, fleet.root).changed is False


@pytest.mark.parametrize(
    "data",
    [b"", b"DIRC", b"DIRC\0\0\0\x04\xff\xff\xff\xff", b"DIRC\0\0\0\x02\0\0\0\x01" + b"\xff" * 200],
)
def test_a_hostile_index_is_said(
    person: Person, fleet: FleetBuilder, healthy: ProjectBuilder, data: bytes
) -> None:
    repository(healthy.folder, {"src/good.py": "def found(): pass\n"})
    (healthy.folder / ".git/index").write_bytes(data)
    result = build(person, fleet.root)

    assert [item.code for item in result.diagnostics] == ["GIT_INDEX_INVALID"]
    assert [hit.symbol for hit in ask(person, fleet.root, "found").data.hits] == ["found"]


def test_code_and_documents_are_found_by_kind_and_do_not_disturb_other_kinds(
    person: Person, fleet: FleetBuilder, healthy: ProjectBuilder
) -> None:
    healthy.fact("f", "the lighthouse is tall")
    before = ask(person, fleet.root, "lighthouse", frozenset({"memory"})).data.hits
    build(person, fleet.root)

    assert ask(person, fleet.root, "lighthouse", frozenset({"memory"})).data.hits == before
    code = ask(person, fleet.root, "lighthouse", frozenset({"code"})).data.hits
    assert {(hit.kind, hit.tier, hit.path) for hit in code} == {("code", 3, "src/good.py")}
    (document,) = ask(person, fleet.root, "ships harbour", frozenset({"document"})).data.hits
    assert (document.name, document.symbol, document.lines) == ("Harbour", None, (1, 1))
    both = ask(person, fleet.root, "lighthouse", frozenset()).data.hits
    assert {hit.kind for hit in both} == {"memory", "code"}


def test_an_edited_source_is_quoted_as_it_is_now(
    person: Person, fleet: FleetBuilder, healthy: ProjectBuilder
) -> None:
    build(person, fleet.root)
    healthy.write(
        "src/good.py", "import os\n\n\nclass Lighthouse:\n    def shine(self):\n        return 2\n"
    )
    (hit, *_) = ask(person, fleet.root, "Lighthouse.shine").data.hits
    assert (hit.lines, hit.stale, hit.snippet) == ((5, 5), True, "    def shine(self):")
    healthy.write("src/good.py", "nothing = 1\n")
    answer = ask(person, fleet.root, "Lighthouse.shine")

    assert answer.data.hits == ()
    assert {item.code for item in answer.omissions} == {"HIT_CHANGED"}


@pytest.mark.usefixtures("healthy")
def test_where_no_index_was_built_a_question_for_code_is_told_so(
    person: Person, fleet: FleetBuilder
) -> None:
    codes = [item.code for item in ask(person, fleet.root, "shine").omissions]
    assert codes == ["CORPUS_MISSING"]
    assert ask(person, fleet.root, "shine", frozenset({"memory"})).omissions == ()
    build(person, fleet.root)

    assert ask(person, fleet.root, "shine").omissions == ()
