"""A lived-in folder: thousands of notes within the limits of one request."""

from pathlib import Path

from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.aios.search.values import MarkdownHit
from support.aios.builder import TODAY, AiosBuilder, tree

NOTES = 3300
SHARED = resolve_policy()


def test_thousands_of_notes(tmp_path: Path) -> None:
    aios = AiosBuilder(tmp_path / "aios").complete()
    for number in range(NOTES):
        shelf = ("vault/wiki", "vault/raw", "context/domains", "references")[number % 4]
        aios.write(
            f"{shelf}/{number % 40}/note-{number}.md",
            f"# Note {number}\n\nAbout migrations and meetings, part {number}.\n"
            + "Plain words that say nothing.\n" * 20
            + ("The needle-4711 is here.\n" if number == 1234 else ""),
        )
    for number in range(200):
        stamp = f"2026-10-{number % 28 + 1:02d}T00:00:00Z"
        aios.session(f"s{number:07d}", stamp, "words\n" * 50, title=f"Session {number}")
    aios.jsonl(
        "memory/events.jsonl",
        *({"ts": f"{TODAY}T00:00:00Z", "summary": f"event {number}"} for number in range(3000)),
    )
    before = tree(aios.root)
    answer = search_aios(aios.access(), SHARED, query="needle-4711")
    assert answer.complete
    assert answer.total == 1
    everywhere = search_aios(aios.access(), SHARED, query="migration planning")
    assert everywhere.complete
    assert {group.scope: len(group.hits) for group in everywhere.groups}["vault"] == 20
    assert all(
        isinstance(hit, MarkdownHit) and hit.matches
        for group in everywhere.groups
        if group.scope == "vault"
        for hit in group.hits
    )
    brief = read_brief(aios.access(), SHARED)
    assert brief.context.budget.used <= 6000
    assert brief.context.markdown.count("] event ") == 8
    assert tree(aios.root) == before
