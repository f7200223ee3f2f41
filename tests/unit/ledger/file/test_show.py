"""Lines for people, and proofs of their place."""

import pytest

from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.checkpoint import parse_signed_checkpoint
from agentic_os.crypto.tlog.merkle import inclusion_holds, leaf_hash
from agentic_os.crypto.tlog.merkle_tree import MerkleTree
from agentic_os.crypto.tlog.note import open_note
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import LedgerError, VerificationError
from agentic_os.ledger.file.prove import prove_line, signed_head
from agentic_os.ledger.file.show import LineFilter, show_lines
from support.ledger.builder import Builder, MemoryStorage
from support.ledger.stories import story

STORY = story(30)
STORAGE = MemoryStorage(STORY.data)


@pytest.mark.parametrize(
    ("wanted", "check"),
    [
        (LineFilter(), lambda view: view.seq > 0),
        (LineFilter(type="belief.upsert"), lambda view: view.type == "belief.upsert"),
        (LineFilter(type="belief."), lambda view: view.type.startswith("belief.")),
        (LineFilter(type="belief"), lambda view: view.seq < 0),
        (LineFilter(rings=frozenset({0, 1})), lambda view: view.ring <= 1),
        (LineFilter(role="operator"), lambda view: view.role == "operator"),
        (LineFilter(first_seq=5, last_seq=7), lambda view: 5 <= view.seq <= 7),
        (LineFilter(contains="event 1"), lambda view: "event 1" in view.payload),
        (LineFilter(contains="é"), lambda view: "é" in view.payload),
    ],
)
def test_filters_show_what_matches_and_nothing_else(wanted: LineFilter, check: object) -> None:
    assert callable(check)
    everything = show_lines(STORAGE, LineFilter(), limit=10_000)
    shown = show_lines(STORAGE, wanted, limit=10_000)
    assert shown.lines == len(STORY.lines)
    assert shown.entries == tuple(view for view in everything.entries if check(view))
    assert shown.matched == len(shown.entries)


def test_the_last_ones_are_shown() -> None:
    shown = show_lines(STORAGE, LineFilter(), limit=2)
    assert [view.seq for view in shown.entries] == [len(STORY.lines) - 1, len(STORY.lines)]
    assert shown.matched == len(STORY.lines)
    assert show_lines(STORAGE, LineFilter(), limit=0).entries == ()


def test_what_cannot_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(VerificationError):
        show_lines(MemoryStorage(b"{}\n"), LineFilter())
    storage = MemoryStorage(b"")

    def broken(offset: int, count: int) -> bytes:
        raise OSError(5, f"Input/output error {offset} {count}")

    monkeypatch.setattr(storage, "read", broken)
    with pytest.raises(LedgerError) as caught:
        show_lines(storage, LineFilter())
    assert caught.value.code == "LEDGER_UNREADABLE"


def _tree(builder: Builder) -> MerkleTree:
    tree = MerkleTree()
    for line in builder.lines:
        tree.append(leaf_hash(line))
    return tree


def test_every_line_can_be_proved_at_every_size() -> None:
    tree = _tree(STORY)
    signer = NoteSigner(
        kind="note", name=STORY.chain().origin, private=SigningKey(ED25519, b"l" * 32)
    )
    for size in (1, 2, 7, tree.size):
        for seq in range(1, size + 1, 3):
            proof = prove_line(tree, signer, seq=seq, size=size)
            assert inclusion_holds(
                index=seq - 1,
                size=size,
                leaf=leaf_hash(STORY.lines[seq - 1]),
                proof=[bytes.fromhex(item) for item in proof.proof],
                root=bytes.fromhex(proof.root_hash),
            )
            head = parse_signed_checkpoint(proof.checkpoint.encode())
            open_note(head.note, [signer.key])
            assert head.checkpoint.root.hex() == proof.root_hash
            assert (head.checkpoint.origin, head.checkpoint.size) == (proof.origin, size)
    assert signed_head(tree, signer).checkpoint.size == tree.size


@pytest.mark.parametrize(("seq", "size"), [(0, None), (1000, None), (3, 2), (1, 1000)])
def test_lines_that_are_not_there_are_not_proved(seq: int, size: int | None) -> None:
    signer = NoteSigner(kind="note", name="o", private=SigningKey(ED25519, b"l" * 32))
    with pytest.raises(LedgerError) as caught:
        prove_line(_tree(STORY), signer, seq=seq, size=size)
    assert caught.value.code == "LEDGER_SEQ_UNKNOWN"
