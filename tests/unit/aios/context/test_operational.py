import pytest

from agentic_os.aios.context.operational import (
    NOT_READ,
    NOTICE_CHARS,
    TRANSACTION_ENTRIES,
    Migration,
    inspect_migration,
)
from agentic_os.aios.folder.json_text import pretty
from support.aios.builder import AiosBuilder, CountingLayer

OWNER = '{\n  "schema": "dotaios.migrations.v1"\n}\n'


def test_a_current_folder(full: AiosBuilder) -> None:
    found = inspect_migration(full.access())
    assert found.as_json() == {"status": "current", "severity": "none", "action": None}
    assert found.notice is None


def test_an_outdated_schema(aios: AiosBuilder) -> None:
    aios.write("aios.json", '{"schema_version":"1.1.0"}')
    found = inspect_migration(aios.access())
    assert found.as_json() == {
        "status": "schema_outdated",
        "folder_schema_version": "1.1.0",
        "supported_schema_version": "1.2.0",
        "severity": "notice",
        "action": {"command": "dotaios migrate", "path_scope": "configured_aios"},
    }
    assert found.notice is not None
    assert "1.1.0" in found.notice


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("{", "DOTAIOS_EVIDENCE_CONFIG_INVALID"),
        ("{}", "INVALID_SCHEMA"),
        ('{"schema_version": 1}', "INVALID_SCHEMA"),
        ('{"schema_version": "1.2"}', "INVALID_SCHEMA"),
        ('{"schema_version": "1.3.0"}', "FUTURE_SCHEMA"),
        ('{"schema_version": "10.0.0"}', "FUTURE_SCHEMA"),
    ],
)
def test_what_cannot_be_inspected(aios: AiosBuilder, content: str, code: str) -> None:
    aios.write("aios.json", content)
    found = inspect_migration(aios.access())
    assert found.as_json() == {
        "status": "inspection_failed",
        "code": code,
        "severity": "warning",
        "action": {"command": "dotaios doctor", "path_scope": "configured_aios"},
    }


def test_an_unfinished_migration(aios: AiosBuilder) -> None:
    aios.write(".dotaios/migrations/owner.json", OWNER)
    assert inspect_migration(aios.access()).status == "current"
    aios.write(".dotaios/migrations/transactions/migrate-x/journal.json", "private")
    layer = CountingLayer()
    found = inspect_migration(aios.access(files=layer))
    assert found.as_json()["status"] == "transaction_present"
    assert found.as_json()["severity"] == "warning"
    assert layer.opened == ["aios.json", "owner.json"]


def test_metadata_that_is_not_owned_or_not_safe(aios: AiosBuilder) -> None:
    aios.write(".dotaios/migrations/owner.json", "{}")
    assert inspect_migration(aios.access()).code == "UNOWNED_METADATA"
    (aios.root / ".dotaios/migrations/owner.json").unlink()
    aios.write(".dotaios/migrations/transactions/file", "x")
    assert inspect_migration(aios.access()).code == "UNOWNED_METADATA"
    aios.write(".dotaios/migrations/owner.json", OWNER)
    assert inspect_migration(aios.access()).code == "UNSAFE_METADATA"
    (aios.root / ".dotaios/migrations/transactions/file").unlink()
    for number in range(TRANSACTION_ENTRIES + 1):
        (aios.root / f".dotaios/migrations/transactions/t{number}").mkdir()
    code = inspect_migration(aios.access()).code
    assert code == "DOTAIOS_EVIDENCE_DIRECTORY_TOO_LARGE"


def test_a_linked_configuration(aios: AiosBuilder) -> None:
    (aios.root / "aios.json").rename(aios.root / "real.json")
    (aios.root / "aios.json").symlink_to("real.json")
    assert inspect_migration(aios.access()).code == "DOTAIOS_UNSAFE_READ_PATH"


def test_notices_are_bounded() -> None:
    longest = "999999.999999.999999"
    for found in (
        Migration(status="schema_outdated", folder_version=longest),
        Migration(status="transaction_present"),
        Migration(status="inspection_failed", code="A" * 64),
        NOT_READ,
    ):
        assert len(found.notice or "") <= NOTICE_CHARS
        assert len(pretty(found.as_json())) < 400
    assert NOT_READ.as_json() == {"status": "not_read", "severity": "none", "action": None}


def test_a_code_that_is_not_one(aios: AiosBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentic_os.errors import AiosError

    def refuse(*_: object, **__: object) -> None:
        raise AiosError("x", code="/home/u")

    monkeypatch.setattr("agentic_os.aios.context.operational.read_configuration", refuse)
    assert inspect_migration(aios.access()).code == "INSPECTION_FAILED"
