"""A bad file is named, with its line and its mend, whatever fails closed because of it."""

from collections.abc import Callable

import pytest

from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.intent.skills import resolve_skill
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.errors import AiosError
from support.aios.builder import AiosBuilder

README = "projects/alpha/README.md"
Spoil = Callable[[AiosBuilder], object]


def refused(call: Callable[[], object]) -> AiosError:
    with pytest.raises(AiosError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(
    ("spoil", "path", "line"),
    [
        (lambda a: a.write(README, "---\nid: A1\nname: Shop: the till\n---\n"), README, 3),
        (lambda a: a.write(README, "---\nid: A1\nname: x\n\nid: A2\n---\n"), README, 5),
        (lambda a: a.write(README, "---\nid: A1\n"), README, 1),
        (lambda a: a.write(README, "---\n- a\n---\n"), README, 2),
        (lambda a: a.write(README, "---\nid: A1\nproject_id: A2\n---\n"), README, None),
        (lambda a: a.write("projects/zeta/README.md", "---\nid: A1\n---\n"), None, None),
        (lambda a: a.write("projects/Bad_Name/README.md", ""), "projects/Bad_Name", None),
        (lambda a: a.write("context/work.md", b"# Work\n\nno \xff\n"), "context/work.md", 3),
        (lambda a: a.write("memory/events.jsonl", b"{}\n\xff"), "memory/events.jsonl", 2),
    ],
)
def test_the_working_context_names_the_file(
    full: AiosBuilder, spoil: Spoil, path: str | None, line: int | None
) -> None:
    spoil(full)
    error = refused(lambda: read_brief(full.access(), resolve_policy()))
    assert error.code == "DOTAIOS_WORKING_CONTEXT_READ_FAILED"
    assert error.path == (path or "projects/zeta/README.md")
    assert error.line == line
    assert error.hint
    assert "/" not in error.message


def test_a_link_is_named(full: AiosBuilder) -> None:
    (full.root / "context/work.md").unlink()
    (full.root / "context/work.md").symlink_to("identity.md")
    error = refused(lambda: read_brief(full.access(), resolve_policy()))
    assert (error.path, error.line) == ("context/work.md", None)
    assert "link" in error.hint


def test_searches_and_skills_name_it_too(full: AiosBuilder) -> None:
    full.write("context/work.md", b"\xff")
    error = refused(lambda: search_aios(full.access(), resolve_policy(), query="gate"))
    assert (error.code, error.path) == ("DOTAIOS_EVIDENCE_INVALID_UTF8", "context/work.md")
    full.write("skills/ship/SKILL.md", "---\nname: ship\n")
    error = refused(lambda: resolve_skill(full.access(), resolve_policy(), intent="ship"))
    assert (error.path, error.line) == ("skills/ship/SKILL.md", 1)
    full.write(README, "---\nid: 'A1\n---\n")
    policy = resolve_policy(project="alpha")
    error = refused(lambda: search_aios(full.access(), policy, query="gate"))
    assert error.code == "DOTAIOS_PROJECT_CATALOG_INVALID"
    assert error.path == README
    assert error.line is not None
