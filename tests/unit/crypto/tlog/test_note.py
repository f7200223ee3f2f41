import base64

import pytest

from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.note import (
    NOTE_BYTES,
    NOTE_SIGNATURES,
    NoteSignature,
    SignedNote,
    open_note,
    parse_note,
    parse_signatures,
    sign_text,
    verifies,
)
from agentic_os.crypto.tlog.note_keys import NoteKind, NoteSigner, parse_vkey
from agentic_os.errors import CryptoError

# The example of the Go note package's documentation: made by another implementation.
GO_VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZ"
    "b6KE6RyyBwJnAM=\n"
)


def signer(name: str = "log.example", kind: NoteKind = "note", seed: int = 1) -> NoteSigner:
    return NoteSigner(kind=kind, name=name, private=SigningKey(ED25519, bytes([seed]) * 32))


def refusal(data: bytes) -> CryptoError:
    with pytest.raises(CryptoError) as caught:
        parse_note(data)
    return caught.value


def test_a_note_of_the_go_implementation_opens() -> None:
    note = parse_note(GO_NOTE.encode())
    (verified,) = open_note(note, [parse_vkey(GO_VKEY)])

    assert verified.key.name == "PeterNeumann"
    assert verified.time is None
    assert note.text.endswith("problem is.\n")
    assert note.data == GO_NOTE.encode()


def test_the_last_empty_line_parts_text_and_signatures() -> None:
    text = "first\n\nsecond\n"
    note = SignedNote(text=text, signatures=(sign_text(text, signer()),))

    assert parse_note(note.data) == note
    open_note(parse_note(note.data), [signer().key])


def test_a_cosignature_states_its_time_and_covers_it() -> None:
    witness = signer("witness.example", "cosignature")
    text = "log.example\n5\n" + base64.b64encode(b"r" * 32).decode() + "\n"
    line = sign_text(text, witness, time=1_700_000_000)
    (verified,) = open_note(SignedNote(text=text, signatures=(line,)), [witness.key])

    assert verified.time == 1_700_000_000
    moved = line.blob[:11] + bytes([line.blob[11] ^ 1]) + line.blob[12:]
    other = NoteSignature(name=line.name, encoded=base64.b64encode(moved).decode())
    assert not verifies(text, other, witness.key)


def test_unknown_keys_are_ignored_and_known_bad_signatures_spoil_the_note() -> None:
    text = "hello\n"
    good, stranger = sign_text(text, signer()), sign_text(text, signer("other.example", seed=2))
    bad = NoteSignature(
        name=good.name,
        encoded=base64.b64encode(good.blob[:-1] + bytes([good.blob[-1] ^ 1])).decode(),
    )

    assert len(open_note(SignedNote(text=text, signatures=(stranger, good)), [signer().key])) == 1
    with pytest.raises(CryptoError) as caught:
        open_note(SignedNote(text=text, signatures=(good, bad)), [signer().key])
    assert caught.value.code == "NOTE_SIGNATURE_INVALID"
    with pytest.raises(CryptoError) as caught:
        open_note(SignedNote(text=text, signatures=(stranger,)), [signer().key])
    assert caught.value.code == "NOTE_UNSIGNED"


def test_another_spelling_of_the_base64_names_its_key_and_never_verifies() -> None:
    text = "hello\n"
    good = sign_text(text, signer())
    assert good.encoded.endswith("=")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = good.encoded.rstrip("=")[-1]
    other_last = alphabet[alphabet.index(last) ^ 1]
    encoded = good.encoded.rstrip("=")[:-1] + other_last
    encoded += "=" * (-len(encoded) % 4)
    spelled = NoteSignature(name=good.name, encoded=encoded)
    note = parse_note(SignedNote(text=text, signatures=(spelled,)).data)

    assert note.signatures[0].blob == good.blob
    with pytest.raises(CryptoError) as caught:
        open_note(note, [signer().key])
    assert caught.value.code == "NOTE_SIGNATURE_INVALID"


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "empty line"),
        (b"text\n", "empty line"),
        (b"text\n\n", "line feed"),
        (b"text\n\n\xe2\x80\x94 a AAAAAAA=", "line feed"),
        (b"te\rxt\n\n\xe2\x80\x94 a AAAAAAA=\n", "control"),
        (b"te\txt\n\n\xe2\x80\x94 a AAAAAAA=\n", "control"),
        (b"te\x00xt\n\n\xe2\x80\x94 a AAAAAAA=\n", "control"),
        (b"\xff\n\n\xe2\x80\x94 a AAAAAAA=\n", "UTF-8"),
        (b"text\n\n- a AAAAAAA=\n", "signature line"),
        (b"text\n\n\xe2\x80\x94 a\n", "signature line"),
        (b"text\n\n\xe2\x80\x94  AAAAAAA=\n", "signature line"),
        (b"text\n\n\xe2\x80\x94 a+b AAAAAAA=\n", "signature line"),
        (b"text\n\n\xe2\x80\x94 a AAAA*AA=\n", "base64"),
        (b"text\n\n\xe2\x80\x94 a AAAAAAA\n", "base64"),
        ("text\n\n— a AAAA\u00e9AA=\n".encode(), "base64"),
        (b"text\n\n\xe2\x80\x94 a AAAAAA==\n", "without bytes"),
        (b"t" * NOTE_BYTES + b"\n", "larger"),
        (
            b"text\n\n" + b"\xe2\x80\x94 a AAAAAAA=\n" * (NOTE_SIGNATURES + 1),
            "signatures",
        ),
    ],
)
def test_malformed_notes_are_refused_by_the_rule_they_break(data: bytes, rule: str) -> None:
    error = refusal(data)

    assert error.code == "NOTE_INVALID"
    assert rule in error.message


def test_as_many_signatures_as_the_bound_are_read() -> None:
    block = "— a AAAAAAA=\n" * NOTE_SIGNATURES

    assert len(parse_signatures(block)) == NOTE_SIGNATURES


def test_lines_are_added_once() -> None:
    line = sign_text("hello\n", signer())
    note = SignedNote(text="hello\n", signatures=(line,))

    assert note.signed_by(line) == note
    other = sign_text("hello\n", signer("other.example", seed=2))
    assert note.signed_by(other).signatures == (line, other)


@pytest.mark.parametrize("text", ["no line feed", "bell\x07\n", ""])
def test_a_text_that_no_note_may_hold_is_not_signed(text: str) -> None:
    with pytest.raises(CryptoError) as caught:
        sign_text(text, signer())
    assert caught.value.code == "NOTE_INVALID"


def test_a_key_verifies_only_lines_that_carry_its_name_and_id() -> None:
    line = sign_text("hello\n", signer())

    assert verifies("hello\n", line, signer().key)
    assert not verifies("hello\n", line, signer("other.example").key)
    assert not verifies("hello\n", line, signer(kind="cosignature").key)
