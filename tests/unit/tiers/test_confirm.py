"""What is shown is what stands in the file now."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.results import Hit, Kind
from agentic_os.text.secrets.redaction import Redacted, Redactor
from agentic_os.tiers.confirm import (
    KEPT_BYTES,
    SOURCE_LIMIT_BYTES,
    UNQUOTABLE,
    Confirmer,
    Dropped,
    Source,
)
from agentic_os.tiers.interface import Candidate, Query
from agentic_os.tiers.lexical import Lexical
from agentic_os.tiers.passage import LineMatcher
from support.fleet.builder import FleetBuilder

SECRET = "AKIAQYLPMN5HHHFPZAM2"


@pytest.fixture
def matcher() -> Iterator[LineMatcher]:
    with LineMatcher("lighthouse") as made:
        yield made


def confirmer(folder: Path, matcher: LineMatcher, *, stale: bool = False) -> Confirmer:
    source = Source(folder=folder, branch="main", commit="c0ffee")
    return Confirmer(
        matcher=matcher,
        judge=lambda _, words: words,
        redactor=Redactor(),
        sources={"p": source},
        stale=stale,
    )


def candidate(
    folder: Path, path: str, *, kind: Kind = "memory", name: str = "", start: int = 1
) -> Candidate:
    file = folder / path
    data = file.read_bytes() if file.exists() else b""
    return Candidate(
        project="p",
        kind=kind,
        tier=0,
        path=path,
        name=name,
        start=start,
        end=start,
        score=1.23456,
        sha256=hashlib.sha256(data).hexdigest(),
        indexed_at="2026-01-01T00:00:00+00:00",
    )


def hit(answer: Hit | Dropped) -> Hit:
    assert isinstance(answer, Hit), answer
    return answer


def code(answer: Hit | Dropped) -> str:
    assert isinstance(answer, Dropped), answer
    return answer.code


def test_an_unchanged_file_is_quoted_where_it_was_indexed(
    tmp_path: Path, matcher: LineMatcher
) -> None:
    (tmp_path / "f.md").write_text("---\nname: Light\n---\n\none\nthe lighthouse\n")

    found = hit(confirmer(tmp_path, matcher).confirm(candidate(tmp_path, "f.md", name="Light")))

    assert (found.lines, found.snippet, found.name) == ((6, 6), "the lighthouse", "Light")
    assert (found.confirmed, found.stale, found.score) == (True, False, 1.2346)
    assert (found.branch, found.commit) == ("main", "c0ffee")


def test_front_matter_is_quoted_where_only_it_matches(tmp_path: Path, matcher: LineMatcher) -> None:
    (tmp_path / "f.md").write_text("---\nname: Lighthouse\ndescription: d\n---\n\nbody\n")

    found = hit(confirmer(tmp_path, matcher).confirm(candidate(tmp_path, "f.md")))

    assert (found.lines, found.snippet) == ((2, 2), "name: Lighthouse")


def test_a_file_that_matches_by_its_own_name_is_quoted_from_its_first_line(
    tmp_path: Path, matcher: LineMatcher
) -> None:
    (tmp_path / "lighthouse.md").write_text("\n\nfirst words\nmore\n")

    found = hit(confirmer(tmp_path, matcher).confirm(candidate(tmp_path, "lighthouse.md")))

    assert (found.lines, found.snippet) == ((3, 3), "first words")


def test_a_passage_that_moved_is_found_again(tmp_path: Path, matcher: LineMatcher) -> None:
    file = tmp_path / "n.md"
    file.write_text("# A\n\nother\n\n# B\n\nlighthouse\n")
    asked = candidate(tmp_path, "n.md", kind="vault", name="B", start=5)
    file.write_text("# New\n\nlighthouse elsewhere\n\n# A\n\nother\n\n# B\n\nlighthouse\n")

    found = hit(confirmer(tmp_path, matcher).confirm(asked))

    assert (found.name, found.lines, found.stale) == ("B", (11, 11), True)
    assert found.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_passage_that_was_renamed_is_found_anywhere(tmp_path: Path, matcher: LineMatcher) -> None:
    file = tmp_path / "n.md"
    file.write_text("# B\n\nlighthouse\n")
    asked = candidate(tmp_path, "n.md", kind="vault", name="B")
    file.write_text("# A\n\nother\n\n# C\n\nlighthouse\n")

    assert hit(confirmer(tmp_path, matcher).confirm(asked)).name == "C"


def test_a_passage_that_is_gone_is_dropped(tmp_path: Path, matcher: LineMatcher) -> None:
    file = tmp_path / "f.md"
    file.write_text("lighthouse")
    asked = candidate(tmp_path, "f.md")
    file.write_text("windmill")
    assert code(confirmer(tmp_path, matcher).confirm(asked)) == "HIT_CHANGED"
    file.unlink()
    assert code(confirmer(tmp_path, matcher).confirm(asked)) == "HIT_UNREADABLE"
    file.symlink_to("/etc/passwd")
    assert code(confirmer(tmp_path, matcher).confirm(asked)) == "HIT_UNREADABLE"


def test_an_indexed_passage_that_never_matched_is_dropped(
    tmp_path: Path, matcher: LineMatcher
) -> None:
    (tmp_path / "f.md").write_text("windmill")

    asked = candidate(tmp_path, "f.md")
    edited = replace(asked, sha256="0" * 64)

    assert code(confirmer(tmp_path, matcher).confirm(asked)) == UNQUOTABLE
    assert code(confirmer(tmp_path, matcher).confirm(edited)) == "HIT_CHANGED"


def test_a_project_that_is_not_in_the_fleet(tmp_path: Path, matcher: LineMatcher) -> None:
    asked = replace(candidate(tmp_path, "f.md"), project="other")

    assert code(confirmer(tmp_path, matcher).confirm(asked)) == "HIT_UNREADABLE"


def test_a_file_is_read_once_for_all_its_candidates(tmp_path: Path, matcher: LineMatcher) -> None:
    (tmp_path / "n.md").write_text("# A\n\nlighthouse\n\n# B\n\nlighthouse\n")
    one = confirmer(tmp_path, matcher)
    first = hit(one.confirm(candidate(tmp_path, "n.md", kind="vault", name="A")))
    asked = candidate(tmp_path, "n.md", kind="vault", name="B", start=5)
    (tmp_path / "n.md").unlink()

    assert (first.lines, hit(one.confirm(asked)).lines) == ((3, 3), (7, 7))


def test_secrets_and_escapes_are_taken_out_of_what_is_quoted(
    tmp_path: Path, matcher: LineMatcher
) -> None:
    (tmp_path / "f.md").write_text(f"lighthouse {SECRET} \x1b[31m\n")

    found = hit(confirmer(tmp_path, matcher).confirm(candidate(tmp_path, "f.md")))

    assert SECRET not in found.snippet
    assert "\x1b" not in found.snippet


def test_a_stale_store_makes_stale_hits(tmp_path: Path, matcher: LineMatcher) -> None:
    (tmp_path / "f.md").write_text("lighthouse")

    found = hit(confirmer(tmp_path, matcher, stale=True).confirm(candidate(tmp_path, "f.md")))

    assert found.stale


def test_a_name_of_code_is_quoted_where_it_stands(tmp_path: Path, matcher: LineMatcher) -> None:
    lines = [f"line {number}" for number in range(1, 21)]
    lines[4] = "def load(): # far"
    lines[11] = f"    def load(self): {SECRET}"
    lines[13] = "preload()"
    (tmp_path / "a.py").write_text("\n".join(lines))

    def at(name: str, start: int) -> Hit | Dropped:
        asked = candidate(tmp_path, "a.py", kind="graph", name=name, start=start)
        return confirmer(tmp_path, matcher).confirm(asked)

    near = hit(at(".load()", 13))
    assert (near.lines, near.kind, near.confirmed) == ((12, 12), "graph", True)
    assert SECRET not in near.snippet
    assert hit(at("load()", 2)).lines == (5, 5)
    assert hit(at("a.py", 3)).lines == (3, 3)
    assert code(at("unload()", 13)) == UNQUOTABLE
    assert code(at("()", 13)) == UNQUOTABLE
    assert hit(at("Owner.load()", 13)).lines == (12, 12)
    assert hit(at("Why this is loaded twice", 7)).lines == (7, 7)
    assert code(at("a.py", 300)) == UNQUOTABLE


def test_a_file_that_is_found_by_its_name_is_quoted_where_it_says_what_was_asked(
    tmp_path: Path, matcher: LineMatcher
) -> None:
    text = "from __future__ import annotations\n\nclass Lighthouse: ...\nlighthouse = 1\n"
    (tmp_path / "lighthouse.py").write_text(text)
    (tmp_path / "light_house.py").write_text("import os\n")

    def quoted(name: str) -> tuple[tuple[int, int], str]:
        asked = candidate(tmp_path, name, kind="graph", name=name)
        found = hit(confirmer(tmp_path, matcher).confirm(asked))
        return found.lines, found.snippet

    assert "class Lighthouse" in quoted("lighthouse.py")[1]
    assert quoted("lighthouse.py")[0][0] > 1
    assert quoted("light_house.py") == ((1, 1), "import os")


def test_a_file_that_the_graph_never_read_counts_as_edited_by_nobody(
    tmp_path: Path, matcher: LineMatcher
) -> None:
    (tmp_path / "routes.ts").write_text("export const handler = 1\n")

    def never_read(name: str) -> Hit | Dropped:
        asked = candidate(tmp_path, "routes.ts", kind="graph", name=name)
        return confirmer(tmp_path, matcher).confirm(replace(asked, sha256=""))

    assert code(never_read("POST")) == UNQUOTABLE
    found = hit(never_read("handler"))
    assert (found.confirmed, found.stale) == (True, False)


def test_a_source_that_is_too_large_is_not_quoted(tmp_path: Path, matcher: LineMatcher) -> None:
    (tmp_path / "a.py").write_bytes(b"load\n" + b"#" * SOURCE_LIMIT_BYTES)
    asked = candidate(tmp_path, "a.py", kind="graph", name="load()")

    assert code(confirmer(tmp_path, matcher).confirm(asked)) == "HIT_UNREADABLE"


def test_a_graph_speaks_of_a_source_that_is_not_there(tmp_path: Path, matcher: LineMatcher) -> None:
    asked = replace(
        candidate(tmp_path, "gone.py", kind="graph", name=f"load {SECRET}"),
        stated_in=("graphify-out/graph.json", "ab" * 32),
    )

    found = hit(confirmer(tmp_path, matcher).confirm(asked))

    assert (found.confirmed, found.stale) == (False, True)
    assert (found.path, found.sha256) == ("graphify-out/graph.json", "ab" * 32)
    assert SECRET not in found.snippet


def test_candidates_of_the_store_are_confirmed(fleet: FleetBuilder, person: Person) -> None:
    """The two halves agree: whatever the index proposes of unchanged files is shown."""
    project = fleet.project("p", "obsidian-only")
    project.fact("f", "lighthouse", title="F")
    project.index("# Memory\n\nlighthouse\n\n## Second\n\nlighthouse\n")
    project.note("n.md", "lighthouse\n\n# Heading\n\nlighthouse\n")
    project.capabilities(skills={"lighthouse": "Lights"})

    with open_workspace(person, [str(fleet.root)]) as workspace:
        (found,) = workspace.fleet.projects
        candidates = Lexical(workspace.store).find(Query(text="lighthouse")).candidates
        source = Source(folder=found.folder, branch=None, commit=None)
        with LineMatcher("lighthouse") as matcher:
            one = Confirmer(
                matcher=matcher,
                judge=lambda _, words: words,
                redactor=Redactor(),
                sources={found.id: source},
                stale=False,
            )
            hits = [hit(one.confirm(each)) for each in candidates]

    assert len(hits) == 6
    assert all("light" in each.snippet.casefold() for each in hits)


def test_the_same_bytes_are_redacted_once_and_read_each_time(
    tmp_path: Path, matcher: LineMatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    real = Redactor.redact

    def noted(redactor: Redactor, text: str) -> Redacted:
        calls.append(text)
        return real(redactor, text)

    monkeypatch.setattr(Redactor, "redact", noted)
    path = tmp_path / "f.md"
    path.write_text("---\nname: f\n---\n\nalpha of the very same bytes\n")
    asked = candidate(tmp_path, "f.md")

    def times() -> int:
        calls.clear()
        confirmer(tmp_path, matcher).confirm(asked)
        return sum("very same bytes" in text for text in calls)

    assert [times(), times()] == [1, 0]
    path.write_text("---\nname: f\n---\n\nalpha of other, not the very same bytes\n")
    assert times() == 1
    path.write_text("alpha very same bytes\n" + "x\n" * (KEPT_BYTES // 2))
    assert [times(), times()] == [1, 1]
