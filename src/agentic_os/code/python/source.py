"""Python sources, read with ``ast``: definitions, imports, uses.

The tree is walked with a stack of our own, in source order, so that no depth of nesting
can exhaust Python's. A file that this interpreter's grammar refuses (Python 2, a newer
syntax, an expression nested beyond the parser's bound) is read again by
``python_loose``, which keeps what a tolerant grammar shows; the problem is named.
"""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from agentic_os.code.python.expressions import dotted_name, string_list
from agentic_os.code.python.loose import read_python_loosely
from agentic_os.code.python.scopes import Scope
from agentic_os.code.values import (
    MAX_IMPORTS_ENTRIES,
    MAX_SYMBOLS_ENTRIES,
    MAX_USES_ENTRIES,
    MODULE_SCOPE,
    STAR,
    Binding,
    BindingKind,
    Import,
    LocalUse,
    SourceFacts,
    Symbol,
    SymbolKind,
    Use,
    UseKind,
)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BRANCHES = (ast.If, ast.Try, ast.TryStar, ast.For, ast.AsyncFor, ast.While, ast.Match)


def read_python(data: bytes) -> SourceFacts:
    """Read one Python file.

    Args:
        data: the file's bytes; a coding cookie and a byte-order mark are honoured.

    Returns:
        What the file says. ``problems`` holds ``PYTHON_UNPARSED`` where the tolerant
        reading had to be used and ``SOURCE_TRUNCATED`` where a bound cut something off.
        Never raises.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return read_python_loosely(data)
    walker = _Walker(lines=data.count(b"\n") + 1)
    walker.walk(tree)
    return walker.facts()


class _Task(NamedTuple):
    """A node still to visit and the circumstances that it stands in."""

    node: ast.AST
    scope: Scope
    certain: bool
    type_only: bool
    kind: UseKind = "reference"
    user: int | None = None


class _RawUse(NamedTuple):
    local: str
    chain: tuple[str, ...]
    line: int
    scope: Scope
    kind: UseKind
    user: int


@dataclass
class _Walker:
    """Collects the facts of one parsed file."""

    lines: int
    symbols: list[Symbol] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    raw_uses: list[_RawUse] = field(default_factory=list)
    exports: list[str] | None = None
    dynamic: bool = False
    truncated: bool = False
    module: Scope = field(default_factory=lambda: Scope(kind="module", parent=None))

    def walk(self, tree: ast.Module) -> None:
        """Visit every node once, in source order."""
        stack = [_Task(node, self.module, certain=True, type_only=False) for node in tree.body]
        stack.reverse()
        while stack:
            task = stack.pop()
            following = list(self._visit(task))
            following.reverse()
            stack.extend(following)

    def facts(self) -> SourceFacts:
        """Resolve the uses and close the account."""
        uses: list[Use] = []
        local_uses: list[LocalUse] = []
        for raw in self.raw_uses:
            behind = raw.scope.imports_of(raw.local, self.imports)
            if behind:
                uses.append(Use(raw.local, raw.chain, raw.line, raw.user, raw.kind, behind))
            else:
                local_uses.extend(self._local(raw))
        if len(uses) > MAX_USES_ENTRIES:
            self.truncated = True
            del uses[MAX_USES_ENTRIES:]
        return SourceFacts(
            language="python",
            lines=self.lines,
            symbols=tuple(self.symbols),
            bindings=tuple(self.bindings),
            imports=tuple(self.imports),
            uses=tuple(uses),
            local_uses=tuple(local_uses[:MAX_USES_ENTRIES]),
            exports=None if self.exports is None else tuple(self.exports),
            dynamic=self.dynamic,
            problems=("SOURCE_TRUNCATED",) if self.truncated else (),
        )

    def _local(self, raw: _RawUse) -> Iterator[LocalUse]:
        """Yield the use of a definition of this file: a name, a class's member, or ``self``'s."""
        symbol = raw.scope.symbol_of(raw.local)
        if symbol is not None:
            member = self._members.get((symbol, raw.chain[0])) if raw.chain else None
            kind: UseKind = raw.kind if not raw.chain or member is not None else "reference"
            kind = "reference" if len(raw.chain) > 1 else kind
            yield LocalUse(symbol if member is None else member, raw.line, raw.user, kind)
        elif raw.local == "self" and len(raw.chain) == 1 and raw.user != MODULE_SCOPE:
            member = self._members.get((self.symbols[raw.user].parent, raw.chain[0]))
            if member is not None:
                yield LocalUse(member, raw.line, raw.user, raw.kind, certain=False)

    @cached_property
    def _members(self) -> dict[tuple[int, str], int]:
        """The methods of each class, by its symbol and their name; the last one counts."""
        return {
            (item.parent, item.name): index
            for index, item in enumerate(self.symbols)
            if item.kind == "method"
        }

    def _visit(  # noqa: C901, PLR0912 - a case per node type
        self, task: _Task
    ) -> Iterator[_Task]:
        node = task.node
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self._function(node, task)
            case ast.ClassDef():
                yield from self._class(node, task)
            case ast.Lambda():
                scope = Scope(kind="function", parent=task.scope, symbol=task.scope.symbol)
                _bind_parameters(node.args, scope)
                yield from _defaults(node.args, task)
                yield _Task(node.body, scope, task.certain, task.type_only)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                scope = Scope(kind="function", parent=task.scope, symbol=task.scope.symbol)
                for child in ast.iter_child_nodes(node):
                    yield _Task(child, scope, task.certain, task.type_only)
            case ast.Import():
                self._import(node, task)
            case ast.ImportFrom():
                self._import_from(node, task)
            case ast.Global():
                task.scope.declared_global.update(node.names)
            case ast.Assign():
                yield from self._assign(node, task)
            case ast.AugAssign():
                self._augment(node)
                yield from _children(node, task)
            case ast.Name():
                self._name(node, task)
            case ast.Attribute():
                yield from self._attribute(node, task)
            case ast.Call():
                yield from self._call(node, task)
            case ast.If():
                yield from self._condition(node, task)
            case ast.Try() | ast.TryStar() | ast.For() | ast.AsyncFor() | ast.While() | ast.Match():
                yield from _children(node, task, certain=False)
            case _:
                self._other_bindings(node, task)
                yield from _children(node, task)

    # -- definitions -------------------------------------------------------------------

    def _symbol(self, node: ast.stmt, name: str, kind: SymbolKind, scope: Scope) -> int:
        if len(self.symbols) >= MAX_SYMBOLS_ENTRIES:
            self.truncated = True
            return scope.symbol
        parent = scope.symbol
        prefix = "" if parent == MODULE_SCOPE else f"{self.symbols[parent].qualname}."
        self.symbols.append(
            Symbol(
                name,
                prefix + name,
                kind,
                node.lineno,
                node.end_lineno or node.lineno,
                parent,
                not name.startswith("_"),
            )
        )
        return len(self.symbols) - 1

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, task: _Task
    ) -> Iterator[_Task]:
        scope = task.scope
        kind: SymbolKind = "method" if scope.kind == "class" else "function"
        index = self._symbol(node, node.name, kind, scope)
        scope.define(node.name, index)
        self._bind(node.name, "definition", node.lineno, task)
        if scope is self.module and node.name == "__getattr__":
            self.dynamic = True
        for decorator in node.decorator_list:
            yield _Task(decorator, scope, task.certain, task.type_only, "decorator", index)
        yield from _defaults(node.args, task)
        for argument in _parameters(node.args):
            if argument.annotation is not None:
                yield _Task(argument.annotation, scope, task.certain, task.type_only)
        if node.returns is not None:
            yield _Task(node.returns, scope, task.certain, task.type_only)
        inner = Scope(kind="function", parent=scope, symbol=index)
        _bind_parameters(node.args, inner)
        for statement in node.body:
            yield _Task(statement, inner, task.certain, task.type_only)

    def _class(self, node: ast.ClassDef, task: _Task) -> Iterator[_Task]:
        scope = task.scope
        index = self._symbol(node, node.name, "class", scope)
        scope.define(node.name, index)
        self._bind(node.name, "definition", node.lineno, task)
        for decorator in node.decorator_list:
            yield _Task(decorator, scope, task.certain, task.type_only, "decorator", index)
        for base in node.bases:
            yield _Task(base, scope, task.certain, task.type_only, "inherits", index)
        for keyword in node.keywords:
            yield _Task(keyword.value, scope, task.certain, task.type_only)
        inner = Scope(kind="class", parent=scope, symbol=index)
        for statement in node.body:
            yield _Task(statement, inner, task.certain, task.type_only)

    def _bind(
        self,
        name: str,
        kind: BindingKind,
        line: int,
        task: _Task,
        module: str = "",
        member: str = "",
    ) -> None:
        if task.scope is not self.module and name not in task.scope.declared_global:
            return
        if len(self.bindings) >= MAX_SYMBOLS_ENTRIES:
            self.truncated = True
            return
        certain = task.certain and task.scope is self.module
        self.bindings.append(Binding(name, kind, line, certain, module, member))

    # -- imports -----------------------------------------------------------------------

    def _take(self, item: Import, scope: Scope) -> None:
        if len(self.imports) >= MAX_IMPORTS_ENTRIES:
            self.truncated = True
            return
        self.imports.append(item)
        if item.local:
            scope.bind_import(item.local, len(self.imports) - 1)

    def _import(self, node: ast.Import, task: _Task) -> None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            local = alias.asname or root
            binds = alias.name if alias.asname else root
            self._take(
                Import(
                    alias.name,
                    "",
                    local,
                    node.lineno,
                    task.scope.symbol,
                    task.type_only,
                    task.certain,
                    binds,
                ),
                task.scope,
            )
            self._bind(local, "import", node.lineno, task, module=binds)

    def _import_from(self, node: ast.ImportFrom, task: _Task) -> None:
        module = "." * min(node.level, _MAX_DOTS_CHARS) + (node.module or "")
        for alias in node.names:
            star = alias.name == STAR
            local = "" if star else alias.asname or alias.name
            self._take(
                Import(
                    module,
                    alias.name,
                    local,
                    node.lineno,
                    task.scope.symbol,
                    task.type_only,
                    task.certain,
                ),
                task.scope,
            )
            if star:
                self._bind(STAR, "star", node.lineno, task, module=module)
            else:
                self._bind(local, "import", node.lineno, task, module=module, member=alias.name)

    # -- assignments -------------------------------------------------------------------

    def _assign(self, node: ast.Assign, task: _Task) -> Iterator[_Task]:
        first = node.targets[0]
        single = len(node.targets) == 1
        if task.scope is self.module and single and isinstance(first, ast.Name):
            if first.id == "__all__":
                names = string_list(node.value)
                self.exports = names or []
                self.dynamic = self.dynamic or names is None
            alias = dotted_name(node.value)
            if alias:
                self.module.bind_other(first.id)
                self._bind(first.id, "alias", node.lineno, task, member=alias)
                yield _Task(node.value, task.scope, task.certain, task.type_only)
                return
        yield from _children(node, task)

    def _augment(self, node: ast.AugAssign) -> None:
        if not (isinstance(node.target, ast.Name) and node.target.id == "__all__"):
            return
        names = string_list(node.value)
        if names is None or self.exports is None:
            self.dynamic = True
        self.exports = [*(self.exports or []), *(names or [])]

    def _other_bindings(self, node: ast.AST, task: _Task) -> None:
        name: str | None = None
        match node:
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
                name = node.name
            case ast.MatchMapping():
                name = node.rest
            case _:
                return
        if name:
            task.scope.bind_other(name)

    def _condition(self, node: ast.If, task: _Task) -> Iterator[_Task]:
        yield _Task(node.test, task.scope, task.certain, task.type_only)
        typing_only = dotted_name(node.test).rpartition(".")[2] == "TYPE_CHECKING"
        for statement in node.body:
            yield _Task(
                statement, task.scope, certain=False, type_only=task.type_only or typing_only
            )
        for statement in node.orelse:
            yield _Task(statement, task.scope, certain=False, type_only=task.type_only)

    # -- uses --------------------------------------------------------------------------

    def _use(self, local: str, chain: tuple[str, ...], line: int, task: _Task) -> None:
        user = task.scope.symbol if task.user is None else task.user
        self.raw_uses.append(_RawUse(local, chain, line, task.scope, task.kind, user))

    def _name(self, node: ast.Name, task: _Task) -> None:
        if isinstance(node.ctx, ast.Load):
            self._use(node.id, (), node.lineno, task)
            return
        task.scope.bind_other(node.id)
        self._bind(node.id, "value", node.lineno, task)
        if node.id == "__getattr__" and task.scope is self.module:
            self.dynamic = True

    def _attribute(self, node: ast.Attribute, task: _Task) -> Iterator[_Task]:
        dotted = dotted_name(node)
        if dotted:
            root, *chain = dotted.split(".")
            self._use(root, tuple(chain), node.lineno, task)
            return
        yield _Task(node.value, task.scope, task.certain, task.type_only)

    def _call(self, node: ast.Call, task: _Task) -> Iterator[_Task]:
        dotted = dotted_name(node.func)
        if dotted == "globals" and task.scope is self.module:
            self.dynamic = True
        if dotted in {"__all__.extend", "__all__.append"}:
            self.dynamic = True
        kind: UseKind = "decorator" if task.kind == "decorator" else "call"
        yield _Task(node.func, task.scope, task.certain, task.type_only, kind, task.user)
        for argument in node.args:
            yield _Task(argument, task.scope, task.certain, task.type_only)
        for keyword in node.keywords:
            yield _Task(keyword.value, task.scope, task.certain, task.type_only)


_MAX_DOTS_CHARS = 32


def _children(node: ast.AST, task: _Task, *, certain: bool | None = None) -> Iterator[_Task]:
    sure = task.certain if certain is None else certain
    for child in ast.iter_child_nodes(node):
        yield _Task(child, task.scope, sure, task.type_only)


def _parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from arguments.posonlyargs
    yield from arguments.args
    yield from arguments.kwonlyargs
    if arguments.vararg is not None:
        yield arguments.vararg
    if arguments.kwarg is not None:
        yield arguments.kwarg


def _bind_parameters(arguments: ast.arguments, scope: Scope) -> None:
    for argument in _parameters(arguments):
        scope.bind_other(argument.arg)


def _defaults(arguments: ast.arguments, task: _Task) -> Iterator[_Task]:
    for default in (*arguments.defaults, *arguments.kw_defaults):
        if default is not None:
            yield _Task(default, task.scope, task.certain, task.type_only)
