"""The audit store: apart from the ledger, bounded by age and number."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentic_os.errors import CryptoError, IdentityError
from agentic_os.identity import audit
from agentic_os.identity.audit import BODY_BYTES, AuditStore


def test_records_are_kept_by_category(tmp_path: Path) -> None:
    with AuditStore(tmp_path) as store:
        store.record("plugin", "installed", {"b": 1, "a": "é"})
        store.record("transcript", "turn.operator", {"text": "hello"})
        store.record("plugin", "removed", {})
        found = store.recent("plugin")
        assert [(one.kind, one.body) for one in found] == [
            ("removed", "{}"),
            ("installed", '{"a":"é","b":1}'),
        ]
        assert store.recent("plugin", limit=1) == found[:1]
        assert store.recent("none") == ()
    assert (tmp_path / "audit.db").stat().st_mode & 0o777 == 0o600
    with AuditStore(tmp_path) as again:
        assert len(again.recent("transcript")) == 1


@pytest.mark.parametrize(
    ("category", "kind"),
    [("", "x"), ("Plugin", "x"), ("plugin", ""), ("plugin", "Two words"), ("a" * 33, "x")],
)
def test_names_are_plain(tmp_path: Path, category: str, kind: str) -> None:
    with AuditStore(tmp_path) as store, pytest.raises(IdentityError) as caught:
        store.record(category, kind, {})
    assert caught.value.code == "AUDIT_INVALID"


def test_bodies_are_bounded_json(tmp_path: Path) -> None:
    with AuditStore(tmp_path) as store:
        with pytest.raises(IdentityError):
            store.record("plugin", "x", "y" * BODY_BYTES)
        with pytest.raises(CryptoError):
            store.record("plugin", "x", {"a": float("nan")})
        assert store.recent("plugin") == ()


def test_old_and_many_records_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with AuditStore(tmp_path, days=1, entries=3) as store:
        for number in range(5):
            store.record("metric", "tick", number)
        store.record("plugin", "x", 1)
        assert store.sweep() == 2
        assert [one.body for one in store.recent("metric")] == ["4", "3", "2"]
        assert store.sweep(datetime.now(UTC) + timedelta(days=2)) == 4
        monkeypatch.setattr(audit, "SWEEP_EVERY_ENTRIES", 4)
        for number in range(4):
            store.record("metric", "tick", number)
        assert len(store.recent("metric")) == 3


def test_an_unusable_store_says_that_it_can_go(tmp_path: Path) -> None:
    (tmp_path / "audit.db").write_bytes(b"no database" * 1000)
    with pytest.raises(IdentityError) as caught:
        AuditStore(tmp_path)
    assert caught.value.code == "AUDIT_UNUSABLE"
    assert "no identity truth" in caught.value.hint
    with pytest.raises(IdentityError):
        AuditStore(tmp_path / "none")


def test_a_closed_store_is_one_error(tmp_path: Path) -> None:
    store = AuditStore(tmp_path)
    store.close()
    with pytest.raises(IdentityError):
        store.recent("x")
