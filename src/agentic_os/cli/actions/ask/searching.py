"""Search the fleet and print the hits."""

from collections.abc import Sequence
from datetime import UTC, datetime

import typer
from msgspec import structs

from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.cli.output import finish, finish_document, on_terminal, say, table, write
from agentic_os.results import KINDS, MODES, Answer, Kind, SearchData, SearchMode, SynthesisData
from agentic_os.text.fencing import one_line, terminal_safe
from agentic_os.tiers.interface import Query
from agentic_os.tiers.moments import moment_ns
from agentic_os.tiers.route import search as ask


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
) -> None:
    """Search what all projects remember, note and can do."""
    if synthesize and projects_only:
        raise typer.BadParameter("--synthesize answers from passages, which --projects-only leaves")
    kinds, how = frozenset(_kind(name) for name in kind), _mode(mode)
    asked = Query(
        text=" ".join(words).encode("utf-8", "replace").decode("utf-8"),
        kinds=kinds,
        mode=how,
        limit=limit,
        templates=templates,
        changed_since_ns=_since(changed_since),
    )
    if synthesize:
        answer = _synthesized(asked, root, project, explain=explain)
    else:
        with open_workspace(Person.here(), root) as workspace:
            chosen = structs.replace(asked, projects=workspace.project_ids(project))
            answer = ask(workspace, chosen, explain=explain, projects_only=projects_only)
    if json:
        finish_document("search", answer)
        return
    _print(answer.data, projects_only=projects_only)
    finish(answer)


def _synthesized(
    asked: Query, root: Sequence[str], project: Sequence[str], *, explain: bool
) -> Answer[SearchData]:
    # A search without a model answers more quickly without these.
    from agentic_os.tiers.synthesis_sources import passages_of, provider_of, with_synthesis

    with open_workspace(Person.here(), root) as workspace:
        chosen = structs.replace(asked, projects=workspace.project_ids(project))
        # What is wrong with the provider is said before anything is searched.
        provider = provider_of(workspace.settings.synthesis, workspace.environ)
        answer = ask(workspace, chosen, explain=explain)
        passages = passages_of(workspace, answer.data.hits)
    # The store is closed by now: a model may take minutes.
    return with_synthesis(answer, asked.text, passages, provider)


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


def _print(data: SearchData, *, projects_only: bool) -> None:
    if projects_only:
        table(
            ("project", "name", "hits", "score"),
            [(row.project, row.name, str(row.hits), f"{row.score:.2f}") for row in data.projects],
        )
    answered = data.synthesis is not None and _print_synthesis(data.synthesis)
    for hit in () if projects_only or answered else data.hits:
        place = f"{hit.project}:{one_line(hit.path)}:{hit.lines[0]}"
        kind = hit.kind if hit.confirmed else f"{hit.kind}, not confirmed"
        if on_terminal():
            write(f"{place}  [{kind}] {one_line(hit.name)}\n")
            write("".join(f"    {line}\n" for line in terminal_safe(hit.snippet).split("\n")))
        else:
            write(f"{place}\t{kind}\t{one_line(hit.name)}\t{one_line(hit.snippet)}\n")
    for trace in data.explain:
        state = trace.missing or f"{trace.hits} hits in {trace.milliseconds:.1f} ms"
        say(f"{trace.project} {trace.surface}: {state}")
    coverage = data.coverage
    shown = len(data.projects) if projects_only else len(data.hits)
    what = "projects" if projects_only else "hits"
    nothing = "nothing found: " if data.nothing_found else ""
    said = f"{nothing}{shown} of {data.total} {what}"
    relaxed = ", no passage has every word" if coverage.relaxed else ""
    left_out = one_line(" ".join(coverage.left_out))
    without = f", not asked for: {left_out}" if left_out else ""
    stale = (
        ", the store is not up to date: hits are current, the list may not be"
        if coverage.stale
        else ""
    )
    say(f"{said} in {coverage.projects_searched} projects{relaxed}{without}{stale}")


def _print_synthesis(made: SynthesisData) -> bool:
    """Print a model's answer and what it cites; whether there is one."""
    if made.text is None:
        say(f"no answer was made: {one_line(made.missing or '')}")
        return False
    write(f"{terminal_safe(made.text)}\n\n")
    for citation in made.citations:
        first, last = citation.lines
        write(f"[{citation.number}]\t{citation.project}:{one_line(citation.path)}:{first}-{last}\n")
    checked = f"{one_line(made.provider or '')} answered from {made.passages} passages"
    invented = f", {made.invented} invented citations taken out" if made.invented else ""
    uncited = f", {made.uncited} sentences cite nothing" if made.uncited else ""
    say(f"{checked}{invented}{uncited}; check it against them")
    return True
