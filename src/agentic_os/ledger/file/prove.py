"""Proofs about one ledger: where a line stands, and the signed head they lead to."""

from agentic_os.crypto.tlog.checkpoint import Checkpoint, SignedCheckpoint, sign_checkpoint
from agentic_os.crypto.tlog.merkle_tree import MerkleTree
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import LedgerError
from agentic_os.ledger.answers import ProveData


def signed_head(
    tree: MerkleTree, signer: NoteSigner, *, size: int | None = None
) -> SignedCheckpoint:
    """Return the checkpoint of the first ``size`` lines (all by default), signed by the log key."""
    lines = tree.size if size is None else size
    checkpoint = Checkpoint(origin=signer.key.name, size=lines, root=tree.root(lines))
    return sign_checkpoint(checkpoint, signer)


def prove_line(
    tree: MerkleTree, signer: NoteSigner, *, seq: int, size: int | None = None
) -> ProveData:
    """Prove that line ``seq`` stands in the tree of the first ``size`` lines.

    Raises:
        LedgerError: ``LEDGER_SEQ_UNKNOWN`` when there is no such line, or no such tree.
    """
    lines = tree.size if size is None else size
    if not 1 <= seq <= lines <= tree.size:
        raise LedgerError(
            f"line {seq} does not stand in a tree of {lines} of {tree.size} lines",
            code="LEDGER_SEQ_UNKNOWN",
        )
    head = signed_head(tree, signer, size=lines)
    return ProveData(
        origin=head.checkpoint.origin,
        seq=seq,
        leaf_hash=tree.leaf(seq - 1).hex(),
        tree_size=lines,
        root_hash=head.checkpoint.root.hex(),
        proof=tuple(item.hex() for item in tree.inclusion_proof(seq - 1, lines)),
        checkpoint=head.note.data.decode(),
    )
