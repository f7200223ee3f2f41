"""A ring-0 bundle as AIII publishes it, under a root of two algorithms that is made here.

Written from the documented format alone (AII OS formats, sections 1.8 and 3): nothing of the
program is used but hashing, so that the program's own reader is what is tested.
"""

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA87PrivateKey
from slhdsa import KeyPair
from slhdsa.lowlevel.parameters import sha2_256s

ROOT = "AIII-PQ-SIGNATURE-V1-ROOT"
KEY_ID = "aiii_ring0_20260101_k1"
LAWS = "# Laws\n\n1. Tell the truth.\n2. Do no harm — ever.\n"


@dataclass(frozen=True, kw_only=True)
class RootBundle:
    """A bundle and the public key of its root, as bytes of pretty-printed JSON."""

    bundle: bytes
    root_key: bytes


def make_root_bundle() -> RootBundle:
    """Make a root and let it sign; the pure Python SLH-DSA takes several seconds."""
    ml, slh = MLDSA87PrivateKey.generate(), KeyPair.gen(sha2_256s)
    publics = {
        "ML-DSA-87": ml.public_key().public_bytes_raw(),
        "SLH-DSA-SHA2-256s": slh.pub.digest(),
    }
    keys = [
        {
            "alg": alg,
            "public_key_b64": _b64(raw),
            "public_key_fingerprint": _sha256(
                "AIII-PUBLIC-KEY-FINGERPRINT-V1\n"
                f"alg:{alg}\nkey_id:{KEY_ID}\npublic_key_b64:{_b64(raw)}\n"
            ),
        }
        for alg, raw in publics.items()
    ]
    payload = {
        "kind": "ring0",
        "laws": LAWS,
        "ordinal": 1,
        "purpose": "genesis",
        "ring0_version": 1,
        "timestamp": 1780433399,
    }
    payload_sha256 = _sha256(_canonical(payload))
    signatures = []
    for key in keys:
        text = (
            "AIII-SIGNATURE-V1\nartifact_kind:ring0.bundle\n"
            f"canonicalization:AIII-CANONICAL-JSON-V1\nsignature_profile:{ROOT}\n"
            f"alg:{key['alg']}\nkey_id:{KEY_ID}\n"
            f"public_key_fingerprint:{key['public_key_fingerprint']}\n"
            f"payload_sha256:{payload_sha256}\n"
        ).encode()
        signed = ml.sign(text) if key["alg"] == "ML-DSA-87" else slh.sec.sign_pure(text)
        signatures.append(
            {
                "alg": key["alg"],
                "key_id": KEY_ID,
                "public_key_fingerprint": key["public_key_fingerprint"],
                "signature_input_sha256": _sha256(text.decode()),
                "sig_b64": _b64(signed),
            }
        )
    envelope = {
        "artifact_kind": "ring0.bundle",
        "payload": payload,
        "payload_sha256": payload_sha256,
        "canonicalization": "AIII-CANONICAL-JSON-V1",
        "signature_profile": ROOT,
        "signatures": signatures,
        "published_at": "2026-06-02",  # a member that this version does not know
    }
    published = {
        "v": 1,
        "kind": "aiii.server_key.public",
        "key_id": KEY_ID,
        "key_type": "ring0",
        "profile": ROOT,
        "created_at": "2026-01-01T00:00:00Z",
        "not_before": "2026-01-01T00:00:00Z",
        "expires_at": "2126-01-01T00:00:00Z",
        "keys": keys,
    }
    return RootBundle(bundle=_pretty(envelope), root_key=_pretty(published))


def altered(bundle: bytes, change: str) -> bytes:
    """A bundle that must be refused: by what was changed."""
    document: dict[str, Any] = json.loads(bundle)
    signatures = document["signatures"]
    match change:
        case "laws":
            document["payload"]["laws"] = "# Laws\n\n1. Obey me.\n"
        case "one algorithm":
            signatures.pop()
        case "twice the same":
            signatures[1] = signatures[0]
        case "slh-dsa signature":
            text = signatures[1]["sig_b64"]
            signatures[1]["sig_b64"] = ("B" if text[0] != "B" else "C") + text[1:]
        case "ml-dsa signature":
            text = signatures[0]["sig_b64"]
            signatures[0]["sig_b64"] = ("B" if text[0] != "B" else "C") + text[1:]
        case "kind":
            document["artifact_kind"] = "ring5.bundle"
        case "profile":
            document["signature_profile"] = "AIII-PQ-SIGNATURE-V1-FAST"
        case _:
            raise ValueError(change)
    return _pretty(document)


CHANGES = (
    "laws",
    "one algorithm",
    "twice the same",
    "slh-dsa signature",
    "ml-dsa signature",
    "kind",
    "profile",
)


def _canonical(payload: dict[str, Any]) -> str:
    # Plain keys and whole numbers: what the format asks for is what json writes then.
    return json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _pretty(document: dict[str, Any]) -> bytes:
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"


def _sha256(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
