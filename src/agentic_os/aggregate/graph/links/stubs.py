"""R2b: no source can be read, but the graph names an external module as one provider's file.

Stub ids are lossy (dots and underscores are one, case is folded), so the most this gives is
INFERRED. Where the consumer's source was read, its imports say more and this rule is silent.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from agentic_os.aggregate.graph.links.code import ProjectCode, Stub
from agentic_os.aggregate.graph.links.edges import (
    RULE_STUB,
    STUB_ONLY,
    UNDECLARED,
    EdgeCollector,
    Endpoint,
)
from agentic_os.aggregate.graph.links.packages import DeclaredLinks
from agentic_os.code.layout import GENERIC_NAMES
from agentic_os.code.reading import language_family
from agentic_os.code.standard_names import STANDARD_IDS, graph_id

_IMPORTS = {"imports", "imports_from"}


def stub_edges(
    codes: Sequence[ProjectCode],
    consumers: Sequence[ProjectCode],
    links: DeclaredLinks,
    collector: EdgeCollector,
    only: Mapping[str, AbstractSet[str]] = MappingProxyType({}),
) -> None:
    """Derive R2b for every file that the graph knows and nobody could read.

    Of the projects in ``only``, for these files alone.
    """
    unread = [code for code in consumers if not all(code.files.values())]
    stubs = {code.project: code.source.stubs() for code in unread}
    if not any(stubs.values()):
        return
    providers: dict[tuple[str, str], list[tuple[ProjectCode, str, str]]] = {}
    for code in codes:
        for provided in code.python_modules.values():
            key = ("python", graph_id(provided.module))
            providers.setdefault(key, []).append((code, provided.path, provided.package))
    for code in unread:
        chosen = only.get(code.project)
        found = [one for one in stubs[code.project] if chosen is None or one.path in chosen]
        _project(code, found, links, collector, providers)


def _project(
    code: ProjectCode,
    stubs: Sequence[Stub],
    links: DeclaredLinks,
    collector: EdgeCollector,
    providers: dict[tuple[str, str], list[tuple[ProjectCode, str, str]]],
) -> None:
    own = {graph_id(module.partition(".")[0]) for module in code.python_modules}
    for stub in stubs:
        if stub.relation not in _IMPORTS or code.files.get(stub.path, True):
            continue
        family = language_family(stub.path)
        found = [item for item in providers.get((family, stub.key), ()) if item[0] is not code]
        top = stub.key.partition("_")[0]
        if not found or stub.key in STANDARD_IDS or top in STANDARD_IDS:
            continue
        node = code.nodes.file(stub.path)
        source = Endpoint(code=code, path=stub.path, line=stub.line, node=node)
        others = [item[0] for item in found]
        if top in own or stub.key in own:
            collector.miss(source, RULE_STUB, "LOCAL_SHADOW", stub.key, others)
            continue
        if top in GENERIC_NAMES:
            collector.miss(source, RULE_STUB, "GENERIC_NAME", stub.key, others)
            continue
        if len(found) > 1:
            collector.miss(source, RULE_STUB, "SEVERAL_PROVIDERS", stub.key, others)
            continue
        provider, path, package = found[0]
        declared = links.holds(code.project, provider.project, "python", package)
        collector.link(
            source,
            Endpoint(code=provider, path=path, line=1, node=provider.nodes.file(path)),
            relation="imports",
            rule=RULE_STUB,
            verdict=UNDECLARED if declared else STUB_ONLY,
            detail=stub.key,
        )
