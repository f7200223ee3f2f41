"""The values of a search: what was asked, the hits of each family, the whole answer."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from agentic_os.aios.folder.json_text import JsonObject
from agentic_os.aios.follow.references import SourceEvidence
from agentic_os.aios.policy import MemoryMode
from agentic_os.aios.search.matching import MatchKind
from agentic_os.aios.search.omissions import ScopeOmission
from agentic_os.aios.search.snippets import Snippet

SearchScope = Literal[
    "memory",
    "vault",
    "context",
    "projects",
    "decisions",
    "skills",
    "references",
    "plugins",
    "sessions",
    "all",
]

SCOPES: Final[tuple[SearchScope, ...]] = get_args(SearchScope)
SHARED_SCOPES: Final[tuple[SearchScope, ...]] = (
    "sessions",
    "context",
    "memory",
    "vault",
    "decisions",
    "skills",
    "references",
    "plugins",
)
"""What ``all`` means in shared memory, in order."""
PROJECT_SCOPES: Final[tuple[SearchScope, ...]] = ("sessions", "memory", "projects")
"""What ``all`` means in project memory, in order; no other scope is searched there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilters:
    """Filters of the sessions scope: agent, project tag, oldest ``captured_at``."""

    agent: str | None = None
    project: str | None = None
    since: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownHit:
    """A Markdown file (or plugin manifest) that matched, with its passages.

    ``source`` is relative to the AIOS folder, ``file`` to the scope's folder.
    """

    source: str
    file: str
    title: str
    matches: tuple[Snippet, ...]
    evidence: SourceEvidence | None

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        value: JsonObject = {
            "source": self.source,
            "file": self.file,
            "title": self.title,
            "matches": [snippet.as_json() for snippet in self.matches],
        }
        if self.evidence is not None:
            value["evidence"] = self.evidence.as_json()
        return value

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text of the folder that the hit shows."""
        return (self.title, *(snippet.content for snippet in self.matches))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHit:
    """A JSONL record that matched: in which field, and the record itself.

    ``score`` is the match's own, not the rank.
    """

    source: str
    matched_field: str
    value: str
    kind: MatchKind
    score: int
    record: JsonObject

    def as_json(self) -> JsonObject:
        """Return the JSON form; the record's own fields never replace the hit's."""
        own = self.matched_field != "summary"
        value: JsonObject = {
            "source": self.source,
            "match": {
                "field": self.matched_field,
                "value": self.value,
                "kind": self.kind,
                "score": self.score,
            },
            "matchedField": self.matched_field if own else None,
            "matchedSnippet": self.value if own else None,
        }
        return value | {key: item for key, item in self.record.items() if key not in value}

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text of the folder that the hit shows."""
        return (self.value,)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHit:
    """A captured session that matched, by its index row or by its text."""

    source: str
    file: str
    title: str
    agent: str | None
    date: str | None
    session_id: str | None
    project: str | None
    matches: tuple[Snippet, ...]
    conflict_of: str | None = None

    def as_json(self) -> JsonObject:
        """Return the JSON form, ``conflict_of`` only for a conflict copy."""
        value: JsonObject = {
            "source": self.source,
            "file": self.file,
            "title": self.title,
            "agent": self.agent,
            "date": self.date,
            "session_id": self.session_id,
            "project": self.project,
            "matches": [snippet.as_json() for snippet in self.matches],
        }
        if self.conflict_of is not None:
            value["conflict_of"] = self.conflict_of
        return value

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text of the folder that the hit shows."""
        return (self.title, *(snippet.content for snippet in self.matches))


SearchHit = MarkdownHit | MemoryHit | SessionHit


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeResults:
    """The hits of one scope that was searched whole."""

    scope: SearchScope
    hits: tuple[SearchHit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSelection:
    """The project that a search was narrowed to."""

    slug: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """The answer of a search.

    ``projects_omitted`` says that ``all`` left projects out for want of a selector;
    ``withheld`` counts hits and passages that hold a secret, ``hidden_characters`` the
    control, bidi and invisible characters of what is shown.
    """

    query: str
    scope: SearchScope
    memory: MemoryMode
    receipt: str
    notice: str | None
    selection: ProjectSelection | None
    projects_omitted: bool
    groups: tuple[ScopeResults, ...]
    omissions: tuple[ScopeOmission, ...]
    withheld: int
    hidden_characters: int

    @property
    def complete(self) -> bool:
        """Whether every requested scope was searched whole."""
        return not self.omissions

    @property
    def total(self) -> int:
        """How many hits there are."""
        return sum(len(group.hits) for group in self.groups)

    def selection_json(self) -> JsonObject | None:
        """Return how projects were selected, as the convention's documents say it."""
        if self.selection is not None:
            return {"project": self.selection.slug, "project_id": self.selection.id}
        return {"projects": "omitted"} if self.projects_omitted else None
