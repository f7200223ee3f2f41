"""R2 and R3 for JavaScript, TypeScript and Go; R5 for HTTP; R7 for programs."""

# ruff: noqa: E501 - the sources under test stand on one line each

import json

import pytest

from support.graph.code import CodeBuilder, pyproject


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


API = {
    "pyproject.toml": pyproject("users-service"),
    "app/__init__.py": "",
    "app/main.py": (
        "from fastapi import FastAPI\n"
        "from app.routers import users\n"
        "from app.routers.admin import router as admin\n"
        "app = FastAPI()\n"
        "app.include_router(users.router, prefix='/api/v1')\n"
        "app.include_router(admin)\n"
        "@app.get('/health')\n"
        "def health(): ...\n"
    ),
    "app/routers/__init__.py": "",
    "app/routers/users.py": (
        "from fastapi import APIRouter\n"
        "router = APIRouter(prefix='/users')\n"
        "@router.get('/{user_id}/orders')\n"
        "async def orders(user_id): ...\n"
        "@router.post('/')\n"
        "def create(): ...\n"
        "lost = APIRouter()\n"
        "@lost.get('/never/served')\n"
        "def never(): ...\n"
    ),
    "app/routers/admin.py": (
        "from fastapi import APIRouter\n"
        "router = APIRouter()\n"
        "@router.api_route('/admin/stats', methods=['GET', 'DELETE'])\n"
        "def stats(): ...\n"
    ),
}


def client(text: str) -> dict[str, str]:
    return {"client.py": "import httpx, os, requests\n" + text}


def test_a_request_whose_variable_names_the_service_is_linked_across_router_mounts() -> None:
    build = CodeBuilder()
    build.project("users", API)
    build.project(
        "shop",
        client(
            "BASE = os.environ.get('USERS_API_URL', 'http://localhost:8000')\n"
            "def fetch(i):\n"
            "    return requests.get(f'{BASE}/api/v1/users/{i}/orders', timeout=1)\n"
        ),
    )
    (edge,) = build.edges("R5")
    assert (edge.source.label, edge.target.label) == ("fetch()", "orders()")
    assert (edge.confidence, edge.score) == ("INFERRED", 0.85)
    assert (edge.provider_path, edge.provider_line) == ("app/routers/users.py", 4)
    assert {miss.code for miss in build.near("R5")} == {"ROUTE_UNMOUNTED"}


def test_a_host_that_names_the_service_binds_it_and_the_method_must_agree() -> None:
    build = CodeBuilder()
    build.project("users", API)
    build.project(
        "shop",
        client(
            "api = httpx.Client(base_url='http://users-service:8000/api/v1')\n"
            "def one():\n    api.post('/users')\n"
            "def two():\n    api.put('/users')\n"
        ),
    )
    assert {(edge.source.label, edge.detail) for edge in build.edges("R5")} == {
        ("one()", "POST /api/v1/users -> /api/v1/users")
    }


def test_a_path_alone_links_only_where_it_tells_something_and_one_project_serves_it() -> None:
    build = CodeBuilder()
    build.project("users", API)
    build.project(
        "shop",
        client(
            "def far():\n    requests.delete('http://localhost:9/admin/stats')\n"
            "def health():\n    requests.get('http://users/health')\n"
            "def short():\n    requests.post('http://localhost/api/v1/users')\n"
            "def else_():\n    requests.get('https://api.example.com/admin/stats')\n"
            "def other():\n    requests.get(os.environ['BILLING_URL'] + '/admin/stats')\n"
        ),
    )
    assert {(edge.source.label, edge.score) for edge in build.edges("R5")} == {("far()", 0.55)}
    assert {(miss.code, miss.subject) for miss in build.near("R5") if miss.consumer == "shop"} == {
        ("GENERIC_PATH", "GET /health"),
        ("PATH_TOO_COMMON", "POST /api/v1/users"),
        ("HOST_UNBOUND", "GET /admin/stats"),
        ("HOST_OTHER", "GET /admin/stats"),
    }


def test_flask_starlette_and_express_serve_routes_too() -> None:
    build = CodeBuilder()
    build.project(
        "flasky",
        {
            "srv.py": (
                "from flask import Flask, Blueprint\n"
                "bp = Blueprint('b', __name__, url_prefix='/shop')\n"
                "@bp.route('/items/<int:i>', methods=['GET', 'PUT'])\n"
                "def item(i): ...\n"
                "def create():\n    app = Flask(__name__)\n"
                "    app.register_blueprint(bp, url_prefix='/v9')\n    return app\n"
            )
        },
    )
    build.project(
        "starry",
        {
            "srv.py": (
                "from starlette.applications import Starlette\n"
                "from starlette.routing import Route, Mount\n"
                "def star(request): ...\n"
                "routes = [Mount('/sky', routes=[Route('/stars/{name}', star, methods=['POST'])])]\n"
                "app = Starlette(routes=routes)\n"
            )
        },
    )
    build.project(
        "expressy",
        {
            "app.js": (
                "const express = require('express');\nconst app = express();\n"
                "app.use('/fast', require('./routes/trains'));\n"
            ),
            "routes/trains.js": (
                "const { Router } = require('express');\nconst router = Router();\n"
                "function train(req, res) {}\n"
                "router.get('/trains/:id', train);\nmodule.exports = router;\n"
            ),
        },
    )
    build.project(
        "web",
        {
            "a.ts": (
                "import axios from 'axios';\n"
                "const flasky = axios.create({ baseURL: process.env.FLASKY_URL });\n"
                "export async function go(id: number) {\n"
                "  await flasky.put(`/shop/items/${id}`);\n"
                "  await fetch(`http://starry/sky/stars/${id}`, { method: 'POST' });\n"
                "  await fetch('http://expressy:3000/fast/trains/7');\n"
                "}\n"
            )
        },
    )
    assert {(edge.provider, edge.target.label) for edge in build.edges("R5")} == {
        ("starry", "star()"),
        ("expressy", "train()"),
    }
    build.codes.pop()
    build.project(
        "web2",
        {
            "a.ts": (
                "import axios from 'axios';\n"
                "const flasky = axios.create({ baseURL: process.env.FLASKY_URL });\n"
                "export const go = (id: number) => flasky.put(`/v9/shop/items/${id}`);\n"
            )
        },
    )
    assert {(edge.provider, edge.target.label) for edge in build.edges("R5")} == {
        ("flasky", "item()")
    }


TOOL = {
    "pyproject.toml": pyproject(
        "acme-tool", extra='[project.scripts]\nacme-tool = "acme.cli:main"\n'
    ),
    "src/acme/__init__.py": "",
    "src/acme/cli.py": "def main(): ...\n",
    "src/acme/__main__.py": "",
}


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("acme-tool", ["serve"]),
        ("uvx", ["acme-tool@latest", "serve"]),
        ("uv", ["tool", "run", "acme-tool"]),
        ("uvx", ["--from", "acme", "acme-tool"]),
        ("pipx", ["run", "acme-tool"]),
    ],
)
def test_an_mcp_server_leads_to_the_command_that_one_project_provides(
    command: str, arguments: list[str]
) -> None:
    build = CodeBuilder()
    build.project("tool", TOOL)
    build.project(
        "app",
        {".mcp.json": json.dumps({"mcpServers": {"x": {"command": command, "args": arguments}}})},
    )
    (edge,) = build.edges("R7")
    assert (edge.source.label, edge.relation, edge.target.label) == ("app", "uses", "main()")
    assert (edge.confidence, edge.provider_path) == ("EXTRACTED", "src/acme/cli.py")


def test_started_programs_lead_to_commands_and_modules() -> None:
    build = CodeBuilder()
    build.project("tool", TOOL)
    build.project(
        "js",
        {
            "package.json": package_json("@acme/runner", bin={"acme-run": "./bin/run.js"}),
            "bin/run.js": "console.log(1)\n",
        },
    )
    build.project(
        "app",
        {
            "pyproject.toml": pyproject("app", "acme-tool"),
            "a.py": (
                "import subprocess\n"
                "def one():\n    subprocess.run(['acme-tool', 'x'], check=True)\n"
                "def two():\n    subprocess.Popen(['python3', '-m', 'acme'])\n"
            ),
            "b.js": "const { spawn } = require('child_process');\nfunction three() { spawn('acme-run'); }\n",
        },
    )
    assert build.shown("R7") == {
        "one() -uses-> main() EXTRACTED",
        "two() -uses-> __main__.py EXTRACTED",
        "three() -uses-> run.js EXTRACTED",
    }
