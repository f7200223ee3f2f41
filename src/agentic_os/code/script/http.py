"""HTTP routes, HTTP requests and started programs of one JavaScript or TypeScript file.

Providers: Express applications and routers. Clients: ``fetch`` (the global one or an
imported one) and axios with its instances. Programs: ``child_process`` calls.
"""

from dataclasses import dataclass, field

from tree_sitter import Node

from agentic_os.code.http_paths import Hole, Url, UrlPart, assemble_url, route_path
from agentic_os.code.programs import program
from agentic_os.code.python.scopes import Scope
from agentic_os.code.script.nodes import (
    arguments_of,
    member_chain,
    property_of,
    required_module,
    string_value,
)
from agentic_os.code.syntax import line_of, text_of
from agentic_os.code.values import ANY_METHOD, Holder, HttpCall, Import, Launch, Mount, Route

MAX_ROUTES_ENTRIES = 5_000
_MAX_DEPTH_ENTRIES = 8
_MAX_PARTS_ENTRIES = 64
_PAIR_ENTRIES = 2
_MAX_WORDS_ENTRIES = 16

_METHODS = {"get", "post", "put", "patch", "delete", "head", "options"}
_ROUTE_VERBS = _METHODS | {"all"}
_FETCHES = {"node-fetch", "cross-fetch", "undici", "isomorphic-fetch"}
_SPAWNS = {"spawn", "spawnSync", "execFile", "execFileSync"}
_PROCESS_MODULES = {"child_process", "node:child_process"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCall:
    """A call, where it stands, and the name it is assigned to."""

    node: Node
    scope: Scope
    symbol: int
    target: str


@dataclass(slots=True, kw_only=True)
class ScriptHttpReader:
    """Reads the calls of one file; the results stand in its fields."""

    imports: list[Import]
    constants: dict[str, Node]
    module: Scope
    holders: dict[str, Holder] = field(default_factory=dict)
    clients: dict[str, Url] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    mounts: list[Mount] = field(default_factory=list)
    requests: list[HttpCall] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)

    def read(self, calls: list[ScriptCall]) -> None:
        """Read everything: objects first, then what is hung on them or asked of them."""
        for call in calls:
            if call.target:
                self._object(call)
        for call in calls:
            self._call(call)
        del self.routes[MAX_ROUTES_ENTRIES:]
        del self.requests[MAX_ROUTES_ENTRIES:]
        del self.launches[MAX_ROUTES_ENTRIES:]

    def _source(self, name: str, scope: Scope) -> tuple[str, str]:
        """Return the module and the member that a local name was imported from."""
        behind = scope.imports_of(name, self.imports)
        if not behind:
            return "", ""
        item = self.imports[behind[0]]
        return item.module, item.member

    def _object(self, call: ScriptCall) -> None:
        chain = member_chain(call.node.child_by_field_name("function"))
        if not chain and call.node.child_by_field_name("function") is not None:
            chain = [text_of(call.node.child_by_field_name("function"))]
        module, member = self._source(chain[0], call.scope) if chain else ("", "")
        line = line_of(call.node)
        if module == "express":
            application = len(chain) == 1 and member in {"", "default"}
            router = chain[1:] == ["Router"] or (len(chain) == 1 and member == "Router")
            if application or router:
                self.holders[call.target] = Holder(call.target, "express", "/", line, application)
        elif module == "axios" and chain[1:] == ["create"]:
            arguments = arguments_of(call.node)
            base = property_of(arguments[0] if arguments else None, "baseURL")
            url = None if base is None else assemble_url(self._parts(base))
            self.clients[call.target] = url or Url("", (), "/")

    def _call(self, call: ScriptCall) -> None:
        function = call.node.child_by_field_name("function")
        if function is None:
            return
        arguments = arguments_of(call.node)
        if function.type == "member_expression":
            self._chained_route(call, function, arguments)
        chain = member_chain(function) or (
            [text_of(function)] if function.type == "identifier" else []
        )
        if not chain:
            return
        owner, verb = ".".join(chain[:-1]), chain[-1]
        if owner in self.holders:
            self._hang(call, owner, verb, arguments)
            return
        module, member = self._source(chain[0], call.scope)
        if module in _PROCESS_MODULES and (verb in _SPAWNS or member in _SPAWNS):
            self._launch(call, arguments)
        elif self._is_fetch(chain, module, call.scope):
            self._fetch(call, arguments)
        elif owner in self.clients:
            self._axios(call, verb, arguments, self.clients[owner])
        elif chain[0] in self.clients and len(chain) == 1:
            self._axios(call, "", arguments, self.clients[chain[0]])
        elif module == "axios" and member in {"", "default"} and len(chain) <= _PAIR_ENTRIES:
            self._axios(call, verb if owner else "", arguments, None)

    # -- routes ------------------------------------------------------------------------

    def _hang(self, call: ScriptCall, owner: str, verb: str, arguments: list[Node]) -> None:
        line = line_of(call.node)
        first = string_value(arguments[0]) if arguments else ""
        if verb in _ROUTE_VERBS and first and len(arguments) > 1:
            method = ANY_METHOD if verb == "all" else verb.upper()
            handler = text_of(arguments[-1]) if arguments[-1].type == "identifier" else ""
            self.routes.append(Route(owner, (method,), route_path(first, "express"), line, handler))
        elif verb == "use":
            prefix = route_path(first, "express") if first else "/"
            for argument in arguments:
                module, member = required_module(argument)
                if module:
                    self.mounts.append(Mount(owner, f"require({module}){member}", prefix, line))
                elif argument.type == "identifier" or member_chain(argument):
                    self.mounts.append(Mount(owner, text_of(argument), prefix, line))

    def _chained_route(self, call: ScriptCall, function: Node, arguments: list[Node]) -> None:
        """Read ``router.route("/x").get(handler).post(handler)``."""
        verb = text_of(function.child_by_field_name("property"))
        if verb not in _ROUTE_VERBS:
            return
        inner = function.child_by_field_name("object")
        steps = 0
        while inner is not None and inner.type == "call_expression" and steps < _MAX_DEPTH_ENTRIES:
            steps += 1
            called = inner.child_by_field_name("function")
            chain = member_chain(called)
            if len(chain) == _PAIR_ENTRIES and chain[1] == "route" and chain[0] in self.holders:
                given = arguments_of(inner)
                path = string_value(given[0]) if given else ""
                handler = arguments[-1] if arguments else None
                name = (
                    text_of(handler) if handler is not None and handler.type == "identifier" else ""
                )
                if path:
                    method = ANY_METHOD if verb == "all" else verb.upper()
                    self.routes.append(
                        Route(
                            chain[0],
                            (method,),
                            route_path(path, "express"),
                            line_of(call.node),
                            name,
                        )
                    )
                return
            inner = None if called is None else called.child_by_field_name("object")

    # -- clients -----------------------------------------------------------------------

    def _is_fetch(self, chain: list[str], module: str, scope: Scope) -> bool:
        if chain in (["window", "fetch"], ["globalThis", "fetch"]):
            return True
        if len(chain) != 1:
            return False
        if module:
            return module in _FETCHES
        return chain == ["fetch"] and not _is_bound("fetch", scope)

    def _fetch(self, call: ScriptCall, arguments: list[Node]) -> None:
        if not arguments:
            return
        method = "GET"
        options = arguments[1] if len(arguments) > 1 else None
        if options is not None:
            given = property_of(options, "method")
            if given is not None:
                method = string_value(given).upper() or ANY_METHOD
            elif options.type != "object":
                method = ANY_METHOD
        self._request(call, method, arguments[0], None)

    def _axios(self, call: ScriptCall, verb: str, arguments: list[Node], base: Url | None) -> None:
        first = arguments[0] if arguments else None
        if first is None:
            return
        if verb in _METHODS:
            self._request(call, verb.upper(), first, base)
        elif verb in {"", "request"}:
            where = property_of(first, "url") if first.type == "object" else first
            options = (
                first if first.type == "object" else arguments[1] if len(arguments) > 1 else None
            )
            method = string_value(property_of(options, "method")).upper() or "GET"
            if where is not None:
                self._request(call, method, where, base)

    def _request(self, call: ScriptCall, method: str, where: Node, base: Url | None) -> None:
        url = assemble_url(self._parts(where), base)
        if url is not None:
            self.requests.append(
                HttpCall(method, url.host, url.names, url.path, line_of(call.node), call.symbol)
            )

    def _launch(self, call: ScriptCall, arguments: list[Node]) -> None:
        command = string_value(arguments[0]) if arguments else ""
        if not command:
            return
        words = [command]
        if len(arguments) > 1 and arguments[1].type == "array":
            listed = arguments[1].named_children[:_MAX_WORDS_ENTRIES]
            words += [string_value(item) for item in listed]
        name, kind = program(words)
        if name:
            self.launches.append(Launch(name, kind, line_of(call.node), call.symbol))

    # -- URLs --------------------------------------------------------------------------

    def _parts(  # noqa: C901 - a case per node type
        self, node: Node
    ) -> list[UrlPart]:
        parts: list[UrlPart] = []
        pending: list[tuple[Node, int]] = [(node, 0)]
        while pending and len(parts) < _MAX_PARTS_ENTRIES:
            item, depth = pending.pop()
            if depth > _MAX_DEPTH_ENTRIES:
                parts.append(Hole(""))
            elif item.type == "string":
                parts.append(string_value(item))
            elif item.type == "string_fragment":
                parts.append(text_of(item))
            elif item.type in {"template_string", "template_substitution"}:
                pending.extend((child, depth + 1) for child in reversed(item.named_children))
            elif item.type == "parenthesized_expression":
                pending.extend((child, depth + 1) for child in item.named_children)
            elif item.type == "binary_expression":
                self._binary(item, depth, parts, pending)
            elif item.type == "new_expression" and len(arguments_of(item)) == _PAIR_ENTRIES:
                path, base = arguments_of(item)
                pending.extend(((path, depth + 1), (base, depth + 1)))
            elif item.type == "identifier":
                parts.extend(self._constant(text_of(item), depth))
            elif item.type == "member_expression":
                parts.append(Hole(text_of(item.child_by_field_name("property"))))
            else:
                parts.append(Hole(""))
        return parts

    def _binary(
        self, item: Node, depth: int, parts: list[UrlPart], pending: list[tuple[Node, int]]
    ) -> None:
        left, right = item.child_by_field_name("left"), item.child_by_field_name("right")
        operator = text_of(item.child_by_field_name("operator"))
        if left is None or right is None:
            return
        if operator == "+":
            pending.extend(((right, depth + 1), (left, depth + 1)))
        elif operator in {"||", "??"}:
            parts.append(Hole(_last_name(left), string_value(right)))
        else:
            parts.append(Hole(""))

    def _constant(self, name: str, depth: int) -> list[UrlPart]:
        value = self.constants.get(name)
        if value is None or depth >= _MAX_DEPTH_ENTRIES:
            return [Hole(name)]
        text = string_value(value)
        if text:
            return [Hole(name, text)]
        if value.type == "binary_expression":
            left, right = value.child_by_field_name("left"), value.child_by_field_name("right")
            if left is not None and right is not None:
                return [Hole(_last_name(left) or name, string_value(right))]
        if value.type == "member_expression":
            return [Hole(_last_name(value) or name)]
        return [Hole(name)]


def _last_name(node: Node) -> str:
    if node.type == "member_expression":
        return text_of(node.child_by_field_name("property"))
    return text_of(node) if node.type == "identifier" else ""


def _is_bound(name: str, scope: Scope) -> bool:
    current: Scope | None = scope
    while current is not None:
        if name in current.bound:
            return True
        current = current.parent
    return False
