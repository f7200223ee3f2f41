"""Birth: over nothing, complete or not at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.envelope.public_keys import read_public_key_envelope
from agentic_os.crypto.keys.files import read_key
from agentic_os.errors import CryptoError, IdentityError, LedgerError, UsageError
from agentic_os.identity.birth import Ring0Source, give_birth
from agentic_os.ledger.file.storage import FileStorage
from support.ledger.actors import DOMAIN, LAWS, booted
from support.ledger.builder import KEYS

VECTOR = json.loads(
    (Path(__file__).parents[1] / "crypto/envelope/test_root_profile_vector.json").read_bytes()
)


def test_an_identity_is_born_and_boots(tmp_path: Path) -> None:
    folder = tmp_path / "me"
    data = give_birth(folder, domain=DOMAIN, laws=LAWS)
    assert data.origin.startswith(f"{DOMAIN}/ledger/")
    assert data.self_made_root
    assert not data.encrypted
    assert data.keys == ("checkpoint.key", "identity.key", "operator.key", "platform.key")
    assert folder.stat().st_mode & 0o777 == 0o700
    envelope = read_public_key_envelope((folder / "identity-envelope.json").read_bytes())
    assert envelope.key_type == "identity"
    with booted(folder) as identity:
        assert identity.report.mode == "ready"
        assert identity.report.identity_id == data.identity_id
        assert identity.report.verify is not None
        assert identity.report.verify.head_hash == data.head_hash


def test_keys_can_have_passwords(tmp_path: Path) -> None:
    folder = tmp_path / "me"
    data = give_birth(
        folder,
        domain=DOMAIN,
        laws=LAWS,
        passwords={"identity": "one", "operator": "two", "platform": "three"},
    )
    assert data.encrypted
    for name, password in (("identity", "one"), ("checkpoint", "one"), ("operator", "two")):
        path = folder / "keys" / f"{name}.key"
        with pytest.raises(CryptoError):
            read_key(path)
        read_key(path, password=password)


def test_a_platform_that_exists_is_not_written_down(tmp_path: Path) -> None:
    folder = tmp_path / "me"
    data = give_birth(folder, domain=DOMAIN, laws=LAWS, platform=KEYS["platform"])
    assert "platform.key" not in data.keys
    assert not (folder / "keys" / "platform.key").exists()


def test_a_signed_constitution_of_a_two_algorithm_root(tmp_path: Path) -> None:
    source = Ring0Source(bundle=encode(VECTOR["envelope"]), root_key=encode(VECTOR["key"]))
    data = give_birth(tmp_path / "me", domain=DOMAIN, ring0=source)
    assert not data.self_made_root
    with booted(tmp_path / "me") as identity:
        assert identity.report.verify is not None
        assert identity.report.verify.self_made_root is False


def test_a_constitution_that_does_not_verify_writes_nothing(tmp_path: Path) -> None:
    broken = json.loads(json.dumps(VECTOR["envelope"]))
    broken["payload"]["laws"] = "other laws"
    source = Ring0Source(bundle=encode(broken), root_key=encode(VECTOR["key"]))
    with pytest.raises(CryptoError):
        give_birth(tmp_path / "me", domain=DOMAIN, ring0=source)
    assert _left(tmp_path) == []


def _left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "home")


@pytest.mark.parametrize("name", ["ledger.jsonl", "keys", "projection.db", "anything"])
def test_nothing_is_born_over_something(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "me"
    folder.mkdir()
    (folder / name).write_bytes(b"x")
    with pytest.raises(IdentityError) as caught:
        give_birth(folder, domain=DOMAIN, laws=LAWS)
    assert caught.value.code == "BIRTH_REFUSED"
    assert _left(folder) == [name]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "me").mkdir()
    give_birth(tmp_path / "me", domain=DOMAIN, laws=LAWS)
    assert (tmp_path / "me" / "ledger.jsonl").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"laws": "  "},
        {"laws": LAWS, "ring0": Ring0Source(bundle=b"", root_key=b"")},
    ],
)
def test_a_birth_needs_one_constitution(tmp_path: Path, arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        give_birth(tmp_path / "me", domain=DOMAIN, **arguments)
    assert caught.value.code == "BIRTH_INVALID"


@pytest.mark.parametrize("domain", ["", "two words", "UPPER", "a+b", "x" * 250])
def test_an_origin_must_be_one(tmp_path: Path, domain: str) -> None:
    with pytest.raises(UsageError):
        give_birth(tmp_path / "me", domain=domain, laws=LAWS)
    assert _left(tmp_path) == []


def test_a_birth_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: FileStorage) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FileStorage, "sync", full)
    with pytest.raises(LedgerError):
        give_birth(tmp_path / "me", domain=DOMAIN, laws=LAWS)
    assert _left(tmp_path) == []


def test_a_place_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(IdentityError, match="Not a directory") as caught:
        give_birth(tmp_path / "file" / "me", domain=DOMAIN, laws=LAWS)
    assert caught.value.code == "BIRTH_REFUSED"
    assert str(tmp_path) not in caught.value.message
