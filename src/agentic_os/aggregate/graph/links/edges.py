"""Edges between projects: the values, the words of the rules, the collector they write to.

Derived anew after each change from what the store holds, project by project in the order of
their ids, so that the result never depends on the order in which projects came. Guards that
every rule keeps (``docs/explanation/cross-repo-edges.md``):

- consumer and provider are two projects, of one language family;
- what the consumer provides itself is never another project's;
- names of the standard library and of the system are never a project's;
- a provider's file lies in a package root and not among tests, examples, fixtures or vendored
  code;
- several providers make an AMBIGUOUS edge, which no walk follows, never a hard one;
- an equal label alone links nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agentic_os.aggregate.graph.links.code import CodeNode, ProjectCode
from agentic_os.aggregate.graph.values import AMBIGUOUS, EXTRACTED, INFERRED
from agentic_os.code.values import UseKind

CERTAIN_SCORE = 1.0
RE_EXPORT_SCORE = 0.95
UNDECLARED_SCORE = 0.85
STUB_SCORE = 0.55
AMBIGUOUS_SCORE = 0.2
MAX_CANDIDATES_ENTRIES = 5
RULE_PACKAGE = "R1"
RULE_LOCATION = "R1b"
RULE_MODULE = "R2"
RULE_STUB = "R2b"
RULE_DIRECT = "R3"
RULE_RE_EXPORT = "R3b"
RULE_SEVERAL = "R3d"
RULES = (
    RULE_PACKAGE,
    RULE_LOCATION,
    RULE_MODULE,
    RULE_STUB,
    RULE_DIRECT,
    RULE_RE_EXPORT,
    RULE_SEVERAL,
)
"""The rules that make edges between projects (``docs/explanation/cross-repo-edges.md``)."""
DECLARED_RULES = (RULE_PACKAGE, RULE_LOCATION)
"""Those that read manifests alone."""
RELATIONS: Mapping[UseKind, str] = {
    "call": "calls",
    "inherits": "inherits",
    "reference": "references",
    "decorator": "references",
}

MAX_NEAR_ENTRIES = 1_000
"""Near-misses kept per project and rule; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossEdge:
    """One edge between two projects, with the evidence on both sides."""

    consumer: str
    provider: str
    source: CodeNode
    target: CodeNode
    relation: str
    rule: str
    confidence: str
    score: float
    consumer_path: str
    line: int
    provider_path: str
    provider_line: int
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """Something that was nearly linked, and why it was not.

    ``candidates`` are the projects that nearly provided it.
    """

    consumer: str
    rule: str
    code: str
    subject: str
    path: str
    line: int
    candidates: tuple[str, ...]
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One end of an edge: a file and line of a project, and the node there."""

    code: ProjectCode
    path: str
    line: int
    node: CodeNode | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How sure an edge is."""

    confidence: str
    score: float

    def capped(self, other: "Verdict") -> "Verdict":
        """Return the weaker of the two."""
        return self if self.score <= other.score else other


CERTAIN = Verdict(confidence=EXTRACTED, score=CERTAIN_SCORE)
RE_EXPORTED = Verdict(confidence=EXTRACTED, score=RE_EXPORT_SCORE)
UNDECLARED = Verdict(confidence=INFERRED, score=UNDECLARED_SCORE)
STUB_ONLY = Verdict(confidence=INFERRED, score=STUB_SCORE)
UNSURE = Verdict(confidence=AMBIGUOUS, score=AMBIGUOUS_SCORE)


@dataclass(slots=True)
class EdgeCollector:
    """Collects edges and near-misses; the surest of equals stays, bounds are counted.

    Attributes:
        edges: by what makes two of them one.
        near: the same.
        dropped: how many near-misses were not kept, by project and rule.
        kept: how many were, those included that stand from before.
        reads: the projects that the edges and near-misses of each project's files depend on;
            under an empty path, those that its manifests name.
    """

    edges: dict[tuple[object, ...], CrossEdge] = field(default_factory=dict)
    near: dict[tuple[object, ...], NearMiss] = field(default_factory=dict)
    dropped: dict[str, dict[str, int]] = field(default_factory=dict)
    reads: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    kept: dict[tuple[str, str], int] = field(default_factory=dict)

    def link(
        self,
        source: Endpoint,
        target: Endpoint,
        *,
        relation: str,
        rule: str,
        verdict: Verdict,
        detail: str,
    ) -> None:
        """Add an edge; one without a node at both ends is a near-miss (``NODE_MISSING``)."""
        if source.code.project == target.code.project:
            return
        self._reads(source, rule).add(target.code.project)
        if source.node is None or target.node is None:
            side = "consumer" if source.node is None else "provider"
            self.miss(
                source,
                rule,
                "NODE_MISSING",
                detail,
                (target.code,),
                f"the {side}'s graph has no node",
            )
            return
        edge = CrossEdge(
            consumer=source.code.project,
            provider=target.code.project,
            source=source.node,
            target=target.node,
            relation=relation,
            rule=rule,
            confidence=verdict.confidence,
            score=verdict.score,
            consumer_path=source.path,
            line=source.line,
            provider_path=target.path,
            provider_line=target.line,
            detail=detail,
        )
        key = (edge.source.nid, edge.target.nid, relation, rule, edge.line, detail)
        known = self.edges.get(key)
        if known is None or known.score < edge.score:
            self.edges[key] = edge

    def miss(
        self,
        source: Endpoint,
        rule: str,
        code: str,
        subject: str,
        others: Iterable[ProjectCode],
        detail: str = "",
    ) -> None:
        """Record a near-miss, up to ``MAX_NEAR_ENTRIES`` for each project and rule."""
        candidates = {item.project for item in others}
        self._reads(source, rule).update(candidates)
        owner = (source.code.project, rule)
        key = (*owner, code, subject, source.path, source.line)
        if key in self.near:
            return
        if self.kept.get(owner, 0) >= MAX_NEAR_ENTRIES:
            counts = self.dropped.setdefault(source.code.project, {})
            counts[rule] = counts.get(rule, 0) + 1
            return
        self.kept[owner] = self.kept.get(owner, 0) + 1
        self.near[key] = NearMiss(
            consumer=source.code.project,
            rule=rule,
            code=code,
            subject=subject,
            path=source.path,
            line=source.line,
            candidates=tuple(sorted(candidates)),
            detail=detail,
        )

    def _reads(self, source: Endpoint, rule: str) -> set[str]:
        path = "" if rule in DECLARED_RULES else source.path
        return self.reads.setdefault(source.code.project, {}).setdefault(path, set())
