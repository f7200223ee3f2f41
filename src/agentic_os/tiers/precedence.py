"""One's own word first: what goes before what among passages that answer. Pure.

- What the project that the question names remembers, and tells its agents, goes before all else.
- Texts that every repository has (README, licence, changelog, lock files) never go before a fact.

Within each part the order stays as it was.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from agentic_os.text.unicode_form import folded
from agentic_os.tiers.interface import Candidate

OWN_KINDS = frozenset({"memory", "index", "instruction"})
FACT_KINDS = frozenset({"memory", "index"})
_COMMON_STEMS = frozenset(
    {
        "readme",
        "license",
        "licence",
        "copying",
        "notice",
        "authors",
        "changelog",
        "changes",
        "history",
        "news",
        "releases",
        "code_of_conduct",
        "contributing",
        "security",
    }
)
_LOCK_FILES = frozenset(
    {
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "poetry.lock",
        "uv.lock",
        "cargo.lock",
        "gemfile.lock",
        "composer.lock",
        "go.sum",
        "bun.lock",
    }
)
_WORD = re.compile(r"[\w.-]+")


def named_projects(question: str, names: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return the ids of the projects that a question names, by name, alias or id.

    A question that is nothing but a name asks for the name, not about the project.
    """
    words = {folded(word) for word in _WORD.findall(question)}
    if len(words) < 2:  # noqa: PLR2004 - a name and what is asked about it
        return frozenset()
    return frozenset(
        project
        for project, own in names.items()
        if any(folded(name) in words for name in (project, *own))
    )


def ordered(candidates: Sequence[Candidate], named: frozenset[str]) -> list[Candidate]:
    """Return the candidates in the order of the module's rules."""
    first = [one for one in candidates if one.project in named and one.kind in OWN_KINDS]
    rest = [one for one in candidates if not (one.project in named and one.kind in OWN_KINDS)]
    facts = [place for place, one in enumerate(rest) if one.kind in FACT_KINDS]
    if facts:
        before, after = rest[: facts[-1] + 1], rest[facts[-1] + 1 :]
        common = [one for one in before if is_common(one)]
        rest = [*(one for one in before if not is_common(one)), *common, *after]
    return [*first, *rest]


def is_common(candidate: Candidate) -> bool:
    """Whether a passage is of a file that every repository has."""
    if candidate.kind not in {"document", "code"}:
        return False
    name = candidate.path.rpartition("/")[2].lower()
    return name in _LOCK_FILES or name.partition(".")[0].replace("-", "_") in _COMMON_STEMS
