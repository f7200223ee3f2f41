"""Paths of routes and URLs of requests, brought to one form.

A route's path becomes segments where ``{}`` stands for exactly one segment and ``{*}``
for any rest. A request's URL is put together from literal parts and holes (variables,
environment lookups); a hole at the front is the base, a hole further on makes its
segment ``{}``. Query and fragment are dropped.
"""

import re
from dataclasses import dataclass

ONE_SEGMENT = "{}"
ANY_REST = "{*}"
MAX_URL_CHARS = 2_000
MAX_SEGMENTS_ENTRIES = 32

_BRACES = re.compile(r"\{[^{}/]*?(:path)?\}")
_ANGLES = re.compile(r"<(?:(path):)?[^<>/]*>")
_COLONS = re.compile(r":[A-Za-z_][A-Za-z0-9_]*(?:\([^()]*\))?\??")
_SCHEME = re.compile(r"^(?:https?|wss?)://", re.IGNORECASE)
_MARK = "\ue000"
_HOLE = re.compile(f"{_MARK}(\\d+){_MARK}")


@dataclass(frozen=True, slots=True)
class Hole:
    """A computed part of a URL: the name it is computed from and its literal default."""

    name: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class Url:
    """A request's address: literal host or names in its place, and the path's segments."""

    host: str
    names: tuple[str, ...]
    path: str


UrlPart = str | Hole


def route_path(text: str, style: str) -> str:
    """Return a route's path in the common form.

    Args:
        text: the path as the framework has it.
        style: ``fastapi`` or ``starlette`` (``{id}``), ``flask`` (``<int:id>``),
            ``express`` (``:id``).
    """
    text = text[:MAX_URL_CHARS]
    match style:
        case "flask":
            text = _ANGLES.sub(lambda found: ANY_REST if found[1] else ONE_SEGMENT, text)
        case "express":
            text = _COLONS.sub(ONE_SEGMENT, text).replace("(.*)", ANY_REST)
            text = re.sub(r"(?<!\{)\*\w*", ANY_REST, text)
        case _:
            text = _BRACES.sub(lambda found: ANY_REST if found[1] else ONE_SEGMENT, text)
    return join_paths(text)


def join_paths(*parts: str) -> str:
    """Join path parts into one path that starts with ``/`` and does not end with one."""
    segments = [segment for part in parts for segment in part.split("/") if segment]
    whole = [_segment(segment) for segment in segments[:MAX_SEGMENTS_ENTRIES]]
    return "/" + "/".join(whole)


def _segment(segment: str) -> str:
    if segment in {ONE_SEGMENT, ANY_REST}:
        return segment
    if ANY_REST in segment:
        return ANY_REST
    return ONE_SEGMENT if ONE_SEGMENT in segment else segment


def assemble_url(parts: list[UrlPart], base: Url | None = None) -> Url | None:
    """Put a URL together.

    Args:
        parts: literal text and holes, in order.
        base: what a client object was made with; used where the URL has no host itself.

    Returns:
        The address, or ``None`` where nothing of the path is literal.
    """
    holes = [part for part in parts if isinstance(part, Hole)]
    numbers = iter(range(len(holes)))
    text = "".join(
        f"{_MARK}{next(numbers)}{_MARK}" if isinstance(part, Hole) else part.replace(_MARK, "")
        for part in parts
    )[:MAX_URL_CHARS]
    text = text.strip()
    front = _HOLE.match(text)
    if _SCHEME.match(text):
        host, path = _split_host(_SCHEME.sub("", text))
        names = tuple(holes[int(number)].name for number in _HOLE.findall(host))
        host = "" if names else host
    elif front is not None:
        hole = holes[int(front[1])]
        names = (hole.name,) if hole.name else ()
        path = text[front.end() :]
        host, prefix = _split_host(_SCHEME.sub("", hole.default)) if hole.default else ("", "")
        if not path and not prefix:
            return None
        path = f"{prefix}/{path}"
    elif text.startswith("/") or base is not None:
        host, names, path = "", (), text
        if base is not None:
            host, names, path = base.host, base.names, f"{base.path}/{text}"
    else:
        return None
    path = re.split(r"[?#]", path, maxsplit=1)[0]
    return Url(host.lower(), names, join_paths(_HOLE.sub(ONE_SEGMENT, path)))


def _split_host(text: str) -> tuple[str, str]:
    cut = re.search(r"[/?#]", text)
    host = text if cut is None else text[: cut.start()]
    return host.rpartition("@")[2], "" if cut is None else text[cut.start() :]
