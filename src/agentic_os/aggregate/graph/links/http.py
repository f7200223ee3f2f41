"""R5: an HTTP request of one project meets a route of exactly one other.

Path templates are compared segment by segment, methods must agree. What the request names as
its host decides: a host or variable that names the provider binds it (0.85); a host or
variable that names something else refuses it; with neither, only a path of two or more telling
segments that one project alone serves is linked (0.55). Paths that every service has
(``/health``) never link.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_os.aggregate.graph.links.code import CodeNode, ProjectCode
from agentic_os.aggregate.graph.links.edges import (
    MAX_CANDIDATES_ENTRIES,
    STUB_ONLY,
    UNDECLARED,
    UNSURE,
    Account,
    Goal,
    Place,
)
from agentic_os.aggregate.graph.links.routes import ServedRoute, served_routes
from agentic_os.code.http_paths import ANY_REST, ONE_SEGMENT
from agentic_os.code.layout import is_excluded
from agentic_os.code.values import ANY_METHOD, HttpCall

RULE_HTTP = "R5"

_GENERIC_PATHS = frozenset(
    {"/", "/docs", "/favicon.ico", "/graphql", "/health", "/healthz", "/index.html", "/live"}
    | {"/livez", "/login", "/logout", "/metrics", "/openapi.json", "/ping", "/ready", "/readyz"}
    | {"/register", "/robots.txt", "/signup", "/status", "/token", "/version"}
)
_HOLLOW_SEGMENTS = frozenset({"api", "rest", "v1", "v2", "v3", "v4", "public", "internal"})
_TELLING_SEGMENTS = 2
_NEUTRAL_HOSTS = frozenset(
    {"", "localhost", "127.0.0.1", "0.0.0.0", "[", "host.docker.internal"}  # noqa: S104 - compared
)
_NEUTRAL_WORDS = frozenset(
    {"addr", "address", "api", "app", "backend", "base", "client", "default", "endpoint", "env"}
    | {"host", "hostname", "http", "https", "next", "origin", "port", "prefix", "public"}
    | {"react", "root", "self", "server", "service", "settings", "svc", "target", "test"}
    | {"uri", "url", "v1", "v2", "vite", "nuxt", "config", "local", "remote", "internal"}
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    code: ProjectCode
    route: ServedRoute


def http_edges(codes: Sequence[ProjectCode], account: Account) -> None:
    """Derive R5 for every request in every project's sources."""
    rule = _Http(codes, account)
    for code in codes:
        for family in ("python", "script"):
            for path, facts in code.sources(family):
                if not facts.calls or is_excluded(path):
                    continue
                for call in facts.calls:
                    node = code.user_node(path, facts, call.scope)
                    place = Place(code=code, path=path, line=call.line, node=node)
                    rule.request(place, call)


class _Http:
    def __init__(self, codes: Sequence[ProjectCode], account: Account) -> None:
        self.account = account
        self.served: list[tuple[ProjectCode, list[ServedRoute]]] = []
        self.names: dict[str, frozenset[str]] = {}
        for code in codes:
            routes = served_routes(code, account)
            self.names[code.project] = service_names(code)
            if routes:
                self.served.append((code, routes))

    def request(  # noqa: C901, PLR0911 - one refusal after the other
        self, place: Place, call: HttpCall
    ) -> None:
        """Link one request."""
        found: list[_Provider] = []
        own = False
        for code, routes in self.served:
            route = best_route(call, routes)
            if route is None:
                continue
            if code is place.code:
                own = True
            else:
                found.append(_Provider(code=code, route=route))
        if not found:
            return
        subject = f"{call.method} {call.path}"
        if is_generic(call.path):
            self._miss(place, "GENERIC_PATH", subject, found, "every service has that path")
            return
        bound = [item for item in found if self._is_bound(call, item.code)]
        if bound:
            self._link(place, subject, bound, bound_to=True)
            return
        host = call.host.partition(":")[0]
        if host not in _NEUTRAL_HOSTS:
            self._miss(place, "HOST_UNBOUND", subject, found, f"the host {host} names none of them")
            return
        telling = [word for word in map(telling_word, call.names) if word]
        if telling:
            self._miss(
                place, "HOST_OTHER", subject, found, f"the base {telling[0]} names none of them"
            )
            return
        if own:
            self._miss(
                place, "LOCAL_SHADOW", subject, found, "this project serves that path itself"
            )
            return
        if telling_segments(call.path) < _TELLING_SEGMENTS:
            self._miss(place, "PATH_TOO_COMMON", subject, found, "nothing but a short path agrees")
            return
        self._link(place, subject, found, bound_to=False)

    def _is_bound(self, call: HttpCall, code: ProjectCode) -> bool:
        names = self.names[code.project]
        host = call.host.partition(":")[0].partition(".")[0]
        if host and bare_service(host) in names:
            return True
        return any(bare_service(telling_word(name)) in names for name in call.names if name)

    def _link(self, place: Place, subject: str, found: list[_Provider], *, bound_to: bool) -> None:
        certain = len(found) == 1
        if not certain:
            self._miss(place, "SEVERAL_PROVIDERS", subject, found, "several serve that path")
        verdict = UNSURE if not certain else UNDECLARED if bound_to else STUB_ONLY
        for item in found[:MAX_CANDIDATES_ENTRIES]:
            path, line, node = _handler(item)
            self.account.link(
                place,
                Goal(code=item.code, path=path, line=line, node=node),
                relation="calls",
                rule=RULE_HTTP,
                verdict=verdict,
                detail=f"{subject} -> {item.route.path}",
            )

    def _miss(
        self, place: Place, code: str, subject: str, found: list[_Provider], detail: str
    ) -> None:
        self.account.miss(place, RULE_HTTP, code, subject, [item.code for item in found], detail)


def _handler(item: _Provider) -> tuple[str, int, CodeNode | None]:
    route, code = item.route, item.code
    name = route.handler.rpartition(".")[2]
    if name:
        facts = code.facts(route.file)
        for symbol in () if facts is None else facts.symbols:
            if symbol.name == name:
                node = code.nodes.symbol(route.file, name, symbol.start)
                if node is not None:
                    return route.file, symbol.start, node
    return route.file, route.line, code.nodes.file(route.file)


def best_route(call: HttpCall, routes: Sequence[ServedRoute]) -> ServedRoute | None:
    """Return the route that serves a request: the one with the most literal segments."""
    best: tuple[int, ServedRoute] | None = None
    for route in routes:
        agrees = ANY_METHOD in (call.method, *route.methods) or call.method in route.methods
        literal = matching_segments(call.path, route.path) if agrees else None
        if literal and (best is None or literal > best[0]):
            best = (literal, route)
    return None if best is None else best[1]


def matching_segments(path: str, template: str) -> int | None:
    """Count the literal segments in which a request's path and a route agree.

    ``None`` where they do not match. A computed segment of the request meets only a
    parameter of the route: what it will be is not known.
    """
    wanted = [part for part in path.split("/") if part]
    offered = [part for part in template.split("/") if part]
    literal = 0
    for position, part in enumerate(offered):
        if part == ANY_REST:
            return literal if literal and len(wanted) > position else None
        if position >= len(wanted):
            return None
        if part == ONE_SEGMENT:
            continue
        if part != wanted[position]:
            return None
        literal += 1
    return literal if len(wanted) == len(offered) else None


def is_generic(path: str) -> bool:
    """Whether any service may have that path, or nothing of it is literal."""
    parts = [part for part in path.lower().split("/") if part]
    bare = [part for part in parts if part not in _HOLLOW_SEGMENTS]
    if not any(part not in {ONE_SEGMENT, ANY_REST} for part in bare):
        return True
    return "/" + "/".join(bare) in _GENERIC_PATHS


def telling_segments(path: str) -> int:
    """Count the literal segments that are not mere prefixes such as ``api`` and ``v1``."""
    return sum(
        1
        for part in path.lower().split("/")
        if part and part not in {ONE_SEGMENT, ANY_REST} and part not in _HOLLOW_SEGMENTS
    )


def telling_word(name: str) -> str:
    """Return what a variable's name says about a service: ``USERS_API_URL`` is ``users``."""
    words = [word.lower() for word in _WORDS.findall(name)]
    return "-".join(word for word in words if word not in _NEUTRAL_WORDS)


def bare_service(name: str) -> str:
    """Drop what names of services end in: ``users-service`` is ``users``."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return re.sub(r"-(service|svc|api|server|backend)$", "", plain)


def service_names(code: ProjectCode) -> frozenset[str]:
    """Return every name by which a request may mean this project."""
    names = {bare_service(name) for name in code.names}
    names |= {bare_service(name.rpartition("/")[2]) for _, name in code.packages}
    return frozenset(name for name in names if name and name not in _NEUTRAL_WORDS)
