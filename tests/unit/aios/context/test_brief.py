import json
from pathlib import Path

import pytest

from agentic_os.aios.context.brief import attached_project, read_brief
from agentic_os.aios.context.lean import PLACEHOLDER, read_lean
from agentic_os.aios.documents import (
    METADATA_CHARS,
    search_text,
    skill_text,
    working_context_document,
)
from agentic_os.aios.folder.json_text import pretty
from agentic_os.aios.intent.skills import resolve_skill
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.aios.search.values import SearchAnswer
from agentic_os.errors import AiosError
from agentic_os.text.budget import utf16_length
from support.aios.builder import SECRET, TODAY, AiosBuilder, MeddlingLayer

SHARED = resolve_policy()


def test_the_hook_document(full: AiosBuilder) -> None:
    brief = read_brief(full.access(), SHARED)
    document = json.loads(brief.hook_json())
    assert "\n" not in brief.hook_json()
    assert list(document) == [
        "systemMessage",
        "hookSpecificOutput",
        "dotaiosMemory",
        "contextBudget",
        "contextSources",
    ]
    assert document["systemMessage"] == "Memory: Shared"
    assert document["hookSpecificOutput"] == {
        "hookEventName": "BeforeAgent",
        "additionalContext": brief.context.markdown,
    }
    assert document["dotaiosMemory"] == {"mode": "shared", "project": None}
    assert list(document["contextBudget"]) == ["limit", "used", "remaining", "truncated"]
    assert [source["section"] for source in document["contextSources"]] == [
        "identity",
        "priorities",
        "currentWork",
    ]
    assert all(source["follow"].startswith("ds1.") for source in document["contextSources"])
    assert "ds1." not in brief.context.markdown


def test_notices_stand_before_the_projection(full: AiosBuilder) -> None:
    full.write("aios.json", '{"schema_version":"1.0.0"}')
    full.project("alpha", "word " * 400, id="A1")
    brief = read_brief(full.access(), resolve_policy(project="A1"))
    migration, coverage, rest = brief.text().split("\n\n", 2)
    assert migration.startswith("> [AIOS] The folder has schema 1.0.0")
    assert coverage == brief.context.coverage.notice if brief.context.coverage else None
    assert rest == brief.context.markdown
    assert brief.context.budget.used == len(rest)
    document = json.loads(brief.hook_json())
    assert document["contextCoverage"]["notice"] == coverage
    assert document["hookSpecificOutput"]["additionalContext"] == brief.text()
    assert document["dotaiosMemory"] == {"mode": "project", "project": "A1"}


def test_off_has_the_same_shape(full: AiosBuilder) -> None:
    brief = read_brief(full.access(), resolve_policy(mode="off"))
    document = json.loads(brief.hook_json())
    assert list(document) == [
        "systemMessage",
        "hookSpecificOutput",
        "dotaiosMemory",
        "contextBudget",
    ]
    assert document["systemMessage"].startswith("Memory: Off — ")
    assert document["contextBudget"]["remaining"] == 0


def test_what_is_withheld_and_counted_is_said(full: AiosBuilder) -> None:
    full.write("context/identity.md", f"key {SECRET}")
    full.write("context/priorities.md", "a\u200bb")
    document = json.loads(read_brief(full.access(), SHARED).hook_json())
    assert document["contextTrust"] == {"withheld": 1, "hiddenCharacters": 1}


def test_the_document_of_one_project(full: AiosBuilder) -> None:
    brief = read_brief(full.access(), resolve_policy(project="A1"))
    assert json.loads(brief.project_json()) == {
        "project": "alpha",
        "generated_at": "2026-11-30T12:00:00.000Z",
        "context_budget": brief.context.budget.as_json(),
        "context": brief.context.markdown,
    }


def test_the_working_context_document(full: AiosBuilder) -> None:
    document = working_context_document(read_brief(full.access(), resolve_policy(project="A1")))
    assert list(document) == [
        "markdown",
        "memory",
        "receipt",
        "notice",
        "complete",
        "scope",
        "generated_at",
        "budget",
        "operational",
        "coverage",
    ]
    assert document["scope"] == {"project": "alpha"}
    rest = {key: value for key, value in document.items() if key not in {"markdown", "coverage"}}
    assert len(pretty(rest)) <= METADATA_CHARS
    off = working_context_document(read_brief(full.access(), resolve_policy(mode="off")))
    assert set(off) == {"markdown", "scope", "memory", "receipt", "notice", "complete"}
    full.write("context/priorities.md", "a\u200bb")
    counted = working_context_document(read_brief(full.access(), SHARED))
    assert counted["trust"] == {"withheld": 0, "hiddenCharacters": 1}


def test_metadata_over_its_bound_fails(full: AiosBuilder) -> None:
    long = "a" + "-a" * 120
    full.project(long, id="L")
    from dataclasses import replace

    brief = read_brief(full.access(), resolve_policy(project="L"))
    huge = replace(brief, context=replace(brief.context, project="x" * METADATA_CHARS))
    assert working_context_document(brief)["scope"] == {"project": long}
    with pytest.raises(AiosError) as caught:
        working_context_document(huge)
    assert caught.value.code == "DOTAIOS_WORKING_CONTEXT_READ_FAILED"


def found(full: AiosBuilder, query: str = "rollout", **options: object) -> SearchAnswer:
    return search_aios(full.access(), SHARED, query=query, **options)  # type: ignore[arg-type]  # by name


def test_the_search_document(full: AiosBuilder) -> None:
    text = search_text(found(full, "release policy"), 32_000)
    document = json.loads(text)
    assert list(document) == [
        "query",
        "scope",
        "memory",
        "receipt",
        "notice",
        "scope_selection",
        "results",
        "complete",
        "omissions",
        "budget",
    ]
    assert document["budget"] == {"limit": 32_000, "used": utf16_length(text), "truncated": False}
    assert document["results"][0]["scope"] == "context"
    assert document["results"][0]["evidence"]["follow"].startswith("ds1.")
    assert text.startswith("{\n  ")


def test_search_results_are_sanitised(full: AiosBuilder) -> None:
    full.jsonl(
        "memory/events.jsonl",
        {
            "summary": "rollout " + "s" * 900,
            "detail": "😀" * 200,
            "source_path": "/home/u/x",
            "PATH": "/home/u",
            "list": list(range(9)),
            "nested": {"rootPath": "/home/u", "content": "c" * 900, "kept": True},
            "evidence": ["x"] * 9,
        },
    )
    document = json.loads(search_text(found(full, "rollout", scope="memory"), 32_000))
    (record,) = [r for r in document["results"] if r["source"] == "memory/events.jsonl"]
    assert (len(record["summary"]), record["summary"][-12:]) == (800, "\n[truncated]")
    assert utf16_length(record["detail"]) <= 300
    assert record["detail"].startswith("😀")
    assert record["list"] == [0, 1, 2, 3, 4]
    assert record["nested"] == {"content": "c" * 788 + "\n[truncated]", "kept": True}
    assert record["evidence"] == ["x"] * 5
    assert "/home/u" not in json.dumps(document)
    (session,) = json.loads(search_text(found(full, "rollout", scope="sessions"), 32_000))[
        "results"
    ]
    assert "path" not in session


@pytest.mark.parametrize("budget", [3530, 4000, 6000])
def test_search_budgets_hold(full: AiosBuilder, budget: int) -> None:
    for number in range(20):
        full.write(f"vault/n{number}.md", "# Rollout\n\n" + "rollout word " * 40 + f"\n{number}\n")
    text = search_text(found(full, "rollout"), budget)
    document = json.loads(text)
    assert utf16_length(text) == document["budget"]["used"] <= budget
    assert document["budget"]["truncated"]
    assert document["results"]


def test_a_long_query_is_shortened_last(full: AiosBuilder) -> None:
    query = "x" * 500
    text = search_text(found(full, query), 700)
    document = json.loads(text)
    assert document["query"].endswith("[query truncated]")
    assert len(document["query"]) > 100
    assert utf16_length(text) <= 700
    with pytest.raises(AiosError) as caught:
        search_text(found(full, query), 100)
    assert caught.value.code == "DOTAIOS_ARGUMENT_INVALID"


def test_compact_where_only_that_fits(full: AiosBuilder) -> None:
    answer = found(full, "release policy", scope="context")
    pretty_length = len(search_text(answer, 32_000))
    text = search_text(answer, pretty_length - 9)
    assert json.loads(text)["results"]
    assert text.startswith('{"query"')


def test_withheld_hits_are_counted_in_the_document(full: AiosBuilder) -> None:
    full.write("vault/a.md", f"rollout {SECRET}")
    document = json.loads(search_text(found(full), 32_000))
    assert document["trust"] == {"withheld": 1, "hiddenCharacters": 0}


def test_the_skill_document(full: AiosBuilder) -> None:
    full.skill("leaky", f"release {SECRET}", "x")
    full.write("skills/long/SKILL.md", f"---\ndescription: release\ntriggers: {'t,' * 9}\n---\n")
    answer = resolve_skill(full.access(), SHARED, intent="cut a release", limit=10)
    text = skill_text(answer, 6000)
    document = json.loads(text)
    assert list(document) == [
        "intent",
        "matches",
        "memory",
        "receipt",
        "notice",
        "complete",
        "trust",
        "budget",
    ]
    assert document["budget"]["used"] == len(text)
    assert [len(match["triggers"]) for match in document["matches"]] == [2, 9]
    assert json.loads(skill_text(answer, 450))["budget"]["truncated"]
    (full.root / "skills/leaky/SKILL.md").unlink()
    clean = resolve_skill(full.access(), SHARED, intent="cut a release")
    assert "trust" not in json.loads(skill_text(clean, 6000))
    long = resolve_skill(full.access(), SHARED, intent="z" * 500)
    assert json.loads(skill_text(long, 400))["intent"].endswith("[intent truncated]")


def test_the_lean_brief(full: AiosBuilder) -> None:
    lean = read_lean(full.access())
    assert [section.title for section in lean.sections] == [
        "Identity",
        "Priorities",
        "North star",
        "Today's daily note",
        "Active project README",
    ]
    text = lean.text()
    assert text.startswith(
        f"Memory: Shared\n\n# Lean brief\n\nRead on {TODAY}.\n\n## Identity\n\n---"
    )
    assert "The release policy: two reviews." in text
    assert PLACEHOLDER not in text
    assert lean.as_json()["date"] == TODAY


def test_a_lean_brief_of_an_empty_folder(aios: AiosBuilder) -> None:
    aios.write("projects/empty/README.md", "  \n")
    aios.write("projects/notes.md", "x")
    lean = read_lean(aios.access())
    assert lean.text().count(PLACEHOLDER) == 5
    aios.write("context/identity.md", f"key {SECRET}")
    hidden = read_lean(aios.access())
    assert (hidden.withheld, hidden.sections[0].text) == (1, None)


def test_a_lean_brief_fails_closed(aios: AiosBuilder) -> None:
    aios.write("context/identity.md", b"\xff")
    with pytest.raises(AiosError) as caught:
        read_lean(aios.access())
    assert caught.value.code == "DOTAIOS_WORKING_CONTEXT_READ_FAILED"
    (aios.root / "aios.json").unlink()
    with pytest.raises(AiosError) as caught:
        read_lean(aios.access())
    assert caught.value.code == "DOTAIOS_FOLDER_MISSING"


def mapped(state: Path, **checkouts: Path) -> Path:
    paths = {}
    for project_id, path in checkouts.items():
        path.mkdir(parents=True, exist_ok=True)
        found = path.stat()
        paths[project_id] = {
            "path": str(path),
            "root_identity": {
                "type": "directory",
                "dev": str(found.st_dev),
                "ino": str(found.st_ino),
            },
        }
    state.parent.mkdir(parents=True, exist_ok=True)
    state.write_text(json.dumps({"version": 1, "paths": paths}))
    return state


def test_the_project_of_a_working_directory(full: AiosBuilder, tmp_path: Path) -> None:
    work = tmp_path / "code"
    state = mapped(tmp_path / "state/map.json", A1=work, B2=work / "inner")
    access = full.access(state_path=state)
    assert attached_project(access, work) == "A1"
    assert attached_project(access, work / "inner") == "B2"
    assert attached_project(access, tmp_path) is None
    assert attached_project(access, tmp_path / "none") is None
    for wrong in (Path("relative"), Path("/a\nb")):
        with pytest.raises(AiosError) as caught:
            attached_project(access, wrong)
        assert caught.value.code == "DOTAIOS_ARGUMENT_INVALID"


def test_attachment_fails_closed(full: AiosBuilder, tmp_path: Path) -> None:
    def code(**access: object) -> str:
        with pytest.raises(AiosError) as caught:
            attached_project(full.access(**access), tmp_path)
        return caught.value.code

    layer = MeddlingLayer(("read", "README.md"), lambda: full.project("alpha", id="other"))
    assert code(files=layer) == "DOTAIOS_WORKING_CONTEXT_READ_FAILED"
    (full.root / "aios.json").unlink()
    assert code() == "DOTAIOS_FOLDER_MISSING"
