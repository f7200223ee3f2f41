"""What an agent is told of a hit: short, unless it asks for details.

Whoever reads an answer pays for it by the token. A hash, a commit and two times cost more than the
passage they vouch for, and are the same for most answers: they come on request. What is left out
because it is as usual (confirmed, not stale) is told where it is not.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from agentic_os.aggregate.workspace import Workspace
from agentic_os.server.codes import ERRORS

SNIPPET_CHARS: Final = 240
_SHORT: Final = ("project", "name", "kind", "path", "lines")
_TOLD: Final = ("symbol", "relevance")
_COSTLY_COVERAGE: Final = frozenset({"surfaces", "embedder"})
_AGE = re.compile(r"(?P<count>[1-9][0-9]{0,4})(?P<unit>[hdw])")
_LAST_NS: Final = 2**63 - 1
_HOURS: Final = {"h": 1, "d": 24, "w": 168}
_CHANGED = """
SELECT project.id, file.path FROM file JOIN project ON project.pk = file.project
WHERE file.mtime_ns >= ?
"""

Hit = Mapping[str, Any]


def short_hit(hit: Hit) -> dict[str, Any]:
    """Return what tells one hit from another, and its passage."""
    told = {name: hit[name] for name in _TOLD if hit.get(name) is not None}
    odd = {"confirmed": False} if not hit["confirmed"] else {}
    odd |= {"stale": True} if hit["stale"] else {}
    kept = {name: hit[name] for name in _SHORT}
    return {**kept, "snippet": shortened(hit["snippet"]), **told, **odd}


def shortened(text: str, most: int = SNIPPET_CHARS) -> str:
    """Cut a text at the end of a word.

    >>> shortened("a lighthouse is lit", 12), shortened("short", 12)
    ('a lighthouse …', 'short')
    """
    if len(text) <= most:
        return text
    cut = text[: most + 1]
    words = cut.rsplit(None, 1)
    kept = words[0] if len(words) == 2 and len(words[0]) > most // 2 else text[:most]  # noqa: PLR2004
    return f"{kept.rstrip()} …"


def short_coverage(coverage: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was searched, and whatever is not as usual."""
    return {
        name: value
        for name, value in coverage.items()
        if name == "projects_searched" or (value and name not in _COSTLY_COVERAGE)
    }


def since_ns(said: str, now: datetime) -> int:
    """Read a moment: an age (``12h``, ``7d``, ``2w``) or an ISO date or time.

    Raises:
        UsageError: ``ARGUMENT_INVALID``.
    """
    age = _AGE.fullmatch(said)
    if age is not None:
        moment = now - timedelta(hours=int(age["count"]) * _HOURS[age["unit"]])
    else:
        try:
            moment = datetime.fromisoformat(said)
        except ValueError:
            raise ERRORS.error(
                "ARGUMENT_INVALID",
                "`changed_since` is neither an age nor a date",
                hint="For example 7d, 12h or 2026-11-30.",
            ) from None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=now.tzinfo or UTC)
    # A file's times are of 64 bits; nothing was changed after their end.
    return max(0, min(int(moment.timestamp()) * 1_000_000_000, _LAST_NS))


def changed_files(workspace: Workspace, since: int) -> frozenset[tuple[str, str]]:
    """Return the files that were changed since a moment, by project and path."""
    rows = workspace.store.connection.execute(_CHANGED, (since,)).fetchall()
    return frozenset((str(project), str(path)) for project, path in rows)
