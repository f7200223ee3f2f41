"""Python: definitions, bindings, imports, uses and their scopes."""

# ruff: noqa: E501 - the sources under test stand on one line each

import pytest

from agentic_os.code.python.scopes import MAX_IMPORTS_OF_NAME_ENTRIES
from agentic_os.code.python.source import read_python
from agentic_os.code.values import SourceFacts


def read(text: str) -> SourceFacts:
    return read_python(text.encode())


def uses(facts: SourceFacts) -> list[tuple[str, int, str, str]]:
    """Return what is used, where, by whom and how."""
    return [
        (
            ".".join((use.local, *use.chain)),
            use.line,
            facts.symbols[use.scope].qualname if use.scope >= 0 else "",
            use.kind,
        )
        for use in facts.uses
    ]


def test_definitions_have_names_kinds_ranges_and_parents() -> None:
    facts = read(
        "class A:\n    def run(self):\n        def inner(): ...\n        return 1\n\n"
        "async def go():\n    pass\n\nLIMIT = 3\n@deco\ndef _hidden(): ...\n"
    )
    assert [(s.qualname, s.kind, s.start, s.end, s.parent, s.exported) for s in facts.symbols] == [
        ("A", "class", 1, 4, -1, True),
        ("A.run", "method", 2, 4, 0, True),
        ("A.run.inner", "function", 3, 3, 1, True),
        ("go", "function", 6, 7, -1, True),
        ("_hidden", "function", 11, 11, -1, False),
    ]
    assert facts.lines == 12


def test_bindings_say_where_a_name_comes_from_and_how_surely() -> None:
    facts = read(
        "import a.b\nimport a.b as c\nfrom . import d\nfrom ..e import f as g\nfrom h import *\n"
        "x = 1\ny = a.b.z\nif cond:\n    w = 2\ntry:\n    import q\nexcept ImportError:\n    q = None\n"
        "def fn():\n    global later\n    later = 1\n"
    )
    shown = [(b.name, b.kind, b.line, b.certain, b.module, b.member) for b in facts.bindings]
    assert shown == [
        ("a", "import", 1, True, "a", ""),
        ("c", "import", 2, True, "a.b", ""),
        ("d", "import", 3, True, ".", "d"),
        ("g", "import", 4, True, "..e", "f"),
        ("*", "star", 5, True, "h", ""),
        ("x", "value", 6, True, "", ""),
        ("y", "alias", 7, True, "", "a.b.z"),
        ("w", "value", 9, False, "", ""),
        ("q", "import", 11, False, "q", ""),
        ("q", "value", 13, False, "", ""),
        ("fn", "definition", 14, True, "", ""),
        ("later", "value", 16, False, "", ""),
    ]


@pytest.mark.parametrize(
    ("text", "exports", "dynamic"),
    [
        ("__all__ = ['a', 'b']\n", ("a", "b"), False),
        ("__all__ = ('a',)\n__all__ += ['b']\n", ("a", "b"), False),
        ("__all__ = [name for name in x]\n", (), True),
        ("__all__ = ['a']\n__all__ += other.__all__\n", ("a",), True),
        ("__all__ = ['a']\n__all__.extend(x)\n", ("a",), True),
        ("__all__ += ['a']\n", ("a",), True),
        ("def __getattr__(name): ...\n", None, True),
        ("__getattr__, __dir__ = lazy.attach()\n", None, True),
        ("globals().update(x)\n", None, True),
        ("def f():\n    globals()\n", None, False),
        ("x = 1\n", None, False),
    ],
)
def test_explicit_exports_and_dynamic_modules(
    text: str, exports: tuple[str, ...] | None, dynamic: bool
) -> None:
    facts = read(text)
    assert (facts.exports, facts.dynamic) == (exports, dynamic)


def test_uses_carry_chain_scope_and_kind() -> None:
    facts = read(
        "import y\nfrom y import B, deco\n\n"
        "@deco\n@y.other(1)\ndef go(a: B = y.D) -> B:\n    y.load(y.X)\n    return [y.z for _ in a]\n\n"
        "class C(B, metaclass=y.M):\n    z = y.Q\n    def m(self):\n        return y.deep.er.call()\n"
    )
    assert uses(facts) == [
        ("deco", 4, "go", "decorator"),
        ("y.other", 5, "go", "decorator"),
        ("y.D", 6, "", "reference"),
        ("B", 6, "", "reference"),
        ("B", 6, "", "reference"),
        ("y.load", 7, "go", "call"),
        ("y.X", 7, "go", "reference"),
        ("y.z", 8, "go", "reference"),
        ("B", 10, "C", "inherits"),
        ("y.M", 10, "", "reference"),
        ("y.Q", 11, "C", "reference"),
        ("y.deep.er.call", 13, "C.m", "call"),
    ]


def test_a_conditional_import_keeps_its_fallback_and_two_imports_are_both_behind_a_name() -> None:
    facts = read(
        "try:\n    from y import C as L\nexcept ImportError:\n    from y import D as L\n"
        "try:\n    import z\nexcept ImportError:\n    z = None\nL()\nz.run()\n"
    )
    behind = {use.local: [facts.imports[i].member for i in use.imports] for use in facts.uses}
    assert behind == {"L": ["C", "D"], "z": [""]}


def test_an_unconditional_import_that_is_bound_again_is_not_followed() -> None:
    assert read("import y\ny = wrap(y)\ny.load()\n").uses == ()
    assert uses(read("def f():\n    import y\n    y.load()\n")) == [("y.load", 3, "f", "call")]


def test_type_only_imports_are_marked() -> None:
    facts = read(
        "import typing\nif typing.TYPE_CHECKING:\n    import a\nelse:\n    import b\n"
        "if TYPE_CHECKING and x:\n    import c\n"
    )
    assert {item.module: item.type_only for item in facts.imports} == {
        "typing": False,
        "a": True,
        "b": False,
        "c": False,
    }


def test_statements_of_every_kind_are_walked() -> None:
    facts = read(
        "import y\n"
        "async def f():\n"
        "    async with y.a() as b, c as (d, e):\n"
        "        async for g in y.h():\n            await y.i\n"
        "    while y.j:\n        y.k += y.l\n"
        "    match y.m:\n        case {'a': 1, **rest}:\n            y.n(rest)\n"
        "        case [first, *others] if y.o:\n            del others\n"
        "    try:\n        raise y.p\n    except* y.Q as group:\n        lambda q=y.r: q.s\n"
        "    return {y.t: y.u for v in y.w}, {y.x}, (lambda: y.z)()\n"
        "nonlocal_test = 1\n"
    )
    assert {use.chain[0] for use in facts.uses} == set("ahijklmnoprtuwxz") | {"Q"}


@pytest.mark.parametrize(
    "text",
    [
        "print 'two'\nimport a\nfrom b import c as d\n",
        "import a\nfrom b import c as d\nx = " + "(" * 300 + ")" * 300 + "\n",
        "import a\nfrom b import c as d\nx = " + "1 + " * 20_000 + "1\n",
        "import a\nfrom b import c as d\n\0\n",
    ],
    ids=["python2", "parentheses", "long-sum", "null"],
)
def test_what_ast_refuses_is_read_loosely(text: str) -> None:
    facts = read(text)
    assert "PYTHON_UNPARSED" in facts.problems
    assert {(item.module, item.member, item.local) for item in facts.imports} == {
        ("a", "", "a"),
        ("b", "c", "d"),
    }
    assert facts.uses == ()


def test_the_loose_reading_keeps_definitions_and_stars() -> None:
    facts = read(
        "print 'x'\nfrom __future__ import division\nfrom .m import *\nimport a.b, c as d\n"
        "class A(object):\n    def run(self): pass\ndef go(): pass\n    def odd(: pass\n"
    )
    assert [(s.qualname, s.kind) for s in facts.symbols][:3] == [
        ("A", "class"),
        ("A.run", "method"),
        ("go", "function"),
    ]
    assert [(item.module, item.member, item.local, item.binds) for item in facts.imports] == [
        ("__future__", "division", "division", ""),
        (".m", "*", "", ""),
        ("a.b", "", "a", "a"),
        ("c", "", "d", "c"),
    ]
    assert {(b.name, b.kind) for b in facts.bindings} >= {
        ("A", "definition"),
        ("*", "star"),
        ("d", "import"),
    }
    assert facts.dynamic


def test_bounds_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "agentic_os.code.python.source"
    monkeypatch.setattr(f"{module}.MAX_SYMBOLS_ENTRIES", 2)
    monkeypatch.setattr(f"{module}.MAX_IMPORTS_ENTRIES", 2)
    monkeypatch.setattr(f"{module}.MAX_USES_ENTRIES", 2)
    facts = read(
        "import a, b, c\nx = y = z = 1\ndef f(): ...\ndef g(): ...\ndef h(): ...\na(); b(); a(); b()\n"
    )
    assert (len(facts.symbols), len(facts.imports), len(facts.uses)) == (2, 2, 2)
    assert len(facts.bindings) == 2
    assert facts.problems == ("SOURCE_TRUNCATED",)


def test_a_name_has_no_more_imports_than_are_looked_at() -> None:
    facts = read("import a\n" * 40 + "a.b\n")

    (use,) = facts.uses
    assert use.imports == tuple(range(MAX_IMPORTS_OF_NAME_ENTRIES))
    assert len(facts.imports) == 40
