"""``agentic-os index``: the semantic index."""

from contextlib import ExitStack
from typing import Annotated

import typer

from agentic_os.cli.options import Json, Roots

app = typer.Typer(
    help="The semantic index: search by meaning.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_UNITS = {"embedding": "texts", "comparing": "projects"}


@app.command("build")
def build(
    root: Roots = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Also take the code and documents of projects that are not of tier 3."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Bring the semantic index up to date: memory and vaults of all, code of tier 3.

    Only texts that are new are embedded. It can be interrupted: what is finished stays, and the
    next run goes on. Searches meanwhile answer from the state before.

    Example: agentic-os index build --root ~/code
    """
    from agentic_os.aggregate.workspace import Person
    from agentic_os.cli.output import finish, finish_document, say, table
    from agentic_os.tiers.index.build import build_index

    with ExitStack() as bars:
        answer = build_index(
            Person.here(), root or (), everything=everything, progress=_Stages(bars)
        )
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
    say(f"{data.model}: {data.chunks} chunks in {data.seconds:.1f} s{speed}")
    finish(answer)


@app.command("status")
def status(root: Roots = None, json: Json = False) -> None:
    """Show what the semantic index holds, and what is not in it yet.

    Example: agentic-os index status --json
    """
    from agentic_os.aggregate.workspace import Person, open_workspace
    from agentic_os.cli.output import finish, finish_document, table
    from agentic_os.tiers.index.status import index_status

    with open_workspace(Person.here(), root or ()) as workspace:
        answer = index_status(workspace)
    if json:
        finish_document("index-status", answer)
        return
    data = answer.data
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


@app.command("optimize")
def optimize(root: Roots = None, json: Json = False) -> None:
    """Compact the semantic index and delete its old versions; `index build` does it too.

    Example: agentic-os index optimize
    """
    from agentic_os.aggregate.workspace import Person
    from agentic_os.cli.output import finish, finish_document, say
    from agentic_os.tiers.index.status import optimize_index

    answer = optimize_index(Person.here(), root or ())
    if json:
        finish_document("index-optimize", answer)
        return
    data = answer.data
    say(f"{data.rows} chunks, {data.bytes_before} bytes before, {data.bytes} now")
    finish(answer)


class _Stages:
    """One progress bar a stage; a new stage puts the bar before it away."""

    def __init__(self, bars: ExitStack) -> None:
        self._bars = bars
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        from agentic_os.cli.output import progress

        if stage != self._stage:
            self._bars.close()
            self._stage = stage
            unit = _UNITS.get(stage, "projects")
            self._advance = self._bars.enter_context(
                progress(stage.capitalize(), unit, rate=stage == "embedding")
            )
        if total:
            self._advance(done, total)
