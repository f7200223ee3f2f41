"""Secrets that stand in the names of a project: its own, its branch's, its folder's.

Names go everywhere: into tables, errors, the global view, a model's context. They are
replaced once, where the fleet is made; paths, which files are opened by, stay as they are
and are replaced where they are shown (design section 6).
"""

from collections.abc import Mapping, Sequence
from functools import cache

from msgspec.structs import replace

from agentic_os.registry.codes import diagnostic
from agentic_os.registry.identity.folding import Sighting
from agentic_os.registry.identity.ids import ProjectKey
from agentic_os.results import Diagnostic
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.text.secrets.values_of import redacted_value


@cache
def redactor_of(allow: frozenset[str]) -> Redactor:
    """Return the redactor of a person's allow-list."""
    return Redactor(allow=allow)


def without_secret_names(sightings: Sequence[Sighting], redactor: Redactor) -> list[Sighting]:
    """Replace secrets in names and in what was noticed, and say of which name that was."""
    every = tuple([_words(sighting) for sighting in sightings])
    if redacted_value(every, redactor) is every:
        return list(sightings)
    return [_cleaned(sighting, redactor) for sighting in sightings]


def without_secrets(
    noticed: Mapping[ProjectKey, tuple[Diagnostic, ...]], redactor: Redactor
) -> dict[ProjectKey, tuple[Diagnostic, ...]]:
    """Replace secrets in what was noticed of each project."""
    return {key: redacted_value(items, redactor) for key, items in noticed.items()}


_Words = tuple[tuple[str, str, str], tuple[Diagnostic, ...]]


def _words(sighting: Sighting) -> _Words:
    """Return a project's names (own, branch, folder) and what was noticed about it."""
    descriptor, location = sighting.descriptor, sighting.location
    return (
        (descriptor.name, location.branch or "", sighting.candidate.relative),
        (*descriptor.diagnostics, *sighting.diagnostics),
    )


def _cleaned(sighting: Sighting, redactor: Redactor) -> Sighting:
    descriptor, location = sighting.descriptor, sighting.location
    whole = _words(sighting)
    if redacted_value(whole, redactor) is whole:
        return sighting
    name, branch, folder = (redactor.redact(text) for text in whole[0])
    noted = redacted_value(whole[1], redactor)
    held = [
        diagnostic("NAME_HOLDS_SECRET", f"a secret ({found.findings[0].rule}) stands in {what}")
        for found, what in (
            (name, "the project's name"),
            (branch, "the branch's name"),
            (folder, "the folder's name"),
        )
        if found.findings
    ]
    return replace(
        sighting,
        descriptor=replace(descriptor, name=name.text, diagnostics=()),
        location=replace(location, branch=branch.text or None),
        diagnostics=(*noted, *held),
    )
