"""A ledger line in the original's format."""

import msgspec

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import encode_base64, sha256_hex
from agentic_os.crypto.keys.pairs import SigningKey
from agentic_os.ledger.gold import GoldEntry, gold_signature_text

FIRST = b'{"category":"observation","content":"first","id":"exp_1","provenance":"system"}'


def gold_line(key: SigningKey) -> bytes:
    """Line 1, an experience: it names no key."""
    entry = GoldEntry(
        content=sha256_hex(FIRST),
        prev="",
        ring=3,
        seq=1,
        ts="2026-01-01T00:00:00.000000000Z",
        type="experience.create",
    )
    text = gold_signature_text(entry.hash, key_id=key.key_id.removeprefix("sha256:"))
    signed = encode_base64(key.sign(text)).encode()
    return b'{"entry":%b,"payload":%b,"sig":"%b"}' % (
        encode(msgspec.to_builtins(entry)),
        FIRST,
        signed,
    )
