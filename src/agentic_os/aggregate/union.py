"""The unions: what all projects remember, note and can do, each item with its provenance.

Read from the store, never from the projects. Nothing is collapsed: two facts of one name stay
two facts; facts of equal text know of each other.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, get_args

from msgspec.structs import replace

from agentic_os.aggregate.codes import CODES
from agentic_os.aggregate.cross_links import cross_links, names_of
from agentic_os.aggregate.differences import differences, statements
from agentic_os.aggregate.store.database import Store
from agentic_os.aggregate.surfaces.vault import Others, link_targets, note_links, note_tags
from agentic_os.registry.conventions.tables import convention_of
from agentic_os.registry.fleet import Fleet
from agentic_os.results import (
    CapabilitiesData,
    CapabilitySection,
    CapabilityVariant,
    CapabilityView,
    Diagnostic,
    DifferencesData,
    FactView,
    MemoryData,
    NoteLink,
    NoteView,
    Provenance,
    VaultData,
)
from agentic_os.text.fencing import one_line, visible
from agentic_os.text.unicode_form import folded

_FACTS = """
SELECT project.id, file.path, document.line_start, document.line_end, file.sha256,
       project.branch, project.commit_id, document.kind, document.name, document.label,
       document.type, document.body, document.file IN listed, document.template,
       document.group_hash
FROM document JOIN file ON file.pk = document.file JOIN project ON project.pk = document.project
WHERE document.kind IN ('memory', 'index')
AND NOT (document.type = 'convention' AND document.template)
ORDER BY project.id, document.kind = 'memory', file.path, document.line_start
"""
_EQUAL = """
SELECT group_hash, group_concat(DISTINCT project.id)
FROM document JOIN project ON project.pk = document.project
WHERE kind = 'memory' AND NOT template
GROUP BY group_hash HAVING count(DISTINCT document.project) > 1
"""
_MISSING = """
SELECT project.id, home.path, link.title, link.target, link.line
FROM index_link AS link JOIN file AS home ON home.pk = link.file
JOIN project ON project.pk = link.project
WHERE NOT EXISTS(
    SELECT 1 FROM file WHERE file.project = link.project AND file.path = link.target
) AND NOT EXISTS(
    SELECT 1 FROM problem
    WHERE problem.project = link.project AND problem.path = link.target AND problem.unread
) ORDER BY project.id, link.line
"""
_NOTES = """
SELECT project.id, file.path, file.sha256, project.branch, project.commit_id,
       document.line_start, document.line_end, document.name, document.label, document.body
FROM document JOIN file ON file.pk = document.file JOIN project ON project.pk = document.project
WHERE document.kind = 'vault' ORDER BY project.id, file.path, document.line_start
"""
_CAPABILITIES = """
SELECT capability.section, capability.name, capability.detail, capability.declared,
       project.id, file.path, capability.line, file.sha256, project.branch, project.commit_id
FROM capability JOIN file ON file.pk = capability.file
JOIN project ON project.pk = capability.project
ORDER BY capability.section, capability.name, project.id, file.path, capability.line
"""

Scope = Collection[str] | None
"""Project ids an answer is limited to; ``None`` for the whole fleet."""


def equal_groups(store: Store) -> dict[str, tuple[str, ...]]:
    """Hashes of the texts that several projects state, each with the ids of those projects."""
    return {row[0]: tuple(sorted(row[1].split(","))) for row in store.connection.execute(_EQUAL)}


def memory_union(store: Store, fleet: Fleet, scope: Scope = None) -> MemoryData:
    """Every fact and every section of MEMORY.md, with links between projects."""
    equal = equal_groups(store)
    names = names_of(fleet.projects)
    projects = {project.id: project for project in fleet.projects}
    facts = []
    rows = store.connection.execute(_FACTS).fetchall()
    targets = _fact_targets(rows)
    for row in rows:
        own = projects.get(row[0])
        if own is None or (scope is not None and own.id not in scope):
            continue
        template = bool(row[13])
        facts.append(
            FactView(
                provenance=_fact_provenance(row),
                kind="index" if row[7] == "index" else "fact",
                title=one_line(row[8]),
                description=one_line(row[9]),
                type=one_line(row[10]),
                text=visible(row[11]),
                listed=bool(row[12]) or row[7] == "index" or _has_no_index(row[1]),
                template=template,
                group=row[14],
                equal_in=tuple(other for other in equal.get(row[14], ()) if other != own.id)
                if row[7] == "memory" and not template
                else (),
                links=()
                if template
                else cross_links(row[11], own=own, names=names, first_line=row[2]),
                wikilinks=_wikilinks(row, targets.get(row[0], {})),
            )
        )
    return MemoryData(
        facts=tuple(facts),
        total=len(facts),
        templates=sum(fact.template for fact in facts),
    )


def _has_no_index(path: str) -> bool:
    """Whether a fact is of a form that keeps no MEMORY.md: nothing could list it."""
    row = convention_of(path)
    return row is not None and row.reads in {"serena", "bank"}


def _fact_targets(rows: Iterable[tuple[Any, ...]]) -> dict[str, dict[str, str]]:
    """Return the names by which the facts of each project can be linked, and what they mean."""
    names: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        if "[[" in row[11] or row[7] == "memory":
            names.setdefault(row[0], []).append((row[1], row[8]))
    found = {}
    for project, pairs in names.items():
        targets = link_targets({path for path, _ in pairs})
        for path, name in pairs:
            targets.setdefault(folded(name), path)
        found[project] = targets
    return found


def _wikilinks(row: tuple[Any, ...], targets: Mapping[str, str]) -> tuple[NoteLink, ...]:
    if "[[" not in row[11]:
        return ()
    return tuple(
        replace(link, target=one_line(link.target), line=link.line + row[2] - 1)
        for link in note_links(row[11], path=row[1], notes=targets)
    )


def missing_facts(store: Store, scope: Scope = None) -> dict[str, tuple[Diagnostic, ...]]:
    """Facts that a MEMORY.md lists and that do not exist, by project id.

    One that exists and could not be read is named as that, not here.
    """
    found: dict[str, list[Diagnostic]] = {}
    for project, path, title, target, line in store.connection.execute(_MISSING):
        if scope is not None and project not in scope:
            continue
        found.setdefault(project, []).append(
            CODES.diagnostic(
                "FACT_MISSING",
                f"{one_line(title)!r} is listed, but there is no fact {one_line(target)}",
                path=path,
                line=line,
            )
        )
    return {project: tuple(items) for project, items in found.items()}


def memory_differences(store: Store, scope: Scope = None) -> DifferencesData:
    """Keys that two or more projects state with different values."""
    return DifferencesData(
        differences=differences(
            statement
            for row in store.connection.execute(_FACTS)
            if row[7] == "memory" and not row[13] and (scope is None or row[0] in scope)
            for statement in statements(visible(row[11]), _fact_provenance(row))
        )
    )


def vault_union(
    store: Store, scope: Scope = None, *, others: Callable[[str], Others] = lambda _: dict
) -> VaultData:
    """Return every vault note, its tags and its links resolved inside its own project.

    Args:
        store: the store.
        scope: ids of the projects that are asked; ``None`` for all.
        others: for the id of a project, what gives the other files of its vault.
    """
    notes: list[NoteView] = []
    for project, pieces in _by_project(store, scope):
        targets = link_targets(pieces)
        for path, rows in pieces.items():
            last = max(row[6] for row in rows)
            lines = [""] * last
            for row in rows:
                lines[row[5] - 1 : row[6]] = row[9].split("\n")[: row[6] - row[5] + 1]
            text = "\n".join(lines)
            notes.append(
                NoteView(
                    provenance=_provenance(
                        project, path, (1, last), rows[0][2], rows[0][3], rows[0][4]
                    ),
                    title=one_line(rows[0][8]),
                    headings=tuple(
                        one_line(row[7]) for row in rows if row[9].lstrip().startswith("#")
                    ),
                    tags=tuple(one_line(tag) for tag in note_tags(text)),
                    links=note_links(text, path=path, notes=targets, others=others(project)),
                )
            )
    return VaultData(notes=tuple(notes), total=len(notes))


def _by_project(
    store: Store, scope: Scope
) -> Iterator[tuple[str, Mapping[str, list[tuple[Any, ...]]]]]:
    current = ""
    pieces: dict[str, list[tuple[Any, ...]]] = {}
    for row in store.connection.execute(_NOTES):
        if scope is not None and row[0] not in scope:
            continue
        if row[0] != current:
            if pieces:
                yield current, pieces
            current, pieces = row[0], {}
        pieces.setdefault(row[1], []).append(row)
    if pieces:
        yield current, pieces


def capabilities_union(store: Store, scope: Scope = None) -> CapabilitiesData:
    """Return the inverted inventory: each skill, server and hook, and the projects that have it."""
    wordings: dict[tuple[CapabilitySection, str], tuple[dict[str, list[Provenance]], ...]] = {}
    for row in store.connection.execute(_CAPABILITIES):
        section, name, detail, declared, project = row[:5]
        if scope is not None and project not in scope:
            continue
        variants, invocations = wordings.setdefault((section, name), ({}, {}))
        kind = variants if declared else invocations
        sources = kind.setdefault(one_line(detail), [])
        if all(source.project != project for source in sources):
            sources.append(_provenance(project, row[5], (row[6], row[6]), *row[7:10]))
    views = []
    for (section, name), (variants, invocations) in wordings.items():
        holders = {
            source.project
            for kind in (variants, invocations)
            for sources in kind.values()
            for source in sources
        }
        views.append(
            CapabilityView(
                section=section,
                name=one_line(name),
                projects=tuple(sorted(holders)),
                variants=_variants(variants),
                invocations=_variants(invocations),
            )
        )
    counts: dict[str, int] = dict.fromkeys(get_args(CapabilitySection), 0)
    for view in views:
        counts[view.section] += 1
    return CapabilitiesData(capabilities=tuple(views), counts=counts)


def _variants(wordings: Mapping[str, list[Provenance]]) -> tuple[CapabilityVariant, ...]:
    return tuple(
        CapabilityVariant(detail=detail, sources=tuple(sources))
        for detail, sources in wordings.items()
    )


def _fact_provenance(row: tuple[Any, ...]) -> Provenance:
    return _provenance(row[0], row[1], (row[2], row[3]), row[4], row[5], row[6])


def _provenance(
    project: str,
    path: str,
    lines: tuple[int, int],
    sha256: str,
    branch: str | None,
    commit: str | None,
) -> Provenance:
    return Provenance(
        project=project,
        path=one_line(str(PurePosixPath(path))),
        lines=lines,
        sha256=sha256,
        branch=branch,
        commit=commit,
    )
