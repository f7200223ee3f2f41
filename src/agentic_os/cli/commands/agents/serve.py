"""``agentic-os serve``."""

from typing import Annotated

import typer

from agentic_os.cli.options import FULL_PROFILE, Adopt, Roots, chosen_roots


def serve(
    root: Roots = None,
    adopt: Adopt = False,
    profile: Annotated[
        str, typer.Option(metavar="PROFILE", help="full, or aios for the AIOS folder alone.")
    ] = FULL_PROFILE,
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
    from agentic_os.cli.actions.agents import serving

    if not http:
        serving.serve_pipe(root=chosen_roots(root, adopt=adopt), profile=profile)
        return
    serving.serve_network(
        root=chosen_roots(root, adopt=adopt),
        profile=profile,
        host=host,
        port=port,
        token_file=token_file,
        remote=remote,
        tls_certificate=tls_certificate,
        tls_key=tls_key,
        allow_host=allow_host or (),
    )
