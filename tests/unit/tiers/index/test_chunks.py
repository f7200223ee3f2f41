"""What a project contributes to the index: windows of passages, ids, digests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.code.passages.windows import MAX_CHUNK_CHARS
from agentic_os.tiers.index.chunks import (
    CHUNK_KINDS,
    ProjectChunks,
    read_chunks,
    read_files,
    read_projects,
    windows_of,
)
from support.fleet.builder import FleetBuilder

FACT = "---\nname: Light\ndescription: Where it is\ntype: project\n---\n\nThe lighthouse.\n"


def test_front_matter_is_left_out_and_the_description_goes_first() -> None:
    (window,) = windows_of("memory", "f.md", "Light", "Where it is", 1, FACT)

    assert (window.start, window.end) == (7, 7)
    assert window.text == "Where it is\nThe lighthouse."


def test_front_matter_further_down_is_text() -> None:
    (window,) = windows_of("vault", "n.md", "n", "", 20, "---\na: b\n---\ntext")

    assert (window.start, window.end) == (20, 23)


def test_code_keeps_its_dashes_and_has_no_label() -> None:
    (window,) = windows_of("code", "a.py", "f", "a.py a py", 1, "---\na\n---\nb")

    assert window.text == "---\na\n---\nb"


def test_a_fact_of_front_matter_alone_is_its_description() -> None:
    head = "---\nname: Light\ndescription: Where it is\n---\n"

    (window,) = windows_of("memory", "f.md", "Light", "Where it is", 1, head)

    assert window.text == "Where it is"
    assert window.start == 1
    assert windows_of("memory", "f.md", "Light", "", 1, head) == []


def test_a_long_description_is_not_said_twice() -> None:
    label = "word " * 150

    (window,) = windows_of("memory", "f.md", "Light", label, 1, "text")

    assert window.text == "text"


def test_a_long_passage_is_cut_between_lines() -> None:
    lines = [f"line {number} " + "x" * 60 for number in range(40)]

    windows = windows_of("vault", "n.md", "Note", "", 5, "\n".join(lines))

    assert len(windows) > 2
    covered = [line for window in windows for line in range(window.start, window.end + 1)]
    assert covered == list(range(5, 45))
    for window in windows:
        assert window.text.split("\n") == lines[window.start - 5 : window.end - 4]


@given(
    body=st.text(alphabet=st.sampled_from("ab \n-:#`"), max_size=3_000),
    start=st.integers(1, 50),
    kind=st.sampled_from(CHUNK_KINDS),
    label=st.text(alphabet="ab ", max_size=400),
)
def test_windows_are_whole_lines_in_order(body: str, start: int, kind: str, label: str) -> None:
    lines = body.split("\n")
    last = start - 1
    for window in windows_of(kind, "a/b.md", "Name", label, start, body):
        assert last < window.start <= window.end < start + len(lines)
        last = window.end
        text = "\n".join(lines[window.start - start : window.end - start + 1])
        assert window.text.endswith(text) or window.text == label.strip()
        longest = max(map(len, lines))
        assert len(window.text) <= MAX_CHUNK_CHARS + longest


def read(person: Person, fleet: FleetBuilder) -> dict[str, ProjectChunks]:
    with open_workspace(person, [str(fleet.root)]) as workspace:
        connection = workspace.store.connection
        return {
            project.rpartition("-")[0]: read_chunks(connection, pk, project, workspace.redactor)
            for pk, project in read_projects(connection)
        }


@pytest.fixture
def written(fleet: FleetBuilder) -> FleetBuilder:
    shop = fleet.project("shop", "obsidian-only")
    shop.fact("light", "The lighthouse.", title="Light", description="Where it is")
    shop.fact("blank", "<!-- Replace this with a fact -->", title="Template")
    shop.note("n.md", "# One\n\nfirst\n\n# Two\n\nsecond\n")
    shop.capabilities(skills={"steer": "Steers"})
    fleet.project("out", None).write(".agents/memory/f.md", "not read")
    return fleet


def test_memory_and_vault_are_taken_an_inventory_is_not(
    written: FleetBuilder, person: Person
) -> None:
    found = read(person, written)

    assert found.keys() == {"shop"}
    chunks = found["shop"].chunks
    assert {chunk.kind for chunk in chunks} == {"memory", "vault"}
    assert [chunk.text for chunk in chunks if chunk.kind == "memory"] == [
        ".agents/memory/light.md Light\nWhere it is\nThe lighthouse."
    ]
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    with open_workspace(person, [str(written.root)]) as workspace:
        ((pk, project),) = read_projects(workspace.store.connection)
        files = read_files(workspace.store.connection, pk)
        note = {".agents/vault/n.md"}
        some = read_chunks(workspace.store.connection, pk, project, workspace.redactor, paths=note)
    assert set(files) >= {".agents/memory/light.md", ".agents/vault/n.md"}
    assert [one.id for one in some.chunks] == [one.id for one in chunks if one.path in note]


def test_a_secret_in_the_name_of_a_file_is_not_embedded(
    fleet: FleetBuilder, person: Person
) -> None:
    secret = "AKIAQYLPMN5HHHFPZAM2"
    fleet.project("p", "obsidian-only").note(f"{secret}.md", "# Keys\n\nwords\n")

    (chunk,) = read(person, fleet)["p"].chunks

    assert secret in chunk.path
    assert secret not in chunk.text
    assert "[redacted:" in chunk.text


def test_equal_texts_have_equal_hashes_in_every_project(
    fleet: FleetBuilder, person: Person
) -> None:
    for name in ("one", "two"):
        fleet.project(name).fact("f", "The same words.")

    one, two = (found.chunks[0] for found in read(person, fleet).values())

    assert one.text_hash == two.text_hash
    assert one.id != two.id


def test_an_edit_above_a_passage_leaves_its_id_alone(written: FleetBuilder, person: Person) -> None:
    before = read(person, written)["shop"]
    note = written.root / "shop/.agents/vault/n.md"
    note.write_text("\n" + note.read_text())

    after = read(person, written)["shop"]

    assert {chunk.id for chunk in before.chunks} == {chunk.id for chunk in after.chunks}
    assert [chunk.start + 1 for chunk in before.chunks if chunk.kind == "vault"] == [
        chunk.start for chunk in after.chunks if chunk.kind == "vault"
    ]
