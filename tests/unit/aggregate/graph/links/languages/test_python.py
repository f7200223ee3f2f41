"""R1, R2 and the R3 family for Python."""

import pytest

from support.graph.code import CodeBuilder, pyproject

LIB = {
    "pyproject.toml": pyproject("Fancy_Lib"),
    "src/fancy/__init__.py": "from fancy.core import load, Loader\nfrom .extra import *\n",
    "src/fancy/core.py": "class Loader:\n    def run(self): ...\n\ndef load(text): ...\n",
    "src/fancy/extra.py": "__all__ = ['shown']\n\ndef shown(): ...\n\ndef hidden(): ...\n",
    "src/fancy/deep/__init__.py": "",
    "src/fancy/deep/inner.py": "def inner(): ...\n\nLIMIT = 3\n",
}


def test_a_declared_dependency_links_packages_modules_and_symbols() -> None:
    build = CodeBuilder()
    build.project("lib", LIB)
    build.project(
        "app",
        {
            "pyproject.toml": pyproject("app", "fancy-lib>=2"),
            "src/app/__init__.py": "",
            "src/app/main.py": (
                "import fancy\n"
                "from fancy.core import Loader\n"
                "from fancy import shown as display\n"
                "import fancy.deep.inner as deep\n"
                "\n"
                "class Mine(Loader):\n"
                "    pass\n"
                "\n"
                "def go():\n"
                "    fancy.load('x')\n"
                "    display()\n"
                "    deep.inner()\n"
                "    return Loader.run, deep.LIMIT\n"
            ),
        },
    )
    assert build.shown("R1") == {"app -depends_on-> Fancy_Lib EXTRACTED"}
    assert build.shown("R2") == {
        "main.py -imports-> __init__.py EXTRACTED",
        "main.py -imports-> core.py EXTRACTED",
        "main.py -imports-> inner.py EXTRACTED",
    }
    assert build.shown("R3") == {
        "main.py -imports-> Loader EXTRACTED",
        "Mine -inherits-> Loader EXTRACTED",
        "go() -references-> Loader EXTRACTED",
        "go() -calls-> inner() EXTRACTED",
        "go() -references-> inner.py EXTRACTED",
    }
    assert build.shown("R3b") == {
        "go() -calls-> load() EXTRACTED",
        "main.py -imports-> shown() EXTRACTED",
        "go() -calls-> shown() EXTRACTED",
    }
    call = next(edge for edge in build.edges("R3b") if edge.target.label == "load()")
    assert (call.consumer_path, call.line) == ("src/app/main.py", 10)
    assert (call.provider_path, call.provider_line) == ("src/fancy/core.py", 4)
    assert (call.score, call.detail) == (0.95, "fancy.load")


def test_the_module_name_comes_from_the_layout_never_from_the_package_name() -> None:
    build = CodeBuilder()
    build.project("lib", LIB)
    build.project(
        "app",
        {"pyproject.toml": pyproject("app", "fancy-lib"), "app.py": "import fancy_lib\n"},
    )
    assert {edge.rule for edge in build.edges()} == {"R1"}


def test_without_a_declaration_every_edge_is_inferred() -> None:
    build = CodeBuilder()
    build.project("lib", LIB)
    build.project("app", {"app.py": "from fancy.core import load\n\nload()\n"})
    assert {(edge.rule, edge.confidence, edge.score) for edge in build.edges()} == {
        ("R2", "INFERRED", 0.85),
        ("R3", "INFERRED", 0.85),
    }


def test_two_providers_make_ambiguous_edges_only() -> None:
    build = CodeBuilder()
    build.project("lib", LIB)
    build.project("copy", LIB)
    build.project(
        "app",
        {
            "pyproject.toml": pyproject("app", "fancy-lib"),
            "app.py": "from fancy.core import load\n",
        },
    )
    edges = build.edges()
    assert {edge.confidence for edge in edges} == {"AMBIGUOUS"}
    assert {edge.provider for edge in edges} == {"lib", "copy"}
    assert {miss.code for miss in build.near()} == {"SEVERAL_PROVIDERS"}


def test_a_path_dependency_settles_which_of_two_providers_is_meant() -> None:
    build = CodeBuilder()
    build.project("lib", LIB)
    build.project("copy", LIB)
    build.project(
        "app",
        {
            "pyproject.toml": pyproject(
                "app", "fancy-lib", extra='[tool.uv.sources]\nfancy-lib = { path = "../copy" }\n'
            ),
            "app.py": "from fancy.core import load\n",
        },
    )
    edges = build.edges()
    assert {edge.provider for edge in edges} == {"copy"}
    assert {edge.confidence for edge in edges} == {"EXTRACTED"}
    assert {edge.rule for edge in edges} == {"R1b", "R2", "R3"}


def test_a_git_dependency_is_found_by_its_normalised_address() -> None:
    build = CodeBuilder()
    build.project("lib", LIB, remote="github.com/acme/fancy")
    build.project(
        "app",
        {
            "pyproject.toml": pyproject(
                "app", "fancy-lib @ git+ssh://git@github.com/Acme/Fancy.git@v1"
            )
        },
    )
    assert {(edge.rule, edge.provider) for edge in build.edges()} == {("R1b", "lib")}


def test_a_submodule_and_a_workflow_point_at_repositories() -> None:
    build = CodeBuilder()
    build.project("lib", LIB, remote="github.com/acme/fancy")
    build.project(
        "app",
        {
            ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = https://github.com/acme/fancy\n',
            ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - uses: acme/fancy@v2\n",
        },
    )
    assert {(edge.rule, edge.consumer_path) for edge in build.edges()} == {
        ("R1b", ".gitmodules"),
        ("R1b", ".github/workflows/ci.yml"),
    }


def test_a_name_that_its_module_does_not_offer_links_nothing_however_it_is_spelled() -> None:
    build = CodeBuilder()
    build.project("lib", LIB)
    build.project(
        "app",
        {
            "pyproject.toml": pyproject("app", "fancy-lib"),
            "app.py": "from fancy import inner, nothing\n",
        },
    )
    assert {edge.rule for edge in build.edges()} == {"R1", "R2"}
    assert [(miss.code, miss.subject) for miss in build.near()] == [
        ("NAME_UNKNOWN", "fancy.inner"),
        ("NAME_UNKNOWN", "fancy.nothing"),
    ]


def test_two_star_exports_of_one_name_are_ambiguous() -> None:
    build = CodeBuilder()
    build.project(
        "lib",
        {
            "pyproject.toml": pyproject("fancy-lib"),
            "fancy/__init__.py": "from fancy.a import *\nfrom fancy.b import *\n",
            "fancy/a.py": "def same(): ...\n\ndef only(): ...\n",
            "fancy/b.py": "def same(): ...\n",
        },
    )
    build.project(
        "app",
        {
            "pyproject.toml": pyproject("app", "fancy-lib"),
            "app.py": "from fancy import same, only\n\nsame()\n",
        },
    )
    assert {edge.rule for edge in build.edges() if edge.detail.endswith("same")} == {"R3d"}
    assert {edge.rule for edge in build.edges() if edge.detail.endswith("only")} == {"R3b"}


def test_the_last_unconditional_binding_wins_and_conditional_ones_are_doubtful() -> None:
    build = CodeBuilder()
    build.project(
        "lib",
        {
            "pyproject.toml": pyproject("fancy-lib"),
            "fancy/__init__.py": (
                "from fancy.a import f\n"
                "def f(): ...\n"
                "try:\n    from fancy.a import g\nexcept ImportError:\n    from fancy.b import g\n"
            ),
            "fancy/a.py": "def f(): ...\n\ndef g(): ...\n",
            "fancy/b.py": "def g(): ...\n",
        },
    )
    build.project(
        "app",
        {"pyproject.toml": pyproject("app", "fancy-lib"), "app.py": "from fancy import f, g\n"},
    )
    direct = build.edges("R3")
    assert [(edge.provider_path, edge.provider_line) for edge in direct] == [
        ("fancy/__init__.py", 2)
    ]
    assert {edge.confidence for edge in build.edges("R3d")} == {"AMBIGUOUS"}


def test_chains_of_re_exports_end_even_where_they_run_in_circles() -> None:
    build = CodeBuilder()
    build.project(
        "lib",
        {
            "pyproject.toml": pyproject("fancy-lib"),
            "fancy/__init__.py": "from fancy.a import *\nfrom fancy.a import loop\n",
            "fancy/a.py": "from fancy import *\nfrom fancy import loop\n",
        },
    )
    build.project(
        "app",
        {"pyproject.toml": pyproject("app", "fancy-lib"), "app.py": "from fancy import loop\n"},
    )
    assert {edge.rule for edge in build.edges()} == {"R1", "R2"}


def test_aliases_end_that_name_each_other_or_never_end() -> None:
    """Of a real package, whose modules name members of each other."""
    links = CodeBuilder()
    links.project(
        "app",
        {
            "pyproject.toml": pyproject("app", "lib"),
            "app.py": "import lib.a\nlib.a.x()\nlib.a.z0()\n",
        },
    )
    links.project(
        "lib",
        {
            "pyproject.toml": pyproject("lib"),
            "lib/__init__.py": "",
            "lib/a.py": "import lib.b\nx = lib.b.y\n"
            + "".join(f"z{n} = z{n + 1}\n" for n in range(2_000)),
            "lib/b.py": "import lib.a\ny = lib.a.x\n",
        },
    )

    found = links.edges()

    assert {edge.detail for edge in found if edge.rule.startswith("R3")} <= {"lib.a.x", "lib.a.z0"}
    assert any(edge.relation == "imports" for edge in found)


def test_aliases_stand_for_what_they_name() -> None:
    build = CodeBuilder()
    build.project(
        "lib",
        {
            "pyproject.toml": pyproject("fancy-lib"),
            "fancy/__init__.py": "from fancy import a\nNew = a.Old\nNumber = 3\nLocal = New\n",
            "fancy/a.py": "class Old: ...\n",
        },
    )
    build.project(
        "app",
        {
            "pyproject.toml": pyproject("app", "fancy-lib"),
            "app.py": "from fancy import New, Number, Local\n",
        },
    )
    ends = {edge.detail: (edge.provider_path, edge.provider_line) for edge in build.edges("R3")}
    ends |= {edge.detail: (edge.provider_path, edge.provider_line) for edge in build.edges("R3b")}
    assert ends == {
        "fancy.New": ("fancy/a.py", 1),
        "fancy.Local": ("fancy/a.py", 1),
        "fancy.Number": ("fancy/__init__.py", 3),
    }


def test_a_stub_links_only_where_no_source_can_be_read() -> None:
    build = CodeBuilder()
    build.project("lib", LIB)
    build.project(
        "app",
        {"pyproject.toml": pyproject("app", "fancy-lib"), "app.py": "x", "seen.py": "y = 1\n"},
        unreadable=("app.py",),
        stubs=(("fancy_core", "app.py", 3), ("json", "app.py", 1), ("fancy_core", "seen.py", 2)),
    )
    build.project(
        "other",
        {"other.py": "x"},
        unreadable=("other.py",),
        stubs=(("fancy_deep_inner", "other.py", 1),),
    )
    assert {
        (edge.consumer, edge.consumer_path, edge.confidence, edge.score)
        for edge in build.edges("R2b")
    } == {("app", "app.py", "INFERRED", 0.85), ("other", "other.py", "INFERRED", 0.55)}


def test_imports_inside_functions_and_for_types_are_imports_too() -> None:
    build = CodeBuilder()
    build.project("lib", LIB)
    build.project(
        "app",
        {
            "pyproject.toml": pyproject("app", "fancy-lib"),
            "app.py": (
                "from typing import TYPE_CHECKING\n"
                "if TYPE_CHECKING:\n"
                "    from fancy.core import Loader\n"
                "def go(loader: 'Loader') -> None:\n"
                "    from fancy import load\n"
                "    load()\n"
            ),
        },
    )
    assert "go() -calls-> load() EXTRACTED" in build.shown()
    assert "app.py -imports-> Loader EXTRACTED" in build.shown()


def test_a_provider_without_a_package_can_be_pointed_at() -> None:
    build = CodeBuilder()
    build.project("lib", {"fancy/__init__.py": "def load(): ...\n"}, remote="github.com/acme/fancy")
    build.project(
        "app",
        {"requirements.txt": "-e ../lib\n", "app.py": "from fancy import load\n"},
    )
    assert {(edge.rule, edge.confidence) for edge in build.edges()} == {
        ("R1b", "EXTRACTED"),
        ("R2", "EXTRACTED"),
        ("R3", "EXTRACTED"),
    }


def test_a_name_is_followed_into_a_third_project() -> None:
    build = CodeBuilder()
    build.project(
        "base",
        {
            "pyproject.toml": pyproject("base"),
            "base/__init__.py": "from base.deep import Thing\n",
            "base/deep.py": "class Thing: ...\n",
        },
    )
    build.project(
        "face",
        {
            "pyproject.toml": pyproject("face", "base"),
            "face/__init__.py": (
                "from base import Thing\nfrom base import *\nimport base as under\n"
            ),
        },
    )
    build.project(
        "app",
        {
            "pyproject.toml": pyproject("app", "face"),
            "app.py": "import face\nfrom face import Thing\nThing()\nface.under.Thing()\n",
        },
    )
    edges = [edge for edge in build.edges() if edge.consumer == "app" and edge.rule == "R3b"]
    assert {(edge.provider, edge.provider_path, edge.provider_line) for edge in edges} == {
        ("base", "base/deep.py", 1)
    }
    assert {(edge.relation, edge.line) for edge in edges} == {
        ("imports", 2),
        ("calls", 3),
        ("calls", 4),
    }


def test_a_name_is_not_followed_where_the_providers_own_import_is_not_certain() -> None:
    build = CodeBuilder()
    build.project(
        "ground", {"pyproject.toml": pyproject("g"), "ground/__init__.py": "def t(): ...\n"}
    )
    build.project(
        "face", {"pyproject.toml": pyproject("face"), "face/__init__.py": "from ground import t\n"}
    )
    build.project(
        "app", {"pyproject.toml": pyproject("app", "face"), "app.py": "from face import t\n"}
    )
    assert [edge.rule for edge in build.edges() if edge.provider == "ground"] == ["R2", "R3"]
    assert ("NAME_UNKNOWN", "face.t") in {(miss.code, miss.subject) for miss in build.near()}


SHADOWS = {
    "a folder of migrations": ("app/main.py", {"app/fancy/env.py": "x = 1\n"}, True),
    "a namesake inside the package": (
        "app/in/user.py",
        {"app/__init__.py": "", "app/in/__init__.py": "", "app/in/fancy.py": "x = 1\n"},
        True,
    ),
    "a folder of examples": ("docs_src/one/a.py", {"docs_src/one/fancy/b.py": "x = 1\n"}, True),
    "a module beside a script": ("tools/run.py", {"tools/fancy.py": "x = 1\n"}, False),
    "a package beside a script": ("tools/run.py", {"tools/fancy/__init__.py": ""}, False),
    "a module beside the outermost package": (
        "lib/app/in/user.py",
        {"lib/app/__init__.py": "", "lib/app/in/__init__.py": "", "lib/fancy.py": "x = 1\n"},
        False,
    ),
}


@pytest.mark.parametrize("case", SHADOWS)
def test_what_hides_a_package_is_what_the_interpreter_would_find_first(case: str) -> None:
    user, files, linked = SHADOWS[case]
    build = CodeBuilder()
    build.project("lib", LIB)
    build.project(
        "app",
        {
            "pyproject.toml": pyproject("app", "fancy-lib"),
            user: "from fancy import load\n",
            **files,
        },
    )
    assert bool(build.shown("R3b")) == linked
