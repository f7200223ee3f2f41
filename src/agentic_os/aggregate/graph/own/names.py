"""Imports and names inside one project, for the rule that links imports."""

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.aggregate.graph.links.edges import CERTAIN, Endpoint
from agentic_os.aggregate.graph.links.languages.definitions import Choice, Definition
from agentic_os.aggregate.graph.links.languages.go import go_definitions, go_package
from agentic_os.aggregate.graph.links.languages.python_names import PythonNames, absolute_module
from agentic_os.aggregate.graph.links.languages.script_names import ScriptNames, inner_file
from agentic_os.code.standard_names import is_standard_module
from agentic_os.code.values import DEFAULT_EXPORT, Import, Use


def _nowhere(_code: ProjectCode, _path: str, _module: str) -> None:
    """Follow no name out of the project."""


class OwnPython:
    """Python's modules by the project's layout, relative imports included."""

    family = "python"
    separator = "."

    def __init__(self) -> None:
        """Start with no name looked up."""
        self._names = PythonNames(_nowhere)

    def choices(self, source: Endpoint, module: str) -> list[Choice]:
        """Return the project's module of that name."""
        if not module.startswith("."):
            if is_standard_module("python", module):
                return []
        elif source.path not in source.code.python_module_of:
            # Where a file's own module is not known, nor is what lies beside it.
            return []
        name = absolute_module(source.code, source.path, module)
        found = self._names.module(source.code, name)
        return [] if found is None else [Choice(module=found, verdict=CERTAIN)]

    def bound(self, choice: Choice, item: Import) -> Definition | None:
        """Return the module that the local name stands for: ``import a.b`` binds ``a``."""
        return self._names.module(choice.module.code, item.binds) if item.binds else choice.module

    def attribute(self, module: Definition, name: str) -> list[Definition]:
        """Return what ``module.name`` can be."""
        return self._names.attribute(module, name)

    def means(self, _module: Definition, _item: Import, _use: Use) -> bool:
        """Return true: a local name is the import's."""
        return True


class OwnScript:
    """JavaScript's and TypeScript's relative imports, and those of the project's own packages."""

    family = "script"
    separator = "#"

    def __init__(self) -> None:
        """Start with no name looked up."""
        self._names = ScriptNames(_nowhere)

    def choices(self, source: Endpoint, module: str) -> list[Choice]:
        """Return the file that a specifier leads to."""
        path = inner_file(source.code, source.path, module)
        if path is None:
            return []
        return [Choice(module=Definition.module(source.code, path), verdict=CERTAIN)]

    def bound(self, choice: Choice, _item: Import) -> Definition:
        """Return the module itself."""
        return choice.module

    def attribute(self, module: Definition, name: str) -> list[Definition]:
        """Return what an export can be; without a default, a module stands for its own."""
        found = self._names.exported(module.code, module.path, name)
        return [module] if not found and name == DEFAULT_EXPORT else found

    def means(self, _module: Definition, _item: Import, _use: Use) -> bool:
        """Return true: a local name is the import's."""
        return True


class OwnGo:
    """Go's packages below the project's own modules."""

    family = "go"
    separator = "."

    def __init__(self) -> None:
        """Start with no package looked into."""
        self._names: dict[str, dict[str, list[Definition]]] = {}

    def choices(self, source: Endpoint, module: str) -> list[Choice]:
        """Return the package that an import path means in a module of the project."""
        code = source.code
        owners = [
            name
            for ecosystem, name in code.packages
            if ecosystem == "go" and (module == name or module.startswith(f"{name}/"))
        ]
        if not owners:
            return []
        found = go_package(code, max(owners, key=len), module)
        return [Choice(module=found, verdict=CERTAIN)] if isinstance(found, Definition) else []

    def bound(self, choice: Choice, _item: Import) -> Definition:
        """Return the package."""
        return choice.module

    def attribute(self, module: Definition, name: str) -> list[Definition]:
        """Return the definitions of a name in all files of a package."""
        folder = module.path.rpartition("/")[0]
        if folder not in self._names:
            self._names[folder] = go_definitions(module.code, folder)
        return self._names[folder].get(name, [])

    def means(self, module: Definition, item: Import, use: Use) -> bool:
        """Whether the local name is the one given, else the one of the package clause."""
        return bool(item.local) or module.name == use.local
