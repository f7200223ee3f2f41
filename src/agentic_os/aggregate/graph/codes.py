"""Every code of the graph: why a file is no graph, what was refused in one, why no link was made.

The reference page is generated from these tables; a test finds every code in one of them.
"""

from collections.abc import Mapping
from types import MappingProxyType

from agentic_os.codes import CodeRow
from agentic_os.results import Severity


def _table(*rows: CodeRow) -> Mapping[str, CodeRow]:
    return MappingProxyType({row.code: row for row in rows})


def _row(code: str, severity: Severity, meaning: str, hint: str = "") -> CodeRow:
    return CodeRow(code=code, severity=severity, meaning=meaning, hint=hint)


_REBUILD = "Build the graph again with graphify in that project."

GRAPH_CODES: Mapping[str, CodeRow] = _table(
    _row("GRAPH_EMPTY", "warning", "The graph file is empty.", _REBUILD),
    _row(
        "GRAPH_LFS_POINTER",
        "warning",
        "The graph file is a Git LFS pointer.",
        "Run git lfs pull in that project.",
    ),
    _row("GRAPH_NOT_JSON", "warning", "The graph file is not JSON.", _REBUILD),
    _row("GRAPH_TRUNCATED", "warning", "The graph file ends in the middle.", _REBUILD),
    _row("GRAPH_NESTED", "warning", "The graph file is nested too deeply.", _REBUILD),
    _row("GRAPH_NOT_OBJECT", "warning", "The graph file is JSON, but no object.", _REBUILD),
    _row("GRAPH_NO_NODES", "warning", "The graph file has no list of nodes.", _REBUILD),
    _row("GRAPH_TOO_MANY_NODES", "warning", "The graph has more nodes than one project can."),
    _row("GRAPH_NODE_INVALID", "info", "A node is not an object; it was left out."),
    _row("GRAPH_NODE_ID", "info", "A node's id is no text, or empty; it was left out."),
    _row("GRAPH_NODE_DUPLICATE", "info", "Two nodes have one id; the first one counts."),
    _row(
        "GRAPH_PATH_REFUSED",
        "info",
        "A source path is absolute, leaves the project or holds control characters;"
        " the node has no place.",
    ),
    _row("GRAPH_EDGE_INVALID", "info", "An edge is not of its form; it was left out."),
    _row("GRAPH_EDGE_DANGLING", "info", "An edge names a node that is not there; left out."),
    _row("GRAPH_EDGES_MISSING", "info", "The file has neither links nor edges."),
    _row("GRAPH_HYPEREDGE_INVALID", "info", "A hyperedge is not of its form; it was left out."),
    _row("GRAPH_MEMBER_UNKNOWN", "info", "A hyperedge names a node that is not there."),
    _row("GRAPH_SECRET_REDACTED", "info", "A label, id or word held a secret; it was replaced."),
    _row(
        "GRAPH_SOURCES_PENDING",
        "info",
        "A project has more sources than one run parses; the next question goes on with them.",
    ),
    _row(
        "GRAPH_SOURCES_LEFT_OUT",
        "info",
        "Sources beyond 16 MiB of one project, or with more than 160,000 words and marks,"
        " are not parsed.",
    ),
    _row("GRAPH_MISSING", "info", "A project of tier 2 or above has no graph file yet: normal."),
    _row(
        "GRAPH_NONE",
        "info",
        "A project that was asked for, or the whole fleet, has a stack without a graph.",
    ),
    _row("GRAPH_MATCHES_CUT", "info", "More nodes have that name than are looked at."),
    _row("GRAPH_TIME_OUT", "warning", "The graph did not answer a search in time; exit 2."),
    _row("GRAPH_RELATION_UNKNOWN", "info", "No graph has an edge of that relation."),
    _row("GRAPH_NAME_AMBIGUOUS", "error", "A name means several nodes; they are listed."),
    _row("GRAPH_NAME_UNKNOWN", "error", "No node has that name; near ones are listed."),
    _row(
        "GRAPH_TOO_LARGE_TO_ANALYSE",
        "error",
        "There are more nodes than networkx is asked to analyse.",
        "Name fewer projects with --project.",
    ),
    _row("FILES_NOT_CHECKED", "info", "More files than are read to see if their lines hold."),
    _row("NEAR_MISSES_DROPPED", "info", "A rule had more near-misses than are kept."),
)

NEAR_MISS_CODES: Mapping[str, CodeRow] = _table(
    _row("SEVERAL_PROVIDERS", "info", "Several projects provide it: an AMBIGUOUS edge, no walk."),
    _row("LOCAL_SHADOW", "info", "The consumer has that name itself."),
    _row("PROVIDER_EXCLUDED", "info", "Only tests, examples, fixtures or vendored code have it."),
    _row("MODULE_UNKNOWN", "info", "The provider has no file that is that module."),
    _row("NAME_UNKNOWN", "info", "The module does not offer that name as far as reading shows."),
    _row("TOO_MANY_CANDIDATES", "info", "More than five definitions have that name."),
    _row("GENERIC_NAME", "info", "Any project may have that name, and none is declared."),
    _row("UNDECLARED_MODULE", "info", "A lone module or namespace that no manifest names."),
    _row("ENTRY_UNKNOWN", "info", "The package's entry leads to no file of its graph."),
    _row("GO_INTERNAL", "info", "An internal package cannot be imported from outside."),
    _row("GO_MAIN", "info", "A main package cannot be imported."),
    _row("NODE_MISSING", "info", "One side's graph has no node for it."),
    _row("ROUTE_UNMOUNTED", "info", "Nothing mounts the router; its paths are not known."),
    _row("GENERIC_PATH", "info", "Every service has that path."),
    _row("PATH_TOO_COMMON", "info", "Nothing but a short path agrees."),
    _row("HOST_UNBOUND", "info", "The request's host names none of the projects."),
    _row("HOST_OTHER", "info", "The request's base names something else."),
)
