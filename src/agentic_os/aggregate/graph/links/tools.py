"""R7: a program that one project starts is a command that exactly one other provides.

Starters: MCP server configurations and literal calls in sources. Providers: console scripts
and ``bin`` entries. Runners (``npx``, ``uvx``, ``python -m``) are looked through. Names of the
system's own programs and of toolchains never link.
"""

from collections.abc import Sequence

from agentic_os.aggregate.graph.links.code import CodeNode, ProjectCode
from agentic_os.aggregate.graph.links.edges import (
    CERTAIN,
    MAX_CANDIDATES_ENTRIES,
    UNSURE,
    Account,
    Goal,
    Place,
)
from agentic_os.aggregate.graph.links.packages import DeclaredLinks
from agentic_os.code.layout import GENERIC_NAMES, is_excluded
from agentic_os.code.manifests.values import Manifest, Script, python_name
from agentic_os.code.programs import ProgramKind
from agentic_os.code.script.layout import find_file
from agentic_os.code.standard_names import SYSTEM_COMMANDS, is_standard_module

RULE_TOOL = "R7"


def tool_edges(codes: Sequence[ProjectCode], links: DeclaredLinks, account: Account) -> None:
    """Derive R7 for every configuration and every literal start of a program."""
    rule = _Tools(codes, links, account)
    for code in codes:
        for manifest in code.manifests:
            node = code.manifest_node(manifest.path)
            for command in manifest.commands:
                place = Place(code=code, path=manifest.path, line=command.line, node=node)
                rule.started(place, command.program, command.kind)
        for family in ("python", "script"):
            for path, facts in code.sources(family):
                if not facts.launches or is_excluded(path):
                    continue
                for launch in facts.launches:
                    node = code.user_node(path, facts, launch.scope)
                    place = Place(code=code, path=path, line=launch.line, node=node)
                    rule.started(place, launch.program, launch.kind)


class _Tools:
    def __init__(
        self, codes: Sequence[ProjectCode], links: DeclaredLinks, account: Account
    ) -> None:
        self.links = links
        self.account = account
        self.providers: dict[str, list[tuple[ProjectCode, Manifest, Script]]] = {}
        self.packages: dict[tuple[str, str], list[ProjectCode]] = {}
        for code in codes:
            seen: set[str] = set()
            for manifest in code.manifests:
                if is_excluded(manifest.path):
                    continue
                for script in manifest.scripts:
                    if script.name not in seen:
                        seen.add(script.name)
                        self.providers.setdefault(script.name, []).append((code, manifest, script))
            for key in code.packages:
                self.packages.setdefault(key, []).append(code)

    def started(self, place: Place, name: str, kind: ProgramKind) -> None:
        """Link one started program."""
        match kind:
            case "module":
                self._module(place, name)
            case "package":
                self._package(place, name)
            case "command":
                self._command(place, name)

    def _command(self, place: Place, name: str) -> None:
        found = [item for item in self.providers.get(name, ()) if item[0] is not place.code]
        if not found:
            return
        others = [item[0] for item in found]
        if name in SYSTEM_COMMANDS or name in GENERIC_NAMES:
            self.account.miss(place, RULE_TOOL, "GENERIC_NAME", name, others, "a common program")
            return
        if any(item[0] is place.code for item in self.providers[name]):
            self.account.miss(place, RULE_TOOL, "LOCAL_SHADOW", name, others, "it has that command")
            return
        certain = len(found) == 1
        if not certain:
            self.account.miss(
                place, RULE_TOOL, "SEVERAL_PROVIDERS", name, others, "several have that command"
            )
        for code, manifest, script in found[:MAX_CANDIDATES_ENTRIES]:
            path, line, node = _entry(code, manifest, script)
            self.account.link(
                place,
                Goal(code=code, path=path, line=line, node=node),
                relation="uses",
                rule=RULE_TOOL,
                verdict=CERTAIN if certain else UNSURE,
                detail=name,
            )

    def _package(self, place: Place, name: str) -> None:
        """Follow a runner's package to the command of the same name, or to the package."""
        short = name.rpartition("/")[2]
        for key in (("npm", name), ("python", python_name(name))):
            found = [item for item in self.packages.get(key, ()) if item is not place.code]
            if len(found) != 1 or place.code.declares(*key):
                continue
            code = found[0]
            manifest, line = code.packages[key]
            own = [item for item in self.providers.get(short, ()) if item[0] is code]
            if own:
                path, line, node = _entry(*own[0])
            else:
                path, node = manifest.path, code.manifest_node(manifest.path)
            self.account.link(
                place,
                Goal(code=code, path=path, line=line, node=node),
                relation="uses",
                rule=RULE_TOOL,
                verdict=CERTAIN,
                detail=name,
            )
            return
        self._command(place, short)

    def _module(self, place: Place, module: str) -> None:
        """Link ``python -m module``, where the module's package is declared."""
        if is_standard_module("python", module):
            return
        for key, codes in sorted(self.packages.items()):
            if key[0] != "python":
                continue
            for code in codes:
                held = self.links.holds(place.code.project, code.project, *key)
                provided = code.python_modules.get(f"{module}.__main__")
                provided = provided or code.python_modules.get(module)
                if not held or provided is None:
                    continue
                node = code.nodes.file(provided.path)
                self.account.link(
                    place,
                    Goal(code=code, path=provided.path, line=1, node=node),
                    relation="uses",
                    rule=RULE_TOOL,
                    verdict=CERTAIN,
                    detail=module,
                )
                return


def _entry(
    code: ProjectCode, manifest: Manifest, script: Script
) -> tuple[str, int, CodeNode | None]:
    """Find where a command begins: its function, its file, else its package."""
    module, _, attribute = script.entry.partition(":")
    provided = code.python_modules.get(module.strip())
    if provided is not None:
        name = attribute.strip().partition(".")[0].partition("[")[0].strip()
        facts = code.facts(provided.path)
        for binding in () if facts is None else facts.bindings:
            if binding.name == name and binding.kind == "definition":
                node = code.nodes.symbol(provided.path, name, binding.line)
                if node is not None:
                    return provided.path, binding.line, node
        node = code.nodes.file(provided.path)
        if node is not None:
            return provided.path, 1, node
    inner = script.entry.removeprefix("./")
    path = find_file(f"{manifest.folder}/{inner}".strip("/"), code.files) if inner else None
    if path is not None:
        return path, 1, code.nodes.file(path)
    return manifest.path, script.line, code.manifest_node(manifest.path)
