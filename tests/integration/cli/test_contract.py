"""What scripts rely on: exit codes, which stream carries what, quiet ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentic_os import __version__
from support.fleet.builder import FleetBuilder
from support.process.cli_call import call
from support.process.cli_process import MODULE, run

C_LOCALE = {"LC_ALL": "C", "LANG": "C"}
ASCII_ONLY = {**C_LOCALE, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""As the first, with everything switched off by which Python makes up for it."""
CONSOLE = (str(Path(sys.executable).with_name("agentic-os")),)


@pytest.fixture
def small(fleet: FleetBuilder) -> FleetBuilder:
    """One project with a fact, a second one with nothing."""
    shop = fleet.project("shop", "obsidian-only")
    shop.fact("limits", "The rate limit is 40.", title="Rate limits", description="per minute")
    shop.index("- [Rate limits](limits.md) - per minute\n")
    shop.note("ops.md", "# On call\n\nLook at the rate limit.\n")
    shop.capabilities(skills={"deploy": "Ships it"}, servers={"docs": "npx docs"})
    empty = fleet.project("empty")
    empty.index("# Memory\n\nNothing yet, said in prose.\n")
    return fleet


@pytest.fixture
def broken(small: FleetBuilder) -> FleetBuilder:
    """The same and a project whose fact cannot be read."""
    project = small.project("broken")
    os.mkfifo(project.fact("kept", "rate limit").with_name("fifo.md"))
    return small


def both(code: int, error: str | None, *words: str | Path) -> None:
    """The text form and the JSON form of a command end in the same way."""
    text = call(*words)
    document = call(*words, "--json")
    assert (text.code, document.code) == (code, code), (text.words, document.words)
    found = document.document["error"]
    assert (None if found is None else found["code"]) == error
    if error is not None:
        assert f"[{error}]" in text.words
        assert f"[{error}]" in document.words
    for finished in (text, document):
        assert "Traceback" not in finished.words


def test_0_complete(small: FleetBuilder) -> None:
    for words in (
        ["scan"],
        ["aggregate"],
        ["memory"],
        ["memory", "--differences"],
        ["vault"],
        ["capabilities"],
        ["search", "limit"],
        ["search", "no-such-word-anywhere"],
        ["doctor"],
        ["purge"],
    ):
        both(0, None, *words, "--root", small.root)
    both(0, None, "paths")
    both(0, None, "roots", "list")


def test_1_failure(small: FleetBuilder, places: Path) -> None:
    for words in (["scan"], ["aggregate"], ["search", "x"], ["doctor"], ["memory"]):
        both(1, "ROOT_MISSING", *words, "--root", small.root / "nowhere")
    for words in (["memory"], ["vault"], ["capabilities"], ["search", "x"], ["doctor"]):
        both(1, "PROJECT_UNKNOWN", *words, "--project", "shpo", "--root", small.root)
    both(1, "ROOT_MISSING", "roots", "add", small.root / "nowhere")
    (places / "config").mkdir()
    (places / "config/projects.toml").write_text('rots = ["x"]\n')
    both(1, "SETTINGS_KEY_UNKNOWN", "scan")
    both(1, "SETTINGS_KEY_UNKNOWN", "purge")


def test_2_incomplete(broken: FleetBuilder) -> None:
    for words in (
        ["aggregate"],
        ["memory"],
        ["memory", "--differences"],
        ["vault"],
        ["capabilities"],
        ["search", "limit"],
    ):
        both(2, "INCOMPLETE", *words, "--root", broken.root)


def test_incomplete_is_only_what_was_asked_for(broken: FleetBuilder) -> None:
    both(0, None, "search", "limit", "--project", "shop", "--root", broken.root)
    both(0, None, "memory", "--project", "shop", "--root", broken.root)
    both(2, "INCOMPLETE", "memory", "--project", "broken", "--root", broken.root)
    both(0, None, "scan", "--root", broken.root)


def test_a_project_whose_descriptor_is_broken(small: FleetBuilder) -> None:
    """Asked about the fleet it is reported; asked about that project it is what is missing."""
    small.project("bad").write(".agents/config.yaml", "project: [\n")

    both(0, None, "scan", "--root", small.root)
    both(0, None, "search", "limit", "--root", small.root)
    both(2, "INCOMPLETE", "search", "limit", "--project", "bad", "--root", small.root)
    both(2, "INCOMPLETE", "memory", "--project", "bad", "--root", small.root)
    failed = call("search", "limit", "--json", "--root", small.root).data["coverage"]
    assert [item["code"] for item in failed["projects_failed"]] == ["DESCRIPTOR_UNPARSEABLE"]


def test_3_findings(broken: FleetBuilder) -> None:
    text = call("doctor", "--root", broken.root)
    document = call("doctor", "--json", "--root", broken.root)
    lines = call("doctor", "--jsonl", "--root", broken.root)

    assert (text.code, document.code, lines.code) == (3, 3, 3)
    assert document.data["counts"] == lines.documents[-1]["data"]["counts"]
    assert document.data["counts"]["fail"] == 1
    assert [item["data"] for item in lines.documents[:-1]] == document.data["checks"]
    assert len(text.text.splitlines()) == len(document.data["checks"])


def test_64_usage(small: FleetBuilder) -> None:
    both(64, "USAGE", "no-such-command")
    both(64, "USAGE", "scan", "--no-such-option")
    both(64, "USAGE", "search")
    both(64, "USAGE", "search", "", "--root", small.root)
    both(64, "USAGE", "search", " \t", "--root", small.root)
    both(64, "USAGE", "search", "x" * 3_000, "--root", small.root)
    both(64, "USAGE", "search", "x", "--limit", "0")
    both(64, "USAGE", "search", "x", "--limit", "many")
    both(64, "USAGE", "search", "x", "--kind", "nonsense", "--root", small.root / "nowhere")
    both(64, "USAGE", "search", "x", "--mode", "nonsense", "--root", small.root)
    both(64, "USAGE", "roots", "nonsense")
    both(64, "USAGE", "aggregate", "--markdown", small.root.parent / "no/such/folder.md")
    both(
        64,
        "OUTPUT_BELOW_ROOT",
        "aggregate",
        "--markdown",
        small.root / "x.md",
        "--root",
        small.root,
    )
    for words in (
        ["scan", "--json", "--jsonl"],
        ["doctor", "--json", "--jsonl"],
        ["aggregate", "--json", "--markdown", "-"],
    ):
        assert call(*words, "--root", small.root).code == 64


def test_130_interrupted(fleet: FleetBuilder, tmp_path: Path) -> None:
    """A real Ctrl-C in the middle of a command; nothing is lost and nothing half-printed."""
    fleet.project("p").fact("f", "text")
    # Reading this file waits until the signal comes: a pipe in the place of the settings' folder
    # would be refused, so the command is held where it takes in the first file.
    held = tmp_path / "held.py"
    held.write_text(
        "import sys, time\n"
        "from agentic_os.aggregate.refresh import intake\n"
        "def hold(*_):\n"
        "    print('held', file=sys.stderr, flush=True)\n"
        "    time.sleep(60)\n"
        "intake.parse_file = hold\n"
        "from agentic_os.cli.entry import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    for form in ([], ["--json"]):
        process = subprocess.Popen(
            [sys.executable, str(held), "aggregate", *form, "--root", str(fleet.root)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        assert process.stderr.readline() == "held\n"
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "Traceback" not in stderr
        assert "[INTERRUPTED]" in stderr
        assert ('"code":"INTERRUPTED"' in stdout) == bool(form)
    assert run("search", "text", "--json", "--root", fleet.root).data["total"] == 1


def test_a_missing_root_is_named_as_typed(small: FleetBuilder) -> None:
    finished = call("scan", "--root", "no/such/place", current=small.root)

    assert finished.code == 1
    assert "no/such/place" in finished.words
    assert str(small.root) not in finished.words
    assert finished.text == ""


def test_an_unknown_project_lists_near_names(small: FleetBuilder) -> None:
    finished = call("memory", "--project", "shoop", "--root", small.root)

    assert finished.code == 1
    assert "shop" in finished.words
    assert "near names" in finished.words


def test_no_project_found_is_said(tmp_path: Path) -> None:
    (tmp_path / "bare/sub").mkdir(parents=True)

    text = call("scan", "--root", tmp_path / "bare")
    document = call("scan", "--json", "--root", tmp_path / "bare")

    assert (text.code, text.text) == (0, "")
    assert "No project below" in text.words
    assert str(tmp_path / "bare") in text.words
    assert ".agents/config.yaml" in text.words
    assert document.data["projects"] == []
    assert document.data["roots"][0]["folders"] == 2
    for words in (["aggregate"], ["memory"], ["vault"], ["search", "x"], ["doctor"]):
        both(0, None, *words, "--root", tmp_path / "bare")


def test_the_current_folder_is_the_root(small: FleetBuilder) -> None:
    here = call("scan", "--json", current=small.root)
    inside = call("scan", "--json", current=small.root / "shop")

    assert len(here.data["projects"]) == 2
    assert [item["name"] for item in inside.data["projects"]] == ["shop"]


def test_relative_and_home_roots(small: FleetBuilder, places: Path) -> None:
    (places / "code").symlink_to(small.root)

    for typed, current in (("fleet", small.root.parent), ("./fleet/", small.root.parent)):
        assert len(call("scan", "--json", "--root", typed, current=current).data["projects"]) == 2
    assert len(call("scan", "--json", "--root", "~/code").data["projects"]) == 2


def test_stdout_is_data_and_stderr_is_words(broken: FleetBuilder) -> None:
    finished = call("search", "limit", "--root", broken.root)

    assert all(line.count("\t") == 3 for line in finished.text.splitlines())
    assert "left out: NOT_REGULAR" in finished.words
    assert "hits in" in finished.words
    document = call("search", "limit", "--json", "--root", broken.root)
    assert document.document["schema"] == "agentic-os/search/v1"


@pytest.mark.parametrize("words", [["memory"], ["memory", "--json"], ["scan", "--jsonl"]])
def test_a_closed_pipe_ends_quietly(fleet: FleetBuilder, words: list[str]) -> None:
    for number in range(40):
        project = fleet.project(f"p{number}")
        for fact in range(10):
            project.fact(f"f{fact}", "padding words " * 60, description="words " * 40)
    run("aggregate", "--root", fleet.root)

    command = [*MODULE, *words, "--root", str(fleet.root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read(10)
    process.stdout.close()
    stderr = process.stderr.read()
    process.stderr.close()

    assert process.wait(timeout=60) == 0
    assert stderr == b""


def test_a_reader_that_never_reads(small: FleetBuilder) -> None:
    """The pipe is closed before the first byte: found out only by the last flush."""
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [*MODULE, "scan", "--json", "--root", str(small.root)], stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)

    _, stderr = process.communicate(timeout=60)

    assert process.returncode == 0
    assert stderr == b""


@pytest.mark.parametrize("words", [["--help"], ["search", "--help"], ["--version"]])
def test_a_help_text_that_nobody_reads(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen([*MODULE, *words], stdout=write, stderr=subprocess.PIPE)
    os.close(write)

    _, stderr = process.communicate(timeout=60)

    assert (process.returncode, stderr) == (0, b"")


@pytest.mark.parametrize("words", [["roots"], ["graph"]])
def test_a_group_alone_answers_with_its_help(words: list[str]) -> None:
    finished = call(*words)

    assert finished.code == 64
    assert finished.text == ""
    assert finished.words.startswith("Usage: agentic-os")
    assert "\n" in finished.words.strip()


def test_words_that_nobody_reads_stop_nothing(broken: FleetBuilder) -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [*MODULE, "search", "limit", "--root", str(broken.root)],
        stdout=subprocess.PIPE,
        stderr=write,
    )
    os.close(write)

    stdout, _ = process.communicate(timeout=60)

    assert process.returncode == 2
    assert stdout.count(b"\n") >= 3


def test_words_that_nobody_reads_are_missed_once() -> None:
    """What a library says later, or at the very end, changes no exit code."""
    twice = "from agentic_os.cli.output import say; import sys; say('a'); sys.stderr.write('b')"
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen([sys.executable, "-c", twice], stderr=write)
    os.close(write)

    assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["memory"], ["memory", "--json"], ["--help"]])
def test_output_that_cannot_be_written(small: FleetBuilder, words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [*MODULE, *words],
            cwd=small.root,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )

    assert process.returncode == 1
    assert process.stderr.count(b"[OUTPUT_FAILED]") == 1
    assert b"Traceback" not in process.stderr
    assert b"Exception ignored" not in process.stderr


def test_streams_that_are_closed(small: FleetBuilder) -> None:
    command = f'exec "{sys.executable}" -m agentic_os search limit --root "{small.root}"'
    for closing in (">&-", "2>&-", ">&- 2>&-", "<&-"):
        finished = run("-c", f"{command} {closing}", command=("/bin/sh",))
        assert finished.code == 0, finished.words
        assert "Traceback" not in finished.words


def test_names_of_any_script_in_the_c_locale(fleet: FleetBuilder) -> None:
    project = fleet.project("grün", path="größe-日本語-🚀")
    project.fact("straße", "Die Straße ist grün 🚀.", title="Größe 日本語")
    for words in (["scan"], ["memory"], ["search", "straße"], ["search", "Straße", "--json"]):
        finished = run(*words, "--root", fleet.root, environ=C_LOCALE)
        assert finished.code == 0, finished.words
        assert "gr" in finished.text
    plain = run("memory", "--root", fleet.root, environ=C_LOCALE)
    assert "Größe 日本語" in plain.text
    assert run("memory", "--root", fleet.root).stdout == plain.stdout


def test_a_folder_name_that_is_not_text(fleet: FleetBuilder, tmp_path: Path) -> None:
    project = fleet.project("plain", path=os.fsdecode(b"od\xffd"))
    project.fact("kept", "lighthouse")
    project.index("- [Kept](kept.md)\n")
    view = tmp_path / "global.md"

    for words in (
        ["scan"],
        ["aggregate", "--markdown", str(view)],
        ["memory"],
        ["search", "lighthouse"],
        ["doctor"],
        ["search", "lighthouse", "--project", "plain"],
    ):
        both(0, None, *words, "--root", fleet.root)
    assert call("search", "lighthouse", "--json", "--root", fleet.root).data["total"] == 1
    assert "od<U+DCFF>d" in call("scan", "--root", fleet.root).text
    assert "fleet/od%FFd/.agents/memory/kept.md#L1" in view.read_text()
    for words in (["scan", "--json"], ["search", "lighthouse", "--json"]):
        finished = run(*words, "--root", fleet.root, environ=ASCII_ONLY)
        assert finished.code == 0, finished.words


def test_a_query_that_is_not_text(small: FleetBuilder) -> None:
    finished = call("search", os.fsdecode(b"limit\xff"), "--json", "--root", small.root)

    assert finished.code == 0
    assert finished.document["error"] is None


def test_the_module_and_the_console_script_are_one() -> None:
    module, script = run("--version"), run("--version", command=CONSOLE)

    assert module.text == script.text == f"agentic-os {__version__}\n"
    assert (module.code, script.code) == (0, 0)


def test_errors_name_no_path_of_this_machine(small: FleetBuilder, tmp_path: Path) -> None:
    """Absolute paths appear where they are asked for: scan, paths and roots."""
    project = small.project("odd")
    project.write(".agents/config.yaml", "project: [\n")
    os.mkfifo(small.root / "shop/.agents/memory/fifo.md")
    for words in (
        ["aggregate"],
        ["memory"],
        ["vault"],
        ["capabilities"],
        ["search", "limit", "--explain"],
        ["doctor"],
        ["memory", "--project", "nobody"],
        ["search", "x", "--mode", "odd"],
    ):
        for form in ([], ["--json"]):
            finished = call(*words, *form, "--root", "fleet", current=tmp_path)
            assert str(tmp_path) not in finished.words, words
            assert str(tmp_path) not in finished.text, words
