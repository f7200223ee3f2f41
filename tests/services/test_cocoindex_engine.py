"""The engine that real tier-3 projects name, ``ccc mcp`` of cocoindex-code, asked by a search.

It needs a Python whose sqlite3 can load extensions: ``AGENTIC_OS_CCC_PYTHON``, else this one, else
the system's. The package is installed once into a folder of its own, never into the environment
under test. Its embedder is a small server on loopback that counts words, so that no model is
needed; its usage tracking is switched off.
"""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from support.engine.builder import engine_project
from support.fleet.builder import FleetBuilder, ProjectBuilder
from support.process.cli_call import call

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]

PACKAGE = "cocoindex-code==0.2.42"
DIMENSION = 64
ASK = (
    "import sqlite3, sys; print(*sys.version_info[:2]);"
    " sys.exit(not hasattr(sqlite3.Connection, 'enable_load_extension'))"
)
LAMP = '''def ignite_the_lighthouse(lamp):
    """Light the lamp at dusk."""
    lamp.wick.raise_up()
    return lamp.burn()
'''
PAYMENT = '''def refund_payment(order):
    """Give the money back."""
    return order.bank.transfer(order.total)
'''


class Embedder(BaseHTTPRequestHandler):
    """An OpenAI-compatible embedder: words, hashed into places of a vector."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        rows = [
            {"object": "embedding", "index": at, "embedding": vector(text)}
            for at, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        body = json.dumps({"object": "list", "data": rows, "model": "words", "usage": usage})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


def vector(text: str) -> list[float]:
    counts = [0.01] * DIMENSION
    for word in re.findall(r"[a-z]+", text.lower()):
        counts[hashlib.sha256(word.encode()).digest()[0] % DIMENSION] += 1.0
    length = sum(count * count for count in counts) ** 0.5
    return [count / length for count in counts]


@pytest.fixture(scope="module")
def embedder() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Embedder)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def interpreter() -> tuple[str, str]:
    """A Python that the engine can run on, and its version."""
    tried = []
    for python in (os.environ.get("AGENTIC_OS_CCC_PYTHON"), sys.executable, "/usr/bin/python3"):
        if not python or not Path(python).exists():
            continue
        asked = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=False)
        if asked.returncode == 0 and tuple(map(int, asked.stdout.split())) >= (3, 11):
            return python, ".".join(asked.stdout.split())
        tried.append(python)
    pytest.skip(
        "COCOINDEX-CODE WAS NOT RUN: the sqlite3 of none of these Pythons can load extensions,"
        f" which it needs: {', '.join(tried)}; set AGENTIC_OS_CCC_PYTHON to one that can"
    )


@pytest.fixture(scope="module")
def site(interpreter: tuple[str, str]) -> Path:
    """The package and what it needs, installed once."""
    version = interpreter[1]
    folder = Path(tempfile.gettempdir()) / f"agentic-os-cocoindex-{os.getuid()}-{version}"
    if not (folder / "installed").exists():
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)),
                *("--python-version", version, "--only-binary=:all:", "--upgrade", PACKAGE),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(
                f"COCOINDEX-CODE WAS NOT RUN: {PACKAGE} cannot be installed: {done.stderr[-500:]}"
            )
        (folder / "installed").touch()
    return folder


@pytest.fixture
def shop(
    interpreter: tuple[str, str],
    site: Path,
    embedder: str,
    fleet: FleetBuilder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[ProjectBuilder]:
    """A project that the real engine has indexed."""
    program = tmp_path / "bin/ccc"
    program.parent.mkdir()
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH={site} exec {interpreter[0]} -c"
        " 'from cocoindex_code.cli import app; app()' \"$@\"\n"
    )
    program.chmod(0o755)
    own = tmp_path / "ccc"
    own.mkdir()
    (own / "global_settings.yml").write_text(
        "embedding:\n  provider: litellm\n  model: openai/words\n"
        f"envs:\n  OPENAI_API_KEY: none\n  OPENAI_API_BASE: {embedder}\n"
        "  COCOINDEX_DISABLE_USAGE_TRACKING: '1'\n  LITELLM_LOCAL_MODEL_COST_MAP: 'True'\n"
    )
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COCOINDEX_CODE_DIR", str(own))
    monkeypatch.setenv("COCOINDEX_DISABLE_USAGE_TRACKING", "1")
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    project = engine_project(fleet, "shop", "ccc mcp")
    project.write("src/lamp.py", LAMP)
    project.write("src/payment.py", PAYMENT)
    project.fact("f", "Nothing about it.", title="Fact")

    def ccc(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [program, *words],
            cwd=project.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    try:
        started = ccc("init", "-f")
        assert started.returncode == 0, started.stdout + started.stderr
        indexed = ccc("index")
        for _ in range(3):  # on a busy machine its daemon is not there in the time it waits for
            if "did not start in time" not in indexed.stdout + indexed.stderr:
                break
            indexed = ccc("index")
        assert indexed.returncode == 0, indexed.stdout + indexed.stderr
        yield project
    finally:
        ccc("daemon", "stop")
        end_daemons(own)


def end_daemons(own: Path) -> None:
    """End the daemons of this test that did not stop: a slow start may have made two."""
    mark = f"COCOINDEX_CODE_DIR={own}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            daemon = b"run-daemon" in (process / "cmdline").read_bytes()
            if daemon and mark in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)


def files(folder: Path) -> dict[str, bytes]:
    """Every file that is the project's own, not the engine's."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".cocoindex_code" not in path.parts
    }


def test_the_real_engine_answers_and_its_hits_are_confirmed(
    fleet: FleetBuilder, shop: ProjectBuilder, places: Path
) -> None:
    (places / "config").mkdir(exist_ok=True)
    (places / "config/projects.toml").write_text("[limits]\nengine_seconds = 60\n")
    before = files(shop.folder)
    assert call("roots", "grant", "shop", "--yes", "--root", fleet.root).code == 0
    question = ("search", "who will ignite the lighthouse lamp", "--kind", "code", "--json")

    found = call(*question, "--explain", "--root", fleet.root)

    assert found.code == 0, found.words
    hit = found.data["hits"][0]
    assert (hit["path"], hit["tier"], hit["confirmed"]) == ("src/lamp.py", 3, True)
    assert "ignite_the_lighthouse" in hit["snippet"]
    assert found.data["coverage"]["surfaces"]["engine"] == 1
    assert files(shop.folder) == before

    # `ccc mcp` brings its index up to date in the background when it starts, whatever a search
    # asks for: its answer is the old passage, which is dropped, or already the new one.
    shop.write("src/lamp.py", "def extinguish_the_lighthouse():\n    pass\n")
    changed = call(*question, "--root", fleet.root)
    assert changed.code == 0, changed.words
    assert "ignite_the_lighthouse" not in changed.text
    dropped = "HIT_CHANGED" in {item["code"] for item in changed.document["omissions"]}
    shown = [item for item in changed.data["hits"] if item["path"] == "src/lamp.py"]
    assert dropped or shown
    assert all("extinguish" in item["snippet"] for item in shown)
