"""Runs of plain lines: passed as the chain passes them, or left to it.

That a sweep never passes more than the chain does is shown by a property test; here every
condition fails once.
"""

import pytest

from agentic_os.ledger.file import verify
from agentic_os.ledger.file.head import CosignedHead, _statement
from agentic_os.ledger.file.verify import verify_storage
from agentic_os.ledger.rule.chain import Chain
from agentic_os.ledger.rule.plain_lines import Swept, sweep
from support.ledger.builder import KEYS, Builder, MemoryStorage


@pytest.fixture
def run() -> Builder:
    builder = Builder().genesis()
    for number in range(4):
        builder.experience(number)
        builder.add("belief.upsert", {"claim": f"x {number}", "confidence": 0.5})
    return builder


def _sweep(builder: Builder, lines: list[bytes], **changes: object) -> Swept | None:
    arguments: dict[str, object] = {
        "first_seq": 2,
        "prev_hash": Builder().raw(builder.lines[0]).prev_hash.encode(),
        "key_id": KEYS["identity"].key_id.encode(),
    }
    return sweep(lines, **(arguments | changes))  # type: ignore[arg-type]  # heterogeneous


def test_a_plain_run_leaves_the_chain_where_single_lines_do(run: Builder) -> None:
    chain = Chain()
    chain.admit(run.lines[0])
    hashes = chain.sweep(run.lines[1:])
    assert len(hashes) == len(run.lines) - 1
    singly = run.chain()
    assert (chain.size, chain.head_hash, chain.root) == (
        singly.size,
        singly.head_hash,
        singly.root,
    )
    run.experience(99)
    chain.admit(run.lines[-1])


def test_a_chain_without_a_genesis_sweeps_nothing(run: Builder) -> None:
    assert Chain().sweep(run.lines) == ()


def test_what_is_not_plain_is_left_to_the_chain(run: Builder) -> None:
    lines = run.lines[1:]
    policy = Builder(lines=list(run.lines), prev_hash=run.prev_hash)
    policy.add("policy.set", {"key": "k", "value": 1})
    assert _sweep(run, lines) is not None
    assert _sweep(run, []) is None
    assert _sweep(run, [*lines, policy.lines[-1]]) is None
    assert _sweep(run, lines, first_seq=3) is None
    assert _sweep(run, lines, prev_hash=b"sha256:" + b"1" * 64) is None
    assert _sweep(run, lines, key_id=b"sha256:" + b"1" * 64) is None
    assert _sweep(run, lines[::-1]) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"event 1", b"event 9"),
        (b'"ts":"2026-01-01', b'"ts":"2026-02-30'),
        (b'"layer":"identity"', b'"layer":"anchor"'),
        (b'"id":"exp_1"', b'"id":"exp_1","x":1'),
        (b'"id":"exp_1"', b'"id":1'),
        (b'{"content"', b'{ "content"'),
        (b'"type":"experience.create"', b'"type":"experience.delete"'),
        (b"==", b"=?"),
        (b'"salt":"', b'"salt":"g'),
    ],
)
def test_one_wrong_line_stops_the_run(run: Builder, old: bytes, new: bytes) -> None:
    lines = run.lines[1:]
    assert old in lines[2]
    lines[2] = lines[2].replace(old, new, 1)
    assert _sweep(run, lines) is None


def test_verification_sweeps_what_a_head_covers(
    run: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "SKIP_ABOVE_LINES", 2)
    monkeypatch.setattr("agentic_os.ledger.file.storage.BLOCK_BYTES", 20_000)
    chain = run.chain()
    text = _statement(origin=chain.origin, size=chain.size, root=chain.root)
    head = CosignedHead(
        origin=chain.origin,
        size=chain.size,
        root=chain.root,
        key_id=KEYS["identity"].key_id,
        signature=KEYS["identity"].sign(text),
    )
    seen: list[tuple[int, bytes]] = []
    swept: list[int] = []
    original = Chain.sweep

    def counted(self: Chain, lines: list[bytes]) -> tuple[bytes, ...]:
        hashes = original(self, lines)
        swept.append(len(hashes))
        return hashes

    monkeypatch.setattr(Chain, "sweep", counted)
    found, _ = verify_storage(
        MemoryStorage(run.data),
        head=head,
        watch=lambda first, lines, _: seen.extend(enumerate(lines, first)),
    )
    assert found.verified
    assert sum(swept) > 0
    assert seen == list(enumerate(run.lines, 1))
    assert found.signatures_checked == 2  # the genesis, and the line at the head
