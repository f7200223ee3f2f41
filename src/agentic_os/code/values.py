"""What one source file says: symbols, imports, uses, routes, calls.

Every value is small, frozen and made of plain strings and numbers, because the aggregate
keeps it in the derived store (as MessagePack arrays) and derives the edges between
repositories from it without opening the file again. ``msgspec`` structs are used instead
of dataclasses for that reason: they are the stored form.

Lines count from 1 and are inclusive. ``scope`` is an index into ``SourceFacts.symbols``
(the innermost symbol that encloses the place), or ``MODULE_SCOPE`` at file level.
"""

from typing import Literal

import msgspec

from agentic_os.code.programs import ProgramKind

Language = Literal["python", "typescript", "javascript", "go"]
SymbolKind = Literal["function", "class", "method", "constant", "type"]
BindingKind = Literal["definition", "value", "import", "star", "alias"]
UseKind = Literal["call", "reference", "inherits", "decorator"]

MODULE_SCOPE = -1
STAR = "*"
DEFAULT_EXPORT = "default"
ANY_METHOD = "ANY"


class Symbol(msgspec.Struct, frozen=True, array_like=True):
    """One definition and its line range; ``parent`` is the enclosing symbol's index."""

    name: str
    qualname: str
    kind: SymbolKind
    start: int
    end: int
    parent: int = MODULE_SCOPE
    exported: bool = True


class Binding(msgspec.Struct, frozen=True, array_like=True):
    """A name that a file offers to its importers, and where that name comes from.

    ``definition`` and ``value`` are made here (``line`` says where). ``import`` is taken
    from ``module`` (``member`` empty: the module itself), ``star`` is everything that
    ``module`` offers, ``alias`` stands for the dotted name ``member`` of this same file.
    ``certain`` is false where a condition decides whether the binding happens.
    """

    name: str
    kind: BindingKind
    line: int
    certain: bool = True
    module: str = ""
    member: str = ""


class Import(msgspec.Struct, frozen=True, array_like=True):
    """One name taken from another module.

    ``module`` is as written (Python's leading dots, a JavaScript specifier, a Go path);
    ``member`` is empty for the module itself, ``*`` for everything, else the name.
    ``binds`` is the module that ``local`` stands for when ``member`` is empty
    (``import a.b`` binds ``a``).
    """

    module: str
    member: str
    local: str
    line: int
    scope: int = MODULE_SCOPE
    type_only: bool = False
    certain: bool = True
    binds: str = ""


class Use(msgspec.Struct, frozen=True, array_like=True):
    """One place where an imported name is used: ``local.chain[0].chain[1]``.

    ``imports`` are indexes into ``SourceFacts.imports`` of every import that can stand
    behind ``local`` here; more than one means that a condition decides.
    """

    local: str
    chain: tuple[str, ...]
    line: int
    scope: int
    kind: UseKind
    imports: tuple[int, ...]


class Holder(msgspec.Struct, frozen=True, array_like=True):
    """An application or router object that routes hang on; ``prefix`` is its own."""

    name: str
    framework: str
    prefix: str
    line: int
    application: bool


class Route(msgspec.Struct, frozen=True, array_like=True):
    """One HTTP route: ``{}`` in ``path`` stands for one segment, ``{*}`` for any rest."""

    holder: str
    methods: tuple[str, ...]
    path: str
    line: int
    handler: str


class Mount(msgspec.Struct, frozen=True, array_like=True):
    """``parent`` serves the router ``child`` (a dotted name of this file) below ``prefix``."""

    parent: str
    child: str
    prefix: str
    line: int


class HttpCall(msgspec.Struct, frozen=True, array_like=True):
    """One request that a client makes.

    ``host`` is the literal host (with port) or empty; ``names`` are the variables that
    stand where the host would (environment variables, constants); ``path`` starts with
    ``/`` and holds ``{}`` for a computed segment.
    """

    method: str
    host: str
    names: tuple[str, ...]
    path: str
    line: int
    scope: int


class Launch(msgspec.Struct, frozen=True, array_like=True):
    """One program that is started, by name only (``programs.program``)."""

    program: str
    kind: ProgramKind
    line: int
    scope: int


class SourceFacts(msgspec.Struct, frozen=True, array_like=True):
    """Everything that one file says.

    ``exports`` is the file's explicit list for star imports (Python's ``__all__``) or
    ``None``; ``dynamic`` is true where names can appear that no reading shows (a module
    ``__getattr__``, a computed ``__all__``). ``problems`` are codes: the file was read as
    far as it could be. ``package`` is Go's package clause.
    """

    language: Language
    lines: int
    package: str = ""
    symbols: tuple[Symbol, ...] = ()
    bindings: tuple[Binding, ...] = ()
    imports: tuple[Import, ...] = ()
    uses: tuple[Use, ...] = ()
    exports: tuple[str, ...] | None = None
    dynamic: bool = False
    holders: tuple[Holder, ...] = ()
    routes: tuple[Route, ...] = ()
    mounts: tuple[Mount, ...] = ()
    calls: tuple[HttpCall, ...] = ()
    launches: tuple[Launch, ...] = ()
    problems: tuple[str, ...] = ()
