"""Go: package clause, declarations, imports, selectors."""

import pytest

from agentic_os.code.go import read_go, suggested_names
from agentic_os.code.values import SourceFacts

SOURCE = """package demo

import (
\t"fmt"
\ty "gopkg.in/yaml.v3"
\t"github.com/acme/go-lib/v2"
\t"github.com/acme/odd"
\t. "github.com/acme/dot"
\t_ "github.com/acme/side"
\t"C"
)

type T struct{ X lib.Thing }
type Alias = y.Node

const A, b = 1, lib.Limit

var Out = fmt.Sprint

func (t *T) Run(lib2 int) error {
\tfmt.Println(lib.Do().X)
\tfor i, fmt := range z {
\t\tfmt.No(i)
\t}
\tif y := make(); y.No() {
\t}
\tswitch v := x.(type) {
\tcase *y.Node:
\t\tv.No()
\t}
\tvar odd2 other.Thing
\tgo func(lib int) { lib.No() }(1)
\tselect {
\tcase fmt := <-c:
\t\tfmt.No()
\t}
\treturn y.Unmarshal(nil, &v)
}

func small() { named.Call() }
"""


def uses(facts: SourceFacts) -> set[tuple[str, str, str, tuple[str, ...]]]:
    return {
        (
            ".".join((use.local, *use.chain)),
            facts.symbols[use.scope].qualname if use.scope >= 0 else "",
            use.kind,
            tuple(facts.imports[index].module for index in use.imports),
        )
        for use in facts.uses
    }


def test_everything_of_a_file() -> None:
    facts = read_go(SOURCE.encode())
    assert (facts.package, facts.language, facts.problems) == ("demo", "go", ())
    assert [(item.module, item.member, item.local, item.binds) for item in facts.imports] == [
        ("fmt", "", "", "fmt"),
        ("gopkg.in/yaml.v3", "", "y", "gopkg.in/yaml.v3"),
        ("github.com/acme/go-lib/v2", "", "", "github.com/acme/go-lib/v2"),
        ("github.com/acme/odd", "", "", "github.com/acme/odd"),
        ("github.com/acme/dot", "*", "", ""),
        ("github.com/acme/side", "", "", ""),
    ]
    assert [(s.qualname, s.kind, s.exported) for s in facts.symbols] == [
        ("T", "type", True),
        ("Alias", "type", True),
        ("A", "constant", True),
        ("b", "constant", False),
        ("Out", "constant", True),
        ("T.Run", "method", True),
        ("small", "function", False),
    ]
    assert [(b.name, b.kind) for b in facts.bindings] == [
        ("T", "definition"),
        ("Alias", "definition"),
        ("A", "value"),
        ("Out", "value"),
    ]
    lib, yaml = "github.com/acme/go-lib/v2", "gopkg.in/yaml.v3"
    opened = ("fmt", lib, "github.com/acme/odd")
    assert uses(facts) == {
        ("lib.Thing", "T", "reference", (lib,)),
        ("y.Node", "Alias", "reference", (yaml,)),
        ("lib.Limit", "b", "reference", (lib,)),
        ("fmt.Sprint", "Out", "reference", ("fmt",)),
        ("fmt.Println", "T.Run", "call", ("fmt",)),
        ("lib.Do", "T.Run", "call", (lib,)),
        ("y.Node", "T.Run", "reference", (yaml,)),
        ("other.Thing", "T.Run", "reference", opened),
        ("y.Unmarshal", "T.Run", "call", (yaml,)),
        ("named.Call", "small", "call", opened),
    }


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("fmt", {"fmt"}),
        ("example.com/lib/v2", {"lib"}),
        ("gopkg.in/yaml.v3", {"yaml"}),
        ("example.com/go-bar", {"bar", "go-bar"}),
        ("example.com/bar-go", {"bar", "bar-go"}),
        ("example.com/bar.go", {"bar"}),
    ],
)
def test_paths_suggest_names(path: str, names: set[str]) -> None:
    assert names <= suggested_names(path)


def test_broken_files_are_read_as_far_as_they_go() -> None:
    facts = read_go(b'package p\nimport "a.b/c"\nfunc F() { c.G( }\nfunc {{{\n')
    assert "GO_SYNTAX" in facts.problems
    assert [item.module for item in facts.imports] == ["a.b/c"]
    assert read_go(b"").package == ""
    read_go(b"\xff\xfe\x00" * 1000)
    read_go(b"package p\nvar x = " + b"(" * 30_000)


def test_bounds_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "agentic_os.code.go"
    for name in ("MAX_SYMBOLS_ENTRIES", "MAX_IMPORTS_ENTRIES", "MAX_USES_ENTRIES"):
        monkeypatch.setattr(f"{module}.{name}", 1)
    facts = read_go(
        b'package p\nimport "a.b/c"\nimport "a.b/d"\nfunc F() { c.G(); c.H() }\nfunc I() {}\n'
    )
    assert (len(facts.symbols), len(facts.imports), len(facts.uses)) == (1, 1, 1)
    assert facts.problems == ("SOURCE_TRUNCATED",)
