import pytest

from agentic_os.aios.context.coverage import COVERAGE_CHARS, Coverage
from agentic_os.aios.context.text import (
    BUDGET_MARKER,
    MARKER_CHARS,
    ContextItems,
    Excerpt,
    ProjectBlock,
    fill,
    marked,
    render,
)
from agentic_os.aios.context.timeline import session_rows, timeline_rows
from agentic_os.aios.follow.references import SourceEvidence
from agentic_os.aios.projects.values import bare_record
from agentic_os.text.budget import utf16_length

EVIDENCE = SourceEvidence(
    source="context/identity.md", version="sha256:" + "0" * 64, follow="ds1.x", reason=None
)
BASE = ContextItems(receipt="Memory: Shared", today="2026-11-30")
HEAD = "Memory: Shared\n\n## Active Context · 2026-11-30"


def items(**changes: object) -> ContextItems:
    from dataclasses import replace

    return replace(BASE, **changes)  # type: ignore[arg-type]  # names are those of the fields


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (0, ""),
        (1, "…"),
        (10, "[context…"),
        (26, "[context budget reached]…"),
        (30, "Memo\n\n[context budget reached]"),
    ],
)
def test_the_marker_in_any_limit(limit: int, text: str) -> None:
    assert marked("Memory: Shared and much more text", limit) == text
    assert utf16_length(text) <= limit
    assert MARKER_CHARS == 26


def test_only_sections_that_say_something_are_rendered() -> None:
    assert render(BASE) == HEAD
    session = session_rows(
        '{"captured_at":"2026-11-30T01:00:00Z","agent":"x","title":"T","turns":2}'
    )
    row = tuple(timeline_rows('{"summary":"s"}'))
    text = render(
        items(
            identity=Excerpt(text="Me", evidence=EVIDENCE),
            priorities=Excerpt(text="First", evidence=None),
            current_work=Excerpt(text="Now", evidence=None),
            decisions=("d",),
            plan=("p",),
            carry_over=("c",),
            project=ProjectBlock(record=bare_record("alpha"), evidence=None),
            sessions=tuple(session),
            signals=row,
            events=row,
        )
    )
    assert text == "\n\n".join(
        [
            HEAD,
            f"### Identity\nMe\n> Source: context/identity.md (excerpt; {EVIDENCE.version})",
            "### Priorities\nFirst",
            "### Current Work\nNow",
            "### Decisions\n- d",
            "### Today\n- p",
            "### Carry-overs\n- c",
            "### Active Project\n- alpha",
            '### Recent Sessions\n- 2026-11-30 · x · "T" (2 turns)',
            "### Recent Signals\n- [2026-11-30] s",
            "### Recent Events\n- [2026-11-30] s",
        ]
    )
    assert "**Focus:** f\n- p" in render(items(focus="f", plan=("p",)))


def test_a_project_block() -> None:
    from dataclasses import replace

    record = replace(
        bare_record("alpha"),
        status="active",
        domains=("build",),
        description="What it is.",
        excerpt="One.\n\nTwo.",
    )
    text = render(items(project=ProjectBlock(record=record, evidence=None)))
    assert text.endswith("- alpha · active · build\n  What it is.\n> One.\n>\n> Two.")
    same = replace(record, excerpt="What it is.")
    assert ">" not in render(items(project=ProjectBlock(record=same, evidence=None)))


def test_everything_fits_untouched() -> None:
    candidates = items(focus="f", decisions=("d",))
    filled = fill(candidates, 1000, selected=False)
    assert (filled.text, filled.truncated) == (render(candidates), False)
    assert filled.project_whole is False


def test_each_list_stops_and_later_groups_are_tried() -> None:
    rows = tuple(timeline_rows('{"summary":"e"}\n{"summary":"f"}'))
    candidates = items(plan=("short", "x" * 500, "never"), events=rows)
    filled = fill(candidates, 250, selected=False)
    assert filled.items.plan == ("short",)
    assert filled.items.events == rows
    assert filled.truncated
    assert filled.text.endswith(BUDGET_MARKER)
    assert utf16_length(filled.text) <= 250


def test_decisions_are_all_or_none() -> None:
    filled = fill(items(decisions=("d" * 30, "e" * 30)), 100, selected=False)
    assert filled.items.decisions == ()
    assert filled.truncated


def test_provenance_keeps_room_for_the_marker() -> None:
    candidates = items(identity=Excerpt(text="Me", evidence=EVIDENCE))
    length = utf16_length(render(candidates))
    assert fill(candidates, length + MARKER_CHARS, selected=False).truncated is False
    tight = fill(candidates, length + MARKER_CHARS - 1, selected=False)
    assert tight.items.identity is None
    assert tight.truncated
    bare = items(identity=Excerpt(text="Me", evidence=None))
    assert fill(bare, utf16_length(render(bare)), selected=False).truncated is False


def test_a_selected_project_comes_before_the_lists() -> None:
    block = ProjectBlock(record=bare_record("p" * 60), evidence=None)
    candidates = items(project=block, plan=("x" * 60,))
    length = utf16_length(HEAD) + 119
    first = fill(candidates, length, selected=True)
    assert first.items.project == block
    assert first.project_whole
    last = fill(candidates, length, selected=False)
    assert last.items.plan
    assert last.items.project is None
    assert not last.project_whole


def test_a_cut_project_block_is_not_whole() -> None:
    candidates = items(project=ProjectBlock(record=bare_record("p"), evidence=None), events=())
    whole = utf16_length(render(candidates))
    assert fill(candidates, whole, selected=True).project_whole
    assert not fill(candidates, whole - 1, selected=True).project_whole


def test_even_the_head_is_cut() -> None:
    filled = fill(BASE, 30, selected=False)
    assert filled.text == "Memo\n\n[context budget reached]"
    assert filled.truncated


@pytest.mark.parametrize("clipped", [False, True])
@pytest.mark.parametrize("omitted", [False, True])
def test_coverage_speaks_of_one_source_within_its_allowance(clipped: bool, omitted: bool) -> None:
    coverage = Coverage(excerpt_clipped=clipped, budget_omitted=omitted)
    assert coverage.as_json() == {
        "version": 1,
        "selectedProjectReadme": {"excerptClipped": clipped, "budgetOmitted": omitted},
        "notice": coverage.notice,
    }
    assert (coverage.notice is None) == (not clipped and not omitted)
    if coverage.notice is not None:
        assert "README" in coverage.notice
        assert "do not infer" in coverage.notice
    assert coverage.overhead_chars <= COVERAGE_CHARS
