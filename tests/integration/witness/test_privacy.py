"""The witness stores hashes, keys, times and notes: every stored byte is looked at."""

import base64
import json
import re
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.note import sign_text
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.protocol.json import write_request
from agentic_os.witness.service.config import WitnessConfig
from agentic_os.witness.service.logs import start_logging
from support.witness.actors import HTTP, Owner, Serving, new_witness, serving

PLANTED = "We met at the harbour and I promised to return the letters"
B64 = r"[A-Za-z0-9+/]+={0,2}"
HEX = r"[0-9a-f]{64}"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
NAME = r"[A-Za-z0-9._/:-]+"
SIGNATURE = (
    rf'{{"alg":"ML-DSA-87","key_id":"{NAME}","public_key_fingerprint":"sha256:{HEX}",'
    rf'"sig_b64":"{B64}","signature_input_sha256":"sha256:{HEX}",'
    r'"signature_profile":"AIII-PQ-SIGNATURE-V1-FAST"}'
)
NOTE = rf"{NAME}\n\d+\n{B64}\n\n(— {NAME} {B64}\n)+"
# What each column may hold, in full. A column that is missing here fails the test.
GRAMMAR: dict[str, str] = {
    "meta.name": r"[a-z0-9_]+",
    "meta.value": rf"agentic-os-witness/1|sha256:{HEX}|{NAME}\+[0-9a-f]{{8}}\+{B64}",
    "identity.identity_id": rf"did:aiii:identity:sha256:{HEX}",
    "identity.key_digits": r"[0-9a-f]{16}",
    "identity.public_key": (
        rf'{{"created_at":"{TIME}","expires_at":"{TIME}","key_id":"aiii_identity_[0-9a-f]{{16}}",'
        r'"key_type":"identity","keys":\[{"alg":"ML-DSA-87",'
        rf'"public_key_b64":"{B64}","public_key_fingerprint":"sha256:{HEX}"}}\],'
        rf'"kind":"aiii.server_key.public","not_before":"{TIME}",'
        r'"profile":"AIII-PQ-SIGNATURE-V1-ROOT","v":1}'
    ),
    "identity.registered_at": r"\d+",
    "identity.proved": r"[01]",
    "identity.successor": rf"did:aiii:identity:sha256:{HEX}",
    "identity.ordinal": r"\d+",
    "identity.ledger_hash": HEX,
    "identity.witnessed_at": r"\d+",
    "identity.answer": (
        rf'{{"identity_id":"did:aiii:identity:sha256:{HEX}","ledger_hash":"{HEX}",'
        rf'"ledger_ordinal":\d+,"previous_witnessed_ledger_hash":"{HEX}",'
        rf'"previous_witnessed_ledger_ordinal":-?\d+,"witness_signature":{SIGNATURE},'
        rf'"witnessed_at":"{TIME}"}}'
    ),
    "origin.origin": NAME,
    "origin.origin_sha256": HEX,
    "origin.identity_id": rf"did:aiii:identity:sha256:{HEX}",
    "origin.closed_at": r"\d+",
    "origin.size": r"\d+",
    "origin.root": r"(?s:.{32})",
    "origin.note": NOTE,
    "origin.cosigned_at": r"\d+",
    "origin_key.origin": NAME,
    "origin_key.vkey": rf"{NAME}\+[0-9a-f]{{8}}\+{B64}",
    "origin_key.source": r"listed|bound",
    "origin_key.added_at": r"\d+",
    "origin_key.retired_at": r"\d+",
    "evidence.digest": HEX,
    "evidence.subject": rf"did:aiii:identity:sha256:{HEX}|{NAME}",
    "evidence.kind": r"bookmark|checkpoint",
    "evidence.code": r"[A-Z_]+",
    "evidence.seen_at": r"\d+",
    "evidence.body": (
        rf'{NOTE}|{{("checkpoint":"({NAME}|\\n| |—|{B64})+",)?'
        rf'"identity_id":"did:aiii:identity:sha256:{HEX}",'
        rf'"identity_public_key_sha256":"sha256:{HEX}","ledger_hash":"{HEX}",'
        rf'"ledger_ordinal":\d+,"sig_b64":"{B64}"}}'
    ),
}


def forms(text: str) -> list[bytes]:
    """The planted words as they stand, and as they would hide."""
    raw = text.encode()
    return [raw, raw.hex().encode(), *(base64.b64encode(raw[n:])[4:-4] for n in range(3))]


def planted_in(data: bytes) -> bool:
    return any(form in data for form in forms(PLANTED))


def post(running: Serving, content: bytes) -> int:
    return HTTP.post(f"{running.url}/witness/bookmark", content=content).status_code


def planting(change: Callable[[dict[str, Any]], object]) -> bytes:
    owner = Owner(seed=1).add(6)
    body = write_request(build_bookmark(owner.ledger(), ordinal=6, old_size=0, binds=True))
    tree = json.loads(body)
    change(tree)
    return json.dumps(tree).encode()


PLACES: list[Callable[[dict[str, Any]], object]] = [
    lambda tree: tree.update(entry=PLANTED),
    lambda tree: tree.update(payload={"claim": PLANTED}),
    lambda tree: tree.update(identity_id=PLANTED),
    lambda tree: tree["identity_public_key"].update(comment=PLANTED),
    lambda tree: tree["identity_public_key"].update(key_id=PLANTED),
    lambda tree: tree["identity_public_key"].update(created_at=PLANTED),
    lambda tree: tree["identity_signature"].update(key_id=PLANTED),
    lambda tree: tree["proof"].update(origin=f"{PLANTED}/ledger/0011223344556677"),
    lambda tree: tree["proof"].update(
        checkpoint=tree["proof"]["checkpoint"].replace("\n\n", f"\n{PLANTED}\n\n", 1)
    ),
    lambda tree: tree["proof"].update(
        key_chain={"first_public_key_b64": "AAAA", "steps": [{"line": PLANTED, "inclusion": []}]}
    ),
]


@pytest.fixture
def logged(tmp_path: Path) -> Path:
    path = tmp_path / "log"
    start_logging(path.open("w", encoding="utf-8"))
    return path


def test_planted_words_reach_neither_database_nor_log(tmp_path: Path, logged: Path) -> None:
    folder = new_witness(tmp_path / "w")
    config = WitnessConfig(
        folder=folder,
        port=0,
        requests_per_minute=0,
        logs=(Owner(seed=9).log,),
    )
    with serving(config) as running:
        for place in PLACES:
            assert post(running, planting(place)) in (400, 401)
        filled(running)
        stored = b"".join(path.read_bytes() for path in folder.glob("witness.db*"))
        rows = dict(_cells(folder / "witness.db"))
        metrics = HTTP.get(f"{running.url}/metrics").content

    stored += b"".join(path.read_bytes() for path in folder.glob("witness.db*"))
    assert not planted_in(stored)
    assert not planted_in(logged.read_bytes())
    assert logged.read_bytes().count(b'"event":"request"') > len(PLACES)
    assert not planted_in(metrics)
    assert set(rows) == set(GRAMMAR)
    for name, values in rows.items():
        for value in values:
            text = value.decode("latin-1" if name == "origin.root" else "utf-8")
            assert re.fullmatch(GRAMMAR[name], text), (name, text)
    empty = {name for name, values in rows.items() if not values}
    assert empty == set()


def filled(running: Serving) -> None:
    """Put something into every column: both dialects, evidence, a rotation, a closed origin."""
    owner = Owner(seed=1).add(6)
    body = write_request(build_bookmark(owner.ledger(), ordinal=6, old_size=0, binds=True))
    assert post(running, body) == 201
    for bad in (owner.cut(4), owner.forked(2)):
        size = len(bad.lines)
        request = build_bookmark(bad.ledger(), ordinal=size, old_size=size, binds=False)
        assert post(running, write_request(request)) == 409
    plain = Owner(seed=2).add(3)
    for source, status in ((plain, 201), (plain.forked(1), 409)):
        request = build_bookmark(source.ledger(), ordinal=3, old_size=None, binds=False)
        assert post(running, write_request(request)) == status
    rotated = owner.rotated().add(1)
    moved = build_bookmark(rotated.ledger(), ordinal=8, old_size=6, binds=True)
    assert post(running, write_request(moved)) == 201
    renewed = replace(rotated, checkpoint_seed=1).add(1)
    bound = build_bookmark(renewed.ledger(), ordinal=9, old_size=8, binds=True)
    assert post(running, write_request(bound)) == 200
    log = Owner(seed=9).add(5)
    stranger = NoteSigner(
        kind="note",
        name=PLANTED.replace(" ", "-"),
        private=SigningKey(ED25519, b"s" * 32),
    )
    for source, status in ((log, 200), (log.forked(1), 422)):
        ledger = source.ledger()
        head = ledger.head(5)
        extra = sign_text(head.note.text, stranger)
        head = replace(head, note=head.note.signed_by(extra))
        old = 0 if status == 200 else 5
        content = write_add_checkpoint(AddCheckpoint(old_size=old, consistency=(), head=head))
        answer = HTTP.post(f"{running.url}/add-checkpoint", content=content)
        assert answer.status_code == status
    running.desk.store.submit(lambda rows: rows.close_origin(log.origin, now=7)).result()


def _cells(path: Path) -> list[tuple[str, list[bytes]]]:
    connection = sqlite3.connect(path)
    try:
        tables = [
            row[0]
            for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        cells = []
        for table in tables:
            cursor = connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - our own tables
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
            for at, name in enumerate(names):
                values = [row[at] for row in rows if row[at] is not None]
                cells.append((f"{table}.{name}", [_octets(value) for value in values]))
        return cells
    finally:
        connection.close()


def _octets(value: str | int | bytes) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
