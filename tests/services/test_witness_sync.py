"""Persist before answering, seen from outside: strace shows the order of system calls.

Needs ``apt-get install strace``.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.protocol.json import write_request
from support.witness.actors import Owner, new_witness

pytestmark = pytest.mark.services

SERVER = (
    "import os, sys; from pathlib import Path;"
    "from agentic_os.witness.service.config import read_witness_config;"
    "from agentic_os.witness.service.server import serve_witness;"
    "serve_witness(read_witness_config(Path(sys.argv[1])),"
    " started=lambda host, port: print(port, os.getpid(), flush=True))"
)
SIZES = 40
SYNCED = re.compile(r"(fdatasync\(\d+\)|<\.\.\. fdatasync resumed>\)) += 0")
ANSWERED = re.compile(r'(sendto|send|write|sendmsg)\(\d+, "HTTP/1\.1 20[01] ')


def test_every_answer_leaves_after_a_sync(tmp_path: Path) -> None:
    strace = shutil.which("strace")
    assert strace, "apt-get install strace"
    log, owner = Owner(seed=1).add(SIZES), Owner(seed=2).add(SIZES)
    folder = new_witness(tmp_path / "w")
    vkey = log.checkpoint_signer.key.vkey
    (folder / "witness.toml").write_text(
        f"port = 0\nrequests_per_minute = 0\nlogs = {json.dumps([vkey])}\n"
    )
    trace = tmp_path / "trace"
    server = subprocess.Popen(
        [
            strace,
            "-f",
            "-o",
            str(trace),
            "-e",
            "trace=fdatasync,sendto,sendmsg,write",
            "-s",
            "24",
            sys.executable,
            "-c",
            SERVER,
            str(folder),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    ledger, mine, pid = log.ledger(), owner.ledger(), 0
    try:
        output = server.stdout
        assert output
        with output:
            port, pid = map(int, output.readline().split())
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as http:
            for size in range(1, SIZES + 1):
                proof = ledger.tree.consistency_proof(size - 1, size)
                body = write_add_checkpoint(
                    AddCheckpoint(old_size=size - 1, consistency=proof, head=ledger.head(size))
                )
                assert http.post("/add-checkpoint", content=body).status_code == 200
                request = build_bookmark(mine, ordinal=size, old_size=size - 1, binds=size == 1)
                answer = http.post("/witness/bookmark", content=write_request(request))
                assert answer.status_code in (200, 201)
        os.kill(pid, signal.SIGTERM)  # strace ends with what it traces
        assert server.wait(30) == 0
    finally:
        if pid and server.poll() is None:
            os.kill(pid, signal.SIGKILL)
        server.kill()
        server.wait(30)
    answers, synced = 0, False
    for line in trace.read_text(errors="replace").splitlines():
        if SYNCED.search(line):
            synced = True
        elif ANSWERED.search(line):
            answers += 1
            assert synced, f"answer {answers} left without a sync since the one before"
            synced = False
    assert answers == 2 * SIZES
