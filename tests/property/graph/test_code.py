"""No bytes make the reading of sources and manifests raise, and what it gives is consistent."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.code.manifests.reading import read_manifest
from agentic_os.code.reading import read_source
from agentic_os.code.values import SourceFacts

PATHS = ("a.py", "a.ts", "a.tsx", "a.js", "a.go")
MANIFESTS = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "requirements.txt",
    "PKG-INFO",
    "package.json",
    "tsconfig.json",
    "go.mod",
    "Cargo.toml",
    "pom.xml",
    ".gitmodules",
    ".github/workflows/a.yml",
)
PIECES = {
    "a.py": [
        "import",
        "from",
        "a",
        ".b",
        "(",
        ")",
        "\n",
        "    ",
        "def f():",
        "class A(",
        ":",
        "=",
        "x",
        "'/s'",
        "@app.get(",
        "*",
        ",",
        "lambda",
        "if",
        "try",
        "except",
        "\x00",
        "é",
        "#",
        "[",
        "]",
        "f'{",
    ],
    "a.go": [
        "package p",
        "\n",
        "import",
        '"a/b"',
        "(",
        ")",
        "func F",
        "{",
        "}",
        "x.y",
        ":=",
        "var",
        "type T",
        "struct",
        ".",
        ",",
        "`",
        "for",
        "range",
        "é",
    ],
    "a.ts": [
        "import",
        "from",
        "'m'",
        "{",
        "}",
        "*",
        "as",
        "a",
        "\n",
        "export",
        "default",
        "class",
        "function",
        "=>",
        "(",
        ")",
        "`${",
        "require(",
        ".b",
        "<A",
        ">",
        "=",
        "const",
        ",",
        "é",
    ],
}


def check(facts: SourceFacts | None) -> None:
    assert facts is not None
    count, imports = len(facts.symbols), len(facts.imports)
    assert all(
        -1 <= symbol.parent < count and symbol.start <= symbol.end for symbol in facts.symbols
    )
    assert all(-1 <= use.scope < count for use in facts.uses)
    assert all(use.imports and max(use.imports) < imports for use in facts.uses)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(facts), type=SourceFacts) == facts


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(PATHS), st.binary(max_size=300))
def test_any_bytes_are_read(path: str, data: bytes) -> None:
    found = read_source(path, data)
    if not data.startswith(b"version https://git-lfs.github.com/spec/"):
        check(found)


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(sorted(PIECES)), st.data())
def test_anything_like_a_source_is_read(path: str, data: st.DataObject) -> None:
    pieces = data.draw(st.lists(st.sampled_from(PIECES[path]), max_size=40))
    joint = data.draw(st.sampled_from((" ", "", "\n")))
    check(read_source(path, joint.join(pieces).encode()))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "piece", ["(", "[", "{", "a.", "a(", "-", "not ", "if 1:\n", "`${", "<a>", "=>"]
)
def test_deep_repetition_is_read(path: str, piece: str) -> None:
    check(read_source(path, (piece * 4_000).encode()))


@settings(max_examples=250, deadline=None)
@given(
    st.sampled_from(MANIFESTS),
    st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")),
)
def test_any_manifest_is_read(path: str, data: bytes) -> None:
    found = read_manifest(path, data)
    assert found is not None
    assert found.path == path


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                (
                    "name",
                    "bin",
                    "exports",
                    "dependencies",
                    ".",
                    "./x",
                    "workspaces",
                    "compilerOptions",
                    "paths",
                    "import",
                )
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(("package.json", "tsconfig.json")), json_values)
def test_manifests_of_any_shape_are_read(path: str, value: object) -> None:
    found = read_manifest(path, msgspec.json.encode(value))
    assert found is not None
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=type(found)) == found
