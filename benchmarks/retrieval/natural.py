"""Judge questions as a person would ask them: of code, of notes, and across languages.

    python benchmarks/retrieval/natural.py [--cache DIR] [--fleet DIR] [--half tune|unseen]

The questions were written from reading code and notes, without their words. Those about code are
asked of the packages of ``packages.txt`` as their wheels have them, or of a folder of checkouts
(``--fleet``); a question whose files are not there is left out. A hit is right if it lies in one of
the files that answer. Those about notes are asked of one project of notes in seven languages. All
through the product's own ``search``; settings are chosen on the half ``tune`` alone.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import DESCRIPTOR, download, unanswerable
from judge import RANKS, RECALL_AT
from run import MODES, data_folder, everything_shown, said_nothing

from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.results import SearchMode
from agentic_os.tiers.index.build import build_index
from agentic_os.tiers.interface import Query
from agentic_os.tiers.route import search

HERE = Path(__file__).parent / "natural"
LARGE = ("diffusers", "streamlit", "sympy", "transformers")
"""Packages without a question that would double the corpus."""
SOURCES = (".md", ".py", ".rst")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question, the set it belongs to, and the ends of the paths that answer it."""

    kind: str
    text: str
    answers: tuple[tuple[str, str], ...]


def rows_of(name: str) -> Iterator[list[str]]:
    for line in (HERE / name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def plain(project: str) -> str:
    """A project's name without its number: one package is called jinja2 and jinja."""
    return project.rstrip("0123456789").replace("_", "-").lower()


def code_questions(half: str) -> list[Asked]:
    return [
        Asked(kind="code", text=text, answers=tuple(_answer(item) for item in items))
        for text, *items in rows_of(f"{half}.tsv")
    ]


def _answer(item: str) -> tuple[str, str]:
    project, _, path = item.partition(":")
    return plain(project), path


def note_questions(half: str) -> list[Asked]:
    """Questions about notes: in their own language, and in another one."""
    language = {name: spoken for name, spoken, _ in rows_of("notes.tsv")}
    return [
        Asked(
            kind=_kind_of(spoken, language[note]),
            text=text,
            answers=(("notes", f"{note}.md"),),
        )
        for where, spoken, note, text in rows_of("notes_questions.tsv")
        if where == half
    ]


def _kind_of(spoken: str, written: str) -> str:
    if spoken == written:
        return "notes"
    return "notes, asked in another language" if written == "en" else "notes in another language"


def write_code(wheels: Sequence[Path], root: Path) -> None:
    """Write the sources and documents of whole packages, one project a package."""
    for wheel in wheels:
        project = wheel.name.partition("-")[0]
        if project in LARGE:
            continue
        with zipfile.ZipFile(wheel) as opened:
            for name in opened.namelist():
                if name.endswith(SOURCES) and ".dist-info/" not in name:
                    target = root / project / name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(opened.read(name))
        describe(root / project)


def write_notes(root: Path) -> None:
    """Write one project whose memory are the notes."""
    describe(root / "notes")
    memory = root / "notes/.agents/memory"
    memory.mkdir()
    for name, _, text in rows_of("notes.tsv"):
        front = f"---\nname: {name}\ntype: project\n---\n"
        (memory / f"{name}.md").write_text(f"{front}{text}\n", encoding="utf-8")


def describe(folder: Path) -> None:
    (folder / ".agents").mkdir(parents=True, exist_ok=True)
    text = DESCRIPTOR.format(name=folder.name)
    (folder / ".agents/config.yaml").write_text(text, encoding="utf-8")


def right_rank(workspace: Workspace, asked: Asked, mode: SearchMode) -> int | None:
    """The rank of the first hit in a file that answers."""
    names = {project.id: plain(project.folder.name) for project in workspace.fleet.projects}
    hits = search(workspace, Query(text=asked.text, mode=mode, limit=RANKS)).data.hits
    for rank, hit in enumerate(hits, 1):
        for project, path in asked.answers:
            if names[hit.project] == project and f"/{hit.path}".endswith(f"/{path}"):
                return rank
    return None


def judged(workspace: Workspace, questions: Sequence[Asked], senseless: list[str]) -> None:
    print("| way | set | questions | MRR@10 | R@5 | right hits held back | p50 ms |")
    print("|---|---|---|---|---|---|---|")
    for name, mode in MODES.items():
        ranks: dict[str, list[int | None]] = defaultdict(list)
        lost: dict[str, int] = defaultdict(int)
        times: dict[str, list[float]] = defaultdict(list)
        for asked in questions:
            started = time.perf_counter()
            rank = right_rank(workspace, asked, mode)
            times[asked.kind].append(time.perf_counter() - started)
            ranks[asked.kind].append(rank)
            with everything_shown():
                free = right_rank(workspace, asked, mode)
            lost[asked.kind] += free is not None and rank is None
        for kind, found in ranks.items():
            mrr = statistics.fmean(1 / rank if rank else 0.0 for rank in found)
            recall = statistics.fmean(rank is not None and rank <= RECALL_AT for rank in found)
            middle = statistics.median(times[kind]) * 1_000
            print(
                f"| {name} | {kind} | {len(found)} | {mrr:.3f} | {recall:.3f} | {lost[kind]}"
                f" | {middle:.0f} |"
            )
        said = said_nothing(workspace, mode, senseless)
        print(f"| {name} | unanswerable | {len(senseless)} | said: {said} | | | |")


def main() -> int:
    """Do it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(tempfile.gettempdir()) / "agentic-os-retrieval"
    parser.add_argument("--cache", type=Path, default=default)
    parser.add_argument("--fleet", type=Path, help="a folder of checkouts to ask, as they are")
    parser.add_argument("--half", choices=("tune", "unseen"), default="unseen")
    parser.add_argument("--only", choices=("code", "notes"))
    options = parser.parse_args()
    cache: Path = options.cache
    cache.mkdir(parents=True, exist_ok=True)
    environ = {**os.environ, "AGENTIC_OS_DATA_DIR": str(data_folder(cache))}
    environ.setdefault("AGENTIC_OS_CACHE_DIR", str(cache / "spaces"))
    environ.setdefault("AGENTIC_OS_CONFIG_DIR", str(cache / "config"))
    person = Person(environ=environ, home=cache, current=cache)
    if options.only != "notes":
        fleet: Path = options.fleet or cache / "whole"
        if not fleet.exists():
            write_code(download(cache / "wheels"), fleet)
        built = build_index(person, [str(fleet)]).data
        print(f"\n{built.projects} projects, {built.chunks} chunks; half `{options.half}`\n")
        with open_workspace(person, [str(fleet)]) as workspace:
            there = {plain(project.folder.name) for project in workspace.fleet.projects}
            asked = [
                item
                for item in code_questions(options.half)
                if any(project in there for project, _ in item.answers[:1])
            ]
            senseless = unanswerable("tune" if options.half == "tune" else "test")
            judged(workspace, asked, senseless)
    if options.only != "code":
        notes = cache / "notes"
        if not notes.exists():
            write_notes(notes)
        build_index(person, [str(notes)])
        with open_workspace(person, [str(notes)]) as workspace:
            print(f"\nnotes; half `{options.half}`\n")
            judged(workspace, note_questions(options.half), [])
    return 0


if __name__ == "__main__":
    sys.exit(main())
