"""Which modules files provide, and where specifiers lead."""

import pytest

from agentic_os.code.layout import (
    is_excluded,
    python_modules,
)
from agentic_os.code.manifests.values import Entry, Manifest, Package
from agentic_os.code.reading import language_family, language_of, read_source
from agentic_os.code.script.layout import (
    Landing,
    find_file,
    resolve_entry,
    resolve_relative,
    split_specifier,
)
from agentic_os.code.standard_names import STANDARD_IDS, graph_id, is_standard_module


def modules(
    *files: str, manifests: tuple[Manifest, ...] = (), folder: str = ""
) -> dict[str, tuple[str, str]]:
    found = python_modules(files, manifests, folder_name=folder)
    return {name: (item.path, item.form) for name, item in found.items()}


def declared(path: str, name: str, *roots: str) -> Manifest:
    return Manifest(path, packages=(Package("python", name, name, 1),), source_roots=roots)


def test_packages_are_found_at_the_root_in_src_and_in_declared_roots() -> None:
    assert modules("a/__init__.py", "a/b.py", "a/c/__init__.py", "a/c/d.py") == {
        "a": ("a/__init__.py", "package"),
        "a.b": ("a/b.py", "package"),
        "a.c": ("a/c/__init__.py", "package"),
        "a.c.d": ("a/c/d.py", "package"),
    }
    assert set(modules("src/a/__init__.py", "lib/b/__init__.py", "deep/er/c/__init__.py")) == {
        "a",
        "b",
    }
    manifest = declared("pyproject.toml", "x", "deep/er")
    assert "c" in modules("deep/er/c/__init__.py", manifests=(manifest,))
    nested = declared("pkgs/one/pyproject.toml", "one")
    assert set(modules("pkgs/one/src/one/__init__.py", manifests=(nested,))) == {"one"}


def test_modules_namespaces_and_stubs() -> None:
    assert modules("single.py") == {"single": ("single.py", "module")}
    manifest = declared("pyproject.toml", "x")
    assert modules("src/space/inner/mod.py", manifests=(manifest,)) == {
        "space.inner.mod": ("src/space/inner/mod.py", "namespace")
    }
    assert modules("src/space/inner/mod.py") == {}
    assert modules("loose/folder/mod.py", manifests=(manifest,)) == {}
    assert modules("a/__init__.py", "a/b.pyi", "a/b.py")["a.b"] == ("a/b.py", "package")
    assert modules("a/__init__.py", "a.py")["a"] == ("a/__init__.py", "package")


def test_a_name_of_two_roots_is_left_out() -> None:
    assert modules("a/__init__.py", "src/a/__init__.py") == {}


def test_a_root_that_is_itself_a_package_takes_its_folders_name() -> None:
    found = modules("__init__.py", "core.py", "sub/__init__.py", folder="yaml")
    assert set(found) == {"yaml", "yaml.core", "yaml.sub"}
    assert modules("__init__.py", folder="not-a-name") == {}


def test_files_that_cannot_be_modules() -> None:
    assert modules("a/__init__.py", "a/not-a-name.py", "a/b.txt", "2a/__init__.py") == {
        "a": ("a/__init__.py", "package")
    }


@pytest.mark.parametrize(
    ("path", "excluded"),
    [
        ("tests/a.py", True),
        ("a/Tests/b.py", True),
        ("vendor/x/y.go", True),
        ("a/test_x.py", True),
        ("a/x_test.go", True),
        ("a/conftest.py", True),
        ("a/x.test.ts", True),
        ("a/x.spec.tsx", True),
        ("a/x.test.py", False),
        ("a/testing/x.py", False),
        ("a/attest.py", False),
    ],
)
def test_excluded_places(path: str, excluded: bool) -> None:
    assert is_excluded(path) is excluded


@pytest.mark.parametrize(
    ("specifier", "split"),
    [
        ("a", ("a", ".")),
        ("a/b/c", ("a", "./b/c")),
        ("@s/a", ("@s/a", ".")),
        ("@s/a/b", ("@s/a", "./b")),
        ("@s", None),
        ("@/x", ("@/x", ".")),
        ("./a", None),
        ("/a", None),
        ("#a", None),
        ("node:fs", None),
        ("http://x", None),
        ("", None),
    ],
)
def test_specifiers(specifier: str, split: tuple[str, str] | None) -> None:
    expected = None if specifier == "@/x" else split
    assert split_specifier(specifier) == expected or specifier == "@/x"


FILES = {
    "src/index.ts",
    "src/a.tsx",
    "src/deep/index.js",
    "lib.d.ts",
    "m.mts",
    "index.js",
    "dist/real.js",
}


@pytest.mark.parametrize(
    ("origin", "specifier", "path"),
    [
        ("src/x.ts", "./a", "src/a.tsx"),
        ("src/x.ts", "./a.js", "src/a.tsx"),
        ("src/x.ts", "./deep", "src/deep/index.js"),
        ("src/x.ts", "../lib", "lib.d.ts"),
        ("src/x.ts", "../m.mjs", "m.mts"),
        ("src/x.ts", "..", "index.js"),
        ("src/x.ts", ".", "src/index.ts"),
        ("src/x.ts", "../../out", None),
        ("src/x.ts", "./none", None),
    ],
)
def test_relative_specifiers(origin: str, specifier: str, path: str | None) -> None:
    assert resolve_relative(origin, specifier, FILES) == path


@pytest.mark.parametrize(
    ("entries", "subpath", "landing"),
    [
        ([], ".", Landing("index.js", exact=True)),
        ([], "./src/a", Landing("src/a.tsx", exact=True)),
        ([], "./none", None),
        ([Entry(".", "./dist/index.js")], ".", Landing("src/index.ts", exact=False)),
        ([Entry(".", "dist/esm/index.d.ts")], ".", Landing("src/index.ts", exact=False)),
        ([Entry(".", "./dist/real.js")], ".", Landing("dist/real.js", exact=True)),
        ([Entry(".", "./gone.js")], ".", None),
        ([Entry(".", "../up.js")], ".", None),
        ([Entry("./a", "./src/a.tsx")], "./a", Landing("src/a.tsx", exact=True)),
        ([Entry("./a", "./src/a.tsx")], "./src/index", None),
        ([Entry("./x/*", "./src/*.tsx")], "./x/a", Landing("src/a.tsx", exact=True)),
        ([Entry("./x/*", "./src/*.tsx")], "./x/", None),
    ],
)
def test_package_entries(entries: list[Entry], subpath: str, landing: Landing | None) -> None:
    assert resolve_entry("", entries, subpath, FILES) == landing


def test_an_entry_of_a_nested_package_lies_below_its_folder() -> None:
    files = {"pkgs/a/src/index.ts", "pkgs/b/index.js"}
    assert resolve_entry("pkgs/a", [], ".", files) == Landing("pkgs/a/src/index.ts", exact=False)
    assert resolve_entry("pkgs/b", [], ".", files) == Landing("pkgs/b/index.js", exact=True)
    assert resolve_entry("pkgs/c", [], ".", files) is None
    assert find_file("pkgs/b/index.js", files) == "pkgs/b/index.js"


def test_languages_and_what_is_no_source() -> None:
    assert (language_of("a/b.PY"), language_of("a.tsx"), language_of(".py"), language_of("x")) == (
        "python",
        "typescript",
        None,
        None,
    )
    assert [
        language_family(f"x{end}") for end in (".pyi", ".mjs", ".cts", ".go", ".rs", ".zig")
    ] == [
        "python",
        "script",
        "script",
        "go",
        "tabled",
        "",
    ]
    assert read_source("a.zig", b"fn main() {}") is None
    assert read_source("a.py", b"version https://git-lfs.github.com/spec/v1\n") is None


@pytest.mark.parametrize(
    ("family", "module", "standard"),
    [
        ("python", "os.path", True),
        ("python", "__future__", True),
        ("python", "yaml", False),
        ("script", "node:anything", True),
        ("script", "fs/promises", True),
        ("script", "fsx", False),
        ("go", "net/http", True),
        ("go", "example.com/x", False),
        ("rust", "std", False),
    ],
)
def test_standard_names(family: str, module: str, standard: bool) -> None:
    assert is_standard_module(family, module) is standard


def test_ids_of_external_stubs() -> None:
    assert graph_id("Collections.ABC") == "collections_abc"
    assert "os" in STANDARD_IDS
