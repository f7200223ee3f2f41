"""``agentic-os graph``: the one code graph over all projects of tier 2 and above."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from agentic_os.cli.commands.ask.graph.output import (
    edge_table,
    holds_text,
    link_table,
    node_table,
    place_text,
    refuse,
    say_nothing_found,
    say_nothing_linked,
    say_nothing_near,
    say_roles,
    unsettled,
)
from agentic_os.cli.options import Adopt, Json, Projects, Roots, chosen_roots
from agentic_os.cli.output import say, table

if TYPE_CHECKING:
    from agentic_os.errors import AgenticOSError
    from agentic_os.results import Answer
    from agentic_os.tiers.graph.context import CodeGraph

T = TypeVar("T")

app = typer.Typer(
    help="Ask the code graph of all projects: what is connected, how, and what depends on it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Limit = Annotated[int, typer.Option("--limit", metavar="N", help="Show at most N.")]
Relations = Annotated[
    list[str] | None,
    typer.Option("--relation", metavar="R", help="Follow only this relation; repeatable."),
]
Roles = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="ROLE",
        help="Only what is seen in product, test, document or vendored files; repeatable.",
    ),
]
Externals = Annotated[
    bool,
    typer.Option("--externals", help="Also pass through names that no project defines."),
]
NO_CHECK_HELP = "Do not read files to see whether their lines still hold."
NoCheck = Annotated[bool, typer.Option("--no-check", help=NO_CHECK_HELP)]


@app.command()
def stats(
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    analytics: Annotated[
        bool,
        typer.Option("--analytics", help="Also compute central nodes and communities."),
    ] = False,
    json: Json = False,
) -> None:
    """Say what is known of each project's graph, and how the projects are linked.

    Example: agentic-os graph stats --analytics
    """
    from agentic_os.tiers.graph.links import stats as ask

    with _graph(chosen_roots(root, adopt=adopt), project) as (graph, projects):
        answer = ask(graph, projects=projects, analytics=analytics)
    if json:
        _finish_document("graph-stats", answer)
        return
    data = answer.data
    table(
        ("project", "graph", "nodes", "edges", "files", "external", "behind"),
        [
            (
                item.project,
                item.status,
                str(item.nodes),
                str(item.edges),
                str(item.files),
                str(item.external),
                {True: "yes", False: "no", None: ""}[item.behind],
            )
            for item in data.projects
        ],
    )
    link_table(data.links)
    if data.analytics is not None:
        table(
            ("central", "project", "file", "in", "core"),
            [
                (
                    item.node.label,
                    item.node.project or "",
                    place_text(item.node.place),
                    str(item.in_degree),
                    str(item.core),
                )
                for item in data.analytics.central
            ],
        )
        table(
            ("community", "projects", "among them"),
            [
                (
                    str(item.size),
                    " ".join(f"{name}:{count}" for name, count in item.projects.items()),
                    ", ".join(item.labels),
                )
                for item in data.analytics.communities
            ],
        )
    _finish(answer)


@app.command()
def find(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A label, a path, or a node's id.")],
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    limit: Limit = 50,
    no_check: NoCheck = False,
    json: Json = False,
) -> None:
    """Find nodes: exactly, else by their beginning, else by any part of the name.

    Example: agentic-os graph find safe_load
    """
    from agentic_os.tiers.graph.near import find as ask

    with _graph(chosen_roots(root, adopt=adopt), project, check=not no_check) as (graph, projects):
        answer = ask(graph, name, projects=projects, limit=limit)
    if json:
        _finish_document("graph-find", answer)
        return
    node_table(answer.data.nodes)
    say_nothing_found(answer.data)
    if answer.data.total > len(answer.data.nodes):
        say(f"{answer.data.total} found; --limit shows more")
    _finish(answer)


@app.command()
def neighbors(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A label, a path, or a node's id.")],
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    depth: Annotated[int, typer.Option("--depth", metavar="N", help="Hops away.")] = 1,
    direction: Annotated[
        Literal["out", "in", "both"],
        typer.Option("--direction", help="Along the edges, against them, or both."),
    ] = "both",
    relation: Relations = None,
    limit: Limit = 50,
    externals: Externals = False,
    no_check: NoCheck = False,
    json: Json = False,
) -> None:
    """Show what a node is connected to, across projects.

    Example: agentic-os graph neighbors safe_load --direction in
    """
    from agentic_os.tiers.graph.near import neighbors as ask

    with _graph(chosen_roots(root, adopt=adopt), project, check=not no_check) as (graph, projects):
        answer = ask(
            graph,
            name,
            projects=projects,
            depth=depth,
            direction=direction,
            relations=relation or (),
            limit=limit,
            externals=externals,
        )
    data = answer.data
    error = unsettled(data.outcome, name)
    if json:
        _finish_document("graph-neighbors", answer, error=error)
        return
    refuse(error, data.candidates)
    edge_table(data.edges, (data.start, *data.nodes))
    say_nothing_near(data)
    if data.truncated:
        say("more is connected; --limit shows more")
    _finish(answer)


@app.command()
def path(
    source: Annotated[str, typer.Argument(metavar="FROM", help="Where it begins.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where it ends.")],
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    undirected: Annotated[
        bool, typer.Option("--undirected", help="Follow edges against their direction too.")
    ] = False,
    relation: Relations = None,
    externals: Externals = False,
    budget: Annotated[
        int, typer.Option("--budget", metavar="N", help="Give up after looking at N nodes.")
    ] = 200_000,
    no_check: NoCheck = False,
    json: Json = False,
) -> None:
    """Find a shortest path from one node to another.

    Example: agentic-os graph path shop/checkout.py:pay yaml/loader.py:SafeLoader
    """
    from agentic_os.tiers.graph.paths import path as ask

    with _graph(chosen_roots(root, adopt=adopt), project, check=not no_check) as (graph, projects):
        answer = ask(
            graph,
            source,
            target,
            projects=projects,
            directed=not undirected,
            relations=relation or (),
            externals=externals,
            budget=budget,
        )
    data = answer.data
    error = unsettled(data.outcome, target if data.unsettled == "target" else source)
    if json:
        _finish_document("graph-path", answer, error=error)
        return
    refuse(error, data.candidates)
    edge_table(data.edges, data.nodes)
    match data.outcome:
        case "no-path":
            say(f"there is no path ({data.explored} nodes seen)")
        case "budget-exhausted":
            say(f"gave up after {data.explored} nodes; --budget looks further")
        case _:
            say(f"{data.hops} hops")
    if data.refuted:
        say(f"{data.refuted} edges were passed over: their files no longer show them")
    _finish(answer)


@app.command()
def impact(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A label, a path, or a node's id.")],
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    depth: Annotated[int, typer.Option("--depth", metavar="N", help="Hops away.")] = 5,
    role: Roles = None,
    own: Annotated[
        bool, typer.Option("--own", help="Show the node's own project too, where others use it.")
    ] = False,
    limit: Limit = 50,
    no_check: NoCheck = False,
    json: Json = False,
) -> None:
    """Show who depends on a node: other projects first, product code before tests.

    Example: agentic-os graph impact parse_config
    """
    from agentic_os.tiers.graph.paths import impact as ask

    with _graph(chosen_roots(root, adopt=adopt), project, check=not no_check) as (graph, projects):
        answer = ask(graph, name, projects=projects, depth=depth, limit=limit, roles=role or ())
    data = answer.data
    error = unsettled(data.outcome, name)
    if json:
        _finish_document("graph-impact", answer, error=error)
        return
    refuse(error, data.candidates)
    home = data.start.project if data.start is not None else None
    others = [node for node in data.nodes if node.project != home]
    table(
        ("distance", "node", "project", "file", "holds"),
        [
            (
                str(node.distance),
                node.label,
                node.project or "",
                place_text(node.place),
                holds_text(node.place),
            )
            for node in (others if others and not own else data.nodes)
        ],
    )
    for item in data.projects:
        folded = "" if own or item.project != home or not others else "; --own shows them"
        say(f"{item.project}: {item.nodes} depend on it, the nearest at {item.nearest}{folded}")
    say_roles(data.roles)
    if data.total > len(data.nodes):
        say(f"{data.total} in all; --limit shows more")
    _finish(answer)


@app.command()
def links(
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", metavar="R", help="Only this rule (R1 to R3d); repeatable."),
    ] = None,
    role: Roles = None,
    near: Annotated[
        bool,
        typer.Option("--near/--no-near", help="Also list what was nearly linked, and why not."),
    ] = True,
    limit: Limit = 50,
    no_check: NoCheck = False,
    json: Json = False,
) -> None:
    """List the edges between projects, and why near-misses were not linked.

    Example: agentic-os graph links --project shop
    """
    from agentic_os.tiers.graph.links import links as ask

    with _graph(chosen_roots(root, adopt=adopt), project, check=not no_check) as (graph, projects):
        answer = ask(
            graph, projects=projects, rules=rule or (), roles=role or (), limit=limit, near=near
        )
        graphs = graph.with_nodes()
    if json:
        _finish_document("graph-links", answer)
        return
    data = answer.data
    edge_table(data.edges, data.nodes)
    if data.total > len(data.edges):
        say(f"{data.total} edges; --limit shows more")
    say_roles(data.roles)
    say_nothing_linked(data, graphs)
    if data.near:
        table(
            ("not linked", "rule", "why", "at", "nearly"),
            [
                (
                    item.subject,
                    item.rule,
                    f"{item.code}: {item.reason}",
                    f"{item.place.project}:{place_text(item.place)}",
                    " ".join(item.candidates),
                )
                for item in data.near
            ],
        )
    if data.near_total > len(data.near):
        say(f"{data.near_total} were nearly linked; --limit shows more")
    _finish(answer)


@app.command()
def build(
    root: Roots = None,
    adopt: Adopt = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Every project with retrieval, not only tier 2 and above.")
    ] = False,
    json: Json = False,
) -> None:
    """Make a graph from the sources of each project that has none.

    Example: agentic-os graph build
    """
    from agentic_os.aggregate.workspace import Person
    from agentic_os.tiers.graph.build import build_graphs

    answer = build_graphs(Person.here(), chosen_roots(root, adopt=adopt), everything=everything)
    if json:
        _finish_document("graph-build", answer)
        return
    table(
        ("project", "sources", "nodes", "edges"),
        [
            (item.project, str(item.sources), str(item.nodes), str(item.edges))
            for item in answer.data.projects
        ],
    )
    if not answer.data.projects:
        say("every project has a graph, or no sources that are read")
    _finish(answer)


@app.command()
def export(
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    format_: Annotated[
        Literal["node-link", "graphml"],
        typer.Option("--format", help="node-link JSON, which graphify reads, or GraphML."),
    ] = "node-link",
    json: Json = False,
) -> None:
    """Print the union as one document.

    Example: agentic-os graph export --format graphml > fleet.graphml
    """
    from agentic_os.cli.output import write
    from agentic_os.tiers.graph.export import export as ask
    from agentic_os.tiers.graph.export import export_account, export_parts

    with _graph(chosen_roots(root, adopt=adopt), project, check=False) as (graph, projects):
        if json:
            _finish_document("graph-export", ask(graph, format_, projects=projects))
            return
        for part in export_parts(graph, format_, projects=projects):
            write(part)
        account = export_account(graph, projects=projects)
    _finish(account)


# -- shared ------------------------------------------------------------------------------------


@contextmanager
def _graph(
    root: tuple[str, ...], project: list[str] | None, *, check: bool = True
) -> Iterator[tuple["CodeGraph", frozenset[str] | None]]:
    from agentic_os.cli.actions.asking import asked
    from agentic_os.tiers.graph.context import code_graph

    with asked(root, sources=True) as workspace:
        yield code_graph(workspace, check=check), workspace.project_ids(project or ())


def _finish(answer: "Answer[T]") -> None:
    from agentic_os.cli.output import finish

    finish(answer)


def _finish_document(
    command: str, answer: "Answer[T]", *, error: "AgenticOSError | None" = None
) -> None:
    from agentic_os.cli.output import ReportedError, finish_document, write_document

    if error is None:
        finish_document(command, answer)
        return
    write_document(command, answer, error=error)
    raise ReportedError(error)
