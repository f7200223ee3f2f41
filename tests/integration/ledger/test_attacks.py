"""What is done to a ledger's bytes, and what verification and boot say without any witness.

The whole attack table, witnesses included, is run by ``test_witness_attacks.py``; these are the
rows that a reader with the file alone must get right, among them the two-line patch that a
chain of bare entry hashes does not notice.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.crypto.keys.files import read_key
from agentic_os.crypto.keys.pairs import SigningKey
from agentic_os.crypto.keys.transition import line_text
from agentic_os.identity.services import verify_ledger
from agentic_os.ledger.file.storage import LEDGER_NAME
from agentic_os.ledger.line.entry import assemble_line, entry_hash
from agentic_os.ledger.line.frame import read_line, split_line
from support.ledger.actors import MemoryWitness, MemoryWitnesses, booted, born, notes
from support.ledger.builder import key

LINES = 24
TARGETS = (2, 3, 11, LINES - 4)


@dataclass(frozen=True)
class Victim:
    """An identity whose ledger a witness has acknowledged up to its last experience."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / LEDGER_NAME

    @property
    def lines(self) -> list[bytes]:
        return self.path.read_bytes().split(b"\n")[:-1]

    def put(self, lines: list[bytes]) -> None:
        self.path.write_bytes(b"".join(line + b"\n" for line in lines))

    def forget_derived(self) -> None:
        for path in [*self.folder.glob("projection.db*"), *self.folder.glob("snapshot-*")]:
            path.unlink()


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = born(tmp_path_factory.mktemp("honest") / "me")
    with booted(folder, MemoryWitnesses(members=[MemoryWitness()])) as identity:
        identity.append("agent", notes(*range(LINES - 3)))  # and genesis, receipt, policy
        identity.bookmark()
    return folder


def silent() -> MemoryWitnesses:
    """The witnesses of the victim's policy, out of reach."""
    return MemoryWitnesses(members=[MemoryWitness(is_reachable=False)])


@pytest.fixture
def victim(tmp_path: Path, grown: Path) -> Victim:
    shutil.copytree(grown, tmp_path / "me")
    return Victim(tmp_path / "me")


def _signed(entry: bytes, prev_hash: str, signer: SigningKey) -> bytes:
    name = entry_hash(entry, prev_hash)
    text = line_text(role="identity", key_id=signer.key_id, entry_hash=name)
    return assemble_line(
        entry,
        name=name,
        prev_hash=prev_hash,
        role="identity",
        key_id=signer.key_id,
        sig_b64=encode_base64(signer.sign(text)),
    )


def _entry(line: bytes) -> bytes:
    return split_line(line).head[len(b'{"entry":') :]


def edit_payload(victim: Victim, at: int) -> None:
    lines = victim.lines
    lines[at] = lines[at].replace(b"event", b"lie")
    victim.put(lines)


def edit_and_rehash(victim: Victim, at: int) -> None:
    """The line's own hash fits again; its signature and the next line do not."""
    lines = victim.lines
    line = read_line(lines[at])
    entry = _entry(lines[at]).replace(b"event", b"lie")
    lines[at] = assemble_line(
        entry,
        name=entry_hash(entry, line.prev_hash),
        prev_hash=line.prev_hash,
        role=line.role,
        key_id=line.key_id,
        sig_b64=line.sig_b64,
    )
    victim.put(lines)


def edit_and_patch_the_next_line(victim: Victim, at: int) -> None:
    """Two lines patched, both signed anew by the identity's own key; the rest as it was."""
    lines = victim.lines
    signer = read_key(victim.folder / "keys" / "identity.key")
    entry = _entry(lines[at]).replace(b"event", b"lie")
    lines[at] = _signed(entry, read_line(lines[at]).prev_hash, signer)
    lines[at + 1] = _signed(_entry(lines[at + 1]), read_line(lines[at]).hash, signer)
    victim.put(lines)


def edit_signature(victim: Victim, at: int) -> None:
    lines = victim.lines
    place = lines[at].rfind(b'"sig_b64":"') + 30
    other = b"A" if lines[at][place : place + 1] != b"A" else b"B"
    lines[at] = lines[at][:place] + other + lines[at][place + 1 :]
    victim.put(lines)


def sign_with_another_key(victim: Victim, at: int) -> None:
    lines = victim.lines
    lines[at] = _signed(_entry(lines[at]), read_line(lines[at]).prev_hash, key(9))
    victim.put(lines)


def swap(victim: Victim, at: int) -> None:
    lines = victim.lines
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    victim.put(lines)


def double(victim: Victim, at: int) -> None:
    lines = victim.lines
    victim.put([*lines[: at + 1], *lines[at:]])


def drop(victim: Victim, at: int) -> None:
    lines = victim.lines
    victim.put([*lines[:at], *lines[at + 1 :]])


def insert_noise(victim: Victim, at: int) -> None:
    lines = victim.lines
    victim.put([*lines[:at], b"{}", *lines[at:]])


def blank(victim: Victim, at: int) -> None:
    lines = victim.lines
    lines[at] = b"\x00" * len(lines[at])
    victim.put(lines)


Attack = Callable[[Victim, int], None]
ATTACKS: list[tuple[Attack, str, int]] = [
    (edit_payload, "LEDGER_HASH_WRONG", 0),
    (edit_and_rehash, "LEDGER_SIGNATURE_INVALID", 0),
    (edit_and_patch_the_next_line, "LEDGER_CHAIN_BROKEN", 2),
    (edit_signature, "LEDGER_SIGNATURE_INVALID", 0),
    (sign_with_another_key, "LEDGER_KEY_WRONG", 0),
    (swap, "LEDGER_SEQ_BROKEN", 0),
    (double, "LEDGER_SEQ_BROKEN", 1),
    (drop, "LEDGER_SEQ_BROKEN", 0),
    (insert_noise, "LEDGER_LINE_INVALID", 0),
    (blank, "LEDGER_LINE_INVALID", 0),
]


@pytest.mark.parametrize("at", TARGETS)
@pytest.mark.parametrize(("attack", "code", "later"), ATTACKS)
def test_the_first_bad_line_is_named_and_boot_is_safe(
    victim: Victim, attack: Attack, code: str, later: int, at: int
) -> None:
    attack(victim, at)
    found = verify_ledger(victim.folder)
    assert [(one.code, one.seq) for one in found.findings] == [(code, at + 1 + later)]
    with booted(victim.folder, silent()) as identity:
        assert identity.report.mode == "safe_mode"
        assert identity.report.reason is not None
        assert identity.report.reason.code == code
        assert f"line {at + 1 + later}:" in identity.report.reason.message
        assert identity.report.reason.hint


def test_the_victim_is_sound(victim: Victim) -> None:
    assert len(victim.lines) == LINES
    assert verify_ledger(victim.folder).verified


@pytest.mark.parametrize("kept", [1, 2, LINES - 2])
def test_a_shorter_ledger_verifies_and_boot_knows_better(victim: Victim, kept: int) -> None:
    victim.put(victim.lines[:kept])
    assert verify_ledger(victim.folder).verified
    with booted(victim.folder, silent()) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "LEDGER_TRUNCATED"


def test_a_torn_receipt_is_cut_and_written_again(victim: Victim) -> None:
    """The last line was never acknowledged as whole: no attack, but no loss either."""
    victim.path.write_bytes(victim.path.read_bytes()[:-100])
    victim.forget_derived()
    assert [one.code for one in verify_ledger(victim.folder).findings] == ["LEDGER_TAIL_TORN"]
    with booted(victim.folder, silent()) as identity:
        assert identity.report.mode == "ready"
        assert identity.report.torn_aside


def test_a_torn_line_that_was_acknowledged_is_a_loss(victim: Victim) -> None:
    """What was derived from it says that it was whole once."""
    victim.path.write_bytes(victim.path.read_bytes()[:-100])
    with booted(victim.folder, silent()) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "LEDGER_TRUNCATED"
        assert (victim.folder / identity.report.torn_aside).stat().st_size > 0


def test_an_old_receipt_at_the_end_is_no_new_one(victim: Victim) -> None:
    lines = victim.lines
    receipt = next(line for line in lines if b"system.witnessed" in line)
    victim.put([*lines, receipt])
    assert [one.code for one in verify_ledger(victim.folder).findings] == ["LEDGER_SEQ_BROKEN"]
    signer = read_key(victim.folder / "keys" / "identity.key")
    entry = _entry(receipt).replace(
        b'"seq":%d' % read_line(receipt).seq, b'"seq":%d' % (len(lines) + 1)
    )
    victim.put([*lines, _signed(entry, read_line(lines[-1]).hash, signer)])
    found = verify_ledger(victim.folder)
    assert [one.code for one in found.findings] == ["LEDGER_RECEIPT_INVALID"]
