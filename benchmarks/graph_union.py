"""The code graph: cold questions beside Graphify's own on one union, and how both parts scale.

``python benchmarks/graph_union.py [--sizes 10000,100000,1000000] [--repeats 7] [--plot FILE]
[--only graphify|scaling|taking-in]``

1. A fleet of eleven projects with 5,000 nodes each is taken in by ``agentic-os aggregate`` and
   exported as one node-link file. Whole processes are timed on both: ``agentic-os graph path`` and
   ``graph neighbors``; ``graphify path`` and ``graphify explain``. Graphify is installed into a
   folder of its own below the temporary one.
2. Twenty projects with 5,000 nodes each are taken in, and the parts of that are timed.
3. Synthetic unions from 10^4 to 10^6 nodes (three edges a node, skewed, one in a hundred between
   projects) are written to stores, and a fresh process asks each of them.
"""

# ruff: noqa: E501 - drawing and table text

import argparse
import itertools
import json
import os
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

from measure import Run, median, run_once
from scaling_plot import drawn

from agentic_os.aggregate.graph.intake.reader import read_graph
from agentic_os.aggregate.graph.intake.redaction import redacted_graph
from agentic_os.aggregate.graph.store import store_graph
from agentic_os.aggregate.graph.tables import GRAPH_DDL
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.tiers.graph.context import CodeGraph
from agentic_os.tiers.graph.near import find, neighbors
from agentic_os.tiers.graph.walk import Scope, Walker

GRAPHIFY = "0.9.96"
PROJECTS = 11
NODES_EACH = 5_000
REPO_NODES = 10_000
SEED = 7
QUERIES = 200


def synthetic(name: str, nodes: int, rng: random.Random) -> bytes:
    """A node-link document with skewed in-degree and three edges a node."""
    node_list = [
        {
            "id": f"{name}_module_{i % 97}_item_{i}",
            "label": f"{name}_item_{i}()",
            "file_type": "code",
            "source_file": f"src/module_{i % 97}.py",
            "source_location": f"L{i % 900 + 1}",
            "community": i % 12,
        }
        for i in range(nodes)
    ]
    links = []
    for i in range(nodes):
        for _ in range(3):
            target = int(nodes * rng.random() ** 2)
            links.append(
                {
                    "source": node_list[i]["id"],
                    "target": node_list[target]["id"],
                    "relation": rng.choice(("calls", "contains", "imports", "uses")),
                    "confidence": "EXTRACTED",
                    "confidence_score": 1.0,
                    "source_file": node_list[i]["source_file"],
                    "source_location": node_list[i]["source_location"],
                }
            )
    document = {
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": node_list,
        "links": links,
    }
    return json.dumps(document).encode()


# -- 1: beside graphify ----------------------------------------------------------------------------


def descriptor(name: str) -> str:
    return (
        f'project:\n  name: "{name}"\n  description: "bench"\n'
        "  project_init_contract_version: 2\nlanguage: python\ndelivery: library\n"
        "memory:\n  stack: obsidian-graphify\n  tier: 2\n  memory_path: .agents/memory\n"
        "  vault_path: .agents/vault\n  graph_path: graphify-out/graph.json\n"
    )


def fleet(root: Path) -> None:
    rng = random.Random(SEED)
    for number in range(PROJECTS):
        name = f"p{number:02d}"
        for path, data in (
            (".agents/config.yaml", descriptor(name).encode()),
            ("graphify-out/graph.json", synthetic(name, NODES_EACH, rng)),
        ):
            target = root / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def graphify(folder: Path) -> Path:
    script = folder / "bin" / "graphify"
    if not script.exists():
        venv.create(folder, with_pip=True)
        subprocess.run(
            [folder / "bin" / "python", "-m", "pip", "install", "-qq", f"graphifyy=={GRAPHIFY}"],
            check=True,
        )
    return script


def repeat(command: Sequence[str], environ: dict[str, str], repeats: int) -> list[Run]:
    run_once(command, environ)
    return [run_once(command, environ) for _ in range(repeats)]


def beside_graphify(repeats: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = folder / "fleet"
        fleet(root)
        environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        environ |= {"HOME": str(folder), "NO_COLOR": "1"}
        environ |= {
            f"AGENTIC_OS_{part}_DIR": str(folder / part.lower())
            for part in ("CONFIG", "DATA", "CACHE", "STATE")
        }
        ours = str(Path(sys.executable).parent / "agentic-os")
        place = ("--root", str(root))
        build = run_once((ours, "aggregate", *place), environ)
        union = folder / "union.json"
        with union.open("wb") as file:
            subprocess.run([ours, "graph", "export", *place], check=True, env=environ, stdout=file)
        theirs = str(
            graphify(Path(tempfile.gettempdir()) / f"agentic-os-graphify-{os.getuid()}/bench")
        )
        start, end = "p03_item_4900()", "p03_item_11()"
        questions = {
            "agentic-os graph path": (ours, "graph", "path", start, end, *place),
            "graphify path": (theirs, "path", start, end, "--graph", str(union)),
            "agentic-os graph neighbors": (ours, "graph", "neighbors", start, *place),
            "graphify explain": (theirs, "explain", start, "--graph", str(union)),
            "agentic-os --help": (ours, "--help"),
        }
        print(f"\n## Whole process, a union of {PROJECTS * NODES_EACH:,} nodes")
        print(f"first aggregate: {build.cpu_s:.2f} s CPU, {build.peak_mib:.0f} MiB\n")
        print("| command | CPU s | wall s | peak MiB |\n|---|---|---|---|")
        cpu = {}
        for label, command in questions.items():
            figure = median(repeat(command, environ, repeats))
            cpu[label] = figure.cpu_s
            print(f"| {label} | {figure.cpu_s:.3f} | {figure.wall_s:.3f} | {figure.peak_mib:.0f} |")
        print(
            f"\npath: {cpu['graphify path'] / cpu['agentic-os graph path']:.1f} x less CPU;",
            end=" ",
        )
        ratio = cpu["graphify explain"] / cpu["agentic-os graph neighbors"]
        print(f"neighbours beside explain: {ratio:.1f} x less")


# -- 2: taking graphs in ---------------------------------------------------------------------------


def taking_in(graphs: int = 20) -> None:
    """Time reading, redacting and storing in this process; CPU seconds."""
    rng = random.Random(SEED)
    documents = [synthetic(f"p{i:02d}", NODES_EACH, rng) for i in range(graphs)]
    redactor = Redactor()
    with tempfile.TemporaryDirectory() as name:
        connection = sqlite3.connect(Path(name) / "t.db", isolation_level=None)
        connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;" + GRAPH_DDL)
        connection.execute("PRAGMA cache_size=-65536")
        connection.execute("BEGIN")
        marks = [time.process_time()]
        read = [read_graph(data) for data in documents]
        marks.append(time.process_time())
        clean = [redacted_graph(graph, redactor) for graph in read]
        marks.append(time.process_time())
        for rid, graph in enumerate(clean, 1):
            store_graph(connection, rid, graph, {})
        connection.execute("COMMIT")
        marks.append(time.process_time())
        connection.close()
    parts = [end - start for start, end in itertools.pairwise(marks)]
    print(f"\n## Taking in {graphs} graphs of {NODES_EACH:,} nodes, in process")
    print("| read | redact | store | all |\n|---|---|---|---|")
    print("| " + " | ".join(f"{part:.2f} s" for part in [*parts, sum(parts)]) + " |")


# -- 3: scaling ------------------------------------------------------------------------------------


def build_store(path: Path, nodes: int) -> tuple[float, float]:
    """Write a store; returns the CPU seconds of reading and of writing."""
    rng = random.Random(SEED)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;" + GRAPH_DDL)
    connection.execute("PRAGMA cache_size=-65536")
    repos = max(1, nodes // REPO_NODES)
    reading = writing = 0.0
    connection.execute("BEGIN")
    for rid in range(1, repos + 1):
        data = synthetic(f"r{rid:03d}", min(nodes, REPO_NODES), rng)
        started = time.process_time()
        graph = read_graph(data)
        read = time.process_time()
        connection.execute(
            f"INSERT INTO graph_repo VALUES(?,?,'','current','','',{'0,' * 5}'','','','','',0,0,0,'{{}}')",
            (rid, f"r{rid:03d}"),
        )
        files = {}
        for file in sorted({node.path for node in graph.nodes}):
            cursor = connection.execute(
                "INSERT INTO graph_file(rid, path, size, mtime_ns, ctime_ns, inode, read_at_ns,"
                " sha256, built) VALUES(?,?,-1,0,0,0,0,'','')",
                (rid, file),
            )
            files[file] = int(cursor.lastrowid or 0)
        store_graph(connection, rid, graph, files)
        reading += read - started
        writing += time.process_time() - read
    term = connection.execute("SELECT min(tid) FROM graph_term").fetchone()[0]
    rows = set()
    while repos > 1 and len(rows) < nodes * 3 // 100:
        source, target = rng.randrange(1, repos + 1), rng.randrange(1, repos + 1)
        if source != target:
            rows.add(
                (source << 24 | rng.randrange(REPO_NODES), target << 24 | rng.randrange(REPO_NODES))
            )
    connection.executemany(
        "INSERT INTO graph_cross VALUES(?,?,?,'R3',1,0,1.0,'a.py','b.py',1,'x')",
        [(*row, term) for row in sorted(rows)],
    )
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return reading, writing


def ask_store(path: Path) -> dict[str, float]:
    """Ask a store in this process; milliseconds, and the peak memory in MiB."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rng = random.Random(SEED)
    numbers = [
        row[0] for row in connection.execute("SELECT nid FROM graph_node ORDER BY nid LIMIT 1")
    ]
    repos = connection.execute("SELECT max(rid) FROM graph_repo").fetchone()[0]
    each = connection.execute("SELECT count(*) FROM graph_node WHERE nid >> 24 = 1").fetchone()[0]
    assert numbers

    def node() -> int:
        return rng.randrange(1, repos + 1) << 24 | rng.randrange(each)

    walker = Walker(connection, Scope())
    graph = CodeGraph(connection, {}, check=False)
    labels = [
        connection.execute("SELECT label FROM graph_node WHERE nid=?", (node(),)).fetchone()[0]
        for _ in range(QUERIES)
    ]

    def near() -> None:
        walker.around([node()], "out", depth=1, budget=300)

    def two_hops() -> None:
        walker.around([node()], "out", depth=2, budget=300)

    def path_inside() -> None:
        rid = rng.randrange(1, repos + 1) << 24
        walker.path(rid | rng.randrange(each), rid | rng.randrange(each), directed=True)

    def path_across() -> None:
        walker.path(node(), node(), directed=True)

    def answer() -> None:
        neighbors(graph, rng.choice(labels), limit=50)

    def substring() -> None:
        find(graph, rng.choice(labels)[3:-3], limit=10)

    found: dict[str, float] = {}
    for name, ask in {
        "1 hop": near,
        "2 hops": two_hops,
        "path inside": path_inside,
        "path across": path_across,
        "neighbours answered": answer,
        "substring": substring,
    }.items():
        times = sorted(timed(ask) for _ in range(QUERIES))
        found[f"{name} p50"] = statistics.median(times)
        found[f"{name} p95"] = times[int(QUERIES * 0.95)]
    found["peak MiB"] = peak_mib()
    return found


def peak_mib() -> float:
    """The peak of this program; the system's count for the process begins with its parent's."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / 1024
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def timed(ask: Callable[[], None]) -> float:
    started = time.perf_counter()
    ask()
    return (time.perf_counter() - started) * 1_000


def scaling(sizes: Sequence[int], plot: Path | None) -> None:
    print("\n## In process, from a fresh process each")
    rows: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        for nodes in sizes:
            path = Path(name) / f"{nodes}.db"
            reading, writing = build_store(path, nodes)
            done = subprocess.run(
                [sys.executable, __file__, "--ask", str(path)], check=True, capture_output=True
            )
            rows[nodes] = {
                "read s": reading,
                "write s": writing,
                "store MB": path.stat().st_size / 1e6,
                **json.loads(done.stdout),
            }
            path.unlink()
    columns = list(next(iter(rows.values())))
    print("| nodes | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for nodes, row in rows.items():
        print(f"| {nodes:,} | " + " | ".join(f"{row[column]:.3g}" for column in columns) + " |")
    if plot is not None:
        medians = [name for name in next(iter(rows.values())) if name.endswith("p50")]
        plot.write_text(drawn(rows, medians), encoding="utf-8")
        print(f"\nplot: {plot.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the code graph.")
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--repeats", type=int, default=7)
    place = Path(__file__).parents[1] / "docs/explanation/graph-scaling.svg"
    parser.add_argument("--plot", type=Path, default=place)
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", choices=("graphify", "taking-in", "scaling"))
    given = parser.parse_args()
    if given.ask is not None:
        print(json.dumps(ask_store(given.ask)))
        return
    load = " ".join(f"{figure:.1f}" for figure in os.getloadavg())
    print(f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}, load {load}")
    if given.only in {None, "graphify"}:
        beside_graphify(given.repeats)
    if given.only in {None, "taking-in"}:
        taking_in()
    if given.only in {None, "scaling"}:
        scaling([int(size) for size in given.sizes.split(",") if size], given.plot)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
