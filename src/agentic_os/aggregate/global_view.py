"""The Markdown global view: everything remembered, by project and by type.

Each line links its source. Text of projects is data: it is fenced or made inert, so that a
reader, human or model, sees it as a quotation (design section 6).
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from agentic_os.registry.fleet import Fleet
from agentic_os.registry.project import Project
from agentic_os.results import CapabilitiesData, Difference, DifferencesData, FactView, MemoryData
from agentic_os.text.fencing import one_line
from agentic_os.text.front_matter import split_front_matter
from agentic_os.text.markdown.structure import without_comments
from agentic_os.text.secrets.redaction import Redactor

SUMMARY_CHARS = 240
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|!~])")

Linker = Callable[[str, str, int], str]
"""Makes the link of a project id, a path in it and a line."""


def source_linker(fleet: Fleet, output: Path | None) -> Linker:
    """Links from a file at ``output`` to the sources; absolute ones where there is no file."""
    redactor = Redactor(allow=fleet.redaction_allow)
    folders = {project.id: project.folder for project in fleet.projects}

    def link(project: str, path: str, line: int) -> str:
        target = folders[project] / path
        place = str(target) if output is None else os.path.relpath(target, output.parent)
        # A link whose folder's name holds a secret leads nowhere; the secret is not quoted.
        shown = redactor.redact(place).text
        return f"{quote(os.fsencode(shown))}#L{line}"

    return link


def global_view(
    fleet: Fleet,
    memory: MemoryData,
    differences: DifferencesData,
    capabilities: CapabilitiesData,
    link: Linker,
) -> str:
    """Write the whole view.

    Args:
        fleet: the projects, for their names.
        memory: the union of memory; templates are counted, not shown.
        differences: the keys that projects state differently.
        capabilities: the inverted inventory.
        link: makes the links to the sources.
    """
    names = {project.id: project.name for project in fleet.projects}
    shown = [fact for fact in memory.facts if not fact.template]
    facts = [fact for fact in shown if fact.kind == "fact"]
    lines = [
        "# Global view",
        "",
        (
            f"{len(fleet.projects)} projects, {len(facts)} facts, {memory.templates} unfilled"
            " templates left out. What follows quotes the projects."
        ),
        "",
        "## By project",
        "",
    ]
    for project in fleet.projects:
        lines += _project(project, [f for f in shown if f.provenance.project == project.id], link)
    lines += ["## By type", ""]
    for kind in sorted({fact.type for fact in facts}):
        lines += [f"### {_inert(kind)}", ""]
        lines += [
            _fact(fact, link, names, with_project=True) for fact in facts if fact.type == kind
        ]
        lines.append("")
    lines += _differences(differences.differences, names, link)
    lines += _capabilities(capabilities, names)
    return "\n".join(lines).rstrip("\n") + "\n"


def _project(project: Project, facts: Sequence[FactView], link: Linker) -> list[str]:
    tier = "no tier" if project.tier is None else f"tier {project.tier}"
    lines = [f"### {_inert(project.name)}", "", f"`{project.id}`, {tier}", ""]
    if not project.retrieval:
        return [*lines, "Opted out of retrieval.", ""]
    if not facts:
        return [*lines, "Nothing remembered yet.", ""]
    for fact in facts:
        if fact.kind == "index":
            lines.append(f"- [MEMORY.md: {_inert(fact.title)}]({_link(fact, link)})")
        else:
            lines.append(_fact(fact, link, {}, with_project=False))
    return [*lines, ""]


def _fact(fact: FactView, link: Linker, names: Mapping[str, str], *, with_project: bool) -> str:
    text = f"- [{_inert(fact.title)}]({_link(fact, link)})"
    if with_project:
        text += f" ({_inert(names.get(fact.provenance.project, fact.provenance.project))})"
    summary = fact.description or _summary(fact.text)
    if summary:
        text += f": {_inert(summary.rstrip('.'))}."
    if fact.equal_in:
        text += f" Same in {len(fact.equal_in)} more."
    if fact.links:
        text += " See " + ", ".join(f"`{item.target}`" for item in fact.links) + "."
    return text


def _differences(found: Sequence[Difference], names: Mapping[str, str], link: Linker) -> list[str]:
    if not found:
        return []
    lines = ["## Stated differently", ""]
    for difference in found:
        lines.append(f"- **{_inert(difference.key)}**")
        for stated in difference.values:
            sources = ", ".join(
                f"[{_inert(names.get(source.project, source.project))}]"
                f"({link(source.project, source.path, source.lines[0])})"
                for source in stated.sources
            )
            lines.append(f"  - {_inert(stated.value)} ({sources})")
    return [*lines, ""]


def _capabilities(found: CapabilitiesData, names: Mapping[str, str]) -> list[str]:
    if not found.capabilities:
        return []
    lines = ["## Capabilities", ""]
    for item in found.capabilities:
        holders = ", ".join(_inert(names.get(project, project)) for project in item.projects)
        differs = " (worded differently)" if item.differs else ""
        lines.append(f"- {item.section} **{_inert(item.name)}**{differs}: {holders}")
    return [*lines, ""]


def _link(fact: FactView, link: Linker) -> str:
    return link(fact.provenance.project, fact.provenance.path, fact.provenance.lines[0])


def _summary(text: str) -> str:
    body = without_comments(split_front_matter(text).body)
    first = next((line.strip() for line in body.splitlines() if line.strip()), "")
    return first[:SUMMARY_CHARS]


def _inert(text: str) -> str:
    """Text of a project as plain characters: no markup, no image, no link of its own."""
    return _MARKUP.sub(r"\\\1", one_line(text[:SUMMARY_CHARS]))
