"""Canonical JSON, SHA-256 names, keys, signed envelopes, Merkle trees, signed notes.

``canonical`` is the one text of a value; ``keys`` signs and verifies; ``keys_files`` keeps
private keys; ``envelope`` is AIII-SIGNATURE-V1; ``root_profile`` checks what the platform's
root signs with two algorithms. Nothing here knows a ledger or a witness.
"""

from agentic_os.crypto.canonical import (
    CANONICALIZATION,
    canonicalize,
    encode,
    is_canonical,
)
from agentic_os.crypto.canonical_reader import decode
from agentic_os.crypto.canonical_texts import (
    ZERO_SHA256_TEXT,
    bare_hash,
    decode_base64,
    encode_base64,
    is_sha256_hex,
    is_sha256_text,
    sha256_hex,
    sha256_text,
    signed_text,
)
from agentic_os.crypto.canonical_values import JsonInput, JsonValue, Number
from agentic_os.crypto.envelope import (
    EnvelopeSignature,
    SignedEnvelope,
    read_envelope,
    seal,
    verify_envelope,
)
from agentic_os.crypto.envelope_keys import (
    PublicKeyEnvelope,
    PublicKeyPart,
    identity_id,
    key_fingerprint,
    make_identity_envelope,
    make_named_envelope,
    make_public_key_envelope,
    read_public_key_envelope,
)
from agentic_os.crypto.keys import (
    ED25519,
    ML_DSA_87,
    Algorithm,
    SigningKey,
    VerifyingKey,
    generate_key,
)
from agentic_os.crypto.keys_files import decode_key, encode_key, read_key, write_key
from agentic_os.crypto.root_profile import (
    FAST_PROFILE,
    ROOT_PROFILE,
    SLH_DSA_256S,
    verify_profile_signature,
)

__all__ = [
    "CANONICALIZATION",
    "ED25519",
    "FAST_PROFILE",
    "ML_DSA_87",
    "ROOT_PROFILE",
    "SLH_DSA_256S",
    "ZERO_SHA256_TEXT",
    "Algorithm",
    "EnvelopeSignature",
    "JsonInput",
    "JsonValue",
    "Number",
    "PublicKeyEnvelope",
    "PublicKeyPart",
    "SignedEnvelope",
    "SigningKey",
    "VerifyingKey",
    "bare_hash",
    "canonicalize",
    "decode",
    "decode_base64",
    "decode_key",
    "encode",
    "encode_base64",
    "encode_key",
    "generate_key",
    "identity_id",
    "is_canonical",
    "is_sha256_hex",
    "is_sha256_text",
    "key_fingerprint",
    "make_identity_envelope",
    "make_named_envelope",
    "make_public_key_envelope",
    "read_envelope",
    "read_key",
    "read_public_key_envelope",
    "seal",
    "sha256_hex",
    "sha256_text",
    "signed_text",
    "verify_envelope",
    "verify_profile_signature",
    "write_key",
]
