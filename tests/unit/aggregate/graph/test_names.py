"""What an imported name or a mounted router is, followed through a project's own files."""

import json

from support.graph.code import CodeBuilder, pyproject


def python(lib: dict[str, str], app: str) -> CodeBuilder:
    build = CodeBuilder()
    build.project("lib", {"pyproject.toml": pyproject("fancy"), **lib})
    build.project("app", {"pyproject.toml": pyproject("app", "fancy"), "app.py": app})
    return build


def symbols(build: CodeBuilder) -> dict[str, tuple[str, int]]:
    """What each used name ends at, of the edges that are certain."""
    return {
        edge.detail: (edge.provider_path, edge.provider_line)
        for edge in build.edges()
        if edge.rule in {"R3", "R3b"} and edge.confidence == "EXTRACTED"
    }


def missed(build: CodeBuilder) -> set[tuple[str, str]]:
    return {(miss.code, miss.subject) for miss in build.near()}


# -- Python ----------------------------------------------------------------------------------------


def test_an_alias_of_a_module_is_followed_into_it_and_of_a_value_is_not() -> None:
    build = python(
        {
            "fancy/__init__.py": (
                "import fancy.core as engine\nfrom fancy.core import Engine\n"
                "start = engine.start\nEngine2 = Engine\nbuilt = Engine.build\n"
            ),
            "fancy/core.py": ("def start(): ...\n\nclass Engine:\n    def build(self): ...\n"),
        },
        "import fancy\n\nfancy.start()\nfancy.Engine2()\nfancy.built()\n",
    )

    assert symbols(build) == {
        "fancy.start": ("fancy/core.py", 1),
        "fancy.Engine2": ("fancy/core.py", 3),
        # An attribute of a class is no module's name: where it is bound is all that is known.
        "fancy.built": ("fancy/__init__.py", 5),
    }


def test_relative_imports_of_any_depth_are_counted_from_their_file() -> None:
    build = python(
        {
            "fancy/__init__.py": "from .deep.inner import top\nfrom . import deep\n",
            "fancy/deep/__init__.py": "from ..base import base\nfrom ...above import lost\n",
            "fancy/deep/inner.py": "from ..base import base as top\n",
            "fancy/base.py": "def base(): ...\n",
        },
        "import fancy\nfrom fancy.deep import base, lost\n\nfancy.top()\nbase()\nlost()\n"
        "fancy.deep.base()\n",
    )

    found = symbols(build)
    assert found["fancy.top"] == found["fancy.deep.base"] == ("fancy/base.py", 1)
    assert ("NAME_UNKNOWN", "fancy.deep.lost") in missed(build)


def test_star_imports_offer_what_the_other_module_lets_out() -> None:
    build = python(
        {
            "fancy/__init__.py": "from fancy.open import *\nfrom fancy.listed import *\n"
            "from fancy import *\nfrom fancy.gone import *\n",
            "fancy/open.py": "def seen(): ...\n\ndef _hidden(): ...\n",
            "fancy/listed.py": "__all__ = ['chosen']\ndef chosen(): ...\n\ndef unlisted(): ...\n",
        },
        "import fancy\n\nfancy.seen()\nfancy._hidden()\nfancy.chosen()\nfancy.unlisted()\n",
    )

    assert symbols(build) == {
        "fancy.seen": ("fancy/open.py", 1),
        "fancy.chosen": ("fancy/listed.py", 2),
    }


def test_of_two_ways_to_one_definition_the_shorter_counts() -> None:
    build = python(
        {
            "fancy/__init__.py": "from fancy.near import *\nfrom fancy.far import *\n",
            "fancy/near.py": "def load(): ...\n",
            "fancy/far.py": "from fancy.farther import load\n",
            "fancy/farther.py": "from fancy.near import load\n",
        },
        "import fancy\n\nfancy.load()\n",
    )

    (edge,) = (edge for edge in build.edges() if edge.detail == "fancy.load")
    assert (edge.rule, edge.confidence, edge.provider_path) == ("R3b", "EXTRACTED", "fancy/near.py")


# -- scripts ---------------------------------------------------------------------------------------


def scripts(lib: dict[str, str], app: str) -> CodeBuilder:
    build = CodeBuilder()
    manifest = json.dumps({"name": "lib", "main": "index.ts"})
    build.project("lib", {"package.json": manifest, **lib})
    build.project(
        "app",
        {
            "package.json": json.dumps({"name": "app", "dependencies": {"lib": "1"}}),
            "a.ts": app,
        },
    )
    return build


def test_exports_lead_through_files_packages_and_namespaces() -> None:
    build = scripts(
        {
            "index.ts": (
                "export { a as first } from './one';\nexport * from './two';\n"
                "export * as ns from './two';\nexport { own } from 'lib/three';\n"
                "export { lost } from './gone';\nexport { far } from 'elsewhere';\n"
                "export { missing } from './one';\n"
            ),
            "one.ts": "export function a() {}\n",
            "two.ts": "export function b() {}\nexport * from './index';\n",
            "three.ts": "export const own = 1;\n",
        },
        "import { first, b, ns, own, lost, far, missing } from 'lib';\n"
        "first(); b(); own; lost(); far(); missing(); ns.b();\n",
    )

    found = symbols(build)
    assert found["first"] == ("one.ts", 1)
    assert found["b"] == ("two.ts", 1)
    assert {name for name in ("lost", "far", "missing") if name in found} == set()


def test_two_star_exports_of_one_definition_are_one_and_of_two_are_doubtful() -> None:
    build = scripts(
        {
            "index.ts": "export * from './left';\nexport * from './right';\n",
            "left.ts": "export { same } from './base';\nexport function both() {}\n",
            "right.ts": "export * from './deeper';\nexport function both() {}\n",
            "deeper.ts": "export { same } from './base';\n",
            "base.ts": "export function same() {}\n",
        },
        "import { same, both } from 'lib';\nsame();\nboth();\n",
    )

    by_name: dict[str, set[str]] = {}
    for edge in build.edges():
        by_name.setdefault(edge.detail, set()).add(edge.confidence)
    assert symbols(build)["same"] == ("base.ts", 1)
    assert by_name["both"] == {"AMBIGUOUS"}
