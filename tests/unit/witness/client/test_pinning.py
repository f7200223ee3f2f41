"""Which receipt key is believed: the first one, and from then on what a root says of it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import encode_base64, sha256_text
from agentic_os.crypto.envelope import signed
from agentic_os.crypto.envelope.profiles import SLH_DSA_256S, verify_profile_signature
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, make_named_envelope
from agentic_os.crypto.envelope.signed import envelope_text, read_envelope
from agentic_os.crypto.keys.pairs import ED25519, ML_DSA_87, SigningKey
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import AgenticOSError
from agentic_os.witness.client.memory import WitnessMemory
from agentic_os.witness.client.pinning import pinned_receipt_key
from agentic_os.witness.protocol.operator_root import OperatorRoot, sign_manifest
from agentic_os.witness.protocol.served_key import ServedKey
from support.ledger.builder import BORN
from support.witness.actors import stand_in_root

if TYPE_CHECKING:
    from agentic_os.witness.client.http import WitnessClient

NOW = BORN + timedelta(days=30)


@dataclass
class Witness:
    """What a client sees of a witness here: the key that it serves."""

    memory: WitnessMemory
    served: ServedKey | None = None

    def ask(
        self,
        served: ServedKey | None,
        *,
        root: PublicKeyEnvelope | None = None,
        now: datetime = NOW,
    ) -> str:
        """Return the name of the key that is believed, or the code of the refusal."""
        self.served = served
        try:
            key = pinned_receipt_key(cast("WitnessClient", self), self.memory, root=root, now=now)
        except AgenticOSError as error:
            return error.code
        return key.sha256 if key else ""

    def receipt_key(self) -> ServedKey | None:
        return self.served


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    signer = NoteSigner(kind="cosignature", name="w", private=SigningKey(ED25519, b"w" * 32))
    return Witness(memory=WitnessMemory(tmp_path / "client", signer.key))


@pytest.fixture(autouse=True)
def slh_is_taken_as_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in's SLH-DSA half passes: signing with the real one takes seconds each."""

    def verify(alg: str, public: bytes, signature: bytes, text: bytes) -> bool:
        return alg == SLH_DSA_256S or verify_profile_signature(alg, public, signature, text)

    monkeypatch.setattr(signed, "verify_profile_signature", verify)


def receipt_key(seed: bytes) -> PublicKeyEnvelope:
    key = SigningKey(ML_DSA_87, seed * 32)
    return make_named_envelope(key.public, key_type="witness", created_at=BORN)


def signed_anew(root: OperatorRoot, manifest: bytes, **changes: object) -> bytes:
    """A manifest with other members, signed by the root."""
    envelope = read_envelope(manifest)
    assert isinstance(envelope.payload, dict)
    payload = {**envelope.payload, **changes}
    digest = sha256_text(encode(payload))  # type: ignore[arg-type]
    signatures = []
    for one in envelope.signatures:
        text = envelope_text(
            artifact_kind=envelope.artifact_kind,
            signature_profile=envelope.signature_profile,
            alg=one.alg,
            key_id=one.key_id,
            public_key_fingerprint=one.public_key_fingerprint,
            payload_sha256=digest,
        )
        sign = root.ml_dsa.sign if one.alg == ML_DSA_87 else root.sign_slh
        signatures.append(
            replace(
                one, signature_input_sha256=sha256_text(text), sig_b64=encode_base64(sign(text))
            )
        )
    again = replace(
        envelope,
        payload=payload,  # type: ignore[arg-type]
        payload_sha256=digest,
        signatures=tuple(signatures),
    )
    return encode(again.to_json())


def other_root() -> OperatorRoot:
    first = stand_in_root()
    ml_dsa = SigningKey(ML_DSA_87, b"q" * 32)
    parts = [
        replace(part, public_key_b64=encode_base64(ml_dsa.public.raw))
        if part.alg == ML_DSA_87
        else part
        for part in first.public.keys
    ]
    return replace(first, public=replace(first.public, keys=tuple(parts)), ml_dsa=ml_dsa)


ROOT = stand_in_root()
ONE, TWO = receipt_key(b"1"), receipt_key(b"2")
OF_ONE = ServedKey(public=ONE, manifest=sign_manifest(ROOT, ONE, now=BORN + timedelta(days=1)))
OF_TWO = ServedKey(public=TWO, manifest=sign_manifest(ROOT, TWO, now=BORN + timedelta(days=9)))
UNVOUCHED = replace(OF_ONE, manifest=None)


def test_without_a_root_the_first_key_stays(witness: Witness) -> None:
    assert witness.ask(UNVOUCHED) == ONE.sha256
    assert witness.ask(OF_ONE) == ONE.sha256
    assert witness.ask(OF_TWO) == "WITNESS_KEY_CHANGED"
    assert witness.ask(None) == "WITNESS_ANSWER_INVALID"


def test_a_root_that_came_after_the_pin_is_asked(witness: Witness) -> None:
    """The order of the how-to: bookmark first, then the operator's root."""
    assert witness.ask(UNVOUCHED) == ONE.sha256
    assert witness.ask(UNVOUCHED, root=ROOT.public) == "MANIFEST_INVALID"
    assert witness.ask(OF_ONE, root=other_root().public) == "MANIFEST_INVALID"
    assert witness.ask(OF_ONE, root=ROOT.public) == ONE.sha256
    kept = witness.memory.served_key()
    assert kept is not None
    assert kept.manifest == OF_ONE.manifest  # receipts can be exported from now on


def test_an_impostors_pin_gives_way_to_the_key_that_the_root_vouches_for(witness: Witness) -> None:
    assert witness.ask(OF_ONE) == ONE.sha256
    assert witness.ask(OF_TWO, root=ROOT.public) == TWO.sha256


def test_a_root_is_asked_each_time(witness: Witness) -> None:
    assert witness.ask(OF_ONE, root=ROOT.public) == ONE.sha256
    assert witness.ask(UNVOUCHED, root=ROOT.public) == "MANIFEST_INVALID"
    revoked = signed_anew(ROOT, OF_ONE.manifest or b"", revoked_key_ids=[ONE.key_id])
    assert witness.ask(replace(OF_ONE, manifest=revoked), root=ROOT.public) == "MANIFEST_INVALID"
    late = NOW + timedelta(days=10_000)
    assert witness.ask(OF_ONE, root=ROOT.public, now=late) == "MANIFEST_INVALID"


def test_a_revoked_key_does_not_come_back_with_its_old_manifest(witness: Witness) -> None:
    """A thief of key one shows what the root once said of it, long before it ends."""
    revoking = signed_anew(
        ROOT,
        OF_TWO.manifest or b"",
        revoked_key_ids=[ONE.key_id],
        created_at="2025-12-31T00:00:00Z",
    )
    assert witness.ask(OF_ONE, root=ROOT.public) == ONE.sha256
    older = replace(OF_TWO, manifest=revoking)
    assert witness.ask(older, root=ROOT.public) == "MANIFEST_INVALID"  # older than the kept one
    newer = signed_anew(ROOT, OF_TWO.manifest or b"", revoked_key_ids=[ONE.key_id])
    assert witness.ask(replace(OF_TWO, manifest=newer), root=ROOT.public) == TWO.sha256
    again = sign_manifest(ROOT, ONE, now=BORN + timedelta(days=20))
    for manifest in (OF_ONE.manifest, again):
        served = ServedKey(public=ONE, manifest=manifest)
        assert witness.ask(served, root=ROOT.public) == "MANIFEST_INVALID"
    kept = witness.memory.served_key()
    assert kept is not None
    assert kept.public.sha256 == TWO.sha256


def test_an_older_manifest_is_refused_and_a_newer_one_kept(witness: Witness) -> None:
    newer = sign_manifest(ROOT, ONE, now=BORN + timedelta(days=5))
    assert witness.ask(OF_ONE, root=ROOT.public) == ONE.sha256
    assert witness.ask(ServedKey(public=ONE, manifest=newer), root=ROOT.public) == ONE.sha256
    assert witness.ask(OF_ONE, root=ROOT.public) == "MANIFEST_INVALID"
    timeless = signed_anew(ROOT, newer, created_at=5)
    served = ServedKey(public=ONE, manifest=timeless)
    assert witness.ask(served, root=ROOT.public) == "MANIFEST_INVALID"
