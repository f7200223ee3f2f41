"""The values that every surface shares.

One service function answers one question; the command line, the MCP server and any
page render the same value (design section 3). Everything here is frozen and holds only
JSON-ready fields: ``msgspec`` encodes it and the published JSON Schemas are generated
from it. Paths below a project are relative and POSIX. Absolute paths appear only in
``ProjectView``, ``RootView``, ``Checkout``, ``GrantData``, ``SeamData`` and ``Place``, which the
command line alone prints.
"""

from typing import Generic, Literal, TypeVar

import msgspec

Severity = Literal["info", "warning", "error"]
Kind = Literal["memory", "index", "instruction", "vault", "capability", "graph", "code", "document"]
SearchMode = Literal["auto", "lexical", "semantic", "hybrid"]
SurfaceState = Literal["present", "missing", "refused", "unset"]
CapabilitySection = Literal["skill", "mcp", "hook", "agent", "command", "plugin"]
ImportState = Literal["found", "missing", "outside", "circle", "too far", "unreadable", "personal"]
CheckStatus = Literal["ok", "none", "warn", "fail"]

KINDS: tuple[Kind, ...] = (
    "memory",
    "index",
    "instruction",
    "vault",
    "capability",
    "graph",
    "code",
    "document",
)
MODES: tuple[SearchMode, ...] = ("auto", "lexical", "semantic", "hybrid")


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """Something a reader noticed and survived.

    ``path`` is relative to the project (or root) it belongs to; ``line`` counts from 1.
    """

    code: str
    severity: Severity
    message: str
    hint: str = ""
    path: str | None = None
    line: int | None = None


class Omission(msgspec.Struct, frozen=True, kw_only=True):
    """Something left out of an answer, never silently.

    ``scope`` names what was cut (a project id, a root, a surface), ``count`` how many
    items of it (1 when the scope itself is the item).
    """

    code: str
    scope: str
    reason: str
    count: int = 1


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a line came from: project, file, lines, bytes, branch and commit."""

    project: str
    path: str
    lines: tuple[int, int]
    sha256: str
    branch: str | None = None
    commit: str | None = None


class Surface(msgspec.Struct, frozen=True, kw_only=True):
    """One surface that a descriptor declares: its relative path (or endpoint) and its state."""

    path: str
    state: SurfaceState


class Surfaces(msgspec.Struct, frozen=True, kw_only=True):
    """The four surfaces of a project; ``None`` where its stack has none."""

    memory: Surface | None = None
    vault: Surface | None = None
    graph: Surface | None = None
    rag: Surface | None = None


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    """One working copy of a project."""

    path: str
    kind: Literal["main", "worktree", "clone", "plain"]
    chosen: bool
    branch: str | None = None
    commit: str | None = None


class ProjectView(msgspec.Struct, frozen=True, kw_only=True):
    """A project as ``scan`` prints it. ``path`` and ``root`` are absolute: command line only.

    ``described`` is false where a person took the folder in without a descriptor; ``found`` are
    then the files and folders for agents in it, and ``bare`` says that there are none.
    """

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
    described: bool = True
    bare: bool = False
    found: tuple[str, ...] = ()


class RootView(msgspec.Struct, frozen=True, kw_only=True):
    """One root that was walked: how much was seen and which bounds were hit.

    ``pruned`` counts the folders of dependencies, builds and caches that were passed over.
    ``passed_over`` counts the repositories without a descriptor that were not taken in,
    ``passed_over_with_files`` those of them that hold files for agents.
    """

    path: str
    folders: int
    projects: int
    pruned: int = 0
    passed_over: int = 0
    passed_over_with_files: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()


class ScanData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``scan``."""

    projects: tuple[ProjectView, ...]
    roots: tuple[RootView, ...]


class GrantView(msgspec.Struct, frozen=True, kw_only=True):
    """Leave to ask one project's own engine, and whether it still holds.

    ``void``: the project names another endpoint now, ``named``; ``unknown``: no project of the
    fleet has this id.
    """

    project: str
    endpoint: str
    state: Literal["valid", "void", "unknown"]
    named: str | None = None


class RootsData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``roots list``: what is configured and where it is written.

    ``adopted`` are the roots below which repositories without a descriptor are taken in.
    """

    file: str | None
    roots: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    changed: bool = False
    grants: tuple[GrantView, ...] = ()
    adopted: tuple[str, ...] = ()


class GrantData(msgspec.Struct, frozen=True, kw_only=True):
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


class SeamName(msgspec.Struct, frozen=True, kw_only=True):
    """A name at the top of a project, and what becomes of it."""

    path: str
    state: str


class SeamData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``seam add``: what project-init is told, and what it writes.

    ``program`` is what the first word means here, ``None`` where it is not installed.
    ``fingerprint`` approves exactly this plan.
    """

    project: str
    folder: str
    words: tuple[str, ...]
    program: str | None
    writes: tuple[SeamName, ...]
    fingerprint: str
    applied: bool


class AggregateData(msgspec.Struct, frozen=True, kw_only=True):
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


class CrossLink(msgspec.Struct, frozen=True, kw_only=True):
    """A fact of one project that names another project of the fleet."""

    target: str
    text: str
    line: int


class NoteLink(msgspec.Struct, frozen=True, kw_only=True):
    """A wikilink of a note or a fact; ``path`` is the file it resolves to, if any."""

    target: str
    path: str | None
    line: int


class FactView(msgspec.Struct, frozen=True, kw_only=True):
    """One fact, or one prose section of a MEMORY.md, with its provenance.

    ``listed`` says whether MEMORY.md links it; ``template`` that nobody filled it in;
    ``group`` is the hash of its normalised text, equal for equal facts; ``wikilinks`` are its
    links to other facts of its project, by the path of the fact that each of them means.
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
    wikilinks: tuple[NoteLink, ...] = ()


class MemoryData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``memory``: the union, every fact with its provenance."""

    facts: tuple[FactView, ...]
    total: int
    templates: int


class StatedValue(msgspec.Struct, frozen=True, kw_only=True):
    """One value that one or more places state for a key."""

    value: str
    sources: tuple[Provenance, ...]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A key that two or more projects state with different values; none is preferred."""

    key: str
    values: tuple[StatedValue, ...]


class DifferencesData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``memory --differences``."""

    differences: tuple[Difference, ...]


class NoteView(msgspec.Struct, frozen=True, kw_only=True):
    """One vault note: its title, headings, tags and links."""

    provenance: Provenance
    title: str
    headings: tuple[str, ...]
    tags: tuple[str, ...]
    links: tuple[NoteLink, ...]


class VaultData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``vault``."""

    notes: tuple[NoteView, ...]
    total: int


class ImportView(msgspec.Struct, frozen=True, kw_only=True):
    """One ``@path`` import of an instruction file, and where it leads."""

    path: str
    line: int
    target: str
    state: ImportState


class InstructionFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file that tells agents how to work in a project.

    ``folder`` is the folder that it governs, ``patterns`` the files that it is for; ``activation``
    says when a harness loads it. A ``pointer`` only names another file; ``same_as`` are other names
    of the same text.
    """

    project: str
    path: str
    harness: str
    form: str
    folder: str
    activation: Literal["always", "paths", "asked", "manual"]
    patterns: tuple[str, ...]
    description: str
    lines: int
    chars: int
    bytes: int
    pointer: bool
    same_as: tuple[str, ...] = ()


class HarnessFiles(msgspec.Struct, frozen=True, kw_only=True):
    """What one harness loads, in its order; ``cut`` are the files that it does not read whole."""

    project: str
    harness: str
    files: tuple[str, ...]
    cut: tuple[str, ...] = ()


class InstructionsData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``instructions``; ``harnesses`` is for the path ``target`` of each project."""

    files: tuple[InstructionFile, ...]
    target: str | None
    harnesses: tuple[HarnessFiles, ...]
    imports: tuple[ImportView, ...] = ()


class CapabilityCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many capabilities of each kind one project has."""

    project: str
    name: str
    counts: dict[str, int]


class CapabilityMatrixData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``capabilities --matrix``."""

    projects: tuple[CapabilityCount, ...]


class CapabilityVariant(msgspec.Struct, frozen=True, kw_only=True):
    """One wording of a capability and the projects that have it so."""

    detail: str
    sources: tuple[Provenance, ...]


class CapabilityView(msgspec.Struct, frozen=True, kw_only=True):
    """A skill, MCP server or hook and the projects that have it."""

    section: CapabilitySection
    name: str
    projects: tuple[str, ...]
    variants: tuple[CapabilityVariant, ...]
    invocations: tuple[CapabilityVariant, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the projects word it, or wire it, differently."""
        return len(self.variants) > 1 or len(self.invocations) > 1


class CapabilitiesData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``capabilities``: the inverted inventory."""

    capabilities: tuple[CapabilityView, ...]
    counts: dict[str, int]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One passage that answers a query (design section 8).

    ``relevance`` says how likely it answers, between 0 and 1, whatever its rank.
    ``also`` are the other places, ``project:path:line``, where the same instruction stands.
    """

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
    relevance: float = 0.0
    also: tuple[str, ...] = ()


class ProjectFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A project whose evidence could not be read."""

    project: str
    code: str
    message: str


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer was computed from: searched and failed projects, surfaces, gaps.

    ``surfaces`` counts the projects that contributed each surface; ``kinds`` are those that were
    asked, of which some project has anything; ``unindexed`` counts documents that the store or the
    index does not hold yet; ``left_out`` are words of the question that were not asked for.
    """

    projects_searched: int
    projects_failed: tuple[ProjectFailure, ...] = ()
    surfaces: dict[str, int]
    kinds: tuple[Kind, ...] = ()
    embedder: str | None = None
    unindexed: int = 0
    stale: bool = False
    relaxed: bool = False
    left_out: tuple[str, ...] = ()


class ProjectRank(msgspec.Struct, frozen=True, kw_only=True):
    """How strongly one project answers a query (``search --projects-only``)."""

    project: str
    name: str
    hits: int
    score: float


class SurfaceTrace(msgspec.Struct, frozen=True, kw_only=True):
    """What one surface of one project did for a query (``search --explain``)."""

    project: str
    surface: str
    tier: int | None
    hits: int
    milliseconds: float
    missing: str | None = None


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that a synthesised answer rests on; ``number`` is how the answer cites it."""

    number: int
    project: str
    path: str
    lines: tuple[int, int]
    sha256: str


class SynthesisData(msgspec.Struct, frozen=True, kw_only=True):
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


class SearchData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``search``.

    ``total`` counts the passages found, or the projects where these are ranked (``projects``)
    instead. ``synthesis`` is there where a language model was to answer. ``nothing_found``: no
    passage is relevant enough to be called an answer; ``near`` are then words of the passages that
    were asked which are spelled nearly like words of the question.
    """

    query: str
    total: int
    hits: tuple[Hit, ...]
    coverage: Coverage
    projects: tuple[ProjectRank, ...] = ()
    explain: tuple[SurfaceTrace, ...] = ()
    nothing_found: bool = False
    near: tuple[str, ...] = ()
    synthesis: SynthesisData | None = None


class ModelView(msgspec.Struct, frozen=True, kw_only=True):
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


class ModelsData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``model list``."""

    models: tuple[ModelView, ...]


class PreparedModelData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``model prepare``; ``already`` where the model was there and sound before."""

    model: ModelView
    already: bool


class IndexBuildData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``index build``: what the semantic index holds now and what this run did.

    ``embedded`` counts texts whose vector was not known, ``resumed`` those that a run embedded
    which was interrupted; ``embedding_seconds`` is the share of ``seconds`` that the model took.
    ``corpus_files`` are sources and documents, ``left_out``
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
    resumed: int = 0


class LeftOutView(msgspec.Struct, frozen=True, kw_only=True):
    """A file, or a whole folder (ends in ``/``), that the index leaves out, and why."""

    project: str
    path: str
    reason: str


class IndexStatusData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``index status``.

    ``state`` is ``none`` where there is no index, ``changed`` where it was made by another
    embedder than the one chosen now. ``files_behind`` counts files that are not in the index as
    they are in the store, ``projects_behind`` the projects that have some; ``rows_scanned`` are
    rows that came after the vector index was trained. ``fingerprint`` is the index's own.
    ``left_out`` lists what was left out of the projects whose code is indexed; ``None`` where
    nobody looked.
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
    left_out: tuple[LeftOutView, ...] | None = None


class IndexOptimizeData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``index optimize``."""

    rows: int
    bytes_before: int
    bytes: int


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check of ``doctor``: an id, a status, and what to do."""

    id: str
    status: CheckStatus
    message: str
    hint: str = ""
    project: str | None = None
    path: str | None = None
    line: int | None = None


class DoctorData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``doctor``."""

    checks: tuple[Check, ...]
    counts: dict[str, int]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One place on disk that the tool uses, and the variable that moves it."""

    name: str
    path: str
    variable: str
    exists: bool


class PathsData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``paths``."""

    places: tuple[Place, ...]


class Extra(msgspec.Struct, frozen=True, kw_only=True):
    """An extra of the installation; ``command`` adds it, and is empty if nobody knows how."""

    name: str
    use: str
    installed: bool
    command: str | None


class ExtrasData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``extras``."""

    extras: tuple[Extra, ...]


class PurgeData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``purge``: the spaces that were deleted, and with ``--all`` other folders."""

    spaces: tuple[str, ...]
    bytes: int
    folders: tuple[str, ...] = ()


class ErrorView(msgspec.Struct, frozen=True, kw_only=True):
    """An error as the JSON document carries it; ``path`` and ``line`` name the file at fault."""

    code: str
    message: str
    hint: str = ""
    path: str = ""
    line: int | None = None


T = TypeVar("T")


class Envelope(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """The one document that ``--json`` prints: ``schema`` is ``agentic-os/<command>/v1``."""

    schema: str
    data: T | None
    omissions: tuple[Omission, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    error: ErrorView | None = None


class Answer(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
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
    "seam-add": SeamData,
    "aggregate": AggregateData,
    "memory": MemoryData,
    "memory-differences": DifferencesData,
    "vault": VaultData,
    "capabilities": CapabilitiesData,
    "capabilities-matrix": CapabilityMatrixData,
    "instructions": InstructionsData,
    "search": SearchData,
    "doctor": DoctorData,
    "doctor-check": Check,
    "paths": PathsData,
    "extras": ExtrasData,
    "purge": PurgeData,
    "index-build": IndexBuildData,
    "index-status": IndexStatusData,
    "index-optimize": IndexOptimizeData,
    "model-list": ModelsData,
    "model-prepare": PreparedModelData,
}
"""What ``data`` is in the document of each command; the published JSON Schemas follow it."""
