"""Build, show and compact the semantic index."""

from collections.abc import Sequence
from contextlib import ExitStack

from msgspec.structs import replace

from agentic_os.aggregate.fleet import Person
from agentic_os.aggregate.refresh.corpus import left_out_files
from agentic_os.aggregate.workspace import Workspace
from agentic_os.cli.actions.asking import asked
from agentic_os.cli.output import finish, finish_document, progress, say, table
from agentic_os.files.git.personal import personal_excludes
from agentic_os.results import LeftOutView
from agentic_os.text.secrets.values_of import redacted_value
from agentic_os.tiers.index.build import build_index
from agentic_os.tiers.index.status import index_status, optimize_index

_UNITS = {"embedding": "texts", "tidying": ""}


def build(roots: Sequence[str], *, everything: bool, json: bool) -> None:
    """Bring the index up to date and print what was done."""
    with ExitStack() as bars:
        answer = build_index(Person.here(), roots, everything=everything, progress=_Stages(bars))
    if json:
        finish_document("index-build", answer)
        return
    data = answer.data
    left_out = sum(data.left_out.values())
    table(
        ("what", "count"),
        [
            ("projects", str(data.projects)),
            ("projects changed", str(data.projects_changed)),
            ("projects gone", str(data.projects_removed)),
            ("sources and documents", str(data.corpus_files)),
            ("files left out", str(left_out)),
            ("chunks", str(data.chunks)),
            ("embedded now", str(data.embedded)),
        ],
    )
    rate = data.embedded / data.embedding_seconds if data.embedding_seconds else 0.0
    speed = f", {rate:.0f} texts a second" if data.embedded else ""
    kept = f", {data.resumed} kept from an interrupted run" if data.resumed else ""
    say(f"{data.model}: {data.chunks} chunks in {data.seconds:.1f} s{speed}{kept}")
    if left_out:
        say("`agentic-os index status --left-out` lists what was left out, and why")
    finish(answer)


def show_status(roots: Sequence[str], *, left_out: bool, json: bool) -> None:
    """Print what the index holds, and what is not in it yet; or what it leaves out."""
    with asked(roots, document=json) as workspace:
        answer = index_status(workspace)
        if left_out or json:
            data = replace(answer.data, left_out=_left_out(workspace))
            answer = replace(answer, data=data)
    if json:
        finish_document("index-status", answer)
        return
    data = answer.data
    if data.left_out is not None:
        rows = [(one.project, one.reason, one.path) for one in data.left_out]
        table(("project", "reason", "path"), rows)
        say(_LEFT_OUT_HINT)
        finish(answer)
        return
    table(
        ("what", "value"),
        [
            ("state", data.state),
            ("model", data.model or ""),
            ("fingerprint", (data.fingerprint or "")[:12]),
            ("projects", str(data.projects)),
            ("chunks", str(data.rows)),
            ("files not in it as they are", str(data.files_behind)),
            ("of projects", " ".join(data.projects_behind)),
            ("vector index", "yes" if data.vector_index else "no"),
            ("chunks beside the vector index", str(data.rows_scanned)),
            ("bytes", str(data.bytes)),
        ],
    )
    finish(answer)


_LEFT_OUT_HINT = (
    "own code in a folder that is left out is taken in by [corpus] include in projects.toml"
)


def _left_out(workspace: Workspace) -> tuple[LeftOutView, ...]:
    person = Person.here()
    found = left_out_files(
        workspace.store,
        workspace.fleet,
        home=person.home,
        personal=personal_excludes(person.home, person.environ),
        include=workspace.settings.corpus_include,
    )
    return tuple(redacted_value(list(found), workspace.redactor))


def optimize(roots: Sequence[str], *, json: bool) -> None:
    """Compact the index and print what was gained."""
    answer = optimize_index(Person.here(), roots)
    if json:
        finish_document("index-optimize", answer)
        return
    data = answer.data
    say(f"{data.rows} chunks, {data.bytes_before} bytes before, {data.bytes} now")
    finish(answer)


class _Stages:
    """One progress bar for each stage; a new stage removes the bar before it."""

    def __init__(self, bars: ExitStack) -> None:
        self._bars = bars
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int, left: float | None) -> None:
        if stage != self._stage:
            self._bars.close()
            self._stage = stage
            unit = _UNITS.get(stage, "projects")
            self._advance = self._bars.enter_context(
                progress(stage.capitalize(), unit, rate=stage == "embedding")
            )
        if total:
            self._advance(done, total, left)
