"""Finds every code that an error can carry, by reading the program's source.

An error is made where its family is called (``LedgerError("…", code="…", hint="…")``), or where
a function passes its own parameter on as the code; then the calls of that function say which
codes there are. The exit code is the family's. A room with a table of its errors
(``codes.ERRORS``) is not read: it raises what its table says, and nothing else, which
``tests/docs/test_error_tables.py`` holds it to.
"""

import ast
import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import agentic_os
from agentic_os.errors import AgenticOSError, ErrorTable

SOURCE = Path(agentic_os.__file__).parent
CODE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
ROOMLESS = "errors"
FINDINGS = 3
"""The exit code of a report with findings (design decision 13)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCode:
    """One code: the room it comes from, its exit code, what is said and what to do."""

    code: str
    room: str
    exit_code: int
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    """A function that hands a parameter on as an error's code."""

    name: str
    position: int
    keyword: str
    default: str
    family: str
    message: str
    hint: str


def error_codes() -> list[ErrorCode]:
    """Every code, by room and name; of several places the first with words speaks."""
    families = _families()
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    makers: dict[str, list[_Maker]] = defaultdict(list)
    for tree in trees.values():
        for maker in _makers(tree, families):
            makers[maker.name].append(maker)
    tables = error_tables()
    found = {
        (room, row.code): ErrorCode(
            code=row.code,
            room=room,
            exit_code=row.family.exit_code,
            message=row.meaning,
            hint=row.hint,
        )
        for room, table in tables.items()
        for row in table.values()
    }
    for path, tree in trees.items():
        parts = path.relative_to(SOURCE).parts
        room = parts[0] if len(parts) > 1 else ROOMLESS
        if room in tables:
            continue
        for one in _made(tree, families, makers, room):
            known = found.get((one.room, one.code))
            if known is None or (not known.hint and one.hint):
                found[one.room, one.code] = one
    return [found[key] for key in sorted(found)]


def error_tables() -> dict[str, ErrorTable]:
    """Return the tables of errors by room; a room without one is read instead."""
    rooms = sorted(path.parent.name for path in SOURCE.glob("*/codes.py"))
    modules = {room: importlib.import_module(f"agentic_os.{room}.codes") for room in rooms}
    return {room: module.ERRORS for room, module in modules.items() if hasattr(module, "ERRORS")}


def _families() -> dict[str, type[AgenticOSError]]:
    for info in pkgutil.walk_packages([str(SOURCE)], "agentic_os."):
        if info.name.rpartition(".")[2] != "__main__":
            importlib.import_module(info.name)
    found: dict[str, type[AgenticOSError]] = {}
    waiting: list[type[AgenticOSError]] = [AgenticOSError]
    while waiting:
        family = waiting.pop()
        found[family.__name__] = family
        waiting.extend(family.__subclasses__())
    return found


def _made(
    tree: ast.Module,
    families: dict[str, type[AgenticOSError]],
    makers: dict[str, list[_Maker]],
    room: str,
) -> Iterator[ErrorCode]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = _name(node.func)
        if name == "Finding":
            for text in _codes_of(_keyword(node, "code")):
                message = _words(_keyword(node, "message"))
                hint = _words(_keyword(node, "hint"))
                yield ErrorCode(
                    code=text, room=room, exit_code=FINDINGS, message=message, hint=hint
                )
        if name in families:
            code = _keyword(node, "code")
            if code is None:
                yield _row(families[name].default_code, room, families[name], node)
            for text in _codes_of(code):
                yield _row(text, room, families[name], node)
        for maker in makers.get(name, ()):
            for text in _codes_of(_passed(node, maker)) or _known(maker.default):
                yield ErrorCode(
                    code=text,
                    room=room,
                    exit_code=families[maker.family].exit_code,
                    message=_words(node.args[0]) if node.args else maker.message,
                    hint=_words(_keyword(node, "hint")) or maker.hint,
                )


def _makers(tree: ast.Module, families: dict[str, type[AgenticOSError]]) -> Iterator[_Maker]:
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        plain = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
        names = [*plain, *(item.arg for item in function.args.kwonlyargs)]
        with_default = names[len(plain) - len(function.args.defaults) :]
        defaults = dict(zip(with_default, _defaults(function), strict=True))
        for node in ast.walk(function):
            if not isinstance(node, ast.Call) or _name(node.func) not in families:
                continue
            code = _keyword(node, "code")
            if isinstance(code, ast.Name) and code.id in names:
                is_method = bool(names) and names[0] in ("self", "cls")
                yield _Maker(
                    name=function.name if function.name != "__init__" else "",
                    position=names.index(code.id) - is_method,
                    keyword=code.id,
                    default=defaults.get(code.id, ""),
                    family=_name(node.func),
                    message=_words(node.args[0]) if node.args else "",
                    hint=_words(_keyword(node, "hint")),
                )


def _defaults(function: ast.FunctionDef) -> list[str]:
    return [_words(item) for item in (*function.args.defaults, *function.args.kw_defaults)]


def _passed(node: ast.Call, maker: _Maker) -> ast.expr | None:
    given = _keyword(node, maker.keyword)
    if given is None and maker.position < len(node.args):
        given = node.args[maker.position]
    return given


def _codes_of(node: ast.expr | None) -> list[str]:
    if node is None:
        return []
    texts = [
        item.value
        for item in ast.walk(node)
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]
    return [text for text in texts if CODE.fullmatch(text)]


def _known(default: str) -> list[str]:
    return [default] if CODE.fullmatch(default) else []


def _row(code: str, room: str, family: type[AgenticOSError], node: ast.Call) -> ErrorCode:
    message = _words(node.args[0]) if node.args else ""
    return ErrorCode(
        code=code,
        room=room,
        exit_code=family.exit_code,
        message=message or inspect.cleandoc(family.__doc__ or "").split("\n")[0],
        hint=_words(_keyword(node, "hint")),
    )


def _keyword(node: ast.Call, name: str) -> ast.expr | None:
    return next((item.value for item in node.keywords if item.arg == name), None)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _words(node: ast.expr | None) -> str:
    """Return the text of a literal; what is filled in at run time stands as an ellipsis."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_words(item) or "…" for item in node.values)
    return ""


def refusals() -> list[tuple[str, int, str]]:
    """List what the witness service answers when it refuses: code, HTTP status, message."""
    found: dict[tuple[str, int], str] = {}
    for path in sorted((SOURCE / "witness").rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        constants = _constants(importlib.import_module(name))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in ("Refusal", "Row"):
                status, message = _keyword(node, "status"), _keyword(node, "message")
                named = _keyword(node, "code")
                text = constants.get(_name(named), "") if named is not None else ""
                for code in _codes_of(named) or _known(text):
                    if isinstance(status, ast.Constant) and isinstance(status.value, int):
                        words = _words(message) or constants.get(_name(message or node), "")
                        found.setdefault((code, status.value), words)
    return [(code, status, words) for (code, status), words in sorted(found.items())]


def _constants(module: object) -> dict[str, str]:
    return {name: value for name, value in vars(module).items() if isinstance(value, str)}
