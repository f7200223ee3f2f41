"""What an agent is told of a hit: short, unless it asks for details.

Whoever reads an answer pays for it by the token. A hash, a commit and two times cost more than the
passage they vouch for, and are the same for most answers: they come on request. What is left out
because it is as usual (confirmed, not stale) is told where it is not.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from agentic_os.server.codes import ERRORS
from agentic_os.tiers.moments import moment_ns

SNIPPET_CHARS: Final = 240
_SHORT: Final = ("project", "name", "kind", "path", "lines")
_TOLD: Final = ("symbol", "relevance")
_COSTLY_COVERAGE: Final = frozenset({"surfaces", "kinds", "embedder"})
_LAST_NS: Final = 2**63 - 1

Hit = Mapping[str, Any]


def short_hit(hit: Hit) -> dict[str, Any]:
    """Return what tells one hit from another, and its passage."""
    told = {name: hit[name] for name in _TOLD if hit.get(name)}
    if "relevance" in told:
        told["relevance"] = round(told["relevance"], 2)
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
    """Read a moment: so many days or hours ago (``7d``, ``12h``), or an ISO date or time.

    Raises:
        UsageError: ``ARGUMENT_INVALID``.
    """
    try:
        moment = moment_ns(said, now=now)
    except (ValueError, OverflowError):
        raise ERRORS.error(
            "ARGUMENT_INVALID",
            "`changed_since` is neither an age nor a date",
            hint="For example 7d, 12h or 2026-11-30.",
        ) from None
    # A file's times are of 64 bits; nothing was changed after their end.
    return max(0, min(moment, _LAST_NS))
