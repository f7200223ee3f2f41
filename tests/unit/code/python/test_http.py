"""Routes, requests and started programs of Python files."""

# ruff: noqa: E501 - the sources under test stand on one line each

import pytest

from agentic_os.code.python.source import read_python
from agentic_os.code.values import SourceFacts


def read(text: str) -> SourceFacts:
    return read_python(text.encode())


def routes(text: str) -> list[tuple[str, tuple[str, ...], str, str]]:
    return [(r.holder, r.methods, r.path, r.handler) for r in read(text).routes]


def calls(text: str) -> list[tuple[str, str, tuple[str, ...], str]]:
    return [(c.method, c.host, c.names, c.path) for c in read(text).calls]


def test_fastapi() -> None:
    text = (
        "import fastapi\nfrom fastapi import APIRouter as R\n"
        "app = fastapi.FastAPI()\nrouter = R(prefix='/v1')\n"
        "@app.get('/a/{x}')\ndef a(): ...\n"
        "@router.post(path='/b/{p:path}')\nasync def b(): ...\n"
        "@router.websocket('/ws')\nasync def ws(): ...\n"
        "@router.api_route('/c', methods=['get', 'PUT'])\ndef c(): ...\n"
        "app.add_api_route('/d', a, methods=['DELETE'])\n"
        "app.include_router(router, prefix='/api')\napp.mount('/s', sub)\n"
    )
    assert routes(text) == [
        ("app", ("GET",), "/a/{}", "a"),
        ("router", ("POST",), "/b/{*}", "b"),
        ("router", ("GET", "PUT"), "/c", "c"),
        ("app", ("DELETE",), "/d", "a"),
    ]
    facts = read(text)
    assert [(h.name, h.framework, h.prefix, h.application) for h in facts.holders] == [
        ("app", "fastapi", "/", True),
        ("router", "fastapi", "/v1", False),
    ]
    assert [(m.parent, m.child, m.prefix) for m in facts.mounts] == [
        ("app", "router", "/api"),
        ("app", "sub", "/s"),
    ]


def test_flask() -> None:
    text = (
        "from flask import Flask, Blueprint\n"
        "bp = Blueprint('x', __name__, url_prefix='/x')\n"
        "@bp.route('/<int:i>/<path:rest>', methods=('POST',))\ndef one(i, rest): ...\n"
        "def make():\n    app = Flask(__name__)\n    app.register_blueprint(bp)\n"
        "    app.add_url_rule('/two/<name>', view_func=one)\n    return app\n"
    )
    assert routes(text) == [
        ("bp", ("POST",), "/{}/{*}", "one"),
        ("app", ("GET",), "/two/{}", "one"),
    ]
    assert [(m.parent, m.child, m.prefix) for m in read(text).mounts] == [("app", "bp", "/")]


def test_starlette() -> None:
    text = (
        "from starlette.applications import Starlette\n"
        "from starlette.routing import Route, Mount, Router\n"
        "from other import more\n"
        "inner = [Route('/i', h)]\n"
        "app = Starlette(routes=[Route('/a/{x:int}', h, methods=['PATCH']),\n"
        "  Mount('/m', routes=[Route('/b', endpoint=k), *more]), Mount('/n', app=sub), Mount('/o', inner)] + inner)\n"
        "r = Router(routes=more)\n"
        "app.add_route('/z', h)\n"
    )
    assert set(routes(text)) == {
        ("app", ("PATCH",), "/a/{}", "h"),
        ("app", ("GET",), "/m/b", "k"),
        ("inner", ("GET",), "/i", "h"),
        ("app", ("GET",), "/z", "h"),
    }
    assert {(m.parent, m.child, m.prefix) for m in read(text).mounts} == {
        ("app", "more", "/m"),
        ("app", "sub", "/n"),
        ("app", "inner", "/o"),
        ("app", "inner", "/"),
        ("r", "more", "/"),
    }


def test_decorators_of_other_things_are_no_routes() -> None:
    assert routes("from mock import patch\n@patch.get('x.y')\ndef f(): ...\n") == []
    assert routes("app = make()\n@app.get('/x')\ndef f(): ...\n") == []
    assert routes("from .main import app\n@app.get('/x')\ndef f(): ...\n") == [
        ("app", ("GET",), "/x", "f")
    ]
    assert routes("import app\n@app.on_event('/start')\ndef f(): ...\n") == []


CLIENT = "import os, requests, httpx\nfrom requests import get\nfrom urllib.parse import urljoin\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("requests.get('http://h:1/a?x=1#y')", ("GET", "h:1", (), "/a")),
        ("get('https://U:p@Host/a/')", ("GET", "host", (), "/a")),
        ("httpx.post(url='http://h/a')", ("POST", "h", (), "/a")),
        ("requests.request('patch', 'http://h/a')", ("PATCH", "h", (), "/a")),
        ("requests.request(m, 'http://h/a')", ("ANY", "h", (), "/a")),
        ("httpx.stream('GET', 'http://h/a')", ("GET", "h", (), "/a")),
        ("requests.get(f'{base}/a/{x}/b{y}')", ("GET", "", ("base",), "/a/{}/{}")),
        ("requests.get(self.base + '/a')", ("GET", "", ("base",), "/a")),
        ("requests.get(os.environ['X_URL'] + '/a')", ("GET", "", ("X_URL",), "/a")),
        (
            "requests.get(os.getenv('X_URL', 'http://x:9/p') + '/a')",
            ("GET", "x:9", ("X_URL",), "/p/a"),
        ),
        ("requests.get(f'http://{host}:80/a')", ("GET", "", ("host",), "/a")),
        ("requests.get(urljoin(base, 'a/b'))", ("GET", "", ("base",), "/a/b")),
        ("requests.get(base.rstrip('/') + '/a')", ("GET", "", ("base",), "/a")),
        ("requests.get(make() + '/a')", ("GET", "", (), "/a")),
        ("requests.get('/a')", ("GET", "", (), "/a")),
    ],
)
def test_urls_are_put_together(text: str, expected: tuple[str, str, tuple[str, ...], str]) -> None:
    assert calls(CLIENT + text + "\n") == [expected]


def test_constants_and_client_objects_are_followed() -> None:
    text = CLIENT + (
        "A = 'http://a/p'\nB = os.environ.get('B_URL')\nC = os.environ['C_URL']\nD = other\n"
        "with httpx.Client(base_url=A) as one:\n    one.get('/x')\n"
        "class K:\n    def __init__(self):\n        self.two = requests.Session()\n"
        "    def go(self):\n        self.two.delete(f'{B}/y')\n        self.two.put(C + '/z')\n"
        "        self.two.head(D + '/w')\n        self.two.close()\n"
    )
    assert calls(text) == [
        ("GET", "a", ("A",), "/p/x"),
        ("DELETE", "", ("B_URL",), "/y"),
        ("PUT", "", ("C_URL",), "/z"),
        ("HEAD", "", ("D",), "/w"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "requests.get('relative/path')",
        "requests.get()",
        "requests.adapters.get('http://h/a')",
        "requests.codes('http://h/a')",
        "{}.get('/a')",
        "thing.get('http://h/a')",
    ],
)
def test_what_is_no_request(text: str) -> None:
    assert calls(CLIENT + text + "\n") == []


def test_started_programs() -> None:
    facts = read(
        "import subprocess as sp\nfrom subprocess import run\n"
        "def f():\n    sp.Popen(['a', 'b', x])\n"
        "run(('c',))\nrun('d e', shell=True)\nrun([x, 'y'])\nrun(args=['z'])\nsp.list2cmdline(['q'])\n"
    )
    shown = [(x.program, x.kind, x.line, x.scope) for x in facts.launches]
    assert sorted(shown) == [
        ("a", "command", 4, 0),
        ("c", "command", 5, -1),
        ("z", "command", 8, -1),
    ]


def test_deep_expressions_are_bounded() -> None:
    deep = " + ".join(["x"] * 40)
    assert calls(CLIENT + f"requests.get({deep} + '/a')\n") != [("GET", "h", (), "/a")]
