"""``agentic-os serve``."""

from typing import TYPE_CHECKING, Annotated

import typer

from agentic_os.cli.options import Roots

if TYPE_CHECKING:
    from agentic_os.server.seat import Seat
    from agentic_os.server.tools.calls import Profile

PROFILE = "full"


def serve(
    root: Roots = None,
    profile: Annotated[
        str, typer.Option(metavar="PROFILE", help="full, or aios for the AIOS folder alone.")
    ] = PROFILE,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP on loopback instead of stdio.")
    ] = False,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="With --http.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=1, max=65_535, metavar="PORT", help="With --http.")
    ] = 8765,
    token_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="With --http: the bearer token. Default: made in the state folder."
        ),
    ] = None,
    remote: Annotated[
        bool, typer.Option("--remote", help="Allow another address than loopback; needs TLS.")
    ] = False,
    tls_certificate: Annotated[
        str | None, typer.Option(metavar="FILE", help="TLS certificate chain, PEM.")
    ] = None,
    tls_key: Annotated[str | None, typer.Option(metavar="FILE", help="TLS key, PEM.")] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --remote: a Host that is accepted; repeatable."),
    ] = None,
) -> None:
    """Serve the fleet and the AIOS context to a harness, over MCP on stdin and stdout.

    A harness starts this itself; see `agentic-os mcp config`.

    Example: agentic-os serve --root ~/code
    """
    import os
    from pathlib import Path

    roots = tuple(str(Path(one).expanduser().absolute()) for one in root or ())
    chosen = _profile(profile)

    def make_seat() -> "Seat":
        from agentic_os.aggregate.workspace import Person
        from agentic_os.server.seat import Seat

        return Seat(person=Person.here(), roots=roots)

    if not http:
        from agentic_os.server.transport.stdio import serve_stdio

        serve_stdio(make_seat, profile=chosen)
        return
    from agentic_os.files.places import places_from
    from agentic_os.server.transport.http import HttpOptions, check_options, read_token, serve_http

    options = HttpOptions(
        host=host,
        port=port,
        remote=remote,
        certificate=None if tls_certificate is None else Path(tls_certificate),
        private_key=None if tls_key is None else Path(tls_key),
        hosts=tuple(allow_host or ()),
    )
    check_options(options)
    given = None if token_file is None else Path(token_file).absolute()
    token = read_token(places_from(os.environ).state, given)
    serve_http(make_seat, options, token, profile=chosen)


def _profile(name: str) -> "Profile":
    if name == "full":
        return "full"
    if name == "aios":
        return "aios"
    raise typer.BadParameter("profiles are full and aios")
