"""Birth: keys, envelope, genesis. Everything is checked before anything is written.

A birth never touches what exists: a folder with a key, a ledger or a database refuses it. It
happens beside the folder and takes its name when it is complete, so that one that fails leaves
nothing behind (AII OS formats, section 1.8). The private keys are written last of all: a birth
that is killed before leaves none. One that is killed between the first key and the name leaves keys
that belong to nobody: any ledger command deletes them (``files.unfinished``), doctor names them.
The constitution comes from a ring-0 bundle of somebody's root (verified under the key that the
person gives) or is the person's own text, sealed with a platform key made here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agentic_os.crypto.envelope.public_keys import (
    PublicKeyEnvelope,
    identity_id,
    read_public_key_envelope,
)
from agentic_os.crypto.envelope.signed import SignedEnvelope, read_envelope, verify_envelope
from agentic_os.crypto.keys.pairs import SigningKey
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import FilesError
from agentic_os.files.unfinished import folder_made_whole
from agentic_os.identity.answers import InitData
from agentic_os.identity.codes import ERRORS
from agentic_os.identity.folder.keyring import keep_envelope, make_keys, write_keys
from agentic_os.ledger.file.opening import begin_journal
from agentic_os.ledger.layout import CHECKPOINT_KEY
from agentic_os.ledger.line.payloads import Role
from agentic_os.ledger.rule.genesis import PROFILES, RING0_KIND, genesis_draft, self_made_bundle

DEFAULT_PURPOSE = "The constitution of this identity."

_DOMAIN = re.compile(r"[a-z0-9][a-z0-9.:/_-]{0,199}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring0Source:
    """A ring-0 bundle and the root's public key envelope, both as they were published."""

    bundle: bytes
    root_key: bytes


def give_birth(
    folder: Path,
    *,
    domain: str,
    laws: str = "",
    ring0: Ring0Source | None = None,
    platform: SigningKey | None = None,
    passwords: Mapping[Role, str] | None = None,
) -> InitData:
    """Make a new identity in an empty or missing folder.

    Args:
        folder: where it will live.
        domain: the operator's, the first part of the ledger's origin.
        laws: the constitution in the person's own words (Markdown), without ``ring0``.
        ring0: a signed constitution instead.
        platform: the platform key, where the person has one; it is not written down here.
        passwords: by role, to encrypt the key files.

    Raises:
        IdentityError: ``BIRTH_REFUSED`` (the folder is not empty).
        UsageError: ``BIRTH_INVALID``.
        CryptoError: the bundle does not verify, or a key cannot be written.
        LedgerError: the ledger cannot be written; VerificationError: a reader would refuse it.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ERRORS.error("BIRTH_REFUSED", "something lives in that folder already")
    if bool(laws.strip()) == (ring0 is not None):
        raise ERRORS.error(
            "BIRTH_INVALID", "a birth needs either laws or a ring-0 bundle, and no empty ones"
        )
    if _DOMAIN.fullmatch(domain) is None:
        raise ERRORS.error(
            "BIRTH_INVALID",
            "that is no domain: lower-case letters, digits and . : / _ - alone, 200 at most",
        )
    now = datetime.now(UTC)
    sealed = None if ring0 is None else _verified(ring0, now)
    try:
        with folder_made_whole(folder) as unfinished:
            return _bear(unfinished, domain, laws, sealed, platform, dict(passwords or {}), now)
    except FilesError as error:
        raise ERRORS.error("BIRTH_REFUSED", error.message, hint=error.hint) from None


def _verified(ring0: Ring0Source, now: datetime) -> tuple[SignedEnvelope, PublicKeyEnvelope]:
    key = read_public_key_envelope(ring0.root_key)
    envelope = read_envelope(ring0.bundle)
    verify_envelope(envelope, artifact_kind=RING0_KIND, profiles=PROFILES, key=key, at=now)
    return envelope, key


def _bear(
    folder: Path,
    domain: str,
    laws: str,
    sealed: tuple[SignedEnvelope, PublicKeyEnvelope] | None,
    platform: SigningKey | None,
    passwords: Mapping[Role, str],
    now: datetime,
) -> InitData:
    made = make_keys(with_platform=platform is None)
    platform = platform or made["platform"]
    envelope, ring0_key = sealed or self_made_bundle(
        laws=laws, purpose=DEFAULT_PURPOSE, platform=platform, at=now
    )
    drafted = genesis_draft(
        domain=domain,
        envelope=envelope,
        ring0_key=ring0_key,
        platform=platform.public,
        operator=made["operator"],
        identity=made["identity"],
    )
    own = keep_envelope(folder, made["identity"])
    with begin_journal(folder, drafted, {"platform": platform}) as journal:
        chain = journal.chain
        signer = NoteSigner(kind="note", name=chain.origin, private=made[CHECKPOINT_KEY])
        data = InitData(
            origin=chain.origin,
            identity_id=identity_id(own),
            head_hash=chain.head_hash,
            root_hash=chain.root.hex(),
            checkpoint_vkey=signer.key.vkey,
            self_made_root=chain.genesis is not None and chain.genesis.self_made,
            keys=tuple(sorted(f"{name}.key" for name in made)),
            encrypted=all(role in passwords for role in ("operator", "identity")),
        )
    write_keys(folder, made, passwords)
    return data
