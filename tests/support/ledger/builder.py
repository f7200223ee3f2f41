"""Ledgers in memory: real keys, real signatures, any history."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from agentic_os.crypto.keys.pairs import ML_DSA_87, SigningKey
from agentic_os.ledger.line.entry import Draft, draft, encode_entry, new_salt, sign_line
from agentic_os.ledger.rule.chain import Chain
from agentic_os.ledger.rule.genesis import genesis_draft, self_made_bundle

BORN = datetime(2026, 1, 1, tzinfo=UTC)


def key(number: int) -> SigningKey:
    """A reproducible ML-DSA-87 key."""
    return SigningKey(ML_DSA_87, bytes([number]) * 32)


KEYS = {"platform": key(1), "operator": key(2), "identity": key(3)}


class MemoryStorage:
    """A storage in memory."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)

    def size(self) -> int:
        return len(self.data)

    def read(self, offset: int, count: int) -> bytes:
        return bytes(self.data[offset : offset + count])

    def append(self, data: bytes) -> None:
        self.data += data

    def sync(self) -> None:
        pass

    def truncate(self, size: int) -> None:
        del self.data[size:]

    def is_in_place(self) -> bool:
        return True

    def close(self) -> None:
        pass


@dataclass
class Builder:
    """Writes lines without any gate: also those that a ledger must refuse."""

    keys: dict[str, SigningKey] = field(default_factory=lambda: dict(KEYS))
    lines: list[bytes] = field(default_factory=list)
    prev_hash: str = "sha256:" + "0" * 64

    def genesis(self, **changes: Any) -> "Builder":
        envelope, published = self_made_bundle(
            laws="# Laws", purpose="test", platform=self.keys["platform"], at=BORN
        )
        arguments: dict[str, Any] = {
            "domain": "example.org",
            "envelope": envelope,
            "ring0_key": published,
            "platform": self.keys["platform"].public,
            "operator": self.keys["operator"],
            "identity": self.keys["identity"],
        }
        return self.put(genesis_draft(**(arguments | changes)), role="platform")

    def put(self, drafted: Draft, *, role: str = "", **changes: Any) -> "Builder":
        role = role or drafted.kind.signers[0]
        entry = encode_entry(
            drafted,
            seq=changes.get("seq", len(self.lines) + 1),
            ts=changes.get("ts", "2026-01-01T00:00:01.000000000Z"),
            salt=changes.get("salt", new_salt()),
        )
        line = sign_line(
            changes.get("entry", entry),
            prev_hash=changes.get("prev_hash", self.prev_hash),
            role=role,
            key=changes.get("key", self.keys[role]),
        )
        return self.raw(line)

    def add(self, type_name: str, payload: Any, **changes: Any) -> "Builder":
        return self.put(draft(type_name, payload), **changes)

    def experience(self, number: int, **members: Any) -> "Builder":
        return self.add(
            "experience.create", {"id": f"exp_{number}", "content": f"event {number}"} | members
        )

    def raw(self, line: bytes) -> "Builder":
        self.lines.append(line)
        at = line.rfind(b',"hash":"') + len(b',"hash":"')
        self.prev_hash = line[at : at + 71].decode()
        return self

    @property
    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def chain(self, **arguments: Any) -> Chain:
        chain = Chain(**arguments)
        for line in self.lines:
            chain.admit(line)
        return chain
