"""Verification of whole ledgers: findings, cosigned heads, and nothing that turns it off."""

import inspect
from dataclasses import replace

import pytest

from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.checkpoint import Checkpoint, SignedCheckpoint, sign_checkpoint
from agentic_os.crypto.tlog.note import sign_text
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import CryptoError, LedgerError
from agentic_os.ledger.answers import VerifyData
from agentic_os.ledger.file import verify
from agentic_os.ledger.file.head import HEAD_BYTES, CosignedHead, read_head, state_head
from agentic_os.ledger.file.verify import verify_storage
from agentic_os.ledger.rule.chain import Chain
from support.ledger.builder import KEYS, Builder, MemoryStorage, key

LOG = SigningKey(ED25519, bytes([1]) * 32)
WITNESS = NoteSigner(kind="cosignature", name="w.example", private=SigningKey(ED25519, b"w" * 32))


def _verify(data: bytes, **arguments: object) -> VerifyData:
    return verify_storage(MemoryStorage(data), **arguments)[0]  # type: ignore[arg-type]  # passed through


def cosigned(chain: Chain, *, size: int = 0, root: bytes = b"") -> SignedCheckpoint:
    signer = NoteSigner(kind="note", name=chain.origin, private=LOG)
    head = sign_checkpoint(
        Checkpoint(origin=chain.origin, size=size or chain.size, root=root or chain.root), signer
    )
    line = sign_text(head.note.text, WITNESS, time=1_800_000_000)
    return replace(head, note=head.note.signed_by(line))


def test_a_sound_ledger(build: Builder) -> None:
    build.experience(1).experience(2)
    data = _verify(build.data)
    assert data.verified
    assert (data.lines, data.signatures_checked, data.signatures_skipped) == (3, 3, 0)
    assert data.head_hash == build.prev_hash
    assert data.root_hash == build.chain().root.hex()
    assert (data.format, data.self_made_root) == ("agentic-os", True)


def test_the_first_bad_line_is_named(build: Builder) -> None:
    build.experience(1).experience(2).experience(3)
    lines = list(build.lines)
    lines[2] = lines[2].replace(b"event 2", b"event X")
    data = _verify(b"".join(line + b"\n" for line in lines))
    assert [(one.code, one.seq) for one in data.findings] == [("LEDGER_HASH_WRONG", 3)]
    assert data.lines == 2


def test_a_torn_tail_is_a_finding_with_advice(build: Builder) -> None:
    data = _verify(build.data + build.lines[0][:100])
    assert [one.code for one in data.findings] == ["LEDGER_TAIL_TORN"]
    assert (data.torn_bytes, data.lines) == (100, 1)
    assert "repair" in data.findings[0].hint


def test_nothing_is_not_a_ledger() -> None:
    assert [one.code for one in _verify(b"").findings] == ["LEDGER_EMPTY"]


def test_an_endless_line_is_refused_in_bounded_memory(build: Builder) -> None:
    data = _verify(build.data + b"x" * (4 * 1024 * 1024))
    assert [(one.code, one.seq) for one in data.findings] == [("LEDGER_LINE_INVALID", 2)]


def test_progress_counts_bytes(build: Builder) -> None:
    seen: list[int] = []
    _verify(build.data, progress=seen.append)
    assert seen[-1] == len(build.data)


def test_a_failing_disk_is_no_verdict(build: Builder) -> None:
    class Broken(MemoryStorage):
        def read(self, offset: int, count: int) -> bytes:
            raise OSError(5, f"Input/output error at {offset} of {count}")

    with pytest.raises(LedgerError) as caught:
        verify_storage(Broken(build.data))
    assert caught.value.code == "LEDGER_UNREADABLE"


def _forge_signature(line: bytes) -> bytes:
    at = line.rfind(b'"sig_b64":"') + 20
    return line[:at] + (b"A" if line[at : at + 1] != b"A" else b"B") + line[at + 1 :]


@pytest.fixture
def low_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a head count from the third line on; the real bar is 1,000 lines."""
    assert verify.SKIP_ABOVE_LINES == 1_000
    monkeypatch.setattr(verify, "SKIP_ABOVE_LINES", 2)


def _head(builder: Builder, signer: SigningKey = KEYS["identity"]) -> CosignedHead:
    note = cosigned(builder.chain()).note.data
    return read_head(state_head(note, signer), [WITNESS.key])


@pytest.mark.usefixtures("low_bar")
def test_a_cosigned_head_spares_signatures_below_it(build: Builder) -> None:
    build.experience(1).experience(2).add("policy.set", {"key": "a", "value": 1})
    head = _head(build)
    build.experience(3)
    data = _verify(build.data, head=head)
    assert data.verified
    # Lines 2 and 3; genesis, the operator's line and what follows the head are checked.
    assert (data.signatures_skipped, data.signatures_checked) == (2, 3)
    assert data.cosigned_size == 4


@pytest.mark.usefixtures("low_bar")
def test_the_last_lines_signature_is_always_checked(build: Builder) -> None:
    build.experience(1).experience(2).experience(3)
    head = _head(build)
    assert _verify(build.data, head=head).signatures_skipped == 2
    build.lines[-1] = _forge_signature(build.lines[-1])
    data = _verify(build.data, head=head)
    assert [(one.code, one.seq) for one in data.findings] == [("LEDGER_SIGNATURE_INVALID", 4)]


@pytest.mark.usefixtures("low_bar")
def test_the_root_covers_signatures_that_were_not_checked(build: Builder) -> None:
    build.experience(1).experience(2)
    head = _head(build)
    build.experience(3)
    build.lines[1] = _forge_signature(build.lines[1])
    data = _verify(build.data, head=head)
    assert [one.code for one in data.findings] == ["LEDGER_HEAD_MISMATCH"]
    assert data.findings[0].seq is None


@pytest.mark.usefixtures("low_bar")
def test_a_ledger_that_ends_before_its_cosigned_head_was_truncated(build: Builder) -> None:
    build.experience(1)
    shorter = build.data
    build.experience(2).experience(3)
    data = _verify(shorter, head=_head(build))
    assert [one.code for one in data.findings] == ["LEDGER_TRUNCATED"]


@pytest.mark.usefixtures("low_bar")
def test_a_head_that_another_identity_stated_counts_for_nothing(build: Builder) -> None:
    build.experience(1).experience(2)
    for signer in (KEYS["operator"], key(9)):
        data = _verify(build.data, head=_head(build, signer))
        assert (data.verified, data.signatures_skipped, data.cosigned_size) == (True, 0, 0)
    other = Builder(keys=KEYS | {"identity": key(30)}).genesis().experience(1).experience(2)
    data = _verify(build.data, head=_head(other, key(30)))
    assert (data.verified, data.signatures_skipped) == (True, 0)
    shorter = Builder().genesis()
    data = _verify(shorter.data, head=_head(other, key(30)))
    assert (data.verified, data.signatures_skipped) == (True, 0)


def test_below_a_thousand_lines_no_head_spares_anything(build: Builder) -> None:
    build.experience(1).experience(2)
    data = _verify(build.data, head=_head(build))
    assert (data.signatures_skipped, data.signatures_checked) == (0, 3)


def test_no_parameter_turns_verification_off() -> None:
    allowed = {"storage", "witness_keys", "head", "progress", "watch", "leaves"}
    assert set(inspect.signature(verify_storage).parameters) == allowed


def test_a_head_needs_a_pinned_witness(build: Builder) -> None:
    chain = build.chain()
    document = state_head(cosigned(chain).note.data, KEYS["identity"])
    assert read_head(document, [WITNESS.key]).size == 1
    stranger = NoteSigner(kind="cosignature", name="x", private=SigningKey(ED25519, b"x" * 32))
    log = NoteSigner(kind="note", name=chain.origin, private=LOG)
    for keys in ([stranger.key], [log.key], []):
        with pytest.raises(CryptoError):
            read_head(document, keys)


@pytest.mark.parametrize("document", [b"", b"{}", b"[]", b" {}", b"x" * (HEAD_BYTES + 1)])
def test_what_is_no_head_is_refused(document: bytes) -> None:
    with pytest.raises(CryptoError) as caught:
        read_head(document, [WITNESS.key])
    assert caught.value.code == "HEAD_INVALID"
