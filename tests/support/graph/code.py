"""Projects as the rules between them see them, made from sources in memory."""

from dataclasses import dataclass, field

from agentic_os.aggregate.graph.links.code import CodeNode, CodeSource, ProjectCode, Stub
from agentic_os.aggregate.graph.links.derive import derive
from agentic_os.aggregate.graph.links.edges import CrossEdge, EdgeCollector, NearMiss
from agentic_os.code.manifests.reading import read_manifest
from agentic_os.code.reading import language_of, read_source

Files = dict[str, str]


@dataclass
class CodeBuilder:
    """Numbers the nodes of all projects of one test."""

    next_nid: int = 1
    codes: list[ProjectCode] = field(default_factory=list)

    def project(
        self,
        name: str,
        files: Files,
        *,
        folder: str | None = None,
        remote: str | None = None,
        unreadable: tuple[str, ...] = (),
        stubs: tuple[tuple[str, str, int], ...] = (),
    ) -> ProjectCode:
        """Add a project whose graph has a node for every file and every definition.

        ``unreadable`` are files the graph knows and nobody could read; ``stubs`` are
        ``(id, path, line)`` of external names.
        """
        facts = {
            path: read_source(path, text.encode())
            for path, text in files.items()
            if language_of(path) is not None and path not in unreadable
        }
        manifests = [read_manifest(path, text.encode()) for path, text in sorted(files.items())]
        nodes: list[CodeNode] = []

        def node(label: str, path: str, line: int, *, is_file: bool, is_package: bool) -> None:
            nodes.append(
                CodeNode(
                    nid=self.next_nid,
                    label=label,
                    path=path,
                    line=line,
                    is_file=is_file,
                    is_package=is_package,
                )
            )
            self.next_nid += 1

        sources = [path for path in files if language_of(path) is not None]
        for path in sorted(sources):
            node(path.rpartition("/")[2], path, 1, is_file=True, is_package=False)
            found = facts.get(path)
            for symbol in found.symbols if found is not None else ():
                method = symbol.kind == "method"
                call = "()" if symbol.kind in {"function", "method"} else ""
                label = f"{'.' if method else ''}{symbol.name}{call}"
                node(label, path, symbol.start, is_file=False, is_package=False)
        for manifest in manifests:
            if manifest is None:
                continue
            for package in manifest.packages:
                node(package.display, manifest.path, package.line, is_file=False, is_package=True)
        node(name, "", 0, is_file=False, is_package=True)
        folders: dict[str, set[str]] = {}
        for path in files:
            above, _, last = path.rpartition("/")
            folders.setdefault(above, set()).add(last)
            while above:
                upper, _, part = above.rpartition("/")
                folders.setdefault(upper, set()).add(f"{part}/")
                above = upper
        code = ProjectCode(
            project=name,
            folder=folder or f"/fleet/{name}",
            remote=remote,
            files={path: path not in unreadable for path in sources},
            folders={path: frozenset(names) for path, names in folders.items()},
            manifests=tuple(item for item in manifests if item is not None),
            source=CodeSource(
                nodes=lambda path: [one for one in nodes if one.path == path],
                packages=lambda: [one for one in nodes if one.is_package],
                facts=facts.get,
                stubs=lambda: [
                    Stub(key=key, nid=1, path=path, line=line, relation="imports")
                    for key, path, line in stubs
                ],
            ),
        )
        self.codes.append(code)
        return code

    def derive(self) -> EdgeCollector:
        """Derive everything between the projects added so far."""
        return derive(self.codes)

    def edges(self, rule: str = "") -> list[CrossEdge]:
        """Return the edges, of one rule or of all."""
        found = self.derive().edges.values()
        return [edge for edge in found if not rule or edge.rule == rule]

    def near(self, rule: str = "") -> list[NearMiss]:
        """Return the near-misses, of one rule or of all."""
        found = self.derive().near.values()
        return [miss for miss in found if not rule or miss.rule == rule]

    def shown(self, rule: str = "") -> set[str]:
        """Return the edges in short: ``source -relation-> target CONFIDENCE``."""
        return {
            f"{edge.source.label} -{edge.relation}-> {edge.target.label} {edge.confidence}"
            for edge in self.edges(rule)
        }


def pyproject(name: str, *dependencies: str, extra: str = "") -> str:
    """Return a ``pyproject.toml``."""
    listed = ", ".join(f'"{item}"' for item in dependencies)
    return f'[project]\nname = "{name}"\nversion = "1"\ndependencies = [{listed}]\n{extra}'
