"""Passages follow the definitions of a source and the headings of a document."""

from textwrap import dedent

import pytest

from agentic_os.code.passages.chunks import chunk_document, chunk_source
from agentic_os.code.passages.outline import MAX_NESTING_LEVELS, outline
from agentic_os.code.passages.windows import (
    MAX_CHUNK_CHARS,
    MAX_HEADER_CHARS,
    embedded_text,
    header,
    room,
    windows,
)


def cut(path: str, text: str) -> list[tuple[int, int, str]]:
    return [(chunk.start, chunk.end, chunk.symbol) for chunk in chunk_source(path, dedent(text))]


def symbols(path: str, text: str) -> list[str]:
    return [symbol for _, _, symbol in cut(path, text)]


def long_body(lines: int, indent: str = "    ") -> str:
    return "".join(f"{indent}value_{number} = compute({number})\n" for number in range(lines))


# --- Python -------------------------------------------------------------------------------


def test_python_is_cut_at_its_definitions() -> None:
    assert cut(
        "a.py",
        """\
        import os

        X = 1

        # says what f is
        @decorated(
            1)
        def f():
            def inner(): pass
            return inner

        class A(B):
            '''About A.'''

            def m(self):
                return 1

            @property
            async def n(self): return 2
        """,
    ) == [
        (1, 3, ""),
        (5, 10, "f"),
        (12, 13, "A"),
        (15, 16, "A.m"),
        (18, 19, "A.n"),
    ]


def test_a_definition_that_does_not_fit_keeps_its_name_in_every_part() -> None:
    text = f"def f():\n{long_body(120)}\n\ndef g(): pass\n"
    found = chunk_source("a.py", text)

    assert [chunk.symbol for chunk in found[:-1]] == ["f"] * (len(found) - 1)
    assert len(found) > 3
    assert found[-1].symbol == "g"
    assert all(len(embedded_text("a.py", c.symbol, c.text)) <= MAX_CHUNK_CHARS for c in found)


def test_what_a_large_function_holds_has_names_of_its_own() -> None:
    text = f"def f():\n{long_body(20)}    def g():\n{long_body(20, ' ' * 8)}    return g\n"

    assert symbols("a.py", text) == ["f", "f.g"]
    assert chunk_source("a.py", text)[-1].text.endswith("return g")


def test_methods_of_a_small_class_have_passages_of_their_own() -> None:
    assert symbols("a.py", "class A:\n    def m(self): ...\n    def n(self): ...\n") == [
        "A",
        "A.m",
        "A.n",
    ]


def test_a_class_without_methods_is_one_passage() -> None:
    assert cut("a.py", "class A:\n    x: int\n    y: int\n") == [(1, 3, "A")]


def test_python_that_does_not_parse_is_cut_where_it_can_be() -> None:
    assert "f" in symbols("a.py", "def f(:\n    pass\n\nprint 'x'\n\ndef g():\n  pass\n")


def test_deep_nesting_stays_in_the_definition_that_holds_it() -> None:
    depth = MAX_NESTING_LEVELS + 6
    text = "".join(f"{' ' * level}class C{level}:\n" for level in range(depth))
    text += f"{' ' * depth}x = 1\n"
    found = outline("a.py", text)

    assert max(item.level for item in found) == MAX_NESTING_LEVELS - 1
    assert cut("a.py", text)[-1][1] == depth + 1


def test_ten_thousand_nested_calls_are_no_trouble() -> None:
    text = "x = " + "f(" * 10_000 + ")" * 10_000 + "\ndef g(): pass\n"

    assert cut("a.py", text)[-1][1] == 2


# --- JavaScript, TypeScript, Go -----------------------------------------------------------


def test_typescript_is_cut_at_its_definitions() -> None:
    assert cut(
        "a.ts",
        """\
        import x from "y";
        // says hi
        export const hi = async (a: string) => {
          return a;
        };
        export class Foo extends Bar {
          private q = 1;
          handle = () => { return 1; }
          method(a) {
            return a;
          }
        }
        export interface Options { a: string }
        export type Either = string | number;
        enum Colour { Red }
        export abstract class Base {
          abstract go(): void;
          stop() {}
        }
        namespace N {
          export function inside() {}
        }
        export default function () { return 1 }
        """,
    ) == [
        (1, 1, ""),
        (2, 5, "hi"),
        (6, 7, "Foo"),
        (8, 8, "Foo.handle"),
        (9, 12, "Foo.method"),
        (13, 13, "Options"),
        (14, 14, "Either"),
        (15, 15, "Colour"),
        (16, 17, "Base"),
        (18, 19, "Base.stop"),
        (20, 20, "N"),
        (21, 22, "N.inside"),
        (23, 23, ""),
    ]


@pytest.mark.parametrize("path", ["a.js", "a.jsx", "a.mjs", "a.tsx"])
def test_functions_of_scripts_have_names_however_they_are_written(path: str) -> None:
    assert symbols(
        path,
        """\
        function plain() {}
        function* generator() {}
        const arrow = () => 1
        let expression = function () {}
        const wrapped = memo(function () { return 1 })
        exports.given = function () {}
        Foo.prototype.bar = () => {}
        class A { method() {} }
        const B = class {
          m() {}
        }
        """,
    ) == [
        "plain",
        "generator",
        "arrow",
        "expression",
        "wrapped",
        "exports.given",
        "Foo.prototype.bar",
        "A",
        "B",
        "B.m",
    ]


def test_go_is_cut_at_its_definitions() -> None:
    assert cut(
        "a.go",
        """\
        package main

        // Server serves.
        type Server struct {
          a int
        }

        // Run runs.
        func (s *Server) Run() error {
          return nil
        }

        type (
          A int
          B[T any] struct{}
        )
        func (b *B[T]) Do() {}
        type Alias = int
        func main() {}
        """,
    ) == [
        (1, 1, ""),
        (3, 6, "Server"),
        (8, 11, "Server.Run"),
        (13, 13, ""),
        (14, 14, "A"),
        (15, 16, "B"),
        (17, 17, "B.Do"),
        (18, 18, "Alias"),
        (19, 19, "main"),
    ]


def test_what_begins_on_the_last_line_of_another_belongs_to_it() -> None:
    assert symbols("a.js", "function a() {\n} function b() {\n  return 1\n}\nx = 1\n") == ["a", ""]


def test_names_that_are_too_long_are_no_names() -> None:
    assert symbols("a.py", f"def {'f' * 121}(): pass\n") == [""]
    assert symbols("a.py", f"def {'f' * 120}(): pass\n") == ["f" * 120]


# --- other languages ----------------------------------------------------------------------


def test_other_languages_are_cut_at_blank_lines() -> None:
    stanza = "fn name() {\n" + "    call();\n" * 30 + "}\n"
    found = chunk_source("src/lib.zig", f"{stanza}\n" * 6)

    assert {chunk.symbol for chunk in found} == {""}
    assert all(chunk.text.startswith("fn name") for chunk in found)
    assert all(chunk.text.endswith("}") for chunk in found)


def test_a_line_that_is_too_long_stands_alone_and_is_cut_where_it_is_embedded() -> None:
    line = "x" * (3 * MAX_CHUNK_CHARS)
    found = chunk_source("a.sh", f"one\n{line}\ntwo\n")

    assert [(chunk.start, chunk.end) for chunk in found] == [(1, 1), (2, 2), (3, 3)]
    assert found[1].text == line
    assert len(embedded_text("a.sh", "", line)) == MAX_CHUNK_CHARS


def test_windows_prefer_blank_lines_in_their_later_part() -> None:
    lines = ["aaaa", "", "bbbb", "cccc", "", "dddd", "eeee"]

    assert windows(lines, 1, 7, 20) == [(1, 4), (6, 7)]
    assert windows(lines, 1, 7, 1000) == [(1, 7)]
    assert windows(["", " ", ""], 1, 3, 10) == []
    assert windows(lines, 3, 2, 10) == []


def test_the_header_says_path_and_symbol_and_is_bounded() -> None:
    assert header("src/a.py", "A.m") == "src/a.py A.m"
    assert header("src/a.py", "a.py") == "src/a.py"
    assert header("Makefile", "Makefile") == "Makefile"
    assert header("d/" * 300 + "a.py", "A.m").endswith("/a.py A.m")
    assert len(header("d/" * 300 + "a.py", "A.m")) == MAX_HEADER_CHARS
    assert room("d/" * 300, "x") == MAX_CHUNK_CHARS - MAX_HEADER_CHARS - 1


# --- documents ----------------------------------------------------------------------------


def headings(path: str, text: str) -> list[tuple[int, int, str]]:
    return [(chunk.start, chunk.end, chunk.symbol) for chunk in chunk_document(path, dedent(text))]


def test_markdown_is_cut_at_its_headings() -> None:
    assert headings(
        "README.md",
        """\
        preamble

        # One
        text

        ```
        # no heading
        ```
        ## Two
        more
        """,
    ) == [(1, 1, ""), (3, 8, "One"), (9, 10, "Two")]


def test_restructured_text_is_cut_at_its_headings() -> None:
    assert headings(
        "index.rst",
        """\
        =====
        Title
        =====
        intro

        Part one
        --------
        text

        - no heading
        ------------

        Part two
        ~~~
        too short a rule

            indented
            --------
        """,
    ) == [(1, 4, "Title"), (6, 18, "Part one")]


def test_asciidoc_is_cut_at_its_headings() -> None:
    assert headings("a.adoc", "= Title\nintro\n\n== Part\ntext\n") == [
        (1, 2, "Title"),
        (4, 5, "Part"),
    ]


def test_plain_text_is_cut_at_blank_lines() -> None:
    assert headings("notes.txt", "one\n\n# two\n") == [(1, 3, "")]


def test_a_section_that_does_not_fit_keeps_its_heading() -> None:
    text = "# One\n\n" + "A sentence of some words, said again.\n\n" * 60
    found = chunk_document("a.md", text)

    assert {chunk.symbol for chunk in found} == {"One"}
    assert len(found) > 2
    assert all(len(embedded_text("a.md", "One", c.text)) <= MAX_CHUNK_CHARS for c in found)
