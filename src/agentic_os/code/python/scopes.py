"""Python's name scopes, as far as imported names need them.

Rules (Python language reference, section 4.2, resolution of names):

- a name belongs to the innermost scope that binds it anywhere in its body;
- a class body's names are not seen from the functions inside it;
- ``global`` sends a name to the module's scope.

A name that an unconditional import binds and something else binds too is shadowed: it
cannot be followed. Where the import itself is conditional (``try: import yaml`` /
``except ImportError: yaml = None``) the other binding is its fallback and is passed over.
"""

from dataclasses import dataclass, field
from typing import Literal

from agentic_os.code.values import MODULE_SCOPE, Import

ScopeKind = Literal["module", "class", "function"]
MAX_IMPORTS_OF_NAME_ENTRIES = 16
"""Imports that may stand behind one name of one scope; no source needs more."""
_OTHER = -1


@dataclass(slots=True, kw_only=True)
class Scope:
    """One module, class body, function, lambda or comprehension."""

    kind: ScopeKind
    parent: "Scope | None"
    symbol: int = MODULE_SCOPE
    bound: dict[str, list[int]] = field(default_factory=dict)
    declared_global: set[str] = field(default_factory=set)
    defined: dict[str, list[int]] = field(default_factory=dict)
    rebound: set[str] = field(default_factory=set)

    def bind_import(self, name: str, index: int) -> None:
        """Bind a name to import number ``index``."""
        entries = self._owner(name).bound.setdefault(name, [])
        if len(entries) < MAX_IMPORTS_OF_NAME_ENTRIES:
            entries.append(index)

    def bind_other(self, name: str) -> None:
        """Bind a name to anything that is not an import."""
        owner = self._owner(name)
        entries = owner.bound.setdefault(name, [])
        if _OTHER not in entries:
            entries.append(_OTHER)
        else:
            owner.rebound.add(name)

    def define(self, name: str, symbol: int) -> None:
        """Bind a name to a definition of this file."""
        self.bind_other(name)
        self._owner(name).defined.setdefault(name, []).append(symbol)

    def symbol_of(self, name: str) -> int | None:
        """Return the one definition that a name can stand for; ``None`` where it is bound else."""
        scope = self._binding(name)
        if scope is None or scope.bound[name] != [_OTHER] or name in scope.rebound:
            return None
        found = scope.defined.get(name, ())
        return found[0] if len(found) == 1 else None

    def _binding(self, name: str) -> "Scope | None":
        """Return the scope whose binding of a name is seen here."""
        scope: Scope | None = self
        while scope is not None:
            visible = scope is self or scope.kind != "class"
            if visible and name in scope.bound and name not in scope.declared_global:
                return scope
            scope = scope.parent
        return None

    def _owner(self, name: str) -> "Scope":
        if name not in self.declared_global:
            return self
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def imports_of(self, name: str, imports: list[Import]) -> tuple[int, ...]:
        """Return the imports that ``name`` can stand for in this scope; empty when none."""
        scope = self._binding(name)
        entries = [] if scope is None else scope.bound[name]
        found = [entry for entry in entries if entry != _OTHER]
        if len(found) < len(entries) and any(imports[entry].certain for entry in found):
            return ()
        return tuple(found)
