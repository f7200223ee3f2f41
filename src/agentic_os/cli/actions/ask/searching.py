"""Search the fleet and print the hits."""

import os
import re
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from difflib import SequenceMatcher
from typing import Final

import typer
from msgspec import structs

from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.cli.actions.asking import IdShown, asked, ids_shown
from agentic_os.cli.output import (
    GAP,
    finish,
    finish_document,
    on_terminal,
    say,
    table,
    width,
    wrapped,
    write,
)
from agentic_os.registry.project import Project, located
from agentic_os.results import (
    KINDS,
    MODES,
    Answer,
    Hit,
    Kind,
    SearchData,
    SearchMode,
    SynthesisData,
)
from agentic_os.text.fencing import one_line, terminal_safe
from agentic_os.tiers.interface import Query
from agentic_os.tiers.moments import moment_ns
from agentic_os.tiers.route import search as ask

STEM_CHARS: Final = 5
"""So much of a word is looked for, since its ending may differ."""
MARKED_CHARS: Final = 3
"""Shorter words of a question are not marked: they stand in too many others."""


def print_hits(
    *,
    words: Sequence[str],
    root: Sequence[str],
    project: Sequence[str],
    kind: Sequence[str],
    mode: str,
    limit: int,
    changed_since: str | None,
    templates: bool,
    explain: bool,
    projects_only: bool,
    synthesize: bool,
    json: bool,
    absolute: bool,
) -> None:
    """Search what all projects remember, note and can do."""
    if synthesize and projects_only:
        raise typer.BadParameter("--synthesize answers from passages, which --projects-only leaves")
    kinds, how = frozenset(_kind(name) for name in kind), _mode(mode)
    query = Query(
        text=" ".join(words).encode("utf-8", "replace").decode("utf-8"),
        kinds=kinds,
        mode=how,
        limit=limit,
        templates=templates,
        changed_since_ns=_since(changed_since),
    )
    if synthesize:
        answer, shown = _synthesized(query, root, project, explain=explain, json=json)
    else:
        with asked(root, document=json) as workspace:
            chosen = structs.replace(query, projects=workspace.project_ids(project))
            shown = ids_shown(workspace.fleet.projects)
            answer = ask(workspace, chosen, explain=explain, projects_only=projects_only)
    if json:
        finish_document("search", answer)
        return
    folders = _projects(root) if absolute else None
    _print(answer.data, shown, projects_only=projects_only, absolute=folders)
    _say_what_next(answer.data, project=project, kind=kind)
    finish(answer)


def _projects(root: Sequence[str]) -> dict[str, Project]:
    projects = find_fleet(Person.here(), root).fleet.projects
    return {project.id: project for project in projects}


def _absolute(project: Project, path: str) -> str:
    folder, below = located(project.folder, project.personal, path)
    return str(folder / below)


def _say_what_next(data: SearchData, *, project: Sequence[str], kind: Sequence[str]) -> None:
    """Where nothing was found, say what may help; what was asked is said before."""
    if data.total or data.projects:
        return
    coverage = data.coverage
    if not coverage.projects_searched:
        say("No project was searched: `agentic-os scan` shows what was looked at.")
        return
    if data.near:
        say(f"Spelled nearly so: {one_line(', '.join(data.near))}")
        say(f"Try: agentic-os search {shlex.quote(_respelled(data))}")
        return
    if project or kind:
        asked_for = [*(f"--project {one}" for one in project), *(f"--kind {one}" for one in kind)]
        say(f"Try without {one_line(' '.join(asked_for))}.")
    if not coverage.surfaces.get("corpus") and not kind:
        first = "" if coverage.embedder else "agentic-os model prepare, then "
        say(f"Code and documents are not taken in: {first}agentic-os index build --all")
    if coverage.embedder is None:
        say("Fewer words, or a part of one, may find more. By meaning: agentic-os model prepare")
    else:
        say("Fewer words, or a part of one, may find more.")


def _respelled(data: SearchData) -> str:
    """Put the nearest words in the place of those that they are near to."""
    words = data.query.split()
    for near in reversed(data.near):
        likest = max(words, key=lambda word: SequenceMatcher(None, word.casefold(), near).ratio())
        words = [near if word == likest else word for word in words]
    return " ".join(words)


def _synthesized(
    query: Query, root: Sequence[str], project: Sequence[str], *, explain: bool, json: bool
) -> tuple[Answer[SearchData], IdShown]:
    # A search without a model answers more quickly without these.
    from agentic_os.tiers.synthesis_sources import passages_of, provider_of, with_synthesis

    with asked(root, document=json) as workspace:
        chosen = structs.replace(query, projects=workspace.project_ids(project))
        # What is wrong with the provider is said before anything is searched.
        provider = provider_of(workspace.settings.synthesis, workspace.environ)
        shown = ids_shown(workspace.fleet.projects)
        answer = ask(workspace, chosen, explain=explain)
        passages = passages_of(workspace, answer.data.hits)
    # The store is closed by now: a model may take minutes.
    return with_synthesis(answer, query.text, passages, provider), shown


def _kind(name: str) -> Kind:
    for kind in KINDS:
        if kind == name:
            return kind
    raise typer.BadParameter(f"unknown kind {name!r}; kinds are {', '.join(KINDS)}")


def _mode(name: str) -> SearchMode:
    for mode in MODES:
        if mode == name:
            return mode
    raise typer.BadParameter(f"unknown mode {name!r}; modes are {', '.join(MODES)}")


def _since(text: str | None) -> int | None:
    """Read a moment: an ISO date or time, or so many days or hours ago."""
    if text is None:
        return None
    try:
        return moment_ns(text, now=datetime.now(UTC))
    except ValueError as fault:
        raise typer.BadParameter(f"{text!r} is no date, and not so many days as in 7d") from fault


def _print(
    data: SearchData,
    shown: IdShown,
    *,
    projects_only: bool,
    absolute: dict[str, Project] | None,
) -> None:
    if projects_only:
        table(
            ("project", "name", "hits", "score"),
            [
                (shown(row.project), row.name, str(row.hits), f"{row.score:.2f}")
                for row in data.projects
            ],
        )
    answered = data.synthesis is not None and _print_synthesis(data.synthesis, shown)
    for hit in () if projects_only or answered else data.hits:
        by_meaning = data.coverage.embedder is not None and not _has_a_word(hit, data.query)
        _print_hit(hit, data.query, shown, absolute=absolute, by_meaning=by_meaning)
    for trace in data.explain:
        state = trace.missing or f"{trace.hits} hits in {trace.milliseconds:.1f} ms"
        say(f"{shown(trace.project)} {trace.surface}: {state}")
    coverage = data.coverage
    count = len(data.projects) if projects_only else len(data.hits)
    what = "projects" if projects_only else "hits"
    nothing = "nothing found: " if data.nothing_found else ""
    said = f"{nothing}{count} of {data.total} {what}"
    relaxed = ", no passage has every word" if coverage.relaxed else ""
    left_out = one_line(" ".join(coverage.left_out))
    without = f", not asked for: {left_out}" if left_out else ""
    stale = (
        ", the store is not up to date: hits are current, the list may not be"
        if coverage.stale
        else ""
    )
    kinds = f"; asked: {', '.join(coverage.kinds)}" if coverage.kinds else ""
    say(f"{said} in {coverage.projects_searched} projects{relaxed}{without}{stale}{kinds}")


def _has_a_word(hit: Hit, query: str) -> bool:
    """Tell whether a word of the question, or its beginning, stands in what is shown of a hit."""
    shown = f"{hit.name} {hit.path} {hit.snippet}".casefold()
    words = re.findall(r"\w{2,}", query.casefold())
    return any(word[:STEM_CHARS] in shown for word in words)


def _print_hit(
    hit: Hit,
    query: str,
    shown: IdShown,
    *,
    absolute: dict[str, Project] | None,
    by_meaning: bool,
) -> None:
    """Print one hit: two parts on a terminal, one line of cells elsewhere."""
    place = f"{shown(hit.project)}:{one_line(hit.path)}:{hit.lines[0]}"
    if absolute is not None:
        place = f"{one_line(_absolute(absolute[hit.project], hit.path))}:{hit.lines[0]}"
    kind = hit.kind if hit.confirmed else f"{hit.kind}, not confirmed"
    if not on_terminal():
        snippet = one_line(" ".join(hit.snippet.split("\n")))
        also = f"\talso {one_line(' '.join(hit.also))}" if hit.also else ""
        write(f"{place}\t{kind}\t{one_line(hit.name)}\t{snippet}{also}\n")
        return
    meant = ", by meaning" if by_meaning else ""
    head = f"[{kind}{meant}] {one_line(hit.name)}"
    write(f"{place}  {head}\n" if len(place) + len(head) + GAP <= width() else f"{place}\n")
    if len(place) + len(head) + GAP > width():
        write("".join(f"  {line}\n" for line in wrapped(head, indent=2)))
    words = [word for word in re.findall(r"\w{2,}", query) if len(word) >= MARKED_CHARS]
    for line in terminal_safe(hit.snippet).split("\n"):
        for part in wrapped(line, indent=4):
            write(f"    {_marked(part, words)}\n")
    write("".join(f"    also {one_line(other)}\n" for other in hit.also))


def _marked(line: str, words: Sequence[str]) -> str:
    """Show the words of the question in bold, unless the person wants no style."""
    if not words or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return line
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.sub(rf"(?i)({pattern})", "\x1b[1m\\1\x1b[22m", line)


def _print_synthesis(made: SynthesisData, shown: IdShown) -> bool:
    """Print a model's answer and what it cites; whether there is one."""
    if made.text is None:
        say(f"no answer was made: {one_line(made.missing or '')}")
        return False
    write(f"{terminal_safe(made.text)}\n\n")
    for citation in made.citations:
        first, last = citation.lines
        place = f"{shown(citation.project)}:{one_line(citation.path)}:{first}-{last}"
        write(f"[{citation.number}]\t{place}\n")
    checked = f"{one_line(made.provider or '')} answered from {made.passages} passages"
    invented = f", {made.invented} invented citations taken out" if made.invented else ""
    uncited = f", {made.uncited} sentences cite nothing" if made.uncited else ""
    say(f"{checked}{invented}{uncited}; check it against them")
    return True
