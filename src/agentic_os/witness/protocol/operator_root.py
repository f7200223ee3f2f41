"""The operator's own root: two keys that vouch for a witness key, best kept offline.

The original's clients trust a receipt key through a manifest that their platform's root has
signed with ML-DSA-87 AND SLH-DSA-SHA2-256s (AII OS formats, sections 3 and 4.1). An operator
of a witness has a root of their own in the same profile. It signs once per manifest; the
pure Python SLH-DSA needs about one second to make a key and seven to sign.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentic_os.crypto.canonical.json import CANONICALIZATION, encode
from agentic_os.crypto.canonical.texts import encode_base64, sha256_text
from agentic_os.crypto.envelope.profiles import ROOT_PROFILE, SLH_DSA_256S
from agentic_os.crypto.envelope.public_keys import (
    CLOCK_SKEW,
    PublicKeyEnvelope,
    format_time,
    make_public_key_envelope,
    read_public_key_envelope,
)
from agentic_os.crypto.envelope.signed import EnvelopeSignature, SignedEnvelope, envelope_text
from agentic_os.crypto.keys.files import read_key, write_key
from agentic_os.crypto.keys.pairs import ML_DSA_87, SigningKey, generate_key
from agentic_os.files.publishing import private_folder, publish
from agentic_os.files.reading import Folder
from agentic_os.witness.codes import ERRORS

if TYPE_CHECKING:
    from agentic_os.crypto.canonical.values import JsonValue

MANIFEST_KIND: Final = "witness.public_key_manifest"
MANIFEST_SCHEMA_VERSION: Final = 1
ROOT_VALID_DAYS: Final = 36_500
MANIFEST_VALID_DAYS: Final = 3_650
ROOT_KEY_TYPE: Final = "platform"

_ML_DSA_FILE: Final = "root.key"
_SLH_FILE: Final = "root.slh-dsa.key"
_PUBLIC_FILE: Final = "root.public.json"
_SLH_SECRET_BYTES: Final = 128
_FILE_BYTES: Final = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class OperatorRoot:
    """An opened root: its public envelope, its ML-DSA-87 key and a way to sign SLH-DSA."""

    public: PublicKeyEnvelope
    ml_dsa: SigningKey
    sign_slh: Callable[[bytes], bytes]


def generate_root(folder: Path, *, now: datetime, password: str | None = None) -> OperatorRoot:
    """Make a root and write it to ``folder`` (0700, files 0600).

    The password encrypts the ML-DSA-87 key alone; a forged manifest needs both keys.

    Raises:
        CryptoError: ``KEY_EXISTS``; FilesError.
    """
    private_folder(folder)
    ml_dsa, slh_secret = generate_key(ML_DSA_87), _generate_slh()
    digits = hashlib.sha256(ml_dsa.public.raw).hexdigest()[:16]
    public = make_public_key_envelope(
        key_id=f"agentic_os_root_{digits}",
        key_type=ROOT_KEY_TYPE,
        profile=ROOT_PROFILE,
        keys=[(ML_DSA_87, ml_dsa.public.raw), (SLH_DSA_256S, _slh_public(slh_secret))],
        created_at=now,
        valid_days=ROOT_VALID_DAYS,
    )
    write_key(folder / _ML_DSA_FILE, ml_dsa, password=password)
    publish(folder / _SLH_FILE, slh_secret.hex().encode() + b"\n")
    publish(folder / _PUBLIC_FILE, public.document)
    return OperatorRoot(public=public, ml_dsa=ml_dsa, sign_slh=_slh_signer(slh_secret))


def read_root(folder: Path, *, password: str | None = None) -> OperatorRoot:
    """Open a root from its folder.

    Raises:
        CryptoError: as ``read_key``; ``KEY_MISMATCH`` when the files do not belong together.
        FilesError: when a file is missing.
    """
    ml_dsa = read_key(folder / _ML_DSA_FILE, password=password)
    with Folder.open(folder) as opened:
        public = read_public_key_envelope(opened.read(_PUBLIC_FILE, limit_bytes=_FILE_BYTES).data)
        secret_text = opened.read(_SLH_FILE, limit_bytes=_FILE_BYTES).data
    try:
        slh_secret = bytes.fromhex(secret_text.decode("ascii").strip())
    except ValueError:
        raise ERRORS.error("KEY_INVALID", "the SLH-DSA key of the root is damaged") from None
    if len(slh_secret) != _SLH_SECRET_BYTES:
        raise ERRORS.error("KEY_INVALID", "the SLH-DSA key of the root is damaged")
    is_whole = public.part(ML_DSA_87).raw == ml_dsa.public.raw and public.part(
        SLH_DSA_256S
    ).raw == _slh_public(slh_secret)
    if not is_whole:
        raise ERRORS.error("KEY_MISMATCH", "the files of the root do not belong together")
    return OperatorRoot(public=public, ml_dsa=ml_dsa, sign_slh=_slh_signer(slh_secret))


def sign_manifest(
    root: OperatorRoot,
    receipt_key: PublicKeyEnvelope,
    *,
    now: datetime,
    valid_days: int = MANIFEST_VALID_DAYS,
) -> bytes:
    """Vouch for a witness's receipt key; returns the manifest's canonical bytes.

    Source of the payload: AII OS formats, section 4.1.
    """
    payload: JsonValue = {
        "kind": MANIFEST_KIND,
        "schema_version": MANIFEST_SCHEMA_VERSION,
        "artifact_version": now.strftime("%Y.%m.%d.1"),
        "artifact_hash": receipt_key.sha256,
        "key_id": receipt_key.key_id,
        "signature_profile": ROOT_PROFILE,
        "created_at": format_time(now),
        "not_before": format_time(now - CLOCK_SKEW),
        "expires_at": format_time(now + timedelta(days=valid_days)),
        "critical": True,
    }
    payload_sha256 = sha256_text(encode(payload))
    signers = ((ML_DSA_87, root.ml_dsa.sign), (SLH_DSA_256S, root.sign_slh))
    envelope = SignedEnvelope(
        artifact_kind=MANIFEST_KIND,
        payload=payload,
        payload_sha256=payload_sha256,
        canonicalization=CANONICALIZATION,
        signature_profile=ROOT_PROFILE,
        signatures=tuple(
            _signature(root.public, algorithm, sign, payload_sha256) for algorithm, sign in signers
        ),
    )
    return encode(envelope.to_json())


def _signature(
    public: PublicKeyEnvelope, algorithm: str, sign: Callable[[bytes], bytes], payload_sha256: str
) -> EnvelopeSignature:
    fingerprint = public.part(algorithm).public_key_fingerprint
    text = envelope_text(
        artifact_kind=MANIFEST_KIND,
        signature_profile=ROOT_PROFILE,
        alg=algorithm,
        key_id=public.key_id,
        public_key_fingerprint=fingerprint,
        payload_sha256=payload_sha256,
    )
    return EnvelopeSignature(
        alg=algorithm,
        key_id=public.key_id,
        public_key_fingerprint=fingerprint,
        signature_input_sha256=sha256_text(text),
        sig_b64=encode_base64(sign(text)),
    )


def _generate_slh() -> bytes:
    from slhdsa import KeyPair
    from slhdsa.lowlevel.parameters import sha2_256s

    secret: bytes = KeyPair.gen(sha2_256s).sec.digest()
    return secret


def _slh_public(secret: bytes) -> bytes:
    # FIPS 205: the secret key ends with the public seed and the public root.
    return secret[_SLH_SECRET_BYTES // 2 :]


def _slh_signer(secret: bytes) -> Callable[[bytes], bytes]:
    def sign(message: bytes) -> bytes:
        from slhdsa import SecretKey
        from slhdsa.lowlevel.parameters import sha2_256s

        signature: bytes = SecretKey.from_digest(secret, sha2_256s).sign_pure(
            message, randomize=True
        )
        return signature

    return sign
