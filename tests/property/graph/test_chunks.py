"""Any text can be cut, and no line is lost or told twice."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.code.passages.chunks import chunk_document, chunk_source
from agentic_os.code.passages.windows import MAX_CHUNK_CHARS, Chunk, embedded_text, header

unbroken = settings(deadline=None, max_examples=150)
PYTHON = [
    "def f():",
    "class A:",
    "@dec(",
    "    def m(self): pass",
    "        return 1",
    "    x = '''",
    "# comment",
    "",
    "  ",
    "if x:",
    "async def g(a, *, b): return b",
    "x" * 400,
    "\f",
    "\u2028",
]
SCRIPT = [
    "export class A {",
    "  m() { return 1 }",
    "}",
    "const f = () => {",
    "// comment",
    "/* open",
    "*/",
    "interface I {",
    "`template ${",
    "function g() {} function h() {}",
    "exports.a.b = function () {",
    "",
    "namespace N { class C { k = () => 1 } }",
    "func (s *S) Go() {",
    "type T struct {",
    "x" * 400,
]
MARKDOWN = ["# A", "## B ##", "text", "```", "Title", "=====", "-----", "", "<!--", "-->", "- item"]
paths = st.sampled_from(
    ["a.py", "b.pyi", "c.js", "d.ts", "e.tsx", "f.go", "g.rs", "Makefile", "x" * 300 + "/a.py"]
)
documents = st.sampled_from(["a.md", "b.rst", "c.txt", "d.adoc", "README"])


def lines_of(pieces: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=60).map("\n".join)


sources = lines_of(PYTHON) | lines_of(SCRIPT) | lines_of(PYTHON + SCRIPT) | st.text(max_size=300)


def check(path: str, text: str, found: tuple[Chunk, ...]) -> None:
    lines = text.split("\n")
    covered: list[int] = []
    for chunk in found:
        assert chunk.text == "\n".join(lines[chunk.start - 1 : chunk.end])
        assert chunk.text.strip()
        embedded = embedded_text(path, chunk.symbol, chunk.text)
        assert len(embedded) <= MAX_CHUNK_CHARS
        whole = f"{header(path, chunk.symbol)}\n{chunk.text}"
        assert embedded == whole or chunk.start == chunk.end
        covered.extend(range(chunk.start, chunk.end + 1))
    assert covered == sorted(set(covered))
    missing = set(range(1, len(lines) + 1)) - set(covered)
    assert not any(lines[number - 1].strip() for number in missing)


@unbroken
@given(paths, sources)
def test_any_source_is_cut_without_loss(path: str, text: str) -> None:
    check(path, text, chunk_source(path, text))


@unbroken
@given(documents, lines_of(MARKDOWN) | st.text(max_size=300))
def test_any_document_is_cut_without_loss(path: str, text: str) -> None:
    check(path, text, chunk_document(path, text))
