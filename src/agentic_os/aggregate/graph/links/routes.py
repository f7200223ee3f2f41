"""The routes that a project really serves: routers' paths below the prefixes of their mounts.

``include_router``, ``register_blueprint``, ``Mount`` and ``app.use`` are followed across the
project's files to the object they mean. A router that nothing mounts has no known path: it is
a near-miss (``ROUTE_UNMOUNTED``), not a guess.
"""

from dataclasses import dataclass

from agentic_os.aggregate.graph.links.code import ProjectCode
from agentic_os.aggregate.graph.links.edges import Account, Place
from agentic_os.aggregate.graph.links.languages.python_names import inner_python_file
from agentic_os.aggregate.graph.links.languages.script_names import inner_file
from agentic_os.code.http_paths import join_paths
from agentic_os.code.layout import is_excluded
from agentic_os.code.values import DEFAULT_EXPORT, Holder, SourceFacts

RULE_HTTP = "R5"
_MAX_PREFIXES_ENTRIES = 16
_MAX_DEPTH_ENTRIES = 8

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRoute:
    """One route with its whole path."""

    methods: tuple[str, ...]
    path: str
    file: str
    line: int
    handler: str


def served_routes(code: ProjectCode, account: Account) -> list[ServedRoute]:
    """Compose a project's routes; routers that nothing mounts are reported to ``account``."""
    reader = _Routes(code)
    return reader.compose(account)


class _Routes:
    def __init__(self, code: ProjectCode) -> None:
        self.code = code
        self.files: dict[str, SourceFacts] = {}
        self.holders: dict[_Key, Holder] = {}
        for family in ("python", "script"):
            for path, facts in code.sources(family):
                if is_excluded(path) or not (facts.holders or facts.routes or facts.mounts):
                    continue
                self.files[path] = facts
                for holder in facts.holders:
                    self.holders[(path, holder.name)] = holder
        self.mounts: dict[_Key, list[tuple[_Key, str]]] = {}
        for path, facts in self.files.items():
            for mount in facts.mounts:
                parent, child = self._object(path, mount.parent), self._object(path, mount.child)
                if parent is not None and child is not None and parent != child:
                    self.mounts.setdefault(child, []).append((parent, mount.prefix))

    def compose(self, account: Account) -> list[ServedRoute]:
        found: dict[ServedRoute, None] = {}
        unmounted: dict[_Key, int] = {}
        for path, facts in self.files.items():
            for route in facts.routes:
                key = self._object(path, route.holder)
                if key is None:
                    continue
                prefixes = self._prefixes(key, 0, frozenset())
                if not prefixes:
                    unmounted.setdefault(key, route.line)
                for prefix in sorted(prefixes):
                    whole = join_paths(prefix, self.holders[key].prefix, route.path)
                    found.setdefault(
                        ServedRoute(
                            methods=route.methods,
                            path=whole,
                            file=path,
                            line=route.line,
                            handler=route.handler,
                        )
                    )
        for (path, name), line in sorted(unmounted.items()):
            node = self.code.nodes.file(path)
            place = Place(code=self.code, path=path, line=line, node=node)
            account.miss(
                place, RULE_HTTP, "ROUTE_UNMOUNTED", name, (), "nothing mounts this router"
            )
        return list(found)

    def _prefixes(self, key: _Key, depth: int, trail: frozenset[_Key]) -> set[str]:
        """Return what stands before a holder's own prefix, once for each way to it."""
        holder = self.holders.get(key)
        if holder is None or depth > _MAX_DEPTH_ENTRIES or key in trail:
            return set()
        found: set[str] = {"/"} if holder.application else set()
        for parent, prefix in self.mounts.get(key, ()):
            above = self._prefixes(parent, depth + 1, trail | {key})
            own = self.holders[parent].prefix if parent in self.holders else "/"
            found |= {join_paths(each, own, prefix) for each in above}
        return set(sorted(found)[:_MAX_PREFIXES_ENTRIES])

    def _object(self, path: str, dotted: str) -> _Key | None:
        """Return the holder that a dotted name of a file means, in whatever file it is."""
        if (path, dotted) in self.holders:
            return (path, dotted)
        if dotted.startswith("require("):
            module, _, member = dotted.removeprefix("require(").partition(")")
            return self._exported(path, module, member or DEFAULT_EXPORT)
        facts = self.files[path]
        root, _, rest = dotted.partition(".")
        for item in facts.imports:
            if item.local != root:
                continue
            if facts.language == "python":
                return self._python(path, item.module, item.member, rest)
            return self._exported(path, item.module, rest or item.member or DEFAULT_EXPORT)
        return None

    def _python(self, path: str, module: str, member: str, rest: str) -> _Key | None:
        names = [name for name in (member, *rest.split(".")) if name]
        for _ in range(_MAX_DEPTH_ENTRIES):
            if not names:
                return None
            target = inner_python_file(self.code, path, module)
            if target is not None and (target, names[0]) in self.holders:
                return (target, names[0])
            if target is not None:
                onward = self._onward(target, names[0])
                if onward is not None:
                    return onward
            joint = "" if module.endswith(".") else "."
            module = f"{module}{joint}{names.pop(0)}"
        return None

    def _onward(self, path: str, name: str) -> _Key | None:
        """Follow one re-export of a Python package: ``from .users import router``."""
        facts = self.code.facts(path)
        for binding in () if facts is None else facts.bindings:
            if binding.name != name or binding.kind != "import" or not binding.member:
                continue
            target = inner_python_file(self.code, path, binding.module)
            if target is not None and (target, binding.member) in self.holders:
                return (target, binding.member)
        return None

    def _exported(self, path: str, module: str, member: str) -> _Key | None:
        target = inner_file(self.code, path, module)
        facts = None if target is None else self.code.facts(target)
        if target is None or facts is None:
            return None
        for binding in facts.bindings:
            if binding.name in {member, DEFAULT_EXPORT} and binding.kind in {"definition", "value"}:
                name = binding.member or binding.name
                wanted = member in (binding.name, DEFAULT_EXPORT)
                if wanted and (target, name) in self.holders:
                    return (target, name)
        return None
