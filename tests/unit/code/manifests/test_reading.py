"""Manifests of every ecosystem, and small configurations that point at projects."""

# ruff: noqa: E501 - the sources under test stand on one line each

import json

import pytest

from agentic_os.code.manifests.node import workspace_globs
from agentic_os.code.manifests.reading import is_manifest, read_manifest
from agentic_os.code.manifests.values import MAX_MANIFEST_BYTES, LineFinder, Manifest, python_name


def read(path: str, text: str) -> Manifest:
    found = read_manifest(path, text.encode())
    assert found is not None
    return found


def dependencies(manifest: Manifest) -> list[tuple[str, str, str, str]]:
    return [(item.name, item.kind, item.target, item.alias) for item in manifest.dependencies]


def test_pyproject_of_pep_621_uv_and_dependency_groups() -> None:
    found = read(
        "sub/pyproject.toml",
        '[project]\nname = "My.App_x"\ndependencies = ["Foo_Bar[extra]>=1; python_version>\'3\'",\n'
        ' "direct @ git+https://u@github.com/a/b.git@v1#egg=x", "local @ file:///x/y", "??"]\n'
        '[project.optional-dependencies]\nmore = ["opt"]\n[project.scripts]\nrun-it = "my.app:main"\n'
        '[project.gui-scripts]\ngui = "my.gui:main"\n'
        '[dependency-groups]\ndev = ["grp", {include-group = "x"}]\n'
        '[tool.uv]\ndev-dependencies = ["uvdev"]\n'
        '[tool.uv.sources]\nopt = { path = "../opt" }\ngrp = { git = "https://github.com/a/grp" }\n'
        "uvdev = { workspace = true }\n"
        '[tool.setuptools.package-dir]\n"" = "source"\n[tool.setuptools.packages.find]\nwhere = ["lib2", "."]\n',
    )
    assert [(p.name, p.display, p.line) for p in found.packages] == [("my-app-x", "My.App_x", 2)]
    assert dependencies(found) == [
        ("foo-bar", "name", "", ""),
        ("direct", "git", "https://github.com/a/b.git", ""),
        ("local", "path", "/x/y", ""),
        ("opt", "path", "../opt", ""),
        ("grp", "git", "https://github.com/a/grp", ""),
        ("uvdev", "name", "", ""),
    ]
    assert (found.source_roots, found.folder) == (("lib2", "source"), "sub")


def test_pyproject_of_poetry_hatch_pdm_and_maturin() -> None:
    found = read(
        "pyproject.toml",
        '[tool.poetry]\nname = "po"\npackages = [{include = "x", from = "code"}]\n'
        '[tool.poetry.dependencies]\npython = "^3"\na = "^1"\nb = {path = "../b", develop = true}\n'
        'c = {git = "https://github.com/x/c.git"}\nd = {version = "1"}\n'
        '[tool.poetry.group.dev.dependencies]\ne = "*"\n[tool.poetry.scripts]\npo = "po:main"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["h/po"]\nsources = ["s"]\n'
        '[tool.pdm.build]\npackage-dir = "p"\n[tool.maturin]\npython-source = "m"\n',
    )
    assert dependencies(found) == [
        ("a", "name", "", ""),
        ("b", "path", "../b", ""),
        ("c", "git", "https://github.com/x/c.git", ""),
        ("d", "name", "", ""),
        ("e", "name", "", ""),
    ]
    assert found.source_roots == ("code", "h", "m", "p", "s")


def test_setup_cfg() -> None:
    found = read(
        "setup.cfg",
        "[metadata]\nname = Cfg_Name\n[options]\npackage_dir =\n    = src2\n    x = y\ninstall_requires =\n"
        "    one>=1\n    two\n[options.packages.find]\nwhere = src3\n[options.extras_require]\nx = three\n"
        "[options.entry_points]\nconsole_scripts =\n    cmd = mod:main\n    nothing\n",
    )
    assert [p.name for p in found.packages] == ["cfg-name"]
    assert [item.name for item in found.dependencies] == ["one", "two", "three"]
    assert found.source_roots == ("src2", "src3")


def test_setup_py_is_parsed_and_never_run() -> None:
    found = read(
        "setup.py",
        "import setuptools, os\nos.abort()\nNAME = 'Py_Setup'\nREQ = ['one', 'two>1']\n"
        "setuptools.setup(name=NAME, install_requires=REQ, extras_require={'x': ['three'], **more},\n"
        " package_dir={'': 'lib'}, version=compute(), entry_points={'console_scripts': ['c = m:f', 'odd']})\n",
    )
    assert [(p.name, p.line) for p in found.packages] == [("py-setup", 3)]
    assert [item.name for item in found.dependencies] == ["one", "two", "three"]
    assert found.source_roots == ("lib",)
    assert read("setup.py", "x = 1\n").packages == ()
    assert read("setup.py", "A = A\nsetup(name=A)\n").packages == ()


def test_requirements() -> None:
    found = read(
        "requirements/dev.txt",
        "# comment\n-r base.txt\n--index-url x\nOne==1  # why\ntwo @ git+ssh://git@github.com/a/two.git\n"
        "-e ../three[x]\n--editable git+https://github.com/a/four#egg=Four_x\n./five\n../six\n\n~odd\n",
    )
    assert dependencies(found) == [
        ("one", "name", "", ""),
        ("two", "git", "ssh://github.com/a/two.git", ""),
        ("", "path", "../three", ""),
        ("four-x", "git", "https://github.com/a/four", ""),
        ("", "path", "./five", ""),
        ("", "path", "../six", ""),
    ]
    assert [item.line for item in found.dependencies] == [4, 5, 6, 7, 8, 9]


def test_package_info() -> None:
    assert [
        p.name for p in read("PKG-INFO", "Metadata-Version: 2\nName: PyYAML\n\nName: no\n").packages
    ] == ["pyyaml"]
    assert read("METADATA", "Metadata-Version: 2\n\nName: no\n").packages == ()
    assert read("METADATA", "Summary: x").packages == ()


def test_package_json() -> None:
    document = {
        "name": "@s/app",
        "bin": {"one": "./bin/one.js"},
        "dependencies": {
            "a": "^1",
            "b": "file:../b",
            "c": "workspace:*",
            "d": "npm:@real/d@^2",
            "e": "github:o/e#v1",
            "f": "o/f",
            "g": "git+ssh://git@host/g.git#x",
            "h": "https://host/h.git",
            "i": "npm:real",
            "j": "gitlab:o/j",
            "k": 7,
        },
        "devDependencies": {"l": "1"},
        "peerDependencies": {"m": "1"},
        "exports": {
            ".": {"types": "./t.d.ts", "default": ["./d.js", {"odd": "./o.js"}]},
            "./*": "./src/*.js",
        },
    }
    found = read("package.json", json.dumps(document, indent=1))
    assert dependencies(found) == [
        ("a", "name", "", ""),
        ("b", "path", "../b", ""),
        ("c", "name", "", ""),
        ("@real/d", "name", "", "d"),
        ("e", "git", "https://github.com/o/e", ""),
        ("f", "git", "https://github.com/o/f", ""),
        ("g", "git", "ssh://host/g.git", ""),
        ("h", "git", "https://host/h.git", ""),
        ("real", "name", "", "i"),
        ("j", "git", "https://gitlab.com/o/j", ""),
        ("l", "name", "", ""),
        ("m", "name", "", ""),
    ]
    assert [(e.subpath, e.target) for e in found.entries] == [
        (".", "./t.d.ts"),
        (".", "./d.js"),
        (".", "./o.js"),
        ("./*", "./src/*.js"),
    ]
    plain = read(
        "package.json",
        json.dumps({"name": "@s/x", "bin": "b.js", "main": "m.js", "types": "t.d.ts"}),
    )
    assert [e.target for e in plain.entries] == ["t.d.ts", "m.js"]
    sugar = read("package.json", json.dumps({"exports": "./only.js"}))
    assert [(e.subpath, e.target) for e in sugar.entries] == [(".", "./only.js")]


def test_workspaces_in_both_forms() -> None:
    assert workspace_globs('{"workspaces": ["a/*", 7]}') == ("a/*",)
    assert workspace_globs('{"workspaces": {"packages": ["b"]}}') == ("b",)
    assert workspace_globs("nonsense") == ()


def test_tsconfig_is_json_with_comments() -> None:
    found = read(
        "tsconfig.json",
        '{ // "x": 1\n /* y */ "compilerOptions": { "baseUrl": ".", "paths": { "@/*": ["src/*",], "lib": ["l"], "*": ["t"], }, }, "u": "http://x//y \\" z" }',
    )
    assert found.local_prefixes == ("@/", "lib")


def test_go_mod() -> None:
    found = read(
        "go.mod",
        "module example.com/app // x\n\ngo 1.20\n\nrequire (\n\ta.b/c v1.2.3\n\ta.b/d v0.0.0 // indirect\n)\n"
        "require a.b/e v1.0.0\nreplace a.b/c => ../c\nreplace (\n\ta.b/d v0.0.0 => a.b/f v2.0.0\n)\nodd line\nmodule again\n",
    )
    assert [(p.name, p.line) for p in found.packages] == [("example.com/app", 1)]
    assert dependencies(found) == [
        ("a.b/c", "name", "", ""),
        ("a.b/d", "name", "", ""),
        ("a.b/e", "name", "", ""),
        ("a.b/c", "path", "../c", ""),
        ("a.b/f", "name", "", "a.b/d"),
    ]


def test_cargo() -> None:
    found = read(
        "Cargo.toml",
        '[package]\nname = "my_crate"\n[dependencies]\na_b = "1"\nc = { package = "real_c" }\nd = { path = "../d" }\n'
        '[dev-dependencies]\ne = { git = "https://x/e" }\n[target."cfg(unix)".dependencies]\nf = "1"\n'
        '[workspace.dependencies]\ng = "1"\n[[bin]]\nname = "tool"\n',
    )
    assert [p.name for p in found.packages] == ["my-crate"]
    assert dependencies(found) == [
        ("a-b", "name", "", ""),
        ("real-c", "name", "", "c"),
        ("d", "path", "../d", ""),
        ("e", "git", "https://x/e", ""),
        ("g", "name", "", ""),
        ("f", "name", "", ""),
    ]


def test_pom() -> None:
    found = read(
        "pom.xml",
        '<?xml version="1.0"?>\n<project xmlns="x">\n <parent><groupId>g</groupId><artifactId>p</artifactId></parent>\n'
        " <artifactId>a</artifactId>\n <dependencies>\n  <dependency><groupId>o</groupId><artifactId>d</artifactId></dependency>\n"
        "  <dependency><groupId>${project.groupId}</groupId><artifactId>s</artifactId></dependency>\n"
        "  <dependency><artifactId>half</artifactId></dependency>\n </dependencies>\n"
        " <build><plugins><plugin><dependencies><dependency><groupId>n</groupId><artifactId>n</artifactId></dependency></dependencies></plugin></plugins></build>\n"
        "</project>\n",
    )
    assert [(p.name, p.line) for p in found.packages] == [("g:a", 4)]
    assert [(item.name, item.line) for item in found.dependencies] == [("o:d", 6), ("g:s", 7)]


def test_small_configurations() -> None:
    modules = read(".gitmodules", '[submodule "a"]\n\tpath = a\n\turl = git@h:o/a.git\n')
    assert [(item.kind, item.target, item.line) for item in modules.dependencies] == [
        ("git", "git@h:o/a.git", 3)
    ]
    flow = read(
        "x/.github/workflows/ci.yaml",
        "steps:\n - uses: actions/checkout@v4\n - uses: 'o/r/sub/dir@main'\n - uses: ./local\n - uses: docker://x\n",
    )
    assert [item.target for item in flow.dependencies] == [
        "https://github.com/actions/checkout",
        "https://github.com/o/r",
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", "[["),
        ("pyproject.toml", "a = " + "[" * 5_000),
        ("pyproject.toml", "a = " + "1" * 6_000),
        ("setup.cfg", "no section\n"),
        ("setup.py", "def ("),
        ("package.json", "{"),
        ("package.json", "[1]"),
        ("package.json", '{"a":' + "[" * 100_000),
        ("tsconfig.json", "{"),
        ("Cargo.toml", "[["),
        ("Cargo.toml", "a = " + "1" * 6_000),
        ("pom.xml", "<project>"),
        ("pom.xml", '<!DOCTYPE x [<!ENTITY a "b">]><project>&a;</project>'),
        ("pom.xml", "<a>" * 100 + "</a>" * 100),
    ],
)
def test_what_does_not_parse_is_named(path: str, text: str) -> None:
    assert read(path, text) == Manifest(path, problems=("MANIFEST_INVALID",))


def test_what_is_a_manifest_and_what_is_not() -> None:
    for path in (
        "a/go.mod",
        "requirements.txt",
        "requirements-dev.txt",
        "requirements/x.txt",
        ".github/workflows/x.yml",
    ):
        assert is_manifest(path)
    for path in ("notes.txt", "go.sum", "workflows/x.yml", "package-lock.json", "x.toml"):
        assert not is_manifest(path)
        assert read_manifest(path, b"") is None
    big = read_manifest("go.mod", b" " * (MAX_MANIFEST_BYTES + 1))
    assert big == Manifest("go.mod", problems=("MANIFEST_TOO_LARGE",))


def lines_of(path: str, text: str) -> dict[str, int]:
    found = read(path, text)
    packages = {item.name: item.line for item in found.packages}
    return packages | {item.name: item.line for item in found.dependencies}


def test_a_line_is_the_one_that_declares() -> None:
    assert lines_of(
        "package.json",
        '{\n"keywords": ["app", "left-pad"],\n"scripts": {"left-pad": "node left-pad"},\n"name": "app",\n'
        '"overrides": {"left-pad": "1"},\n"dependencies": {\n"left-pad-extra": "1",\n"left-pad": "1"},\n'
        '"devDependencies": {\n"app-tools": "^2",\n"chalk": "5"}}\n',
    ) == {"app": 4, "left-pad-extra": 7, "left-pad": 8, "app-tools": 10, "chalk": 11}
    assert lines_of(
        "pyproject.toml",
        '[tool.x]\ndependencies = ["fancy"]\n[project]\ndescription = "app with fancy"\nname = "app"\n'
        '# fancy is needed\ndependencies = [\n"fancy>=1",\n]\n[project.optional-dependencies]\n'
        'docs = [\n"app-docs", "plain"]\n[dependency-groups]\ndev = ["tool"]\n'
        '[tool.uv]\ndev-dependencies = ["old"]\n[tool.poetry.group.x.dependencies]\npoem = "1"\n',
    ) == {"app": 5, "fancy": 8, "app-docs": 12, "plain": 12, "tool": 14, "old": 16, "poem": 18}
    assert lines_of(
        "Cargo.toml",
        '[features]\nserde = []\n[package]\ndescription = "app"\nname = "app"\n[dev-dependencies]\n'
        'rand = "1"\n[dependencies]\nserde = "1"\n[dependencies.deep]\nversion = "1"\n',
    ) == {"app": 5, "rand": 7, "serde": 9, "deep": 10}
    assert lines_of(
        "setup.cfg",
        "[metadata]\ndescription = app uses fancy\nname = app\n[options]\ninstall_requires =\n  fancy\n",
    ) == {"app": 3, "fancy": 6}
    assert lines_of(
        "setup.py",
        '"""The app needs fancy."""\nsetup(\n  name="app",\n  install_requires=[\n    "fancy"])\n',
    ) == {"app": 3, "fancy": 5}


def test_names_and_lines() -> None:
    assert python_name(" A__b.-C ") == "a-b-c"
    find = LineFinder('a-long = 1\nlong = 2\n"@s/x": 3\n')
    assert (find.line("long"), find.line("LONG"), find.line("@s/x")) == (2, 2, 3)
    assert (find.line("gone", default=9), find.line("")) == (9, 1)
