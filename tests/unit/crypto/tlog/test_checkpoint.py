import pytest

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.checkpoint import (
    EXTENSION_LINES,
    ORIGIN_BYTES,
    Checkpoint,
    is_origin,
    parse_checkpoint,
    parse_decimal,
    parse_hash,
    parse_signed_checkpoint,
    sign_checkpoint,
)
from agentic_os.crypto.tlog.note import open_note
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import CryptoError

ROOT = bytes(range(32))
ROOT_TEXT = encode_base64(ROOT)


def test_a_checkpoint_is_read_as_written() -> None:
    head = Checkpoint(origin="log.example/1", size=20852163, root=ROOT)

    assert head.text == f"log.example/1\n20852163\n{ROOT_TEXT}\n"
    assert parse_checkpoint(head.text) == head


def test_a_real_sumdb_checkpoint_is_read_although_its_origin_has_spaces() -> None:
    text = "go.sum database tree\n16464276\nmQW0a3Zcy5JsIMLzlGYjxUPBNgzF5W8zDEDmKgVV0cE=\n"

    assert parse_checkpoint(text).origin == "go.sum database tree"


def test_extension_lines_are_kept() -> None:
    head = Checkpoint(origin="o", size=0, root=ROOT, extensions=("a b", "c"))

    assert parse_checkpoint(head.text) == head


@pytest.mark.parametrize(
    "text",
    [
        "",
        "o\n1\n",
        f"o\n1\n{ROOT_TEXT}",
        f"\n1\n{ROOT_TEXT}\n",
        f"o\n01\n{ROOT_TEXT}\n",
        f"o\n+1\n{ROOT_TEXT}\n",
        f"o\n-1\n{ROOT_TEXT}\n",
        f"o\n\u0661\n{ROOT_TEXT}\n",
        f"o\n9223372036854775808\n{ROOT_TEXT}\n",
        f"o\n1\n{ROOT_TEXT[:-4]}\n",
        "o\n1\nAAAA\n",
        "o\n1\n" + "B" * 43 + "=\n",
        f"o\n1\n{ROOT_TEXT}\n\n",
        f"o\n1\n{ROOT_TEXT}\n" + "x\n" * (EXTENSION_LINES + 1),
        "o" * (ORIGIN_BYTES + 1) + f"\n1\n{ROOT_TEXT}\n",
        f"o\r\n1\n{ROOT_TEXT}\n",
    ],
)
def test_malformed_checkpoints_are_refused(text: str) -> None:
    with pytest.raises(CryptoError) as caught:
        parse_checkpoint(text)
    assert caught.value.code == "CHECKPOINT_INVALID"


def test_bounds() -> None:
    assert parse_decimal("9223372036854775807") == 2**63 - 1
    assert parse_decimal("9223372036854775808") is None
    assert parse_decimal("0") == 0
    assert parse_decimal("00") is None
    assert parse_decimal("1" * 30) is None
    assert parse_decimal("") is None
    assert parse_hash(ROOT_TEXT) == ROOT
    assert parse_hash("é") is None
    assert is_origin("é" * 127)
    assert not is_origin("é" * 128)
    assert not is_origin("\ud800")


def test_a_signed_checkpoint_survives_the_wire() -> None:
    signer = NoteSigner(kind="note", name="log.example", private=SigningKey(ED25519, bytes(32)))
    signed = sign_checkpoint(Checkpoint(origin="log.example", size=3, root=ROOT), signer)
    read = parse_signed_checkpoint(signed.note.data)

    assert read == signed
    assert open_note(read.note, [signer.key])[0].key == signer.key
