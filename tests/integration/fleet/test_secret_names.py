"""Names may hold secrets too: of projects, folders, branches and files. None is shown."""

import json
import os
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder
from support.process.cli_call import call

PLACES = (
    *("project", "folder", "branch", "fact", "nameless", "note", "vault-folder", "memory-folder"),
    *("nested-folder", "unknown-stack", "language", "source", "unreadable-fact", "no-descriptor"),
)
SECRETS = {
    place: f"ghp_q7Zx3Lm9Pw4KaB5cD8eF1gH2iJ6kL0mN9o{at:02}" for at, place in enumerate(PLACES)
}
COMMANDS = (
    ("scan",),
    ("aggregate",),
    ("aggregate", "--markdown", "-"),
    ("memory",),
    ("memory", "--differences"),
    ("vault",),
    ("capabilities",),
    ("search", "lighthouse", "--explain", "--limit", "50"),
    ("search", "lighthouse", "--projects-only"),
    ("search", "lighthouse", "--project", "no-such-project"),
    ("doctor",),
    ("graph", "stats"),
    ("graph", "find", "lighthouse"),
    ("graph", "neighbors", "lighthouse"),
    ("graph", "path", "lighthouse", "lamp"),
    ("graph", "links"),
    ("graph", "export"),
)


@pytest.fixture
def named(fleet: FleetBuilder) -> FleetBuilder:
    """Projects in whose every name a secret stands."""
    whole = fleet.project(f"p {SECRETS['project']}", "obsidian-graphify", path=SECRETS["folder"])
    whole.fact(SECRETS["fact"], "lighthouse, said by a fact")
    whole.write(f".agents/memory/{SECRETS['nameless']}.md", "lighthouse, without a name\n")
    whole.index("# Memory\n")
    whole.note(f"{SECRETS['vault-folder']}/{SECRETS['note']}.md", "lighthouse, noted\n")
    whole.note("other.md", f"# Other\n\nlighthouse, see [[{SECRETS['note']}]]\n")
    whole.capabilities(skills={"lighthouse": "Shines"})
    whole.write(".git/HEAD", f"ref: refs/heads/fix/{SECRETS['branch']}\n")
    whole.write(".git/config", "")
    for name in ("objects", "refs"):
        (whole.folder / ".git" / name).mkdir()
    source = f"src/{SECRETS['source']}.py"
    whole.write(source, "def lighthouse():\n    lamp()\n\n\ndef lamp():\n    pass\n")
    where = {"file_type": "code", "source_file": source}
    nodes = [
        {"id": "one", "label": "lighthouse()", "source_location": "L1", **where},
        {"id": "two", "label": "lamp()", "source_location": "L5", **where},
    ]
    links = [{"source": "one", "target": "two", "relation": "calls", "source_file": source}]
    whole.write("graphify-out/graph.json", json.dumps({"nodes": nodes, "links": links}))
    os.mkfifo(whole.folder / f".agents/memory/{SECRETS['unreadable-fact']}.md")
    elsewhere = fleet.project("elsewhere")
    declared = (elsewhere.folder / ".agents/config.yaml").read_text()
    declared = declared.replace(".agents/memory", f".agents/{SECRETS['memory-folder']}")
    declared = declared.replace("language: python", f"language: {SECRETS['language']}")
    elsewhere.write(".agents/config.yaml", declared)
    elsewhere.write(f".agents/{SECRETS['memory-folder']}/f.md", "lighthouse, elsewhere\n")
    odd = fleet.project("odd", path=f"group/{SECRETS['nested-folder']}")
    odd.write(
        ".agents/config.yaml", declared.replace("stack: auto", f"stack: {SECRETS['unknown-stack']}")
    )
    (fleet.root / SECRETS["no-descriptor"] / ".agents").mkdir(parents=True)
    return fleet


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_no_command_shows_one(
    named: FleetBuilder, words: tuple[str, ...], form: tuple[str, ...]
) -> None:
    if words[-1] == "-" and form:
        words = ("memory",)
    finished = call(*words, *form, "--root", named.root)

    printed = (finished.stdout + finished.stderr).decode()
    assert [place for place, secret in SECRETS.items() if secret in printed] == []
    assert [place for place, secret in SECRETS.items() if secret[4:20].lower() in printed] == []
    assert "Traceback" not in printed


def test_the_answers_are_there(named: FleetBuilder) -> None:
    """What lies behind such a name is read and found like everything else."""
    hits = call("search", "lighthouse", "--json", "--limit", "50", "--root", named.root).data[
        "hits"
    ]
    said = {hit["snippet"] for hit in hits}

    assert {"lighthouse, said by a fact", "lighthouse, without a name", "lighthouse, noted"} <= said
    assert "lighthouse, elsewhere" in said
    assert ".agents/memory/[redacted:github-token].md" in {hit["path"] for hit in hits}
    names = {
        project["name"] for project in call("scan", "--json", "--root", named.root).data["projects"]
    }
    assert "p [redacted:github-token]" in names


def test_they_are_counted_and_named(fleet: FleetBuilder) -> None:
    project = fleet.project(f"p {SECRETS['project']}", path="p")
    project.fact(SECRETS["fact"], "lighthouse", title="F")

    assert call("aggregate", "--json", "--root", fleet.root).data["redactions"] == 2
    checks = call("doctor", "--json", "--root", fleet.root).data["checks"]
    found = [check for check in checks if check["id"] == "secrets"]
    assert {check["status"] for check in found} == {"warn", "fail"}
    assert any("stands in the project's name" in check["message"] for check in found)
    (file,) = [check for check in found if check["path"]]
    assert "stands in its name" in file["message"]
    assert (file["path"], file["line"]) == (".agents/memory/[redacted:github-token].md", None)


def test_allowed_ones_are_shown(fleet: FleetBuilder, places: Path) -> None:
    project = fleet.project(f"p {SECRETS['project']}", path="p")
    project.fact(SECRETS["fact"], "lighthouse", title="F")
    settings = places / "config/projects.toml"
    settings.parent.mkdir()
    settings.write_text(f'[redaction]\nallow = ["{SECRETS["project"]}", "{SECRETS["fact"]}"]\n')

    (view,) = call("scan", "--json", "--root", fleet.root).data["projects"]
    (hit,) = call("search", "lighthouse", "--json", "--root", fleet.root).data["hits"]
    assert view["name"] == f"p {SECRETS['project']}"
    assert SECRETS["fact"] in hit["path"]
