"""Projects of the catalog as values: identity, record, selection.

Pure rules (DotAIOS convention, projects): the alias of a project is its field ``project``
(older name ``slug``), its id ``id`` (older name ``project_id``); the excerpt is the body
without its leading title, at most 1,200 UTF-16 units.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from agentic_os.aios.folder.faults import (
    AMBIGUOUS_PROJECT,
    CATALOG_INVALID,
    SELECTOR_UNKNOWN,
    argument_fault,
    fault,
)
from agentic_os.aios.folder.front_matter import FrontMatter
from agentic_os.aios.folder.headings import without_empty_headings
from agentic_os.aios.folder.reader import SourceRead
from agentic_os.aios.folder.tree import PROJECTS, README
from agentic_os.text.budget import cut_utf16, utf16_length
from agentic_os.text.unicode_form import CONTROL

EXCERPT_CHARS: Final = 1200
"""UTF-16 units of a README's excerpt, the ellipsis included."""
SELECTOR_CHARS: Final = 200
"""Code points of a project selector."""

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_H1 = re.compile(r"#\s+(.+)")
_LEADING_H1 = re.compile(r"#\s+[^\n]+(?:\n|\Z)")
_BULLET = re.compile(r"[-*]\s")
_SCP = re.compile(r"[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:(?!/)[^\s]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectIdentity:
    """What selects a project and attributes rows to it."""

    slug: str
    alias: str
    id: str | None

    @property
    def names(self) -> frozenset[str]:
        """Slug, alias and id."""
        return frozenset(name for name in (self.slug, self.alias, self.id) if name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRecord:
    """A project's README as a projection shows it.

    ``excerpt_clipped`` says that the body was longer than the excerpt; ``read`` is the
    accepted read it came from, ``None`` for a project that is only a name.
    """

    identity: ProjectIdentity
    name: str
    status: str
    domains: tuple[str, ...]
    description: str
    repo_url: str | None
    excerpt: str
    excerpt_clipped: bool
    read: SourceRead | None

    @property
    def source(self) -> str:
        """The README's path, relative to the AIOS folder."""
        return f"{PROJECTS}/{self.identity.slug}/{README}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectScope:
    """The selected project and which of its names stand alone.

    ``unique_names`` are the names that no other project of the catalog has; ``id`` is
    ``None`` unless it is unique.
    """

    identity: ProjectIdentity
    unique_names: frozenset[str]
    id: str | None


def is_slug(name: str) -> bool:
    """Whether ``name`` is a valid project slug."""
    return _SLUG.fullmatch(name) is not None


def clean_selector(selector: str) -> str:
    """Trim and check a projection's project selector.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID when it is blank, too long or holds control
            characters.
    """
    trimmed = selector.strip()
    if not trimmed or len(selector) > SELECTOR_CHARS or CONTROL.search(selector):
        raise argument_fault(
            f"the project selector must be a slug or stable id of 1 to {SELECTOR_CHARS} "
            "characters without control characters"
        )
    return trimmed


def select_project(selector: str, identities: Sequence[ProjectIdentity]) -> ProjectScope:
    """Find the one project that answers to ``selector`` by id, slug or alias.

    Raises:
        AiosError: DOTAIOS_AMBIGUOUS_PROJECT or DOTAIOS_PROJECT_SELECTOR_UNKNOWN.
    """
    matches = [identity for identity in identities if selector in identity.names]
    if not matches:
        raise fault(SELECTOR_UNKNOWN)
    if len(matches) > 1:
        raise fault(AMBIGUOUS_PROJECT)
    selected = matches[0]
    others = [identity for identity in identities if identity is not selected]
    shared = {name for other in others for name in other.names}
    return ProjectScope(
        identity=selected,
        unique_names=selected.names - shared,
        id=selected.id if selected.id not in {other.id for other in others} else None,
    )


def bare_record(name: str) -> ProjectRecord:
    """Make the record of a project that the catalog does not know."""
    return ProjectRecord(
        identity=ProjectIdentity(slug=name, alias=name, id=None),
        name=name,
        status="",
        domains=(),
        description="",
        repo_url=None,
        excerpt="",
        excerpt_clipped=False,
        read=None,
    )


def safe_remote(value: str | None) -> str | None:
    """Return a git remote that is safe to name: https, ssh, git or scp form, no secrets."""
    if value is None or re.search(r"[\s\x00-\x1f\x7f]|::|\A-", value):
        return None
    if _SCP.fullmatch(value):
        return value
    try:
        parts = urlsplit(value)
        secret = parts.password is not None or (parts.scheme == "https" and parts.username)
        known = parts.scheme in {"https", "ssh", "git"} and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return value if known and not secret else None


def identity_of(slug: str, front: FrontMatter) -> ProjectIdentity:
    """Take the identity out of a front matter.

    Raises:
        AiosError: DOTAIOS_PROJECT_CATALOG_INVALID when its two id fields differ.
    """
    current, older = front.text("id"), front.text("project_id")
    if current and older and current != older:
        raise fault(CATALOG_INVALID)
    return ProjectIdentity(
        slug=slug, alias=front.text("project", "slug") or slug, id=current or older
    )


def record_of(slug: str, read: SourceRead, front: FrontMatter) -> ProjectRecord:
    """Take the record out of a whole README.

    Raises:
        AiosError: as ``identity_of``; DOTAIOS_INVALID_UTF8.
    """
    whole = replace(read, data=read.data[front.body_from :]).text
    body = whole.replace("\r\n", "\n")
    identity = identity_of(slug, front)
    text = _LEADING_H1.sub("", body, count=1) if _LEADING_H1.match(body) else body
    excerpt, clipped = _clipped(without_empty_headings(text).strip())
    return ProjectRecord(
        identity=identity,
        name=front.text("name") or _first_heading(body) or identity.alias,
        status=front.text("status") or "unknown",
        domains=_domains(front),
        description=front.text("description") or _first_prose(body),
        repo_url=safe_remote(front.text("repo_url", "repo")),
        excerpt=excerpt,
        excerpt_clipped=clipped,
        read=read,
    )


def _clipped(text: str) -> tuple[str, bool]:
    if utf16_length(text) <= EXCERPT_CHARS:
        return text, False
    return cut_utf16(text, EXCERPT_CHARS - 1).rstrip() + "…", True


def _domains(front: FrontMatter) -> tuple[str, ...]:
    field = front.fields.get("domain")
    if field is None:
        return ()
    values = field.items or (field.text or "").split(",")
    return tuple(value.strip() for value in values if value.strip())


def _first_heading(body: str) -> str | None:
    found = (_H1.fullmatch(line) for line in body.split("\n"))
    return next((match.group(1).strip() for match in found if match), None)


def _first_prose(body: str) -> str:
    lines = (line.strip() for line in body.split("\n"))
    return next(
        (
            line
            for line in lines
            if line and not line.startswith(("#", "<!--")) and not _BULLET.match(line)
        ),
        "",
    )
