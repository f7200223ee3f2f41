"""What one source file says: symbols, imports, uses.

Every value is small, frozen and made of plain strings and numbers, because the aggregate
keeps it in the derived store (as MessagePack arrays) and derives the edges between
repositories from it without opening the file again. ``msgspec`` structs are used instead
of dataclasses for that reason: they are the stored form.

Lines count from 1 and are inclusive. ``scope`` is an index into ``SourceFacts.symbols``
(the innermost symbol that encloses the place), or ``MODULE_SCOPE`` at file level.
"""

from typing import Literal

import msgspec

Language = Literal[
    "python",
    "typescript",
    "javascript",
    "go",
    "java",
    "kotlin",
    "rust",
    "c",
    "cpp",
    "c-sharp",
    "ruby",
    "php",
    "swift",
    "scala",
    "bash",
]
SymbolKind = Literal["function", "class", "method", "constant", "type"]
BindingKind = Literal["definition", "value", "import", "star", "alias"]
UseKind = Literal["call", "reference", "inherits", "decorator"]

MODULE_SCOPE = -1
STAR = "*"
DEFAULT_EXPORT = "default"
MAX_SYMBOLS_ENTRIES = 20_000
MAX_IMPORTS_ENTRIES = 5_000
MAX_USES_ENTRIES = 20_000
"""Facts kept of one file, by kind; more are cut off (``SOURCE_TRUNCATED``)."""
MAX_CHAIN_ENTRIES = 12
"""Names in a dotted chain that are looked at."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""How a file begins whose content Git LFS keeps elsewhere."""


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


class LocalUse(msgspec.Struct, frozen=True, array_like=True):
    """One place where a definition of the same file is used.

    ``symbol`` is the index of what is used. ``certain`` is false for a method called on
    ``self``: a subclass may have its own.
    """

    symbol: int
    line: int
    scope: int
    kind: UseKind
    certain: bool = True


class PackageUse(msgspec.Struct, frozen=True, array_like=True):
    """One place where a file of a Go package uses a name that some file of it declares."""

    name: str
    line: int
    scope: int
    kind: UseKind


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
    local_uses: tuple[LocalUse, ...] = ()
    exports: tuple[str, ...] | None = None
    dynamic: bool = False
    problems: tuple[str, ...] = ()
    package_uses: tuple[PackageUse, ...] = ()
