"""Edges that look tempting and are false: none may become EXTRACTED or INFERRED.

Every case is a consumer, one or more providers, and nothing true between them. A legitimate
declaration (R1) may be part of a case: then only that edge may exist.
"""

# ruff: noqa: E501 - the sources under test stand on one line each

import json
import sys
from collections.abc import Iterator

import pytest

from agentic_os.aggregate.graph.links import edges as graph_edges
from agentic_os.aggregate.graph.links import packages as graph_edges_packages
from agentic_os.aggregate.graph.links.edges import CrossEdge
from support.graph.code import CodeBuilder, Files, pyproject

Case = tuple[str, Files, list[Files], frozenset[str]]
NOTHING: frozenset[str] = frozenset()
DECLARED = frozenset({"R1"})

LIB = {
    "pyproject.toml": pyproject("fancy"),
    "fancy/__init__.py": "from fancy.core import load\n",
    "fancy/core.py": "def load(): ...\n\ndef helper(): ...\n",
}
USES = "from fancy.core import load\nimport fancy\n\ndef go():\n    load()\n    fancy.load()\n"


def standard_library() -> Iterator[Case]:
    for name in (
        "json",
        "io",
        "types",
        "typing",
        "logging",
        "queue",
        "secrets",
        "calendar",
        "token",
    ):
        yield (
            f"python-stdlib-{name}",
            {
                "pyproject.toml": pyproject("app", name),
                "app.py": f"import {name}\n\n{name}.load()\n",
            },
            [{"pyproject.toml": pyproject(name), f"{name}/__init__.py": "def load(): ...\n"}],
            DECLARED,
        )
    for name in ("fs", "path", "crypto", "events", "url", "buffer", "node:test", "fs/promises"):
        package = name.removeprefix("node:").partition("/")[0]
        yield (
            f"node-builtin-{name}",
            {
                "package.json": json.dumps({"name": "app", "dependencies": {package: "1"}}),
                "a.ts": f"import {{ read }} from '{name}';\nread();\n",
            },
            [
                {
                    "package.json": json.dumps({"name": package, "main": "index.js"}),
                    "index.js": "exports.read = function read() {};\n",
                }
            ],
            DECLARED,
        )
    for name in ("fmt", "net/http", "encoding/json", "testing"):
        yield (
            f"go-standard-{name}",
            {"go.mod": "module example.com/app\n", "a.go": f'package a\n\nimport "{name}"\n'},
            [{"go.mod": f"module {name}\n", "b.go": "package b\n\nfunc F() {}\n"}],
            NOTHING,
        )


def equal_names() -> Iterator[Case]:
    labels = ("main", "parse", "load", "__init__", "__repr__", "run", "handle", "setup", "Client")
    for label in labels:
        yield (
            f"same-label-{label}",
            {"pyproject.toml": pyproject("app"), "app.py": f"def {label}(): ...\n\n{label}()\n"},
            [{"pyproject.toml": pyproject("lib"), "lib.py": f"def {label}(): ...\n"}],
            NOTHING,
        )
    for path in ("src/utils.py", "src/config.py", "app/main.py", "models.py", "cli.py"):
        yield (
            f"same-path-{path}",
            {"pyproject.toml": pyproject("app"), path: "def f(): ...\n\nf()\n"},
            [{"pyproject.toml": pyproject("lib"), path: "def f(): ...\n"}],
            NOTHING,
        )
    yield (
        "same-stem-other-language",
        {"pyproject.toml": pyproject("app"), "app.py": "import api\n\napi.call()\n"},
        [{"package.json": json.dumps({"name": "api"}), "api.js": "exports.call = () => 1;\n"}],
        NOTHING,
    )
    yield (
        "package-name-other-language",
        {"pyproject.toml": pyproject("app", "shared"), "app.py": "import shared\n"},
        [{"package.json": json.dumps({"name": "shared"}), "index.js": "exports.a = 1;\n"}],
        NOTHING,
    )
    yield (
        "case-differs",
        {
            "pyproject.toml": pyproject("app", "fancy"),
            "app.py": "import Fancy\nfrom FANCY import core\n",
        },
        [LIB],
        DECLARED,
    )
    yield (
        "prefix-of-a-name",
        {"pyproject.toml": pyproject("app", "fancy-extra"), "app.py": "import fancy_extra\n"},
        [LIB],
        NOTHING,
    )
    yield (
        "name-in-a-string-and-a-comment",
        {"pyproject.toml": pyproject("app"), "app.py": "# import fancy\nx = 'import fancy'\n"},
        [LIB],
        NOTHING,
    )


def generic_modules() -> Iterator[Case]:
    for name in (
        "utils",
        "config",
        "app",
        "common",
        "models",
        "api",
        "core",
        "lib",
        "tools",
        "main",
    ):
        yield (
            f"generic-package-{name}",
            {"pyproject.toml": pyproject("app2"), "x/y.py": f"import {name}\n\n{name}.f()\n"},
            [{"pyproject.toml": pyproject("other"), f"{name}/__init__.py": "def f(): ...\n"}],
            NOTHING,
        )
    for name in ("parsing", "drawing", "sending"):
        yield (
            f"plain-module-{name}",
            {"pyproject.toml": pyproject("app"), "x/y.py": f"import {name}\n\n{name}.f()\n"},
            [{"pyproject.toml": pyproject("other"), f"{name}.py": "def f(): ...\n"}],
            NOTHING,
        )
    for name in ("utils", "common", "config"):
        yield (
            f"generic-npm-{name}",
            {
                "package.json": json.dumps({"name": "app"}),
                "a.ts": f"import {{ f }} from '{name}';\n",
            },
            [
                {
                    "package.json": json.dumps({"name": name, "main": "i.js"}),
                    "i.js": "exports.f = () => 1;\n",
                }
            ],
            NOTHING,
        )


def excluded_places() -> Iterator[Case]:
    for folder in (
        "tests",
        "test",
        "examples",
        "example",
        "fixtures",
        "vendor",
        "_vendor",
        "third_party",
        "worked",
        "testdata",
        "node_modules/x",
        "src/tests/fixtures",
    ):
        yield (
            f"provider-in-{folder}",
            {"pyproject.toml": pyproject("app", "fancy"), "app.py": USES},
            [
                {
                    "pyproject.toml": pyproject("holder"),
                    f"{folder}/pyproject.toml": pyproject("fancy"),
                    f"{folder}/fancy/__init__.py": "def load(): ...\n",
                    f"{folder}/fancy/core.py": "def load(): ...\n",
                }
            ],
            NOTHING,
        )
    yield (
        "provider-test-files",
        {
            "pyproject.toml": pyproject("app", "fancy"),
            "app.py": "from fancy.test_core import load\n",
        },
        [
            {
                "pyproject.toml": pyproject("fancy"),
                "fancy/__init__.py": "",
                "fancy/test_core.py": "def load(): ...\n",
            }
        ],
        frozenset({"R1"}),
    )
    yield (
        "npm-provider-among-examples",
        {
            "package.json": json.dumps({"name": "app", "dependencies": {"@a/b": "1"}}),
            "a.ts": "import { f } from '@a/b';\n",
        },
        [
            {
                "examples/b/package.json": json.dumps({"name": "@a/b", "main": "i.js"}),
                "examples/b/i.js": "exports.f = () => 1;\n",
            }
        ],
        NOTHING,
    )
    yield (
        "go-provider-among-testdata",
        {
            "go.mod": "module example.com/app\n\nrequire example.com/lib v1.0.0\n",
            "a.go": 'package a\n\nimport "example.com/lib"\n\nvar X = lib.F\n',
        },
        [{"testdata/lib/go.mod": "module example.com/lib\n", "testdata/lib/l.go": "package lib\n"}],
        NOTHING,
    )


def shadows() -> Iterator[Case]:
    own: dict[str, Files] = {
        "own-package": {"fancy/__init__.py": "def load(): ...\n", "fancy/core.py": "load = 1\n"},
        "own-package-in-src": {"src/fancy/__init__.py": "", "src/fancy/core.py": "load = 1\n"},
        "own-module-beside": {"scripts/fancy.py": "def load(): ...\n"},
        "own-module-at-root": {"fancy.py": "def load(): ...\n"},
        "own-vendored-copy": {"scripts/fancy/core.py": "load = 1\n"},
    }
    for name, files in own.items():
        yield (
            f"shadow-{name}",
            {"pyproject.toml": pyproject("app"), "scripts/run.py": USES, **files},
            [LIB],
            NOTHING,
        )
    yield (
        "shadow-relative-import",
        {
            "pyproject.toml": pyproject("app", "fancy"),
            "app/__init__.py": "",
            "app/a.py": "from .fancy import load\nfrom . import fancy\nload()\n",
        },
        [LIB],
        DECLARED,
    )
    rebound = {
        "parameter": "def go(fancy):\n    fancy.load()\n",
        "local": "def go():\n    fancy = make()\n    fancy.load()\n",
        "loop": "def go():\n    for fancy in things():\n        fancy.load()\n",
        "with": "def go():\n    with make() as fancy:\n        fancy.load()\n",
        "except": "def go():\n    try:\n        pass\n    except E as fancy:\n        fancy.load()\n",
        "comprehension": "def go():\n    return [fancy.load() for fancy in things()]\n",
        "lambda": "go = lambda fancy: fancy.load()\n",
        "walrus": "def go():\n    if (fancy := make()):\n        fancy.load()\n",
        "match": "def go(x):\n    match x:\n        case fancy:\n            fancy.load()\n",
        "nested-def": "def go():\n    def fancy(): ...\n    fancy.load()\n",
        "class-body": "class A:\n    fancy = 1\n    y = fancy.load\n",
        "never-imported": "fancy.load()\n",
    }
    for name, text in rebound.items():
        yield (
            f"name-is-{name}",
            {"pyproject.toml": pyproject("app", "fancy"), "app.py": text},
            [LIB],
            DECLARED,
        )
    yield (
        "shadow-npm-workspace",
        {
            "package.json": json.dumps({"name": "mono", "workspaces": ["packages/*"]}),
            "packages/b/package.json": json.dumps({"name": "@a/b"}),
            "packages/b/index.ts": "export const f = 1;\n",
            "packages/c/a.ts": "import { f } from '@a/b';\n",
        },
        [
            {
                "package.json": json.dumps({"name": "@a/b"}),
                "index.ts": "export const f = 1;\n",
            }
        ],
        NOTHING,
    )
    yield (
        "shadow-tsconfig-paths",
        {
            "package.json": json.dumps({"name": "app", "dependencies": {"@a/b": "1"}}),
            "tsconfig.json": '{ // mapped\n "compilerOptions": {"paths": {"@a/*": ["src/*"],}} }',
            "src/x.ts": "import { f } from '@a/b';\nf();\n",
        },
        [{"package.json": json.dumps({"name": "@a/b"}), "index.ts": "export const f = () => 1;\n"}],
        DECLARED,
    )
    yield (
        "shadow-base-url",
        {
            "package.json": json.dumps({"name": "app"}),
            "src/shapes/round.ts": "export const f = 1;\n",
            "src/x.ts": "import { f } from 'shapes/round';\n",
        },
        [{"package.json": json.dumps({"name": "shapes"}), "round.ts": "export const f = 1;\n"}],
        NOTHING,
    )
    yield (
        "shadow-js-parameter",
        {
            "package.json": json.dumps({"name": "app"}),
            "x.ts": "export function go(lib: any) { lib.f(); }\nconst { g } = lib2;\ng();\n",
        },
        [{"package.json": json.dumps({"name": "lib"}), "index.ts": "export const f = 1;\n"}],
        NOTHING,
    )
    yield (
        "shadow-go-vendor",
        {
            "go.mod": "module example.com/app\n\nrequire example.com/lib v1.0.0\n",
            "a.go": 'package a\n\nimport "example.com/lib"\n\nvar X = lib.F\n',
            "vendor/example.com/lib/l.go": "package lib\n\nfunc F() {}\n",
        },
        [{"go.mod": "module example.com/lib\n", "l.go": "package lib\n\nfunc F() {}\n"}],
        DECLARED,
    )
    yield (
        "shadow-go-own-module",
        {
            "go.mod": "module example.com/lib/app\n",
            "a.go": 'package a\n\nimport "example.com/lib/app/b"\n\nvar X = b.F\n',
            "b/b.go": "package b\n\nfunc F() {}\n",
        },
        [{"go.mod": "module example.com/lib\n", "app/b/l.go": "package b\n\nfunc F() {}\n"}],
        NOTHING,
    )


def several_providers() -> Iterator[Case]:
    yield (
        "two-declared",
        {"pyproject.toml": pyproject("app", "fancy"), "app.py": USES},
        [LIB, LIB],
        NOTHING,
    )
    yield (
        "two-undeclared",
        {"pyproject.toml": pyproject("app"), "app.py": USES},
        [LIB, LIB],
        NOTHING,
    )
    yield (
        "three-undeclared",
        {"pyproject.toml": pyproject("app"), "app.py": USES},
        [LIB, LIB, LIB],
        NOTHING,
    )
    npm = {"package.json": json.dumps({"name": "@a/b"}), "index.ts": "export const f = () => 1;\n"}
    yield (
        "two-npm",
        {
            "package.json": json.dumps({"name": "app", "dependencies": {"@a/b": "1"}}),
            "a.ts": "import { f } from '@a/b';\nf();\n",
        },
        [npm, npm],
        NOTHING,
    )
    go = {"go.mod": "module example.com/lib\n", "l.go": "package lib\n\nfunc F() {}\n"}
    yield (
        "two-go",
        {
            "go.mod": "module example.com/app\n\nrequire example.com/lib v1.0.0\n",
            "a.go": 'package a\n\nimport "example.com/lib"\n\nvar X = lib.F()\n',
        },
        [go, go],
        NOTHING,
    )
    served = {
        "pyproject.toml": pyproject("one"),
        "srv.py": "from fastapi import FastAPI\napp = FastAPI()\n@app.get('/a/b/{c}')\ndef f(c): ...\n",
    }
    yield (
        "two-servers",
        {"c.py": "import requests\nrequests.get('http://localhost/a/b/1')\n"},
        [served, served],
        NOTHING,
    )
    tool = {"pyproject.toml": pyproject("t", extra='[project.scripts]\nfrob = "f:main"\n')}
    yield (
        "two-commands",
        {".mcp.json": json.dumps({"mcpServers": {"x": {"command": "frob"}}})},
        [tool, tool],
        NOTHING,
    )


CASES: list[Case] = [
    case
    for group in (
        standard_library,
        equal_names,
        generic_modules,
        excluded_places,
        shadows,
        several_providers,
    )
    for case in group()
]


def test_there_are_more_than_a_hundred_cases() -> None:
    assert len({case[0] for case in CASES}) == len(CASES) > 100


def hard_edges(case: Case) -> list[CrossEdge]:
    _, consumer, providers, allowed = case
    build = CodeBuilder()
    build.project("the-consumer", consumer)
    for number, files in enumerate(providers):
        build.project(f"provider{number}" if number else "orders", files)
    return [
        edge
        for edge in build.edges()
        if edge.confidence != "AMBIGUOUS" and edge.rule not in allowed
    ]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_nothing_false_becomes_a_hard_edge(case: Case) -> None:
    assert [(edge.rule, edge.relation, edge.detail) for edge in hard_edges(case)] == []


def nothing(*_arguments: object) -> bool:
    return False


def anything(*_arguments: object) -> bool:
    return True


@pytest.mark.parametrize(
    ("guard", "stand_in", "prefix"),
    [
        ("is_standard_module", nothing, "python-stdlib-"),
        ("is_standard_module", nothing, "node-builtin-"),
        ("is_excluded", nothing, "provider-in-"),
        ("GENERIC_NAMES", frozenset[str](), "generic-package-"),
        ("UNSURE", graph_edges.CERTAIN, "two-"),
        ("DeclaredLinks.holds", anything, "plain-module-"),
    ],
)
def test_without_its_guard_a_case_would_link(
    guard: str, stand_in: object, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if guard == "DeclaredLinks.holds":
        monkeypatch.setattr(graph_edges_packages.DeclaredLinks, "holds", stand_in)
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", "")
        if name.startswith(("agentic_os.aggregate.", "agentic_os.code.")) and hasattr(
            module, guard
        ):
            monkeypatch.setattr(module, guard, stand_in)

    cases = [case for case in CASES if case[0].startswith(prefix)]

    assert any(hard_edges(case) for case in cases)
