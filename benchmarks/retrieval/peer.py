"""The same questions to cocoindex-code, with the same weights, where it can run.

    python benchmarks/retrieval/peer.py [--cache DIR] [--half tune|test] [--sample N] [--json FILE]

It needs a Python whose sqlite3 can load extensions (AGENTIC_OS_CCC_PYTHON, this one, the system's);
where there is none, that is said loudly and nothing is measured. The package is installed once
into a folder of its own. Its embedder is a small server on loopback that answers with our own int8
model, so the two engines differ in everything but the vectors of equal texts. Its usage tracking is
switched off. It indexes a copy of the fleet, since it writes into what it indexes; it is asked
through ``ccc mcp`` without refreshing.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import anyio
from corpus import Question, Target
from judge import RANKS, judge
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from run import SETS, data_folder, fleet, sampled, show

from agentic_os.tiers.embed.interface import Embedder
from agentic_os.tiers.embed.selection import open_embedder

PACKAGE = "cocoindex-code==0.2.42"
ASKED = 40
"""Chunks asked for: several of one place count once, so that ten places are left."""
ATTEMPTS = 10
_ASK = (
    "import sqlite3, sys; print(*sys.version_info[:2]);"
    " sys.exit(not hasattr(sqlite3.Connection, 'enable_load_extension'))"
)


class Server(BaseHTTPRequestHandler):
    """An OpenAI-compatible embedder over our own model."""

    embedder: ClassVar[Embedder]
    lock: ClassVar[threading.Lock] = threading.Lock()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        with self.lock:
            vectors = self.embedder.encode_documents(texts)
        rows = [
            {"object": "embedding", "index": at, "embedding": [float(value) for value in row]}
            for at, row in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        body = json.dumps({"object": "list", "data": rows, "model": "minilm", "usage": usage})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def embedding_server(data: Path) -> Iterator[str]:
    """Our model behind an address on loopback."""
    Server.embedder = open_embedder(data, None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def interpreter() -> tuple[str, str] | None:
    """A Python that the engine can run on, and its version."""
    for python in (os.environ.get("AGENTIC_OS_CCC_PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and Path(python).exists():
            asked = subprocess.run(
                [python, "-c", _ASK], capture_output=True, text=True, check=False
            )
            if asked.returncode == 0 and tuple(map(int, asked.stdout.split())) >= (3, 11):
                return python, ".".join(asked.stdout.split())
    return None


def installed(version: str) -> Path:
    """The package and what it needs, installed once."""
    folder = Path(tempfile.gettempdir()) / f"agentic-os-cocoindex-{os.getuid()}-{version}"
    if not (folder / "installed").exists():
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)),
                *("--python-version", version, "--only-binary=:all:", "--upgrade", PACKAGE),
            ],
            check=True,
        )
        (folder / "installed").touch()
    return folder


def environment(own: Path, site: Path, url: str) -> dict[str, str]:
    """Its settings, and the variables it is run with."""
    own.mkdir(parents=True, exist_ok=True)
    (own / "global_settings.yml").write_text(
        "embedding:\n  provider: litellm\n  model: openai/minilm\n"
        f"envs:\n  OPENAI_API_KEY: none\n  OPENAI_API_BASE: {url}\n"
        "  COCOINDEX_DISABLE_USAGE_TRACKING: '1'\n  LITELLM_LOCAL_MODEL_COST_MAP: 'True'\n"
    )
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(own),
        "PYTHONPATH": str(site),
        "COCOINDEX_CODE_DIR": str(own),
        "COCOINDEX_DISABLE_USAGE_TRACKING": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def build(command: Sequence[str], environ: dict[str, str], folder: Path) -> None:
    """Make its index; on a busy machine its daemon is not there in the time it waits for."""
    for words in (["init", "-f"], *[["index"]] * ATTEMPTS):
        started = time.perf_counter()
        done = subprocess.run(
            [*command, *words],
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        print(f"ccc {words[0]}: {done.returncode}, {time.perf_counter() - started:.1f} s")
        said = done.stdout + done.stderr
        print(said[-1_500:], file=sys.stderr)
        if words == ["index"] and "did not start in time" not in said:
            return


async def ask(
    command: Sequence[str], environ: dict[str, str], folder: Path, questions: Sequence[Question]
) -> tuple[dict[str, list[Target]], list[float]]:
    """Ask every question in one session; the places and the milliseconds."""
    server = StdioServerParameters(
        command=command[0], args=[*command[1:], "mcp"], env=environ, cwd=str(folder)
    )
    places: dict[str, list[Target]] = {}
    taken = []
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()
        for question in questions:
            arguments = {"query": question.text, "limit": ASKED, "refresh_index": False}
            started = time.perf_counter()
            answer = await session.call_tool("search", arguments)
            taken.append((time.perf_counter() - started) * 1_000)
            found = answer.structured_content or json.loads(answer.content[0].text)
            places[question.text] = _places(found["results"])
    return places, taken


def _places(rows: Sequence[dict[str, object]]) -> list[Target]:
    """Chunks as places; one that touches a better one of its file counts with that."""
    kept: list[Target] = []
    for row in rows:
        project, _, path = str(row["file_path"]).partition("/")
        start, end = int(str(row["start_line"])), int(str(row["end_line"]))
        touching = any(
            (item.project, item.path) == (project, path)
            and start <= item.end + 1
            and end >= item.start - 1
            for item in kept
        )
        if not touching:
            kept.append(Target(project=project, path=path, start=start, end=end))
    return kept[:RANKS]


def end_daemons(own: Path) -> None:
    """End the daemons that this run started: they outlive the command that starts them."""
    mark = f"COCOINDEX_CODE_DIR={own}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)


def main() -> int:
    """Do it all, or say why not."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(tempfile.gettempdir()) / "agentic-os-retrieval"
    parser.add_argument("--cache", type=Path, default=default)
    parser.add_argument("--half", choices=("tune", "test"), default="test")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    python = interpreter()
    if python is None:
        print("COCOINDEX-CODE WAS NOT RUN: no Python here has an sqlite3 that loads extensions")
        return 0
    cache: Path = options.cache
    folder, own = cache / "peer" / "fleet", cache / "peer" / "settings"
    shutil.rmtree(cache / "peer", ignore_errors=True)
    with fleet(cache / "wheels", cache / "fleet") as (root, questions):
        shutil.copytree(root, folder)
        asked = [item for item in questions if item.half == options.half]
        if options.sample:
            asked = sampled(asked, options.sample)
        command = [python[0], "-c", "from cocoindex_code.cli import app; app()"]
        with embedding_server(data_folder(cache)) as url:
            environ = environment(own, installed(python[1]), url)
            try:
                build(command, environ, folder)
                places, taken = anyio.run(ask, command, environ, folder, asked)
            finally:
                end_daemons(own)
    taken.sort()
    middle, late = taken[len(taken) // 2], taken[int(len(taken) * 0.95)]
    judged = judge(asked, lambda text: places[text])
    figures = {kind: replace(item, p50_ms=middle, p95_ms=late) for kind, item in judged.items()}
    show(options.half, {"cocoindex-code": figures})
    if options.json:
        plain = {kind: asdict(figures[kind]) for kind in SETS}
        options.json.write_text(json.dumps(plain, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
