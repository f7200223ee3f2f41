"""Secrets are taken out of a graph and of what sources say before anything is stored.

The texts of a whole graph are looked at in one go, which costs little where there is nothing to
find; only then is each text looked at alone, so that a finding never reaches beyond its own text.
"""

from collections.abc import Sequence

import msgspec

from agentic_os.aggregate.graph_values import Graph
from agentic_os.code.values import SourceFacts
from agentic_os.text.redaction import Redactor

REDACTED_CODE = "GRAPH_SECRET_REDACTED"
_MASK = "redacted"


def redacted_graph(graph: Graph, redactor: Redactor) -> Graph:
    """Return the graph without secrets in labels, ids, words and paths; ``counts`` says how many.

    A path that held one leads nowhere any more: what it names is the graph's word alone.
    """
    texts = [text for node in graph.nodes for text in (node.key, node.label)]
    texts += [text for item in graph.hyperedges for text in (item.key, item.label)]
    # The words of edges are few, and said again and again.
    words = {text for edge in graph.edges for text in (edge.relation, edge.context)}
    words |= {item.relation for item in graph.hyperedges}
    texts += sorted(words)
    places = {item.path for part in (graph.nodes, graph.edges, graph.hyperedges) for item in part}
    texts += sorted(places)
    if not _suspicious(texts, redactor):
        return graph
    cleaned = {place: _clean(place, redactor) for place in places}
    path_of = {place: text for place, (text, _) in cleaned.items()}
    count = sum(found for _, found in cleaned.values())
    nodes = []
    for position, node in enumerate(graph.nodes):
        key, in_key = _clean(node.key, redactor)
        label, in_label = _clean(node.label, redactor)
        count += in_key + in_label
        if in_key:
            # Ids tell nodes apart: what is left of two must not become one.
            key = f"{_MASK}:{position}"
        path = path_of[node.path]
        changed = in_key or in_label or path != node.path
        nodes.append(
            msgspec.structs.replace(node, key=key, label=label, path=path) if changed else node
        )
    said = {word: _clean(word, redactor) for word in words}
    edges = []
    for edge in graph.edges:
        relation, in_relation = said[edge.relation]
        context, in_context = said[edge.context]
        count += in_relation + in_context
        path = path_of[edge.path]
        changed = in_relation or in_context or path != edge.path
        edges.append(
            msgspec.structs.replace(edge, relation=relation, context=context, path=path)
            if changed
            else edge
        )
    hyperedges = []
    for item in graph.hyperedges:
        key, in_key = _clean(item.key, redactor)
        label, in_label = _clean(item.label, redactor)
        relation, in_relation = said[item.relation]
        count += in_key + in_label + in_relation
        hyperedges.append(
            msgspec.structs.replace(
                item, key=key, label=label, relation=relation, path=path_of[item.path]
            )
        )
    counts = dict(sorted({**graph.counts, REDACTED_CODE: count}.items()))
    return msgspec.structs.replace(
        graph, nodes=nodes, edges=edges, hyperedges=hyperedges, counts=counts
    )


def redacted_facts(facts: SourceFacts, redactor: Redactor) -> SourceFacts:
    """Return what a source says without requests, routes and imports that hold a secret."""
    texts = [text for call in facts.calls for text in (call.path, call.host)]
    texts += [route.path for route in facts.routes]
    texts += [item.module for item in facts.imports]
    if not _suspicious(texts, redactor):
        return facts

    def is_clean(*parts: str) -> bool:
        return not any(_clean(part, redactor)[1] for part in parts)

    return msgspec.structs.replace(
        facts,
        calls=tuple(call for call in facts.calls if is_clean(call.path, call.host)),
        routes=tuple(route for route in facts.routes if is_clean(route.path)),
        # Uses point at imports by position: the import stays, without its module.
        imports=tuple(
            item if is_clean(item.module) else msgspec.structs.replace(item, module="")
            for item in facts.imports
        ),
    )


def _suspicious(texts: Sequence[str], redactor: Redactor) -> bool:
    whole = "\n".join(text.replace("\n", " ") for text in texts)
    return bool(redactor.redact(whole).findings)


def _clean(text: str, redactor: Redactor) -> tuple[str, int]:
    done = redactor.redact(text)
    return done.text, len(done.findings)
