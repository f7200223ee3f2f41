from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.note import SignedNote, sign_text
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.bookmark import BookmarkRequest, KeyChain
from agentic_os.witness.protocol.refusal import RequestRefusedError
from agentic_os.witness.rule.claims import VerifiedBookmark, verify_bookmark
from agentic_os.witness.rule.state import OriginState
from support.witness.actors import BORN, Owner

NOW = datetime(2026, 6, 1, tzinfo=UTC)
OWNER = Owner(seed=1).add(6)
LEDGER = OWNER.ledger()
BOUND = OriginState(
    origin=OWNER.origin, identity_id="x", keys=frozenset({OWNER.checkpoint_signer.key.vkey})
)


def verified(
    request: BookmarkRequest, origin: OriginState | None = None, now: datetime = NOW
) -> VerifiedBookmark:
    return verify_bookmark(request, origin=origin, admitted=True, now=now)


def refused(
    request: BookmarkRequest, origin: OriginState | None = None, now: datetime = NOW
) -> tuple[int, str]:
    with pytest.raises(RequestRefusedError) as caught:
        verified(request, origin, now)
    return caught.value.refusal.status, caught.value.refusal.message


def request(*, old: int | None = None, binds: bool = False) -> BookmarkRequest:
    return build_bookmark(LEDGER, ordinal=6, old_size=old, binds=binds)


def test_a_signed_bookmark_becomes_a_claim() -> None:
    claim = verified(request()).claim

    assert claim.identity_id == claim.derived_id == LEDGER.identity_id
    assert claim.key_digits == OWNER.first_key_digits
    assert (claim.ordinal, claim.ledger_hash, claim.head) == (6, OWNER.hash_at(6), None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("signature_profile", "AIII-PQ-SIGNATURE-V1-ROOT"),
        ("alg", "Ed25519"),
        ("key_id", "aiii_identity_0000000000000000"),
        ("public_key_fingerprint", "sha256:" + "0" * 64),
        ("signature_input_sha256", "sha256:" + "0" * 64),
        ("sig_b64", "AAAA"),
        ("sig_b64", "not base64"),
    ],
)
def test_every_field_of_the_signature_is_checked(name: str, value: str) -> None:
    made = request()
    status, _ = refused(replace(made, signature=replace(made.signature, **{name: value})))

    assert status == 401


def test_a_signature_over_another_point_does_not_verify() -> None:
    made = request()

    assert refused(replace(made, ordinal=7))[0] == 401
    assert refused(replace(made, ledger_hash="0" * 64))[0] == 401


def test_a_key_outside_its_window_does_not_sign() -> None:
    assert refused(request(), now=datetime(2025, 1, 1, tzinfo=UTC))[0] == 401
    assert refused(request(), now=datetime(2200, 1, 1, tzinfo=UTC))[0] == 401


def test_another_identitys_name_is_seen_in_the_claim() -> None:
    other = build_bookmark(Owner(seed=2).add(6).ledger(), ordinal=6, old_size=None, binds=False)
    key = SigningKey("ML-DSA-87", LEDGER.identity_key.seed)
    stolen = replace(request(), identity_id=other.identity_id)
    from agentic_os.crypto.canonical.texts import encode_base64, sha256_text

    signature = replace(
        stolen.signature,
        signature_input_sha256=sha256_text(stolen.text),
        sig_b64=encode_base64(key.sign(stolen.text)),
    )
    claim = verified(replace(stolen, signature=signature)).claim

    assert claim.identity_id == other.identity_id
    assert claim.derived_id == LEDGER.identity_id


def test_a_binding_brings_its_own_key() -> None:
    made = verified(request(old=0, binds=True))

    assert made.claim.head
    vkey = OWNER.checkpoint_signer.key.vkey
    assert (made.claim.head.binds, made.claim.head.vkeys) == (vkey, frozenset({vkey}))
    assert made.note
    assert len(made.note.signatures) == 1


def test_a_later_proof_is_checked_by_the_bound_keys() -> None:
    known = verified(request(old=4), BOUND).claim.head
    unknown = verified(request(old=4)).claim.head

    assert known
    assert known.vkeys == BOUND.keys
    assert unknown
    assert unknown.vkeys == frozenset()


def test_a_binding_by_another_identity_does_not_verify() -> None:
    made = request(old=0, binds=True)
    other = build_bookmark(Owner(seed=2).add(6).ledger(), ordinal=6, old_size=0, binds=True)
    assert made.proof
    assert other.proof
    assert made.proof.binding
    assert other.proof.binding

    swapped = replace(made.proof.binding, signature=other.proof.binding.signature)
    status, message = refused(replace(made, proof=replace(made.proof, binding=swapped)))
    assert (status, message) == (401, "origin binding verification failed")


def test_a_bound_key_is_named_like_its_origin() -> None:
    made = request(old=0, binds=True)
    assert made.proof
    assert made.proof.binding
    key = NoteSigner(kind="note", name="other", private=SigningKey(ED25519, bytes(32))).key
    binding = replace(made.proof.binding, key=key)

    assert refused(replace(made, proof=replace(made.proof, binding=binding)))[0] == 400


def test_a_checkpoint_that_the_bound_key_did_not_sign_is_refused() -> None:
    made = request(old=0, binds=True)
    assert made.proof
    stranger = NoteSigner(kind="note", name=OWNER.origin, private=SigningKey(ED25519, b"s" * 32))
    text = made.proof.head.note.text
    note = SignedNote(text=text, signatures=(sign_text(text, stranger),))
    head = replace(made.proof.head, note=note)

    assert refused(replace(made, proof=replace(made.proof, head=head)))[0] == 401


def test_only_signatures_that_verified_are_kept() -> None:
    made = request(old=0, binds=True)
    assert made.proof
    text = made.proof.head.note.text
    stranger = NoteSigner(kind="note", name="secret-words", private=SigningKey(ED25519, bytes(32)))
    note = made.proof.head.note.signed_by(sign_text(text, stranger))
    head = replace(made.proof.head, note=note)
    kept = verified(replace(made, proof=replace(made.proof, head=head))).note

    assert kept
    assert b"secret-words" not in kept.data


ROTATED = Owner(seed=1).add(3).rotated().add(2).rotated().add(1)


def rotated_request() -> BookmarkRequest:
    return build_bookmark(ROTATED.ledger(), ordinal=8, old_size=0, binds=True)


def with_chain(made: BookmarkRequest, chain: KeyChain) -> BookmarkRequest:
    assert made.proof
    return replace(made, proof=replace(made.proof, chain=chain))


def chain_of(made: BookmarkRequest) -> KeyChain:
    assert made.proof
    assert made.proof.chain
    return made.proof.chain


def test_a_chain_of_transitions_leads_from_every_earlier_key() -> None:
    made = rotated_request()
    claim = verified(made).claim

    assert len(claim.earlier_keys) == 2
    assert OWNER.first_key_digits in claim.earlier_keys
    assert claim.key_digits not in claim.earlier_keys


def test_a_broken_chain_is_refused() -> None:
    made = rotated_request()
    chain = chain_of(made)
    one, two = chain.steps
    edited = replace(one, line=one.line.replace(b'"seq":4', b'"seq":5'))

    for steps in ((one,), (two,), (two, one), (edited, two), (replace(one, inclusion=()), two)):
        assert refused(with_chain(made, replace(chain, steps=steps)))[0] == 401
    assert refused(with_chain(made, replace(chain, first_public_key=b"x")))[0] == 401
    other = Owner(seed=2).identity_key.public.raw
    assert refused(with_chain(made, replace(chain, first_public_key=other)))[0] == 401


def test_a_transition_signed_but_not_in_the_tree_is_refused() -> None:
    made = rotated_request()
    elsewhere = Owner(seed=1).add(5).rotated().add(1).rotated().add(0)
    foreign = chain_of(build_bookmark(elsewhere.ledger(), ordinal=8, old_size=0, binds=True))
    status, message = refused(with_chain(made, foreign))

    assert (status, message) == (401, "a key transition does not stand in the tree")


def test_the_actors_are_what_they_claim() -> None:
    assert ROTATED.origin == OWNER.origin
    assert BORN < NOW
    assert ROTATED.identity_key.key_id != OWNER.identity_key.key_id
