"""Which instruction files a harness loads for a path, in its order. Pure.

Folders come from the project's own down to the one that holds the path; in each the harness's forms
in their order, of alternatives the first that is there. A scoped file counts where a glob of it
means the path; one that a model or a person must ask for is loaded for no path.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentic_os.registry.conventions.instructions import Harness
from agentic_os.registry.conventions.scopes import Activation, applies


class Told(NamedTuple):
    """One instruction file: its form, and what it is for."""

    path: str
    form: str
    folder: str
    activation: Activation
    patterns: tuple[str, ...]


def loaded(harness: Harness, files: Sequence[Told], target: str) -> tuple[Told, ...]:
    """Return the files that a harness loads for ``target``, the widest first.

    Args:
        harness: whose rules are followed.
        files: the instruction files of one project.
        target: a path of the project; empty for its own folder.
    """
    folders = _folders(target) if harness.nested else ("",)
    found: list[Told] = []
    for folder in folders:
        here = [one for one in files if one.folder == folder and _counts(one, target)]
        chosen = list(_chosen(harness, here))
        found.extend(chosen)
    return tuple(found)


def _folders(target: str) -> tuple[str, ...]:
    parts = target.split("/")[:-1]
    return ("", *("/".join(parts[:count]) for count in range(1, len(parts) + 1)))


def _counts(file: Told, target: str) -> bool:
    if file.activation == "paths":
        return bool(target) and applies(file.patterns, target)
    return file.activation == "always"


def _chosen(harness: Harness, here: Sequence[Told]) -> Iterator[Told]:
    """Yield the files of one folder in the harness's order, one of each group of alternatives."""
    present = {one.form for one in here}
    dropped: set[str] = set()
    for group in harness.first:
        first = next((form for form in group if form in present), None)
        dropped.update(form for form in group if form != first)
    for form in harness.forms:
        if form not in dropped:
            yield from sorted(one for one in here if one.form == form)
