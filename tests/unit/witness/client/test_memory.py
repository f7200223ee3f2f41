from pathlib import Path

import pytest

from agentic_os.crypto.envelope.public_keys import make_identity_envelope
from agentic_os.errors import WitnessError
from agentic_os.witness.client import memory
from agentic_os.witness.client.memory import Point, WitnessedState, WitnessMemory
from support.witness.actors import BORN, Owner

KEY = Owner(seed=1).checkpoint_signer.key


def test_nothing_is_remembered_and_nothing_made_before_the_first_write(tmp_path: Path) -> None:
    kept = WitnessMemory(tmp_path / "client", KEY)

    assert kept.state() == WitnessedState()
    assert kept.receipt_key() is None
    assert kept.receipts() == ()
    assert not (tmp_path / "client").exists()


def test_state_and_key_are_read_as_they_were_kept(tmp_path: Path) -> None:
    kept = WitnessMemory(tmp_path, KEY)
    state = WitnessedState(
        origin="o",
        acknowledged=Point(ordinal=3, ledger_hash="a", root="b"),
        cosigned_at=5,
        bound_to="x",
        conflict="WITNESS_FORK",
    )
    envelope = make_identity_envelope(Owner(seed=1).identity_key.public, created_at=BORN)
    kept.keep_state(state)

    assert kept.state() == state
    for manifest in (None, b'{"a":1}'):
        kept.pin_receipt_key(envelope, manifest)
        assert kept.receipt_key() == envelope
    assert WitnessMemory(tmp_path, Owner(seed=2).checkpoint_signer.key).state() == WitnessedState()


def test_a_file_that_is_no_memory_is_not_an_empty_one(tmp_path: Path) -> None:
    kept = WitnessMemory(tmp_path / "client", KEY)
    kept.keep_state(WitnessedState())
    (folder,) = (tmp_path / "client").iterdir()
    for name, read in (("state.json", kept.state), ("keys.json", kept.receipt_key)):
        (folder / name).write_bytes(b'{"public_key":{}}' if name == "keys.json" else b"[]")
        with pytest.raises(WitnessError) as caught:
            read()
        assert caught.value.code == "MEMORY_INVALID"


def test_receipts_are_lines_and_a_torn_one_is_left_out(tmp_path: Path) -> None:
    kept = WitnessMemory(tmp_path, KEY)
    kept.keep_receipt(b'{"n":1}')
    kept.keep_receipt(b'{"n":2}\n')
    (path,) = tmp_path.glob("*/receipts.jsonl")
    with path.open("ab") as file:
        file.write(b'{"n":3')

    assert kept.receipts() == (b'{"n":1}', b'{"n":2}')


def test_of_many_receipts_the_newest_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "RECEIPTS_BYTES", 50)
    kept = WitnessMemory(tmp_path, KEY)
    for n in range(100):
        kept.keep_receipt(b'{"n":%d}' % n)

    assert kept.receipts()[-1] == b'{"n":99}'
    assert 1 < len(kept.receipts()) < 10
    assert all(line.startswith(b"{") for line in kept.receipts())
