"""``agentic-os search``."""

from typing import TYPE_CHECKING, Annotated

import typer

from agentic_os.cli.options import Json, Projects, Roots

if TYPE_CHECKING:
    from agentic_os.aggregate.workspace import Workspace
    from agentic_os.language_models.interface import Provider
    from agentic_os.results import Kind, SearchData, SearchMode, SynthesisData
    from agentic_os.tiers.synthesis import SourcePassage


def search(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY...", help="What to look for; '\"quoted\"' for a phrase as it stands."
        ),
    ],
    root: Roots = None,
    project: Projects = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="K",
            help="Only this kind: memory, index, vault, capability, graph, code, document;"
            " repeatable.",
        ),
    ] = None,
    mode: Annotated[
        str, typer.Option(metavar="MODE", help="auto, lexical, semantic or hybrid.")
    ] = "auto",
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many hits to show.")] = 10,
    templates: Annotated[
        bool, typer.Option("--templates", help="Also search facts that nobody filled in yet.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each surface of each project did.")
    ] = False,
    projects_only: Annotated[
        bool, typer.Option("--projects-only", help="Rank the projects instead of the passages.")
    ] = False,
    synthesize: Annotated[
        bool,
        typer.Option(
            "--synthesize",
            help="Let the language model of [synthesis] in projects.toml answer from the passages"
            " found, with citations.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Search what all projects remember, note and can do.

    Every hit is read again from its file before it is shown. Edits are seen at once.

    Example: agentic-os search "rate limit" --project shop --kind memory
    """
    from agentic_os.aggregate.workspace import Person, open_workspace
    from agentic_os.cli.output import finish, finish_document
    from agentic_os.tiers.interface import Query
    from agentic_os.tiers.route import search as ask

    if synthesize and projects_only:
        raise typer.BadParameter("--synthesize answers from passages, which --projects-only leaves")
    kinds, how = frozenset(_kind(name) for name in kind or ()), _mode(mode)
    with open_workspace(Person.here(), root or ()) as workspace:
        asked = Query(
            text=" ".join(words).encode("utf-8", "replace").decode("utf-8"),
            projects=workspace.project_ids(project or ()),
            kinds=kinds,
            mode=how,
            limit=limit,
            templates=templates,
        )
        provider = _provider(workspace) if synthesize else None
        answer = ask(workspace, asked, explain=explain, projects_only=projects_only)
        passages = _passages(workspace, answer.data) if synthesize else None
    if passages is not None:
        from agentic_os.tiers.synthesis_sources import with_synthesis

        # The store is closed by now: a model may take minutes.
        answer = with_synthesis(answer, asked.text, passages, provider)
    if json:
        finish_document("search", answer)
        return
    _print(answer.data, projects_only=projects_only)
    finish(answer)


def _provider(workspace: "Workspace") -> "Provider | None":
    """The person's language model; what is wrong with it is said before anything is searched."""
    from agentic_os.tiers.synthesis_sources import provider_of

    return provider_of(workspace.settings.synthesis, workspace.environ)


def _passages(workspace: "Workspace", data: "SearchData") -> "tuple[SourcePassage, ...]":
    from agentic_os.tiers.synthesis_sources import passages_of

    return passages_of(workspace, data.hits)


def _kind(name: str) -> "Kind":
    from agentic_os.results import KINDS

    for kind in KINDS:
        if kind == name:
            return kind
    raise typer.BadParameter(f"unknown kind {name!r}; kinds are {', '.join(KINDS)}")


def _mode(name: str) -> "SearchMode":
    from agentic_os.results import MODES

    for mode in MODES:
        if mode == name:
            return mode
    raise typer.BadParameter(f"unknown mode {name!r}; modes are {', '.join(MODES)}")


def _print(data: "SearchData", *, projects_only: bool) -> None:
    from agentic_os.cli.output import on_terminal, say, table, write
    from agentic_os.text.fencing import one_line, terminal_safe

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
    said = f"{shown} of {data.total} {what}"
    relaxed = ", no passage has every word" if coverage.relaxed else ""
    stale = (
        ", the store is not up to date: hits are current, the list may not be"
        if coverage.stale
        else ""
    )
    say(f"{said} in {coverage.projects_searched} projects{relaxed}{stale}")


def _print_synthesis(made: "SynthesisData") -> bool:
    """Print a model's answer and what it cites; whether there is one."""
    from agentic_os.cli.output import say, write
    from agentic_os.text.fencing import one_line, terminal_safe

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
