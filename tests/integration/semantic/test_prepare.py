"""The default model from its package's weights: prepared without torch, killed, used."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agentic_os.tiers.embed.prepare.hub import MINILM
from agentic_os.tiers.embed.selection import open_embedder
from agentic_os.tiers.embed.shelf import Shelf, verify
from support.model.prepared import lend_minilm, prepared_minilm
from support.model.tiny import write_tiny_model
from support.process.loopback import loopback

HEAVY = ("torch", "sentence_transformers", "transformers", "onnx", "lancedb", "huggingface_hub")

QUERY = """
import json, os, sys
from pathlib import Path
from agentic_os.tiers.embed.selection import open_embedder
vector = open_embedder(Path(sys.argv[1])).encode_query("where is the rate limit set?")
heavy = [name for name in HEAVY if name in sys.modules]
os.write(2, json.dumps({"heavy": heavy, "n": len(vector)}).encode())
"""
KILLED = """
import os, sys, time
from pathlib import Path
from agentic_os.tiers.embed.prepare.request import prepare
from agentic_os.tiers.embed.prepare.sources import FolderSource
def stop(stage, done, total):
    print(stage, done, flush=True)
    if f"{stage} {done}" == sys.argv[2]:
        time.sleep(60)
root = Path(sys.argv[1])
source = FolderSource(folder=root / "tiny", name="tiny")
prepare(root / "data", root / "cache", source, progress=stop)
"""


@pytest.fixture
def data(places: Path) -> Path:
    """A data directory that holds the default model."""
    lend_minilm(places / "data")
    return places / "data"


def test_the_default_model_is_what_the_design_says(data: Path) -> None:
    ((path, manifest),) = Shelf(data).sound()
    verify(path, manifest)
    assert manifest.name == "all-MiniLM-L6-v2"
    assert (manifest.dimension, manifest.recipe.max_tokens) == (384, 256)
    assert (manifest.recipe.pooling, manifest.recipe.normalize) == ("mean", True)
    assert manifest.licence == "Apache-2.0"
    assert 20_000_000 < manifest.total_bytes < 30_000_000


def test_it_knows_what_belongs_together(data: Path) -> None:
    embedder = open_embedder(data)
    passages = [
        "def allow(request):\n    return bucket.take(request.client, tokens=1)",
        "The invoice is sent to the customer at the end of every month.",
        "Backups of the database are made each night and kept for thirty days.",
        "class Tree:\n    def insert(self, key):\n        self.root = self._insert(self.root, key)",
    ]
    questions = [
        "throttle a client that sends too many requests",
        "when do customers get their bill?",
        "how long do we keep nightly database dumps?",
        "add a node to a binary search tree",
    ]
    vectors = embedder.encode_documents(passages)
    found = [(vectors @ embedder.encode_query(question)).argmax() for question in questions]
    assert found == [0, 1, 2, 3]


def test_a_batch_gives_about_the_vectors_of_single_texts(data: Path) -> None:
    embedder = open_embedder(data)
    texts = ["rate limit " * n for n in (1, 3, 9, 27, 81)] + ["x", "Ω≈ç√∫µ≤≥÷", ""]
    together = embedder.encode_documents(texts)
    alone = np.stack([embedder.encode_documents([text])[0] for text in texts])
    assert ((together * alone).sum(axis=1) > 0.95).all()


def test_a_query_imports_no_torch_and_prints_nothing(data: Path) -> None:
    code = f"HEAVY = {HEAVY!r}\n{QUERY}"
    done = subprocess.run(
        [sys.executable, "-c", code, str(data)], capture_output=True, check=True, timeout=120
    )
    assert done.stdout == b""
    said = json.loads(done.stderr.decode().splitlines()[-1])
    assert said == {"heavy": [], "n": 384}


def test_preparing_imports_no_torch(tmp_path: Path) -> None:
    write_tiny_model(tmp_path / "tiny")
    code = KILLED + "\nprint([m for m in ('torch', 'sentence_transformers') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), "never"],
        capture_output=True,
        check=True,
        timeout=120,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert done.stderr == ""


@pytest.mark.parametrize(
    "stage", ["building the graph 0", "quantising 1", "checking 2", "checking 3"]
)
def test_a_killed_preparation_leaves_nothing_and_the_next_one_works(
    tmp_path: Path, stage: str
) -> None:
    write_tiny_model(tmp_path / "tiny")
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path), stage], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == stage:
            break
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    process.stdout.close()
    shelf = Shelf(tmp_path / "data")
    assert shelf.models() == ()
    assert list((tmp_path / "data/models").glob(".staging-*")) != []
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), "never"],
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0
    ((path, manifest),) = shelf.sound()
    verify(path, manifest)
    assert list((tmp_path / "data/models").glob(".staging-*")) == []


def test_two_preparations_at_once_make_one_model(tmp_path: Path) -> None:
    write_tiny_model(tmp_path / "tiny")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path), "never"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for process in started:
        _, words = process.communicate(timeout=120)
        assert process.returncode == 0, words
    assert len(Shelf(tmp_path / "data").sound()) == 1


def test_the_hubs_address_and_pins_are_used_as_they_are(tmp_path: Path) -> None:
    """The real pins against a server that holds other bytes: refused, nothing is kept."""
    from agentic_os.errors import SemanticIndexError
    from agentic_os.tiers.embed.prepare.request import prepare
    from agentic_os.tiers.embed.prepare.sources import HubSource

    with loopback() as server:
        place = f"/{MINILM.repository}/resolve/{MINILM.revision}/{MINILM.files[0].path}"
        server.answers[place] = (200, b"not the model", {})
        with pytest.raises(SemanticIndexError) as refused:
            prepare(tmp_path, tmp_path, HubSource(base_url=server.url))
        assert server.asked == [place]
    assert refused.value.code == "MODEL_HASH_WRONG"
    assert Shelf(tmp_path).models() == ()


def test_a_model_whose_bytes_were_changed_is_not_run(data: Path) -> None:
    from agentic_os.errors import SemanticIndexError

    lent = prepared_minilm().path.name
    graph = data / "models" / lent / "model.onnx"
    changed = bytearray(graph.read_bytes())
    changed[len(changed) // 2] ^= 0xFF
    graph.unlink()  # it is a link to the one that is kept between runs
    graph.write_bytes(changed)
    with pytest.raises(SemanticIndexError) as refused:
        open_embedder(data)
    assert refused.value.code == "MODEL_DAMAGED"


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk: the write itself fails."""
    write_tiny_model(tmp_path / "tiny")
    code = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "from agentic_os.errors import AgenticOSError\n"
        f"try:\n    exec({KILLED!r})\nexcept AgenticOSError as fault:\n    print(fault.code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), "never"],
        capture_output=True,
        check=False,
        timeout=120,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.stdout.splitlines()[-1] == "PUBLISH_FAILED", done.stderr
    assert Shelf(tmp_path / "data").models() == ()
    assert [p for p in (tmp_path / "data/models").iterdir() if p.is_dir()] == []
