"""Receipts as files that anyone can check offline.

Two kinds: a ``.tlog-proof`` (c2sp.org/tlog-proof) shows that one line stands in a tree that a
quorum of witnesses cosigned; a receipt file holds an AII OS receipt with the witness's key
and manifest. The extra line of a proof carries the leaf hash: it is not authenticated by
itself, the inclusion proof binds it to the root.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import msgspec

from agentic_os.crypto.canonical.json import canonicalize
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.envelope.public_keys import (
    PublicKeyEnvelope,
    parse_time,
    read_public_key_envelope,
)
from agentic_os.crypto.tlog.checkpoint import SignedCheckpoint
from agentic_os.crypto.tlog.checkpoint_proof import TLOG_PROOF_HEADER, TlogProof, parse_tlog_proof
from agentic_os.crypto.tlog.merkle import HASH_BYTES, leaf_hash
from agentic_os.crypto.tlog.note import open_note
from agentic_os.crypto.tlog.note_keys import NoteKey
from agentic_os.errors import AgenticOSError, CryptoError
from agentic_os.files.publishing import publish
from agentic_os.files.reading import Folder
from agentic_os.text.shapes import read_shape
from agentic_os.witness.client.policy import QuorumPolicy
from agentic_os.witness.client.submission import TreeView, check_receipt
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.json import read_receipt, receipt_tree
from agentic_os.witness.protocol.served_key import ServedKey, verify_manifest

RECEIPT_FILE_BYTES: Final = 4 * 1024 * 1024
RECEIPT_SCHEMA: Final = "agentic-os-witness-receipt/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosigner:
    """A witness whose cosignature verified, and when it signed (POSIX seconds)."""

    name: str
    time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptReport:
    """What a file proves.

    ``subject`` is the origin of a proof or the identity of a receipt; ``ordinal`` counts from
    1 (a proof's index is one less); ``trust`` says what the verification rests on.
    """

    kind: Literal["tlog-proof", "receipt"]
    subject: str
    ordinal: int
    size: int | None
    leaf: str | None
    cosigners: tuple[Cosigner, ...]
    witnessed_at: str | None
    trust: Literal["policy", "root"]


class _ReceiptFile(msgspec.Struct, frozen=True):
    schema: str
    receipt: msgspec.Raw
    public_key: msgspec.Raw
    public_key_manifest: msgspec.Raw


def export_proof(
    path: Path, *, tree: TreeView, seq: int, leaf: bytes, head: SignedCheckpoint
) -> None:
    """Write the ``.tlog-proof`` of one line below a cosigned head.

    Raises:
        CryptoError: ``MERKLE_RANGE`` when the line lies above the head; FilesError.
    """
    proof = TlogProof(
        index=seq - 1,
        hashes=tree.inclusion_proof(seq - 1, head.checkpoint.size),
        head=head,
        extra=leaf,
    )
    publish(path, proof.data)


def export_receipt(path: Path, *, answer: bytes, key: ServedKey) -> None:
    """Write an AII OS receipt with the key that signed it and the manifest of that key.

    Raises:
        CryptoError: ``RECEIPT_INVALID``; VerificationError ``MANIFEST_INVALID`` when there is no
            manifest; FilesError.
    """
    if key.manifest is None:
        raise ERRORS.error("MANIFEST_INVALID", "the witness key has no manifest")
    document = _ReceiptFile(
        schema=RECEIPT_SCHEMA,
        receipt=msgspec.Raw(msgspec.json.encode(receipt_tree(read_receipt(answer)))),
        public_key=msgspec.Raw(key.public.document),
        public_key_manifest=msgspec.Raw(canonicalize(key.manifest)),
    )
    publish(path, canonicalize(msgspec.json.encode(document)))


def verify_receipt(
    path: Path,
    *,
    policy: QuorumPolicy | None = None,
    log_key: NoteKey | None = None,
    root: PublicKeyEnvelope | None = None,
    line: bytes | None = None,
) -> ReceiptReport:
    """Check a receipt file, with nothing but the file and what the caller trusts.

    Args:
        path: a ``.tlog-proof`` or a receipt file.
        policy: for proofs: the witnesses, the quorum and (unless ``log_key``) the logs.
        log_key: for proofs: the checkpoint key of the ledger.
        root: for receipt files: the operator's root that must vouch for the witness key.
        line: the ledger line (without LF) that the proof must be about.

    Raises:
        VerificationError: ``RECEIPT_INVALID``, ``QUORUM_MISSING``, ``TRUST_MISSING`` (what the
            file would be checked against was not given), ``MANIFEST_INVALID``; CryptoError for
            a file that cannot be read; FilesError.
    """
    with Folder.open(path.parent) as folder:
        data = folder.read(path.name, limit_bytes=RECEIPT_FILE_BYTES).data
    if data.startswith(TLOG_PROOF_HEADER.encode()):
        return _verify_proof(parse_tlog_proof(data), policy, log_key, line)
    return _verify_receipt_file(data, root)


def _verify_proof(
    proof: TlogProof, policy: QuorumPolicy | None, log_key: NoteKey | None, line: bytes | None
) -> ReceiptReport:
    if policy is None:
        raise _untrusted("a proof is checked against a witness policy")
    leaf = leaf_hash(line) if line is not None else proof.extra
    if len(leaf) != HASH_BYTES:
        raise _untrusted("the file names no leaf; give the line it is about")
    if not proof.includes(leaf):
        raise _invalid("the line does not stand in the tree at that place")
    checkpoint, note = proof.head.checkpoint, proof.head.note
    logs = [log_key] if log_key else [log.key for log in policy.logs]
    own_logs = [key for key in logs if key.name == checkpoint.origin]
    if not own_logs:
        raise _untrusted("no trusted key of that origin")
    try:
        signed = open_note(note, (*own_logs, *policy.witness_keys))
    except CryptoError as error:
        raise _invalid(error.message) from None
    if not any(item.key in own_logs for item in signed):
        raise _invalid("the log has not signed the checkpoint")
    opened = tuple(item for item in signed if item.time is not None)
    if not policy.is_satisfied({item.key.vkey for item in opened}):
        raise ERRORS.error("QUORUM_MISSING", "too few witnesses have cosigned for the policy")
    return ReceiptReport(
        kind="tlog-proof",
        subject=checkpoint.origin,
        ordinal=proof.index + 1,
        size=checkpoint.size,
        leaf=leaf.hex(),
        cosigners=tuple(Cosigner(name=item.key.name, time=item.time or 0) for item in opened),
        witnessed_at=None,
        trust="policy",
    )


def _verify_receipt_file(data: bytes, root: PublicKeyEnvelope | None) -> ReceiptReport:
    if root is None:
        raise _untrusted("a receipt file is checked against the operator's root")
    try:
        document = read_shape(data, _ReceiptFile)
    except ValueError:
        raise _invalid("neither a tlog-proof nor a receipt file") from None
    if document.schema != RECEIPT_SCHEMA:
        raise _invalid("another version")
    receipt = read_receipt(decode(bytes(document.receipt)))
    public = read_public_key_envelope(bytes(document.public_key))
    check_receipt(receipt, public)
    moment = parse_time(receipt.witnessed_at)
    if not public.is_valid_at(moment):
        raise _invalid("signed outside the window of the witness key")
    served = ServedKey(public=public, manifest=bytes(document.public_key_manifest))
    # The manifest is asked about now: a key that was revoked since must not pass.
    verify_manifest(served, root=root, at=max(moment, datetime.now(UTC)))
    return ReceiptReport(
        kind="receipt",
        subject=receipt.identity_id,
        ordinal=receipt.ordinal,
        size=None,
        leaf=None,
        cosigners=(),
        witnessed_at=receipt.witnessed_at,
        trust="root",
    )


def _invalid(why: str) -> AgenticOSError:
    return ERRORS.error("RECEIPT_INVALID", f"the receipt does not verify: {why}")


def _untrusted(why: str) -> AgenticOSError:
    return ERRORS.error("TRUST_MISSING", why)
