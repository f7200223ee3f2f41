"""One's own word first: what goes before what among passages that answer. Pure.

- What the project that a question names remembers, and tells its agents, goes before all else.
- A fact that holds every word of the question goes before documents and code, unless one name or
  word is asked for.
- Texts that every repository has (README, licence, changelog, lock file) never go before a fact.

What is called exactly what was asked for keeps its place; so does the order within each part.
"""

from collections.abc import Callable, Collection, Sequence

from agentic_os.results import Kind
from agentic_os.tiers.interface import Candidate
from agentic_os.tiers.merging.fusion import Place, place_of

OWN_KINDS: frozenset[Kind] = frozenset({"memory", "index", "instruction"})
FACT_KINDS: frozenset[Kind] = frozenset({"memory", "index"})
_CORPUS_KINDS: frozenset[Kind] = frozenset({"document", "code"})
_COMMON_STEMS = frozenset(
    (
        *("readme", "license", "licence", "licenses", "copying", "notice", "authors", "patents"),
        *("changelog", "changes", "history", "news", "releases", "release_notes", "upgrading"),
        *("code_of_conduct", "contributing", "contributors", "security", "support", "governance"),
    )
)
_LOCK_FILES = frozenset(
    (
        *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"),
        *("poetry.lock", "uv.lock", "pdm.lock", "pipfile.lock", "cargo.lock", "gemfile.lock"),
        *("composer.lock", "go.sum", "go.work.sum", "flake.lock", "packages.lock.json"),
        *("mix.lock", "podfile.lock", "pubspec.lock", "gradle.lockfile"),
    )
)


def ordered(
    candidates: Sequence[Candidate],
    *,
    own: Sequence[Candidate] = (),
    whole: Collection[Place] = (),
    called: Collection[Place] = (),
) -> list[Candidate]:
    """Return the candidates in the order of the module's rules.

    Args:
        candidates: the merged list, best first.
        own: of the named projects' memory and instructions, what answers the rest of the question.
        whole: where facts stand that hold every word of the question.
        called: where passages stand that are called what was asked for.
    """
    first = {place_of(one) for one in own}
    rest = [one for one in candidates if place_of(one) not in first]
    head = [one for one in rest if place_of(one) in called]
    tail = [one for one in rest if place_of(one) not in called]
    tail = _after(tail, lambda one: place_of(one) in whole, lambda one: one.kind in _CORPUS_KINDS)
    tail = _after(tail, lambda one: one.kind in FACT_KINDS, is_common)
    return [*own, *head, *tail]


def _after(
    candidates: Sequence[Candidate],
    waited_for: Callable[[Candidate], bool],
    waits: Callable[[Candidate], bool],
) -> list[Candidate]:
    """Move what waits behind the last one that it waits for."""
    last = max((at for at, one in enumerate(candidates) if waited_for(one)), default=-1)
    before, after = candidates[: last + 1], candidates[last + 1 :]
    return [
        *(one for one in before if not waits(one)),
        *(one for one in before if waits(one)),
        *after,
    ]


def is_common(candidate: Candidate) -> bool:
    """Whether a passage is of a file that every repository has, and says little of this one."""
    if candidate.kind not in _CORPUS_KINDS:
        return False
    name = candidate.path.rpartition("/")[2].lower()
    if name in _LOCK_FILES:
        return True
    return candidate.kind == "document" and _stem(name) in _COMMON_STEMS


def _stem(name: str) -> str:
    """Return a name without its endings: ``license-mit.txt`` is a licence too."""
    bare = name.partition(".")[0].replace("-", "_")
    return bare if bare in _COMMON_STEMS else bare.partition("_")[0]
