"""R2 and R3 for JavaScript, TypeScript and Go."""

# ruff: noqa: E501 - the sources under test stand on one line each

import json

import pytest

from support.graph.code import CodeBuilder


def package_json(name: str, **more: object) -> str:
    return json.dumps({"name": name, **more}, indent=1)


TS_LIB = {
    "package.json": package_json(
        "@acme/lib", exports={".": "./src/index.ts", "./deep": "./src/deep.ts"}
    ),
    "src/index.ts": (
        "export { load as open } from './core';\n"
        "export * from './more';\n"
        "export default class Main {}\n"
        "export const LIMIT = 3;\n"
    ),
    "src/core.ts": "export function load(a: string) {}\nexport interface Shape { a: number }\n",
    "src/more.ts": "export function extra() {}\n",
    "src/deep.ts": "export const deep = () => 1;\n",
}
TS_APP = {
    "package.json": package_json("app", dependencies={"@acme/lib": "^1"}),
    "src/app.tsx": (
        "import Main, { open, extra, LIMIT } from '@acme/lib';\n"
        "import * as lib from '@acme/lib';\n"
        "import { deep } from '@acme/lib/deep';\n"
        "export class Mine extends Main {}\n"
        "export function go(extra2: number) {\n"
        "  open('x'); lib.extra(); deep(); return LIMIT;\n"
        "}\n"
    ),
}


def test_typescript_entries_and_re_exports_are_followed() -> None:
    build = CodeBuilder()
    build.project("lib", TS_LIB)
    build.project("app", TS_APP)
    assert build.shown("R1") == {"app -depends_on-> @acme/lib EXTRACTED"}
    assert build.shown("R2") == {
        "app.tsx -imports-> index.ts EXTRACTED",
        "app.tsx -imports-> deep.ts EXTRACTED",
    }
    assert build.shown("R3") == {
        "app.tsx -imports-> Main EXTRACTED",
        "Mine -inherits-> Main EXTRACTED",
        "app.tsx -imports-> LIMIT EXTRACTED",
        "go() -references-> LIMIT EXTRACTED",
        "app.tsx -imports-> deep() EXTRACTED",
        "go() -calls-> deep() EXTRACTED",
    }
    assert build.shown("R3b") == {
        "app.tsx -imports-> load() EXTRACTED",
        "go() -calls-> load() EXTRACTED",
        "app.tsx -imports-> extra() EXTRACTED",
        "go() -calls-> extra() EXTRACTED",
    }


def test_an_entry_that_names_a_build_product_is_no_more_than_inferred() -> None:
    built = {**TS_LIB, "package.json": package_json("@acme/lib", main="./dist/index.js")}
    build = CodeBuilder()
    build.project("lib", built)
    build.project("app", {**TS_APP, "src/app.tsx": "import { open } from '@acme/lib';\nopen();\n"})
    assert {(edge.rule, edge.confidence) for edge in build.edges() if edge.rule != "R1"} == {
        ("R2", "INFERRED"),
        ("R3b", "INFERRED"),
    }


def test_commonjs_modules_are_modules_too() -> None:
    build = CodeBuilder()
    build.project(
        "lib",
        {
            "package.json": package_json("old", main="lib.js"),
            "lib.js": "function load() {}\nmodule.exports = { load, other: require('./o') };\n",
            "o.js": "module.exports = class Other {};\nexports.inner = function () {};\n",
        },
    )
    build.project(
        "app",
        {
            "package.json": package_json("app", dependencies={"old": "1"}),
            "app.js": "const old = require('old');\nconst { load } = require('old');\n"
            "function go() { old.load(); load(); }\n",
        },
    )
    assert "go() -calls-> load() EXTRACTED" in build.shown("R3")
    assert "app.js -imports-> load() EXTRACTED" in build.shown("R3")


def test_an_npm_alias_means_the_package_behind_it() -> None:
    build = CodeBuilder()
    build.project("lib", TS_LIB)
    build.project(
        "app",
        {
            "package.json": package_json("app", dependencies={"short": "npm:@acme/lib@^2"}),
            "a.ts": "import { open } from 'short';\n",
        },
    )
    assert {(edge.rule, edge.confidence) for edge in build.edges()} == {
        ("R1", "EXTRACTED"),
        ("R2", "EXTRACTED"),
        ("R3b", "EXTRACTED"),
    }


@pytest.mark.parametrize(
    "target", ["file:../lib", "link:../lib", "workspace:../lib", "github:acme/lib"]
)
def test_npm_dependencies_that_point_somewhere(target: str) -> None:
    build = CodeBuilder()
    build.project("lib", TS_LIB, remote="github.com/acme/lib")
    build.project("copy", TS_LIB)
    build.project("app", {"package.json": package_json("app", dependencies={"@acme/lib": target})})
    assert {(edge.rule, edge.provider) for edge in build.edges()} == {("R1b", "lib")}


def test_near_misses_of_scripts_say_why() -> None:
    build = CodeBuilder()
    build.project(
        "lib", {**TS_LIB, "package.json": package_json("@acme/lib", exports={".": "./no.js"})}
    )
    build.project("app", TS_APP)
    codes = {(miss.code, miss.subject) for miss in build.near("R2")}
    assert codes == {("ENTRY_UNKNOWN", "@acme/lib"), ("ENTRY_UNKNOWN", "@acme/lib/deep")}


GO_LIB = {
    "go.mod": "module example.com/lib/v2\n\ngo 1.20\n",
    "lib.go": "package lib\n\nfunc Open() {}\n\ntype Thing struct{}\n\nfunc (t Thing) Run() {}\n",
    "sub/sub.go": "package odd\n\nconst Limit = 3\n",
    "sub/sub_linux.go": "package odd\n\nfunc Where() {}\n",
    "sub/sub_darwin.go": "package odd\n\nfunc Where() {}\n",
    "internal/x/x.go": "package x\n\nfunc X() {}\n",
    "cmd/tool/main.go": "package main\n\nfunc main() {}\n",
}


def test_go_packages_and_selectors() -> None:
    build = CodeBuilder()
    build.project("lib", GO_LIB)
    build.project(
        "app",
        {
            "go.mod": "module example.com/app\n\nrequire example.com/lib/v2 v2.0.1\n",
            "main.go": (
                'package main\n\nimport (\n\t"fmt"\n\t"example.com/lib/v2"\n'
                '\to "example.com/lib/v2/sub"\n\t"example.com/lib/v2/internal/x"\n'
                '\t"example.com/lib/v2/cmd/tool"\n)\n\n'
                "func run() { lib.Open(); var t lib.Thing; t.Run(); fmt.Println(o.Limit); o.Where() }\n"
                "func shadow(lib int) { lib.Open() }\n"
            ),
        },
    )
    assert build.shown("R1") == {"example.com/app -depends_on-> example.com/lib/v2 EXTRACTED"}
    assert build.shown("R2") == {
        "main.go -imports-> lib.go EXTRACTED",
        "main.go -imports-> sub.go EXTRACTED",
    }
    assert build.shown("R3") == {
        "run() -calls-> Open() EXTRACTED",
        "run() -references-> Thing EXTRACTED",
        "run() -references-> Limit EXTRACTED",
    }
    assert build.shown("R3d") == {"run() -calls-> Where() AMBIGUOUS"}
    assert {(miss.code, miss.subject) for miss in build.near("R2")} == {
        ("GO_INTERNAL", "example.com/lib/v2/internal/x"),
        ("GO_MAIN", "example.com/lib/v2/cmd/tool"),
    }


def test_a_package_that_its_path_does_not_name_is_found_by_its_clause() -> None:
    build = CodeBuilder()
    build.project("lib", GO_LIB)
    build.project(
        "app",
        {
            "go.mod": "module example.com/app\n\nrequire example.com/lib/v2 v2.0.1\n",
            "a.go": 'package a\n\nimport "example.com/lib/v2/sub"\n\nvar L = odd.Limit\n',
        },
    )
    assert build.shown("R3") == {"L -references-> Limit EXTRACTED"}


def test_a_go_replacement_points_at_a_folder() -> None:
    build = CodeBuilder()
    build.project("lib", GO_LIB)
    build.project("copy", GO_LIB)
    build.project(
        "app",
        {
            "go.mod": (
                "module example.com/app\n\nrequire example.com/lib/v2 v2.0.1\n\n"
                "replace example.com/lib/v2 => ../lib\n"
            ),
            "a.go": 'package a\n\nimport "example.com/lib/v2"\n\nvar T lib.Thing\n',
        },
    )
    assert {(edge.rule, edge.provider, edge.confidence) for edge in build.edges()} == {
        ("R1b", "lib", "EXTRACTED"),
        ("R2", "lib", "EXTRACTED"),
        ("R3", "lib", "EXTRACTED"),
    }


def test_rust_and_java_are_linked_by_manifest() -> None:
    build = CodeBuilder()
    build.project("crate", {"Cargo.toml": '[package]\nname = "my-crate"\n'})
    build.project(
        "jar", {"pom.xml": "<project><groupId>org.x</groupId><artifactId>y</artifactId></project>"}
    )
    build.project(
        "app",
        {
            "Cargo.toml": '[package]\nname = "app"\n[dependencies]\nshort = { package = "my_crate" }\n',
            "pom.xml": (
                "<project><artifactId>app</artifactId><groupId>org.x</groupId><dependencies>"
                "<dependency><groupId>org.x</groupId><artifactId>y</artifactId></dependency>"
                "</dependencies></project>"
            ),
        },
    )
    assert {(edge.provider, edge.detail) for edge in build.edges("R1")} == {
        ("crate", "my-crate"),
        ("jar", "org.x:y"),
    }
