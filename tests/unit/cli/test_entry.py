"""From an exception to an exit code."""

import io
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import typer

from agentic_os.cli import entry
from agentic_os.cli.output import OutputFailedError, write
from agentic_os.errors import AgenticOSError, VerificationError
from support.process.cli_call import call


def raising(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Put a command in the place of the command line."""
    app = typer.Typer()
    app.command()(act)
    monkeypatch.setattr(entry, "part_for", lambda _words: app)


def test_the_code_of_an_error_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise VerificationError("it does not", code="NARROW", hint="Look.")

    raising(monkeypatch, fail)

    finished = call()

    assert finished.code == 3
    assert finished.words == "agentic-os: it does not [NARROW]\n  Look.\n"


def test_a_command_may_give_its_own_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave() -> None:
        raise typer.Exit(7)

    raising(monkeypatch, leave)
    assert call().code == 7

    def abort() -> None:
        raise typer.Abort

    raising(monkeypatch, abort)
    assert call().code == 130


def test_ctrl_c_in_a_command_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)

    raising(monkeypatch, interrupted)

    finished = call()

    assert finished.code == 130
    assert "[INTERRUPTED]" in finished.words


def test_ctrl_c_while_the_last_bytes_go_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "flush", interrupted)

    assert call("--version").code == 130


def test_a_fault_of_the_system_in_a_command_is_not_taken_for_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        raise PermissionError(13, "Permission denied")

    raising(monkeypatch, fail)

    with pytest.raises(PermissionError):
        call()


def with_own_stdout() -> int:
    """Run the command line with a stdout that is a real file, which may be pointed elsewhere."""
    with Path(os.devnull).open("w") as stream, redirect_stdout(stream):
        code = entry.main([])
        assert not stream.closed
        assert stream.fileno() >= 0
        return code


def test_output_that_fails_in_the_middle(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise OutputFailedError("the output cannot be written: No space left on device")

    raising(monkeypatch, fail)

    assert with_own_stdout() == 1
    assert capsys.readouterr().err.count("[OUTPUT_FAILED]") == 1


def test_output_of_the_library_that_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise OSError(28, "No space left on device")

    raising(monkeypatch, fail)

    assert with_own_stdout() == 1
    assert "[OUTPUT_FAILED]" in capsys.readouterr().err


def test_a_reader_of_the_library_that_went_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise BrokenPipeError(32, "Broken pipe")

    raising(monkeypatch, fail)

    assert with_own_stdout() == 0


def test_streams_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)

    assert entry.main(["--version"]) == 0
    assert entry.main(["no-such-command"]) == 64
    for stream in (sys.stdout, sys.stderr):
        assert stream.name == os.devnull
        stream.close()


def test_streams_that_cannot_be_told_their_encoding() -> None:
    with redirect_stdout(io.StringIO()) as stream:
        assert entry.main(["--version"]) == 0
    assert stream.getvalue().startswith("agentic-os ")


def test_arguments_come_from_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["agentic-os", "paths", "--json"])

    with redirect_stdout(io.StringIO()) as stream:
        assert entry.main() == 0
    assert json.loads(stream.getvalue())["schema"] == "agentic-os/paths/v1"


def test_an_error_in_json_is_the_only_document(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(json: bool = False) -> None:
        write("")
        raise AgenticOSError(f"no {json}", code="ODD")

    raising(monkeypatch, fail)

    finished = call("--json")

    assert finished.code == 1
    assert finished.document["error"]["message"] == "no True"
