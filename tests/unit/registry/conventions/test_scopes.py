import pytest

from agentic_os.registry.conventions.scopes import activation_of, applies, patterns_of


@pytest.mark.parametrize(
    ("pattern", "path", "means"),
    [
        ("src/**/*.ts", "src/a.ts", True),
        ("src/**/*.ts", "src/a/b/c.ts", True),
        ("src/**/*.ts", "lib/src/a.ts", False),
        ("**/*.py", "a.py", True),
        ("*.py", "deep/down/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/", "src/a/b", True),
        ("./src/**", "src/a", True),
        ("/src/**", "src/a", True),
        ("**", "anything/at/all", True),
        ("*.{ts,tsx}", "a/b.tsx", True),
        ("*.{ts,tsx}", "a/b.js", False),
        ("{src,lib}/**", "lib/x", True),
        ("src/?.c", "src/a.c", True),
        ("src/a.c", "src/a_c", False),
        ("src/[a].c", "src/[a].c", True),
    ],
)
def test_globs(pattern: str, path: str, means: bool) -> None:
    assert applies([pattern], path) is means


def test_a_glob_takes_out_again() -> None:
    assert applies(["src/**", "!src/gen/**"], "src/a.c")
    assert not applies(["src/**", "!src/gen/**"], "src/gen/a.c")
    assert not applies([], "src/a.c")


def test_a_hostile_glob_ends() -> None:
    pattern = "**/" * 40 + "*a" * 12 + "b"
    assert not applies([pattern], "/".join(["aaaa"] * 40))


@pytest.mark.parametrize(
    ("fields", "globs"),
    [
        ({"globs": "*.ts, src/{a,b}/**"}, ("*.ts", "src/{a,b}/**")),
        ({"paths": "[\"a/**\", 'b/**']"}, ("a/**", "b/**")),
        ({"applyTo": '"**"'}, ("**",)),
        ({"paths": "a", "globs": "a"}, ("a",)),
        ({"globs": ""}, ()),
    ],
)
def test_patterns_of_front_matter(fields: dict[str, str], globs: tuple[str, ...]) -> None:
    assert patterns_of(fields) == globs


@pytest.mark.parametrize(
    ("fields", "globs", "when"),
    [
        ({}, (), "always"),
        ({}, ("a",), "paths"),
        ({}, ("**",), "always"),
        ({"alwaysApply": "true"}, ("a",), "always"),
        ({"alwaysApply": "false", "description": "d"}, (), "asked"),
        ({"alwaysApply": "false"}, (), "manual"),
        ({"trigger": "always_on"}, ("a",), "always"),
        ({"inclusion": "manual"}, (), "manual"),
    ],
)
def test_when_a_file_is_loaded(fields: dict[str, str], globs: tuple[str, ...], when: str) -> None:
    assert activation_of(fields, globs) == when
