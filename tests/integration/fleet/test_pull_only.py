"""Projects are only read: by the events of the interpreter, and by comparing the trees."""

import hashlib
import os
import sys
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder
from support.fleet.hostile import LIGHT, HostileFleet, write_hostile_fleet
from support.model.lent import lend_tiny
from support.process import watched
from support.process.cli_process import Finished, run

WATCHED = Path(watched.__file__)
COMMANDS = [
    ("scan --json", 0),
    ("aggregate --markdown {outside}", 2),
    ("memory --json", 2),
    ("memory --differences", 2),
    ("vault --json", 2),
    ("capabilities --json", 2),
    ("capabilities --matrix", 2),
    ("instructions --json", 2),
    ("instructions --for src/app.py", 2),
    (f"search {LIGHT} --limit 1000 --json", 2),
    (f"search {LIGHT} --explain --projects-only", 2),
    ("graph stats --json", 2),
    ("graph find function", 2),
    ("graph links", 2),
    ("graph export", 2),
    ("index build --all --json", 0),
    ("index build --json", 0),
    ("index status --json", 0),
    ("index optimize", 0),
    (f"search {LIGHT} --mode semantic", 2),
    (f"search {LIGHT} --mode hybrid --limit 1000 --json", 2),
    ("doctor --jsonl", 3),
    ("purge", 0),
    ("search steer --kind capability", 2),
]

MISCHIEF = {
    "write": "open(root + '/healthy-first/AGENTS.md', 'w').close()",
    "append": "open(root + '/healthy-first/.agents/config.yaml', 'a').close()",
    "open-by-handle": "import os\nhandle = os.open(root, os.O_RDONLY)\n"
    "os.open('new', os.O_CREAT | os.O_WRONLY, dir_fd=handle)",
    "relative": "import os\nos.chdir(root)\nopen('new', 'x').close()",
    "create-folder": "import os\nos.mkdir(root + '/new')",
    "rename": "import os\nos.rename(root + '/healthy-first', root + '/renamed')",
    "rename-by-handle": "import os\nhandle = os.open(root, os.O_RDONLY)\n"
    "os.rename('healthy-first', 'renamed', src_dir_fd=handle, dst_dir_fd=handle)",
    "unlink": "import os\nos.unlink(root + '/healthy-first/.agents/CAPABILITIES.md')",
    "delete-tree": "import shutil\nshutil.rmtree(root + '/healthy-first')",
    "mode": "import os\nos.chmod(root + '/healthy-first', 0o700)",
    "times": "import os\nos.utime(root + '/healthy-first', (1, 1))",
    "link": "import os\nos.symlink('x', root + '/link')",
    "hard-link": "import os\nos.link(root + '/healthy-first/.agents/config.yaml', root + '/hard')",
    "truncate": "import os\nos.truncate(root + '/healthy-first/.agents/config.yaml', 0)",
    "database": "import sqlite3\nsqlite3.connect(root + '/new.db')",
    "through-a-link": "import os\nos.symlink(root, root + '-link')\n"
    "open(root + '-link/new', 'w').close()",
    "process": "import subprocess\nsubprocess.run(['true'])",
    "shell": "import os\nos.system('true')",
    "fork": "import os\nif os.fork() == 0: os._exit(0)",
}
HARMLESS = (
    "import os\nopen(root + '/healthy-first/.agents/config.yaml').close()\nos.listdir(root)\n"
    "open(root + '-beside', 'w').close()\nhandle = os.open(root, os.O_RDONLY)\n"
    "os.open('healthy-first', os.O_RDONLY, dir_fd=handle)"
)

Tree = dict[str, tuple[object, ...]]


def tree(root: Path) -> Tree:
    """Every name below a folder with its kind, mode, times and bytes; no link is followed."""
    found: Tree = {}
    for folder, folders, files in os.walk(root):
        for path in (Path(folder), *(Path(folder, name) for name in [*folders, *files])):
            stat = path.lstat()
            content = ""
            if path.is_symlink():
                content = str(path.readlink())
            elif path.is_file():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path)] = (stat.st_mode, stat.st_ino, stat.st_size, stat.st_mtime_ns, content)
    return found


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> HostileFleet:
    fleet = write_hostile_fleet(tmp_path_factory.mktemp("pulled"))
    builder = FleetBuilder(root=fleet.root)
    builder.project("with-git").fact("kept", f"{LIGHT} with git")
    _write_git(fleet.root / "with-git/.git")
    return fleet


def _write_git(git: Path) -> None:
    """A checkout whose configuration would start programs if git were run in it."""
    for name in ("objects", "refs/heads", "hooks"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs/heads/main").write_text("0" * 39 + "1\n")
    (git / "config").write_text(
        '[core]\n\tfsmonitor = "touch ../started"\n\tpager = "touch ../started"\n'
        '[remote "origin"]\n\turl = https://example.org/owner/with-git.git\n'
    )
    hook = git / "hooks/post-checkout"
    hook.write_text("#!/bin/sh\ntouch started\n")
    hook.chmod(0o755)


def watch(
    record: Path, root: Path, *arguments: str | Path, closed: tuple[Path, ...] = ()
) -> Finished:
    return run(
        record,
        root,
        "--",
        *arguments,
        command=(sys.executable, str(WATCHED)),
        environ={"WATCHED_CLOSED": "\n".join(map(str, closed))},
    )


@pytest.mark.parametrize("adopt", [(), ("--adopt",)], ids=["described", "adopted"])
def test_no_command_changes_or_starts_anything(
    hostile: HostileFleet, places: Path, tmp_path: Path, adopt: tuple[str, ...]
) -> None:
    lend_tiny(places / "data")
    before = tree(hostile.root)
    outside = tree(hostile.outside)
    record = tmp_path / "record"

    for command, code in COMMANDS:
        words = command.format(outside=tmp_path / "global.md").split()
        finished = watch(record, hostile.root, *words, "--root", hostile.root, *adopt)
        assert finished.code == code, (command, finished.words)
        assert record.read_text() == "", command

    assert tree(hostile.root) == before
    assert tree(hostile.outside) == outside
    assert (tmp_path / "global.md").exists()


def test_roots_and_paths_change_nothing_below_a_root(hostile: HostileFleet, tmp_path: Path) -> None:
    before = tree(hostile.root)
    record = tmp_path / "record"
    for words in (
        ["roots", "add", str(hostile.root)],
        ["roots", "list"],
        ["scan"],
        ["roots", "remove", str(hostile.root)],
        ["paths"],
    ):
        finished = watch(record, hostile.root, *words)
        assert finished.code == 0, finished.words
        assert record.read_text() == ""

    assert tree(hostile.root) == before


@pytest.mark.parametrize("mischief", MISCHIEF)
def test_the_watch_catches_what_it_is_there_for(tmp_path: Path, mischief: str) -> None:
    fleet = FleetBuilder(root=tmp_path / "fleet")
    fleet.project("healthy-first").capabilities()
    script = tmp_path / "mischief.py"
    script.write_text(MISCHIEF[mischief])
    before = tree(fleet.root)

    finished = watch(tmp_path / "record", fleet.root, script)

    assert finished.code == 0, finished.words
    assert len((tmp_path / "record").read_text().splitlines()) >= 1
    starts = mischief in {"process", "shell", "fork"}
    assert (tree(fleet.root) == before) == (starts or mischief == "append")


def test_the_watch_lets_reading_pass(tmp_path: Path) -> None:
    fleet = FleetBuilder(root=tmp_path / "fleet")
    fleet.project("healthy-first")
    script = tmp_path / "harmless.py"
    script.write_text(HARMLESS)

    finished = watch(tmp_path / "record", fleet.root, script)

    assert finished.code == 0, finished.words
    assert (tmp_path / "record").read_text() == ""


def test_the_global_view_is_never_written_below_a_root(
    hostile: HostileFleet, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(hostile.root)
    before = tree(hostile.root)

    for target in (
        hostile.root / "global.md",
        hostile.root / "healthy-first/.agents/memory/MEMORY.md",
        tmp_path / "link/global.md",
        hostile.root / "healthy-first/../global.md",
    ):
        finished = run("aggregate", "--markdown", target, "--root", hostile.root)
        assert finished.code == 64
        assert "OUTPUT_BELOW_ROOT" in finished.words

    assert tree(hostile.root) == before


def test_what_an_opted_out_project_remembers_is_never_opened(
    fleet: FleetBuilder, tmp_path: Path
) -> None:
    fleet.project("open").fact("kept", LIGHT)
    closed = []
    for name, stack in (("declined", "none"), ("absent", None)):
        project = fleet.project(name, stack)
        note = project.note("note.md", LIGHT)
        graph = project.write("graphify-out/graph.json", "{}")
        closed += [project.fact("kept", LIGHT), project.index(f"{LIGHT}\n")]
        closed += [note, note.parent, graph, graph.parent]
        project.capabilities(skills={f"steer-{name}": "Steers"})
    record = tmp_path / "record"

    for words in (
        ["scan"],
        ["aggregate"],
        ["memory"],
        ["vault"],
        ["search", LIGHT],
        ["doctor"],
    ):
        watch(record, fleet.root, *words, "--root", fleet.root, closed=tuple(closed))
        assert record.read_text() == "", words
    found = watch(
        record, fleet.root, "search", LIGHT, "--json", "--root", fleet.root, closed=tuple(closed)
    )
    listed = watch(record, fleet.root, "capabilities", "--json", "--root", fleet.root)

    assert record.read_text() == ""
    assert [hit["project"].rpartition("-")[0] for hit in found.data["hits"]] == ["open"]
    assert found.code == 0
    names = {item["name"] for item in listed.data["capabilities"]}
    assert names == {"steer-declined", "steer-absent"}
    # The same watch over a project that has not opted out: it sees that memory is opened.
    kept = fleet.root / "open/.agents/memory/kept.md"
    watch(record, fleet.root, "search", LIGHT, "--root", fleet.root, closed=(kept,))
    assert "kept.md" in record.read_text()
