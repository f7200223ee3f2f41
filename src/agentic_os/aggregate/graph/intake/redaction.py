"""Secrets are taken out of a graph and of what sources say before anything is stored.

The texts of a whole graph are looked at in one go, which costs little where there is nothing to
find; only then is each text looked at alone, so that a finding never reaches beyond its own text.
"""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from agentic_os.aggregate.graph.codes import REDACTED_CODE
from agentic_os.aggregate.graph.values import Graph
from agentic_os.code.manifests.values import Manifest
from agentic_os.code.values import SourceFacts
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.text.secrets.values_of import texts_of

_MASK = "redacted"

_T = TypeVar("_T")
_S = TypeVar("_S", bound=msgspec.Struct)


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
    """Return what a source says without its parts that hold a secret.

    They are left out rather than masked: two masks are equal, and would be taken for one name.
    What others point at by position (symbols, imports) stays, with empty texts.
    """
    secrets = _secrets(facts, redactor)
    if not secrets:
        return facts

    def kept(items: "tuple[_T, ...]") -> "tuple[_T, ...]":
        return tuple(item for item in items if secrets.isdisjoint(texts_of(item)))

    return msgspec.structs.replace(
        facts,
        package="" if facts.package in secrets else facts.package,
        symbols=tuple(_emptied(item, secrets) for item in facts.symbols),
        imports=tuple(_emptied(item, secrets) for item in facts.imports),
        bindings=kept(facts.bindings),
        uses=kept(facts.uses),
        package_uses=kept(facts.package_uses),
        exports=None if facts.exports is None else kept(facts.exports),
    )


def redacted_manifest(manifest: Manifest, redactor: Redactor) -> Manifest:
    """Return what a manifest says without the packages, dependencies and so on with a secret."""
    secrets = _secrets(manifest, redactor)
    if not secrets:
        return manifest

    def kept(items: "tuple[_T, ...]") -> "tuple[_T, ...]":
        return tuple(item for item in items if secrets.isdisjoint(texts_of(item)))

    return msgspec.structs.replace(
        manifest,
        packages=kept(manifest.packages),
        dependencies=kept(manifest.dependencies),
        source_roots=kept(manifest.source_roots),
        entries=kept(manifest.entries),
        local_prefixes=kept(manifest.local_prefixes),
    )


def holds_secret(text: str, redactor: Redactor) -> bool:
    """Whether a name or path holds a secret."""
    return bool(_clean(text, redactor)[1])


def _secrets(value: msgspec.Struct, redactor: Redactor) -> frozenset[str]:
    """Return the texts anywhere in a value that hold a secret."""
    texts = sorted(set(texts_of(value)))
    if not _suspicious(texts, redactor):
        return frozenset()
    return frozenset(text for text in texts if _clean(text, redactor)[1])


def _emptied(item: _S, secrets: frozenset[str]) -> _S:
    held = {
        name: ""
        for name in item.__struct_fields__
        if isinstance(text := getattr(item, name), str) and text in secrets
    }
    return msgspec.structs.replace(item, **held) if held else item


def _suspicious(texts: Sequence[str], redactor: Redactor) -> bool:
    whole = "\n".join(text.replace("\n", " ") for text in texts)
    return bool(redactor.redact(whole).findings)


def _clean(text: str, redactor: Redactor) -> tuple[str, int]:
    done = redactor.redact(text)
    return done.text, len(done.findings)
