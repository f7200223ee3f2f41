"""Backup: everything that is no cache, keys encrypted; restoring trusts nothing."""

import gzip
import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.crypto.keys.files import read_key, write_key
from agentic_os.errors import CryptoError, LedgerError, VerificationError
from agentic_os.ledger.backup import restore as restore_module
from agentic_os.ledger.backup.restore import restore_backup
from agentic_os.ledger.backup.write import write_backup
from agentic_os.ledger.file.opening import open_journal
from agentic_os.ledger.file.storage import LEDGER_NAME
from support.ledger.builder import KEYS, Builder, key
from support.ledger.stories import story

PASSWORD = "correct horse"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "me"
    (made / "keys").mkdir(parents=True)
    (made / LEDGER_NAME).write_bytes(story(12).data)
    write_key(made / "keys" / "identity.key", KEYS["identity"])
    write_key(made / "keys" / "identity-retired-0123456789abcdef.key", key(9))
    (made / "keys" / "note.txt").write_text("not a key")
    (made / "identity-envelope.json").write_text("{}")
    (made / "verified-head.json").write_text("{}")
    (made / "witness-keys").mkdir()
    (made / "witness-keys" / "aiii_witness_1.json").write_text("{}")
    (made / "witness" / ("a" * 32)).mkdir(parents=True)
    (made / "witness" / ("a" * 32) / "state.json").write_text("{}")
    (made / "projection.db").write_bytes(b"a cache")
    (made / "audit.db").write_bytes(b"transcripts")
    (made / "ledger.lock").write_bytes(b"1")
    return made


def test_a_backup_restores_on_another_machine(folder: Path, tmp_path: Path) -> None:
    archive, there = tmp_path / "b.tar.gz", tmp_path / "there"
    data = write_backup(folder, archive, password=PASSWORD)
    assert archive.stat().st_mode & 0o777 == 0o600
    assert data.bytes == archive.stat().st_size
    assert set(data.files) == {
        LEDGER_NAME,
        "keys/identity.key",
        "keys/identity-retired-0123456789abcdef.key",
        "identity-envelope.json",
        "verified-head.json",
        "witness-keys/aiii_witness_1.json",
        f"witness/{'a' * 32}/state.json",
    }
    restored = restore_backup(archive, there)
    assert restored == data
    assert (there / LEDGER_NAME).read_bytes() == (folder / LEDGER_NAME).read_bytes()
    assert there.stat().st_mode & 0o777 == 0o700
    assert all(
        path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
        for path in there.rglob("*")
    )
    with open_journal(there) as journal:
        assert journal.chain.head_hash == data.head_hash


def test_keys_are_encrypted_with_the_backups_password(folder: Path, tmp_path: Path) -> None:
    archive, there = tmp_path / "b.tar.gz", tmp_path / "there"
    write_backup(folder, archive, password=PASSWORD)
    assert b"BEGIN PRIVATE KEY" not in gzip.decompress(archive.read_bytes())
    restore_backup(archive, there)
    path = there / "keys" / "identity.key"
    with pytest.raises(CryptoError) as caught:
        read_key(path)
    assert caught.value.code == "KEY_PASSWORD_REQUIRED"
    assert read_key(path, password=PASSWORD).seed == KEYS["identity"].seed


def test_protected_keys_are_opened_first(folder: Path, tmp_path: Path) -> None:
    path = folder / "keys" / "identity.key"
    path.unlink()
    (folder / "keys" / "identity-retired-0123456789abcdef.key").unlink()
    write_key(path, KEYS["identity"], password="local")
    with pytest.raises(CryptoError):
        write_backup(folder, tmp_path / "a", password=PASSWORD)
    assert not (tmp_path / "a").exists()
    write_backup(folder, tmp_path / "b", password=PASSWORD, key_password="local")
    restore_backup(tmp_path / "b", tmp_path / "there")
    again = read_key(tmp_path / "there" / "keys" / "identity.key", password=PASSWORD)
    assert again.seed == KEYS["identity"].seed


def test_a_ledger_in_use_is_backed_up_to_its_last_whole_line(folder: Path, tmp_path: Path) -> None:
    whole = (folder / LEDGER_NAME).read_bytes()
    (folder / LEDGER_NAME).write_bytes(whole + b'{"entry":')
    write_backup(folder, tmp_path / "b", password=PASSWORD)
    restore_backup(tmp_path / "b", tmp_path / "there")
    assert (tmp_path / "there" / LEDGER_NAME).read_bytes() == whole


def test_a_damaged_ledger_is_not_backed_up(folder: Path, tmp_path: Path) -> None:
    path = folder / LEDGER_NAME
    path.write_bytes(path.read_bytes().replace(b"event 1", b"event X"))
    with pytest.raises(VerificationError):
        write_backup(folder, tmp_path / "b", password=PASSWORD)
    assert not (tmp_path / "b").exists()


def test_passwords_and_places_are_checked(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerError) as caught:
        write_backup(folder, tmp_path / "b", password="short")
    assert caught.value.code == "BACKUP_PASSWORD"
    (tmp_path / "b").write_bytes(b"something")
    with pytest.raises(LedgerError) as caught:
        write_backup(folder, tmp_path / "b", password=PASSWORD)
    assert caught.value.code == "BACKUP_EXISTS"
    assert (tmp_path / "b").read_bytes() == b"something"
    with pytest.raises(LedgerError) as caught:
        write_backup(folder, tmp_path / "none" / "b", password=PASSWORD)
    assert caught.value.code == "BACKUP_FAILED"


def test_nothing_is_restored_over_something(folder: Path, tmp_path: Path) -> None:
    write_backup(folder, tmp_path / "b", password=PASSWORD)
    with pytest.raises(LedgerError) as caught:
        restore_backup(tmp_path / "b", folder)
    assert caught.value.code == "RESTORE_NOT_EMPTY"
    (tmp_path / "empty").mkdir()
    restore_backup(tmp_path / "b", tmp_path / "empty")
    assert (tmp_path / "empty" / LEDGER_NAME).exists()


LEDGER = Builder().genesis().data
LEDGER_MEMBER = {"name": LEDGER_NAME, "size": len(LEDGER), "sha256": sha256_text(LEDGER)}


def _manifest(*members: dict[str, Any], **changes: Any) -> bytes:
    manifest = {
        "format": "agentic-os-backup/v1",
        "origin": "o",
        "lines": 1,
        "head_hash": "h",
        "root_hash": "r",
        "files": list(members),
    }
    return json.dumps(manifest | changes).encode()


def _archive(path: Path, *members: tuple[str, bytes], kind: bytes = tarfile.REGTYPE) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, data in members:
            header = tarfile.TarInfo(name)
            header.size = len(data)
            if name != "manifest.json":
                header.type = kind
                header.linkname = "/etc/passwd" if kind != tarfile.REGTYPE else ""
                header.size = len(data) if kind == tarfile.REGTYPE else 0
            tar.addfile(header, io.BytesIO(data))
    return path


def _member(name: str, data: bytes = b"x") -> dict[str, Any]:
    return {"name": name, "size": len(data), "sha256": sha256_text(data)}


HOSTILE = [
    "../outside",
    "/absolute",
    "keys/../../outside.key",
    "keys/identity.key/x",
    "projection.db",
    ".ssh/authorized_keys",
    "witness/a/b/c",
    "keys/UPPER.key",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_no_backup_has_are_refused(tmp_path: Path, name: str) -> None:
    text = _manifest(LEDGER_MEMBER, _member(name))
    archive = _archive(tmp_path / "b", ("manifest.json", text), (LEDGER_NAME, LEDGER), (name, b"x"))
    with pytest.raises(LedgerError) as caught:
        restore_backup(archive, tmp_path / "there")
    assert caught.value.code == "BACKUP_INVALID"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "home") == ["b"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_special_members_are_refused(tmp_path: Path, kind: bytes) -> None:
    name = "witness-keys/x"
    text = _manifest({"name": LEDGER_NAME, "size": 0, "sha256": sha256_text(b"")}, _member(name))
    archive = _archive(tmp_path / "b", ("manifest.json", text), (LEDGER_NAME, b""), kind=kind)
    with pytest.raises(LedgerError) as caught:
        restore_backup(archive, tmp_path / "there")
    assert caught.value.code == "BACKUP_INVALID"


@pytest.mark.parametrize(
    "members",
    [
        [],
        [("other", b"x")],
        [("manifest.json", b"no json")],
        [("manifest.json", _manifest(LEDGER_MEMBER, format="v2"))],
        [("manifest.json", _manifest())],
        [("manifest.json", _manifest(LEDGER_MEMBER, LEDGER_MEMBER))],
        [("manifest.json", _manifest(LEDGER_MEMBER))],
        [("manifest.json", _manifest(LEDGER_MEMBER)), (LEDGER_NAME, LEDGER + b"x")],
        [("manifest.json", _manifest(LEDGER_MEMBER)), (LEDGER_NAME, b"y" * len(LEDGER))],
        [
            ("manifest.json", _manifest(LEDGER_MEMBER)),
            (LEDGER_NAME, LEDGER),
            (LEDGER_NAME, LEDGER),
        ],
        [
            ("manifest.json", _manifest(LEDGER_MEMBER)),
            (LEDGER_NAME, LEDGER),
            ("verified-head.json", b"x"),
        ],
    ],
)
def test_an_archive_that_is_not_what_it_says_is_refused(
    tmp_path: Path, members: list[tuple[str, bytes]]
) -> None:
    archive = _archive(tmp_path / "b", *members)
    with pytest.raises(LedgerError) as caught:
        restore_backup(archive, tmp_path / "there")
    assert caught.value.code == "BACKUP_INVALID"
    assert not (tmp_path / "there").exists()


def test_a_member_has_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restore_module, "MEMBER_BYTES", 3)
    text = _manifest(LEDGER_MEMBER, _member("verified-head.json", b"four"))
    archive = _archive(
        tmp_path / "b",
        ("manifest.json", text),
        (LEDGER_NAME, LEDGER),
        ("verified-head.json", b"four"),
    )
    with pytest.raises(LedgerError, match="too large"):
        restore_backup(archive, tmp_path / "there")


def test_damaged_bytes_and_missing_archives_are_refused(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"no archive")
    with pytest.raises(LedgerError) as caught:
        restore_backup(tmp_path / "b", tmp_path / "there")
    assert caught.value.code == "BACKUP_INVALID"
    with pytest.raises(LedgerError) as caught:
        restore_backup(tmp_path / "none", tmp_path / "there")
    assert caught.value.code == "BACKUP_FAILED"


def test_a_full_disk_leaves_no_archive(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LedgerError) as caught:
        write_backup(folder, tmp_path / "b", password=PASSWORD)
    assert caught.value.code == "BACKUP_FAILED"
    assert not (tmp_path / "b").exists()
