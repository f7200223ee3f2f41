"""Every code of the graph: why a file is no graph, what was refused in one, why no link was made.

The reference page is generated from these tables; a test finds every code in one of them.
"""

from agentic_os.aggregate.codes import CODES
from agentic_os.codes import CodeTable
from agentic_os.errors import GraphError
from agentic_os.results import Diagnostic, Omission

PENDING_CODE = "GRAPH_SOURCES_PENDING"
"""Counts the sources that a later run will read."""
LEFT_OUT_CODE = "GRAPH_SOURCES_LEFT_OUT"
"""Counts the sources beyond the bounds on one project, or on one file."""
REFUSED_PATH_CODE = "GRAPH_PATH_REFUSED"
REDACTED_CODE = "GRAPH_SECRET_REDACTED"
TIME_OUT_CODE = "GRAPH_TIME_OUT"
_REBUILD = "Build the graph again with graphify in that project."

GRAPH_CODES = CodeTable(
    ("GRAPH_EMPTY", "warning", "The graph file is empty.", _REBUILD),
    (
        "GRAPH_LFS_POINTER",
        "warning",
        "The graph file is a Git LFS pointer.",
        "Run git lfs pull in that project.",
    ),
    ("GRAPH_NOT_JSON", "warning", "The graph file is not JSON.", _REBUILD),
    ("GRAPH_TRUNCATED", "warning", "The graph file ends in the middle.", _REBUILD),
    ("GRAPH_NESTED", "warning", "The graph file is nested too deeply.", _REBUILD),
    ("GRAPH_NOT_OBJECT", "warning", "The graph file is JSON, but no object.", _REBUILD),
    ("GRAPH_NO_NODES", "warning", "The graph file has no list of nodes.", _REBUILD),
    ("GRAPH_TOO_MANY_NODES", "warning", "The graph has more nodes than one project can."),
    ("GRAPH_NODE_INVALID", "info", "A node is not an object; it was left out."),
    ("GRAPH_NODE_ID", "info", "A node's id is no text, or empty; it was left out."),
    ("GRAPH_NODE_DUPLICATE", "info", "Two nodes have one id; the first one counts."),
    (
        REFUSED_PATH_CODE,
        "warning",
        "A source path leads out of the project or holds control characters: it has no place.",
        "Build the graph again in the project's folder: its paths are another place's.",
    ),
    ("GRAPH_EDGE_INVALID", "info", "An edge is not of its form; it was left out."),
    ("GRAPH_EDGE_DANGLING", "info", "An edge names a node that is not there; left out."),
    ("GRAPH_EDGES_MISSING", "info", "The file has neither links nor edges."),
    ("GRAPH_HYPEREDGE_INVALID", "info", "A hyperedge is not of its form; it was left out."),
    ("GRAPH_MEMBER_UNKNOWN", "info", "A hyperedge names a node that is not there."),
    (REDACTED_CODE, "info", "A label, id or word held a secret; it was replaced."),
    (
        PENDING_CODE,
        "info",
        "A project has more sources than one run parses; the next question goes on with them.",
    ),
    (
        LEFT_OUT_CODE,
        "info",
        "Sources beyond 16 MiB of a project, or of more than 160,000 words, are not parsed.",
    ),
    ("GRAPH_MISSING", "info", "A project of tier 2 or above has no graph file yet: normal."),
    (
        "GRAPH_NONE",
        "info",
        "A project that was asked for, or the whole fleet, has a stack without a graph.",
    ),
    ("GRAPH_MATCHES_CUT", "info", "More nodes have that name than are looked at."),
    (TIME_OUT_CODE, "warning", "The graph did not answer a search in time; exit 2."),
    ("GRAPH_RELATION_UNKNOWN", "info", "No graph has an edge of that relation."),
    (
        "GRAPH_NAME_AMBIGUOUS",
        "error",
        "A name means several nodes; they are listed.",
        "Give one of their ids, a path with the name (src/app.py:load), or --project.",
    ),
    (
        "GRAPH_NAME_UNKNOWN",
        "error",
        "No node has that name; near ones are listed.",
        "graph find looks for parts of names.",
    ),
    (
        "GRAPH_TOO_LARGE_TO_ANALYSE",
        "error",
        "There are more nodes than networkx is asked to analyse.",
        "Name fewer projects with --project.",
    ),
    ("FILES_NOT_CHECKED", "info", "More files than are read to see if their lines hold."),
    ("NEAR_MISSES_DROPPED", "info", "A rule had more near-misses than are kept."),
)

NEAR_MISS_CODES = CodeTable(
    ("SEVERAL_PROVIDERS", "info", "Several projects provide it: an AMBIGUOUS edge, no walk."),
    ("LOCAL_SHADOW", "info", "The consumer has that name itself."),
    ("PROVIDER_EXCLUDED", "info", "Only tests, examples, fixtures or vendored code have it."),
    ("MODULE_UNKNOWN", "info", "The provider has no file that is that module."),
    ("NAME_UNKNOWN", "info", "The module does not offer that name as far as reading shows."),
    ("GENERIC_NAME", "info", "Any project may have that name, and none is declared."),
    ("UNDECLARED_MODULE", "info", "A lone module or namespace that no manifest names."),
    ("ENTRY_UNKNOWN", "info", "The package's entry leads to no file of its graph."),
    ("GO_INTERNAL", "info", "An internal package cannot be imported from outside."),
    ("GO_MAIN", "info", "A main package cannot be imported."),
    ("NODE_MISSING", "info", "One side's graph has no node for it."),
)


def graph_error(code: str, message: str = "") -> GraphError:
    """Build an error; its hint, and its words where none are given, come from the table."""
    row = GRAPH_CODES[code]
    return GraphError(message or row.meaning, code=code, hint=row.hint)


def graph_diagnostic(code: str, message: str, path: str) -> Diagnostic:
    """Build the diagnostic of a graph file that is no graph, or that cannot be read."""
    return _table_of(code).diagnostic(code, message, path=path)


def graph_omission(code: str, project: str, reason: str) -> Omission:
    """Build the omission of a graph that is no graph, or that cannot be read."""
    return _table_of(code).omission(code, project, reason)


def _table_of(code: str) -> CodeTable:
    """Return the graph's table, or the one of files that cannot be read."""
    return GRAPH_CODES if code in GRAPH_CODES else CODES
