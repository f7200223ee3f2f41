"""Documents, tables and words, and what happens when nobody takes them."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout

import pytest

from agentic_os.cli.output import (
    MAX_WORDS_LINES,
    ClosedPipeError,
    OutputFailedError,
    ReportedError,
    finish,
    finish_document,
    flush,
    on_terminal,
    print_error,
    progress,
    say,
    say_noticed,
    table,
    write,
    write_json,
)
from agentic_os.errors import IncompleteError, StoreLockedError
from agentic_os.results import Answer, Diagnostic, Omission


class Broken(io.StringIO):
    """A stream whose other side takes nothing."""

    def __init__(self, fault: OSError) -> None:
        super().__init__()
        self.fault = fault

    def write(self, _: str) -> int:
        raise self.fault

    def flush(self) -> None:
        raise self.fault


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


Capture = pytest.CaptureFixture[str]


def test_a_reader_that_went_away() -> None:
    with redirect_stdout(Broken(BrokenPipeError())):
        with pytest.raises(ClosedPipeError):
            write("x")
        with pytest.raises(ClosedPipeError):
            flush()
        with pytest.raises(ClosedPipeError):
            table(("a",), [("b",)])


def test_a_full_disk_at_the_other_end() -> None:
    with redirect_stdout(Broken(OSError(28, "No space left on device"))):
        with pytest.raises(OutputFailedError, match="No space left on device") as raised:
            write("x")
        assert raised.value.code == "OUTPUT_FAILED"
        with pytest.raises(OutputFailedError):
            flush()


def test_words_that_nobody_takes_are_dropped() -> None:
    with redirect_stderr(Broken(BrokenPipeError())):
        say("x")
    with redirect_stderr(Broken(OSError(28, "No space left on device"))):
        say("x")


def test_a_table_off_a_terminal_is_lines(capsys: Capture) -> None:
    table(("a", "b"), [("x\ty", "1\n2"), ("\x1b[31m", "")], title="T")

    assert capsys.readouterr().out == "x<U+0009>y\t1 2\n<U+001B>[31m\t\n"


def test_a_table_on_a_terminal_is_drawn() -> None:
    with redirect_stdout(Terminal()) as stream:
        table(("head", "b"), [("[bold]not markup[/bold]", "\x1b[31m")], title="Title")

    drawn = stream.getvalue()
    assert "[bold]not markup[/bold]" in drawn
    assert "<U+001B>[31m" in drawn
    assert "Title" in drawn
    assert "head" in drawn


def test_a_value_with_a_lone_surrogate_is_escaped(capsys: Capture) -> None:
    write_json({"a": "x\udcffy", "b": "é"})

    line = capsys.readouterr().out
    assert json.loads(line) == {"a": "x\udcffy", "b": "é"}
    assert line.isascii()


def test_words_name_what_was_noticed_and_left_out(capsys: Capture) -> None:
    warning = Diagnostic(code="A_CODE", severity="warning", message="m\x1b", path="a\nb", line=3)
    bare = Diagnostic(code="B_CODE", severity="info", message="n")
    omission = Omission(code="C_CODE", scope="p:x", reason="r\u202e")

    say_noticed([warning, bare], [omission], about="p-1")

    assert capsys.readouterr().err == (
        "warning: A_CODE: p-1:a<U+000A>b:3: m<U+001B>\n"
        "info: B_CODE: p-1: n\n"
        "left out: C_CODE: p:x: r<U+202E>\n"
    )


def test_words_are_bounded(capsys: Capture) -> None:
    many = [Omission(code="A", scope=str(number), reason="r") for number in range(50)]

    say_noticed([], many)

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == MAX_WORDS_LINES + 1
    assert lines[-1] == f"... and {50 - MAX_WORDS_LINES} more; --json lists all"


def test_an_incomplete_answer_ends_with_its_error(capsys: Capture) -> None:
    whole, part = Answer(data=1), Answer(data=1, incomplete=True)

    finish(whole)
    with pytest.raises(IncompleteError):
        finish(part)
    finish_document("x", whole)
    with pytest.raises(ReportedError) as raised:
        finish_document("x", part)

    assert raised.value.status == IncompleteError.exit_code
    said = capsys.readouterr()
    documents = [json.loads(line) for line in said.out.splitlines()]
    assert [document["error"] and document["error"]["code"] for document in documents] == [
        None,
        "INCOMPLETE",
    ]
    assert said.err == ""


def test_errors_are_said_once_in_each_form(capsys: Capture) -> None:
    error = StoreLockedError("bus\ny", hint="Try\x1b again.")

    assert print_error(error, ["scan"], "scan") == 1
    text = capsys.readouterr()
    assert print_error(error, ["scan", "--jsonl"], "scan") == 1
    lines = capsys.readouterr()
    document = json.loads(lines.out)
    assert document["schema"] == "agentic-os/scan/v1"
    assert document["error"] == {
        "code": "STORE_LOCKED",
        "message": "bus\ny",
        "hint": "Try\x1b again.",
        "path": "",
        "line": None,
    }
    said = "agentic-os: bus<U+000A>y [STORE_LOCKED]\n  Try<U+001B> again.\n"
    assert (text.out, text.err, lines.err) == ("", said, said)


def test_an_error_whose_document_is_printed_is_only_said(capsys: Capture) -> None:
    code = print_error(ReportedError(IncompleteError("part")), ["x", "--json"], "x")

    assert code == 2
    assert capsys.readouterr() == ("", "agentic-os: part [INCOMPLETE]\n")


def test_progress_is_silent_off_a_terminal(capsys: Capture) -> None:
    with progress("Reading", "projects") as tick:
        tick(1, 2)

    assert capsys.readouterr().err == ""


def test_progress_is_drawn_on_a_terminal() -> None:
    with redirect_stderr(Terminal()) as stream, progress("Reading", "projects") as tick:
        tick(1, 2)
        tick(2, 2)

    assert "Reading" in stream.getvalue()


def test_progress_towards_an_unknown_end() -> None:
    with redirect_stderr(Terminal()) as stream, progress("Looking", "folders") as tick:
        tick(7, None)

    assert "7/?" in stream.getvalue()


def test_what_is_a_terminal() -> None:
    with redirect_stdout(Terminal()):
        assert on_terminal()
    with redirect_stdout(io.StringIO()):
        assert not on_terminal()
