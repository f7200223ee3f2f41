"""Plugins built from source with the real compilers: the templates, and the three examples.

``ziglang`` comes from pip, AssemblyScript from npm, Rust from the system's packages; see
``.ci/services``.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.fleet.builder import FleetBuilder
from support.process.cli_process import Finished, run

pytestmark = [pytest.mark.services, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples/plugins"
PLUGIN_TOOLS = ROOT / "build/plugins"
ASSEMBLYSCRIPT = PLUGIN_TOOLS / "node_modules"
RUST = PLUGIN_TOOLS / "rust/usr"
SECONDS = 300
TEXT = 'h\u00e4 "quoted"\n\\ \U0001f600 tab\t'


@pytest.fixture
def environ(places: Path) -> dict[str, str]:
    path = f"{PLUGIN_TOOLS / 'zig/bin'}:{os.environ['PATH']}"
    return {**os.environ, "HOME": str(places), "PATH": path}


def ok(environ: dict[str, str], *arguments: str | Path) -> Finished:
    done = run(*map(str, arguments), environ=environ, seconds=SECONDS)
    assert done.code == 0, done.stderr.decode()
    return done


def document(environ: dict[str, str], *arguments: str | Path) -> Any:
    return json.loads(run(*map(str, arguments), "--json", environ=environ, seconds=SECONDS).stdout)[
        "data"
    ]


@pytest.mark.parametrize("language", ["c", "zig", "assemblyscript", "rust"])
def test_a_template_builds_and_gives_its_arguments_back(
    language: str, tmp_path: Path, environ: dict[str, str]
) -> None:
    folder = tmp_path / language
    ok(environ, "plugins", "new", folder, "--id", "org.example.echo", "--lang", language)
    if language == "assemblyscript":
        (folder / "node_modules").symlink_to(ASSEMBLYSCRIPT)
    if language == "rust":
        tools = tmp_path / "bin"
        tools.mkdir()
        (tools / "rustc").write_text(
            "#!/bin/sh\n"
            f'export LD_LIBRARY_PATH="{RUST}/lib/x86_64-linux-gnu"\n'
            f'exec "{RUST}/bin/rustc" --sysroot "{RUST}" -C linker="{RUST}/bin/wasm-ld-14" "$@"\n'
        )
        (tools / "rustc").chmod(0o755)
        environ = {**environ, "PATH": f"{tools}:{environ['PATH']}"}

    ok(environ, "plugins", "build", folder)
    arguments = {"text": TEXT, "n": [1, {"a": None}]}
    tried = ok(environ, "plugins", "test", folder, "core.echo", json.dumps(arguments))

    said = json.loads(tried.stdout)
    assert {key: said[key] for key in arguments} == arguments
    abi = next(path for path in (folder / "src").iterdir() if path.stem == "abi")
    assert len(abi.read_text().splitlines()) <= 220


def built(name: str, tmp_path: Path, environ: dict[str, str]) -> Path:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    ok(environ, "plugins", "build", folder)
    package = tmp_path / f"{name}.aiiospkg"
    ok(environ, "plugins", "pack", folder, "--out", package)
    rows = document(environ, "plugins", "check", package)["rows"]
    assert {row["result"] for row in rows} <= {"pass", "note"}
    return package


def test_text_count_counts(tmp_path: Path, environ: dict[str, str]) -> None:
    package = built("text-count", tmp_path, environ)
    ok(environ, "plugins", "install", package, "--allow-unsigned")

    def count(text: str) -> dict[str, int]:
        said = ok(
            environ,
            *("plugins", "run", "org.example.text-count", "core.text_count"),
            json.dumps({"text": text}),
        )
        found: dict[str, int] = json.loads(said.stdout)
        return found

    counted = count("a b\nc\n")
    assert (counted["words"], counted["lines"], counted["characters"]) == (3, 2, 6)
    assert count("")["words"] == 0
    german = count("gr\u00fc\u00dfe \U0001f600")
    assert (german["characters"], german["bytes"]) == (7, 12)
    assert count("x " * 20_000)["words"] == 20_000


def signed(package: Path, environ: dict[str, str], places: Path) -> None:
    ok(environ, "plugins", "sign", package, "--publisher", "example.org")
    keys = places / "data/plugins/keys"
    ok(environ, "plugins", "trust", "add", keys / "certifier.public.json", "--fast")
    status = keys / "aiii_plugin_publisher_certifier_status.json"
    ok(environ, "plugins", "trust", "status", status)
    ok(environ, "plugins", "install", package)


def test_keyword_notes_keep_and_find(tmp_path: Path, environ: dict[str, str], places: Path) -> None:
    signed(built("keyword-notes", tmp_path, environ), environ, places)
    plugin = "org.example.keyword-notes"

    def ask(operation: str, **arguments: str) -> Any:
        return document(environ, "plugins", "run", plugin, operation, json.dumps(arguments))

    denied = ask("core.note_put", key="a", note="The parser")
    assert (denied["status"], denied["reason"]) == ("failed", "POLICY_DENY")
    ok(environ, "plugins", "grant", plugin, "ring4.kv")
    assert ask("core.note_put", key="a", note="The parser is by hand")["status"] == "ok"
    assert ask("core.note_put", key="b", note="Deploys on Monday")["status"] == "ok"
    assert ask("core.note_find", word="PARSER")["result"] == {"keys": ["a"]}
    assert ask("core.note_find", word="nothing")["result"] == {"keys": []}


def test_the_257th_note_is_one_too_many(
    tmp_path: Path, environ: dict[str, str], places: Path
) -> None:
    from agentic_os.plugins.keeping.state import PluginState

    signed(built("keyword-notes", tmp_path, environ), environ, places)
    plugin = "org.example.keyword-notes"
    ok(environ, "plugins", "grant", plugin, "ring4.kv")
    with PluginState(places / "data/plugins") as state:
        for number in range(256):
            state.values_of(plugin)[f"k{number}"] = "v"

    arguments = json.dumps({"key": "more", "note": "x"})
    said = document(environ, "plugins", "run", plugin, "core.note_put", arguments)

    assert (said["status"], said["reason"]) == ("failed", "KV_QUOTA_EXCEEDED")
    assert document(environ, "plugins", "log")["faults"] == []


def test_version_drift_reads_the_fleet_and_proposes_once(
    tmp_path: Path, environ: dict[str, str], places: Path, fleet: FleetBuilder
) -> None:
    for name, version in (("shop", "0.27.2"), ("till", "0.28.1")):
        fleet.project(name).fact("dependencies", f"We pin httpx=={version} everywhere.")
    ok(environ, "roots", "add", fleet.root)
    signed(built("version-drift", tmp_path, environ), environ, places)
    plugin = "org.example.version-drift"

    def ask() -> Any:
        arguments = json.dumps({"dependency": "httpx"})
        return document(environ, "plugins", "run", plugin, "core.version_drift", arguments)

    assert ask()["status"] == "failed"
    assert document(environ, "plugins", "proposals")["proposals"] == []
    ok(environ, "plugins", "grant", plugin, "fleet.read", "agent.propose")

    said = ask()["result"]
    assert sorted(said["versions"]) == ["0.27.2", "0.28.1"]
    assert said["proposed"] is True
    ask()
    proposals = document(environ, "plugins", "proposals")["proposals"]
    assert len(proposals) == 1
    assert "httpx has different versions" in proposals[0]["text"]
