"""The fleet's budgets: start-up, scan, aggregate, search, scaling. Prints Markdown.

Ratios of one run are the result; absolute times only say what this machine did. Real descriptors
come from project-init, which is installed from PyPI into a folder of its own.
"""

import argparse
import json
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from measure import Figure, Run, environment, median, run_once
from synthetic_fleet import write_fleet

from agentic_os.aggregate.store.database import schema

COMMANDS = 40
REAL_PROJECTS = 1_000
SIZES = (10, 30, 100, 300, 1_000, 2_000, 5_000)
PRODUCER = "project-init==1.2.2"
REFERENCE = {"scan": 8.7, "search": 5.2, "yaml": 8.3}
"""CPU seconds measured elsewhere, where the targets were set: projects-orchestrator 0.2.0 on 1,000
projects, and PyYAML's SafeLoader on 1,000 real descriptors. The last one compares the machines."""

BARE = """
import typer
app = typer.Typer(no_args_is_help=True)
@app.callback()
def root(): pass
{commands}
app()
"""
COMMAND = '''
@app.command("c{n}")
def c{n}(root: list[str] = typer.Option([]), json: bool = False):
    """Command {n}."""
'''


class Bench:
    """One session in a temporary folder."""

    def __init__(self, home: Path, runs: int) -> None:
        self.home = home
        self.runs = runs
        self.environ = environment(home)
        self.command = [sys.executable, "-m", "agentic_os"]

    def ours(self, *words: str) -> Figure:
        return median([self.once(*words) for _ in range(self.runs)])

    def once(self, *words: str) -> Run:
        return run_once([*self.command, *words], self.environ, accept=(0, 2), cwd=self.home)

    def purge(self) -> None:
        shutil.rmtree(self.home / "cache", ignore_errors=True)


def start_up(bench: Bench) -> None:
    print("## Start-up\n")
    script = bench.home / "bare.py"
    script.write_text(BARE.format(commands="".join(COMMAND.format(n=n) for n in range(COMMANDS))))
    empty = bench.home / "empty"
    empty.mkdir()
    pairs: dict[str, list[Run]] = {"bare": [], "help": [], "scan": []}
    for _ in range(bench.runs * 2):
        pairs["bare"].append(run_once([sys.executable, str(script), "--help"], bench.environ))
        pairs["help"].append(bench.once("--help"))
        pairs["scan"].append(bench.once("scan", "--root", str(empty)))
    bare = median(pairs["bare"])
    print("| what | CPU s | ratio to a bare Typer app | target |\n|---|---|---|---|")
    print(f"| bare Typer app, {COMMANDS} commands, `--help` | {bare.cpu_s:.3f} | 1 | |")
    for name, label in (("help", "`--help`"), ("scan", "`scan` of an empty folder")):
        figure = median(pairs[name])
        print(f"| {label} | {figure.cpu_s:.3f} | {figure.cpu_s / bare.cpu_s:.2f} | <= 1.3 |")


def real_descriptors(bench: Bench) -> None:
    print("\n## Scan of 1,000 real descriptors (5 scaffolds x 200)\n")
    fleet = bench.home / "real"
    producer = bench.home / "producer"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--target", str(producer), PRODUCER],
        check=True,
        capture_output=True,
    )
    stacks = ("none", "auto", "obsidian-only", "obsidian-graphify", "obsidian-graphify-rag")
    for stack in stacks:
        first = fleet / f"{stack}-000"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "project_init",
                str(first),
                "--preset",
                "core",
                "--memory",
                stack,
                "--language",
                "python",
                "--non-interactive",
                "--json",
                "--name",
                stack,
                "--description",
                "A scaffold",
            ],
            check=True,
            capture_output=True,
            env={**bench.environ, "PYTHONPATH": str(producer)},
        )
        for copy in range(1, REAL_PROJECTS // len(stacks)):
            shutil.copytree(first, fleet / f"{stack}-{copy:03d}")
    figure = bench.ours("scan", "--root", str(fleet), "--json")
    ratio = REFERENCE["scan"] / figure.cpu_s
    print("| what | CPU s (min-max) | wall s | peak MiB | target |\n|---|---|---|---|---|")
    print(
        f"| `scan --json` | {figure.cpu_s:.2f} ({figure.cpu_min_s:.2f}-{figure.cpu_max_s:.2f})"
        f" | {figure.wall_s:.2f} | {figure.peak_mib:.0f} | <= 0.6 s CPU |"
    )
    print(f"\nprojects-orchestrator needed {REFERENCE['scan']} s on such a fleet: {ratio:.0f} x.")
    yardstick([fleet / f"{stack}-000/.agents/config.yaml" for stack in stacks])
    shutil.rmtree(fleet)


def yardstick(descriptors: list[Path]) -> None:
    """Say how fast this machine is beside the one the targets were set on."""
    texts = [path.read_text(encoding="utf-8") for path in descriptors if path.is_file()]
    started = time.process_time()
    for text in texts * 4:
        yaml.load(text, Loader=yaml.SafeLoader)
    seconds = (time.process_time() - started) / (len(texts) * 4) * 1_000
    print(
        f"\nYardstick: PyYAML's SafeLoader takes {seconds:.1f} s for 1,000 of these descriptors"
        f" here, {REFERENCE['yaml']} s where the targets were set: this machine is now"
        f" {seconds / REFERENCE['yaml']:.2f} x slower."
    )


def aggregate_and_search(
    bench: Bench, fleet: Path | None, label: str, target: str, *, graph_nodes: int = 0
) -> None:
    own = fleet is None
    if fleet is None:
        fleet = bench.home / "fleet"
        write_fleet(fleet, projects=1_000, graph_nodes=graph_nodes)
    root = ("--root", str(fleet))
    first, warm, least = [], [], []
    tables = bench.home / "schema.sql"
    tables.write_text(schema(), encoding="utf-8")
    floor = [sys.executable, str(Path(__file__).with_name("fleet_floor.py")), str(fleet)]
    for turn in range(bench.runs):
        bench.purge()
        store = bench.home / f"floor-{turn}.db"
        least.append(run_once([*floor, str(store), str(tables)], bench.environ))
        for rest in bench.home.glob("floor-*"):
            rest.unlink()
        one = bench.once("aggregate", *root)
        two = bench.once("search", "rare", *root)
        first.append(
            Run(
                cpu_s=one.cpu_s + two.cpu_s,
                wall_s=one.wall_s + two.wall_s,
                peak_mib=max(one.peak_mib, two.peak_mib),
                status=0,
            )
        )
        warm.append(bench.once("search", "rare", *root))
    cold, again, bare = median(first), median(warm), median(least)
    print(
        f"| bare: list, read, insert the texts, {label} | {bare.cpu_s:.2f} | {bare.wall_s:.2f} |"
        f" {bare.peak_mib:.0f} | ours takes {cold.cpu_s / bare.cpu_s:.1f} x |"
    )
    print(
        f"| first aggregate + search, {label} | {cold.cpu_s:.2f} | {cold.wall_s:.2f} |"
        f" {cold.peak_mib:.0f} | {target} |"
    )
    print(
        f"| warm search, nothing changed, {label} | {again.cpu_s:.2f} | {again.wall_s:.2f} |"
        f" {again.peak_mib:.0f} | <= 0.4 s wall |"
    )
    changed = next(fleet.glob("*/.agents/memory/*-3.md"), None) or next(
        path
        for path in sorted(fleet.glob("*/.agents/memory/*.md"))
        if path.name not in {"MEMORY.md", "README.md", "SCHEMA.md"}
    )
    changed.write_text(changed.read_text() + "\nOne more line.\n")
    one = subprocess.run(
        [*bench.command, "aggregate", *root, "--json"],
        env=bench.environ,
        check=False,
        capture_output=True,
        cwd=bench.home,
    )
    read = json.loads(one.stdout)["data"]["files_read"]
    print(f"| one file changed, {label} | | | | {read} file read, target 1 |")
    if own:
        shutil.rmtree(fleet)


def adopted(bench: Bench) -> None:
    """The same projects with descriptors and without, turn by turn in one run."""
    described, bare = bench.home / "described", bench.home / "adopted"
    write_fleet(described, projects=REAL_PROJECTS)
    write_fleet(bare, projects=REAL_PROJECTS)
    for project in bare.iterdir():
        (project / ".agents/config.yaml").unlink()
        (project / ".git").mkdir()
        (project / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (project / "AGENTS.md").write_text(f"# {project.name}\n\nRun the tests first.\n")
    calls = {
        "descriptors": ("--root", str(described)),
        "adopted": ("--root", str(bare), "--adopt"),
    }
    print("\n## 1,000 repositories without a descriptor\n")
    print("| what | descriptors, CPU s | adopted, CPU s | ratio | target |\n|---|---|---|---|---|")
    for label, words, target in (
        ("`scan --json`", ("scan", "--json"), "<= 1.5"),
        ("first aggregate", ("aggregate",), ""),
        ("warm search", ("search", "rare"), "<= 1.3"),
    ):
        runs: dict[str, list[Run]] = {name: [] for name in calls}
        for turn in range(1 if label == "first aggregate" else bench.runs + 1):
            for name, root in calls.items():
                run = bench.once(*words, *root)
                if turn or label == "first aggregate":  # the first warms the caches of both
                    runs[name].append(run)
        ours, theirs = median(runs["adopted"]), median(runs["descriptors"])
        print(
            f"| {label} | {theirs.cpu_s:.2f} | {ours.cpu_s:.2f} | {ours.cpu_s / theirs.cpu_s:.2f} |"
            f" {target} |"
        )
    shutil.rmtree(described)
    shutil.rmtree(bare)


def scaling(bench: Bench) -> None:
    print(
        "\n## Scaling\n\n| projects | first aggregate CPU s | ms a project | warm search CPU s |"
        " warm search wall s | peak MiB |\n|---|---|---|---|---|---|"
    )
    rows = []
    for size in SIZES:
        fleet = bench.home / f"size-{size}"
        write_fleet(fleet, projects=size)
        bench.purge()
        first = bench.once("aggregate", "--root", str(fleet))
        bench.once("search", "rare", "--root", str(fleet))
        warm = bench.ours("search", "rare", "--root", str(fleet))
        rows.append((size, first.cpu_s, warm.wall_s))
        print(
            f"| {size} | {first.cpu_s:.2f} | {first.cpu_s / size * 1e3:.2f} | {warm.cpu_s:.2f} |"
            f" {warm.wall_s:.2f} | {first.peak_mib:.0f} |"
        )
        shutil.rmtree(fleet)
    print('\n```mermaid\nxychart-beta\n    title "First aggregate, CPU seconds"')
    print(f'    x-axis "projects" {json.dumps([str(row[0]) for row in rows])}')
    print('    y-axis "CPU s"')
    print(f"    line {json.dumps([round(row[1], 2) for row in rows])}")
    print(f"    line {json.dumps([round(row[2], 2) for row in rows])}\n```")
    print("\nUpper line: first aggregate (CPU); lower line: warm search (wall).")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--fleet", type=Path, help="measure this fleet instead of a synthetic one")
    parser.add_argument("--only", choices=("start", "real", "aggregate", "adopted", "scaling"))
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), words.runs)
        print(
            f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version},"
            f" {platform.system()} {platform.machine()}; medians of {words.runs} runs,"
            " whole processes.\n"
        )
        if words.only in {None, "start"}:
            start_up(bench)
        if words.only in {None, "real"}:
            real_descriptors(bench)
        if words.only in {None, "aggregate"}:
            print("\n## Aggregate and search, 1,000 projects x 20 facts\n")
            print("| what | CPU s | wall s | peak MiB | target |\n|---|---|---|---|---|")
            aggregate_and_search(bench, words.fleet, "no graphs", "<= 2.5 s CPU")
            if words.fleet is None:
                aggregate_and_search(
                    bench, None, "20 graphs of 5,000 nodes", "<= 4.5 s CPU", graph_nodes=5_000
                )
        if words.only in {None, "adopted"}:
            adopted(bench)
        if words.only in {None, "scaling"}:
            scaling(bench)


if __name__ == "__main__":
    main()
