"""The judge's corpus: functions without their docstrings, and READMEs, of pinned packages.

From every package of ``packages.txt`` functions are drawn by a seeded die and written, under the
path they have in the wheel, into one project a package: without their docstrings, the methods
below the head of their class. Nothing of a package is imported or run.
"""

import ast
import hashlib
import random
import re
import subprocess
import sys
import warnings
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import BytesParser
from pathlib import Path

from agentic_os.text.decoding import decode
from agentic_os.text.markdown.structure import sections

HERE = Path(__file__).parent
PACKAGES = HERE / "packages.txt"
SEED = 20261130
UNANSWERABLE = HERE / "unanswerable.txt"
FUNCTIONS_PER_PACKAGE = 60
"""220 of them make 15,000 chunks of the packages, 20 make 3,000."""
DRAWN_FROM = 3
"""Modules are read until there are so many times the functions that are drawn."""
MIN_LINES, MAX_LINES = 5, 80
MIN_WORDS = 4
IDENTIFIERS = 400
"""Queries of each set of identifiers, both halves together."""

DESCRIPTOR = """\
project:
  name: "{name}"
  description: "{name}, as its wheel has it"
  project_init_version: 1.2.2
  project_init_contract_version: 2
language: python
delivery: library
memory:
  stack: obsidian-graphify-rag
  tier: 3
  memory_path: .agents/memory
  vault_path: .agents/vault
  graph_path: graphify-out/graph.json
  rag_endpoint:
"""

_PINNED = re.compile(r"^([\w.-]+)==(\S+) --hash=sha256:([0-9a-f]{64})$", re.MULTILINE)
_OTHERS = frozenset({"tests", "test", "testing", "_vendor", "vendor"})
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n\s*\n")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{5,}")
_WORD = re.compile(r"[A-Za-z]{2,}")


def half_of(text: str) -> str:
    """Return ``tune`` or ``test``, by a hash of the text."""
    return "tune" if hashlib.sha256(text.encode()).digest()[0] % 2 else "test"


@dataclass(frozen=True, kw_only=True)
class Target:
    """The one right answer: lines ``start..end`` of a file of a project."""

    project: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Question:
    """A query, the set it belongs to, and its answer."""

    kind: str
    text: str
    target: Target

    @property
    def half(self) -> str:
        """``tune`` or ``test``, by a hash of the text: stable whatever else is asked."""
        return half_of(f"{self.kind}:{self.text}")


@dataclass(frozen=True, kw_only=True)
class _Function:
    project: str
    path: str
    class_head: str
    name: str
    sentence: str
    lines: tuple[str, ...]


def download(cache: Path) -> list[Path]:
    """Put the wheels into the cache, if they are not there; every one is held to its hash."""
    cache.mkdir(parents=True, exist_ok=True)
    pinned = _PINNED.findall(PACKAGES.read_text())
    found = [_wheel(cache, *item) for item in pinned]
    if None not in found:
        return [wheel for wheel in found if wheel is not None]
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--require-hashes", "--only-binary", ":all:", "--python-version", "3.11"),
            *("--platform", "any", "--implementation", "py", "--abi", "none"),
            *("--dest", str(cache), "--requirement", str(PACKAGES)),
        ],
        check=True,
    )
    return [wheel for item in pinned if (wheel := _wheel(cache, *item)) is not None]


def _wheel(cache: Path, name: str, version: str, digest: str) -> Path | None:
    """The wheel of a package that lies in the cache, with the pinned bytes."""
    for wheel in cache.glob(f"{name.replace('-', '_')}-{version}-*.whl"):
        if hashlib.sha256(wheel.read_bytes()).hexdigest() == digest:
            return wheel
    return None


def unanswerable(half: str) -> list[str]:
    """Questions of a half that nothing in the corpus answers."""
    lines = UNANSWERABLE.read_text().splitlines()
    return [line for line in lines if line and line[0] != "#" and half_of(line) == half]


def write_fleet(
    wheels: list[Path], root: Path, functions_per_package: int = FUNCTIONS_PER_PACKAGE
) -> list[Question]:
    """Write one project a package below ``root``; return every question about them."""
    functions: list[_Function] = []
    documents: dict[tuple[str, str], str] = {}
    for wheel in wheels:
        project = wheel.name.partition("-")[0]
        with zipfile.ZipFile(wheel) as opened:
            functions += _drawn(project, opened, functions_per_package)
            documents |= _documents(project, opened)
        folder = root / project / ".agents"
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(DESCRIPTOR.format(name=project))
    placed = _write_functions(functions, root)
    for (project, path), text in documents.items():
        target = root / project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return [
        *_docstring_questions(placed),
        *_identifier_questions(placed, documents),
        *_heading_questions(documents),
    ]


def _drawn(project: str, wheel: zipfile.ZipFile, wanted: int) -> list[_Function]:
    die = random.Random(f"{SEED}:{project}")
    names = [name for name in sorted(wheel.namelist()) if name.endswith(".py") and _is_own(name)]
    die.shuffle(names)
    found: list[_Function] = []
    for name in names:
        found += _functions(project, name, decode(wheel.read(name)).text)
        if len(found) >= DRAWN_FROM * wanted:
            break
    return die.sample(found, min(len(found), wanted))


def _is_own(name: str) -> bool:
    """Whether a file is the package's own, and no test."""
    parts = name.split("/")
    return _OTHERS.isdisjoint(parts) and not parts[0].endswith(".dist-info")


def _functions(project: str, path: str, text: str) -> Iterator[_Function]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    lines = text.split("\n")
    for node in tree.body:
        if isinstance(node, _FUNCTION):
            found = _function(project, path, "", node, lines)
            if found:
                yield found
        elif isinstance(node, ast.ClassDef):
            bare = ast.ClassDef(
                name=node.name, bases=node.bases, keywords=node.keywords, body=[], decorator_list=[]
            )
            head = ast.unparse(bare)
            for inner in node.body:
                if isinstance(inner, _FUNCTION):
                    found = _function(project, path, head, inner, lines)
                    if found:
                        yield found


def _function(
    project: str,
    path: str,
    class_head: str,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    lines: list[str],
) -> _Function | None:
    docstring = ast.get_docstring(node)
    said = node.body[0]
    if not docstring or len(node.body) < 2 or said.lineno == node.lineno:
        return None
    sentence = " ".join(_SENTENCE_END.split(docstring.strip(), maxsplit=1)[0].split())
    start = min([node.lineno, *(item.lineno for item in node.decorator_list)])
    end, last = said.end_lineno or said.lineno, node.end_lineno or node.lineno
    behind = lines[end - 1][said.end_col_offset or 0 :].strip(" ;")
    if behind or lines[said.lineno - 1].strip()[:1] not in {'"', "'", "r", "R"}:
        return None
    kept = [*lines[start - 1 : said.lineno - 1], *lines[end:last]]
    if not MIN_LINES <= len(kept) <= MAX_LINES or len(_WORD.findall(sentence)) < MIN_WORDS:
        return None
    return _Function(
        project=project,
        path=path,
        class_head=class_head,
        name=node.name,
        sentence=sentence,
        lines=tuple(kept),
    )


def _documents(project: str, wheel: zipfile.ZipFile) -> dict[tuple[str, str], str]:
    """The README of a wheel's metadata, and the Markdown files it ships."""
    found: dict[tuple[str, str], str] = {}
    for name in wheel.namelist():
        if name.endswith(".dist-info/METADATA"):
            read = BytesParser().parsebytes(wheel.read(name))
            if "markdown" in (read["Description-Content-Type"] or ""):
                text = decode(wheel.read(name)).text
                found[project, "README.md"] = text.partition("\n\n")[2]
        elif name.endswith(".md") and "/." not in name and _is_own(name):
            found[project, name] = decode(wheel.read(name)).text
    return found


def _write_functions(functions: list[_Function], root: Path) -> list[tuple[_Function, Target]]:
    modules: dict[tuple[str, str], list[_Function]] = defaultdict(list)
    for item in functions:
        modules[item.project, item.path].append(item)
    placed = []
    for (project, path), items in modules.items():
        lines: list[str] = []
        head = ""
        for item in sorted(items, key=lambda found: found.class_head):
            if item.class_head and item.class_head != head:
                lines += ["", item.class_head]
            head = item.class_head
            lines.append("")
            start = len(lines) + 1
            lines += item.lines
            placed.append((item, Target(project=project, path=path, start=start, end=len(lines))))
        target = root / project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")
    return placed


def _docstring_questions(placed: list[tuple[_Function, Target]]) -> Iterator[Question]:
    """First sentences that only one function has."""
    counts = Counter(item.sentence.casefold() for item, _ in placed)
    for item, target in placed:
        if counts[item.sentence.casefold()] == 1:
            yield Question(kind="docstring", text=item.sentence, target=target)


def _identifier_questions(
    placed: list[tuple[_Function, Target]], documents: dict[tuple[str, str], str]
) -> Iterator[Question]:
    """Names that one function has, and names that one function's body holds."""
    die = random.Random(SEED)
    names = Counter(item.name for item, _ in placed)
    defined = [
        Question(kind="ident_def", text=item.name, target=target)
        for item, target in placed
        if names[item.name] == 1 and not item.name.startswith("__")
    ]
    holders: Counter[str] = Counter()
    bodies = []
    for item, target in placed:
        words = {word for line in item.lines for word in _IDENTIFIER.findall(line)}
        holders.update({word.casefold() for word in words})
        bodies.append((item, target, words))
    for text in documents.values():
        holders.update({word.casefold() for word in _IDENTIFIER.findall(text)})
    for item, _ in placed:
        holders.update({word.casefold() for word in _IDENTIFIER.findall(item.class_head)})
    held = [
        Question(kind="ident_body", text=word, target=target)
        for item, target, words in bodies
        for word in sorted(words)
        if holders[word.casefold()] == 1 and word not in item.name
    ]
    yield from die.sample(defined, min(IDENTIFIERS, len(defined)))
    yield from die.sample(held, min(IDENTIFIERS, len(held)))


def _heading_questions(documents: dict[tuple[str, str], str]) -> Iterator[Question]:
    """Headings of at least two words that stand over one section only."""
    counts: Counter[str] = Counter()
    found = []
    for (project, path), text in documents.items():
        lines = text.split("\n")
        for section in sections(text):
            counts[section.title.casefold()] += 1
            body = "\n".join(lines[section.start : section.end])
            if len(_WORD.findall(section.title)) >= 2 and len(_WORD.findall(body)) >= MIN_WORDS:
                target = Target(project=project, path=path, start=section.start, end=section.end)
                found.append(Question(kind="heading", text=section.title, target=target))
    yield from (item for item in found if counts[item.text.casefold()] == 1)
