"""JavaScript and TypeScript: imports, exports, definitions, uses, routes, requests."""

# ruff: noqa: E501 - the sources under test stand on one line each

import pytest

from agentic_os.code.reading import read_source
from agentic_os.code.values import SourceFacts


def read(text: str, path: str = "a.ts") -> SourceFacts:
    facts = read_source(path, text.encode())
    assert facts is not None
    return facts


def imports(text: str, path: str = "a.ts") -> list[tuple[str, str, str]]:
    return [(item.module, item.member, item.local) for item in read(text, path).imports]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a from 'm';", [("m", "default", "a")]),
        ("import * as a from 'm';", [("m", "", "a")]),
        (
            "import { a, b as c, default as d } from 'm';",
            [("m", "a", "a"), ("m", "b", "c"), ("m", "default", "d")],
        ),
        ('import a, { b } from "m";', [("m", "default", "a"), ("m", "b", "b")]),
        ("import 'm';", [("m", "", "")]),
        ("import a = require('m');", [("m", "", "a")]),
        ("const a = require('m');", [("m", "", "a")]),
        ("const { a, b: c } = require('m');", [("m", "a", "a"), ("m", "b", "c")]),
        ("const a = require('m').b;", [("m", "b", "a")]),
        ("const a = await import('m');", [("m", "", "")]),
        ("use(require('m'));", [("m", "", "")]),
        ("const a = require(name);", []),
        ("const a = require('m', 2);", []),
        ("import x from `m`;", []),
    ],
)
def test_every_way_of_importing(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert imports(text) == expected


def test_type_imports_are_marked() -> None:
    facts = read("import type { A } from 'm';\nimport { type B, C } from 'm';\n")
    assert {item.local: item.type_only for item in facts.imports} == {
        "A": True,
        "B": True,
        "C": False,
    }


def exports(text: str, path: str = "a.ts") -> list[tuple[str, str, str, str]]:
    return [(b.name, b.kind, b.module, b.member) for b in read(text, path).bindings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export function f() {}", [("f", "definition", "", "f")]),
        ("export default function f() {}", [("default", "definition", "", "f")]),
        ("export default class {}", [("default", "value", "", "")]),
        ("class K {}\nexport default K;", [("default", "definition", "", "K")]),
        ("export default { a: 1 };", [("default", "value", "", "")]),
        (
            "export const a = 1, { b, c: [d] } = x;",
            [("a", "definition", "", "a"), ("b", "value", "", "b"), ("d", "value", "", "d")],
        ),
        (
            "export interface I {}\nexport type T = I;\nexport enum E {}",
            [
                ("I", "definition", "", "I"),
                ("T", "definition", "", "T"),
                ("E", "definition", "", "E"),
            ],
        ),
        ("export abstract class A {}", [("A", "definition", "", "A")]),
        ("function f() {}\nexport { f as g };", [("g", "definition", "", "f")]),
        (
            "export { a, b as c } from './m';",
            [("a", "import", "./m", "a"), ("c", "import", "./m", "b")],
        ),
        ("export * from './m';", [("*", "star", "./m", "")]),
        ("export * as ns from './m';", [("ns", "import", "./m", "")]),
        ("import { a } from './m';\nexport { a as z };", [("z", "import", "./m", "a")]),
        ("import * as a from './m';\nexport default a;", [("default", "import", "./m", "")]),
        ("declare namespace N {}\nexport = N;", [("default", "definition", "", "N")]),
        ("export { gone };", [("gone", "value", "", "gone")]),
    ],
)
def test_every_way_of_exporting(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert exports(text) == expected


@pytest.mark.parametrize(
    ("text", "expected", "dynamic"),
    [
        (
            "module.exports = require('./m');",
            [("default", "import", "./m", ""), ("*", "star", "./m", "")],
            False,
        ),
        ("module.exports = require('./m').a;", [("default", "import", "./m", "a")], False),
        ("function f() {}\nmodule.exports = f;", [("default", "definition", "", "f")], False),
        ("module.exports = class K {};", [("default", "value", "", "K")], False),
        (
            "const f = 1;\nmodule.exports = { f, g: f, 'h': 2, k() {}, ...rest };",
            [
                ("f", "definition", "", "f"),
                ("g", "definition", "", "f"),
                ("h", "value", "", ""),
                ("k", "definition", "", "k"),
            ],
            True,
        ),
        ("exports.a = require('./m');", [("a", "import", "./m", "")], False),
        ("module.exports.a = function () {};", [("a", "value", "", "")], False),
        ("exports.a.b.c = 1; other.exports = 2;", [], False),
    ],
)
def test_commonjs_exports(
    text: str, expected: list[tuple[str, str, str, str]], dynamic: bool
) -> None:
    assert exports(text, "a.js") == expected
    assert read(text, "a.js").dynamic is dynamic


def test_definitions_and_their_ranges() -> None:
    facts = read(
        "class A {\n  run() { const x = () => 1; return x; }\n}\n"
        "const f = async () => {\n  return 1;\n};\nlet n = 1;\nnamespace N { export function q() {} }\n"
        "abstract class B { abstract go(): void }\n"
    )
    shown = [(s.qualname, s.kind, s.start, s.end) for s in facts.symbols]
    assert shown == [
        ("A", "class", 1, 3),
        ("A.run", "method", 2, 2),
        ("A.run.x", "function", 2, 2),
        ("f", "function", 4, 6),
        ("n", "constant", 7, 7),
        ("N", "type", 8, 8),
        ("N.q", "function", 8, 8),
        ("B", "class", 9, 9),
        ("B.go", "method", 9, 9),
    ]


def test_uses_follow_scopes() -> None:
    facts = read(
        "import y, { B, T, f as g } from 'm';\n"
        "class C extends B implements T.U {\n  m(y: number) { y.no(); return g(new B.D()); }\n}\n"
        "function h({ g }: T, [b] = y.def) { g(); }\n"
        "for (const g of y.list) { g(); }\ntry { y.a(); } catch (y) { y.no(); }\n"
        "const k = (y) => y.no();\nconst o = { g, y: y.v };\nconst e = <y.Tag x={g} />;\n",
        "a.tsx",
    )
    shown = [
        (
            ".".join((use.local, *use.chain)),
            facts.symbols[use.scope].qualname if use.scope >= 0 else "",
            use.kind,
        )
        for use in facts.uses
    ]
    assert sorted(shown) == sorted(
        [
            ("B", "C", "inherits"),
            ("T.U", "C", "inherits"),
            ("g", "C.m", "call"),
            ("B.D", "C.m", "call"),
            ("T", "h", "reference"),
            ("y.def", "h", "reference"),
            ("y.list", "", "reference"),
            ("y.a", "", "call"),
            ("g", "", "reference"),
            ("y.v", "", "reference"),
            ("y.Tag", "", "reference"),
            ("g", "", "reference"),
        ]
    )


def test_what_does_not_parse_is_still_read_and_named() -> None:
    facts = read("import { a } from 'm';\nfunction ( {{{\nexport const b = a;\n")
    assert facts.problems == ("SCRIPT_SYNTAX",)
    assert imports("import { a } from 'm';\nfunction ( {{{\n") == [("m", "a", "a")]


def test_flow_and_deep_nesting_are_survived() -> None:
    read("[" * 50_000, "a.js")
    read("a" + ".b" * 50_000 + ";", "a.js")
    read("(" * 20_000 + ")" * 20_000, "a.tsx")


def test_bounds_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "agentic_os.code.script.source"
    monkeypatch.setattr(f"{module}.MAX_SYMBOLS_ENTRIES", 1)
    monkeypatch.setattr(f"{module}.MAX_IMPORTS_ENTRIES", 1)
    monkeypatch.setattr(f"{module}.MAX_USES_ENTRIES", 1)
    facts = read("import { a, b } from 'm';\nfunction f() {}\nfunction g() {}\na(); a();\n")
    assert (len(facts.symbols), len(facts.imports), len(facts.uses)) == (1, 1, 1)
    assert facts.problems == ("SOURCE_TRUNCATED",)
