"""The values that every surface shares.

One service function answers one question; the command line, the MCP server and any
page render the same value (design section 3). Everything here is frozen and holds only
JSON-ready fields: ``msgspec`` encodes it and the published JSON Schemas are generated
from it. Paths below a project are relative and POSIX. Absolute paths appear only in
``ProjectView``, ``RootView``, ``Checkout``, ``GrantData`` and ``Place``, which the command line
alone prints.
"""

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Severity = Literal["info", "warning", "error"]
Kind = Literal["memory", "index", "vault", "capability", "graph", "code", "document"]
SearchMode = Literal["auto", "lexical", "semantic", "hybrid"]
SurfaceState = Literal["present", "missing", "refused", "unset"]
CapabilitySection = Literal["skill", "mcp", "hook"]
CheckStatus = Literal["ok", "warn", "fail"]

KINDS: tuple[Kind, ...] = ("memory", "index", "vault", "capability", "graph", "code", "document")
MODES: tuple[SearchMode, ...] = ("auto", "lexical", "semantic", "hybrid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """Something a reader noticed and survived.

    ``path`` is relative to the project (or root) it belongs to; ``line`` counts from 1.
    """

    code: str
    severity: Severity
    message: str
    hint: str = ""
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """Something left out of an answer, never silently.

    ``scope`` names what was cut (a project id, a root, a surface), ``count`` how many
    items of it (1 when the scope itself is the item).
    """

    code: str
    scope: str
    reason: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a line came from: project, file, lines, bytes, branch and commit."""

    project: str
    path: str
    lines: tuple[int, int]
    sha256: str
    branch: str | None = None
    commit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """One surface that a descriptor declares: its relative path (or endpoint) and its state."""

    path: str
    state: SurfaceState


@dataclass(frozen=True, slots=True, kw_only=True)
class Surfaces:
    """The four surfaces of a project; ``None`` where its stack has none."""

    memory: Surface | None = None
    vault: Surface | None = None
    graph: Surface | None = None
    rag: Surface | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """One working copy of a project."""

    path: str
    kind: Literal["main", "worktree", "clone", "plain"]
    chosen: bool
    branch: str | None = None
    commit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectView:
    """A project as ``scan`` prints it. ``path`` and ``root`` are absolute: command line only."""

    id: str
    name: str
    path: str
    root: str
    layout: str
    contract_version: int | None
    stack: str | None
    tier: int | None
    retrieval: bool
    surfaces: Surfaces
    language: str | None = None
    description: str | None = None
    branch: str | None = None
    commit: str | None = None
    aliases: tuple[str, ...] = ()
    checkouts: tuple[Checkout, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RootView:
    """One root that was walked: how much was seen and which bounds were hit."""

    path: str
    folders: int
    projects: int
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanData:
    """Answer of ``scan``."""

    projects: tuple[ProjectView, ...]
    roots: tuple[RootView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantView:
    """Leave to ask one project's own engine, and whether it still holds.

    ``void``: the project names another endpoint now, ``named``; ``unknown``: no project of the
    fleet has this id.
    """

    project: str
    endpoint: str
    state: Literal["valid", "void", "unknown"]
    named: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RootsData:
    """Answer of ``roots list``: what is configured and where it is written."""

    file: str | None
    roots: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    changed: bool = False
    grants: tuple[GrantView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantData:
    """Answer of ``roots grant``: what would be run or reached, and what was written.

    ``endpoint`` is the exact string of the project's descriptor, ``None`` where it names none.
    A command has ``words``, the ``program`` that they mean here, and the ``folder`` it runs in;
    an address has ``url``.
    """

    project: str
    name: str
    endpoint: str | None
    form: Literal["command", "address", "none"]
    granted: bool
    changed: bool
    words: tuple[str, ...] = ()
    program: str | None = None
    folder: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateData:
    """Answer of ``aggregate``: what the store holds now and what this run did.

    ``files`` are those of memory, vault and inventory; graphs, and the sources that edges
    between projects (``graph_links``) are derived from, are counted apart.
    """

    projects: int
    facts: int
    notes: int
    capabilities: int
    files: int
    files_read: int
    files_removed: int
    redactions: int
    equal_groups: int
    graph_nodes: int
    graph_edges: int
    graph_links: int
    graph_files_read: int
    generation: int
    store_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossLink:
    """A fact of one project that names another project of the fleet."""

    target: str
    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FactView:
    """One fact, or one prose section of a MEMORY.md, with its provenance.

    ``listed`` says whether MEMORY.md links it; ``template`` that nobody filled it in;
    ``group`` is the hash of its normalised text, equal for equal facts.
    """

    provenance: Provenance
    kind: Literal["fact", "index"]
    title: str
    description: str
    type: str
    text: str
    listed: bool
    template: bool
    group: str
    equal_in: tuple[str, ...] = ()
    links: tuple[CrossLink, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryData:
    """Answer of ``memory``: the union, every fact with its provenance."""

    facts: tuple[FactView, ...]
    total: int
    templates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedValue:
    """One value that one or more places state for a key."""

    value: str
    sources: tuple[Provenance, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A key that two or more projects state with different values; none is preferred."""

    key: str
    values: tuple[StatedValue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferencesData:
    """Answer of ``memory --differences``."""

    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLink:
    """A wikilink of a note; ``path`` is the note it resolves to, if any."""

    target: str
    path: str | None
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteView:
    """One vault note: its title, headings, tags and links."""

    provenance: Provenance
    title: str
    headings: tuple[str, ...]
    tags: tuple[str, ...]
    links: tuple[NoteLink, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultData:
    """Answer of ``vault``."""

    notes: tuple[NoteView, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityVariant:
    """One wording of a capability and the projects that have it so."""

    detail: str
    sources: tuple[Provenance, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityView:
    """A skill, MCP server or hook and the projects that have it."""

    section: CapabilitySection
    name: str
    projects: tuple[str, ...]
    variants: tuple[CapabilityVariant, ...]
    invocations: tuple[CapabilityVariant, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the projects word or invoke it differently."""
        said = {variant.detail for variant in (*self.variants, *self.invocations)}
        return len(said) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilitiesData:
    """Answer of ``capabilities``: the inverted inventory."""

    capabilities: tuple[CapabilityView, ...]
    counts: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One passage that answers a query (design section 8)."""

    project: str
    name: str
    kind: Kind
    tier: int | None
    path: str
    lines: tuple[int, int]
    snippet: str
    score: float
    sha256: str
    confirmed: bool
    indexed_at: str
    stale: bool
    symbol: str | None = None
    branch: str | None = None
    commit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFailure:
    """A project whose evidence could not be read."""

    project: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What an answer was computed from: searched and failed projects, surfaces, gaps.

    ``surfaces`` counts the projects that contributed each surface; ``unindexed`` counts
    documents that the store or the index does not hold yet.
    """

    projects_searched: int
    projects_failed: tuple[ProjectFailure, ...] = ()
    surfaces: dict[str, int]
    embedder: str | None = None
    unindexed: int = 0
    stale: bool = False
    relaxed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRank:
    """How strongly one project answers a query (``search --projects-only``)."""

    project: str
    name: str
    hits: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceTrace:
    """What one surface of one project did for a query (``search --explain``)."""

    project: str
    surface: str
    tier: int | None
    hits: int
    milliseconds: float
    missing: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A passage that a synthesised answer rests on; ``number`` is how the answer cites it."""

    number: int
    project: str
    path: str
    lines: tuple[int, int]
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisData:
    """What a language model made of confirmed passages (``search --synthesize``).

    ``text`` cites passages as ``[number]``, each of which is in ``citations``; citations of
    passages that do not exist became ``[?]`` and are counted in ``invented``. ``uncited`` counts
    the sentences that cite nothing. ``text`` is ``None`` where there is no answer: ``missing``
    says why, and ``code`` is ``NO_PROVIDER``, ``NO_PASSAGES``, ``NOT_ANSWERED``, ``NOT_CITED``, or
    begins with ``MODEL_`` where the provider failed.
    """

    text: str | None
    provider: str | None
    citations: tuple[Citation, ...] = ()
    invented: int = 0
    uncited: int = 0
    passages: int = 0
    missing: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchData:
    """Answer of ``search``.

    ``total`` counts the passages found, or the projects where these are ranked (``projects``)
    instead. ``synthesis`` is there where a language model was to answer.
    """

    query: str
    total: int
    hits: tuple[Hit, ...]
    coverage: Coverage
    projects: tuple[ProjectRank, ...] = ()
    explain: tuple[SurfaceTrace, ...] = ()
    synthesis: SynthesisData | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelView:
    """One embedding model on the shelf; ``selected`` where it is the one that would be opened.

    ``state`` is ``damaged`` where it cannot be used; then only ``folder`` is sure. ``verified``
    says that every byte was hashed just now, not only the lengths looked at.
    """

    folder: str
    state: Literal["sound", "damaged"]
    selected: bool
    verified: bool
    name: str | None = None
    fingerprint: str | None = None
    backend: str | None = None
    dimension: int | None = None
    max_tokens: int | None = None
    source: str | None = None
    licence: str | None = None
    prepared_at: str | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsData:
    """Answer of ``model list``."""

    models: tuple[ModelView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedModelData:
    """Answer of ``model prepare``; ``already`` where the model was there and sound before."""

    model: ModelView
    already: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBuildData:
    """Answer of ``index build``: what the semantic index holds now and what this run did.

    ``embedded`` counts texts whose vector was not known; ``embedding_seconds`` is the share of
    ``seconds`` that the model took. ``corpus_files`` are sources and documents, ``left_out``
    counts those that were not taken, by code.
    """

    model: str
    fingerprint: str
    projects: int
    projects_changed: int
    projects_removed: int
    chunks: int
    embedded: int
    embedding_seconds: float
    seconds: float
    corpus_files: int
    corpus_files_read: int
    left_out: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatusData:
    """Answer of ``index status``.

    ``state`` is ``none`` where there is no index, ``changed`` where it was made by another
    embedder than the one chosen now. ``files_behind`` counts files that are not in the index as
    they are in the store, ``projects_behind`` the projects that have some; ``rows_scanned`` are
    rows that came after the vector index was trained. ``fingerprint`` is the index's own.
    """

    state: Literal["none", "sound", "changed", "damaged"]
    rows: int
    projects: int
    files_behind: int
    projects_behind: tuple[str, ...]
    bytes: int
    model: str | None = None
    fingerprint: str | None = None
    vector_index: bool = False
    rows_scanned: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOptimizeData:
    """Answer of ``index optimize``."""

    rows: int
    bytes_before: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of ``doctor``: an id, a status, and what to do."""

    id: str
    status: CheckStatus
    message: str
    hint: str = ""
    project: str | None = None
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorData:
    """Answer of ``doctor``."""

    checks: tuple[Check, ...]
    counts: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place on disk that the tool uses, and the variable that moves it."""

    name: str
    path: str
    variable: str
    exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PathsData:
    """Answer of ``paths``."""

    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeData:
    """Answer of ``purge``: the spaces that were deleted."""

    spaces: tuple[str, ...]
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorView:
    """An error as the JSON document carries it."""

    code: str
    message: str
    hint: str = ""


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope(Generic[T]):
    """The one document that ``--json`` prints: ``schema`` is ``agentic-os/<command>/v1``."""

    schema: str
    data: T | None
    omissions: tuple[Omission, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    error: ErrorView | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T]):
    """What a service function returns: the data, what was left out, and what was noticed.

    ``incomplete`` is true only where evidence that was asked for could not be read
    (design decision 13: exit 2).
    """

    data: T
    omissions: tuple[Omission, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    incomplete: bool = False


DOCUMENTS: dict[str, type] = {
    "scan": ScanData,
    "scan-project": ProjectView,
    "roots-list": RootsData,
    "roots-add": RootsData,
    "roots-remove": RootsData,
    "roots-grant": GrantData,
    "aggregate": AggregateData,
    "memory": MemoryData,
    "memory-differences": DifferencesData,
    "vault": VaultData,
    "capabilities": CapabilitiesData,
    "search": SearchData,
    "doctor": DoctorData,
    "doctor-check": Check,
    "paths": PathsData,
    "purge": PurgeData,
    "index-build": IndexBuildData,
    "index-status": IndexStatusData,
    "index-optimize": IndexOptimizeData,
    "model-list": ModelsData,
    "model-prepare": PreparedModelData,
}
"""What ``data`` is in the document of each command; the published JSON Schemas follow it."""
