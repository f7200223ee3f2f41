"""Whole requests over folders of hostile content: only documented errors come back."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.context.lean import read_lean
from agentic_os.aios.documents import (
    METADATA_CHARS,
    search_text,
    skill_text,
    working_context_document,
)
from agentic_os.aios.folder import faults
from agentic_os.aios.folder.json_text import compact, pretty
from agentic_os.aios.folder.layer import stamp_of
from agentic_os.aios.follow.pages import SourcePage
from agentic_os.aios.follow.references import Reference, digest_of, encode, file_hash, root_hash
from agentic_os.aios.follow.request import follow_source
from agentic_os.aios.intent.request import resolve_intent
from agentic_os.aios.intent.skills import resolve_skill
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.errors import AiosError
from agentic_os.text.budget import utf16_length
from support.aios.builder import TODAY, AiosBuilder, tree

bounded = settings(deadline=None, max_examples=40)
CODES = {value for name, value in vars(faults).items() if name.isupper() and isinstance(value, str)}

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40)
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.text(max_size=5), scalars)
rows = st.fixed_dictionaries(
    {},
    optional={
        "ts": st.sampled_from([f"{TODAY}T01:00:00Z", "x"]) | values,
        "type": st.just("update") | values,
        "summary": st.just("gate") | values,
        "source": st.just("dotaios update") | values,
        "project": st.sampled_from(["alpha", "A1"]) | values,
        "project_id": st.just("A1") | values,
        "captured_at": st.just(f"{TODAY}T01:00:00Z") | values,
        "title": values,
        "agent": values,
        "turns": values,
        "path": st.sampled_from(
            ["memory/sessions/2026-11-30/x.md", "../x", "/etc/passwd", "context/identity.md"]
        )
        | values,
        "record_id": values,
    },
)
contents = (
    st.lists(rows.map(json.dumps), max_size=5).map(lambda found: "\n".join(found).encode())
    | st.binary(max_size=80)
    | st.text(max_size=80).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
STREAMS = (
    "memory/events.jsonl",
    "memory/events-archive.jsonl",
    "memory/events-archive.000001.jsonl",
    "memory/signals-archive.000001.jsonl",
    f"memory/signals/{TODAY}.jsonl",
    "memory/sessions/index.jsonl",
)
NOTES = (
    "context/identity.md",
    "context/work.md",
    "decisions/log.md",
    f"memory/daily/{TODAY}.md",
    "memory/sessions/2026-11-30/x.md",
    "projects/alpha/README.md",
    "skills/ship/SKILL.md",
    "aios.json",
    "plugins/p/manifest.json",
)


@pytest.fixture(scope="module")
def aios() -> Iterator[AiosBuilder]:
    """One folder for all examples; each puts back what it replaced."""
    with tempfile.TemporaryDirectory() as folder:
        yield AiosBuilder(Path(folder) / "folder").complete()


@contextmanager
def replaced(aios: AiosBuilder, relative: str, content: bytes) -> Iterator[Path]:
    path = aios.root / relative
    before = path.read_bytes() if path.exists() else None
    aios.write(relative, content)
    try:
        yield path
    finally:
        path.unlink()
        if before is not None:
            path.write_bytes(before)


def assert_documented(error: AiosError) -> None:
    assert error.code in CODES
    assert "/" not in error.message


def ask_everything(aios: AiosBuilder) -> None:
    before = tree(aios.root)
    for project in (None, "A1", "alpha"):
        policy = resolve_policy(project=project)
        try:
            brief = read_brief(aios.access(), policy, budget=700)
            assert utf16_length(brief.context.markdown) <= 700
            document = working_context_document(brief)
            rest = {k: v for k, v in document.items() if k not in {"markdown", "coverage"}}
            assert utf16_length(pretty(rest)) <= METADATA_CHARS
            json.loads(brief.hook_json())
        except AiosError as error:
            assert_documented(error)
        try:
            text = search_text(search_aios(aios.access(), policy, query="gate"), 3530)
            assert utf16_length(text) <= 3530
            text.encode("utf-8")
        except AiosError as error:
            assert_documented(error)
        try:
            answer = resolve_skill(aios.access(), policy, intent="cut a release", limit=3)
            assert utf16_length(skill_text(answer, 3530)) <= 3530
        except AiosError as error:
            assert_documented(error)
    try:
        read_lean(aios.access()).text()
    except AiosError as error:
        assert_documented(error)
    assert tree(aios.root) == before


@bounded
@given(st.sampled_from(STREAMS), contents)
def test_every_kind_of_jsonl(aios: AiosBuilder, relative: str, content: bytes) -> None:
    with replaced(aios, relative, content):
        ask_everything(aios)


@bounded
@given(
    st.sampled_from(NOTES),
    contents | st.binary(max_size=80).map(lambda data: b"---\n" + data + b"\n---\n# T\n"),
)
def test_every_kind_of_note(aios: AiosBuilder, relative: str, content: bytes) -> None:
    with replaced(aios, relative, content):
        ask_everything(aios)


@bounded
@given(st.text(max_size=60), st.integers(-5, 600))
def test_queries_and_intents(aios: AiosBuilder, text: str, padding: int) -> None:
    for asked in (text, text + " " + "x" * max(0, padding)):
        for policy in (resolve_policy(), resolve_policy(project="A1")):
            try:
                answer = search_aios(aios.access(), policy, query=asked)
                search_text(answer, 3530).encode("utf-8")
            except AiosError as error:
                assert_documented(error)
            try:
                resolve_skill(aios.access(), policy, intent=asked)
            except AiosError as error:
                assert_documented(error)
        try:
            resolution = resolve_intent(aios.access(), resolve_policy(), intent=asked, project=text)
            resolution.text().encode("utf-8")
            assert resolution.status == "refused"
        except AiosError as error:
            assert_documented(error)


@bounded
@given(st.text(max_size=200), st.text(max_size=30))
def test_references_of_any_text(aios: AiosBuilder, reference: str, project: str) -> None:
    for policy in (resolve_policy(), resolve_policy(project=project if project.strip() else "x")):
        answer = follow_source(aios.access(), policy, reference=reference)
        assert answer.as_json()["status"] == "refused"


@bounded
@given(
    st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=60),
    st.integers(1, 400),
    st.integers(3530, 4200),
)
def test_pages_join_to_any_source(aios: AiosBuilder, unit: str, repeats: int, budget: int) -> None:
    data = (unit * repeats).encode("utf-8")
    with replaced(aios, "context/work.md", data) as path:
        reference: str | None = encode(
            Reference(
                source="context/work.md",
                scope="shared",
                project=None,
                root=root_hash(stamp_of(aios.root.lstat())),
                file=file_hash(stamp_of(path.lstat())),
                digest=digest_of(data),
                offset=0,
            )
        )
        parts: list[str] = []
        while reference is not None:
            page = follow_source(
                aios.access(), resolve_policy(), reference=reference, budget=budget
            )
            assert isinstance(page, SourcePage), page
            assert page.used == utf16_length(compact(page.as_json())) <= budget
            parts.append(page.text)
            reference = page.following
    assert "".join(parts).encode("utf-8") == data
