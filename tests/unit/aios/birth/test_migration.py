"""Migration: two files, resumable, taken back where it was stopped."""

import shutil

import pytest

from agentic_os.aios.birth.migration import MigrationData, migrate, recover
from agentic_os.aios.context.operational import inspect_migration
from agentic_os.aios.folder.system import System
from agentic_os.aios.notes.update import update
from agentic_os.aios.policy import resolve_policy
from agentic_os.errors import AiosError
from support.aios.builder import AiosBuilder, tree
from support.aios.stopping import stopped_at_every_step

OLD = (
    '{\n  "schema_version": "1.0.0",\n  "created_at": "x", "ai_tools": [],\n'
    '  "vault_path": null, "kept": 1\n}\n'
)


@pytest.fixture
def old(full: AiosBuilder) -> AiosBuilder:
    full.write("aios.json", OLD).chmod(0o640)
    full.write(".gitignore", "*.tmp\r\n!keep\r\n")
    return full


def plan(aios: AiosBuilder) -> MigrationData:
    before = tree(aios.root)
    shown = migrate(aios.access())
    assert tree(aios.root) == before
    return shown


def code_of(aios: AiosBuilder, plan_id: str | None = None) -> str:
    with pytest.raises(AiosError) as caught:
        migrate(aios.access(), plan_id)
    return caught.value.code.removeprefix("DOTAIOS_MIGRATION_")


def test_what_changes(old: AiosBuilder) -> None:
    others = {k: v for k, v in tree(old.root).items() if k not in {".gitignore", "aios.json", "."}}
    shown = plan(old)
    assert (shown.state, shown.changes) == ("outdated", (".gitignore", "aios.json"))
    assert shown.plan_id is not None
    assert shown.plan_id.startswith("migrate-1_0_0-to-1_2_0-")
    done = migrate(old.access(), shown.plan_id)
    assert (done.state, done.folder_schema_version) == ("applied", "1.2.0")
    assert (old.root / "aios.json").read_text() == OLD.replace("1.0.0", "1.2.0")
    assert (old.root / "aios.json").stat().st_mode & 0o777 == 0o640
    assert (old.root / ".gitignore").read_bytes() == b"*.tmp\r\n!keep\r\n/workspaces/\r\n"
    assert inspect_migration(old.access()).status == "current"
    assert (old.root / f".dotaios/migrations/receipts/{shown.plan_id}.json").exists()
    now = tree(old.root)
    assert {k: now[k] for k in others} == others
    assert plan(old).state == "current"
    assert code_of(old, shown.plan_id) == "NO_MIGRATION_NEEDED"


def test_stopped_at_every_step_it_is_taken_back_and_done_again(old: AiosBuilder) -> None:
    shown = plan(old)
    kept = old.root.parent / "kept"
    shutil.copytree(old.root, kept)

    def prepare() -> None:
        shutil.rmtree(old.root)
        shutil.copytree(kept, old.root)

    def act(system: System) -> None:
        migrate(old.access(system=system), shown.plan_id)

    for _ in stopped_at_every_step(prepare, act):
        finished = (old.root / f".dotaios/migrations/receipts/{shown.plan_id}.json").exists()
        if list((old.root / ".dotaios/migrations/transactions").glob("*")):
            assert inspect_migration(old.access()).status == "transaction_present"
            with pytest.raises(AiosError) as caught:
                update(old.access(), resolve_policy(), "x")
            assert caught.value.code == "DOTAIOS_MIGRATION_RECOVERY_REQUIRED"
            assert code_of(old) == "RECOVERY_REQUIRED"
            assert recover(old.access()).state == "recovered"
        if not finished:
            assert (old.root / "aios.json").read_text() == OLD
            assert (old.root / ".gitignore").read_bytes() == b"*.tmp\r\n!keep\r\n"
            assert migrate(old.access(), plan(old).plan_id).state == "applied"
        assert recover(old.access()).state == "nothing_to_recover"
        assert plan(old).state == "current"


def test_an_edit_while_it_was_unfinished_is_kept(old: AiosBuilder) -> None:
    shown = plan(old)
    for step in stopped_at_every_step(
        lambda: None, lambda system: migrate(old.access(system=system), shown.plan_id)
    ):
        assert step >= 0
        if (old.root / ".gitignore").read_bytes().endswith(b"/workspaces/\r\n"):
            break
        if list((old.root / ".dotaios/migrations/transactions").glob("*")):
            recover(old.access())
    old.write(".gitignore", "mine\n")
    with pytest.raises(AiosError) as caught:
        recover(old.access())
    assert caught.value.code == "DOTAIOS_MIGRATION_CONCURRENT_EDIT"
    assert (old.root / ".gitignore").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (OLD.replace('"kept": 1', '"kept": {"schema_version": "1.0.0"}'), "UNSAFE_CONFIG_LAYOUT"),
        (OLD.replace("1.0.0", "9.0.0"), "UNSUPPORTED_SCHEMA"),
        (OLD.replace('"ai_tools": [],', ""), "INVALID_CONFIG_IDENTITY"),
        ("{", "INVALID_CONFIG"),
        (b"\xff", "INVALID_CONFIG_ENCODING"),
    ],
)
def test_configurations_that_are_refused(old: AiosBuilder, text: str | bytes, word: str) -> None:
    old.write("aios.json", text)
    assert code_of(old) == word


def test_other_refusals(old: AiosBuilder) -> None:
    shown = plan(old)
    assert code_of(old, "nonsense") == "INVALID_PLAN_ID"
    old.write(".gitignore", "other\n")
    assert code_of(old, shown.plan_id) == "PLAN_CHANGED"
    (old.root / ".gitignore").unlink()
    (old.root / ".gitignore").symlink_to("README.md")
    assert code_of(old) == "UNSAFE_IGNORE_FILE"
    for name in ("a", "b"):
        old.write(f".dotaios/migrations/transactions/{name}/journal.json", "{}")
    with pytest.raises(AiosError) as caught:
        recover(old.access())
    assert caught.value.code == "DOTAIOS_MIGRATION_AMBIGUOUS_RECOVERY"
    with pytest.raises(AiosError) as caught:
        recover(old.access(), "a")
    assert caught.value.code == "DOTAIOS_MIGRATION_INVALID_JOURNAL"
