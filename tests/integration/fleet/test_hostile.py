"""Every input that ever broke a reader, beside healthy projects: all commands, real processes."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder
from support.fleet.hostile import (
    CASES,
    HEALTHY,
    LIGHT,
    OUTSIDE_SECRET,
    Case,
    HostileFleet,
    write_hostile_fleet,
)
from support.process.cli_process import MODULE, Finished, run

MEMORY_LIMIT_BYTES = 300 * 1024 * 1024
ESCAPES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
BY_NAME = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A fleet and the places of a person who asks it."""

    fleet: HostileFleet
    environ: dict[str, str]
    figures: Path

    def run(self, *arguments: str, environ: dict[str, str] | None = None) -> Finished:
        return run(
            *arguments,
            "--root",
            self.fleet.root,
            environ={**self.environ, **(environ or {})},
            measure=self.figures,
        )


def places_below(home: Path) -> dict[str, str]:
    variables = {f"AGENTIC_OS_{name}_DIR": str(home / name.lower()) for name in PLACES}
    return {**variables, "HOME": str(home), "DOTAIOS_PATH": str(home / "aios")}


PLACES = ("CONFIG", "DATA", "CACHE", "STATE")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("hostile")
    home = folder / "home"
    home.mkdir()
    return Bench(
        fleet=write_hostile_fleet(folder),
        environ=places_below(home),
        figures=folder / "figures",
    )


@pytest.fixture(scope="module")
def scanned(bench: Bench) -> Finished:
    return bench.run("scan", "--json")


@pytest.fixture(scope="module")
def examined(bench: Bench) -> Finished:
    return bench.run("doctor", "--jsonl")


@pytest.fixture(scope="module")
def searched(bench: Bench) -> Finished:
    return bench.run("search", LIGHT, "--limit", "1000", "--json")


@pytest.fixture(scope="module")
def ids(scanned: Finished) -> dict[str, str]:
    """Ids by the name of the folder."""
    return {Path(item["path"]).name: item["id"] for item in scanned.data["projects"]}


@BY_NAME
def test_scan_names_what_is_wrong(case: Case, scanned: Finished, ids: dict[str, str]) -> None:
    views = {item["id"]: item for item in scanned.data["projects"]}
    noted = scanned.data["roots"][0]["diagnostics"]
    at_root = {item["code"] for item in noted if item["path"].split("/")[0] == case.name}

    assert at_root == case.root
    assert (case.name in ids) == case.member
    if case.member:
        view = views[ids[case.name]]
        assert {item["code"] for item in view["diagnostics"]} == case.project
        assert all(item["message"] for item in view["diagnostics"])


@BY_NAME
def test_doctor_names_what_is_wrong(case: Case, examined: Finished, ids: dict[str, str]) -> None:
    checks = [item["data"] for item in examined.documents]
    own = [check for check in checks if check.get("project") == ids.get(case.name, "?")]
    codes = {
        match[0] for check in own if (match := re.match(r"[A-Z0-9_]{4,}(?=: )", check["message"]))
    }
    unread = {check["message"].split(":")[0] for check in own if check["id"] == "evidence.unread"}

    expected = case.project | case.evidence | case.notes | case.graph
    assert codes == (expected if case.member else set())
    assert unread == (case.evidence if case.member else set())


@BY_NAME
def test_the_rest_of_the_project_is_found(
    case: Case, searched: Finished, ids: dict[str, str]
) -> None:
    hits = {hit["project"] for hit in searched.data["hits"] if hit["path"].endswith("kept.md")}

    assert (ids.get(case.name) in hits) == (case.member and case.found)


def test_the_graph_names_what_it_could_not_read(bench: Bench, ids: dict[str, str]) -> None:
    finished = bench.run("graph", "stats", "--json")

    omitted = {(item["scope"], item["code"]) for item in finished.document["omissions"]}
    nodes = {item["project"]: item["nodes"] for item in finished.data["projects"]}
    assert finished.code == 2
    assert finished.peak_bytes < MEMORY_LIMIT_BYTES
    for case in CASES:
        for code in case.graph:
            assert (ids[case.name], code) in omitted
    assert nodes[ids["graph-large"]] >= 30_000
    assert OUTSIDE_SECRET not in finished.text


def test_healthy_projects_are_untouched(scanned: Finished, ids: dict[str, str]) -> None:
    views = {item["id"]: item for item in scanned.data["projects"]}

    for name in HEALTHY:
        assert views[ids[name]]["diagnostics"] == []
        assert views[ids[name]]["tier"] == 1
    assert len(ids) == len(HEALTHY) + sum(case.member for case in CASES)
    assert scanned.code == 0


def test_search_says_what_it_could_not_read(searched: Finished, ids: dict[str, str]) -> None:
    expected = {(ids[case.name], code) for case in CASES for code in case.evidence}

    assert searched.code == 2
    assert searched.document["error"]["code"] == "INCOMPLETE"
    omitted = searched.document["omissions"]
    found = {(item["scope"].split(":")[0], item["code"]) for item in omitted}
    assert found == expected | {("engine", "ENGINE_NOT_GRANTED")}  # named by projects, never run
    failed = {
        item["project"]: item["code"] for item in searched.data["coverage"]["projects_failed"]
    }
    assert set(failed) >= {project for project, _ in expected}
    assert failed[ids["merge-markers"]] == "DESCRIPTOR_UNPARSEABLE"


COMMANDS = [
    ("scan", 0, "healthy-first"),
    ("scan --json", 0, "healthy-first"),
    ("scan --jsonl", 0, "healthy-first"),
    ("aggregate", 2, "secrets replaced"),
    ("aggregate --json", 2, '"generation"'),
    ("aggregate --markdown -", 2, "### healthy-first"),
    ("memory", 2, "healthy-first"),
    ("memory --json", 2, "healthy-first"),
    ("memory --differences", 2, ""),
    ("memory --differences --json", 2, '"differences"'),
    ("vault", 2, "healthy-first"),
    ("vault --json", 2, "healthy-first"),
    ("capabilities", 2, "healthy-first"),
    ("capabilities --json", 2, "healthy-first"),
    (f"search {LIGHT}", 2, LIGHT),
    (f"search {LIGHT} --projects-only --explain --limit 500", 2, "healthy-first"),
    ("search harbour --project healthy-first", 0, "healthy-first"),
    (f"search {LIGHT} --limit 1000 --json", 2, "healthy-first"),
    ("graph stats", 2, "graph-large"),
    ("graph find function", 2, ""),
    ("graph links", 2, ""),
    ("doctor", 3, "evidence.unread"),
    ("doctor --json", 3, "evidence.unread"),
    ("doctor --project healthy-first", 0, "ok   store.health"),
]
LOCALES = {
    "utf8": {},
    "c-locale": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
RUNS = [
    (*command, locale)
    for command in COMMANDS
    for locale in LOCALES
    if locale == "utf8" or "--json" not in command[0]
]


@pytest.mark.parametrize(
    ("command", "code", "shown", "locale"), RUNS, ids=[f"{each[0]} {each[3]}" for each in RUNS]
)
def test_every_command_answers(
    bench: Bench, command: str, code: int, shown: str, locale: str
) -> None:
    """Within the memory bound, without a raw escape, a path of the machine or a linked text."""
    finished = bench.run(*command.split(), environ=LOCALES[locale])

    assert finished.code == code, finished.words
    assert finished.peak_bytes < MEMORY_LIMIT_BYTES
    assert shown in finished.text
    assert "Traceback" not in finished.words
    assert ESCAPES.search(finished.text.replace("\t", "").replace("\n", "")) is None
    assert ESCAPES.search(finished.words.replace("\n", "")) is None
    assert OUTSIDE_SECRET not in finished.text
    if not command.startswith("scan"):
        assert str(bench.fleet.root) not in finished.words


def test_paths_purge_and_roots_answer(bench: Bench) -> None:
    for words in (["paths"], ["roots", "list"]):
        for form in ([], ["--json"]):
            finished = run(*words, *form, environ=bench.environ, current=bench.fleet.root)
            assert finished.code == 0
    added = run("roots", "add", bench.fleet.root, environ=bench.environ)
    listed = run("scan", "--json", environ=bench.environ)
    removed = run("roots", "remove", bench.fleet.root, environ=bench.environ)
    assert (added.code, removed.code) == (0, 0)
    assert len(listed.data["projects"]) == len(HEALTHY) + sum(case.member for case in CASES)
    purged = run("purge", "--all", "--json", environ=bench.environ)
    assert purged.code == 0
    assert purged.data["bytes"] > 0


def test_a_global_view_quotes_names_as_text(bench: Bench) -> None:
    target = bench.figures.with_name("global.md")

    finished = bench.run("aggregate", "--markdown", str(target))

    text = target.read_text("utf-8")
    assert finished.code == 2
    assert ESCAPES.search(text.replace("\n", "")) is None
    assert OUTSIDE_SECRET not in text
    for name in HEALTHY:
        assert f"### {name}\n" in text


# A superuser may read everything; without these two powers the modes count for it too.
_WITHOUT_POWERS = """
import ctypes, os, sys
for power in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    if ctypes.CDLL(None).prctl(24, power, 0, 0, 0):  # PR_CAPBSET_DROP
        sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
"""


def as_ordinary_user(*arguments: str | Path) -> Finished:
    if os.geteuid() != 0:
        return run(*arguments)
    return run(*arguments, command=(sys.executable, "-c", _WITHOUT_POWERS, *MODULE))


@pytest.fixture
def closing() -> Iterator[Callable[[Path], None]]:
    """Takes all permissions from files and folders until the test is over."""
    closed: list[Path] = []

    def close(path: Path) -> None:
        closed.append(path)
        path.chmod(0)

    yield close
    for path in closed:
        path.chmod(0o700)


def test_folders_that_may_not_be_read(fleet: FleetBuilder, closing: Callable[[Path], None]) -> None:
    """PC 10 (#210): one unreadable folder never stops the rest."""
    if as_ordinary_user("--version").code == 77:
        pytest.skip("the superuser of this machine cannot give up its powers")
    for name in ("a-good", "z-good"):
        fleet.project(name).fact("kept", LIGHT)
    (fleet.root / "closed").mkdir()
    closing(fleet.root / "closed")
    closing(fleet.project("closed-layout").folder / ".agents")
    closing(fleet.project("closed-memory").fact("kept", LIGHT).parent)
    closing(fleet.project("closed-config").folder / ".agents/config.yaml")
    closing(fleet.project("closed-fact").fact("kept", LIGHT))

    scanned = as_ordinary_user("scan", "--json", "--root", fleet.root)
    searched = as_ordinary_user("search", LIGHT, "--json", "--root", fleet.root)

    views = {Path(item["path"]).name: item for item in scanned.data["projects"]}
    at_root = {(item["path"], item["code"]) for item in scanned.data["roots"][0]["diagnostics"]}
    assert scanned.code == 0
    assert set(views) == {"a-good", "z-good", "closed-memory", "closed-fact"}
    assert at_root == {
        ("closed", "FOLDER_UNREADABLE"),
        ("closed-layout/.agents/config.yaml", "DESCRIPTOR_UNREADABLE"),
        ("closed-config/.agents/config.yaml", "DESCRIPTOR_UNREADABLE"),
    }
    noted = [item["code"] for item in views["closed-memory"]["diagnostics"]]
    assert noted == ["SURFACE_UNREADABLE"]
    assert searched.code == 2
    assert searched.data["total"] == 2
    assert {hit["name"] for hit in searched.data["hits"]} == {"kept"}
    assert {item["code"] for item in searched.document["omissions"]} == {
        "FILE_UNREADABLE",
        "SURFACE_UNREADABLE",  # the memory folder that cannot be listed
    }
