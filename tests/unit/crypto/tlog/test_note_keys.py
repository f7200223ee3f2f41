import re

import pytest

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.crypto.keys.pairs import ED25519, ML_DSA_87, SigningKey, VerifyingKey
from agentic_os.crypto.tlog.note_keys import (
    KEY_NAME_CHARS,
    NoteSigner,
    cosignature_message,
    cosignature_time,
    is_key_name,
    is_strict_ed25519,
    note_key,
    parse_vkey,
)
from agentic_os.errors import CryptoError, WitnessError
from agentic_os.witness.client.policy import parse_policy

FIELD = 2**255 - 19
CURVE_D = -121665 * pow(121666, -1, FIELD) % FIELD
SUMDB = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
KEY = SigningKey(ED25519, bytes(range(32)))


def code_of(text: str) -> str:
    with pytest.raises(CryptoError) as caught:
        parse_vkey(text)
    return caught.value.code


def test_a_published_vkey_is_read_and_written_back() -> None:
    key = parse_vkey(SUMDB)

    assert (key.name, key.kind, key.key_id.hex()) == ("sum.golang.org", "note", "033de0ae")
    assert key.vkey == SUMDB


def test_one_key_has_two_ids_by_kind_and_the_vkey_tells_them_apart() -> None:
    log = NoteSigner(kind="note", name="a.example", private=KEY).key
    witness = NoteSigner(kind="cosignature", name="a.example", private=KEY).key

    assert log.key_id != witness.key_id
    assert parse_vkey(log.vkey) == log
    assert parse_vkey(witness.vkey) == witness
    assert parse_vkey(witness.vkey).kind == "cosignature"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "VKEY_INVALID"),
        ("name+033de0ae", "VKEY_INVALID"),
        ("x" * 600, "VKEY_INVALID"),
        ("name+033de0ae+***", "VKEY_INVALID"),
        ("name+033de0ae+", "VKEY_UNSUPPORTED"),
        ("name+033de0ae+" + encode_base64(b"\x06" + b"k" * 1312), "VKEY_UNSUPPORTED"),
        ("name+033de0ae+" + encode_base64(b"\x06" + b"k" * 32), "VKEY_UNSUPPORTED"),
        ("name+033de0ae+" + encode_base64(b"\x01" + b"k" * 31), "VKEY_INVALID"),
        (SUMDB.replace("033de0ae", "033de0af"), "VKEY_INVALID"),
        (SUMDB.replace("033de0ae", "033DE0AE"), "VKEY_INVALID"),
        (SUMDB.replace("sum.golang.org", "sum golang"), "KEY_NAME_INVALID"),
    ],
)
def test_wrong_vkeys_are_refused(text: str, code: str) -> None:
    assert code_of(text) == code


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("witness.example/w1", True),
        ("é", True),
        ("a" * KEY_NAME_CHARS, True),
        ("", False),
        ("a" * (KEY_NAME_CHARS + 1), False),
        ("a b", False),
        ("a\u2003b", False),
        ("a+b", False),
        ("a\x01b", False),
        ("a\ud800b", False),
    ],
)
def test_key_names(name: str, fits: bool) -> None:
    assert is_key_name(name) is fits


def added(one: tuple[int, int], two: tuple[int, int]) -> tuple[int, int]:
    (x1, y1), (x2, y2) = one, two
    product = CURVE_D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, FIELD)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, FIELD)
    return x % FIELD, y % FIELD


def point_of(y: int) -> tuple[int, int]:
    square = (y * y - 1) * pow(CURVE_D * y * y + 1, -1, FIELD) % FIELD
    root = pow(square, (FIELD + 3) // 8, FIELD)
    if root * root % FIELD != square:
        root = root * pow(2, (FIELD - 1) // 4, FIELD) % FIELD
    assert root * root % FIELD == square
    return root, y


# Every point whose order divides 8, by its y; the order is computed below, not believed.
SMALL_ORDER_Y = (
    0,
    1,
    FIELD - 1,
    0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
    0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
)


@pytest.mark.parametrize("y", SMALL_ORDER_Y)
def test_points_of_small_order_are_refused_with_either_sign(y: int) -> None:
    point = point_of(y)
    for _ in range(3):
        point = added(point, point)
    assert point == (0, 1)

    for sign in (0, 1):
        raw = (y | sign << 255).to_bytes(32, "little")
        assert not is_strict_ed25519(raw)


@pytest.mark.parametrize(
    "raw",
    [
        (FIELD + 3).to_bytes(32, "little"),  # the same point as y = 3, spelled otherwise
        (2).to_bytes(32, "little"),  # no point of the curve has this y
        b"\x00" * 31,
    ],
)
def test_other_unsound_keys_are_refused(raw: bytes) -> None:
    assert not is_strict_ed25519(raw)


def test_sound_keys_are_taken() -> None:
    for seed in range(40):
        assert is_strict_ed25519(SigningKey(ED25519, bytes([seed]) * 32).public.raw)


def test_a_note_key_is_a_sound_ed25519_key() -> None:
    with pytest.raises(CryptoError) as caught:
        note_key(kind="note", name="a.example", public=VerifyingKey(ED25519, b"\x01" + b"\0" * 31))
    assert caught.value.code == "KEY_INVALID"
    with pytest.raises(CryptoError) as caught:
        NoteSigner(kind="note", name="a.example", private=SigningKey(ML_DSA_87, bytes(32)))
    assert caught.value.code == "KEY_INVALID"


def test_times_belong_to_cosignatures_only() -> None:
    log = NoteSigner(kind="note", name="a.example", private=KEY)
    witness = NoteSigner(kind="cosignature", name="a.example", private=KEY)

    times: list[tuple[NoteSigner, int | None]] = [(log, 1), (witness, None)]
    times += [(witness, 0), (witness, 2**63)]
    for signer, time in times:
        with pytest.raises(CryptoError) as caught:
            signer.sign("text\n", time=time)
        assert caught.value.code == "NOTE_TIME"


def test_the_cosigned_bytes_and_their_time() -> None:
    witness = NoteSigner(kind="cosignature", name="w.example", private=KEY)
    text = "log.example\n1\n" + encode_base64(b"r" * 32) + "\n"
    blob = witness.sign(text, time=7)

    assert cosignature_message(text, 7) == b"cosignature/v1\ntime 7\n" + text.encode()
    assert cosignature_time(blob[4:]) == 7
    assert KEY.public.verify(blob[12:], cosignature_message(text, 7))
    assert witness.key.verify(text, blob[4:])
    assert not witness.key.verify(text, blob[4:12])
    assert cosignature_time(b"\0" * 72) is None
    assert cosignature_time(b"\xff" * 72) is None


@pytest.mark.parametrize(
    ("encoded", "named"),
    [
        (b"\x06" + bytes(1312), "ML-DSA-44 (0x06"),
        (b"\x02" + bytes(91), "ECDSA (0x02)"),
        (b"\x05" + bytes(32), "RFC 6962"),
        (b"\xff" + bytes(40), "somebody's own"),
        (b"\x77", "unknown (0x77)"),
    ],
)
def test_a_key_of_another_type_is_named(encoded: bytes, named: str) -> None:
    """An ML-DSA-44 key is longer than others by far: it must be named too, not cut off."""
    name = "w" * KEY_NAME_CHARS
    with pytest.raises(CryptoError) as caught:
        parse_vkey(f"{name}+00000000+{encode_base64(encoded)}")
    assert caught.value.code == "VKEY_UNSUPPORTED"
    assert named in caught.value.message
    with pytest.raises(WitnessError, match=re.escape(named)) as refused:
        parse_policy(f"witness w w+00000000+{encode_base64(encoded)}\nquorum w\n".encode())
    assert refused.value.code == "POLICY_INVALID"
