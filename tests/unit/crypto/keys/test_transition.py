"""A key transition can be checked from one line by whoever knows the old key."""

from typing import TYPE_CHECKING

import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import encode_base64, sha256_text
from agentic_os.crypto.keys.pairs import ML_DSA_87, SigningKey
from agentic_os.crypto.keys.transition import line_text, transition_text, verify_transition_line
from agentic_os.errors import CryptoError

if TYPE_CHECKING:
    from agentic_os.crypto.canonical.values import JsonInput

OLD = SigningKey(ML_DSA_87, bytes([1]) * 32)
NEW = SigningKey(ML_DSA_87, bytes([2]) * 32)
OTHER = SigningKey(ML_DSA_87, bytes([3]) * 32)
PREVIOUS = "sha256:" + "0" * 64


def _line(
    *,
    type_name: str = "key.transition",
    role: str = "identity",
    payload_role: str = "identity",
    signer: SigningKey = OLD,
    prover: SigningKey = NEW,
    alg: str = ML_DSA_87,
    entry_hash: str = "",
    extra: bool = False,
) -> bytes:
    proof = transition_text(role=payload_role, old_key_id=OLD.key_id, new_key_id=NEW.key_id)
    payload: dict[str, JsonInput] = {
        "role": payload_role,
        "new_public_key_b64": encode_base64(NEW.public.raw),
        "new_sig_b64": encode_base64(prover.sign(proof)),
    }
    entry: dict[str, JsonInput] = {
        "layer": "anchor",
        "payload": payload | ({"extra": 1} if extra else {}),
        "ring": 0,
        "salt": "00" * 16,
        "seq": 2,
        "ts": "2026-01-01T00:00:00.000000000Z",
        "type": type_name,
    }
    name = entry_hash or sha256_text(encode({"entry": entry, "prev_hash": PREVIOUS}))
    text = line_text(role=role, key_id=signer.key_id, entry_hash=name)
    return encode(
        {
            "entry": entry,
            "hash": name,
            "prev_hash": PREVIOUS,
            "sig": {
                "alg": alg,
                "key_id": signer.key_id,
                "role": role,
                "sig_b64": encode_base64(signer.sign(text)),
            },
        }
    )


def test_the_new_key_is_found() -> None:
    assert verify_transition_line(_line(), role="identity", old=OLD.public) == NEW.public


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (_line() + b" ", "canonical"),
        (b"{}", "missing"),
        (_line(extra=True), "unknown field"),
        (_line(type_name="schema.declare"), "another type"),
        (_line(role="operator"), "another role"),
        (_line(payload_role="operator"), "another role"),
        (_line(entry_hash="sha256:" + "1" * 64), "hash"),
        (_line(signer=OTHER), "old key"),
        (_line(alg="Ed25519"), "old key"),
        (_line(prover=OTHER), "new key's signature"),
    ],
)
def test_every_check_can_fail(line: bytes, words: str) -> None:
    with pytest.raises(CryptoError, match=words) as caught:
        verify_transition_line(line, role="identity", old=OLD.public)
    assert caught.value.code == "TRANSITION_INVALID"


def test_the_old_keys_signature_is_checked() -> None:
    line = _line()
    at = line.index(b'"sig_b64":"', line.index(b'"sig":')) + 20
    flipped = line[:at] + (b"A" if line[at : at + 1] != b"A" else b"B") + line[at + 1 :]
    with pytest.raises(CryptoError, match="old key's signature"):
        verify_transition_line(flipped, role="identity", old=OLD.public)
