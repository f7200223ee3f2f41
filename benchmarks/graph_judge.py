"""Judge the edges between installed packages by the interpreter, and say what an edit costs.

    python benchmarks/graph_judge.py [--drawn 400] [--least 12]

Every installed distribution with sources of its own becomes a project with a code graph of ours.
Precision: of the EXTRACTED symbol edges, as many as are drawn are compared with what the
interpreter resolves in the consumer's module, file and line. Recall: every name that a consumer's
module reads and that the interpreter resolves to a class or function of another of the packages
must have an edge at its line. What the interpreter cannot say (constants, aliases, modules that do
not import here) is counted apart.
"""

import argparse
import ast
import importlib
import inspect
import os
import random
import re
import sqlite3
import sys
import tempfile
import time
import warnings
from collections import Counter
from importlib.metadata import distributions
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from agentic_os.aggregate.graph.intake.refresh import refresh_graphs
from agentic_os.aggregate.graph.projects import GraphProject
from agentic_os.aggregate.graph.tables import GRAPH_DDL
from agentic_os.registry.conventions.tables import GRAPH_FILE
from support.graph.graphify import package_project
from support.graph.interpreter import (
    evaluated,
    first_line,
    imported,
    module_at,
    origin,
    used_names,
)

EDGES = """
SELECT consumer.project, provider.project, term.text, edge.rule, edge.conf, edge.consumer_path,
    edge.line, edge.provider_path, edge.provider_line, edge.detail
FROM graph_cross AS edge JOIN graph_repo AS consumer ON consumer.rid = edge.src >> 24
JOIN graph_repo AS provider ON provider.rid = edge.dst >> 24
JOIN graph_term AS term ON term.tid = edge.rel
"""
NAME = re.compile(r"[\w.-]*")
NOT_IMPORTED = frozenset({"tests", "testing", "conftest.py", "__main__.py", "_testing"})
FAULTS = (Exception, SystemExit)
"""What importing or asking other people's modules may end with."""


def packages() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return each distribution's one package, and which of the others it declares."""
    found: dict[str, tuple[str, list[str]]] = {}
    for one in distributions():
        tops = {file.parts[0] for file in one.files or () if file.name == "__init__.py"}
        tops = {top for top in tops if top.isidentifier() and top not in {"tests", "test"}}
        name = (one.metadata["Name"] or "").lower()
        if len(tops) == 1 and name not in {"agentic-os", "pip", "setuptools", "torch"}:
            needs = [
                re.split(r"[^\w.-]", text, maxsplit=1)[0].lower() for text in one.requires or ()
            ]
            found[name] = (tops.pop(), needs)
    taken = {
        name: (package, tuple(sorted({need for need in needs if need in found and need != name})))
        for name, (package, needs) in found.items()
    }
    used = {need for _, needs in taken.values() for need in needs}
    return {name: row for name, row in sorted(taken.items()) if row[1] or name in used}


def root_of(package: str) -> Path:
    """Return the folder that holds an installed package."""
    return Path(importlib.import_module(package).__file__ or "").parent.parent


def judged(row: tuple[str, ...], package: str) -> bool | None:
    """Whether an edge ends where the interpreter says; None where it cannot say."""
    relation, path, target, line, detail = row[2], row[5], row[7], int(row[8]), row[9]
    try:
        found = imported(detail) if relation == "imports" else evaluated(detail, module_at(path))
        hash(found)
        where = origin(found, package)
        if where is None:
            return None
        ours = first_line(root_of(package) / Path(target).relative_to("src"), line)
    except FAULTS:
        return None
    return where == (target, ours)


def expected(consumer: str, others: dict[str, str]) -> set[tuple[str, int, str, str]]:
    """Return what the modules of a package read of other packages: path, line, provider, name."""
    wanted: set[tuple[str, int, str, str]] = set()
    root = root_of(consumer)
    for file in sorted((root / consumer).rglob("*.py")):
        path = "src/" + file.relative_to(root).as_posix()
        if not NOT_IMPORTED.isdisjoint(file.parts) or file.name in NOT_IMPORTED:
            continue
        try:
            module, source = module_at(path), file.read_text()
            names = list(used_names(source, path))
        except FAULTS:
            continue
        for dotted, line in names:
            if dotted.partition(".")[0] not in vars(module):
                continue
            try:
                found = evaluated(dotted, module)
                hash(found)
                plain = inspect.unwrap(found) if callable(found) else found
                home = (getattr(plain, "__module__", "") or "").partition(".")[0]
                where = origin(found, home) if home in others and home != consumer else None
            except FAULTS:
                continue
            if where is not None:
                wanted.add((path, line, where[0], getattr(plain, "__name__", "")))
    return wanted


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--drawn", type=int, default=400, help="edges that are judged")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = packages()
    with tempfile.TemporaryDirectory() as folder:
        projects, own = [], {}
        for name, (package, needs) in rows.items():
            where = package_project(Path(folder), name, package, dependencies=needs)
            projects.append(GraphProject(id=name, name=name, folder=where, graph_path=GRAPH_FILE))
            own[name] = [str(one.relative_to(where)) for one in where.rglob("*.py") if _parses(one)]
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(GRAPH_DDL)
        began = time.process_time()
        refresh_graphs(connection, projects, own=own)
        first = time.process_time() - began
        edges = connection.execute(EDGES).fetchall()
        sys.stdout.write(
            f"{len(projects)} projects, {sum(map(len, own.values()))} sources, {len(edges)} edges;"
            f" load {os.getloadavg()[0]:.1f}\nfirst time {first:.1f} s of CPU\n"
        )
        sure = [row for row in edges if row[4] == 0 and row[3] in {"R3", "R3b"}]
        random.Random(asked.seed).shuffle(sure)
        verdicts: Counter[bool | None] = Counter()
        for row in sure:
            if verdicts[True] + verdicts[False] >= asked.drawn:
                break
            verdict = judged(row, rows[row[1]][0])
            verdicts[verdict] += 1
            if verdict is False:
                sys.stdout.write(f"wrong: {row}\n")
        sys.stdout.write(
            f"precision: {verdicts[True]} of {verdicts[True] + verdicts[False]} drawn are right;"
            f" of {verdicts[None]} more the interpreter says nothing\n"
        )
        others = {package: name for name, (package, _) in rows.items()}
        have = {(row[0], row[5], row[6], row[7]) for row in edges if row[4] == 0}
        total = lost = 0
        for name, (package, _) in rows.items():
            try:
                wanted = expected(package, others)
            except FAULTS:
                continue
            for path, line, target, _name in wanted:
                total += 1
                lost += (name, path, line, target) not in have
        share = 100 * (total - lost) / total if total else 0.0
        sys.stdout.write(
            f"recall: {total - lost} of {total} names have their edge ({share:.1f} %)\n"
        )


def _parses(path: Path) -> bool:
    try:
        ast.parse(path.read_text())
    except (SyntaxError, ValueError):
        return False
    return True


if __name__ == "__main__":
    main()
