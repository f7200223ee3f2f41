"""The witness before an independent log: Debian's golang.org/x/mod (sumdb/note and tlog).

Needs ``apt-get install golang-go golang-golang-x-mod-dev``.
"""

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from agentic_os.crypto.tlog.merkle import leaf_hash
from agentic_os.crypto.tlog.note_keys import parse_vkey
from agentic_os.witness.client.receipt_files import export_proof
from agentic_os.witness.client.rounds import WitnessRounds
from agentic_os.witness.service.config import WitnessConfig
from support.witness.actors import Owner, log_of, new_witness, policy_of, serving

pytestmark = pytest.mark.services

SOURCE = Path(__file__).parent / "go_tlog" / "main.go"
GOPATH = "/usr/share/gocode"
CHECKPOINTS = 40


@pytest.fixture(scope="module")
def go_tlog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    go = shutil.which("go")
    assert go, "apt-get install golang-go golang-golang-x-mod-dev"
    place = tmp_path_factory.mktemp("go")
    program = place / "go_tlog"
    environ = {
        **os.environ,
        "GO111MODULE": "off",
        "GOPATH": GOPATH,
        "GOCACHE": str(place / "cache"),
        "GOFLAGS": "",
    }
    built = subprocess.run(
        [go, "build", "-o", str(program), str(SOURCE)],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return program


def run(program: Path, *words: str) -> str:
    done = subprocess.run(
        [str(program), *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def sizes() -> list[str]:
    chance = random.Random(11)
    steps = [1, 1, 2, 3, 4, 7, 8, 8, 15, 16, 17, 255, 256, 257]
    while len(steps) < CHECKPOINTS:
        steps.append(steps[-1] + chance.choice([0, 1, 2, 13, 64, 500]))
    return [str(step) for step in steps]


def test_growing_checkpoints_are_cosigned_and_verify_in_go(go_tlog: Path, tmp_path: Path) -> None:
    signer, vkey = run(go_tlog, "keygen", "go-log.example").split()
    config = WitnessConfig(
        folder=new_witness(tmp_path / "w"),
        port=0,
        logs=(log_of(parse_vkey(vkey)),),
        requests_per_minute=0,
        client_requests_per_minute=0,
    )
    with serving(config) as running:
        witness = running.desk.keys.cosigner.key.vkey
        told = run(go_tlog, "drive", running.url, signer, witness, *sizes())

    assert told == f"{CHECKPOINTS} checkpoints cosigned and verified\n"


@pytest.mark.parametrize(("count", "seq"), [(1, 1), (7, 7), (100, 64), (100, 1)])
def test_our_proof_files_verify_in_go(go_tlog: Path, tmp_path: Path, count: int, seq: int) -> None:
    owner = Owner(seed=1).add(count)
    config = WitnessConfig(folder=new_witness(tmp_path / "w"), port=0)
    with serving(config) as running:
        rounds = WitnessRounds(policy=policy_of(running), folder=tmp_path / "c", clock=time.time)
        result = rounds.witness(owner.ledger())
        witness = running.desk.keys.cosigner.key.vkey
    path = tmp_path / "line.tlog-proof"
    leaf = leaf_hash(owner.lines[seq - 1])
    export_proof(path, tree=owner.tree(), seq=seq, leaf=leaf, head=result.head)
    words = ("check", str(path), owner.checkpoint_signer.key.vkey, witness)

    assert run(go_tlog, *words) == f"record {seq - 1} of {count} stands\n"
    path.write_bytes(path.read_bytes().replace(b"index ", b"index 1", 1))
    spoiled = subprocess.run([str(go_tlog), *words], capture_output=True, check=False)
    assert spoiled.returncode == 1
