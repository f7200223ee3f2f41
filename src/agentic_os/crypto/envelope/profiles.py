"""Signature profiles: which algorithms a signature set must have, all of them and no more.

``AIII-PQ-SIGNATURE-V1-ROOT`` is what the platform's root signs: ML-DSA-87 AND
SLH-DSA-SHA2-256s, so that a break of one family of mathematics is not enough.
``AIII-PQ-SIGNATURE-V1-FAST`` is ML-DSA-87 alone (AII OS formats, section 3). Both
algorithms are used pure with the EMPTY context. SLH-DSA is only verified here: signing in
pure Python takes seconds and belongs to whoever holds a root.
"""

from typing import Final

from agentic_os.crypto.keys.pairs import ML_DSA_87, PUBLIC_KEY_BYTES, VerifyingKey
from agentic_os.errors import CryptoError

ROOT_PROFILE: Final = "AIII-PQ-SIGNATURE-V1-ROOT"
FAST_PROFILE: Final = "AIII-PQ-SIGNATURE-V1-FAST"
SLH_DSA_256S: Final = "SLH-DSA-SHA2-256s"
SLH_PUBLIC_KEY_BYTES = 64
SLH_SIGNATURE_BYTES = 29_792

_PROFILES: dict[str, frozenset[str]] = {
    ROOT_PROFILE: frozenset({ML_DSA_87, SLH_DSA_256S}),
    FAST_PROFILE: frozenset({ML_DSA_87}),
}


def profile_algorithms(profile: str) -> frozenset[str]:
    """Return the exact set of algorithms of a profile.

    Raises:
        CryptoError: ``PROFILE_UNKNOWN``.
    """
    try:
        return _PROFILES[profile]
    except KeyError:
        raise CryptoError("an unknown signature profile", code="PROFILE_UNKNOWN") from None


def verify_profile_signature(
    algorithm: str, public_key: bytes, signature: bytes, message: bytes
) -> bool:
    """Whether ``signature`` over ``message`` verifies under one algorithm of a profile.

    A key or signature of a wrong length does not verify. ML-DSA-87 takes about 0.4 ms,
    SLH-DSA-SHA2-256s about 5 ms.

    Raises:
        CryptoError: ``ALGORITHM_UNKNOWN`` for anything else.
    """
    match algorithm:
        case "ML-DSA-87":
            if len(public_key) != PUBLIC_KEY_BYTES[ML_DSA_87]:
                return False
            return VerifyingKey(ML_DSA_87, public_key).verify(signature, message)
        case "SLH-DSA-SHA2-256s":
            return _verify_slh(public_key, signature, message)
        case _:
            raise CryptoError("an unknown signature algorithm", code="ALGORITHM_UNKNOWN")


def _verify_slh(public_key: bytes, signature: bytes, message: bytes) -> bool:
    if len(public_key) != SLH_PUBLIC_KEY_BYTES or len(signature) != SLH_SIGNATURE_BYTES:
        return False
    from slhdsa import PublicKey
    from slhdsa.lowlevel.parameters import sha2_256s

    return PublicKey.from_digest(public_key, sha2_256s).verify_pure(message, signature)
