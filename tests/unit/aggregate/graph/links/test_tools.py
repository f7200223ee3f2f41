"""Programs that one project starts and another one provides."""

import json

from support.graph.code import CodeBuilder, pyproject


def started(providers: dict[str, dict[str, str]], app: dict[str, str]) -> CodeBuilder:
    build = CodeBuilder()
    for name, files in providers.items():
        build.project(name, files)
    build.project("app", {"pyproject.toml": pyproject("app"), **app})
    return build


def ends(build: CodeBuilder) -> dict[str, tuple[str, str, int]]:
    return {
        edge.detail: (edge.target.label, edge.provider_path, edge.provider_line)
        for edge in build.edges("R7")
    }


def server(*words: str) -> dict[str, str]:
    command, *arguments = words
    listed = {"mcpServers": {"x": {"command": command, "args": arguments}}}
    return {".mcp.json": json.dumps(listed)}


def script(entry: str) -> str:
    return pyproject("tool", extra=f'[project.scripts]\nfrob = "{entry}"\n')


def test_a_command_ends_at_its_function_else_its_file_else_its_manifest() -> None:
    files = {"tool/cli.py": "def main(): ...\n", "tool/__init__.py": ""}

    for entry, end in (
        ("tool.cli:main", ("main()", "tool/cli.py", 1)),
        ("tool.cli:main [extra]", ("main()", "tool/cli.py", 1)),
        ("tool.cli:gone", ("cli.py", "tool/cli.py", 1)),
        ("gone.cli:main", ("tool", "pyproject.toml", 4)),
    ):
        build = started({"tool": {"pyproject.toml": script(entry), **files}}, server("frob"))
        found = ends(build)["frob"]
        assert found[:2] == end[:2], entry
        assert found[2] == end[2] or entry.startswith("gone."), entry


def test_a_runner_is_looked_through_to_the_command_or_the_package() -> None:
    node = {
        "package.json": json.dumps({"name": "@acme/tool", "bin": {"tool": "./run.js"}}),
        "run.js": "function go() {}\n",
    }
    bare = {"package.json": json.dumps({"name": "plain"}), "i.js": "exports.a = 1;\n"}

    found = ends(started({"node": node}, server("npx", "-y", "@acme/tool")))
    assert found == {"@acme/tool": ("run.js", "run.js", 1)}
    found = ends(started({"bare": bare}, server("npx", "plain")))
    assert {key: end[:2] for key, end in found.items()} == {"plain": ("plain", "package.json")}
    python = {"pyproject.toml": script("tool:main"), "tool.py": "def main(): ...\n"}
    found = ends(started({"py": python}, server("uvx", "frob")))
    assert found == {"frob": ("main()", "tool.py", 1)}


def test_a_runners_package_that_is_ones_own_or_of_several_is_no_edge() -> None:
    node = {"package.json": json.dumps({"name": "tool"}), "i.js": "exports.a = 1;\n"}
    own = {**server("npx", "tool"), "package.json": json.dumps({"name": "tool"})}

    assert ends(started({"node": node}, own)) == {}
    assert ends(started({"one": node, "two": node}, server("npx", "tool"))) == {}


def test_python_m_links_the_module_of_a_declared_package_only() -> None:
    lib = {
        "pyproject.toml": pyproject("fancy"),
        "fancy/__init__.py": "",
        "fancy/__main__.py": "",
        "fancy/inner.py": "",
    }
    run = "import subprocess\n\ndef go():\n    subprocess.run(['python', '-m', 'NAME'])\n"

    def module(name: str, *needs: str) -> dict[str, tuple[str, str, int]]:
        app = {"pyproject.toml": pyproject("app", *needs), "a.py": run.replace("NAME", name)}
        # A package of another language is passed over on the way.
        other = {"package.json": json.dumps({"name": "aaa"}), "i.js": "exports.a = 1;\n"}
        return ends(started({"lib": lib, "other": other}, app))

    assert module("fancy", "fancy") == {"fancy": ("__main__.py", "fancy/__main__.py", 1)}
    assert module("fancy.inner", "fancy") == {"fancy.inner": ("inner.py", "fancy/inner.py", 1)}
    assert module("fancy.gone", "fancy") == {}
    assert module("fancy") == {}
    assert module("json", "fancy") == {}


def test_examples_and_tests_start_and_provide_nothing() -> None:
    tool = {"pyproject.toml": pyproject("tool"), "tool/__init__.py": "def main(): ...\n"}
    hidden = {"examples/demo/pyproject.toml": script("tool:main")}
    call = "import subprocess\nsubprocess.run(['frob'])\n"

    assert ends(started({"tool": {**tool, **hidden}}, server("frob"))) == {}
    given = {**tool, "pyproject.toml": script("tool:main")}
    assert ends(started({"tool": given}, {"tests/test_a.py": call})) == {}
    assert ends(started({"tool": given}, {"src/a.py": call}))["frob"][0] == "main()"
