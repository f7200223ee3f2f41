"""The brief in its writing form: deterministic, its own section alone, once."""

import json

import pytest

from agentic_os.aios.notes.brief import write_brief
from agentic_os.aios.notes.sections import carry, set_section
from agentic_os.aios.policy import resolve_policy
from agentic_os.errors import AiosError
from support.aios.builder import TODAY, YESTERDAY, AiosBuilder, tree

SHARED = resolve_policy()


def note(aios: AiosBuilder, day: str = TODAY) -> str:
    return (aios.root / f"memory/daily/{day}.md").read_text()


def section(aios: AiosBuilder) -> str:
    return note(aios).split("## Brief\n", 1)[1].split("\n## ", 1)[0]


def test_an_empty_folder_has_three_placeholders(aios: AiosBuilder) -> None:
    assert write_brief(aios.access(), SHARED).status == "applied"
    lists = section(aios).split("### ")[1:]
    assert [part.split("\n")[0] for part in lists] == ["Priorities", "Open Loops", "Carry-over"]
    assert all(part.count("\n- ") == 1 for part in lists)


def test_what_is_listed_and_that_nothing_else_changes(full: AiosBuilder) -> None:
    full.write(f"memory/daily/{YESTERDAY}.md", "## Close\n\n### Carry-over\n- [ ] Call Bo\n")
    full.write(
        f"memory/daily/{TODAY}.md",
        f"# {TODAY}\n\n## Plan\n\nCarried over from {YESTERDAY}:\n\n- call bo\n\n"
        "## Close\n\n### Done\nall\tof it \n",
    )
    full.jsonl(
        "memory/events.jsonl",
        {"ts": f"{TODAY}T08:00:00Z", "type": "brief", "summary": "open brief"},
        {"ts": f"{TODAY}T08:01:00Z", "type": "update", "summary": "Waiting for Ann"},
        {"ts": f"{TODAY}T08:02:00Z", "type": "update", "summary": "waiting  for ann"},
        {"ts": f"{TODAY}T08:03:00Z", "type": "update", "summary": "Reopened"},
    )
    shown = tree(full.root)
    assert write_brief(full.access(), SHARED, dry_run=True).status == "preview"
    assert tree(full.root) == shown
    assert write_brief(full.access(), SHARED).status == "applied"
    text = section(full)
    assert "- Ship the gate" in text
    assert text.lower().count("waiting for ann") == 1
    assert "Reopened" not in text
    assert "open brief" not in text
    assert text.lower().count("call bo") == 1
    assert note(full).endswith("## Close\n\n### Done\nall\tof it \n")
    events = (full.root / "memory/events.jsonl").read_text().splitlines()
    assert json.loads(events[-1])["type"] == "brief"
    before = tree(full.root)
    assert write_brief(full.access(), SHARED).status == "unchanged"
    assert tree(full.root) == before


def test_sections_are_set_and_carried(aios: AiosBuilder) -> None:
    access = aios.access()
    set_section(access, SHARED, "Carry-over", "- a\n- [ ] b")
    with pytest.raises(AiosError) as caught:
        set_section(access, SHARED, "Carry-over", "- c")
    assert caught.value.code == "DOTAIOS_DAILY_FILLED"
    set_section(access, SHARED, "Carry-over", "- c", replace=True)
    assert carry(access, SHARED).changes[0].action == "create"
    assert "Carried over from 2026-11-30:\n\n- c\n" in note(aios, "2026-12-01")
    assert carry(access, SHARED, "2026-12-01").status == "unchanged"
    for section_name, text in (("Brief", "x"), ("Focus", ""), ("Focus", "## Plan\nx")):
        with pytest.raises(AiosError) as caught:
            set_section(access, SHARED, section_name, text)
        assert caught.value.code == "DOTAIOS_ARGUMENT_INVALID"


@pytest.mark.parametrize("data", [b"\xff", b"## Brief\n## Brief\n"])
def test_a_note_that_is_refused_stays(aios: AiosBuilder, data: bytes) -> None:
    path = aios.write(f"memory/daily/{TODAY}.md", data)
    with pytest.raises(AiosError):
        write_brief(aios.access(), SHARED)
    assert path.read_bytes() == data
