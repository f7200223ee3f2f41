"""What the host does for a guest once it may: keys and values, requests, proposals, questions."""

import base64
import time
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from agentic_os.network.rates import TokenBuckets
from agentic_os.plugins import strict_json
from agentic_os.plugins.rights.ports import (
    FleetReader,
    HttpEgress,
    OperationFailed,
    Outgoing,
    Proposals,
)

KEY_BYTES: Final = 256
VALUE_BYTES: Final = 64 * 1024
KEYS: Final = 256
STORE_BYTES: Final = 1024 * 1024
ANSWER_BYTES: Final = 768 * 1024
REQUESTS_A_MINUTE: Final = 16
USUAL_SECONDS, MOST_SECONDS = 10.0, 60.0
OBSERVATIONS: Final = 16
OBSERVATION_CHARS: Final = 2_400
FLEET_BYTES: Final = 16 * 1024
FLEET_HITS: Final = 10
URL_CHARS: Final = 2_000
HTTPS_PORT: Final = 443

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
_FETCH_ARGUMENTS = frozenset({"url", "headers", "timeout_ms"})
_REQUEST_ARGUMENTS = _FETCH_ARGUMENTS | {"method", "body"}
_PRIVATE_HEADERS = frozenset({"host", "connection", "content-length", "transfer-encoding"})

KeyValues = MutableMapping[str, str]


@dataclass(slots=True)
class Effects:
    """The effects that one plugin may have; who may have them is decided before.

    Attributes:
        kept: the plugin's keys and values.
        egress: the way out.
        fleet: the fleet's answers.
        proposals: the queue of the person.
        plugin: the plugin's id.
    """

    plugin: str
    kept: KeyValues
    egress: HttpEgress
    fleet: FleetReader
    proposals: Proposals
    rates: TokenBuckets = field(
        default_factory=lambda: TokenBuckets(limit=REQUESTS_A_MINUTE, clock=time.monotonic)
    )

    def perform(self, operation: str, target: object, arguments: object) -> Any:
        """Do one operation and return its result.

        Raises:
            OperationFailed: it could not be done; the reason is the format's.
        """
        given = arguments if isinstance(arguments, dict) else {}
        given = {key: value for key, value in given.items() if not key.startswith("_host")}
        return _PERFORMERS[operation](self, target, given)

    def _get(self, _target: object, given: Mapping[str, Any]) -> dict[str, Any]:
        key = _key(given)
        if key not in self.kept:
            raise OperationFailed("KV_NOT_FOUND", "there is no such key")
        return {"key": key, "value": self.kept[key]}

    def _put(self, _target: object, given: Mapping[str, Any]) -> dict[str, Any]:
        key, value = _key(given), _text(given, "value")
        size = len(value.encode())
        if size > VALUE_BYTES:
            raise OperationFailed("KV_VALUE_TOO_LARGE", f"{size} bytes, at most {VALUE_BYTES}")
        others = {name: held for name, held in self.kept.items() if name != key}
        held = sum(len(name.encode()) + len(one.encode()) for name, one in others.items())
        if len(others) >= KEYS or held + size + len(key.encode()) > STORE_BYTES:
            raise OperationFailed(
                "KV_QUOTA_EXCEEDED", f"at most {KEYS} keys and {STORE_BYTES} bytes"
            )
        self.kept[key] = value
        return {"key": key}

    def _delete(self, _target: object, given: Mapping[str, Any]) -> dict[str, Any]:
        key = _key(given)
        if self.kept.pop(key, None) is None:
            raise OperationFailed("KV_NOT_FOUND", "there is no such key")
        return {"key": key}

    def _list(self, _target: object, given: Mapping[str, Any]) -> dict[str, Any]:
        prefix = given.get("prefix", "")
        if not isinstance(prefix, str):
            raise _argument("prefix")
        return {"keys": sorted(key for key in self.kept if key.startswith(prefix))}

    def _fetch(self, target: object, given: Mapping[str, Any]) -> dict[str, Any]:
        return self._ask(target, {"method": "GET", **given}, _FETCH_ARGUMENTS | {"method"})

    def _request(self, target: object, given: Mapping[str, Any]) -> dict[str, Any]:
        return self._ask(target, given, _REQUEST_ARGUMENTS)

    def _ask(
        self, target: object, given: Mapping[str, Any], known: frozenset[str]
    ) -> dict[str, Any]:
        unknown = sorted(given.keys() - known)
        if unknown:
            raise OperationFailed("NET_UNKNOWN_ARGUMENT", f"{unknown[0]} is not known")
        request = _outgoing(target, given)
        if self.rates.take(self.plugin):
            raise OperationFailed(
                "NET_REMOTE_OUTCOME_FAILED", f"more than {REQUESTS_A_MINUTE} requests a minute"
            )
        answer = self.egress.fetch(request)
        try:
            body: dict[str, Any] = {"body": answer.body.decode("utf-8")}
        except UnicodeDecodeError:
            body = {"body_base64": base64.b64encode(answer.body).decode("ascii")}
        return {"status": answer.status, "headers": dict(answer.headers)} | body

    def _observe(self, _target: object, given: Mapping[str, Any]) -> dict[str, Any]:
        texts = given.get("observations")
        if (
            not isinstance(texts, list)
            or not 1 <= len(texts) <= OBSERVATIONS
            or not all(isinstance(one, str) and one.strip() for one in texts)
            or any(len(one) > OBSERVATION_CHARS for one in texts)
        ):
            raise OperationFailed(
                "OPERATION_ARGUMENT_INVALID",
                f"observations: 1 to {OBSERVATIONS} texts, each of at most {OBSERVATION_CHARS}"
                " characters",
            )
        return {"taken": self.proposals.propose(self.plugin, texts)}

    def _search(self, _target: object, given: Mapping[str, Any]) -> dict[str, Any]:
        limit = given.get("limit", FLEET_HITS)
        if not isinstance(limit, int) or not 1 <= limit <= FLEET_HITS:
            raise _argument("limit")
        hits = list(self.fleet.search(_text(given, "query"), limit))
        while hits and len(strict_json.encode(hits)) > FLEET_BYTES:
            hits.pop()
        return {"hits": hits}

    def _read_memory(self, _target: object, given: Mapping[str, Any]) -> dict[str, Any]:
        fact = self.fleet.read_memory(_text(given, "project"), _text(given, "fact"))
        if fact is None:
            raise OperationFailed("OPERATION_TARGET_INVALID", "there is no such fact")
        if len(strict_json.encode(fact)) > FLEET_BYTES:
            raise OperationFailed("OPERATION_TARGET_INVALID", "the fact is too long")
        return dict(fact)


_PERFORMERS: Final[Mapping[str, Callable[[Effects, object, Mapping[str, Any]], Any]]] = {
    "kv.get": Effects._get,  # noqa: SLF001 - the table of this class's own steps
    "kv.put": Effects._put,  # noqa: SLF001
    "kv.delete": Effects._delete,  # noqa: SLF001
    "kv.list": Effects._list,  # noqa: SLF001
    "web.fetch": Effects._fetch,  # noqa: SLF001
    "network.request": Effects._request,  # noqa: SLF001
    "agent.observe": Effects._observe,  # noqa: SLF001
    "fleet.search": Effects._search,  # noqa: SLF001
    "fleet.read_memory": Effects._read_memory,  # noqa: SLF001
}


def target_of(target: object, arguments: object) -> tuple[str, int] | None:
    """Return host and port of the URL that a call names, as target or as argument.

    >>> target_of("https://example.org/a", {}), target_of("ftp://example.org", {})
    (('example.org', 443), None)
    """
    url = target if isinstance(target, str) else None
    if url is None and isinstance(arguments, dict):
        url = arguments.get("url")
    if not isinstance(url, str) or len(url) > URL_CHARS:
        return None
    try:
        parts = urlsplit(url)
        port = parts.port or HTTPS_PORT
    except ValueError:
        return None
    host = parts.hostname
    if parts.scheme != "https" or not host or parts.username is not None or not url.isascii():
        return None
    return host, port


def _outgoing(target: object, given: Mapping[str, Any]) -> Outgoing:
    place = target_of(target, given)
    if place is None:
        raise OperationFailed("OPERATION_TARGET_INVALID", "the target is no https address")
    method, body = given.get("method", "GET"), given.get("body", "")
    headers, wait = given.get("headers", {}), given.get("timeout_ms", USUAL_SECONDS * 1000)
    if method not in _METHODS:
        raise _argument("method")
    if not isinstance(body, str):
        raise _argument("body")
    if not isinstance(headers, dict) or not all(map(_is_header, headers.items())):
        raise _argument("headers")
    if isinstance(wait, bool) or not isinstance(wait, int | float) or wait <= 0:
        raise _argument("timeout_ms")
    if wait > MOST_SECONDS * 1000:
        raise OperationFailed("NET_TIMEOUT_LIMIT_EXCEEDED", f"at most {MOST_SECONDS:.0f} seconds")
    parts = urlsplit(target if isinstance(target, str) else given["url"])
    path = parts.path or "/"
    return Outgoing(
        method=method,
        host=place[0],
        port=place[1],
        path=f"{path}?{parts.query}" if parts.query else path,
        headers=headers,
        body=body.encode(),
        seconds=wait / 1000,
    )


def _is_header(item: tuple[object, object]) -> bool:
    name, value = item
    return (
        isinstance(name, str)
        and isinstance(value, str)
        and name.replace("-", "").isalnum()
        and name.isascii()
        and name.lower() not in _PRIVATE_HEADERS
        and value.isascii()
        and value.isprintable()
    )


def _key(given: Mapping[str, Any]) -> str:
    key = _text(given, "key")
    if not key or len(key.encode()) > KEY_BYTES:
        raise _argument("key")
    return key


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise _argument(name)
    return value


def _argument(name: str) -> OperationFailed:
    return OperationFailed("OPERATION_ARGUMENT_INVALID", f"{name} is missing or not allowed")
