"""Schemathesis against the served OpenAPI document, with bodies that are really signed.

A hook turns half of the generated bodies into bookmarks and checkpoints that a client could
send: of growing ledgers, with and without proofs, some of them stale, forked or repeated. For
every case: no 5xx, the answer is one that the document names, and what was refused changed
nothing but the evidence.
"""

import hashlib
import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.protocol.json import write_request
from agentic_os.witness.service.config import WitnessConfig
from support.witness.actors import HTTP, Owner, Serving, new_witness, serving

pytestmark = pytest.mark.services

CASES = 150
LOGS = 6
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@dataclass
class Minter:
    """Makes signed bodies; remembers how far each owner's witness should be."""

    chance: random.Random
    sizes: dict[int, int] = field(default_factory=dict)

    def bookmark(self) -> Any:
        seed = self.chance.randrange(30)
        owner = Owner(seed=seed).add(self.sizes.get(seed, 0) + self.chance.choice([0, 1, 1, 3]))
        if not owner.lines:
            owner.add(1)
        size, old = len(owner.lines), self.sizes.get(seed, 0)
        known = old
        match self.chance.randrange(8) if known else 9:
            case 0:
                owner = owner.forked(self.chance.randrange(known))
            case 1:
                old = self.chance.choice([n for n in range(size + 1) if n != known])
            case 2:
                owner = owner.cut(self.chance.randrange(1, known + 1))
                size = len(owner.lines)
                old = min(old, size)
            case _:
                self.sizes[seed] = size
        proved = seed % 2 == 0
        request = build_bookmark(
            owner.ledger(),
            ordinal=size,
            old_size=min(old, size) if proved else None,
            binds=proved and self.chance.random() < 0.6,
        )
        return json.loads(write_request(request))

    def checkpoint(self) -> str:
        seed = 1000 + self.chance.randrange(LOGS)
        known = self.sizes.get(seed, 0)
        owner = Owner(seed=seed).add(known + self.chance.choice([0, 1, 5, 40]))
        if not owner.lines:
            owner.add(1)
        size, old = len(owner.lines), known
        match self.chance.randrange(6) if known else 9:
            case 0:
                owner = owner.forked(self.chance.randrange(known))
            case 1:
                old = self.chance.choice([n for n in range(size + 3) if n != known])
            case _:
                self.sizes[seed] = size
        ledger = owner.ledger()
        proof = ledger.tree.consistency_proof(min(old, size), size)
        request = AddCheckpoint(old_size=old, consistency=proof, head=ledger.head(size))
        return write_add_checkpoint(request).decode()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    config = WitnessConfig(
        folder=new_witness(tmp_path_factory.mktemp("w") / "w"),
        port=0,
        logs=tuple(Owner(seed=1000 + n).log for n in range(LOGS)),
        requests_per_minute=0,
        client_requests_per_minute=0,
    )
    with serving(config) as started:
        yield started


def state_of(folder: Path) -> str:
    """A digest of everything that is not evidence."""
    connection = sqlite3.connect(folder / "witness.db")
    try:
        digest = hashlib.sha256()
        for table in ("identity", "origin", "origin_key"):
            rows = connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()  # noqa: S608 - our own tables
            digest.update(repr(rows).encode())
        return digest.hexdigest()
    finally:
        connection.close()


def fuzz(running: Serving, path: str, mint: Callable[[], Any]) -> tuple[int, int]:
    """Run the cases of one operation; returns how many were made and how many accepted."""
    schema = schemathesis.openapi.from_url(f"{running.url}/openapi.json")
    counts = {"all": 0, "accepted": 0}
    folder = running.config.folder

    @given(case=schema[path]["POST"].as_strategy(), minted=st.integers(0, 9))
    @settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def run(case: "schemathesis.Case[Any]", minted: int) -> None:
        if minted < 6:
            case.body = mint()
        before = state_of(folder)
        response = case.call()
        case.validate_response(response, checks=CHECKS)
        is_accepted = response.status_code in (200, 201)
        counts["all"] += 1
        counts["accepted"] += is_accepted
        if not is_accepted:
            assert state_of(folder) == before

    run()
    return counts["all"], counts["accepted"]


@pytest.mark.parametrize("path", ["/witness/bookmark", "/add-checkpoint"])
def test_no_body_breaks_the_service_or_its_word(running: Serving, path: str) -> None:
    minter = Minter(chance=random.Random(5))
    mint = minter.bookmark if path == "/witness/bookmark" else minter.checkpoint
    made, accepted = fuzz(running, path, mint)

    assert made >= CASES * 2 // 3
    assert accepted * 5 >= made


def test_every_read_keeps_its_word(running: Serving) -> None:
    schema = schemathesis.openapi.from_url(f"{running.url}/openapi.json")
    seen: list[str] = []
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if operation.method.upper() != "GET":
            continue

        @given(case=operation.as_strategy())
        @settings(
            max_examples=15,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        def run(case: "schemathesis.Case[Any]") -> None:
            response = case.call()
            case.validate_response(response, checks=CHECKS)

        run()
        seen.append(operation.path)
    documented = HTTP.get(f"{running.url}/openapi.json").json()["paths"]
    readable = {path for path, item in documented.items() if "get" in item}
    assert set(seen) == readable - {"/openapi.json"}  # where the document was read from
