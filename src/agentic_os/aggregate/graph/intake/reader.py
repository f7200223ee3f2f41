"""Graphify's ``graph.json``, every variant of it, read into one typed value.

Rules:

- ``links`` and ``edges`` are the same list under two names; ``links`` wins where both stand;
- source and target are the true direction whatever ``directed`` says; ``_src`` and ``_tgt``
  override them where present;
- parallel edges are kept; edges to undeclared nodes are counted and dropped;
- the first of two nodes with one id wins;
- hyperedges stand at the top or under ``graph``, members under ``nodes`` or ``members``;
- a node without a file and without a place is a stub of something external;
- a merged file of one repository is unprefixed again (``repo``, ``local_id``);
- one bad item is counted and costs that item only; a file that is no graph is an error.

The file is split into items without being decoded, and items are decoded one at a time into
the few fields that are needed, so that memory stays within four times the file's size.
"""

import gc
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from agentic_os.aggregate.graph.codes import REFUSED_PATH_CODE, graph_error
from agentic_os.aggregate.graph.intake.paths import (
    Locate,
    is_absolute,
    not_located,
    relative_path,
)
from agentic_os.aggregate.graph.values import (
    AMBIGUOUS,
    CONFIDENCES,
    DEFAULT_SCORES,
    INFERRED,
    Graph,
    GraphEdge,
    GraphHyperedge,
    GraphNode,
)
from agentic_os.code.values import LFS_POINTER

MAX_ID_CHARS = 2_000
MAX_LABEL_CHARS = 1_000
MAX_WORD_CHARS = 200
MAX_VERSION = 1_000_000
MAX_MEMBERS_ENTRIES = 10_000

_LOCATION = re.compile(r"L?(\d{1,9})")

_ABSENT = msgspec.Raw(b"null")
_Value = str | int | float | bool | list[object] | dict[str, object] | None
"""Any JSON value: a field of the wrong type costs that field, not its item."""


class _Document(msgspec.Struct):
    nodes: msgspec.Raw = _ABSENT
    links: msgspec.Raw = _ABSENT
    edges: msgspec.Raw = _ABSENT
    hyperedges: msgspec.Raw = _ABSENT
    graph: msgspec.Raw = _ABSENT
    built_at_commit: _Value = None


class _Header(msgspec.Struct):
    schema_version: _Value = None
    graphify_version: _Value = None
    hyperedges: msgspec.Raw = _ABSENT


class _Node(msgspec.Struct, gc=False):
    id: _Value = None
    label: _Value = None
    file_type: _Value = None
    source_file: _Value = None
    source_location: _Value = None
    source_url: _Value = None
    community: _Value = None
    external: _Value = None
    type: _Value = None
    ecosystem: _Value = None
    repo: _Value = None
    local_id: _Value = None


class _Relation(msgspec.Struct, gc=False):
    relation: _Value = None
    confidence: _Value = None
    confidence_score: _Value = None
    source_file: _Value = None
    source_location: _Value = None


class _Edge(_Relation, gc=False):
    source: _Value = None
    target: _Value = None
    true_source: _Value = msgspec.field(name="_src", default=None)
    true_target: _Value = msgspec.field(name="_tgt", default=None)
    context: _Value = None


class _Hyperedge(_Relation, gc=False):
    id: _Value = None
    label: _Value = None
    nodes: _Value = None
    members: _Value = None


_document = msgspec.json.Decoder(_Document)
_header = msgspec.json.Decoder(_Header)
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])
_node = msgspec.json.Decoder(_Node)
_edge = msgspec.json.Decoder(_Edge)
_hyperedge = msgspec.json.Decoder(_Hyperedge)
_FAULTS = (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeError)


def read_graph(data: bytes, locate: Locate = not_located) -> Graph:
    """Read one ``graph.json``.

    Args:
        data: the file's bytes; whoever reads the file bounds them.
        locate: finds the files of absolute paths inside the project; none by default.

    Returns:
        The graph; what was refused in it is in ``counts``.

    Raises:
        GraphError: the file is no graph: ``GRAPH_EMPTY``, ``GRAPH_LFS_POINTER``,
            ``GRAPH_NOT_JSON``, ``GRAPH_TRUNCATED``, ``GRAPH_NESTED``,
            ``GRAPH_NOT_OBJECT``, ``GRAPH_NO_NODES``.
    """
    with _no_collector():
        return _Reader(locate).read(_parsed(data))


def _version(value: object) -> int:
    """Return a version as the store can keep it, 0 for anything else."""
    return value if isinstance(value, int) and 0 <= value < MAX_VERSION else 0


def _parsed(data: bytes) -> _Document:
    data = data.removeprefix(BOM_UTF8)
    if data.startswith(LFS_POINTER):
        raise graph_error("GRAPH_LFS_POINTER")
    start = data[:64].lstrip()
    if not start and not data.strip():
        raise graph_error("GRAPH_EMPTY")
    try:
        return _document.decode(data)
    except RecursionError:
        raise graph_error("GRAPH_NESTED") from None
    except msgspec.ValidationError:
        raise graph_error("GRAPH_NOT_OBJECT") from None
    except (msgspec.DecodeError, UnicodeError) as fault:
        if "truncated" in str(fault):
            raise graph_error("GRAPH_TRUNCATED") from None
        raise graph_error("GRAPH_NOT_JSON") from None


@contextmanager
def _no_collector() -> Iterator[None]:
    """Hold the cyclic collector back: millions of small acyclic values are being made."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Reader:
    """Turns the split document into a graph and counts what it refuses."""

    def __init__(self, locate: Locate) -> None:
        self.locate = locate
        self.counts: dict[str, int] = {}
        self.positions: dict[str, int] = {}
        # What texts that come thousands of times were read as.
        self.paths: dict[str, str] = {"": ""}
        self.lines: dict[str, int] = {}
        self.words: dict[str, str] = {}
        self.located: Mapping[str, str] = {}
        self.sureness: dict[tuple[str, float | None], tuple[str, float]] = {}

    def read(self, document: _Document) -> Graph:
        header = self._header_of(document.graph)
        raw_nodes = self._split(document.nodes)
        if raw_nodes is None:
            raise graph_error("GRAPH_NO_NODES")
        document.nodes = _ABSENT
        nodes = self._nodes(raw_nodes)
        del raw_nodes
        raw_edges = self._split(document.links)
        if raw_edges is None:
            raw_edges = self._split(document.edges)
        if raw_edges is None:
            self._count("GRAPH_EDGES_MISSING")
        document.links = document.edges = _ABSENT
        edges = self._edges(raw_edges or [])
        hyperedges = self._hyperedges([document.hyperedges, header.hyperedges])
        return Graph(
            nodes=nodes,
            edges=edges,
            hyperedges=hyperedges,
            counts=dict(sorted(self.counts.items())),
            graphify_version=self._word(header.graphify_version),
            schema_version=_version(header.schema_version),
            built_at_commit=self._word(document.built_at_commit),
        )

    def _count(self, code: str) -> None:
        self.counts[code] = self.counts.get(code, 0) + 1

    def _header_of(self, raw: msgspec.Raw) -> _Header:
        try:
            return _header.decode(raw)
        except _FAULTS:
            return _Header()

    def _split(self, raw: msgspec.Raw) -> list[msgspec.Raw] | None:
        try:
            return _raw_list.decode(raw)
        except _FAULTS:
            return None

    # -- nodes -------------------------------------------------------------------------

    def _nodes(self, raws: list[msgspec.Raw]) -> list[GraphNode]:
        found: list[_Node] = []
        for index, raw in enumerate(raws):
            raws[index] = _EMPTY
            try:
                found.append(_node.decode(raw))
            except _FAULTS:
                self._count("GRAPH_NODE_INVALID")
        # All at once: the paths that are found tell where those belong that could be anywhere.
        self.located = self.locate(
            {
                path
                for item in found
                if isinstance(path := item.source_file, str) and is_absolute(path)
            }
        )
        prefix = _merged_prefix(found)
        nodes: list[GraphNode] = []
        for item in found:
            key = item.id
            if not isinstance(key, str) or not key or len(key) > MAX_ID_CHARS:
                self._count("GRAPH_NODE_ID")
                continue
            if key in self.positions:
                self._count("GRAPH_NODE_DUPLICATE")
                continue
            self.positions[key] = len(nodes)
            own = key.removeprefix(prefix) if prefix else key
            nodes.append(self._one_node(item, own))
        return nodes

    def _one_node(self, item: _Node, key: str) -> GraphNode:
        path = self._path(item.source_file)
        line = self._line(item.source_location)
        kind = self._word(item.file_type)
        flagged = item.external is True or item.type == "external"
        bare = not self._word(item.source_file) and not line and not self._word(item.source_url)
        external = flagged or (bare and kind in {"code", "concept", ""} and item.type != "package")
        package = (self._word(item.ecosystem) or "unknown") if item.type == "package" else ""
        community = item.community if isinstance(item.community, int) else -1
        label = item.label if isinstance(item.label, str) and item.label else key
        return GraphNode(
            key=key,
            label=label[:MAX_LABEL_CHARS],
            kind=kind,
            path=path,
            line=line,
            community=community if -1 <= community < _COMMUNITIES_LIMIT else -1,
            external=external,
            package=package,
        )

    def _path(self, value: _Value) -> str:
        if not isinstance(value, str):
            return ""
        known = self.paths.get(value)
        if known is None:
            known = relative_path(value) or self.located.get(value)
            if known is None:
                self._count(REFUSED_PATH_CODE)
                return ""
            self.paths[value] = known
        return known

    def _line(self, value: _Value) -> int:
        if not isinstance(value, str):
            return _line(value)
        known = self.lines.get(value)
        if known is None:
            known = self.lines[value] = _line(value)
        return known

    def _word(self, value: _Value) -> str:
        """Return a short text; equal ones are one object, since they come thousands of times."""
        if not isinstance(value, str):
            return ""
        known = self.words.get(value)
        if known is None:
            known = self.words[value] = value[:MAX_WORD_CHARS]
        return known

    def _sure(self, word: _Value, score: _Value) -> tuple[str, float]:
        if type(word) is not str or not (score is None or type(score) is float):
            return _confidence(word, score)
        known = self.sureness.get((word, score))
        if known is None:
            known = self.sureness[word, score] = _confidence(word, score)
        return known

    # -- edges -------------------------------------------------------------------------

    def _edges(self, raws: list[msgspec.Raw]) -> list[GraphEdge]:
        edges: list[GraphEdge] = []
        decode, position, add = _edge.decode, self.positions.get, edges.append
        words, paths, lines = self.words.get, self.paths.get, self.lines.get
        for index, raw in enumerate(raws):
            raws[index] = _EMPTY
            try:
                item = decode(raw)
            except _FAULTS:
                self._count("GRAPH_EDGE_INVALID")
                continue
            source = item.source if item.true_source is None else item.true_source
            target = item.target if item.true_target is None else item.true_target
            if type(source) is not str or type(target) is not str:
                self._count("GRAPH_EDGE_INVALID")
                continue
            start, end = position(source), position(target)
            if start is None or end is None:
                self._count("GRAPH_EDGE_DANGLING")
                continue
            confidence, score = self._sure(item.confidence, item.confidence_score)
            # What is known is looked up here: a call a field would cost as much as parsing.
            word, said, file, place = (
                item.relation,
                item.context,
                item.source_file,
                item.source_location,
            )
            relation = words(word) if type(word) is str else ""
            context = words(said) if type(said) is str else ""
            path = paths(file) if type(file) is str else ""
            line = lines(place) if type(place) is str else None
            add(
                GraphEdge(
                    start,
                    end,
                    (self._word(word) if relation is None else relation) or "related",
                    self._word(said) if context is None else context,
                    confidence,
                    score,
                    self._path(file) if path is None else path,
                    self._line(place) if line is None else line,
                )
            )
        return edges

    def _hyperedges(self, places: list[msgspec.Raw]) -> list[GraphHyperedge]:
        found: dict[GraphHyperedge, None] = {}
        for place in places:
            for raw in self._split(place) or []:
                try:
                    item = _hyperedge.decode(raw)
                except _FAULTS:
                    self._count("GRAPH_HYPEREDGE_INVALID")
                    continue
                made = self._one_hyperedge(item)
                if made is None:
                    self._count("GRAPH_HYPEREDGE_INVALID")
                else:
                    found.setdefault(made)
        return list(found)

    def _one_hyperedge(self, item: _Hyperedge) -> GraphHyperedge | None:
        listed = item.nodes if isinstance(item.nodes, list) else item.members
        if not isinstance(listed, list):
            return None
        members: list[int] = []
        for member in listed[:MAX_MEMBERS_ENTRIES]:
            position = self.positions.get(member) if isinstance(member, str) else None
            if position is None:
                self._count("GRAPH_MEMBER_UNKNOWN")
            else:
                members.append(position)
        if not members:
            return None
        confidence, score = _confidence(item.confidence, item.confidence_score)
        return GraphHyperedge(
            key=self._word(item.id),
            label=item.label[:MAX_LABEL_CHARS] if isinstance(item.label, str) else "",
            relation=self._word(item.relation) or "related",
            confidence=confidence,
            score=score,
            path=self._path(item.source_file),
            line=self._line(item.source_location),
            members=tuple(members),
        )


_EMPTY = msgspec.Raw(b"")
_COMMUNITIES_LIMIT = 2**31


def _merged_prefix(nodes: list[_Node]) -> str:
    """Return ``tag::`` where every own node of a merged file carries that one tag."""
    tags: set[str] = set()
    for node in nodes:
        if isinstance(node.repo, str) and isinstance(node.local_id, str):
            tags.add(node.repo)
        if len(tags) > 1:
            return ""
    return f"{tags.pop()}::" if tags else ""


def _line(value: _Value) -> int:
    if isinstance(value, bool):
        return 0
    if isinstance(value, int):
        return value if 0 < value < _MAX_LINE else 0
    found = _LOCATION.match(value.strip()) if isinstance(value, str) else None
    return int(found[1]) if found else 0


_MAX_LINE = 10**9


def _confidence(word: _Value, score: _Value) -> tuple[str, float]:
    """Return a known confidence and its score; an unknown word is never trusted."""
    if isinstance(word, str) and word in DEFAULT_SCORES:
        confidence = word
    elif word is None:
        confidence = INFERRED
    else:
        upper = word.upper() if isinstance(word, str) else ""
        confidence = upper if upper in CONFIDENCES else AMBIGUOUS
    if isinstance(score, (int, float)) and not isinstance(score, bool) and 0 <= score <= 1:
        return confidence, float(score)
    return confidence, DEFAULT_SCORES[confidence]
