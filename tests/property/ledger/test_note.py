"""Notes, checkpoints and proof files: what is written is read back; junk is only refused."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.checkpoint import (
    Checkpoint,
    is_origin,
    parse_checkpoint,
    parse_signed_checkpoint,
    sign_checkpoint,
)
from agentic_os.crypto.tlog.checkpoint_proof import TlogProof, parse_tlog_proof
from agentic_os.crypto.tlog.note import SignedNote, open_note, parse_note, sign_text
from agentic_os.crypto.tlog.note_keys import NoteSigner, is_key_name, parse_vkey
from agentic_os.errors import CryptoError

SEEDS = st.binary(min_size=32, max_size=32)
HASHES = st.binary(min_size=32, max_size=32)
PLAIN = st.characters(min_codepoint=0x20, exclude_categories=["Cs"])
NAMES = st.text(PLAIN, min_size=1, max_size=40).filter(is_key_name)
TEXTS = st.lists(st.text(PLAIN, max_size=30), min_size=1, max_size=6).map(
    lambda lines: "\n".join(lines) + "\n"
)
ORIGINS = st.text(PLAIN, min_size=1, max_size=40).filter(is_origin)
SIZES = st.integers(min_value=0, max_value=2**63 - 1)
EXTENSIONS = st.lists(st.text(PLAIN, min_size=1, max_size=20), max_size=4).map(tuple)
HEADS = st.builds(Checkpoint, origin=ORIGINS, size=SIZES, root=HASHES, extensions=EXTENSIONS)


@given(name=NAMES, seed=SEEDS, text=TEXTS, time=st.integers(min_value=1, max_value=2**63 - 1))
@settings(max_examples=100, deadline=None)
def test_a_signed_text_opens_by_its_vkey(name: str, seed: bytes, text: str, time: int) -> None:
    private = SigningKey(ED25519, seed)
    log = NoteSigner(kind="note", name=name, private=private)
    witness = NoteSigner(kind="cosignature", name=name, private=private)
    note = SignedNote(text=text, signatures=(sign_text(text, log),))
    note = note.signed_by(sign_text(text, witness, time=time))
    read = parse_note(note.data)

    assert read == note
    opened = open_note(read, [parse_vkey(log.key.vkey), parse_vkey(witness.key.vkey)])
    assert [item.time for item in opened] == [None, time]


@given(head=HEADS, seed=SEEDS)
@settings(max_examples=100, deadline=None)
def test_checkpoints_survive(head: Checkpoint, seed: bytes) -> None:
    signer = NoteSigner(kind="note", name="log", private=SigningKey(ED25519, seed))
    signed = sign_checkpoint(head, signer)

    assert parse_checkpoint(head.text) == head
    assert parse_signed_checkpoint(signed.note.data) == signed


@given(
    head=HEADS,
    index=SIZES,
    hashes=st.lists(HASHES, max_size=63).map(tuple),
    extra=st.binary(max_size=200),
)
@settings(max_examples=100, deadline=None)
def test_proof_files_survive(
    head: Checkpoint, index: int, hashes: tuple[bytes, ...], extra: bytes
) -> None:
    signer = NoteSigner(kind="note", name="log", private=SigningKey(ED25519, bytes(32)))
    signed = sign_checkpoint(head, signer)
    proof = TlogProof(index=index, hashes=hashes, head=signed, extra=extra)

    assert parse_tlog_proof(proof.data) == proof


VALID = (
    b"c2sp.org/tlog-proof@v1\nextra YWI=\nindex 1\n"
    b"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n\nlog.example\n2\n"
    b"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n\n\xe2\x80\x94 log.example AAAAAAA=\n"
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    data = bytearray(VALID)
    for _ in range(draw(st.integers(min_value=1, max_value=3))):
        at = draw(st.integers(min_value=0, max_value=len(data) - 1))
        match draw(st.integers(min_value=0, max_value=2)):
            case 0:
                data[at] = draw(st.integers(min_value=0, max_value=255))
            case 1:
                del data[at : at + draw(st.integers(min_value=1, max_value=20))]
                data = data or bytearray(b"\n")
            case _:
                data[at:at] = draw(st.binary(max_size=5))
    return bytes(data)


@given(data=st.one_of(st.binary(max_size=300), damaged()))
@settings(max_examples=400, deadline=None)
def test_junk_is_refused_and_what_is_taken_is_written_back_the_same(data: bytes) -> None:
    try:
        proof = parse_tlog_proof(data)
    except CryptoError:
        pass
    else:
        assert proof.data == data
    try:
        note = parse_note(data)
    except CryptoError:
        return
    assert note.data == data
    with suppress(CryptoError):
        assert parse_checkpoint(note.text).text == note.text


@given(text=st.text(max_size=120))
@settings(max_examples=300, deadline=None)
def test_arbitrary_vkeys_are_refused(text: str) -> None:
    with pytest.raises(CryptoError) as caught:
        parse_vkey(text)
    assert caught.value.code in {"VKEY_INVALID", "VKEY_UNSUPPORTED", "KEY_NAME_INVALID"}
