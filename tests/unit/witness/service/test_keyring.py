import stat
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

import pytest

from agentic_os.crypto.envelope.signed import read_envelope
from agentic_os.crypto.keys.files import write_key
from agentic_os.crypto.keys.pairs import ED25519, generate_key
from agentic_os.errors import CryptoError, VerificationError, WitnessError
from agentic_os.witness.protocol.operator_root import OperatorRoot, read_root, sign_manifest
from agentic_os.witness.protocol.served_key import ServedKey, verify_manifest
from agentic_os.witness.service import keyring
from agentic_os.witness.service.keyring import (
    WitnessKeys,
    generate_witness,
    read_witness_keys,
    renew_manifest,
)
from support.witness.actors import BORN, new_witness, stand_in_root


class Vouched(Protocol):
    root_folder: Path
    root: OperatorRoot
    keys: WitnessKeys
    made_at: datetime


def test_keys_are_read_as_they_were_made(tmp_path: Path) -> None:
    made = generate_witness(
        tmp_path / "w", name="witness.example/w1", root=stand_in_root(), now=BORN
    )
    read = read_witness_keys(tmp_path / "w")

    assert read.name == "witness.example/w1"
    assert read.receipt_public == made.receipt_public
    assert read.receipt_public.key_id.startswith("aiii_witness_")
    assert read.cosigner.key == made.cosigner.key
    assert (read.manifest, read.root_public) == (made.manifest, made.root_public)
    assert read.meta == made.meta


def test_everything_in_the_folder_is_private(tmp_path: Path) -> None:
    folder = new_witness(tmp_path / "w")

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert set(modes.values()) == {0o600}
    assert set(modes) == set(keyring._MADE)


def test_a_password_closes_both_private_keys(tmp_path: Path) -> None:
    generate_witness(
        tmp_path / "w", name="w.example", root=stand_in_root(), now=BORN, password="open sesame"
    )

    assert read_witness_keys(tmp_path / "w", password="open sesame").name == "w.example"
    with pytest.raises(CryptoError) as caught:
        read_witness_keys(tmp_path / "w")
    assert caught.value.code == "KEY_PASSWORD_REQUIRED"


def test_a_witness_is_never_made_over_another(tmp_path: Path) -> None:
    folder = new_witness(tmp_path / "w")
    before = (folder / "cosigner.vkey").read_bytes()

    with pytest.raises(WitnessError) as caught:
        new_witness(folder)
    assert caught.value.code == "WITNESS_EXISTS"
    assert (folder / "cosigner.vkey").read_bytes() == before


def test_a_failed_birth_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(keyring, "create_database", fail)

    with pytest.raises(OSError, match="no space"):
        new_witness(tmp_path / "w")
    assert list((tmp_path / "w").iterdir()) == []


def test_a_name_that_no_note_may_carry_makes_no_witness(tmp_path: Path) -> None:
    with pytest.raises(CryptoError) as caught:
        new_witness(tmp_path / "w", name="two words")
    assert caught.value.code == "KEY_NAME_INVALID"
    assert list((tmp_path / "w").iterdir()) == []


def test_an_empty_folder_holds_no_witness(tmp_path: Path) -> None:
    with pytest.raises(WitnessError) as caught:
        read_witness_keys(tmp_path)
    assert caught.value.code == "WITNESS_MISSING"


def test_files_of_two_witnesses_are_told_apart(tmp_path: Path) -> None:
    one, two = new_witness(tmp_path / "1"), new_witness(tmp_path / "2")
    (one / "receipt.public.json").write_bytes((two / "receipt.public.json").read_bytes())

    with pytest.raises(CryptoError) as caught:
        read_witness_keys(one)
    assert caught.value.code == "KEY_MISMATCH"
    (two / "cosigner.key").unlink()
    write_key(two / "cosigner.key", generate_key(ED25519))
    with pytest.raises(CryptoError) as caught:
        read_witness_keys(two)
    assert caught.value.code == "KEY_MISMATCH"


def test_the_real_root_vouches_with_both_algorithms(vouched: Vouched) -> None:
    keys, root, now = vouched.keys, vouched.root, vouched.made_at
    served = ServedKey(public=keys.receipt_public, manifest=keys.manifest)

    verify_manifest(served, root=root.public, at=now)
    algorithms = [item.alg for item in read_envelope(keys.manifest).signatures]
    assert algorithms == ["ML-DSA-87", "SLH-DSA-SHA2-256s"]
    for at in (now - timedelta(days=1), now + timedelta(days=3651)):
        with pytest.raises(VerificationError) as caught:
            verify_manifest(served, root=root.public, at=at)
        assert caught.value.code == "MANIFEST_INVALID"


def test_a_manifest_is_renewed_by_its_own_root_alone(tmp_path: Path) -> None:
    folder = new_witness(tmp_path / "w")
    before = (folder / "manifest.json").read_bytes()
    later = BORN + timedelta(days=300)
    renewed = renew_manifest(folder, root=stand_in_root(), now=later)

    assert renewed != before
    assert read_witness_keys(folder).manifest == renewed
    other = replace(stand_in_root(), public=read_witness_keys(folder).receipt_public)
    with pytest.raises(CryptoError) as caught:
        renew_manifest(folder, root=other, now=later)
    assert caught.value.code == "KEY_MISMATCH"


def test_a_root_is_read_as_it_was_made(vouched: Vouched) -> None:
    root = read_root(vouched.root_folder)

    assert root.public == vouched.root.public
    assert root.public.profile == "AIII-PQ-SIGNATURE-V1-ROOT"
    assert len(root.public.keys) == 2
    files = list(vouched.root_folder.iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


@pytest.mark.parametrize("text", ["zz", "00" * 127, "00" * 128])
def test_a_damaged_root_is_refused(tmp_path: Path, vouched: Vouched, text: str) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in vouched.root_folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
        (folder / path.name).chmod(0o600)
    (folder / "root.slh-dsa.key").write_text(text)

    with pytest.raises(CryptoError) as caught:
        read_root(folder)
    assert caught.value.code in {"KEY_INVALID", "KEY_MISMATCH"}


@pytest.mark.parametrize(
    "change",
    [
        {"artifact_hash": "sha256:" + "0" * 64},
        {"critical": False},
        {"kind": "other"},
        {"artifact_version": ""},
        {"schema_version": 2},
        {"not_before": "yesterday"},
    ],
)
def test_a_manifest_must_say_exactly_what_it_vouches_for(
    tmp_path: Path, change: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The signatures are the stand-in's; what is under test comes after them.
    keys = read_witness_keys(new_witness(tmp_path / "w"))
    payload = {**_payload(keys.manifest), **change}
    monkeypatch.setattr(
        "agentic_os.witness.protocol.served_key.verify_envelope", lambda *_, **__: payload
    )
    served = ServedKey(public=keys.receipt_public, manifest=keys.manifest)

    with pytest.raises(VerificationError):
        verify_manifest(served, root=stand_in_root().public, at=BORN)


@pytest.mark.parametrize(
    ("name", "is_own"),
    [
        ("revoked_key_ids", True),
        ("revoked_artifact_hashes", True),
        ("revoked_key_ids", False),
    ],
)
def test_a_manifest_may_revoke_other_keys_but_not_its_own(
    tmp_path: Path, name: str, is_own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = read_witness_keys(new_witness(tmp_path / "w"))
    own = keys.receipt_public.key_id if "key" in name else keys.receipt_public.sha256
    payload = {**_payload(keys.manifest), name: [own if is_own else "another"]}
    monkeypatch.setattr(
        "agentic_os.witness.protocol.served_key.verify_envelope", lambda *_, **__: payload
    )
    served = ServedKey(public=keys.receipt_public, manifest=keys.manifest)

    if is_own:
        with pytest.raises(VerificationError):
            verify_manifest(served, root=stand_in_root().public, at=BORN)
    else:
        verify_manifest(served, root=stand_in_root().public, at=BORN)


def test_a_forged_or_missing_manifest_is_refused(tmp_path: Path, vouched: Vouched) -> None:
    root = vouched.root
    keys = read_witness_keys(new_witness(tmp_path / "w"))
    half = replace(stand_in_root(), public=root.public, ml_dsa=root.ml_dsa)
    forged = sign_manifest(half, keys.receipt_public, now=BORN)

    for manifest in (None, b"{}", keys.manifest, forged):
        served = ServedKey(public=keys.receipt_public, manifest=manifest)
        with pytest.raises(VerificationError) as caught:
            verify_manifest(served, root=root.public, at=BORN)
        assert caught.value.code == "MANIFEST_INVALID"


def _payload(manifest: bytes) -> dict[str, object]:
    payload = read_envelope(manifest).payload
    assert isinstance(payload, dict)
    return dict(payload)
