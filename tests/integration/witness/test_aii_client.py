"""A client of AII OS's witness protocol that shares no code with this program.

Written from the formats reference, sections 1.1, 3 and 4, alone: its own canonical JSON and
texts, and ``dilithium-py`` (another implementation of ML-DSA-87) for every signature.
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from dilithium_py.ml_dsa import ML_DSA_87

from agentic_os.witness.service.config import WitnessConfig
from support.witness.actors import HTTP, Serving, new_witness, serving

ROOT_PROFILE = "AIII-PQ-SIGNATURE-V1-ROOT"
FAST_PROFILE = "AIII-PQ-SIGNATURE-V1-FAST"


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256(text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    return "sha256:" + hashlib.sha256(data).hexdigest()


def fingerprint(key_id: str, public_b64: str) -> str:
    return sha256(
        f"AIII-PUBLIC-KEY-FINGERPRINT-V1\nalg:ML-DSA-87\nkey_id:{key_id}\n"
        f"public_key_b64:{public_b64}\n"
    )


class Client:
    """An identity and its side of the protocol."""

    def __init__(self, url: str, seed: int) -> None:
        self.url = url
        self.public, self.secret = ML_DSA_87.key_derive(bytes([seed]) * 32)
        public_b64 = base64.b64encode(self.public).decode()
        digits = hashlib.sha256(self.public).hexdigest()[:16]
        key_id = f"aiii_identity_{digits}"
        self.envelope = {
            "v": 1,
            "kind": "aiii.server_key.public",
            "key_id": key_id,
            "key_type": "identity",
            "profile": ROOT_PROFILE,
            "created_at": "2026-01-01T00:00:00Z",
            "not_before": "2025-12-31T23:59:00Z",
            "expires_at": "2125-12-08T00:00:00Z",
            "keys": [
                {
                    "alg": "ML-DSA-87",
                    "public_key_b64": public_b64,
                    "public_key_fingerprint": fingerprint(key_id, public_b64),
                }
            ],
        }
        self.key_id = key_id
        self.fingerprint = fingerprint(key_id, public_b64)
        material = (
            f"AIII-WITNESS-IDENTITY-ID\nidentity_public_key_fingerprint:{self.fingerprint}\n"
            f"identity_public_key_hash:{sha256(canonical(self.envelope))}\n"
        )
        self.identity_id = f"did:aiii:identity:{sha256(material)}"

    def request(self, ordinal: int, ledger_hash: str) -> dict[str, Any]:
        text = (
            f"AIII-WITNESS-REQUEST\nidentity_id:{self.identity_id}\n"
            f"identity_public_key:{canonical(self.envelope)}\n"
            f"ledger_ordinal:{ordinal}\nledger_hash:{ledger_hash}\n"
        )
        return {
            "identity_id": self.identity_id,
            "identity_public_key": self.envelope,
            "ledger_ordinal": ordinal,
            "ledger_hash": ledger_hash,
            "identity_signature": {
                "signature_profile": FAST_PROFILE,
                "alg": "ML-DSA-87",
                "key_id": self.key_id,
                "public_key_fingerprint": self.fingerprint,
                "signature_input_sha256": sha256(text),
                "sig_b64": base64.b64encode(ML_DSA_87.sign(self.secret, text.encode())).decode(),
            },
        }

    def bookmark(self, ordinal: int, ledger_hash: str) -> tuple[int, dict[str, Any]]:
        answer = HTTP.post(f"{self.url}/witness/bookmark", json=self.request(ordinal, ledger_hash))
        return answer.status_code, answer.json()

    def witness_key(self) -> dict[str, Any]:
        stated = HTTP.get(f"{self.url}/witness/pubkey/hash").json()
        envelope: dict[str, Any] = json.loads(HTTP.get(f"{self.url}/witness/pubkey").content)
        assert sha256(canonical(envelope)) == stated["witness_public_key_hash"]
        assert envelope["key_id"] == stated["key_id"]
        assert envelope["key_id"].startswith("aiii_witness_")
        assert envelope["key_type"] == "witness"
        return envelope

    def check(self, receipt: dict[str, Any]) -> None:
        envelope = self.witness_key()
        (key,) = [item for item in envelope["keys"] if item["alg"] == "ML-DSA-87"]
        signature = receipt["witness_signature"]
        text = "AIII-WITNESS-RECEIPT\n" + "".join(
            f"{name}:{receipt[name]}\n"
            for name in (
                "identity_id",
                "previous_witnessed_ledger_ordinal",
                "previous_witnessed_ledger_hash",
                "ledger_ordinal",
                "ledger_hash",
                "witnessed_at",
            )
        )
        assert signature["signature_profile"] == FAST_PROFILE
        assert signature["key_id"] == envelope["key_id"]
        assert signature["public_key_fingerprint"] == key["public_key_fingerprint"]
        assert signature["public_key_fingerprint"] == fingerprint(
            envelope["key_id"], key["public_key_b64"]
        )
        assert signature["signature_input_sha256"] == sha256(text)
        assert ML_DSA_87.verify(
            base64.b64decode(key["public_key_b64"]),
            text.encode(),
            base64.b64decode(signature["sig_b64"]),
        )


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = new_witness(tmp_path_factory.mktemp("w") / "w")
    with serving(WitnessConfig(folder=folder, port=0)) as started:
        yield started


def test_a_client_of_the_original_gets_receipts_that_another_implementation_verifies(
    running: Serving,
) -> None:
    client = Client(running.url, 1)
    heads = {2: "ab" * 32, 5: "cd" * 32}

    assert HTTP.get(f"{running.url}/status").json() == {"min_periodic_cadence": 0}
    first_status, first = client.bookmark(2, heads[2])
    second_status, second = client.bookmark(5, heads[5])
    again_status, again = client.bookmark(5, heads[5])
    assert (first_status, second_status, again_status) == (201, 200, 200)
    for receipt in (first, second):
        client.check(receipt)
    assert again == second
    assert first["previous_witnessed_ledger_ordinal"] == -1
    assert first["previous_witnessed_ledger_hash"] == "0" * 64
    assert second["previous_witnessed_ledger_ordinal"] == 2
    assert second["previous_witnessed_ledger_hash"] == heads[2]


def test_it_hears_of_rollback_in_the_words_it_knows(running: Serving) -> None:
    client = Client(running.url, 2)
    client.bookmark(9, "ab" * 32)

    for ordinal, ledger_hash in ((8, "ab" * 32), (9, "ef" * 32)):
        status, answer = client.bookmark(ordinal, ledger_hash)
        assert (status, answer["error"]) == (409, "witness bookmark rollback or fork")


def test_the_manifest_vouches_for_the_key_in_its_form(running: Serving) -> None:
    key = Client(running.url, 3).witness_key()
    bundle = json.loads(HTTP.get(f"{running.url}/witness/pubkey/manifest").content)
    root = json.loads(HTTP.get(f"{running.url}/genesis/pubkey").content)
    payload = bundle["payload"]

    assert bundle["artifact_kind"] == payload["kind"] == "witness.public_key_manifest"
    assert bundle["canonicalization"] == "AIII-CANONICAL-JSON-V1"
    assert bundle["signature_profile"] == payload["signature_profile"] == ROOT_PROFILE
    assert bundle["payload_sha256"] == sha256(canonical(payload))
    assert payload["artifact_hash"] == sha256(canonical(key))
    assert (payload["key_id"], payload["critical"], payload["schema_version"]) == (
        key["key_id"],
        True,
        1,
    )
    ml_dsa = next(item for item in bundle["signatures"] if item["alg"] == "ML-DSA-87")
    public = next(item for item in root["keys"] if item["alg"] == "ML-DSA-87")
    text = (
        "AIII-SIGNATURE-V1\nartifact_kind:witness.public_key_manifest\n"
        f"canonicalization:AIII-CANONICAL-JSON-V1\nsignature_profile:{ROOT_PROFILE}\n"
        f"alg:ML-DSA-87\nkey_id:{root['key_id']}\n"
        f"public_key_fingerprint:{public['public_key_fingerprint']}\n"
        f"payload_sha256:{bundle['payload_sha256']}\n"
    )
    assert ml_dsa["signature_input_sha256"] == sha256(text)
    assert ML_DSA_87.verify(
        base64.b64decode(public["public_key_b64"]),
        text.encode(),
        base64.b64decode(ml_dsa["sig_b64"]),
    )
