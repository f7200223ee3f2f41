"""The facts that a person means by a word: a path, a file's name, a title, or a source as printed.

Pure. Titles and names are compared without case; several facts may be meant, and all are shown.
"""

import difflib
import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from msgspec.structs import replace

from agentic_os.errors import RegistryError
from agentic_os.registry.lookup import MAX_NEAR_NAMES, MAX_SHOWN_CHARS
from agentic_os.results import FactView, MemoryData
from agentic_os.text.fencing import one_line
from agentic_os.text.unicode_form import composed, folded

_LINE = re.compile(r":\d+\Z")


def facts_named(data: MemoryData, text: str) -> MemoryData:
    """Keep the facts and sections of MEMORY.md that ``text`` means.

    Args:
        data: the union of memory.
        text: ``project:path`` with or without a line, as the tables print it; a path in a project;
            a file's name with or without its ending; or a title. The first of these that means
            something counts.

    Raises:
        RegistryError: FACT_UNKNOWN, with near titles in the hint.
    """
    word = composed(text.strip())
    source = _LINE.sub("", word)
    wanted = folded(word)
    stages: tuple[Callable[[FactView], bool], ...] = (
        lambda fact: composed(f"{fact.provenance.project}:{fact.provenance.path}") == source,
        lambda fact: composed(fact.provenance.path) in {word, source},
        lambda fact: wanted in _names(fact),
        lambda fact: folded(fact.title) == wanted,
    )
    for means in stages:
        found = tuple(fact for fact in data.facts if means(fact))
        if found:
            templates = sum(fact.template for fact in found)
            return replace(data, facts=found, total=len(found), templates=templates)
    raise _unknown(data.facts, word)


def _names(fact: FactView) -> tuple[str, str]:
    path = PurePosixPath(fact.provenance.path)
    return folded(path.name), folded(path.stem)


def _unknown(facts: Sequence[FactView], word: str) -> RegistryError:
    titles = {folded(fact.title): fact.title for fact in facts}
    near = difflib.get_close_matches(
        folded(word)[:MAX_SHOWN_CHARS], titles, n=MAX_NEAR_NAMES, cutoff=0.5
    )
    hint = "`agentic-os memory` lists them all."
    if near:
        hint = f"near titles: {', '.join(titles[title] for title in near)}"
    return RegistryError(
        f"no fact answers to {one_line(word[:MAX_SHOWN_CHARS])!r}", code="FACT_UNKNOWN", hint=hint
    )
