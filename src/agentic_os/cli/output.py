"""How answers reach the person: documents and tables on stdout, words on stderr.

stdout is data: one JSON document, or text lines, or a table when it is a terminal. stderr is
words: warnings, what was left out, progress. Untrusted text is made safe for a terminal here,
whatever it went through before (design section 6).
"""

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO, TypeVar

from agentic_os.errors import AgenticOSError, IncompleteError

if TYPE_CHECKING:
    from rich.progress import Progress

    from agentic_os.results import Answer, Diagnostic, ErrorView, Omission

T = TypeVar("T")

_LEAST_COLUMNS = 20
MAX_WORDS_LINES = 20
"""Warnings and omissions printed as words; all of them are in the JSON document."""


class ClosedPipeError(Exception):
    """The reader of stdout went away; the command ends quietly."""


class OutputFailedError(AgenticOSError):
    """Stdout takes no more output, because a disk is full, for example."""

    default_code = "OUTPUT_FAILED"


@contextmanager
def _reader_watched() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as fault:
        raise ClosedPipeError from fault
    except OSError as fault:
        raise OutputFailedError(f"the output cannot be written: {fault.strerror}") from fault


def write(text: str) -> None:
    """Write data to stdout.

    Raises:
        ClosedPipeError: its reader went away.
        OutputFailedError: it takes no more.
    """
    with _reader_watched():
        sys.stdout.write(text)


def flush() -> None:
    """Hand over what was written; raises as ``write`` does."""
    with _reader_watched():
        sys.stdout.flush()


def say(text: str) -> None:
    """Write words to stderr; that nobody reads them is no reason to stop."""
    if len(text) > _LEAST_COLUMNS and sys.stderr.isatty() and "\n" not in text:
        text = "\n  ".join(wrapped(text, indent=2))
    try:
        sys.stderr.write(text + "\n")
    except OSError:
        mute(sys.stderr)


def mute(stream: TextIO) -> None:
    """Point a stream nowhere, so that what it still holds has no reader to miss at the end."""
    with suppress(OSError, ValueError):  # a stream of a test's has no file
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def schema_name(command: str) -> str:
    """Return the schema of a command's document (design section 8)."""
    return f"agentic-os/{command}/v1"


def write_document(
    command: str, answer: "Answer[T]", *, error: AgenticOSError | None = None
) -> None:
    """Print the one JSON document of a command."""
    from agentic_os.results import Envelope

    write_json(
        Envelope(
            schema=schema_name(command),
            data=answer.data,
            omissions=answer.omissions,
            warnings=answer.warnings,
            error=None if error is None else _error_view(error),
        )
    )


def _error_view(error: AgenticOSError) -> "ErrorView":
    from agentic_os.results import ErrorView

    return ErrorView(
        code=error.code,
        message=error.message,
        hint=error.hint,
        path=error.path,
        line=error.line,
    )


def write_json(value: object) -> None:
    """Print one value as a line of JSON; lone surrogates are escaped, not fatal."""
    import msgspec

    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        import json

        encoded = json.dumps(msgspec.to_builtins(value)).encode("ascii")
    write(encoded.decode("utf-8") + "\n")


def finish(answer: "Answer[T]") -> None:
    """Print warnings and omissions, and raise if the answer is incomplete.

    Raises:
        IncompleteError: evidence that was asked for could not be read (exit 2).
    """
    say_noticed(answer.warnings, answer.omissions, failed=answer.incomplete)
    if answer.incomplete:
        raise IncompleteError(
            "the answer is incomplete: some of what was asked for could not be read",
            hint="What was left out is listed above, and in the JSON document.",
        )


def finish_document(command: str, answer: "Answer[T]") -> None:
    """Print the document, then say and raise as ``finish`` does."""
    error = (
        IncompleteError("some of what was asked for could not be read")
        if answer.incomplete
        else None
    )
    write_document(command, answer, error=error)
    if error is not None:
        raise ReportedError(error)


class ReportedError(AgenticOSError):
    """An error whose document is already printed; only its exit code is left to give."""

    def __init__(self, cause: AgenticOSError) -> None:
        """Carry the cause's words and code."""
        super().__init__(cause.message, code=cause.code, hint=cause.hint)
        self.status = cause.exit_code


def say_noticed(
    warnings: "Sequence[Diagnostic]",
    omissions: "Sequence[Omission]" = (),
    *,
    about: str = "",
    failed: bool = False,
) -> None:
    """Print warnings and omissions as words, the first of them.

    Args:
        warnings: what was noticed.
        omissions: what was left out.
        about: whose the paths of the warnings are, for example a project's id.
        failed: whether the command fails; if it does not, no line says "error".
    """
    from agentic_os.text.fencing import one_line

    lines = [
        f"{_severity(item, failed=failed)}: {item.code}: {one_line(_place(about, item))}"
        f"{one_line(item.message)}"
        for item in warnings
    ]
    lines += [
        f"left out: {item.code}: {one_line(item.scope)}: {one_line(item.reason)}"
        for item in omissions
    ]
    for line in lines[:MAX_WORDS_LINES]:
        say(line)
    if len(lines) > MAX_WORDS_LINES:
        say(f"... and {len(lines) - MAX_WORDS_LINES} more; --json lists all")


def _severity(item: "Diagnostic", *, failed: bool) -> str:
    return "warning" if item.severity == "error" and not failed else item.severity


def _place(about: str, item: "Diagnostic") -> str:
    parts = [part for part in (about, item.path) if part]
    if item.line is not None:
        parts.append(str(item.line))
    return ":".join(parts) + ": " if parts else ""


def print_error(error: AgenticOSError, words: Sequence[str], command: str) -> int:
    """Say an error on stderr, and as a document where JSON was asked for; its exit code."""
    if isinstance(error, ReportedError):
        say(f"agentic-os: {error.message} [{error.code}]")
        return error.status
    if ("--json" in words or "--jsonl" in words) and not isinstance(error, IncompleteError):
        from agentic_os.results import Envelope

        document: Envelope[None] = Envelope(
            schema=schema_name(command),
            data=None,
            error=_error_view(error),
        )
        write_json(document)
    from agentic_os.text.fencing import one_line

    say(f"agentic-os: {one_line(error.message)} [{error.code}]")
    if error.path:
        line = "" if error.line is None else f", line {error.line}"
        say(f"  in {one_line(error.path)}{line}")
    if error.hint:
        say(f"  {one_line(error.hint)}")
    return error.exit_code


def on_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


GAP = 2
"""Blanks between the cells of a row."""


def width() -> int:
    """Return the width of the terminal."""
    import shutil

    return shutil.get_terminal_size().columns


def home_shown(path: Path) -> str:
    """Name a path with ``~`` for the home folder."""
    home = Path.home()
    return (
        f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)
    )


def flowing(*cells: str, indent: int = 2) -> str:
    """Put cells into lines of the terminal's width; a cell is never broken.

    A cell that does not fit begins a line of its own, indented.
    """
    most, lines, line = width(), [], ""
    for cell in cells:
        if not cell:
            continue
        if line and len(line) + GAP + len(cell) > most:
            lines.append(line.rstrip())
            line = " " * indent + cell
        else:
            line = f"{line}{' ' * GAP if line else ''}{cell}"
    return "".join(f"{one}\n" for one in (*lines, line.rstrip()))


def wrapped(text: str, *, indent: int) -> list[str]:
    """Cut a line into lines that fit the terminal behind an indent, no word broken."""
    import textwrap

    return textwrap.wrap(
        text,
        max(width() - indent, _LEAST_COLUMNS),
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    ) or [""]


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> None:
    """Print rows: a table on a terminal that is wide enough, else stacked or tab-separated lines.

    Ids and paths are there to be copied: they are never folded inside.
    """
    from agentic_os.text.fencing import one_line

    safe = [[one_line(" ".join(cell.split("\n"))) for cell in row] for row in rows]
    if not on_terminal():
        write("".join("\t".join(row) + "\n" for row in safe))
        return
    safe = [[_from_home(cell) for cell in row] for row in safe]
    widest = [max(map(len, column), default=0) for column in zip(columns, *safe, strict=True)]
    if sum(widest) + GAP * len(columns) > width():
        write(f"{title}\n" if title else "")
        write(flowing(*columns))
        write("".join(flowing(*row) for row in safe))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in columns:
        drawn.add_column(column, no_wrap=True)
    for row in safe:
        drawn.add_row(*(Text(cell) for cell in row))
    with _reader_watched():
        Console().print(drawn)


def _from_home(cell: str) -> str:
    home = str(Path.home())
    return f"~{cell[len(home) :]}" if cell.startswith(f"{home}/") else cell


class Tick(Protocol):
    """Told how much is done, of how much (None: nobody knows), and the seconds left if known."""

    def __call__(self, done: int, total: int | None, left: float | None = None, /) -> None:
        """Take it in."""


PATIENCE_SECONDS = 0.8
"""A command that answers sooner draws no bar."""
_BAR_COLUMNS = 20


@contextmanager
def progress(
    label: str,
    unit: str,
    *,
    rate: bool = False,
    document: bool = False,
    after: float = 0.0,
) -> Iterator[Tick]:
    """Draw a progress bar on stderr if that is a terminal; draw nothing elsewhere.

    Args:
        label: what is being done.
        unit: what is counted.
        rate: also show how many a second; whoever ticks says how long the rest will take.
        document: JSON is printed: where that goes to the terminal too, nothing is drawn.
        after: draw only if it takes longer than so many seconds.
    """
    if not sys.stderr.isatty() or (document and on_terminal()):
        yield _silent
        return
    bar = _Bar(label, unit, rate=rate)
    if not after:
        bar.draw()
    timer = threading.Timer(after, bar.draw)
    timer.daemon = True
    if after:
        timer.start()
    try:
        yield bar.advance
    finally:
        timer.cancel()
        bar.end()


def _silent(_done: int, _total: int | None, _left: float | None = None, /) -> None:
    """Progress that nobody watches."""


class _Bar:
    """A bar that is drawn once somebody waits for it; another thread may say so."""

    def __init__(self, label: str, unit: str, *, rate: bool) -> None:
        self._label, self._unit, self._rate = label, unit, rate
        self._lock = threading.Lock()
        self._drawn: Progress | None = None
        self._over = False
        self._last: tuple[int, int | None, float | None] = (0, None, None)

    def draw(self) -> None:
        """Draw it from now on."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        left = TextColumn("{task.fields[left]}") if self._rate else TimeRemainingColumn()
        bar = Progress(
            TextColumn(self._label),
            BarColumn(bar_width=_BAR_COLUMNS),
            MofNCompleteColumn(),
            TextColumn(self._unit),
            *([TextColumn("{task.fields[rate]}")] if self._rate else ()),
            left,
            console=Console(stderr=True),
            transient=True,
        )
        with self._lock:
            if self._over:
                return
            bar.add_task(self._label, total=None, rate="", left="")
            bar.start()
            self._drawn = bar
        self.advance(*self._last)

    def advance(self, done: int, total: int | None, left: float | None = None, /) -> None:
        """Move on."""
        self._last = done, total, left
        bar = self._drawn
        if bar is not None:
            task = bar.tasks[0]
            shown = f"{task.speed:.0f} a second" if task.speed else ""
            bar.update(task.id, completed=done, total=total, rate=shown, left=_left(left))

    def end(self) -> None:
        """Draw no more."""
        with self._lock:
            self._over = True
            if self._drawn is not None:
                self._drawn.stop()


def _left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} left"
