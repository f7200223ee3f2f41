"""The semantic index as a person meets it: processes, kills, full disks, edits meanwhile."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agentic_os.aggregate.store.space import space_for
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.tiers.index.table import vectors_folder
from agentic_os.tiers.interface import Query
from agentic_os.tiers.route import search
from support.fleet.builder import FleetBuilder
from support.model.lent import lend_tiny
from support.model.prepared import lend_minilm
from support.process.cli_call import call
from support.process.cli_process import MODULE, Finished, run

QUERIES = 1_000
PROJECTS = 6
_LINE = re.compile(r"^import time:\s+\d+ \|\s+\d+ \|\s*(\S+)$", re.MULTILINE)

# The command line, killed at a named point of the build.
DYING = """
import os, signal, sys
from agentic_os.cli.entry import main
from agentic_os.tiers.index import build, writer

point, number = sys.argv[1], int(sys.argv[2])
build.PORTION_TEXTS = build.STEP_TEXTS = 2
build.COMMIT_SECONDS = 0.0

def die():
    os.kill(os.getpid(), int(sys.argv[3]))

def before(owner, name):
    real, left = getattr(owner, name), [number]
    def wrapped(*arguments, **named):
        left[0] -= 1
        if left[0] < 0:
            die()
        return real(*arguments, **named)
    setattr(owner, name, wrapped)

def after(owner, name):
    real, left = getattr(owner, name), [number]
    def wrapped(*arguments, **named):
        done = real(*arguments, **named)
        left[0] -= 1
        if left[0] < 0:
            die()
        return done
    setattr(owner, name, wrapped)

vectors = writer.VectorWriter
if point == "first write":
    import lance
    before(lance, "write_dataset")
elif point == "commit":
    before(vectors, "replace")
elif point == "state":
    before(build, "write_state")
elif point == "kept":
    after(vectors, "keep")
elif point == "tidy":
    before(vectors, "_scalar_indexes")
elif point == "indexed":
    after(vectors, "_vector_index")
elif point == "tidied":
    after(vectors, "keep_tidy")
sys.exit(main(sys.argv[4:]))
"""
SLOW = """
import sys, time
from agentic_os.tiers.embed.onnx import OnnxEmbedder
from agentic_os.tiers.index import build
build.PORTION_TEXTS = build.STEP_TEXTS = 2
build.COMMIT_SECONDS = 0.5
real = OnnxEmbedder.encode_documents
def slow(embedder, texts):
    print("embedding", file=sys.stderr, flush=True)
    time.sleep(0.3)
    return real(embedder, texts)
OnnxEmbedder.encode_documents = slow
from agentic_os.cli.entry import main
sys.exit(main(sys.argv[1:]))
"""
LIMITED = """
import resource, sys
from agentic_os.cli.entry import main
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), hard))
code = main(sys.argv[2:])
sys.stdout.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
sys.exit(code)
"""


@pytest.fixture
def meant(fleet: FleetBuilder, places: Path) -> FleetBuilder:
    """Facts, notes and code that can be told apart by meaning, and the real model."""
    lend_minilm(places / "data")
    shop = fleet.project("shop", "obsidian-graphify-rag")
    shop.fact("retry", "When the bank does not answer, ask again later.", title="Retrying")
    shop.fact("colours", "Buttons are blue, warnings are orange.", title="Palette")
    shop.write(
        "src/throttle.py",
        "class TokenBucket:\n    def take(self, count: int) -> bool:\n"
        '        """Let so many requests through each second."""\n        return count > 0\n',
    )
    shop.write("src/paint.py", "def mix(red: int, green: int) -> int:\n    return red + green\n")
    dock = fleet.project("dock", "obsidian-only")
    dock.note("ships.md", "# Vessels\n\nBoats leave the harbour at dawn.\n")
    return fleet


@pytest.fixture
def many(fleet: FleetBuilder, places: Path) -> FleetBuilder:
    """Several projects and the tiny model."""
    lend_tiny(places / "data")
    write(fleet, 0)
    return fleet


def write(fleet: FleetBuilder, number: int) -> None:
    for at in range(PROJECTS):
        project = fleet.project(f"p{at}", "obsidian-only")
        for fact in range(4):
            project.fact(f"f{fact}", f"alpha {number} of {at} beta {fact}", title=f"F{fact}")


def data_of(finished: Finished) -> Any:
    assert finished.code == 0, finished.words
    return finished.data


def ask(fleet: FleetBuilder, *words: str) -> Any:
    return data_of(call("search", *words, "--json", "--root", fleet.root))


def status(fleet: FleetBuilder) -> Any:
    return data_of(call("index", "status", "--json", "--root", fleet.root))


def test_a_passage_is_found_by_its_meaning(meant: FleetBuilder) -> None:
    before = ask(meant, "what if a payment provider is unreachable", "--mode", "lexical")
    built = data_of(run("index", "build", "--json", "--root", meant.root))

    assert built["chunks"] == built["embedded"] == 6
    for question, path in (
        ("what happens if a payment provider is unreachable", ".agents/memory/retry.md"),
        ("ship departure times", ".agents/vault/ships.md"),
        ("rate limiting", "src/throttle.py"),
    ):
        first = ask(meant, question, "--mode", "semantic")["hits"][0]
        assert first["path"] == path
        assert first["confirmed"]
        hybrid = ask(meant, question)
        assert path in [hit["path"] for hit in hybrid["hits"][:2]]
        assert hybrid["coverage"]["embedder"] == "all-MiniLM-L6-v2"
    assert ".agents/memory/retry.md" not in [hit["path"] for hit in before["hits"]]
    name = ask(meant, "TokenBucket")["hits"][0]
    assert (name["path"], name["symbol"]) == ("src/throttle.py", "TokenBucket")


def test_nothing_but_words_on_stderr_and_data_on_stdout(meant: FleetBuilder) -> None:
    built = run("index", "build", "--root", meant.root)
    again = run("index", "build", "--json", "--root", meant.root)
    shown = run("index", "status", "--root", meant.root)
    tidied = run("index", "optimize", "--root", meant.root)
    found = run("search", "harbour", "--json", "--root", meant.root)

    assert dict(line.split("\t") for line in built.text.splitlines())["embedded now"] == "6"
    assert re.fullmatch(r"all-MiniLM-L6-v2: 6 chunks in .* texts a second\n", built.words)
    assert (again.words, found.words) == ("", "")
    assert again.data["embedded"] == again.data["projects_changed"] == 0
    assert "chunks\t6\n" in shown.text
    assert shown.words == ""
    assert re.fullmatch(r"6 chunks, \d+ bytes before, \d+ now\n", tidied.words)


def imported(words: str) -> set[str]:
    return {name.partition(".")[0] for name in _LINE.findall(words)}


def test_what_a_question_loads(many: FleetBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("COVERAGE_PROCESS"):
            monkeypatch.delenv(name)
    timed = (sys.executable, "-X", "importtime", "-m", "agentic_os")
    ours = {"lance", "onnxruntime", "numpy", "pyarrow", "tokenizers", "onnx"}
    never = {"torch", "transformers", "sentence_transformers", "lancedb", "pydantic"}

    before = run("search", "alpha", "--root", many.root, command=timed)
    built = run("index", "build", "--root", many.root, command=timed)
    asked = run("search", "alpha", "--mode", "semantic", "--root", many.root, command=timed)
    plain = run("search", "alpha", "--mode", "lexical", "--root", many.root, command=timed)

    assert imported(before.words) & (ours | never) == set()
    assert imported(plain.words) & (ours | never) == set()
    assert imported(asked.words) & never == set()
    assert imported(built.words) & never == set()
    assert imported(asked.words) >= {"lance", "onnxruntime", "tokenizers"}
    assert asked.code == built.code == 0


@pytest.mark.parametrize(
    ("point", "number", "rows"),
    [
        ("first write", 0, 0),
        ("kept", 0, 0),
        ("state", 0, 4),
        ("commit", 2, 8),
        ("tidied", 0, 24),
    ],
)
def test_killed_in_the_first_build(many: FleetBuilder, point: str, number: int, rows: int) -> None:
    killed = str(int(signal.SIGKILL))
    command = (sys.executable, "-c", DYING, point, str(number), killed)

    finished = run("index", "build", "--root", many.root, command=command)

    assert finished.code == -signal.SIGKILL, finished.words
    assert status(many)["rows"] == rows
    found = ask(many, "alpha beta", "--mode", "semantic" if rows else "auto")
    assert found["hits"]
    again = data_of(call("index", "build", "--json", "--root", many.root))
    assert again["chunks"] == 24
    assert again["embedded"] <= 24 - rows
    assert (status(many)["rows"], status(many)["files_behind"]) == (24, 0)


@pytest.mark.parametrize("point", ["state", "tidy", "indexed"])
def test_a_killed_build_leaves_the_old_index_serving(many: FleetBuilder, point: str) -> None:
    call("index", "build", "--root", many.root)
    write(many, 1)
    killed = str(int(signal.SIGKILL))
    command = (sys.executable, "-c", DYING, point, "0", killed)

    finished = run("index", "build", "--root", many.root, command=command)

    assert finished.code == -signal.SIGKILL, finished.words
    assert status(many)["rows"] == 24
    assert ask(many, "alpha beta", "--mode", "semantic", "--limit", "30")["hits"]
    again = data_of(call("index", "build", "--json", "--root", many.root))
    assert again["chunks"] == 24
    assert (status(many)["rows"], status(many)["files_behind"]) == (24, 0)


@pytest.mark.parametrize("point", ["tidy", "indexed"])
def test_killed_while_optimizing(many: FleetBuilder, point: str) -> None:
    call("index", "build", "--root", many.root)
    command = (sys.executable, "-c", DYING, point, "0", str(int(signal.SIGKILL)))

    finished = run("index", "optimize", "--root", many.root, command=command)

    assert finished.code == -signal.SIGKILL, finished.words
    assert len(ask(many, "alpha", "--mode", "semantic", "--limit", "30")["hits"]) == 24
    assert call("index", "optimize", "--root", many.root).code == 0
    assert status(many)["rows"] == 24


def test_an_interrupted_build_says_so_and_goes_on(many: FleetBuilder) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "index", "build", "--root", str(many.root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for _ in range(6):
        assert process.stderr.readline() == "embedding\n"
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "Traceback" not in words
    rows = status(many)["rows"]
    assert 0 < rows < 24
    again = data_of(call("index", "build", "--json", "--root", many.root))
    assert again["embedded"] <= 24 - rows
    assert status(many)["rows"] == 24


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_single_large_project_is_gone_on_with_where_it_was_interrupted(
    fleet: FleetBuilder, places: Path, how: signal.Signals
) -> None:
    lend_tiny(places / "data")
    project = fleet.project("alone", "obsidian-only")
    for fact in range(30):
        project.fact(f"f{fact}", f"alpha {fact} beta", title=f"F{fact}")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "index", "build", "--root", str(fleet.root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for _ in range(8):
        assert process.stderr.readline() == "embedding\n"
    process.send_signal(how)
    _, words = process.communicate(timeout=30)
    again = run("index", "build", "--json", "--root", fleet.root)
    last = run("index", "build", "--json", "--root", fleet.root)

    assert process.returncode == (130 if how is signal.SIGINT else -how)
    assert "Traceback" not in words
    # Killed, at most the steps since the last commit are lost; interrupted, none that ended.
    least = 14 if how is signal.SIGINT else 6
    assert least <= again.data["resumed"] < 30
    assert again.data["embedded"] + again.data["resumed"] == 30
    assert again.data["chunks"] == 30
    assert (last.data["embedded"], last.data["resumed"]) == (0, 0)


def test_the_store_is_written_while_a_build_embeds(many: FleetBuilder) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "index", "build", "--root", str(many.root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "embedding\n"
    many.project("p0").fact("meanwhile", "a lighthouse that was built meanwhile")

    finished = call("search", "lighthouse", "--json", "--mode", "lexical", "--root", many.root)
    purged = call("purge", "--root", many.root)

    assert process.poll() is None
    assert finished.data["coverage"]["stale"] is False
    assert [hit["path"].rpartition("/")[2] for hit in finished.data["hits"]] == ["meanwhile.md"]
    assert "STORE_LOCKED" in purged.words
    process.kill()
    process.communicate(timeout=30)


def test_two_builds_at_once_both_come_to_the_whole_index(many: FleetBuilder) -> None:
    command = [*MODULE, "index", "build", "--json", "--root", str(many.root)]

    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)
    ]
    answers = []
    for process in both:
        stdout, stderr = process.communicate(timeout=60)
        assert process.returncode == 0, stderr
        answers.append(json.loads(stdout)["data"])

    assert [answer["chunks"] for answer in answers] == [24, 24]
    assert sorted(answer["embedded"] for answer in answers) == [0, 24]
    assert status(many)["rows"] == 24


def test_a_long_lived_reader_sees_a_build_of_another_process(
    many: FleetBuilder, person: Person
) -> None:
    call("index", "build", "--root", many.root)
    with open_workspace(person, [str(many.root)]) as workspace:
        query = Query(text="ledger witness", mode="semantic", limit=50)
        assert len(search(workspace, query).data.hits) == 24
        many.project("p0", "obsidian-only").fact("new", "ledger witness", title="New")
        assert run("index", "build", "--root", many.root).code == 0

        # The same open workspace, the index as it is now.
        found = search(workspace, query).data.hits

    assert len(found) == 25
    assert "new.md" in [hit.path.rpartition("/")[2] for hit in found]


@pytest.mark.parametrize("kib", [0, 4, 24])
def test_no_room_for_the_index(many: FleetBuilder, kib: int) -> None:
    call("aggregate", "--root", many.root)
    command = (sys.executable, "-c", LIMITED, str(kib * 1024))

    finished = run("index", "build", "--json", "--root", many.root, command=command)

    assert finished.code == 1, finished.text
    assert finished.document["data"] is None
    error = finished.document["error"]
    assert error["code"] in {"INDEX_FULL", "STORE_FULL", "STORE_UNWRITABLE", "PUBLISH_FAILED"}
    assert str(many.root.parent) not in finished.words
    assert "Traceback" not in finished.words
    assert ask(many, "alpha")["hits"]
    assert data_of(call("index", "build", "--json", "--root", many.root))["chunks"] == 24
    assert status(many)["rows"] == 24


def test_no_room_later_leaves_the_old_index(many: FleetBuilder) -> None:
    call("index", "build", "--root", many.root)
    for at in range(PROJECTS):
        for fact in range(4, 60):
            many.project(f"p{at}", "obsidian-only").fact(f"f{fact}", f"gamma {at} {fact} " * 40)
    call("aggregate", "--root", many.root)
    command = (sys.executable, "-c", LIMITED, str(64 * 1024))

    finished = run("index", "build", "--json", "--root", many.root, command=command)

    assert finished.code == 1, finished.text
    assert finished.document["error"]["hint"]
    assert status(many)["rows"] == 24
    assert ask(many, "alpha", "--mode", "semantic")["hits"]


def test_purge_deletes_the_vectors(many: FleetBuilder, person: Person) -> None:
    call("index", "build", "--root", many.root)
    cache = Path(person.environ["AGENTIC_OS_CACHE_DIR"])
    folder = vectors_folder(space_for(cache, [many.root]))
    size = status(many)["bytes"]
    assert folder.is_dir()

    freed = data_of(call("purge", "--json", "--root", many.root))["bytes"]

    assert freed > size > 0
    assert not folder.exists()
    assert status(many)["state"] == "none"


@pytest.mark.parametrize("pattern", ["*.manifest", "data/*", "*"])
def test_garbage_in_the_index_is_said_and_words_answer(
    many: FleetBuilder, person: Person, pattern: str
) -> None:
    call("index", "build", "--root", many.root)
    cache = Path(person.environ["AGENTIC_OS_CACHE_DIR"])
    for path in vectors_folder(space_for(cache, [many.root])).rglob(pattern):
        if path.is_file():
            path.write_bytes(os.urandom(path.stat().st_size))

    auto = run("search", "alpha", "--json", "--root", many.root)
    alone = call("search", "alpha", "--mode", "semantic", "--json", "--root", many.root)

    assert auto.code == 0
    assert auto.data["hits"]
    assert [item["code"] for item in auto.document["omissions"]] == ["INDEX_DAMAGED"]
    assert alone.code == 1
    assert alone.document["error"]["code"] == "INDEX_DAMAGED"
    assert "agentic-os index build" in alone.document["error"]["hint"]
    assert data_of(call("index", "build", "--json", "--root", many.root))["embedded"] == 24
    assert ask(many, "alpha", "--mode", "semantic")["hits"]


def test_no_answer_quotes_what_is_not_in_the_file(many: FleetBuilder, person: Person) -> None:
    """Files are edited all the time; a quoted text stood there around the time of the answer."""
    code = many.project("code", "obsidian-graphify-rag")
    sources = [
        code.write(f"src/m{at}.py", f"def alpha_{at}(beta):\n    return beta\n") for at in range(4)
    ]
    call("index", "build", "--root", many.root)
    facts = [*(many.root / "p0/.agents/memory").glob("*.md"), *sources]
    history: dict[Path, list[str]] = {path: [path.read_text()] for path in facts}
    stop = threading.Event()
    dice = random.Random(3)

    def edit() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            path = dice.choice(facts)
            lines = history[path][-1].split("\n")
            at = dice.randrange(len(lines))
            lines[at : at + dice.randrange(2)] = [f"# alpha edited {number} beta"] * dice.randrange(
                3
            )
            text = "\n".join(lines)
            history[path].append(text)
            fresh = path.with_name(f".{path.name}.new")
            fresh.write_text(text)
            fresh.replace(path)
            time.sleep(0.002)

    editor = threading.Thread(target=edit)
    editor.start()
    quoted = 0
    wrong: list[object] = []
    try:
        with open_workspace(person, [str(many.root)]) as workspace:
            folders = {project.id: project.folder for project in workspace.fleet.projects}
            scope = frozenset(name for name in folders if name.startswith(("p0-", "code-")))
            for number in range(QUERIES):
                text = ("alpha", "return beta", "edited zzz", "alpha_1", "ledger")[number % 5]
                mode = ("auto", "semantic")[number % 2]
                query = Query(
                    text=text,
                    mode="semantic" if mode == "semantic" else "auto",
                    projects=scope,
                    limit=4,
                )
                known = {path: len(texts) for path, texts in history.items()}
                for hit in search(workspace, query).data.hits:
                    path = folders[hit.project] / hit.path
                    texts = history.get(path)
                    if texts is None:
                        continue
                    quoted += 1
                    first, last = hit.lines
                    # As it was just before the question, or at any moment until now.
                    moments = texts[max(0, known[path] - 2) :]
                    if not any(
                        "\n".join(moment.split("\n")[first - 1 : last]) == hit.snippet
                        for moment in moments
                    ):
                        wrong.append(hit)
    finally:
        stop.set()
        editor.join()

    assert wrong == []
    assert quoted > QUERIES / 4
    assert sum(map(len, history.values())) > QUERIES / 10
