"""Near-misses: everything that was nearly linked says why it was not."""

# ruff: noqa: E501 - the sources under test stand on one line each

import json

import pytest

from agentic_os.aggregate.graph.links.edges import CERTAIN, EdgeCollector, Endpoint
from support.graph.code import CodeBuilder, pyproject

LIB = {
    "pyproject.toml": pyproject("fancy"),
    "src/fancy/__init__.py": "from fancy.core import load\n",
    "src/fancy/core.py": "def load(): ...\n",
    "src/fancy/space/inner.py": "def inner(): ...\n",
}


def codes(build: CodeBuilder, consumer: str = "app") -> set[tuple[str, str, str]]:
    return {(m.rule, m.code, m.subject) for m in build.near() if m.consumer == consumer}


def test_python_near_misses() -> None:
    build = CodeBuilder()
    build.project("lib", LIB)
    build.project("holder", {"tests/helped/__init__.py": "", "pyproject.toml": pyproject("holder")})
    build.project("lone", {"drawing.py": "def d(): ...\n", "pyproject.toml": pyproject("lone")})
    build.project("wide", {"utils/__init__.py": "", "pyproject.toml": pyproject("wide")})
    build.project(
        "app",
        {
            "pyproject.toml": pyproject("app", "fancy"),
            "here/fancy2.py": "",
            "app.py": (
                "import fancy.gone\nimport helped\nimport drawing\nimport utils.x, utils\n"
                "import fancy\nfancy.missing.attr()\nfancy.core.nothing()\nfancy.space.inner.inner()\n"
            ),
        },
    )
    assert codes(build) == {
        ("R2", "MODULE_UNKNOWN", "fancy.gone"),
        ("R2", "PROVIDER_EXCLUDED", "helped"),
        ("R2", "UNDECLARED_MODULE", "drawing"),
        ("R2", "GENERIC_NAME", "utils"),
        ("R2", "MODULE_UNKNOWN", "utils.x"),
        ("R3", "NAME_UNKNOWN", "fancy.missing.attr"),
        ("R3", "NAME_UNKNOWN", "fancy.core.nothing"),
    }
    assert "app.py -calls-> inner() EXTRACTED" in build.shown()


def test_manifest_near_misses() -> None:
    build = CodeBuilder()
    build.project("one", LIB, remote="github.com/acme/mono")
    build.project("two", {"pyproject.toml": pyproject("other")}, remote="github.com/acme/mono")
    build.project("own", {"pyproject.toml": pyproject("shared")})
    build.project("hidden", {"examples/pyproject.toml": pyproject("sample")})
    build.project(
        "app",
        {
            "pyproject.toml": pyproject("shared", "shared", "sample"),
            "requirements.txt": (
                "x @ git+https://github.com/acme/mono\n-e ../nowhere\n-e .\n"
                "other @ git+https://github.com/acme/mono\n-e git+https://github.com/acme/gone#egg=g\n"
            ),
        },
    )
    assert codes(build) == {
        ("R1b", "SEVERAL_PROVIDERS", "x"),
        ("R1", "LOCAL_SHADOW", "shared"),
        ("R1", "PROVIDER_EXCLUDED", "sample"),
    }
    assert {(edge.rule, edge.provider) for edge in build.edges()} == {("R1b", "two")}


def test_script_near_misses() -> None:
    def package(name: str, **more: object) -> str:
        return json.dumps({"name": name, **more})

    build = CodeBuilder()
    build.project(
        "lib",
        {
            "package.json": package("@a/lib", exports={".": "./index.ts", "./t": "./tests/t.ts"}),
            "index.ts": "export { a } from './gone';\nexport * from '@a/lib/self';\nexport * from './loop';\nexport const ok = 1;\n",
            "loop.ts": "export * from './index';\nexport const many = 1;\n",
            "tests/t.ts": "export const t = 1;\n",
            "m1.ts": "export function hid() {}\n",
            **{f"n{i}.ts": "export function lots() {}\n" for i in range(6)},
        },
    )
    build.project("utils", {"package.json": package("utils"), "index.ts": "export const u = 1;\n"})
    build.project(
        "app",
        {
            "package.json": package("app", dependencies={"@a/lib": "1"}),
            "a.ts": (
                "import { a, hid, lots, many, nothing } from '@a/lib';\nimport { t } from '@a/lib/t';\n"
                "import { u } from 'utils';\nimport d, * as ns from '@a/lib';\nns.deep.x(); ns.none(); d.ok();\n"
                "ns.ok.more();\n"
            ),
        },
    )
    assert codes(build) == {
        ("R3", "NAME_UNKNOWN", "@a/lib#a"),
        ("R3", "NAME_UNKNOWN", "@a/lib#nothing"),
        ("R3", "NAME_UNKNOWN", "@a/lib#hid"),
        ("R3", "NAME_UNKNOWN", "@a/lib#lots"),
        ("R3", "NAME_UNKNOWN", "ns.deep.x"),
        ("R3", "NAME_UNKNOWN", "ns.none"),
        ("R2", "PROVIDER_EXCLUDED", "@a/lib/t"),
        ("R2", "GENERIC_NAME", "utils"),
    }
    shown = build.shown()
    assert "a.ts -imports-> many EXTRACTED" in shown
    assert "a.ts -references-> ok EXTRACTED" in shown


def test_go_near_misses() -> None:
    build = CodeBuilder()
    build.project(
        "lib",
        {
            "go.mod": "module example.com/lib\n",
            "l.go": "package lib\n\nfunc F() {}\n",
            "x/x_test.go": "package x\n",
        },
    )
    build.project(
        "app",
        {
            "go.mod": "module example.com/app\n",
            "a.go": 'package a\n\nimport (\n"example.com/lib"\n"example.com/lib/x"\n)\n\nvar A = lib.Gone\nvar B = lib.F()\nvar C = other.F\n',
        },
    )
    assert codes(build) == {
        ("R2", "MODULE_UNKNOWN", "example.com/lib/x"),
        ("R3", "NAME_UNKNOWN", "lib.Gone"),
    }
    assert {(edge.rule, edge.confidence) for edge in build.edges()} == {
        ("R2", "INFERRED"),
        ("R3", "INFERRED"),
    }


def test_stub_near_misses() -> None:
    build = CodeBuilder()
    build.project("lib", LIB)
    build.project("twin", {"pyproject.toml": pyproject("twin"), "double/__init__.py": ""})
    build.project("twin2", {"pyproject.toml": pyproject("twin2"), "double/__init__.py": ""})
    build.project("wide", {"pyproject.toml": pyproject("wide"), "utils/__init__.py": ""})
    build.project(
        "app",
        {"pyproject.toml": pyproject("app"), "a.py": "x", "fancy/__init__.py": ""},
        unreadable=("a.py",),
        stubs=(
            ("double", "a.py", 1),
            ("utils", "a.py", 2),
            ("fancy_core", "a.py", 3),
            ("gone", "a.py", 4),
        ),
    )
    assert codes(build) == {
        ("R2b", "SEVERAL_PROVIDERS", "double"),
        ("R2b", "GENERIC_NAME", "utils"),
        ("R2b", "LOCAL_SHADOW", "fancy_core"),
    }


def test_an_edge_without_a_node_is_a_near_miss_and_bounds_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build = CodeBuilder()
    code = build.project("app", {"a.py": "x = 1\n"})
    other = build.project("lib", {"b.py": "x = 1\n"})
    monkeypatch.setattr("agentic_os.aggregate.graph.links.edges.MAX_NEAR_ENTRIES", 2)
    account = EdgeCollector()
    place = Endpoint(code=code, path="a.py", line=1, node=None)
    for number in range(4):
        account.miss(place, "R2", "MODULE_UNKNOWN", f"m{number}", [other])
        account.miss(place, "R2", "MODULE_UNKNOWN", f"m{number}", [other])
    assert (len(account.near), account.dropped) == (2, {"app": {"R2": 4}})

    here, there = code.nodes.file("a.py"), other.nodes.file("b.py")
    linking = EdgeCollector()
    for start, end in ((None, there), (here, None), (here, here), (here, there)):
        owner = code if end is here else other
        linking.link(
            Endpoint(code=code, path="a.py", line=1, node=start),
            Endpoint(code=owner, path="b.py", line=1, node=end),
            relation="imports",
            rule="R2",
            verdict=CERTAIN,
            detail=f"{start is None} {end is None}",
        )
    assert [edge.detail for edge in linking.edges.values()] == ["False False"]
    assert [(miss.code, miss.detail) for miss in linking.near.values()] == [
        ("NODE_MISSING", "the consumer's graph has no node"),
        ("NODE_MISSING", "the provider's graph has no node"),
    ]
