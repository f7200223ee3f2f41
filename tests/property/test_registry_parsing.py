"""Whatever is written in a descriptor, a record, a path or projects.toml: an answer comes."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentic_os.errors import SettingsError
from agentic_os.registry.codes import CODES
from agentic_os.registry.descriptor.containment import Escape, contained
from agentic_os.registry.descriptor.reading import parse_descriptor
from agentic_os.registry.descriptor.record import read_record, split_record
from agentic_os.registry.descriptor.values import Descriptor
from agentic_os.registry.identity.ids import ProjectKey, assign_ids, slug_of
from agentic_os.registry.walk.pruning import Pruning
from agentic_os.settings.parsing import parse_settings

KEYS = ["project", "name", "memory", "stack", "tier", "memory_path", "vault_path", "graph_path"]
KEYS += ["rag_endpoint", "scaffold", "context", "created", "project_init_contract_version"]
SCALARS = st.one_of(
    st.sampled_from(["none", "auto", "obsidian", "obsidian-graphify-rag", "2", "3.9", ".inf"]),
    st.sampled_from(["", "~", "true", "2026-13-45", "../x", "/etc", '"a\\0b"', "*a", "&a x", "'"]),
    st.text(max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=3).map(
            lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs.items()) + "}"
        ),
    ),
    max_leaves=6,
)


@st.composite
def yaml_like(draw: st.DrawFn) -> str:
    """Draw lines of keys and values that look like a descriptor."""
    lines: list[str] = []
    for _ in range(draw(st.integers(0, 12))):
        indent = "  " * draw(st.integers(0, 3))
        lines.append(f"{indent}{draw(st.sampled_from(KEYS))}: {draw(VALUES)}")
    return draw(st.sampled_from(["\n", "\r\n", "\r"])).join(lines)


def check(data: bytes) -> None:
    parsed = parse_descriptor(data, layout=".claude", folder_name="folder")
    for noted in parsed.diagnostics:
        assert noted.code in CODES
        noted.message.encode()
        assert noted.message.isprintable()
    if not isinstance(parsed, Descriptor):
        return
    assert parsed.name.isprintable()
    assert 0 < len(parsed.name) <= 200
    assert (parsed.tier is None) is (not parsed.retrieval)
    assert parsed.tier in {None, 0, 1, 2, 3}
    if not parsed.retrieval:
        assert (parsed.memory, parsed.vault, parsed.graph, parsed.rag_endpoint) == (None,) * 4
    for path in (parsed.memory_path, parsed.vault_path, parsed.graph_path):
        assert path is None or contained(path) == path


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=400))
@example(b"\xff\xfe")
@example(b"\xef\xbb\xbf")
@example("project:\n  name: \U0001f680\n".encode("utf-16"))
def test_any_bytes_give_an_answer(data: bytes) -> None:
    check(data)


@settings(max_examples=500, deadline=None)
@given(yaml_like())
def test_anything_like_a_descriptor_gives_an_answer(text: str) -> None:
    check(text.encode("utf-8", "surrogatepass"))
    head = "project:\n  project_init_version: 1.2.2\n"
    check((head + text).encode("utf-8", "surrogatepass"))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["[", "{", "- ", "? ", "{a: ", "[[", "a:\n ", ": ", "!!map {", "&a [", "-\t"]),
    st.integers(1, 60_000),
    st.text(max_size=3),
)
def test_any_depth_gives_an_answer(opening: str, depth: int, tail: str) -> None:
    check(("memory: " + opening * depth + tail).encode("utf-8", "surrogatepass")[:262_144])
    check((opening * depth + tail).encode("utf-8", "surrogatepass")[:262_144])


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=200), st.text(max_size=200), st.booleans())
def test_any_record_gives_an_answer(before: str, after: str, marked: bool) -> None:
    start = "# --- scaffold record (x) ---\nscaffold:\n" if marked else "scaffold:\n"
    text = f"{before}\n{start}  variables: {after}\n  manifest: {after}"
    record = read_record(text.encode("utf-8", "surrogatepass"), path="p")
    assert record is not None
    for key, value in (*record.variables.items(), *record.manifest.items()):
        key.encode()
        value.encode()


@settings(max_examples=400, deadline=None)
@given(st.text(alphabet="ab:# \n-scafold", max_size=120))
def test_splitting_loses_no_line_and_no_text(text: str) -> None:
    split = split_record(text)
    if not split.record:
        assert split.visible == text
        return
    assert split.record in text
    whole = split.visible.strip("\n")
    for line in whole.split("\n"):
        assert line in text
    if text.endswith(split.record):
        assert split.visible + split.record == text
    else:
        assert split.visible.count("\n") == text.count("\n")


@settings(max_examples=600, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab./\\~:C \0\n\u202e\udc80é"), max_size=20))
@example("a/../..")
@example("..\\..")
def test_a_contained_path_never_leaves(text: str) -> None:
    found = contained(text)
    if isinstance(found, Escape):
        found.shown.encode()
        assert found.reason
        return
    parts = found.split("/")
    assert not {"", ".", ".."} & set(parts)
    assert contained(found) == found
    assert Path("/project", found).is_relative_to("/project")


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=100))
def test_a_slug_is_always_fit_for_an_id(text: str) -> None:
    slug = slug_of(text)
    assert 0 < len(slug) <= 40
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert slug.strip("-") == slug
    assert "--" not in slug
    assert slug_of(slug) == slug
    assert slug_of(unicodedata.normalize("NFD", text[:30])) == slug_of(
        unicodedata.normalize("NFC", text[:30])
    )


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.builds(
            ProjectKey,
            remote=st.booleans(),
            origin=st.text(alphabet="ab/", min_size=1, max_size=4),
            subpath=st.text(alphabet="ab/", max_size=4),
        ),
        max_size=12,
    )
)
def test_every_key_has_one_id_whatever_the_order(keys: list[ProjectKey]) -> None:
    ids = assign_ids(keys)
    assert set(ids) == set(keys)
    assert ids == assign_ids(reversed(keys))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=4), st.text(min_size=1, max_size=12))
def test_any_glob_can_be_asked(globs: list[str], name: str) -> None:
    pruning = Pruning(exclude=tuple(globs))
    assert pruning.excludes(name, f"a/{name}") in {True, False}


TOML_PIECES = st.lists(
    st.one_of(
        st.sampled_from(["roots = []", "[limits]", "depth = 3", "[[project]]", 'path = "a"', "["]),
        st.sampled_from(['id = "x"', "aliases = ['y']", "[[grant]]", "endpoint = 'z'", "= 1"]),
        st.sampled_from(["[redaction]", "allow = ['s']", 'exclude = ["*"]', "limits.depth = 1"]),
        st.text(max_size=12),
    ),
    max_size=10,
)


@settings(max_examples=500, deadline=None)
@given(TOML_PIECES)
def test_any_projects_toml_is_read_or_refused_with_a_code(lines: list[str]) -> None:
    text = "\n".join(lines)
    try:
        found = parse_settings(text, file=Path("/s/projects.toml"), home=Path("/h"))
    except SettingsError as fault:
        refused = fault
    else:
        assert all(root.path.is_absolute() for root in found.roots)
        return
    assert refused.code.startswith("SETTINGS_")
    assert refused.message.startswith("projects.toml")
    refused.message.encode()


def test_the_properties_above_reach_descriptors_and_refusals() -> None:
    text = b"project:\n  project_init_version: 1\nmemory:\n  stack: auto\n"
    assert isinstance(parse_descriptor(text, layout=".claude", folder_name="x"), Descriptor)
    with pytest.raises(SettingsError):
        parse_settings("= 1", file=Path("/s/projects.toml"), home=Path("/h"))
