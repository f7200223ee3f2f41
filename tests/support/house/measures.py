"""Measure the house: what can be counted about its folders, copies, names and docstrings.

``make measure`` prints the table, ``python tests/support/house/measures.py --list [SOURCE]`` each
row behind it too, and ``tests/integration/house/test_measures.py`` holds the figures to limits.

A *copy* is a run of ten lines or more that stands in two places under other names: names are
numbered in the order in which they come, strings and numbers are all alike, and blank lines,
comments, imports and lone punctuation are passed over. A run that stands in more than eight places
is a form of the language, and one with fewer than five kinds of line is a table. Two files that
share several runs are one copy, shown by the longest.
"""

import argparse
import ast
import builtins
import io
import keyword
import sys
import token
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from statistics import quantiles

RUN_LINES = 10
MOST_PLACES = 8
DIFFERENT_LINES = 5  # fewer are a table, an enumeration or a list of fields
SHORT_LINES = 60
LONG_LINES = 300
COMPLEX = 10  # radon's grade C begins at 11

CLAUSES = frozenset(
    ["whether", "what", "how", "where", "why", "who", "which", "when", "nothing", "nobody"]
)
ARTICLES = frozenset(
    ["the", "a", "an", "every", "one", "all", "each", "both", "no", "any", "those", "our"]
)
BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.comprehension,
)
COMMON = frozenset(
    (*keyword.kwlist, *dir(builtins), "self", "cls", "dataclass", "frozen", "slots", "kw_only")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of lines that stands in two places."""

    left: str
    left_lines: tuple[int, int]
    right: str
    right_lines: tuple[int, int]
    lines: int
    more: int  # further runs that the two files share

    def __str__(self) -> str:
        """Spell the run as a row."""
        left, right = (
            f"{name}:{first}-{last}"
            for name, (first, last) in (
                (self.left, self.left_lines),
                (self.right, self.right_lines),
            )
        )
        more = f" (+{self.more} more)" if self.more else ""
        return f"{self.lines:3} lines {left} ~ {right}{more}"


@dataclass(frozen=True)
class Module:
    """One module of the source: its name, its text and its tree."""

    path: str
    text: str

    @property
    def name(self) -> str:
        """The dotted name below the package."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def room(self) -> str:
        """The room that it stands in."""
        return self.path.split("/")[0].removesuffix(".py")

    @property
    def folder(self) -> str:
        """The folder that it stands in."""
        return self.path.rpartition("/")[0]

    @cached_property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n")

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Its functions and methods, nested ones included."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]


def read(source: Path) -> list[Module]:
    """Read the modules below a package's folder."""
    return [
        Module(path=str(path.relative_to(source)), text=path.read_text("utf-8"))
        for path in sorted(source.rglob("*.py"))
    ]


def shapes(text: str) -> list[tuple[int, list[str]]]:
    """Return the number and the words of each line that counts; its own names begin with ``$``."""
    passed = _passed_over(ast.parse(text))
    worded: dict[int, list[str]] = defaultdict(list)
    for one in tokenize.generate_tokens(io.StringIO(text).readline):
        if one.type in {token.STRING, token.NUMBER}:
            worded[one.start[0]].append("value")
        elif one.type == token.NAME and one.string not in COMMON:
            worded[one.start[0]].append(f"${one.string}")
        elif one.type in {token.NAME, token.OP}:
            worded[one.start[0]].append(one.string)
    return [
        (line, words)
        for line, words in sorted(worded.items())
        if line not in passed and any(word.strip("$_")[:1].isalpha() for word in words)
    ]


def _folded(lines: list[list[str]]) -> tuple[str, ...]:
    """Number the names of a run in the order in which they come: a copy may rename one to one."""
    numbers: dict[str, str] = {}
    return tuple(
        numbers.setdefault(word, f"${len(numbers)}") if word.startswith("$") else word
        for line in lines
        for word in (*line, "\n")
    )


def _passed_over(tree: ast.Module) -> set[int]:
    """Return the lines of the import statements and of the module's docstring."""
    head = tree.body[:1] if ast.get_docstring(tree) else []
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {
        line
        for node in (*head, *imports)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def copies(modules: list[Module], at_least: int = RUN_LINES) -> list[Run]:
    """Find the runs that stand in two places, one row for two files, the longest first."""
    shaped = {module.path: shapes(module.text) for module in modules}
    windows: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for path, lines in shaped.items():
        words = [line for _, line in lines]
        alone = [_folded([line]) for line in words]
        for start in range(len(words) - at_least + 1):
            if len(set(alone[start : start + at_least])) >= DIFFERENT_LINES:
                windows[_folded(words[start : start + at_least])].append((path, start))
    meeting: dict[tuple[str, str, int], list[int]] = defaultdict(list)
    for places in windows.values():
        if 1 < len(places) <= MOST_PLACES:
            for (left, at), (right, there) in combinations(places, 2):
                if left != right or there - at >= at_least:
                    meeting[left, right, there - at].append(at)
    runs: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for (left, right, apart), starts in meeting.items():
        for first, last in _consecutive(sorted(starts)):
            end = last + at_least - 1
            runs[left, right].append(
                Run(
                    left=left,
                    left_lines=(shaped[left][first][0], shaped[left][end][0]),
                    right=right,
                    right_lines=(shaped[right][first + apart][0], shaped[right][end + apart][0]),
                    lines=end - first + 1,
                    more=0,
                )
            )
    rows = [_longest(found) for found in runs.values()]
    return sorted(rows, key=lambda run: (-run.lines, run.left, run.right))


def _longest(runs: list[Run]) -> Run:
    """Return the longest run, and how many others there are."""
    best = max(runs, key=lambda run: run.lines)
    return Run(
        left=best.left,
        left_lines=best.left_lines,
        right=best.right,
        right_lines=best.right_lines,
        lines=best.lines,
        more=len(runs) - 1,
    )


def _consecutive(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each unbroken series."""
    first = previous = numbers[0]
    for number in numbers[1:]:
        if number != previous + 1:
            yield first, previous
            first = number
        previous = number
    yield first, previous


def constants(modules: list[Module]) -> dict[tuple[str, str], list[str]]:
    """Return the constants that several modules define with one name and one value.

    A leading underscore is no other name. A value made from the module's own names is its own.
    """
    defined: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module in modules:
        for node in module.tree.body:
            target, value = _assigned(node)
            if target and value is not None and _is_plain(value):
                defined[target, ast.unparse(value)].append(f"{module.path}:{node.lineno}")
    return {what: places for what, places in sorted(defined.items()) if len(places) > 1}


def _is_plain(value: ast.expr) -> bool:
    """Say whether a value is made of literals and of the standard library alone."""
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return names <= {"frozenset", "getattr", "os", "re", "timedelta", "Decimal", "Path", "tuple"}


def _assigned(node: ast.stmt) -> tuple[str, ast.expr | None]:
    """Return the name and the value of a constant's definition."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            pass
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            pass
        case _:
            return "", None
    bare = name.lstrip("_")
    return (bare, value) if bare.isupper() else ("", None)


def importers(modules: list[Module]) -> dict[str, set[str]]:
    """Return which modules import each module, imports inside functions included."""
    known = {module.name for module in modules}
    found: dict[str, set[str]] = {name: set() for name in known}
    for module in modules:
        for node in ast.walk(module.tree):
            for name in _imported(node):
                if name in known and name != module.name:
                    found[name].add(module.name)
    return found


def _imported(node: ast.AST) -> list[str]:
    """Return the dotted names below the package that a statement may import."""
    match node:
        case ast.Import(names=names):
            full = [name.name for name in names]
        case ast.ImportFrom(module=str(origin), names=names):
            full = [origin, *(f"{origin}.{name.name}" for name in names)]
        case _:
            return []
    return [name.split(".", 1)[1] for name in full if name.startswith("agentic_os.")]


def mood(docstring: str) -> str:
    """Tell an imperative from a clause and from a noun phrase.

    >>> [mood(text) for text in ("Read it.", "Whether it is read.", "The text.", "Names in order.")]
    ['imperative', 'clause', 'noun phrase', 'noun phrase']
    """
    first = docstring.split(maxsplit=1)[0].strip(".,:;")
    word = first.lower()
    if word in CLAUSES:
        return "clause"
    plural = word.endswith("s") and not word.endswith(("ss", "pass"))
    if word in ARTICLES or plural or not first.isalpha() or not first[0].isupper():
        return "noun phrase"
    return "imperative"


def moods(modules: list[Module]) -> Counter[str]:
    """Count the moods of the functions' docstrings; a property is named and not commanded."""
    return Counter(
        mood(text)
        for module in modules
        for function in module.functions
        if not _is_property(function) and (text := ast.get_docstring(function))
    )


def _is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Say whether a function is read as an attribute."""
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the ways through a function (McCabe)."""
    ways = 1
    for node in ast.walk(function):
        if isinstance(node, BRANCHES):
            ways += 1
        elif isinstance(node, ast.BoolOp):
            ways += len(node.values) - 1
        elif isinstance(node, ast.Match):
            ways += len(node.cases) - 1
    return ways


def complexities(modules: list[Module]) -> list[tuple[int, str]]:
    """Return each function's complexity and place, the hardest first."""
    return sorted(
        (
            (complexity(function), f"{module.path}:{function.lineno} {function.name}")
            for module in modules
            for function in module.functions
        ),
        reverse=True,
    )


def counted_as_entries(modules: list[Module]) -> list[str]:
    """Return the constants called ``..._ENTRIES`` that count something else than entries.

    What they count is read from the words before: hops, depth, workers, levels and sizes are none.
    """
    others = {"DEPTH", "HOPS", "HOP", "WORKERS", "LEVELS", "LEVEL", "THREADS", "SIZE", "COMMUNITY"}
    return [
        f"{module.path}:{node.lineno} {name}"
        for module in modules
        for node in module.tree.body
        if (name := _assigned(node)[0]).endswith("_ENTRIES") and others & set(name.split("_"))
    ]


def table(modules: list[Module]) -> list[tuple[str, str]]:
    """Return the rows of the table."""
    sizes = sorted(module.lines for module in modules)
    lengths = [
        (function.end_lineno or 0) - function.lineno + 1
        for module in modules
        for function in module.functions
    ]
    hard = [ways for ways, _ in complexities(modules)]
    said = moods(modules)
    folders = Counter(
        module.folder for module in modules if not module.path.endswith("__init__.py")
    )
    folder, most = folders.most_common(1)[0]
    single = [name for name, found in importers(modules).items() if len(found) == 1]
    functions = [function for module in modules for function in module.functions]
    return [
        ("modules / lines", f"{len(modules)} / {sum(sizes):,}"),
        ("module: median / p90 / max", _spread(sizes)),
        ("function: median / p90 / max", _spread(lengths)),
        (f"modules under {SHORT_LINES} / over {LONG_LINES} lines", _outliers(sizes)),
        ("most modules in one folder", f"{most} ({folder})"),
        ("modules with one importer", str(len(single))),
        (f"copies of {RUN_LINES} lines or more", str(len(copies(modules)))),
        ("constants defined twice", str(len(constants(modules)))),
        ("_ENTRIES of another unit", str(len(counted_as_entries(modules)))),
        (
            "complexity: mean / above 10",
            f"{sum(hard) / len(hard):.2f} / {sum(n > COMPLEX for n in hard)}",
        ),
        (
            "functions with a docstring",
            f"{sum(1 for one in functions if ast.get_docstring(one))} of {len(functions)}",
        ),
        ("their mood", ", ".join(f"{number} {name}" for name, number in said.most_common())),
        ("imperative", f"{said['imperative'] / said.total():.0%}"),
    ]


def _spread(numbers: list[int]) -> str:
    """Spell the median, the ninetieth percentile and the largest."""
    tenths = quantiles(numbers, n=10)
    return f"{tenths[4]:.0f} / {tenths[8]:.0f} / {max(numbers)}"


def _outliers(sizes: list[int]) -> str:
    """Spell how many modules are short, and how many are long."""
    return f"{sum(n < SHORT_LINES for n in sizes)} / {sum(n > LONG_LINES for n in sizes)}"


def rooms(modules: list[Module]) -> list[tuple[str, int, int]]:
    """Return each folder with its modules and lines."""
    counted: dict[str, list[int]] = defaultdict(list)
    for module in modules:
        counted[module.folder or "."].append(module.lines)
    return [(folder, len(lines), sum(lines)) for folder, lines in sorted(counted.items())]


def listing(modules: list[Module]) -> list[str]:
    """Return every row behind the table's figures."""
    return [
        f"copies of {RUN_LINES} lines or more:",
        *(f"  {run}" for run in copies(modules)),
        "constants defined twice or more:",
        *(
            f"  {name} = {value}: {', '.join(places)}"
            for (name, value), places in constants(modules).items()
        ),
        "_ENTRIES of another unit:",
        *(f"  {row}" for row in counted_as_entries(modules)),
        "modules with one importer:",
        *(
            f"  {name} <- {next(iter(found))}"
            for name, found in sorted(importers(modules).items())
            if len(found) == 1
        ),
        "complexity above 10:",
        *(f"  {ways:3} {place}" for ways, place in complexities(modules) if ways > COMPLEX),
        "docstrings that are not in the imperative:",
        *(
            f"  {module.path}:{function.lineno} {text.splitlines()[0]}"
            for module in modules
            for function in module.functions
            if not _is_property(function)
            and (text := ast.get_docstring(function))
            and mood(text) != "imperative"
        ),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    here = Path(__file__).parents[3] / "src/agentic_os"
    parser.add_argument("source", nargs="?", type=Path, default=here)
    parser.add_argument("--list", action="store_true", help="print the rows behind the figures")
    options = parser.parse_args()
    modules = read(options.source)
    write = sys.stdout.write
    for name, figure in table(modules):
        write(f"{name:36} {figure}\n")
    for folder, number, lines in rooms(modules):
        write(f"  {folder:36} {number:4} {lines:7,}\n")
    if options.list:
        write("\n".join(listing(modules)) + "\n")


if __name__ == "__main__":
    main()
