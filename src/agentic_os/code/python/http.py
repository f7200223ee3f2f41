"""HTTP routes, HTTP requests and started programs of one Python file.

Providers: FastAPI, Flask, Starlette. Clients: requests, httpx (functions and client
objects with a base URL). A framework is recognised by what its name was imported from,
never by a bare name. Programs: ``subprocess`` calls with a literal list.
"""

import ast
from dataclasses import dataclass, field

from agentic_os.code.http_paths import Hole, Url, UrlPart, assemble_url, join_paths, route_path
from agentic_os.code.programs import program
from agentic_os.code.python.expressions import dotted_name, string_list, string_of
from agentic_os.code.python.scopes import Scope
from agentic_os.code.values import (
    ANY_METHOD,
    MODULE_SCOPE,
    Holder,
    HttpCall,
    Import,
    Launch,
    Mount,
    Route,
    Symbol,
)

MAX_ROUTES_ENTRIES = 5_000
_MAX_DEPTH_ENTRIES = 8
_MAX_PARTS_ENTRIES = 64
_MAX_WORDS_ENTRIES = 16

_HOLDERS = {
    "fastapi.FastAPI": ("fastapi", True),
    "fastapi.applications.FastAPI": ("fastapi", True),
    "fastapi.APIRouter": ("fastapi", False),
    "fastapi.routing.APIRouter": ("fastapi", False),
    "flask.Flask": ("flask", True),
    "flask.Blueprint": ("flask", False),
    "flask.blueprints.Blueprint": ("flask", False),
    "starlette.applications.Starlette": ("starlette", True),
    "starlette.routing.Router": ("starlette", False),
}
_ROUTE_CALLS = {"starlette.routing.Route", "starlette.routing.WebSocketRoute"}
_MOUNT_CALLS = {"starlette.routing.Mount"}
_CLIENTS = {"httpx.Client", "httpx.AsyncClient", "requests.Session", "requests.session"}
_METHODS = {"get", "post", "put", "patch", "delete", "head", "options"}
_CLIENT_ROOTS = {"requests", "httpx"}
_ENVIRONMENT = {"os.environ.get", "os.getenv", "environ.get"}
_SUBPROCESS = {"run", "Popen", "call", "check_call", "check_output"}
_TRIMMERS = {"rstrip", "lstrip", "strip", "format", "removesuffix"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """A call, the scope it stands in, and the dotted name it is assigned to."""

    call: ast.Call
    scope: Scope
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decorated:
    """A decorator call and the symbol it decorates."""

    call: ast.Call
    handler: int
    scope: Scope


@dataclass(slots=True, kw_only=True)
class HttpReader:
    """Reads the calls of one file; the results stand in its fields."""

    imports: list[Import]
    constants: dict[str, ast.expr]
    symbols: list[Symbol]
    holders: dict[str, Holder] = field(default_factory=dict)
    clients: dict[str, Url] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    mounts: list[Mount] = field(default_factory=list)
    requests: list[HttpCall] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)

    def read(self, calls: list[CallSite], decorated: list[Decorated]) -> None:
        """Read everything: objects first, then what is hung on them or asked of them."""
        for site in calls:
            if site.target:
                self._object(site)
        for name, value in self.constants.items():
            self._route_list(name, value)
        for item in decorated:
            self._decorator(item)
        for site in calls:
            if not site.target:
                self._call(site)
        del self.routes[MAX_ROUTES_ENTRIES:]
        del self.requests[MAX_ROUTES_ENTRIES:]
        del self.launches[MAX_ROUTES_ENTRIES:]

    # -- names -------------------------------------------------------------------------

    def _canonical(self, node: ast.expr, scope: Scope) -> str:
        """Return the imported name that an expression stands for: ``httpx.get``."""
        root, _, rest = dotted_name(node).partition(".")
        behind = scope.imports_of(root, self.imports) if root else ()
        if not behind:
            return ""
        item = self.imports[behind[0]]
        base = f"{item.module}.{item.member}" if item.member else item.binds
        return f"{base}.{rest}" if rest else base

    # -- objects -----------------------------------------------------------------------

    def _object(self, site: CallSite) -> None:
        name = self._canonical(site.call.func, site.scope)
        if name in _HOLDERS:
            framework, application = _HOLDERS[name]
            prefix = _text(site.call, "prefix") or _text(site.call, "url_prefix") or ""
            self.holders[site.target] = Holder(
                site.target,
                framework,
                route_path(prefix, framework),
                site.call.lineno,
                application,
            )
            routes = _argument(site.call, "routes")
            if framework == "starlette" and routes is not None:
                self._routes_of(routes, site.target, site.scope)
        elif name in _CLIENTS:
            base = _argument(site.call, "base_url")
            url = None if base is None else assemble_url(self._parts(base))
            self.clients[site.target] = url or Url("", (), "/")

    def _route_list(self, name: str, value: ast.expr) -> None:
        """Treat a module-level list of Starlette routes as a router of its own."""
        if not isinstance(value, (ast.List, ast.Tuple)):
            return
        scope = Scope(kind="module", parent=None)
        for index, item in enumerate(self.imports):
            if item.local and item.scope == MODULE_SCOPE:
                scope.bind_import(item.local, index)
        before = len(self.routes) + len(self.mounts)
        self._routes_of(value, name, scope)
        if len(self.routes) + len(self.mounts) > before and name not in self.holders:
            self.holders[name] = Holder(name, "starlette", "/", value.lineno, application=False)

    def _routes_of(  # noqa: C901 - a case per node type
        self, node: ast.expr, holder: str, scope: Scope
    ) -> None:
        pending: list[tuple[ast.expr, str, bool]] = [(node, "/", True)]
        while pending and len(self.routes) < MAX_ROUTES_ENTRIES:
            item, prefix, is_list = pending.pop()
            match item:
                case ast.List(elts=elements) | ast.Tuple(elts=elements):
                    pending.extend((element, prefix, False) for element in elements)
                case ast.BinOp(left=left, op=ast.Add(), right=right):
                    pending.extend(((left, prefix, True), (right, prefix, True)))
                case ast.Starred(value=value):
                    pending.append((value, prefix, True))
                case ast.Name(id=name) if is_list:
                    self.mounts.append(Mount(holder, name, prefix, item.lineno))
                case ast.Call():
                    name = self._canonical(item.func, scope)
                    path = _text(item, "path", 0)
                    if path is None:
                        continue
                    whole = join_paths(prefix, route_path(path, "starlette"))
                    if name in _ROUTE_CALLS:
                        self._starlette_route(item, holder, whole)
                    elif name in _MOUNT_CALLS:
                        inner = _argument(item, "routes") or _argument(item, "app", 1)
                        if isinstance(inner, (ast.List, ast.Tuple, ast.BinOp)):
                            pending.append((inner, whole, True))
                        elif dotted_name(inner):
                            self.mounts.append(
                                Mount(holder, dotted_name(inner), whole, item.lineno)
                            )
                case _:
                    continue

    def _starlette_route(self, call: ast.Call, holder: str, path: str) -> None:
        methods = string_list(_argument(call, "methods")) or ["GET"]
        handler = dotted_name(_argument(call, "endpoint", 1))
        self.routes.append(Route(holder, _upper(methods), path, call.lineno, handler))

    # -- routes ------------------------------------------------------------------------

    def _decorator(self, item: Decorated) -> None:
        holder, _, verb = dotted_name(item.call.func).rpartition(".")
        known = self.holders.get(holder)
        root = holder.partition(".")[0]
        if not holder or (known is None and not item.scope.imports_of(root, self.imports)):
            return
        handler = self.symbols[item.handler].qualname
        path = _text(item.call, "path", 0) or _text(item.call, "rule")
        if path is None or (known is None and not path.startswith("/")):
            return
        self._route(item.call, holder, verb, path, handler)

    def _route(self, call: ast.Call, holder: str, verb: str, path: str, handler: str) -> None:
        known = self.holders.get(holder)
        methods: tuple[str, ...]
        if verb in _METHODS:
            methods = (verb.upper(),)
        elif verb in {"route", "api_route", "add_api_route", "add_url_rule", "add_route"}:
            methods = _upper(string_list(_argument(call, "methods")) or ["GET"])
        else:
            return
        style = known.framework if known else "flask" if "<" in path else "fastapi"
        self.routes.append(Route(holder, methods, route_path(path, style), call.lineno, handler))

    def _call(self, site: CallSite) -> None:
        call = site.call
        owner, _, verb = dotted_name(call.func).rpartition(".")
        name = self._canonical(call.func, site.scope)
        match verb:
            case "include_router" | "register_blueprint":
                child = dotted_name(call.args[0] if call.args else None)
                prefix = _text(call, "prefix") or _text(call, "url_prefix") or ""
                if child:
                    self.mounts.append(
                        Mount(owner, child, route_path(prefix, "fastapi"), call.lineno)
                    )
            case "mount" if owner in self.holders:
                prefix = _text(call, "path", 0) or ""
                child = dotted_name(_argument(call, "app", 1))
                if child:
                    self.mounts.append(
                        Mount(owner, child, route_path(prefix, "starlette"), call.lineno)
                    )
            case "add_api_route" | "add_url_rule" | "add_route" if owner in self.holders:
                path = _text(call, "path", 0) or _text(call, "rule")
                handler = _argument(call, "view_func") or _argument(call, "endpoint", 1)
                if path is not None:
                    self._route(call, owner, verb, path, dotted_name(handler))
            case _:
                self._client_call(site, owner, verb, name)

    # -- clients -----------------------------------------------------------------------

    def _client_call(self, site: CallSite, owner: str, verb: str, name: str) -> None:
        call = site.call
        root, _, rest = name.partition(".")
        base: Url | None = None
        if root == "subprocess" and rest in _SUBPROCESS:
            self._launch(site)
            return
        if owner in self.clients:
            base = self.clients[owner]
        elif root not in _CLIENT_ROOTS or "." in rest:
            return
        else:
            verb = rest
        position = 0
        method = verb.upper()
        if verb in {"request", "stream"}:
            method = (_text(call, "method", 0) or ANY_METHOD).upper()
            position = 1
        elif verb not in _METHODS:
            return
        where = _argument(call, "url", position)
        if where is None:
            return
        url = assemble_url(self._parts(where), base)
        if url is not None:
            self.requests.append(
                HttpCall(method, url.host, url.names, url.path, call.lineno, site.scope.symbol)
            )

    def _launch(self, site: CallSite) -> None:
        first = _argument(site.call, "args", 0)
        if not isinstance(first, (ast.List, ast.Tuple)):
            return
        words = [string_of(element) or "" for element in first.elts[:_MAX_WORDS_ENTRIES]]
        name, kind = program(words) if words and words[0] else ("", "command")
        if name:
            self.launches.append(Launch(name, kind, site.call.lineno, site.scope.symbol))

    def _parts(  # noqa: C901 - a case per node type
        self, node: ast.expr
    ) -> list[UrlPart]:
        """Flatten an expression that computes a URL into literals and holes."""
        parts: list[UrlPart] = []
        pending: list[tuple[ast.expr, int]] = [(node, 0)]
        while pending and len(parts) < _MAX_PARTS_ENTRIES:
            item, depth = pending.pop()
            if depth > _MAX_DEPTH_ENTRIES:
                parts.append(Hole(""))
                continue
            match item:
                case ast.Constant(value=str() as text):
                    parts.append(text)
                case ast.JoinedStr(values=values):
                    pending.extend((value, depth + 1) for value in reversed(values))
                case ast.FormattedValue(value=value):
                    pending.append((value, depth + 1))
                case ast.BinOp(left=left, op=ast.Add(), right=right):
                    pending.extend(((right, depth + 1), (left, depth + 1)))
                case ast.Name(id=name):
                    parts.extend(self._constant(name, depth))
                case ast.Attribute():
                    parts.append(Hole(dotted_name(item).rpartition(".")[2]))
                case ast.Subscript(value=value, slice=key):
                    named = dotted_name(value).endswith("environ")
                    parts.append(Hole((string_of(key) or "") if named else ""))
                case ast.Call():
                    self._computed(item, depth, parts, pending)
                case _:
                    parts.append(Hole(""))
        return parts

    def _constant(self, name: str, depth: int) -> list[UrlPart]:
        """Follow a module-level constant one step: its text, or its environment lookup."""
        value = self.constants.get(name)
        if value is None or depth >= _MAX_DEPTH_ENTRIES:
            return [Hole(name)]
        text = string_of(value)
        if text is not None:
            return [Hole(name, text)]
        if isinstance(value, ast.Call) and dotted_name(value.func) in _ENVIRONMENT:
            variable = string_of(value.args[0] if value.args else None) or name
            return [Hole(variable, string_of(_argument(value, "default", 1)) or "")]
        if isinstance(value, ast.Subscript):
            return [Hole(string_of(value.slice) or name)]
        return [Hole(name)]

    def _computed(
        self,
        call: ast.Call,
        depth: int,
        parts: list[UrlPart],
        pending: list[tuple[ast.expr, int]],
    ) -> None:
        name = dotted_name(call.func)
        if name in _ENVIRONMENT:
            variable = string_of(call.args[0] if call.args else None) or ""
            parts.append(Hole(variable, string_of(_argument(call, "default", 1)) or ""))
        elif name.rpartition(".")[2] == "urljoin" and len(call.args) > 1:
            pending.extend(((call.args[1], depth + 1), (call.args[0], depth + 1)))
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _TRIMMERS:
            pending.append((call.func.value, depth + 1))
        else:
            parts.append(Hole(""))


def _argument(call: ast.Call, keyword: str, position: int | None = None) -> ast.expr | None:
    for item in call.keywords:
        if item.arg == keyword:
            return item.value
    if position is not None and position < len(call.args):
        return call.args[position]
    return None


def _text(call: ast.Call, keyword: str, position: int | None = None) -> str | None:
    return string_of(_argument(call, keyword, position))


def _upper(methods: list[str]) -> tuple[str, ...]:
    return tuple(sorted({method.upper() for method in methods}))
