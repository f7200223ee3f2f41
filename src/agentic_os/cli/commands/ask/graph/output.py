"""How the answers of the code graph look as text: tables on stdout, words on stderr.

Where there is nothing to show, the words say why: no graph at all, no such name and which ones
are near, nothing to link.
"""

from typing import TYPE_CHECKING

from agentic_os.cli.output import say, table

if TYPE_CHECKING:
    from agentic_os.code.roles import PathRole
    from agentic_os.errors import AgenticOSError
    from agentic_os.tiers.graph.answers import (
        FindData,
        GraphEdgeView,
        GraphNodeView,
        GraphPlace,
        LinkCount,
        LinksData,
        NeighborsData,
        Outcome,
    )

MAX_UNLINKED_LINES = 10


def unsettled(outcome: "Outcome", name: str) -> "AgenticOSError | None":
    """Return the error of a name that does not mean exactly one node."""
    from agentic_os.aggregate.graph.codes import graph_error
    from agentic_os.text.fencing import one_line

    match outcome:
        case "ambiguous":
            return graph_error("GRAPH_NAME_AMBIGUOUS", f"{one_line(name)} means several nodes")
        case "unknown":
            return graph_error("GRAPH_NAME_UNKNOWN", f"no node is called {one_line(name)}")
        case _:
            return None


def refuse(error: "AgenticOSError | None", candidates: "tuple[GraphNodeView, ...]") -> None:
    """Show what a name may mean and raise its error, where it has one."""
    if error is None:
        return
    if error.code == "GRAPH_NAME_AMBIGUOUS":
        node_table(candidates)
    elif candidates:
        say("near names:")
        node_lines(candidates)
    raise error


def node_table(nodes: "tuple[GraphNodeView, ...]") -> None:
    """Show nodes, one a line."""
    table(
        ("node", "project", "file", "holds", "id"),
        [
            (
                node.label,
                node.project or "",
                place_text(node.place),
                holds_text(node.place),
                node.id,
            )
            for node in nodes
        ],
    )


def edge_table(
    edges: "tuple[GraphEdgeView, ...]", nodes: "tuple[GraphNodeView | None, ...]"
) -> None:
    """Show edges, one a line, with the labels of their ends."""
    labels = {
        node.id: f"{node.label} ({node.project})" if node.project else node.label
        for node in nodes
        if node is not None
    }
    table(
        ("from", "relation", "to", "sure", "rule", "seen at", "holds"),
        [
            (
                labels.get(edge.source, edge.source),
                edge.relation,
                labels.get(edge.target, edge.target),
                f"{edge.confidence} {edge.score:g}",
                edge.rule,
                " -> ".join(place_text(place) for place in edge.evidence),
                " ".join(holds_text(place) for place in edge.evidence),
            )
            for edge in edges
        ],
    )


def link_table(counts: "tuple[LinkCount, ...]") -> None:
    """Show how many edges lie between which projects."""
    if counts:
        table(
            ("from", "to", "relation", "rule", "sure", "edges"),
            [
                (
                    item.source,
                    item.target,
                    item.relation,
                    item.rule,
                    item.confidence,
                    str(item.count),
                )
                for item in counts
            ],
        )


def place_text(place: "GraphPlace | None") -> str:
    """Return a place as ``path:line``."""
    if place is None:
        return ""
    return place.path if place.line is None else f"{place.path}:{place.line}"


def holds_text(place: "GraphPlace | None") -> str:
    """Return whether a place still holds, in a word."""
    return "" if place is None else {True: "yes", False: "changed", None: "?"}[place.holds]


def say_nothing_found(data: "FindData") -> None:
    """Say that a name means nothing, and which names are near it."""
    if data.total:
        return
    say(f"no node is called {data.query}, begins with it or holds it")
    if data.near:
        say("near names:")
        node_lines(data.near)


def node_lines(nodes: "tuple[GraphNodeView, ...]") -> None:
    """Say nodes as words, where they are no answer."""
    for node in nodes:
        where = place_text(node.place)
        say(f"  {node.label} ({node.project or 'external'}{' ' + where if where else ''})")


def say_nothing_near(data: "NeighborsData") -> None:
    """Say that a node has no edges to show, and how many doubtful ones it has."""
    if not data.edges:
        say("no edge leads there in that direction, of those relations, within those projects")
    if data.ambiguous_left_out:
        say(f"{data.ambiguous_left_out} AMBIGUOUS edges were not followed; graph links lists them")


def say_roles(roles: "dict[PathRole, int]") -> None:
    """Say how much of it is seen in product code, tests, documents and vendored code."""
    if len(roles) > 1:
        say(", ".join(f"{count} in {role} files" for role, count in roles.items()))


def say_nothing_linked(data: "LinksData", graphs: int) -> None:
    """Say why no edge between projects is shown, for each project without one."""
    if not data.total:
        if graphs < 2:  # noqa: PLR2004 - an edge between projects has two ends
            say(f"an edge between projects needs two graphs; there are {graphs}")
        elif data.near_total:
            say(f"no edge between projects; {data.near_total} were nearly linked")
        else:
            say("no edge between projects: none uses what another one provides, as far as is read")
    for item in data.unlinked[:MAX_UNLINKED_LINES]:
        say(f"{item.project} is linked to none: {item.reason}")
    more = len(data.unlinked) - MAX_UNLINKED_LINES
    if more > 0:
        say(
            f"{len(data.unlinked) - MAX_UNLINKED_LINES} more are linked to none (--json lists them)"
        )
