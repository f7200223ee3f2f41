"""The edges of TypeScript and Go, checked against the compilers' own resolution.

TypeScript: ``tsc --traceResolution`` says which file every specifier leads to. Go: ``go list``
says which folder every import is. What either resolves into another project must be an edge,
and every edge must be what it resolves.
"""

# ruff: noqa: E501, S607 - the sources under test; npm and go are what PATH says

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from agentic_os.aggregate.graph.own.build import own_graph
from support.graph.code import CodeBuilder

pytestmark = pytest.mark.services

TYPESCRIPT = "5.9.3"
SECONDS = 300

TS_PROVIDERS: dict[str, dict[str, str]] = {
    "exports": {
        "package.json": json.dumps(
            {
                "name": "@acme/exports",
                "exports": {
                    ".": {"types": "./src/index.ts", "default": "./dist/index.js"},
                    "./deep": "./src/deep/index.ts",
                    "./features/*": "./src/features/*.ts",
                },
            }
        ),
        "src/index.ts": "export { open as load } from './core.js';\nexport * from './more';\n",
        "src/core.ts": "export function open() {}\n",
        "src/more.ts": "export const more = 1;\n",
        "src/deep/index.ts": "export default class Deep {}\n",
        "src/features/one.ts": "export const one = 1;\n",
    },
    "mained": {
        "package.json": json.dumps({"name": "mained", "main": "lib/start.ts"}),
        "lib/start.ts": "export const start = 1;\n",
        "lib/other.tsx": "export const other = 1;\n",
    },
    "typed": {
        "package.json": json.dumps({"name": "typed", "main": "./x.js", "types": "./types.d.ts"}),
        "types.d.ts": "export declare const typed: number;\n",
        "x.js": "exports.typed = 1;\n",
    },
    "plain": {
        "package.json": json.dumps({"name": "plain"}),
        "index.ts": "export const plain = 1;\n",
        "inner/index.ts": "export const inner = 1;\n",
    },
}
TS_IMPORTS = (
    "@acme/exports",
    "@acme/exports/deep",
    "@acme/exports/features/one",
    "@acme/exports/src/core",
    "mained",
    "mained/lib/other",
    "typed",
    "plain",
    "plain/inner",
    "plain/gone",
    "nowhere",
    "mapped",
    "fs",
)


@pytest.fixture(scope="module")
def tsc() -> list[str]:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = Path(tempfile.gettempdir()) / f"agentic-os-typescript-{os.getuid()}"
    script = folder / "node_modules/typescript/bin/tsc"
    if not script.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", f"typescript@{TYPESCRIPT}"],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=SECONDS,
        )
    return ["node", str(script)]


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def test_specifiers_lead_where_the_compiler_says(tsc: list[str], tmp_path: Path) -> None:
    names = {
        folder: json.loads(files["package.json"])["name"] for folder, files in TS_PROVIDERS.items()
    }
    app = {
        "package.json": json.dumps(
            {"name": "app", "dependencies": dict.fromkeys([*names.values(), "mapped"], "1")}
        ),
        "tsconfig.json": json.dumps(
            {
                "compilerOptions": {
                    "module": "esnext",
                    "moduleResolution": "bundler",
                    "allowImportingTsExtensions": True,
                    "noEmit": True,
                    "skipLibCheck": True,
                    "types": [],
                    "baseUrl": ".",
                    "ignoreDeprecations": "5.0",
                    "jsx": "preserve",
                    "paths": {"mapped": ["./src/mapped.ts"]},
                },
                "include": ["src"],
            }
        ),
        "src/app.ts": "".join(
            f"import * as m{i} from '{name}';\n" for i, name in enumerate(TS_IMPORTS)
        ),
        "src/mapped.ts": "export const mapped = 1;\n",
    }
    providers = {
        **TS_PROVIDERS,
        "mapped": {"package.json": '{"name": "mapped"}', "index.ts": "export const no = 1;\n"},
    }
    names["mapped"] = "mapped"
    for folder, files in providers.items():
        write(tmp_path / folder, files)
        link = tmp_path / "app/node_modules" / names[folder]
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(tmp_path / folder)
    write(tmp_path / "app", app)
    done = subprocess.run(
        [*tsc, "--traceResolution", "-p", str(tmp_path / "app")],
        check=False,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        cwd=tmp_path,
    )
    found = re.findall(r"Module name '([^']+)' was successfully resolved to '([^']+)'", done.stdout)
    assert found, done.stdout[-2_000:]
    root = tmp_path.resolve()
    resolved = set()
    for name, target in found:
        project, _, path = str(Path(target).relative_to(root)).partition("/")
        if name in TS_IMPORTS and project != "app":
            resolved.add((name, project, path))
    build = CodeBuilder()
    for folder, files in providers.items():
        build.project(folder, files)
    build.project("app", app)
    edges = {
        (edge.detail, edge.provider, edge.provider_path)
        for edge in build.edges("R2")
        if edge.confidence == "EXTRACTED"
    }
    assert edges == resolved
    assert len(resolved) == 8


GO_LIB = {
    "go.mod": "module example.com/lib/v2\n\ngo 1.18\n",
    "lib.go": "package lib\n\nfunc Open() {}\n",
    "sub/odd.go": "package odd\n\nconst Limit = 3\n",
    "sub/deep/deep.go": "package deep\n\ntype T struct{}\n",
    "internal/x/x.go": "package x\n",
}
GO_OTHER = {
    "go.mod": "module example.com/other\n\ngo 1.18\n",
    "other.go": "package other\n\nfunc Do() {}\n",
}
GO_APP = {
    "go.mod": (
        "module example.com/app\n\ngo 1.18\n\nrequire (\n\texample.com/lib/v2 v2.0.0\n"
        "\texample.com/other v0.0.0\n)\n\nreplace example.com/lib/v2 => ../lib\n\n"
        "replace example.com/other => ../other\n"
    ),
    "main.go": (
        'package main\n\nimport (\n\t"fmt"\n\n\t"example.com/app/inner"\n\t"example.com/lib/v2"\n'
        '\t"example.com/lib/v2/sub"\n\td "example.com/lib/v2/sub/deep"\n\t"example.com/other"\n)\n\n'
        "func main() {\n\tlib.Open()\n\tother.Do()\n\tvar t d.T\n\tfmt.Println(odd.Limit, t, inner.X)\n}\n"
    ),
    "inner/inner.go": "package inner\n\nconst X = 1\n",
}


def test_imports_are_the_folders_that_go_says(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    projects = {"lib": GO_LIB, "other": GO_OTHER, "app": GO_APP}
    for name, files in projects.items():
        write(tmp_path / name, files)
    environ = {
        **os.environ,
        "GOFLAGS": "-mod=mod",
        "GOPROXY": "off",
        "GOCACHE": str(tmp_path / "cache"),
        "GOPATH": str(tmp_path / "path"),
        "GONOSUMDB": "*",
        "GONOSUMCHECK": "1",
    }

    def go(*words: str) -> str:
        done = subprocess.run(
            ["go", *words],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path / "app",
            env=environ,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = dict(
        line.split(" ", 1)
        for line in go("list", "-deps", "-f", "{{.ImportPath}} {{.Dir}}", "./...").splitlines()
    )
    root = tmp_path.resolve()
    resolved = set()
    for module in re.findall(r'"(example\.com/[^"]+)"', GO_APP["main.go"]):
        project, _, folder = str(Path(listed[module]).resolve().relative_to(root)).partition("/")
        if project != "app":
            resolved.add((module, project, folder))
    build = CodeBuilder()
    for name, files in projects.items():
        build.project(name, files, folder=str(root / name))
    edges = {
        (edge.detail, edge.provider, edge.provider_path.rpartition("/")[0])
        for edge in build.edges("R2")
        if edge.confidence == "EXTRACTED"
    }
    assert edges == resolved
    assert len(resolved) == 4
    go("vet", "./...")
    symbols = {(edge.detail, edge.relation) for edge in build.edges("R3")}
    assert symbols == {
        ("lib.Open", "calls"),
        ("other.Do", "calls"),
        ("d.T", "references"),
        ("odd.Limit", "references"),
    }


GO_JUDGE = """
package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
)

func main() {
	set := token.NewFileSet()
	names := os.Args[1:]
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			panic(err)
		}
		files = append(files, file)
	}
	at := func(pos token.Pos) string {
		place := set.Position(pos)
		return fmt.Sprintf("%s:%d", filepath.Base(place.Filename), place.Line)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(set, "source", nil), Error: func(error) {}}
	pkg, _ := config.Check("p", set, files, info)
	for _, file := range files {
		for _, item := range file.Decls {
			switch one := item.(type) {
			case *ast.FuncDecl:
				fmt.Println("def", at(one.Pos()), one.Name.Name)
			case *ast.GenDecl:
				for _, spec := range one.Specs {
					if kind, ok := spec.(*ast.TypeSpec); ok {
						fmt.Println("def", at(kind.Pos()), kind.Name.Name)
					}
				}
			}
		}
	}
	for ident, object := range info.Uses {
		if object.Pkg() == pkg && object.Parent() == pkg.Scope() {
			fmt.Println("use", at(ident.Pos()), ident.Name, at(object.Pos()))
		}
	}
}
"""
GO_PACKAGES = ("container/list", "text/template", "net/textproto", "encoding/json", "archive/tar")


@pytest.mark.parametrize("name", GO_PACKAGES)
def test_the_own_graph_of_a_go_package_is_what_the_type_checker_says(
    name: str, tmp_path: Path
) -> None:
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    listed = subprocess.run(
        ["go", "list", "-f", '{{.Dir}}\n{{join .GoFiles "\\n"}}', name],
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    ).stdout.split()
    folder, files = Path(listed[0]), listed[1:]
    (tmp_path / "judge.go").write_text(GO_JUDGE)
    environ = {**os.environ, "GOCACHE": str(tmp_path / "cache"), "GO111MODULE": "off"}
    subprocess.run(
        ["go", "build", "-o", "judge", "judge.go"],
        cwd=tmp_path,
        env=environ,
        check=True,
        timeout=SECONDS,
    )
    judged = subprocess.run(
        [tmp_path / "judge", *(folder / file for file in files)],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    ).stdout.splitlines()
    definitions = {tuple(line.split()[1:]) for line in judged if line.startswith("def ")}
    uses = {tuple(line.split()[1:]) for line in judged if line.startswith("use ")}

    sources = {file: (folder / file).read_text("utf-8") for file in files}
    graph = own_graph(CodeBuilder().project("p", sources))

    nodes = {
        (f"{node.path}:{node.line}", node.label.strip(".").partition("(")[0])
        for node in graph.nodes
    }
    assert definitions - nodes == set()
    claimed = {
        (
            f"{edge.path}:{edge.line}",
            graph.nodes[edge.target].label.partition("(")[0],
            f"{graph.nodes[edge.target].path}:{graph.nodes[edge.target].line}",
        )
        for edge in graph.edges
        if edge.relation in {"calls", "references"}
        and edge.confidence == "EXTRACTED"
        and graph.nodes[edge.target].path
    }
    wrong = claimed - uses
    assert len(wrong) <= 0.02 * len(claimed), sorted(wrong)[:20]
    # What stands in its own definition makes no edge, nor does what several files may declare.
    assert len(claimed) >= 0.5 * len(uses)
