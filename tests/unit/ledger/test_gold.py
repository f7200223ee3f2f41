"""The original's lines: both published vectors, and every check failing once."""

import hashlib
from typing import Any

import msgspec
import pytest
from dilithium_py.ml_dsa import ML_DSA_87 as SECOND

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import encode_base64, sha256_hex
from agentic_os.crypto.keys.pairs import ML_DSA_87, SigningKey
from agentic_os.errors import LedgerError
from agentic_os.ledger.gold import (
    GoldEntry,
    gold_signature_text,
    verify_gold,
)
from support.ledger.builder import MemoryStorage

SEED = bytes(range(32))
KEY = SigningKey(ML_DSA_87, SEED)
KEY_ID = "91dc389cfaa01470b7f66eee45a4ae9026d154817c754dfe22298b3fa241ffcd"
FIRST = b'{"category":"observation","content":"first","id":"exp_1","provenance":"system"}'
SECOND_PAYLOAD = (
    b'{"confidence":0.87,"id":"belief_1","ring":3,'
    b'"statement":"The operator prefers direct communication."}'
)


def _line(entry: GoldEntry, payload: bytes, key: SigningKey | None = KEY) -> bytes:
    parts = [b'{"entry":', encode(msgspec.to_builtins(entry)), b',"payload":', payload]
    if key is not None:
        text = gold_signature_text(entry.hash, key_id=key.key_id.removeprefix("sha256:"))
        parts += [b',"sig":"', encode_base64(key.sign(text)).encode(), b'"']
    return b"".join([*parts, b"}"])


def _entry(payload: bytes, seq: int, prev: str, **changes: Any) -> GoldEntry:
    members = {
        "content": sha256_hex(payload),
        "prev": prev,
        "ring": 3,
        "seq": seq,
        "ts": f"2026-01-01T00:00:{seq - 1:02d}.000000000Z",
        "type": "experience.create" if seq == 1 else "belief.upsert",
    }
    return msgspec.convert(members | changes, GoldEntry)


ONE = _entry(FIRST, 1, "")
TWO = _entry(SECOND_PAYLOAD, 2, ONE.hash)


def _verify(*lines: bytes, key: SigningKey | None = KEY) -> list[tuple[str, int | None]]:
    data = b"".join(line + b"\n" for line in lines)
    found = verify_gold(MemoryStorage(data), key=key.public if key else None)
    return [(one.code, one.seq) for one in found.findings]


def test_the_published_gold_vector() -> None:
    payload = (
        '{"content":"gold vector — café ✓","id":"exp_vector_1",'
        '"n":9007199254740993,"nested":{"a":[true,null,1.5],"z":1}}'
    ).encode()
    entry = GoldEntry(
        content=sha256_hex(payload),
        prev="1f6a76673b2571ff380cbdbd267ed5da257290ba4c8f8be3aeaf7ba1a34cba55",
        ring=3,
        seq=3,
        ts="2026-08-17T12:00:00.000000000Z",
        type="experience.create",
    )
    assert entry.content == "a2385272909d5729b3b320ad6548f1bfd96144c9de0731277dedfa3a08055967"
    assert entry.hash == "dd71f319ffc1b8b6b1c44ae07ebf6e9a54d74bbcb44bb50801aab31a604763ce"
    assert gold_signature_text(entry.hash, key_id="vector_fingerprint_0000000000000000") == (
        b"AII-LEDGER-LINE-SIGNATURE-GOLD\nartifact_kind:aii.ledger.line\n"
        b"canonicalization:aii-canonical-json\nsuite_id:aii-pq-mldsa87\nrole:identity\n"
        b"alg:ML-DSA-87\nkey_id:vector_fingerprint_0000000000000000\n"
        b"entry_sha256:dd71f319ffc1b8b6b1c44ae07ebf6e9a54d74bbcb44bb50801aab31a604763ce\n"
    )


def test_the_published_chain_vector() -> None:
    assert KEY.key_id == f"sha256:{KEY_ID}"
    assert ONE.content == "edccb9e0a55eb1d329cafa468bfa010a435a46616f0c3b4baebc2c28018c3b21"
    assert ONE.hash == "d292ee7ef1cfe3757280c316fc094a56cc4d7e0735311a31061229f12af9fc62"
    assert TWO.content == "38b6074fbfc139b6f219cd2c5b3b866bc86c2759ca03cdf1aef328e094d85862"
    assert TWO.hash == "56e768dbec2fc02042590b0b52776f4479e4017991766ccca563aefc8eec44cd"
    text = gold_signature_text(ONE.hash, key_id=KEY_ID)
    assert sha256_hex(text) == "39624e4d476b3e7ed2f41542f6de02f37eb9157c836384518a69156631048ff1"
    _, private = SECOND.key_derive(SEED)
    signature = SECOND.sign(private, text, deterministic=True)
    assert hashlib.sha256(signature).hexdigest() == (
        "893fd104d43fa5a2aa5db210c0648187184a6eb49b83cfcb9093f9e277786736"
    )
    assert KEY.public.verify(signature, text)


def test_the_chain_verifies() -> None:
    lines = _line(ONE, FIRST), _line(TWO, SECOND_PAYLOAD)
    assert _verify(*lines) == []
    data = verify_gold(MemoryStorage(b"\n".join([*lines, b""])), key=KEY.public)
    assert (data.format, data.lines, data.head_hash) == ("aii-gold", 2, TWO.hash)
    assert data.signatures_checked == 2


def test_a_genesis_names_the_key() -> None:
    def genesis(**changes: Any) -> bytes:
        payload = encode(
            {"name": "x", "public_key": encode_base64(KEY.public.raw), "fingerprint": KEY_ID}
            | changes
        )
        return _line(_entry(payload, 1, "", ring=0, type="ring0.genesis"), payload)

    assert _verify(genesis(), key=None) == []
    for bad in (genesis(fingerprint="0" * 64), genesis(public_key="AA=="), genesis(public_key=1)):
        assert _verify(bad, key=None) == [("GOLD_KEY_UNKNOWN", 1)]
    assert _verify(_line(ONE, FIRST), key=None) == [("GOLD_KEY_UNKNOWN", 1)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (_line(ONE, FIRST, None), "GOLD_SEALED"),
        (_line(ONE, FIRST.replace(b"first", b"other")), "GOLD_CHAIN_BROKEN"),
        (_line(_entry(FIRST, 2, ""), FIRST), "GOLD_CHAIN_BROKEN"),
        (_line(_entry(FIRST, 1, "0" * 64), FIRST), "GOLD_CHAIN_BROKEN"),
        (_line(ONE, FIRST, SigningKey(ML_DSA_87, bytes(32))), "GOLD_SIGNATURE_INVALID"),
        (_line(ONE, FIRST)[:-10] + b'"}', "GOLD_SIGNATURE_INVALID"),
        (_line(_entry(FIRST, 1, "", ring=2), FIRST), "GOLD_LINE_INVALID"),
        (_line(_entry(FIRST, 1, "", type="plugin.x"), FIRST), "GOLD_LINE_INVALID"),
        (_line(_entry(FIRST, 1, "", ts="2026-01-01T00:00:00Z"), FIRST), "GOLD_LINE_INVALID"),
        (_line(_entry(b"[]", 1, ""), b"[]"), "GOLD_LINE_INVALID"),
        (_line(ONE, FIRST) + b" ", "GOLD_LINE_INVALID"),
        (_line(ONE, FIRST)[:-1] + b',"x":1}', "GOLD_LINE_INVALID"),
    ],
)
def test_every_check_can_fail(line: bytes, code: str) -> None:
    assert _verify(line) == [(code, 1)]


def test_the_second_line_is_named() -> None:
    assert _verify(_line(ONE, FIRST), _line(ONE, FIRST)) == [("GOLD_CHAIN_BROKEN", 2)]


def test_ends_are_noticed() -> None:
    assert _verify() == [("LEDGER_EMPTY", None)]
    torn = verify_gold(MemoryStorage(_line(ONE, FIRST)), key=KEY.public)
    assert [one.code for one in torn.findings] == ["LEDGER_TAIL_TORN"]


def test_progress_and_a_failing_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    storage = MemoryStorage(_line(ONE, FIRST) + b"\n")
    verify_gold(storage, key=KEY.public, progress=seen.append)
    assert seen == [storage.size()]

    def broken(offset: int, count: int) -> bytes:
        raise OSError(5, f"Input/output error {offset} {count}")

    monkeypatch.setattr(storage, "read", broken)
    with pytest.raises(LedgerError) as caught:
        verify_gold(storage)
    assert caught.value.code == "LEDGER_UNREADABLE"
