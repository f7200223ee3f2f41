import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.context.selection import WorkingContext, read_working_context
from agentic_os.aios.context.sources import (
    DECISIONS_BYTES,
    MARKDOWN_BYTES,
    SIGNAL_FILE_BYTES,
    SIGNAL_FILES,
    SIGNAL_FOLDER_ENTRIES,
    TIMELINE_BYTES,
)
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.policy import resolve_policy
from agentic_os.errors import AiosError
from agentic_os.text.budget import utf16_length
from support.aios.builder import (
    NOW,
    SECRET,
    TODAY,
    YESTERDAY,
    AiosBuilder,
    MeddlingLayer,
    RaisingLayer,
)

SHARED = resolve_policy()
FAILED = "DOTAIOS_WORKING_CONTEXT_READ_FAILED"


def context(aios: AiosBuilder, selector: str | None = None, **options: int) -> WorkingContext:
    return read_working_context(aios.access(), resolve_policy(project=selector), **options)


def failure(aios: AiosBuilder, selector: str | None = None) -> AiosError:
    with pytest.raises(AiosError) as caught:
        context(aios, selector)
    return caught.value


def assert_fails_closed(aios: AiosBuilder, selector: str | None = None) -> None:
    error = failure(aios, selector)
    assert error.code == FAILED
    assert error.message == "the working context could not be read safely"


def test_an_aios_json_alone_is_a_folder(aios: AiosBuilder) -> None:
    found = context(aios)
    assert found.markdown == f"Memory: Shared\n\n## Active Context · {TODAY}"
    assert (found.budget.limit, found.budget.used) == (6000, len(found.markdown))
    assert found.budget.as_json()["remaining"] == 6000 - len(found.markdown)
    assert found.generated_at == "2026-11-30T12:00:00.000Z"
    (aios.root / "aios.json").unlink()
    assert failure(aios).code == "DOTAIOS_FOLDER_MISSING"


def test_the_whole_shared_projection(full: AiosBuilder) -> None:
    found = context(full)
    version = {source.section: source.evidence.version for source in found.sources}
    assert found.markdown == "\n\n".join(
        [
            "Memory: Shared",
            f"## Active Context · {TODAY}",
            (
                "### Identity\n# Ada\n\nBuilds quiet tools.\n"
                f"> Source: context/identity.md (excerpt; {version['identity']})"
            ),
            (
                "### Priorities\n# Priorities\n\n## Current Bets\n- Ship the gate\n"
                f"> Source: context/priorities.md (excerpt; {version['priorities']})"
            ),
            (
                "### Current Work\nThe release policy.\n"
                f"> Source: context/work.md (excerpt; {version['currentWork']})"
            ),
            "### Decisions\n- 2026-10-04 Fourth\n- 2026-10-03 Third\n- 2026-10-02 Second",
            "### Today\n**Focus:** Finish the gate\n- write tests\n- read code\n- review\n- fourth",
            "### Carry-overs\n- Carried over from 2026-11-28: call Bo\n- Pay the bill",
            (
                "### Active Project\n- Alpha · active · build · make\n  The first project.\n"
                "> The release policy: two reviews.\n>\n> Then ship."
            ),
            (
                "### Recent Sessions\n"
                f'- {TODAY} · claude-code · alpha · "Ship on Friday?" (2 turns)\n'
                f'- {YESTERDAY} · claude-code · beta · "Plans" (2 turns)'
            ),
            f"### Recent Signals\n- [{TODAY}] Gate is green\n- [{YESTERDAY}] undated signal",
            f"### Recent Events\n- [{TODAY}] Planned the rollout",
        ]
    )
    assert found.budget.used == utf16_length(found.markdown)
    assert not found.budget.truncated
    assert found.coverage is None
    assert found.project is None
    assert list(version) == ["identity", "priorities", "currentWork"]
    assert (found.withheld, found.hidden_characters) == (0, 0)


def test_the_whole_project_projection(full: AiosBuilder) -> None:
    full.jsonl(
        f"memory/signals/{TODAY}.jsonl",
        {"summary": "global"},
        {"summary": "of beta", "project": "beta"},
        {"summary": "of alpha", "project_id": "A1"},
        {"summary": "conflicting", "project": "alpha", "project_id": "B2"},
    )
    found = context(full, "A1")
    (source,) = found.sources
    assert source.section == "activeProject"
    assert found.markdown == "\n\n".join(
        [
            "Memory: This project",
            f"## Active Context · {TODAY}",
            (
                "### Active Project\n- Alpha · active · build · make\n  The first project.\n"
                "> The release policy: two reviews.\n>\n> Then ship.\n"
                f"> Source: projects/alpha/README.md (excerpt; {source.evidence.version})"
            ),
            f'### Recent Sessions\n- {TODAY} · claude-code · alpha · "Ship on Friday?" (2 turns)',
            f"### Recent Signals\n- [{TODAY}] Gate is green\n- [{TODAY}] of alpha",
            f"### Recent Events\n- [{TODAY}] Planned the rollout",
        ]
    )
    assert found.project == "alpha"
    assert found.coverage is not None
    assert found.coverage.notice is None


def test_project_mode_never_opens_what_is_shared(full: AiosBuilder) -> None:
    for relative in ("context/identity.md", f"memory/daily/{TODAY}.md", "decisions/log.md"):
        (full.root / relative).unlink()
        os.mkfifo(full.root / relative)
    assert context(full, "alpha").project == "alpha"
    assert_fails_closed(full)


def test_coverage_of_a_long_readme(full: AiosBuilder) -> None:
    full.project("alpha", "# Alpha\n\n" + "word " * 400, id="A1")
    clipped = context(full, "A1")
    assert clipped.coverage is not None
    assert (clipped.coverage.excerpt_clipped, clipped.coverage.budget_omitted) == (True, False)
    omitted = context(full, "A1", budget=256)
    assert omitted.coverage is not None
    assert omitted.coverage.budget_omitted
    assert omitted.sources == ()
    assert omitted.budget.truncated


@pytest.mark.parametrize("budget", [0, 1, 26, 30, 100, 256, 700, 1200])
def test_budgets_hold(full: AiosBuilder, budget: int) -> None:
    full.write("context/identity.md", "😀é" * 600)
    for selector in (None, "A1"):
        found = context(full, selector, budget=budget)
        assert utf16_length(found.markdown) == found.budget.used <= budget
        assert found.budget.truncated or selector is not None
        for source in found.sources:
            assert source.evidence.provenance in found.markdown


def test_selectors(full: AiosBuilder) -> None:
    assert context(full, " apex ").project == "beta"
    full.project("gamma", project="apex")
    assert failure(full, "apex").code == "DOTAIOS_AMBIGUOUS_PROJECT"
    assert failure(full, "nobody").code == "DOTAIOS_PROJECT_SELECTOR_UNKNOWN"
    assert failure(full, "a\x07").code == "DOTAIOS_ARGUMENT_INVALID"


def test_arguments(aios: AiosBuilder) -> None:
    for budget, sessions in ((-1, 3), (10, -1)):
        with pytest.raises(AiosError) as caught:
            context(aios, budget=budget, sessions=sessions)
        assert caught.value.code == "DOTAIOS_ARGUMENT_INVALID"


def test_how_many_rows_are_shown(aios: AiosBuilder) -> None:
    rows = [{"ts": f"{TODAY}T0{n}:00:00Z", "summary": f"row {n}"} for n in range(10)]
    aios.jsonl("memory/events.jsonl", *rows)
    aios.jsonl(f"memory/signals/{TODAY}.jsonl", *rows)
    for number in range(5):
        aios.session(f"s{number}", f"{TODAY}T0{number}:00:00Z", "x", title=f"S{number}")
    found = context(aios).markdown
    assert found.count("] row ") == 16
    assert "row 1\n" not in found
    assert found.count("turns)") == 3
    assert context(aios, sessions=5).markdown.count("turns)") == 5


def test_the_project_that_sessions_suggest(aios: AiosBuilder) -> None:
    aios.project("one", "# One\n", id="1", status="active", project="uno")
    assert "- One · active" in context(aios).markdown
    aios.session("s", f"{TODAY}T00:00:00Z", "x", project="stranger")
    assert "### Active Project\n- stranger\n" in context(aios).markdown
    aios.session("t", f"{TODAY}T01:00:00Z", "x", project="uno")
    assert "### Active Project\n- One · active" in context(aios).markdown


def test_signal_files_of_two_days(aios: AiosBuilder) -> None:
    for name in ("pc-2026-11-30", "2026-11-29", "2026-11-28", "notes"):
        aios.jsonl(f"memory/signals/{name}.jsonl", {"summary": f"in {name}"})
    text = context(aios).markdown
    assert "in pc-2026-11-30" in text
    assert "in 2026-11-29" in text
    assert "in 2026-11-28" not in text
    assert "in notes" not in text


def test_an_update_appears_under_events_only(aios: AiosBuilder) -> None:
    row = {"ts": f"{TODAY}T01:00:00Z", "type": "update", "source": "dotaios update", "summary": "U"}
    aios.jsonl("memory/events.jsonl", row)
    aios.jsonl(f"memory/signals/{TODAY}.jsonl", row)
    text = context(aios).markdown
    assert text.count("U") == 1
    assert "Recent Signals" not in text


def test_today_is_the_local_day(aios: AiosBuilder) -> None:
    late = datetime(2026, 11, 30, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    found = read_working_context(AiosAccess(root=aios.root, clock=lambda: late), SHARED)
    assert f"Active Context · {TODAY}" in found.markdown
    assert found.generated_at == "2026-12-01T04:30:00.000Z"


def test_corrupt_rows_are_skipped_not_repaired(aios: AiosBuilder) -> None:
    path = aios.write(
        "memory/events.jsonl", f'{{"ts":"{TODAY}T01:00:00Z","summary":"ok"}}\n{{br\n[1]\n'
    )
    before = path.read_bytes()
    assert "- [2026-11-30] ok" in context(aios).markdown
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("relative", "limit"),
    [
        ("context/identity.md", MARKDOWN_BYTES),
        ("context/work.md", MARKDOWN_BYTES),
        (f"memory/daily/{YESTERDAY}.md", MARKDOWN_BYTES),
        ("decisions/log.md", DECISIONS_BYTES),
        ("memory/events.jsonl", TIMELINE_BYTES),
        ("memory/sessions/index.jsonl", TIMELINE_BYTES),
        (f"memory/signals/{TODAY}.jsonl", SIGNAL_FILE_BYTES),
    ],
)
def test_file_limits(aios: AiosBuilder, relative: str, limit: int) -> None:
    path = aios.write(relative, b"\n" * limit)
    assert context(aios).markdown
    path.write_bytes(b"\n" * (limit + 1))
    assert_fails_closed(aios)


def test_signal_folder_limits(aios: AiosBuilder) -> None:
    folder = aios.root / "memory/signals"
    folder.mkdir(parents=True)
    for number in range(SIGNAL_FOLDER_ENTRIES):
        (folder / f"old-{number}").touch()
    assert context(aios).markdown
    (folder / "one-more").touch()
    assert_fails_closed(aios)


def test_signal_files_of_today_are_bounded(aios: AiosBuilder) -> None:
    for number in range(SIGNAL_FILES):
        aios.write(f"memory/signals/m{number}-{TODAY}.jsonl", "")
    assert context(aios).markdown
    aios.write(f"memory/signals/{YESTERDAY}.jsonl", "")
    assert_fails_closed(aios)


def test_all_sources_together_are_bounded(aios: AiosBuilder) -> None:
    for number in range(15):
        aios.write(f"projects/p{number}/README.md", b"x" * MARKDOWN_BYTES)
    aios.write("context/identity.md", b"x" * (MARKDOWN_BYTES // 2))
    assert context(aios).markdown
    aios.write("context/work.md", b"x" * (MARKDOWN_BYTES // 2 + 1))
    assert_fails_closed(aios)


SOURCES = (
    "context/identity.md",
    "decisions/log.md",
    "memory/events.jsonl",
    "memory/sessions/index.jsonl",
    f"memory/signals/pc-{TODAY}.jsonl",
    "projects/alpha/README.md",
)


@pytest.mark.parametrize(
    ("relative", "kind"),
    [
        *((relative, kind) for relative in SOURCES for kind in ("link", "fifo", "folder", "bytes")),
        *(("aios.json", kind) for kind in ("link", "fifo", "folder")),
    ],
)
def test_unsafe_sources_fail_closed(full: AiosBuilder, relative: str, kind: str) -> None:
    path = full.root / relative
    kept = path.rename(full.root.parent / "kept")
    match kind:
        case "link":
            path.symlink_to(kept)
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case _:
            path.write_bytes(b"# \xff\n")
    assert_fails_closed(full)


def test_linked_folders_fail_closed(full: AiosBuilder) -> None:
    (full.root / "context").rename(full.root.parent / "context")
    (full.root / "context").symlink_to(full.root.parent / "context")
    assert_fails_closed(full)


def test_a_catalog_that_changes_around_the_body(full: AiosBuilder) -> None:
    def rename_beta() -> None:
        full.project("beta", id="A1")

    layer = MeddlingLayer(("read", "index.jsonl"), rename_beta)
    with pytest.raises(AiosError) as caught:
        read_working_context(full.access(files=layer), resolve_policy(project="A1"))
    assert layer.done
    assert caught.value.code == FAILED


def test_the_authority_is_observed_again(full: AiosBuilder) -> None:
    layer = MeddlingLayer(("read", "index.jsonl"), (full.root / "aios.json").unlink)
    with pytest.raises(AiosError) as caught:
        read_working_context(full.access(files=layer), SHARED)
    assert caught.value.code == FAILED


def test_off_touches_nothing() -> None:
    access = AiosAccess(root=Path("/nowhere"), files=RaisingLayer(), clock=lambda: NOW)
    brief = read_brief(access, resolve_policy(mode="off"), budget=1)
    found = brief.context
    assert found.markdown.startswith("Memory: Off\n\n")
    assert (found.budget.limit, found.budget.used) == (len(found.markdown), len(found.markdown))
    assert (found.generated_at, found.sources, found.coverage) == (None, (), None)
    assert brief.migration.status == "not_read"
    assert brief.text() == found.markdown


def test_secrets_are_left_out_and_counted(full: AiosBuilder) -> None:
    full.write("context/identity.md", f"# Me\n\nmy key {SECRET}\n")
    full.jsonl(
        "memory/events.jsonl",
        {"ts": f"{TODAY}T01:00:00Z", "summary": f"used {SECRET}"},
        {"ts": f"{TODAY}T02:00:00Z", "summary": "clean"},
    )
    full.write("decisions/log.md", f"## one {SECRET}\n## two\n")
    full.session("z", f"{TODAY}T11:00:00Z", "x", title=f"paste {SECRET}")
    found = context(full)
    assert SECRET not in found.markdown
    assert found.withheld == 4
    assert "### Identity" not in found.markdown
    assert "- [2026-11-30] clean" in found.markdown
    assert "- two" in found.markdown
    assert "### Priorities" in found.markdown


def test_a_secret_in_a_readme_withholds_its_excerpt(full: AiosBuilder) -> None:
    full.project("alpha", f"# Alpha\n\nUse {SECRET} here.\n", id="A1", description="Fine.")
    found = context(full, "A1")
    assert SECRET not in found.markdown
    assert "  Fine." in found.markdown
    assert found.coverage is not None
    assert found.coverage.excerpt_clipped
    assert found.withheld == 1
    full.project("alpha", "# Alpha\n", id="A1", description=f"Key {SECRET}")
    hidden = context(full, "A1")
    assert "### Active Project" not in hidden.markdown
    assert hidden.coverage is not None
    assert hidden.coverage.budget_omitted


def test_invisible_characters_stay_and_are_counted(full: AiosBuilder) -> None:
    full.write("context/identity.md", "Me \u202egnihton\u2066 \x1b[31m\u200b")
    found = context(full)
    assert "Me \u202egnihton\u2066 \x1b[31m\u200b" in found.markdown
    assert found.hidden_characters == 4


def test_a_long_header_offers_no_follow(aios: AiosBuilder) -> None:
    aios.write("context/identity.md", "x" * MARKDOWN_BYTES)
    (source,) = context(aios).sources
    assert source.evidence.follow is not None
    assert source.as_json()["section"] == "identity"
