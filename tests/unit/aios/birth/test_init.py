"""A folder's birth: complete or not there, and never over what is the person's."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agentic_os.aios.birth.answers import ANSWERS_BYTES, Answers, read_answers
from agentic_os.aios.birth.init import InitRequest, init
from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.system import System
from agentic_os.aios.intent.skills import resolve_skill
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.aios.writing.opening import journal_of, open_for_writing
from agentic_os.aios.writing.plan import Proof
from agentic_os.aios.writing.undo import undo
from agentic_os.errors import AiosError
from support.aios.builder import NOW, tree
from support.aios.stopping import stopped_at_every_step

SHARED = resolve_policy()
PLAIN = InitRequest(answers=Answers())


@pytest.fixture
def access(tmp_path: Path) -> AiosAccess:
    return AiosAccess(root=tmp_path / "aios", clock=lambda: NOW)


def code_of(access: AiosAccess, asked: InitRequest) -> str:
    with pytest.raises(AiosError) as caught:
        init(access, asked)
    return caught.value.code


def test_a_fresh_folder_answers_at_once(access: AiosAccess) -> None:
    answers = read_answers(b'{"name":"Ada","role":"Builder","work":"The gate","tools":"codex, x"}')
    before = tree(access.root.parent)
    shown = init(access, InitRequest(answers=answers, dry_run=True))
    assert tree(access.root.parent) == before
    made = init(access, InitRequest(answers=answers))
    assert made.changes == shown.changes
    assert made.changes[-1].path == "aios.json"
    assert json.loads((access.root / "aios.json").read_text()) == {
        "schema_version": "1.2.0",
        "created_at": "2026-11-30T12:00:00.000Z",
        "ai_tools": ["codex", "x"],
        "vault_path": None,
    }
    brief = read_brief(access, SHARED)
    assert brief.migration.status == "current"
    assert "- Name: Ada" in brief.context.markdown
    assert "The gate" in brief.context.markdown
    assert "### Priorities" not in brief.context.markdown
    assert search_aios(access, SHARED, query="gate").complete
    found = resolve_skill(access, SHARED, intent="plan my day")
    assert [match.skill.name for match in found.matches] == ["today"]


def test_a_second_run_creates_nothing(access: AiosAccess) -> None:
    init(access, PLAIN)
    before = tree(access.root)
    assert init(access, PLAIN).status == "unchanged"
    assert tree(access.root) == before


def test_stopped_at_every_step_there_is_no_folder_and_a_second_run_completes_it(
    access: AiosAccess,
) -> None:
    root = access.root
    init(access, PLAIN)
    whole = {path.relative_to(root) for path in root.rglob("*")}

    def prepare() -> None:
        shutil.rmtree(root, ignore_errors=True)

    def act(system: System) -> None:
        init(replace(access, system=system), PLAIN)

    for _ in stopped_at_every_step(prepare, act):
        if not (root / "aios.json").exists():
            with pytest.raises(AiosError) as caught:
                read_brief(access, SHARED)
            assert caught.value.code == "DOTAIOS_FOLDER_MISSING"
        times = {path: path.stat().st_mtime_ns for path in root.glob("context/*.md")}
        init(access, PLAIN)
        settled = {path.relative_to(root) for path in root.rglob("*") if path.suffix != ".tmp"}
        assert settled == whole
        assert all(path.stat().st_mtime_ns == time for path, time in times.items())


def test_what_is_the_persons_is_never_replaced(access: AiosAccess) -> None:
    init(access, PLAIN)
    (access.root / "context/work.md").write_text("mine")
    (access.root / "AGENTS.md").write_text("mine too")
    (access.root / "README.md").unlink()
    assert code_of(access, PLAIN) == "DOTAIOS_INIT_NOT_EMPTY"
    init(access, replace(PLAIN, force=True))
    assert (access.root / "AGENTS.md").read_text() == "mine too"
    assert (access.root / "README.md").exists()
    init(access, replace(PLAIN, overwrite=True))
    assert (access.root / "context/work.md").read_text() == "mine"
    assert "AIOS" in (access.root / "AGENTS.md").read_text()


def test_refusals(access: AiosAccess, tmp_path: Path) -> None:
    access.root.mkdir()
    (access.root / "novel.txt").write_text("x")
    assert code_of(access, PLAIN) == "DOTAIOS_INIT_NOT_EMPTY"
    shutil.rmtree(access.root)
    inside = replace(PLAIN, vault=access.root / "vault")
    assert code_of(access, inside) == "DOTAIOS_ARGUMENT_INVALID"
    nowhere = replace(PLAIN, vault=tmp_path / "a/b/vault")
    assert code_of(access, nowhere) == "DOTAIOS_ARGUMENT_INVALID"
    deep = replace(access, root=tmp_path / "no/such/aios")
    assert code_of(deep, PLAIN) == "DOTAIOS_ARGUMENT_INVALID"
    assert not (tmp_path / "no").exists()
    access.root.write_text("a file")
    assert code_of(access, PLAIN) == "DOTAIOS_WRITE_UNSAFE_TARGET"
    access.root.unlink()
    access.root.symlink_to(tmp_path)
    assert code_of(access, PLAIN) == "DOTAIOS_WRITE_UNSAFE_TARGET"
    access.root.unlink()
    init(access, PLAIN)
    (access.root / "aios.json").write_text('{"schema_version":"1.0.0"}')
    assert code_of(access, PLAIN) == "DOTAIOS_INIT_OLD_SCHEMA"


def test_a_vault_outside(access: AiosAccess, tmp_path: Path) -> None:
    vault = tmp_path / "notes"
    init(access, replace(PLAIN, vault=vault))
    assert not (access.root / "vault").exists()
    assert sorted(path.name for path in vault.iterdir()) == ["org", "outputs", "raw", "wiki"]
    stated = json.loads((access.root / "aios.json").read_text())["vault_path"]
    assert stated == str(vault)
    before = tree(tmp_path)
    again = init(access, PLAIN)
    assert again.status == "unchanged"
    assert "grant-vault" in again.notes[0]
    assert init(access, replace(PLAIN, vault=vault)).status == "unchanged"
    assert tree(tmp_path) == before
    other = replace(PLAIN, vault=tmp_path / "other", force=True)
    assert code_of(access, other) == "DOTAIOS_ARGUMENT_INVALID"
    assert tree(tmp_path) == before


def test_what_was_overwritten_is_brought_back_and_the_vault_outside_stays(
    access: AiosAccess, tmp_path: Path
) -> None:
    vault = tmp_path / "notes"
    asked = replace(PLAIN, vault=vault)
    init(access, asked)
    (vault / "wiki/mine.md").write_text("mine")
    (access.root / "AGENTS.md").write_text("my own")
    (access.root / "README.md").unlink()
    init(access, replace(asked, overwrite=True))
    assert "my own" not in (access.root / "AGENTS.md").read_text()
    with open_for_writing(access, SHARED) as writer:
        journal = journal_of(writer, access)
        shown = undo(journal, None)
        assert [change.path for change in shown.changes] == ["AGENTS.md"]
        proof = Proof(operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint)
        undo(journal, proof)
    assert (access.root / "AGENTS.md").read_text() == "my own"
    assert (access.root / "README.md").exists()
    assert (vault / "wiki/mine.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name":"A","name":"B"}', "twice"),
        ('{"nam\\u0065":"A","name":"B"}', "twice"),
        ('{"age":"7"}', "age"),
        ('{"name":"a\\nb"}', "name"),
        ('{"name":"a\\u202eb"}', "name"),
        ('{"name":7}', "name"),
        ('{"name":""}', "name"),
        ("[]", "object"),
        ("{", "JSON"),
        (" " * (ANSWERS_BYTES + 1), "bytes"),
    ],
)
def test_answers_that_are_refused(text: str, said: str) -> None:
    with pytest.raises(AiosError, match=said):
        read_answers(text.encode())
