"""The scopes of a search: which there are under a memory choice, and how each is run."""

from typing import Protocol

from agentic_os.aios.folder.allowance import Charges
from agentic_os.aios.folder.eligibility import is_markdown, is_plugin_text
from agentic_os.aios.projects.selection import PortableIdentity
from agentic_os.aios.search.context import PhaseCharges, ScopeOutcome, SearchContext
from agentic_os.aios.search.markdown import MarkdownCorpus, MarkdownFolder
from agentic_os.aios.search.memory import MemoryScope
from agentic_os.aios.search.sessions import SessionScope
from agentic_os.aios.search.values import PROJECT_SCOPES, SHARED_SCOPES, SearchScope


class ScopeSearch(Protocol):
    """One scope in its phases."""

    def inspect(self, charges: PhaseCharges) -> None:
        """Find and measure what the scope holds."""
        ...

    def discover(self, charges: PhaseCharges) -> None:
        """Read what only its content can measure."""
        ...

    def execute(self, charges: Charges) -> ScopeOutcome:
        """Read the rest, match and rank."""
        ...


class _MarkdownScope:
    """A scope that is one folder of Markdown."""

    def __init__(self, context: SearchContext, place: MarkdownFolder) -> None:
        self._corpus = MarkdownCorpus(context, place)

    def inspect(self, charges: PhaseCharges) -> None:
        self._corpus.inspect(charges)

    def discover(self, charges: PhaseCharges) -> None:
        """Discover nothing more: the walk measured every file."""

    def execute(self, charges: Charges) -> ScopeOutcome:
        return ScopeOutcome(hits=self._corpus.execute(charges), withheld=self._corpus.withheld)


class _EmptyScope:
    """A scope whose folder does not exist."""

    def inspect(self, charges: PhaseCharges) -> None:
        """Walk nothing: there is no folder."""

    def discover(self, charges: PhaseCharges) -> None:
        """Read nothing: there is no folder."""

    def execute(self, _charges: Charges) -> ScopeOutcome:
        return ScopeOutcome(hits=(), withheld=0)


def scopes_of(scope: SearchScope, identity: PortableIdentity | None) -> tuple[SearchScope, ...]:
    """Return the scopes to search; empty when the memory choice forbids the requested one."""
    if identity is None:
        return SHARED_SCOPES if scope == "all" else (scope,)
    if scope == "all":
        return PROJECT_SCOPES
    return (scope,) if scope in PROJECT_SCOPES else ()


def scope_search(scope: SearchScope, context: SearchContext) -> ScopeSearch:
    """Make the search of one scope; nothing is read yet."""
    if scope == "sessions":
        return SessionScope(context)
    if scope == "memory":
        return MemoryScope(context)
    reader, folder = context.reader, str(scope)
    if scope == "vault":
        if context.vault is None:
            return _EmptyScope()
        reader, folder = context.vault
    identity = context.identity
    if scope == "projects" and identity is not None:
        folder = identity.prefix.rstrip("/")
    place = MarkdownFolder(
        reader=reader,
        folder=folder,
        prefix=folder if scope == "projects" else scope,
        accepts=is_plugin_text if scope == "plugins" else is_markdown,
        project_id=None if identity is None else identity.id,
        evidence=scope in {"context", "projects"},
    )
    return _MarkdownScope(context, place)
