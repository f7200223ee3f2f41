"""What a synthesis is made from: the person's provider, and the hits with the lines around them.

A snippet is a few lines; an answer needs their surroundings. They are read again from the file,
only while it still has the hash that was confirmed, and redacted as everything shown is.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agentic_os.aggregate.workspace import Workspace
from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.language_models.choice import CommandChoice, HttpChoice, provider_for
from agentic_os.language_models.interface import Provider
from agentic_os.results import Answer, Hit, Omission, SearchData
from agentic_os.settings.values import Synthesis
from agentic_os.text.decoding import decode
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.tiers.synthesis import (
    MAX_PASSAGE_CHARS,
    MAX_PASSAGES_ENTRIES,
    SourcePassage,
    synthesise,
)

AROUND_LINES = 12
"""Lines before and after a hit that go with it."""
FILE_LIMIT_BYTES = 4_194_304
"""The surroundings of a hit are not read from a larger file."""


def provider_of(chosen: Synthesis | None, environ: Mapping[str, str]) -> Provider | None:
    """Make the provider that the settings name, if any; nothing is started or reached.

    Raises:
        SettingsError: MODEL_URL_REFUSED, MODEL_KEY_MISSING or SETTINGS_VALUE_INVALID.
    """
    if chosen is None:
        return None
    if chosen.command:
        return provider_for(
            CommandChoice(words=chosen.command, limit_seconds=chosen.seconds), environ
        )
    return provider_for(
        HttpChoice(
            url=chosen.url or "",
            model=chosen.model or "",
            key_variable=chosen.key_variable,
            limit_seconds=chosen.seconds,
        ),
        environ,
    )


def passages_of(workspace: Workspace, hits: Sequence[Hit]) -> tuple[SourcePassage, ...]:
    """Return the confirmed hits, best first, each with the lines around it.

    A hit that stands in the surroundings of a better one is not repeated.
    """
    folders = {project.id: project.folder for project in workspace.fleet.projects}
    texts: dict[tuple[str, str], list[str] | None] = {}
    found: list[SourcePassage] = []
    for hit in hits:
        if not hit.confirmed or any(_holds(one, hit) for one in found):
            continue
        key = (hit.project, hit.path)
        if key not in texts:
            texts[key] = _lines(folders[hit.project], hit, workspace.redactor)
        found.append(_widened(hit, texts[key]))
        if len(found) == MAX_PASSAGES_ENTRIES:
            break
    return tuple(found)


def with_synthesis(
    answer: Answer[SearchData],
    question: str,
    passages: Sequence[SourcePassage],
    provider: Provider | None,
) -> Answer[SearchData]:
    """Add to an answer what a language model made of its passages.

    A provider that fails leaves the hits as they are and makes the answer incomplete; that
    there is none, or that it found nothing, does not (design decision 13).

    Args:
        answer: what was found.
        question: what the person asked.
        passages: as ``passages_of`` gives them.
        provider: the person's, if there is one.
    """
    made = synthesise(question, passages, provider)
    failed = made.code is not None and made.code.startswith("MODEL_")
    lost = Omission(code=made.code or "", scope="synthesis", reason=made.missing or "")
    found = answer.data
    return Answer(
        data=SearchData(
            query=found.query,
            total=found.total,
            hits=found.hits,
            coverage=found.coverage,
            projects=found.projects,
            explain=found.explain,
            synthesis=made,
        ),
        omissions=(*answer.omissions, lost) if failed else answer.omissions,
        warnings=answer.warnings,
        incomplete=answer.incomplete or failed,
    )


def _holds(one: SourcePassage, other: Hit) -> bool:
    """Return whether a passage that is sent holds another hit."""
    first, last = one.lines
    same = (one.hit.project, one.hit.path, one.hit.sha256) == (
        other.project,
        other.path,
        other.sha256,
    )
    return same and first <= other.lines[0] and other.lines[1] <= last


def _lines(folder: Path, hit: Hit, redactor: Redactor) -> list[str] | None:
    """Read the lines of a hit's file, redacted; ``None`` if it changed or cannot be read."""
    try:
        with Folder.open(folder) as opened:
            read = opened.read(hit.path, limit_bytes=FILE_LIMIT_BYTES)
    except FilesError:
        return None
    if read.sha256 != hit.sha256:
        return None
    return redactor.redact(decode(read.data).text).text.split("\n")


def _widened(hit: Hit, lines: Sequence[str] | None) -> SourcePassage:
    """Widen a hit by the lines around it, as far as they fit; unchanged if they are missing."""
    first, last = hit.lines
    if lines is None or not 0 < first <= last <= len(lines):
        return SourcePassage(hit=hit)
    size = sum(len(line) + 1 for line in lines[first - 1 : last])
    if size > MAX_PASSAGE_CHARS:
        return SourcePassage(hit=hit)
    for _ in range(AROUND_LINES):
        if first > 1 and size + len(lines[first - 2]) < MAX_PASSAGE_CHARS:
            first -= 1
            size += len(lines[first - 1]) + 1
        if last < len(lines) and size + len(lines[last]) < MAX_PASSAGE_CHARS:
            last += 1
            size += len(lines[last - 1]) + 1
    text = "\n".join(lines[first - 1 : last])
    return SourcePassage(hit=hit, text=text, wider=(first, last))
