"""The service over real HTTP (uvicorn on loopback): statuses, bodies, order, bounds."""

import hashlib
import json
import logging
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.crypto.envelope.public_keys import make_identity_envelope, read_public_key_envelope
from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.checkpoint import Checkpoint, parse_signed_checkpoint, sign_checkpoint
from agentic_os.crypto.tlog.merkle import EMPTY_ROOT
from agentic_os.crypto.tlog.note import NoteSignature, open_note, parse_signatures, sign_text
from agentic_os.crypto.tlog.note_keys import NoteSigner, parse_vkey
from agentic_os.errors import WitnessError
from agentic_os.network.addresses import Networks
from agentic_os.witness.client.submission import build_bookmark, check_receipt
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.protocol.json import read_receipt, write_request
from agentic_os.witness.service.config import ListedLog, WitnessConfig
from agentic_os.witness.service.desk import close_origin, sync_listed_logs
from agentic_os.witness.service.logs import LOGGER_NAME, JsonLines
from support.witness.actors import HTTP, Owner, Serving, desk_of, log_of, new_witness, serving

LOG = Owner(seed=100).add(30)
LOG_LEDGER = LOG.ledger()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = new_witness(tmp_path_factory.mktemp("witness") / "w")
    config = WitnessConfig(folder=folder, port=0, requests_per_minute=0)
    with serving(config) as running:
        yield running


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Callable[..., Serving]]:
    """Start services of their own, with other settings."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(clock: Callable[[], float] = time.time, **settings: object) -> Serving:
            folder = new_witness(tmp_path / f"w{len(list(tmp_path.iterdir()))}")
            config = WitnessConfig(folder=folder, port=0)
            config = replace(config, **settings)  # type: ignore[arg-type]
            return stack.enter_context(serving(config, clock=clock))

        yield start


def bookmark(
    running: Serving, owner: Owner, *, old: int | None = None, binds: bool = False
) -> httpx.Response:
    request = build_bookmark(owner.ledger(), ordinal=len(owner.lines), old_size=old, binds=binds)
    return HTTP.post(f"{running.url}/witness/bookmark", content=write_request(request))


def body(size: int, old: int, *, owner: Owner = LOG) -> bytes:
    ledger = owner.ledger()
    request = AddCheckpoint(
        old_size=old,
        consistency=ledger.tree.consistency_proof(min(old, size), size),
        head=ledger.head(size),
    )
    return write_add_checkpoint(request)


def add(running: Serving, content: bytes) -> httpx.Response:
    return HTTP.post(f"{running.url}/add-checkpoint", content=content)


def listed(one: Callable[..., Serving], **settings: object) -> Serving:
    return one(logs=(LOG.log,), **settings)


def test_the_keys_are_served_as_the_original_asks_for_them(served: Serving) -> None:
    keys = served.desk.keys
    status = HTTP.get(f"{served.url}/status").json()
    public = HTTP.get(f"{served.url}/witness/pubkey")
    stated = HTTP.get(f"{served.url}/witness/pubkey/hash").json()
    manifest = HTTP.get(f"{served.url}/witness/pubkey/manifest").json()
    root = read_public_key_envelope(HTTP.get(f"{served.url}/genesis/pubkey").content)

    assert status == {"min_periodic_cadence": 0}
    envelope = read_public_key_envelope(public.content)
    assert stated == {
        "witness_public_key_hash": envelope.sha256,
        "key_id": envelope.key_id,
    }
    assert manifest["artifact_kind"] == "witness.public_key_manifest"
    assert manifest["payload"]["artifact_hash"] == envelope.sha256
    assert {item["alg"] for item in manifest["signatures"]} == {part.alg for part in root.keys}
    assert public.headers["content-type"] == "application/json"
    page = HTTP.get(served.url).text
    assert keys.cosigner.key.vkey in page


def test_bookmarks_register_advance_and_repeat(served: Serving) -> None:
    owner = Owner(seed=1).add(3)
    first = bookmark(served, owner)
    owner.add(2)
    second = bookmark(served, owner)
    again = bookmark(served, owner)

    assert (first.status_code, second.status_code, again.status_code) == (201, 200, 200)
    receipts = [read_receipt(item.content) for item in (first, second)]
    for receipt in receipts:
        check_receipt(receipt, served.desk.keys.receipt_public)
    assert (receipts[0].previous_ordinal, receipts[0].previous_hash) == (-1, "0" * 64)
    assert (receipts[1].previous_ordinal, receipts[1].ordinal) == (3, 5)
    assert receipts[1].previous_hash == receipts[0].ledger_hash
    assert again.content == second.content
    assert set(first.json()) == {
        "identity_id",
        "previous_witnessed_ledger_ordinal",
        "previous_witnessed_ledger_hash",
        "ledger_ordinal",
        "ledger_hash",
        "witnessed_at",
        "witness_signature",
    }


@pytest.mark.parametrize(
    "back", [lambda owner: owner.cut(4), lambda owner: owner.forked(2), lambda o: o.cut(1)]
)
def test_rollback_and_fork_at_an_ordinal_are_refused_in_the_originals_words(
    served: Serving, back: Callable[[Owner], Owner]
) -> None:
    owner = Owner(seed=2).add(5)
    assert bookmark(served, owner).status_code in (200, 201)
    refused = bookmark(served, back(owner))

    assert refused.status_code == 409
    assert refused.json()["error"] == "witness bookmark rollback or fork"


def test_a_proof_closes_the_longer_fork_for_good(served: Serving) -> None:
    owner = Owner(seed=3).add(5)
    first = bookmark(served, owner, old=0, binds=True)
    owner.add(5)
    second = bookmark(served, owner, old=5)
    forked = bookmark(served, owner.forked(3).add(4), old=10)
    unproved = bookmark(served, owner.cut(10).add(2))
    stale = bookmark(served, owner.cut(10).add(2), old=5)

    assert (first.status_code, second.status_code) == (201, 200)
    (line,) = parse_signatures(second.json()["cosignature"])
    head = owner.cut(10).ledger().head(10)
    open_note(head.note.signed_by(line), [served.desk.keys.cosigner.key])
    assert forked.json() == {
        "error": "witness bookmark consistency proof invalid",
        "code": "INCONSISTENT",
        "witnessed_size": 10,
    }
    assert unproved.json()["error"] == "witness bookmark proof required"
    assert stale.json()["witnessed_size"] == 10
    assert {item.status_code for item in (forked, unproved, stale)} == {409}


def test_the_stored_receipt_comes_unchanged_beside_a_new_cosignature(served: Serving) -> None:
    owner = Owner(seed=4).add(5)
    plain = bookmark(served, owner)
    upgraded = bookmark(served, owner, old=0, binds=True)
    again = bookmark(served, owner, old=5)

    assert (plain.status_code, upgraded.status_code, again.status_code) == (201, 200, 200)
    for answer in (upgraded, again):
        tree = answer.json()
        assert tree.pop("cosignature").startswith("— witness.example/w1 ")
        assert tree == plain.json()


def test_an_origin_belongs_to_the_key_it_is_named_after(served: Serving) -> None:
    owner, squatter = Owner(seed=5).add(5), Owner(seed=6).add(5)
    ledger = squatter.ledger()
    stolen = NoteSigner(kind="note", name=owner.origin, private=SigningKey(ED25519, bytes(32)))
    request = build_bookmark(
        replace(ledger, checkpoint_signer=stolen), ordinal=5, old_size=0, binds=True
    )
    squat = HTTP.post(f"{served.url}/witness/bookmark", content=write_request(request))

    assert (squat.status_code, squat.json()["error"]) == (409, "origin bound to another identity")
    assert bookmark(served, owner, old=0, binds=True).status_code == 201


def test_a_changed_identity_key_continues_by_its_transition(served: Serving) -> None:
    owner = Owner(seed=7).add(5)
    assert bookmark(served, owner, old=0, binds=True).status_code == 201
    rotated = owner.rotated().add(2)
    without = bookmark(served, rotated, old=5)
    moved = bookmark(served, rotated, old=5, binds=True)
    old_key = bookmark(served, replace(owner, lines=rotated.lines).add(1), old=8)

    assert (without.status_code, without.json()["error"]) == (
        409,
        "origin bound to another identity",
    )
    assert moved.status_code == 201
    receipt = read_receipt(moved.content)
    assert (receipt.previous_ordinal, receipt.ordinal) == (5, 8)
    assert old_key.json()["error"] == (
        "identity public key does not match registered witness identity"
    )


def test_a_changed_checkpoint_key_retires_the_old_one(served: Serving) -> None:
    owner = Owner(seed=8).add(5)
    assert bookmark(served, owner, old=0, binds=True).status_code == 201
    renewed = replace(owner, checkpoint_seed=1).add(1)
    unbound = bookmark(served, renewed, old=5)
    bound = bookmark(served, renewed, old=5, binds=True)
    old = replace(renewed, checkpoint_seed=0).add(1)
    unbound_old, bound_old = bookmark(served, old, old=6), bookmark(served, old, old=6, binds=True)

    assert (unbound.status_code, bound.status_code) == (401, 200)
    assert (unbound_old.status_code, bound_old.status_code) == (401, 401)


def test_both_dialects_share_one_state(served: Serving) -> None:
    owner = Owner(seed=9).add(5)
    before = add(served, body(5, 0, owner=owner))
    assert bookmark(served, owner, old=0, binds=True).status_code == 201
    owner.add(5)
    ahead = add(served, body(10, 5, owner=owner))
    behind = bookmark(served, owner.cut(7), old=5)
    onward = bookmark(served, owner.add(1), old=10)

    assert (before.status_code, ahead.status_code) == (404, 200)
    assert (behind.status_code, behind.json()["witnessed_size"]) == (409, 10)
    assert onward.status_code == 200
    assert read_receipt(onward.content).previous_ordinal == 5


def test_malformed_unsigned_and_closed(one: Callable[..., Serving]) -> None:
    owner = Owner(seed=1).add(3)
    digits = owner.identity_key.key_id
    running = one(registration="listed", identities=frozenset({digits}))
    forged = json.loads(
        write_request(build_bookmark(owner.ledger(), ordinal=3, old_size=None, binds=False))
    )
    forged["ledger_ordinal"] = 4
    url = f"{running.url}/witness/bookmark"

    assert HTTP.post(url, content=b"{}").status_code == 400
    unsigned = HTTP.post(url, json=forged)
    assert (unsigned.status_code, unsigned.json()["code"]) == (401, "SIGNATURE")
    closed = bookmark(running, Owner(seed=2).add(1))
    assert (closed.status_code, closed.json()["code"]) == (403, "REGISTRATION_CLOSED")
    assert bookmark(running, owner).status_code == 201


def test_cadence_is_stated_and_kept(one: Callable[..., Serving]) -> None:
    running = one(min_cadence=3)
    owner = Owner(seed=1).add(3)
    assert bookmark(running, owner).status_code == 201
    early = bookmark(running, owner.add(2))

    assert HTTP.get(f"{running.url}/status").json() == {"min_periodic_cadence": 3}
    assert (early.status_code, early.json()["error"]) == (
        409,
        "witness bookmark cadence below hosted minimum",
    )
    assert bookmark(running, owner.add(1)).status_code == 200


def test_add_checkpoint_follows_the_specification_step_by_step(
    one: Callable[..., Serving],
) -> None:
    running = listed(one, requests_per_minute=0)
    note = LOG_LEDGER.head(5).note.data

    unknown = add(running, body(5, 0, owner=Owner(seed=1).add(5)))
    garbage = body(5, 0).replace(b"\xe2\x80\x94 ", b"\xe2\x80\x94 other.", 1)
    assert unknown.status_code == 404
    assert add(running, garbage).status_code == 403
    assert add(running, b"old 0\n" + note).status_code == 400
    larger = add(running, body(5, 6))
    assert larger.status_code == 400
    first = add(running, body(5, 0))
    assert first.status_code == 200
    stale = add(running, body(9, 0))
    assert (stale.status_code, stale.content) == (409, b"5\n")
    assert stale.headers["content-type"] == "text/x.tlog.size"
    fork = LOG.forked(2)
    assert add(running, body(9, 5, owner=fork)).status_code == 422
    assert add(running, body(5, 5, owner=fork)).status_code == 422
    assert add(running, body(9, 5)).status_code == 200
    assert add(running, body(9, 9)).status_code == 200
    assert add(running, body(5, 9)).status_code == 400
    assert add(running, body(30, 9)).status_code == 200


def test_a_cosignature_is_over_the_checkpoint_and_timed(one: Callable[..., Serving]) -> None:
    running = listed(one)
    started = int(time.time())
    answer = add(running, body(5, 0))
    (line,) = parse_signatures(answer.text)
    note = LOG_LEDGER.head(5).note.signed_by(line)
    (verified,) = open_note(note, [running.desk.keys.cosigner.key])

    assert verified.time
    assert started <= verified.time <= time.time() + 1


def test_a_proof_with_old_size_zero_and_an_empty_tree_with_a_root_are_unprocessable(
    one: Callable[..., Serving],
) -> None:
    running = listed(one)
    surplus = body(5, 0).replace(b"old 0\n", b"old 0\n" + encode_base64(bytes(32)).encode() + b"\n")
    signer = LOG.checkpoint_signer

    def head(root: bytes) -> bytes:
        text = f"{LOG.origin}\n0\n{encode_base64(root)}\n"
        return b"old 0\n\n" + text.encode() + b"\n" + sign_text(text, signer).line.encode()

    assert add(running, surplus).status_code == 422
    assert add(running, head(bytes(32))).status_code == 422
    assert add(running, head(EMPTY_ROOT)).status_code == 200
    assert add(running, body(5, 0)).status_code == 200


def test_a_known_key_with_a_bad_or_oddly_spelled_signature_is_forbidden(
    one: Callable[..., Serving],
) -> None:
    running = listed(one)
    good = LOG_LEDGER.head(5).note.signatures[0]
    blob = bytearray(good.blob)
    blob[-1] ^= 1
    bad = NoteSignature(name=good.name, encoded=encode_base64(bytes(blob)))
    tail = good.encoded.rstrip("=")
    odd = NoteSignature(
        name=good.name, encoded=tail[:-1] + chr(ord(tail[-1]) + 1) + "=" * (-len(tail) % 4)
    )
    for line in (bad, odd):
        content = body(5, 0).replace(good.line.encode(), line.line.encode())
        assert add(running, content).status_code == 403
    both = body(5, 0) + bad.line.encode()
    assert add(running, both).status_code == 403
    assert add(running, body(5, 0)).status_code == 200


def test_the_newest_checkpoint_is_served_with_verified_signatures_alone(
    one: Callable[..., Serving],
) -> None:
    running = listed(one)
    place = f"{running.url}/{hashlib.sha256(LOG.origin.encode()).hexdigest()}/checkpoint"
    stranger = NoteSigner(kind="note", name="stranger", private=SigningKey(ED25519, b"s" * 32))
    extra = sign_text(LOG_LEDGER.head(5).checkpoint.text, stranger).line.encode()

    assert HTTP.get(place).status_code == 404
    assert add(running, body(5, 0) + extra).status_code == 200
    note = parse_signed_checkpoint(HTTP.get(place).content)
    assert note.checkpoint == LOG_LEDGER.head(5).checkpoint
    assert [line.name for line in note.note.signatures] == [LOG.origin, "witness.example/w1"]
    assert HTTP.get(f"{running.url}/{'0' * 64}/checkpoint").status_code == 404
    assert HTTP.get(f"{running.url}/nothex/checkpoint").status_code == 404


def test_bodies_are_bounded_stated_or_chunked(served: Serving) -> None:
    big = b"x" * (128 * 1024 + 1)

    for path in ("/witness/bookmark", "/add-checkpoint"):
        stated = HTTP.post(served.url + path, content=big)
        chunked = HTTP.post(served.url + path, content=iter([big[:70_000], big[70_000:]]))
        fitting = HTTP.post(served.url + path, content=big[:-1])
        assert (stated.status_code, chunked.status_code) == (413, 413)
        assert fitting.status_code == 400


def test_a_slow_body_is_cut_off(one: Callable[..., Serving]) -> None:
    running = one(body_seconds=0.2)
    host, port = running.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as wire:
        wire.sendall(b"POST /add-checkpoint HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nold")
        answer = wire.recv(4096)

    assert b" 408 " in answer.split(b"\r\n")[0]


def test_a_client_that_leaves_disturbs_nobody(one: Callable[..., Serving]) -> None:
    running = one()
    host, port = running.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as wire:
        wire.sendall(b"POST /add-checkpoint HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nold")
    deadline = time.monotonic() + 10
    while 'status="400"' not in (text := HTTP.get(f"{running.url}/metrics").text):
        assert time.monotonic() < deadline, text
        time.sleep(0.02)

    assert HTTP.get(f"{running.url}/healthz").json() == {"status": "ok"}


def test_rates_are_kept_for_each_identity_and_client(one: Callable[..., Serving]) -> None:
    running = one(requests_per_minute=2)
    owner = Owner(seed=1).add(1)
    answers = [bookmark(running, owner.add(1)) for _ in range(3)]
    other = bookmark(running, Owner(seed=2).add(1))
    narrow = one(client_requests_per_minute=1)

    assert [item.status_code for item in answers] == [201, 200, 429]
    assert int(answers[2].headers["retry-after"]) > 0
    assert other.status_code == 201
    assert add(narrow, b"").status_code == 400
    assert add(narrow, b"").status_code == 429


def test_unsigned_requests_do_not_spend_an_origins_rate(one: Callable[..., Serving]) -> None:
    running = listed(one, requests_per_minute=1)
    unsigned = body(5, 0).replace(b"\xe2\x80\x94 ", b"\xe2\x80\x94 other.", 1)

    assert [add(running, unsigned).status_code for _ in range(3)] == [403] * 3
    assert add(running, body(5, 0)).status_code == 200
    assert add(running, body(9, 5)).status_code == 429


def test_a_clock_that_went_back_signs_nothing(one: Callable[..., Serving]) -> None:
    now = [2_000_000_000.0]
    running = listed(one, clock=lambda: now[0])
    owner = Owner(seed=1).add(2)
    assert add(running, body(5, 0)).status_code == 200
    assert bookmark(running, owner).status_code == 201
    now[0] -= 100
    back = add(running, body(9, 5))
    back_too = bookmark(running, owner.add(1))
    now[0] += 97
    near = add(running, body(9, 5))

    assert (back.status_code, back_too.status_code) == (503, 503)
    assert int(back.headers["retry-after"]) == 100
    assert back_too.json()["code"] == "CLOCK_WENT_BACK"
    assert near.status_code == 200
    (line,) = parse_signatures(near.text)
    (verified,) = open_note(
        LOG_LEDGER.head(9).note.signed_by(line), [running.desk.keys.cosigner.key]
    )
    assert verified.time == 2_000_000_000


def test_a_full_disk_stops_signing_until_restart(one: Callable[..., Serving]) -> None:
    running = listed(one)
    assert add(running, body(5, 0)).status_code == 200
    writer = running.desk.store._writer
    pages = writer.execute("PRAGMA page_count").fetchone()[0]
    writer.execute(f"PRAGMA max_page_count = {pages}")
    answers = []
    for seed in range(200, 260):
        answers.append(bookmark(running, Owner(seed=seed).add(1)))
        if answers[-1].status_code == 503:
            break
    health = HTTP.get(f"{running.url}/healthz")

    assert answers[-1].status_code == 503
    assert answers[-1].json()["code"] == "STORAGE_FAILED"
    assert add(running, body(9, 5)).status_code == 503
    assert (health.status_code, health.json()["status"]) == (503, "frozen")
    assert "agentic_os_witness_frozen 1" in HTTP.get(f"{running.url}/metrics").text


def test_a_note_that_cannot_be_read_is_unavailable(
    one: Callable[..., Serving], monkeypatch: pytest.MonkeyPatch
) -> None:
    running = one()

    def failing(_hash: str) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(type(running.desk.store.read), "note", lambda _, name: failing(name))
    answer = HTTP.get(f"{running.url}/{'0' * 64}/checkpoint")

    assert (answer.status_code, answer.text) == (503, "the storage cannot be read\n")


def test_metrics_count_what_happened(one: Callable[..., Serving]) -> None:
    running = listed(one)
    add(running, body(5, 0))
    add(running, body(9, 0))
    add(running, body(9, 5, owner=LOG.forked(1)))
    answer = HTTP.get(f"{running.url}/metrics")

    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    for line in (
        'agentic_os_witness_acknowledged_total{dialect="c2sp",outcome="registered"} 1',
        'agentic_os_witness_refusals_total{code="OLD_SIZE_STALE"} 1',
        'agentic_os_witness_refusals_total{code="INCONSISTENT"} 1',
        "agentic_os_witness_evidence 1",
        "agentic_os_witness_origins 1",
    ):
        assert line in lines


def test_the_openapi_document_names_every_route(served: Serving) -> None:
    document = HTTP.get(f"{served.url}/openapi.json").json()

    paths = {route.path for route in _routes(served)}  # type: ignore[attr-defined]
    assert set(document["paths"]) == paths
    shapes = document["components"]["schemas"]
    assert shapes["BookmarkShape"]["additionalProperties"] is False
    assert shapes["PublicKeyShape"]["additionalProperties"] is False
    for reference in _references(document):
        assert reference.removeprefix("#/components/schemas/") in shapes


def _routes(served: Serving) -> list[object]:
    from agentic_os.witness.service.http import WitnessService

    return list(WitnessService(served.desk).app.routes)


def _references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "$ref":
                yield value
            yield from _references(value)
    elif isinstance(node, list):
        for item in node:
            yield from _references(item)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/witness/bookmark", 405),
        ("POST", "/status", 405),
        ("GET", "/nowhere", 404),
        ("DELETE", "/add-checkpoint", 405),
    ],
)
def test_other_routes_and_methods(served: Serving, method: str, path: str, status: int) -> None:
    before = counted(served, f'requests_total{{route="none",status="{status}"}}')
    assert HTTP.request(method, served.url + path).status_code == status
    assert counted(served, f'requests_total{{route="none",status="{status}"}}') == before + 1


def counted(running: Serving, name: str) -> int:
    lines = HTTP.get(f"{running.url}/metrics").text.splitlines()
    own = f"agentic_os_witness_{name} "
    return next((int(line.removeprefix(own)) for line in lines if line.startswith(own)), 0)


def test_a_defect_is_answered_counted_and_logged(
    one: Callable[..., Serving], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    running = one()

    async def broken(*_: object) -> None:
        raise ZeroDivisionError("words of a request")

    monkeypatch.setattr(running.desk, "bookmark", broken)
    logging.getLogger(LOGGER_NAME).propagate = True
    with caplog.at_level(logging.INFO, logger=LOGGER_NAME):
        answer = HTTP.post(f"{running.url}/witness/bookmark", content=b"{}")

    assert (answer.status_code, answer.text) == (500, "an error of the witness\n")
    assert counted(running, 'refusals_total{code="INTERNAL"}') == 1
    assert counted(running, 'requests_total{route="/witness/bookmark",status="500"}') == 1
    lines = [JsonLines().format(record) for record in caplog.records]
    assert any('"event":"defect"' in line and "ZeroDivisionError" in line for line in lines)
    assert not any("words of a request" in line for line in lines)


def test_a_line_end_in_an_identity_id_is_malformed(served: Serving) -> None:
    request = build_bookmark(Owner(seed=1).add(1).ledger(), ordinal=1, old_size=None, binds=False)
    tree = json.loads(write_request(request))
    for end in ("\n", "\r"):
        asked = json.dumps({**tree, "identity_id": tree["identity_id"] + end})
        answer = HTTP.post(f"{served.url}/witness/bookmark", content=asked)
        assert (answer.status_code, answer.json()["code"]) == (400, "MALFORMED")


def test_a_time_outside_the_calendar_is_malformed(served: Serving) -> None:
    request = build_bookmark(Owner(seed=1).add(1).ledger(), ordinal=1, old_size=None, binds=False)
    tree = json.loads(write_request(request))
    for time_text in ("9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"):
        key = {**tree["identity_public_key"], "expires_at": time_text}
        asked = json.dumps({**tree, "identity_public_key": key})
        answer = HTTP.post(f"{served.url}/witness/bookmark", content=asked)
        assert (answer.status_code, answer.json()["code"]) == (400, "MALFORMED")


def test_replays_of_a_public_note_do_not_spend_what_a_log_advances_by(
    one: Callable[..., Serving],
) -> None:
    running = listed(one, requests_per_minute=3)
    assert add(running, body(5, 0)).status_code == 200

    again = [add(running, body(5, 5)).status_code for _ in range(5)]
    stale = [add(running, body(5, 0)).status_code for _ in range(5)]

    assert again == [200, 200, 200, 429, 429]
    assert stale == [409] * 5
    assert add(running, body(9, 5)).status_code == 200


def test_new_identities_are_bounded_for_each_client_and_in_all(one: Callable[..., Serving]) -> None:
    running = one(client_registrations_per_day=2)
    known = Owner(seed=1).add(1)
    answers = [bookmark(running, owner) for owner in (known, Owner(seed=2).add(1))]
    answers.append(bookmark(running, Owner(seed=3).add(1)))

    assert [item.status_code for item in answers] == [201, 201, 429]
    assert bookmark(running, known.add(1)).status_code == 200  # who is known goes on

    narrow = one(registrations_per_day=1, client_registrations_per_day=0)
    assert bookmark(narrow, Owner(seed=1).add(1)).status_code == 201
    assert bookmark(narrow, Owner(seed=2).add(1)).status_code == 429


def test_only_a_trusted_proxy_says_whom_it_asks_for(one: Callable[..., Serving]) -> None:
    believed = one(client_requests_per_minute=1, trusted_proxies=Networks.read(["127.0.0.0/8"]))
    alone = one(client_requests_per_minute=1)

    def statuses(running: Serving) -> list[int]:
        return [
            HTTP.post(
                f"{running.url}/add-checkpoint", headers={"x-forwarded-for": f"192.0.2.{n}"}
            ).status_code
            for n in (1, 2, 2)
        ]

    assert statuses(believed) == [400, 400, 429]
    assert statuses(alone) == [400, 429, 429]


def test_a_host_has_one_share_however_many_addresses_it_is_given(
    one: Callable[..., Serving],
) -> None:
    running = one(client_requests_per_minute=1, trusted_proxies=Networks.read(["127.0.0.1"]))
    clients = ("2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1", "192.0.2.1", "::ffff:c000:201")
    statuses = [
        HTTP.post(f"{running.url}/add-checkpoint", headers={"x-forwarded-for": client}).status_code
        for client in clients
    ]
    assert statuses == [400, 429, 400, 400, 429]


def test_a_key_has_one_identity_whatever_envelope_it_comes_in(one: Callable[..., Serving]) -> None:
    running = one()
    owner = Owner(seed=1).add(5)
    assert bookmark(running, owner).status_code == 201
    other = make_identity_envelope(
        owner.identity_key.public, created_at=datetime(2026, 2, 2, tzinfo=UTC)
    )
    lower = replace(owner.cut(2).ledger(), envelope=other)
    request = build_bookmark(lower, ordinal=2, old_size=None, binds=False)
    answer = HTTP.post(f"{running.url}/witness/bookmark", content=write_request(request))

    assert (answer.status_code, answer.json()["code"]) == (409, "IDENTITY_MISMATCH")


def test_a_log_may_have_another_origin_than_its_keys_name(one: Callable[..., Serving]) -> None:
    key = NoteSigner(kind="note", name="sum.example", private=SigningKey(ED25519, b"s" * 32))
    origin = "go.sum database tree"
    running = one(logs=(ListedLog(origin=origin, key=key.key),))
    tree = LOG.tree()
    head = sign_checkpoint(Checkpoint(origin=origin, size=5, root=tree.root(5)), key)
    asked = AddCheckpoint(old_size=0, consistency=(), head=head)
    answer = add(running, write_add_checkpoint(asked))

    assert answer.status_code == 200
    (line,) = parse_signatures(answer.text)
    assert open_note(head.note.signed_by(line), [running.desk.keys.cosigner.key])


def test_a_log_that_is_dropped_is_forbidden_and_continues_where_it_stood(tmp_path: Path) -> None:
    folder = new_witness(tmp_path / "w")
    key = LOG.checkpoint_signer.key
    config = WitnessConfig(folder=folder, port=0, logs=(log_of(key),))
    with serving(config) as running:
        assert add(running, body(5, 0)).status_code == 200
    with serving(replace(config, logs=())) as running:
        assert add(running, body(9, 5)).status_code == 403
    with serving(config) as running:
        assert add(running, body(9, 0)).text == "5\n"
        assert add(running, body(9, 5)).status_code == 200


def test_the_operator_can_retire_an_origin_and_never_reset_it(tmp_path: Path) -> None:
    folder = new_witness(tmp_path / "w")
    owner = Owner(seed=1).add(5)
    with serving(WitnessConfig(folder=folder, port=0)) as running:
        assert bookmark(running, owner, old=0, binds=True).status_code == 201
        close_origin(running.desk.store, owner.origin, now=int(time.time()))
        proved = bookmark(running, owner.add(1), old=5)
        unproved = bookmark(running, owner)
        cosigning = add(running, body(6, 5, owner=owner))
        with pytest.raises(WitnessError):
            close_origin(running.desk.store, owner.origin, now=int(time.time()))

    assert (proved.status_code, proved.json()["code"]) == (409, "ORIGIN_CLOSED")
    assert unproved.json()["error"] == "witness bookmark proof required"
    assert cosigning.status_code == 403


def test_listed_keys_are_synced_and_others_left_alone(tmp_path: Path) -> None:
    folder = new_witness(tmp_path / "w")
    old, new = LOG.log, replace(LOG, checkpoint_seed=1).log
    config = WitnessConfig(folder=folder, logs=(old, new))
    with desk_of(config) as desk:
        sync_listed_logs(desk.store, replace(config, logs=(new,)), now=5)
        state = desk.store.read.origin(LOG.origin)

    assert state
    assert (set(state.keys), set(state.retired_keys)) == ({new.key.vkey}, {old.key.vkey})


def test_a_started_service_tells_its_name_in_the_vkey(served: Serving) -> None:
    page = HTTP.get(served.url).text
    vkey = next(line.split()[-1] for line in page.splitlines() if line.startswith("vkey"))

    assert parse_vkey(vkey).kind == "cosignature"
