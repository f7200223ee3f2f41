"""ML-DSA-87 and Ed25519 keys as values: sign, verify, name.

Both algorithms keep the private half as a 32-byte seed. ML-DSA-87 (FIPS 204) is used pure
and with the EMPTY context; domains are kept apart by the header line of the signed text
(AII OS formats, section 3). Its signatures are hedged: two signatures over one text differ.
A key's name is ``sha256:`` and the hex SHA-256 of the raw public key.
"""

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, assert_never

from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.errors import CryptoError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )
    from cryptography.hazmat.primitives.asymmetric.mldsa import (
        MLDSA87PrivateKey,
        MLDSA87PublicKey,
    )

Algorithm: TypeAlias = Literal["ML-DSA-87", "Ed25519"]

ML_DSA_87: Final = "ML-DSA-87"
ED25519: Final = "Ed25519"
SEED_BYTES = 32
PUBLIC_KEY_BYTES: dict[Algorithm, int] = {ML_DSA_87: 2592, ED25519: 32}


class VerifyingKey:
    """A public key. Equal when algorithm and raw bytes are equal.

    Args:
        algorithm: ``ML-DSA-87`` or ``Ed25519``.
        raw: the raw public key, 2592 or 32 bytes.

    Raises:
        CryptoError: ``KEY_INVALID`` when ``raw`` is not a public key of that algorithm.
    """

    __slots__ = ("_handle", "algorithm", "key_id", "raw")

    def __init__(self, algorithm: Algorithm, raw: bytes) -> None:
        """Open the key; ``key_id`` is its name."""
        self.algorithm: Algorithm = algorithm
        self.raw = raw
        self.key_id = sha256_text(raw)
        self._handle = _open_public(algorithm, raw)

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Whether ``signature`` is this key's over ``message`` (empty context)."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._handle.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        """Compare algorithm and raw bytes."""
        if not isinstance(other, VerifyingKey):
            return NotImplemented
        return (self.algorithm, self.raw) == (other.algorithm, other.raw)

    def __hash__(self) -> int:
        """Hash what is compared."""
        return hash((self.algorithm, self.raw))

    def __repr__(self) -> str:
        """Show algorithm and name, never bytes."""
        return f"VerifyingKey({self.algorithm}, {self.key_id})"


class SigningKey:
    """A private key, opened from its 32-byte seed. Never printed.

    Args:
        algorithm: ``ML-DSA-87`` or ``Ed25519``.
        seed: 32 bytes.

    Raises:
        CryptoError: ``KEY_INVALID`` for a seed of another length.
    """

    __slots__ = ("_handle", "algorithm", "public", "seed")

    def __init__(self, algorithm: Algorithm, seed: bytes) -> None:
        """Open the key; ``public`` is its public half."""
        if len(seed) != SEED_BYTES:
            raise CryptoError(f"a seed is {SEED_BYTES} bytes long", code="KEY_INVALID")
        self.algorithm: Algorithm = algorithm
        self.seed = seed
        self._handle = open_private(algorithm, seed)
        self.public = VerifyingKey(algorithm, self._handle.public_key().public_bytes_raw())

    @property
    def key_id(self) -> str:
        """The name of the public half."""
        return self.public.key_id

    def sign(self, message: bytes) -> bytes:
        """Sign ``message`` with the empty context."""
        return self._handle.sign(message)

    def __repr__(self) -> str:
        """Show algorithm and name, never the seed."""
        return f"SigningKey({self.algorithm}, {self.key_id})"


def generate_key(algorithm: Algorithm) -> SigningKey:
    """Make a new key from the operating system's randomness."""
    import secrets

    return SigningKey(algorithm, secrets.token_bytes(SEED_BYTES))


def open_private(algorithm: Algorithm, seed: bytes) -> "MLDSA87PrivateKey | Ed25519PrivateKey":
    """Return the library's own private key object for a seed (used to write PKCS8)."""
    from cryptography.hazmat.primitives.asymmetric import ed25519, mldsa

    match algorithm:
        case "ML-DSA-87":
            return mldsa.MLDSA87PrivateKey.from_seed_bytes(seed)
        case "Ed25519":
            return ed25519.Ed25519PrivateKey.from_private_bytes(seed)
    assert_never(algorithm)


def _open_public(algorithm: Algorithm, raw: bytes) -> "MLDSA87PublicKey | Ed25519PublicKey":
    from cryptography.hazmat.primitives.asymmetric import ed25519, mldsa

    if len(raw) != PUBLIC_KEY_BYTES[algorithm]:
        raise CryptoError(
            f"an {algorithm} public key is {PUBLIC_KEY_BYTES[algorithm]} bytes long",
            code="KEY_INVALID",
        )
    match algorithm:
        case "ML-DSA-87":
            return mldsa.MLDSA87PublicKey.from_public_bytes(raw)
        case "Ed25519":
            return ed25519.Ed25519PublicKey.from_public_bytes(raw)
    assert_never(algorithm)
