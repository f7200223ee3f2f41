"""The private keys of one identity, as they lie in its folder.

The identity key and the checkpoint key are needed to boot: an identity that cannot sign is
halted, not half alive. Operator and platform keys are unlocked for the sessions that need
them. A key must be the one that the chain names for its role; another key is no key.

A role's new key is on disk (``<role>-next.key``) before the transition is written, and takes
the role's name afterwards; ``settle`` finishes that after a crash in between.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from agentic_os.crypto.envelope.public_keys import (
    PublicKeyEnvelope,
    make_identity_envelope,
    read_public_key_envelope,
)
from agentic_os.crypto.keys.files import read_key, write_key
from agentic_os.crypto.keys.pairs import ED25519, ML_DSA_87, SigningKey, generate_key
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import CryptoError, FilesError
from agentic_os.files.publishing import private_folder, publish
from agentic_os.files.reading import Folder
from agentic_os.identity.codes import ERRORS
from agentic_os.ledger.layout import CHECKPOINT_KEY, ENVELOPE_NAME, KEYS_FOLDER, key_path
from agentic_os.ledger.line.payloads import Role
from agentic_os.ledger.rule.chain import Chain

ENVELOPE_BYTES: Final = 64 * 1024
_NEXT: Final = "-next"
_NAME_DIGITS_CHARS: Final = 16


class KeyRing:
    """The keys at hand. ``signers`` is what a writer is given; it grows by ``unlock``.

    Args:
        folder: the identity's.
        passwords: by role; the checkpoint key shares the identity's.
    """

    __slots__ = ("_folder", "_passwords", "checkpoint", "signers")

    def __init__(self, folder: Path, passwords: Mapping[Role, str] | None = None) -> None:
        """Open the identity's and the checkpoint key.

        Raises:
            CryptoError: as ``read_key``.
        """
        self._folder = folder
        self._passwords = dict(passwords or {})
        self.signers: dict[Role, SigningKey] = {"identity": self._read("identity")}
        self.checkpoint = read_key(
            key_path(folder, CHECKPOINT_KEY), password=self._passwords.get("identity")
        )

    def unlock(self, role: Role, chain: Chain, *, password: str | None = None) -> None:
        """Open a role's key, if it is the one that signs now.

        Raises:
            CryptoError: as ``read_key``.
            IdentityError: ``KEY_MISMATCH``.
        """
        if password is not None:
            self._passwords[role] = password
        self.settle(role, chain)
        key = self._read(role)
        require_current(role, key, chain)
        self.signers[role] = key

    def note_signer(self, origin: str) -> NoteSigner:
        """Return the signer of tree heads; its key is named like the origin."""
        return NoteSigner(kind="note", name=origin, private=self.checkpoint)

    def replace_checkpoint(self) -> str:
        """Make a new checkpoint key and take it into use; return the retired one's name.

        The old key is on disk under its retired name before the new one takes its place, which it
        does in one step: whatever a crash leaves, there is a key, and none is lost.
        """
        password = self._passwords.get("identity")
        new, retired = generate_key(ED25519), f"{CHECKPOINT_KEY}-retired-{_digits(self.checkpoint)}"
        waiting = key_path(self._folder, CHECKPOINT_KEY + _NEXT)
        waiting.unlink(missing_ok=True)
        if not key_path(self._folder, retired).exists():
            write_key(key_path(self._folder, retired), self.checkpoint, password=password)
        write_key(waiting, new, password=password)
        waiting.replace(key_path(self._folder, CHECKPOINT_KEY))
        self.checkpoint = new
        return retired

    def prepare_next(self, role: Role) -> SigningKey:
        """Make a role's next key and put it on disk under its waiting name.

        Raises:
            CryptoError: ``KEY_EXISTS`` when one waits already.
        """
        key = generate_key(ML_DSA_87)
        path = key_path(self._folder, role + _NEXT)
        write_key(path, key, password=self._passwords.get(role))
        return key

    def drop_next(self, role: Role) -> None:
        """Forget a waiting key whose line was refused before it was written."""
        key_path(self._folder, role + _NEXT).unlink(missing_ok=True)

    def settle(self, role: Role, chain: Chain) -> str:
        """Give a waiting key its name if the chain names it; the retired key's name, or nothing.

        A waiting key that no line names is set aside, never deleted: the line may be in a
        newer copy of the ledger.

        Raises:
            CryptoError: as ``read_key``.
        """
        waiting = key_path(self._folder, role + _NEXT)
        if not waiting.exists():
            return ""
        password = self._passwords.get(role)
        key = read_key(waiting, password=password)
        if chain.key_for(role) != key.public:
            waiting.rename(key_path(self._folder, f"{role}-unused-{_digits(key)}"))
            return ""
        named, retired = key_path(self._folder, role), ""
        if named.exists():
            retired = f"{role}-retired-{_digits(read_key(named, password=password))}"
            named.rename(key_path(self._folder, retired))
        waiting.rename(named)
        self.signers[role] = key
        return retired

    def _read(self, role: Role) -> SigningKey:
        return read_key(key_path(self._folder, role), password=self._passwords.get(role))


def make_keys(*, with_platform: bool) -> dict[str, SigningKey]:
    """Make the keys of a new identity, in memory alone; by the names of their files."""
    roles: tuple[Role, ...] = ("operator", "identity")
    if with_platform:
        roles = ("platform", *roles)
    made: dict[str, SigningKey] = {role: generate_key(ML_DSA_87) for role in roles}
    return {**made, CHECKPOINT_KEY: generate_key(ED25519)}


def write_keys(folder: Path, made: Mapping[str, SigningKey], passwords: Mapping[Role, str]) -> None:
    """Put the keys of a new identity on disk, 0600.

    Raises:
        CryptoError: ``KEY_EXISTS``, ``KEY_UNWRITABLE``.
    """
    private_folder(folder / KEYS_FOLDER)
    secrets: dict[str, str] = {str(role): secret for role, secret in passwords.items()}
    if "identity" in passwords:
        secrets[CHECKPOINT_KEY] = passwords["identity"]
    for name, key in made.items():
        write_key(key_path(folder, name), key, password=secrets.get(name))


def _digits(key: SigningKey) -> str:
    return key.key_id.removeprefix("sha256:")[:_NAME_DIGITS_CHARS]


def require_current(role: Role, key: SigningKey, chain: Chain) -> None:
    """Refuse a key that is not the one that signs for its role now.

    Raises:
        IdentityError: ``KEY_MISMATCH``.
    """
    if chain.key_for(role) != key.public:
        raise ERRORS.error(
            "KEY_MISMATCH", f"the {role} key here is not the one that the ledger names"
        )


def require_own_envelope(folder: Path, chain: Chain) -> None:
    """Refuse a ledger of another identity than the one whose envelope is kept beside it.

    Raises:
        IdentityError: ``KEY_MISMATCH``, ``ENVELOPE_INVALID``.
    """
    kept = read_envelope_file(folder)
    known = [one.key.raw for one in chain.tenures if one.role == "identity"]
    if kept is not None and kept.part(ML_DSA_87).raw not in known:
        raise ERRORS.error(
            "KEY_MISMATCH", "the ledger belongs to another identity than the one that was kept here"
        )


def keep_envelope(
    folder: Path, key: SigningKey, *, chain: Chain | None = None
) -> PublicKeyEnvelope:
    """Return the identity key's envelope: the kept one, or a new one that is kept from now on.

    After a key transition the old envelope stays beside under its own name.

    Raises:
        IdentityError: ``ENVELOPE_INVALID`` when the kept one is damaged, or holds a key that
            the identity never had.
    """
    kept = read_envelope_file(folder)
    if kept is not None and kept.part(ML_DSA_87).raw == key.public.raw:
        return kept
    if kept is not None:
        known = () if chain is None else chain.tenures
        raw = kept.part(ML_DSA_87).raw
        if not any(one.role == "identity" and one.key.raw == raw for one in known):
            raise ERRORS.error(
                "ENVELOPE_INVALID", "the kept envelope holds a key that this identity never had"
            )
        publish(folder / f"{kept.key_id}.json", kept.document)
    made = make_identity_envelope(key.public, created_at=datetime.now(UTC))
    publish(folder / ENVELOPE_NAME, made.document)
    return made


def read_envelope_file(folder: Path) -> PublicKeyEnvelope | None:
    """Return the kept envelope, None if there is none.

    Raises:
        IdentityError: ``ENVELOPE_INVALID``.
    """
    try:
        with Folder.open(folder) as opened:
            data = opened.read(ENVELOPE_NAME, limit_bytes=ENVELOPE_BYTES).data
        return read_public_key_envelope(data)
    except FilesError as error:
        if error.code == "FILE_MISSING":
            return None
        raise ERRORS.error("ENVELOPE_INVALID", error.message) from None
    except CryptoError as error:
        raise ERRORS.error("ENVELOPE_INVALID", error.message) from None
