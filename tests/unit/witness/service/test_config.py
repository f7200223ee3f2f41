from pathlib import Path

import pytest

from agentic_os.errors import WitnessError
from agentic_os.witness.service.config import WitnessConfig, read_witness_config
from support.witness.actors import Owner

VKEY = Owner(seed=1).checkpoint_signer.key.vkey


def written(folder: Path, text: str) -> Path:
    (folder / "witness.toml").write_text(text)
    return folder


def test_without_a_file_every_setting_has_its_default(tmp_path: Path) -> None:
    assert read_witness_config(tmp_path) == WitnessConfig(folder=tmp_path)


def test_every_setting_is_read(tmp_path: Path) -> None:
    text = f"""
    host = "0.0.0.0"
    port = 9000
    registration = "listed"
    identities = ["did:a"]
    logs = ["{VKEY}"]
    min_cadence = 5
    require_proof = true
    requests_per_minute = 7
    client_requests_per_minute = 8
    body_seconds = 2.5
    connections = 9
    """
    config = read_witness_config(written(tmp_path, text), password="p")

    assert config == WitnessConfig(
        folder=tmp_path,
        host="0.0.0.0",  # noqa: S104 - what the file says
        port=9000,
        registration="listed",
        identities=frozenset({"did:a"}),
        logs=(Owner(seed=1).log,),
        min_cadence=5,
        require_proof=True,
        requests_per_minute=7,
        client_requests_per_minute=8,
        body_seconds=2.5,
        connections=9,
        password="p",
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("port = 70000", "port"),
        ("prot = 1", "prot"),
        ('registration = "closed"', "registration"),
        ('logs = ["x"]', "vkey"),
        (
            'logs = ["sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn9"]',
            "vkey",
        ),
        ("not toml", "Expected"),
        ("min_cadence = -1", "min_cadence"),
        ("body_seconds = 0", "body_seconds"),
    ],
)
def test_a_wrong_file_names_what_is_wrong(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(WitnessError) as caught:
        read_witness_config(written(tmp_path, text))
    assert caught.value.code == "CONFIG_INVALID"
    assert named in caught.value.message


def test_a_cosigner_is_no_log(tmp_path: Path) -> None:
    from agentic_os.crypto.keys.pairs import ED25519, SigningKey
    from agentic_os.crypto.tlog.note_keys import NoteSigner

    key = NoteSigner(kind="cosignature", name="w", private=SigningKey(ED25519, bytes(32))).key
    with pytest.raises(WitnessError):
        read_witness_config(written(tmp_path, f'logs = ["{key.vkey}"]'))


def test_a_linked_or_undecodable_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "witness.toml").symlink_to("/etc/hostname")
    with pytest.raises(WitnessError):
        read_witness_config(tmp_path)
    (tmp_path / "witness.toml").unlink()
    (tmp_path / "witness.toml").write_bytes(b"\xff")
    with pytest.raises(WitnessError):
        read_witness_config(tmp_path)
