"""Whatever a line search over the files finds, ``search`` finds; and an edit is seen at once."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.tiers.interface import MAX_LIMIT_HITS, Query
from agentic_os.tiers.route import search
from support.fleet.builder import FleetBuilder

LETTERS = "abzAZ09_-./:#*`|[]()<>\"'%&;,!?äßéЖ日🚀 \t"
LINE = st.text(alphabet=LETTERS, min_size=1, max_size=40)
TEXT = st.lists(LINE, min_size=1, max_size=8).map("\n".join)
ARTICLE = st.tuples(TEXT, st.data())


def hits(root: Path, home: Path, text: str) -> set[tuple[str, int]]:
    person = Person(
        environ={"AGENTIC_OS_CACHE_DIR": str(home), "HOME": str(home)}, home=home, current=root
    )
    with open_workspace(person, [str(root)]) as workspace:
        answer = search(workspace, Query(text=text, limit=MAX_LIMIT_HITS, templates=True))
    return {
        (hit.path, line)
        for hit in answer.data.hits
        for line in range(hit.lines[0], hit.lines[1] + 1)
    } | {(hit.path, 0) for hit in answer.data.hits}


@settings(max_examples=60, deadline=None)
@given(fact=TEXT, prose=TEXT, note=TEXT, data=st.data())
def test_every_literal_run_of_a_line_is_found(
    fact: str, prose: str, note: str, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "fleet"
        project = FleetBuilder(root=root).project("one", "obsidian-only")
        files = {
            ".agents/memory/fact.md": fact,
            ".agents/memory/MEMORY.md": prose,
            ".agents/vault/note.md": note,
        }
        for path, text in files.items():
            project.write(path, text)
        path = data.draw(st.sampled_from(sorted(files)))
        lines = [line for line in files[path].split("\n") if line.strip()]
        if not lines:
            return
        line = data.draw(st.sampled_from(lines))
        start = data.draw(st.integers(0, len(line) - 1))
        needle = line[start : start + data.draw(st.integers(1, 12))].strip()
        if not needle:
            return

        found = hits(root, Path(folder) / "home", needle)

        assert (path, 0) in found


WORDS = st.lists(
    st.sampled_from(
        (
            *("limit", "retries", "getUserName", "load_user", "a.b::c", "CAN", "not", "DO"),
            *("C++", "C#", ".NET", "--dry-run", "@scope/x", "Größe", "Cafe\u0301"),
            *(
                "数据库连接池",
                "データベース接続",
                "연결을",
                "การเชื่อมต่อ",
                "Datenbankverbindungszeit",
            ),
        )
    ),
    min_size=2,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(words=WORDS, data=st.data())
def test_each_term_that_stands_in_a_text_is_found(words: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "fleet"
        project = FleetBuilder(root=root).project("one")
        project.write(".agents/memory/fact.md", " ".join(words) + "\n")
        project.write(".agents/memory/other.md", "nothing of note\n")
        terms = data.draw(st.lists(st.sampled_from(words), min_size=1, max_size=4))
        parts = [
            word[data.draw(st.integers(0, len(word) - 4)) :]
            if word.isalpha() and len(word) > 4
            else word
            for word in terms
        ]

        found = hits(root, Path(folder) / "home", " ".join(parts))

        assert (".agents/memory/fact.md", 0) in found


@settings(max_examples=15, deadline=None)
@given(before=TEXT, after=TEXT)
def test_an_edit_of_a_moment_ago_is_searched(before: str, after: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder) / "fleet", Path(folder) / "home"
        project = FleetBuilder(root=root).project("one")
        project.write(".agents/memory/fact.md", f"{before}\nmarkerbefore\n")
        assert hits(root, home, "markerbefore")

        project.write(".agents/memory/fact.md", f"{after}\nmarkerafters\n")

        assert hits(root, home, "markerafters")
        assert not hits(root, home, "markerbefore")
