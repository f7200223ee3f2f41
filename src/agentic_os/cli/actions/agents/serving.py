"""Serve over stdio or HTTP."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from agentic_os.server.transport.stdio import serve_stdio

if TYPE_CHECKING:
    from agentic_os.server.served import ServedPerson
    from agentic_os.server.tools.calls import Profile


def serve_pipe(*, root: Sequence[str], profile: str) -> None:
    """Serve one session on stdin and stdout."""
    serve_stdio(_served_maker(root), profile=_profile(profile))


def serve_network(
    *,
    root: Sequence[str],
    profile: str,
    host: str,
    port: int,
    token_file: str | None,
    remote: bool,
    tls_certificate: str | None,
    tls_key: str | None,
    allow_host: Sequence[str],
) -> None:
    """Serve streamable HTTP until the person ends it."""
    # A session on stdin and stdout must answer at once and needs none of these.
    from agentic_os.files.places import places_from
    from agentic_os.server.transport.http import (
        HttpOptions,
        check_options,
        read_token,
        serve_http,
    )

    chosen = _profile(profile)
    options = HttpOptions(
        host=host,
        port=port,
        remote=remote,
        certificate=None if tls_certificate is None else Path(tls_certificate),
        private_key=None if tls_key is None else Path(tls_key),
        hosts=tuple(allow_host),
    )
    check_options(options)
    given = None if token_file is None else Path(token_file).absolute()
    token = read_token(places_from(os.environ).state, given)
    serve_http(_served_maker(root), options, token, profile=chosen)


def _served_maker(root: Sequence[str]) -> "Callable[[], ServedPerson]":
    places = [str(Path(one).expanduser().absolute()) for one in root]

    def make_served() -> "ServedPerson":
        # Loaded by the first request that needs it, after the handshake.
        from agentic_os.aggregate.workspace import Person
        from agentic_os.server.served import ServedPerson
        from agentic_os.settings.selection import AdoptingRoots, command_line_roots

        roots = command_line_roots(places, adopt=isinstance(root, AdoptingRoots))
        return ServedPerson(person=Person.here(), roots=roots)

    return make_served


def _profile(name: str) -> "Profile":
    if name == "full":
        return "full"
    if name == "aios":
        return "aios"
    raise typer.BadParameter("profiles are full and aios")
