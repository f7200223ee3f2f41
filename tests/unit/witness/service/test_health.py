"""What an operator is told about a witness's folder, without any private key."""

import shutil
import sqlite3
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

import pytest

from agentic_os.witness.protocol.operator_root import MANIFEST_VALID_DAYS
from agentic_os.witness.service.health import RENEW_BEFORE, witness_health
from support.witness.actors import new_witness


class Vouched(Protocol):
    folder: Path
    made_at: datetime


@pytest.fixture
def home(vouched: Vouched, tmp_path: Path) -> Path:
    return Path(shutil.copytree(vouched.folder, tmp_path / "w"))


def codes(home: Path, now: datetime) -> list[tuple[str, bool]]:
    found = witness_health(home, now=now)
    assert found is not None
    assert all(one.hint and one.message for one in found)
    return [(one.code, one.is_urgent) for one in found]


def test_a_folder_without_keys_holds_no_witness(tmp_path: Path, vouched: Vouched) -> None:
    assert witness_health(tmp_path / "none", now=vouched.made_at) is None


def test_a_whole_witness_passes(home: Path, vouched: Vouched) -> None:
    assert codes(home, vouched.made_at) == []


def test_a_manifest_is_told_before_it_ends_and_after(home: Path, vouched: Vouched) -> None:
    end = vouched.made_at + timedelta(days=MANIFEST_VALID_DAYS)
    assert codes(home, end - RENEW_BEFORE - timedelta(days=1)) == []
    assert codes(home, end - RENEW_BEFORE + timedelta(days=1)) == [("MANIFEST_ENDS", False)]
    assert codes(home, end + timedelta(days=1)) == [("MANIFEST_INVALID", True)]


def test_a_lost_damaged_or_foreign_memory_is_told(
    home: Path, vouched: Vouched, tmp_path: Path
) -> None:
    database = home / "witness.db"
    database.unlink()
    assert codes(home, vouched.made_at) == [("DATABASE_MISSING", True)]
    database.write_bytes(b"no database" * 1000)
    assert codes(home, vouched.made_at) == [("DATABASE_INVALID", True)]
    other = new_witness(tmp_path / "other")
    shutil.copy(other / "witness.db", database)
    assert codes(home, vouched.made_at) == [("DATABASE_KEYS", True)]
    database.unlink()
    sqlite3.connect(database).close()
    assert codes(home, vouched.made_at) == [("DATABASE_INVALID", True)]


def test_lost_public_files_are_told(home: Path, vouched: Vouched) -> None:
    (home / "manifest.json").unlink()
    assert codes(home, vouched.made_at) == [("FILE_MISSING", True)]
