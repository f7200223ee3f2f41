"""The files of one Go package, and where each of its names is declared. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from agentic_os.code.values import SourceFacts

MOST_PLACES = 8
"""A name that more files declare, for so many platforms, links none of them."""

Files = Sequence[tuple[str, SourceFacts]]


def go_packages(sources: Iterable[tuple[str, SourceFacts]]) -> Iterable[Files]:
    """Return the files of each package: of one folder, with one package clause."""
    found: defaultdict[tuple[str, str], list[tuple[str, SourceFacts]]] = defaultdict(list)
    for path, facts in sources:
        if facts.package:
            found[path.rpartition("/")[0], facts.package].append((path, facts))
    return found.values()


def declarations(files: Files) -> Mapping[str, Sequence[tuple[str, int]]]:
    """Return the places of each name of a package: file, and index of the symbol in it."""
    found: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for path, facts in files:
        for at, symbol in enumerate(facts.symbols):
            if symbol.kind != "method" and symbol.name not in {"init", "_"}:
                found[symbol.name].append((path, at))
    return {name: places for name, places in found.items() if len(places) <= MOST_PLACES}
