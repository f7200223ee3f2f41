"""``agentic-os plugins``: signed plugins in a sandbox."""

from typing import Annotated

import typer

from agentic_os.cli.options import Json

app = typer.Typer(
    help="Signed plugins in a WebAssembly sandbox: what they may do, you grant.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
trust = typer.Typer(
    help="Whom you trust to vouch for plugins.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(trust, name="trust")

File = Annotated[str, typer.Argument(metavar="FILE", help="A package, .aiiospkg.")]
Plugin = Annotated[str, typer.Argument(metavar="ID", help="An installed plugin.")]
Place = Annotated[str, typer.Argument(metavar="DIR", help="The plugin's folder.")]
Operation = Annotated[str, typer.Argument(metavar="OPERATION")]
Arguments = Annotated[str, typer.Argument(metavar="JSON", help="The arguments, one JSON object.")]
Capabilities = Annotated[list[str] | None, typer.Argument(metavar="CAPABILITY...")]
Tools = Annotated[bool, typer.Option("--tools", help="Its operations as tools for agents (MCP).")]
Out = Annotated[str | None, typer.Option("--out", metavar="FILE", help="Where it is written.")]


@app.command("list")
def list_plugins(
    operations: Annotated[
        bool, typer.Option("--operations", help="One row for each operation.")
    ] = False,
    json: Json = False,
) -> None:
    """List the installed plugins; each is verified anew.

    Example: agentic-os plugins list
    """
    from agentic_os.cli.actions.trust.plugins import packages

    packages.list_all(operations=operations, json=json)


@app.command()
def verify(file: File, json: Json = False) -> None:
    """Verify a package and say its tier; nothing is installed.

    Example: agentic-os plugins verify text-count.aiiospkg
    """
    from agentic_os.cli.actions.trust.plugins import packages

    packages.verify(file, json=json)


@app.command()
def install(
    file: File,
    allow_unsigned: Annotated[
        bool,
        typer.Option("--allow-unsigned", help="Allow this very package although nobody signed it."),
    ] = False,
    json: Json = False,
) -> None:
    """Install a package after it verified, in place of another release of the plugin.

    Example: agentic-os plugins install text-count.aiiospkg --allow-unsigned
    """
    from agentic_os.cli.actions.trust.plugins import packages

    packages.install(file, allow_unsigned=allow_unsigned, json=json)


@app.command()
def remove(plugin: Plugin, json: Json = False) -> None:
    """Remove a plugin with its values, proposals and grants.

    Example: agentic-os plugins remove org.example.text-count
    """
    from agentic_os.cli.actions.trust.plugins import packages

    packages.remove(plugin, json=json)


@app.command()
def run(
    plugin: Plugin, operation: Operation, arguments: Arguments = "{}", json: Json = False
) -> None:
    """Call one operation of an installed plugin and print its result.

    Example: agentic-os plugins run org.example.text-count core.text_count '{"text": "a b"}'
    """
    from agentic_os.cli.actions.trust.plugins import running

    running.run(plugin, operation, arguments, json=json)


@app.command()
def grant(
    plugin: Plugin,
    capabilities: Capabilities = None,
    tools: Tools = False,
    json: Json = False,
) -> None:
    """Grant capabilities to the very package that is installed.

    Example: agentic-os plugins grant org.example.notes ring4.kv --tools
    """
    from agentic_os.cli.actions.trust.plugins import packages

    packages.grant(plugin, capabilities or [], tools=tools, json=json)


@app.command()
def revoke(
    plugin: Plugin,
    capabilities: Capabilities = None,
    tools: Tools = False,
    json: Json = False,
) -> None:
    """Withdraw capabilities; all of them where none is named. It counts at once.

    Example: agentic-os plugins revoke org.example.notes ring4.kv
    """
    from agentic_os.cli.actions.trust.plugins import packages

    packages.revoke(plugin, capabilities or [], tools=tools, json=json)


@app.command()
def enable(plugin: Plugin, json: Json = False) -> None:
    """Let a plugin run again that failed too often.

    Example: agentic-os plugins enable org.example.notes
    """
    from agentic_os.cli.actions.trust.plugins import packages

    packages.enable(plugin, json=json)


@app.command()
def log(
    plugin: Annotated[str | None, typer.Argument(metavar="ID")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=10_000)] = 100,
    json: Json = False,
) -> None:
    """Show what the host did for plugins or refused, and the faults of guests.

    Example: agentic-os plugins log org.example.notes
    """
    from agentic_os.cli.actions.trust.plugins import running

    running.log(plugin, limit=limit, json=json)


@app.command()
def proposals(
    plugin: Annotated[str | None, typer.Argument(metavar="ID")] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Drop them: of one plugin, or all.")] = False,
    json: Json = False,
) -> None:
    """Show what plugins observed and propose to remember.

    Example: agentic-os plugins proposals
    """
    from agentic_os.cli.actions.trust.plugins import running

    running.proposals(plugin, drop=drop, json=json)


@app.command()
def doctor(json: Json = False) -> None:
    """Look at every plugin, root and grant.

    Example: agentic-os plugins doctor
    """
    from agentic_os.cli.actions.trust.plugins import running

    running.doctor(json=json)


@app.command()
def new(
    folder: Place,
    plugin: Annotated[
        str, typer.Option("--id", metavar="ID", help="Its name, such as org.example.notes.")
    ],
    language: Annotated[
        str,
        typer.Option("--lang", metavar="LANG", help="wat, c, zig, assemblyscript or rust."),
    ] = "c",
    json: Json = False,
) -> None:
    """Write a new plugin from a template.

    Example: agentic-os plugins new notes --id org.example.notes --lang zig
    """
    from agentic_os.cli.actions.trust.plugins import authoring

    authoring.new(folder, plugin=plugin, language=language, json=json)


@app.command()
def build(folder: Place, json: Json = False) -> None:
    """Compile a plugin's source with the compiler of its language.

    Example: agentic-os plugins build notes
    """
    from agentic_os.cli.actions.trust.plugins import authoring

    authoring.build(folder, json=json)


@app.command()
def pack(folder: Place, out: Out = None, json: Json = False) -> None:
    """Make the package of a plugin's folder; the same folder gives the same archive.

    Example: agentic-os plugins pack notes --out notes.aiiospkg
    """
    from agentic_os.cli.actions.trust.plugins import authoring

    authoring.pack(folder, out=out, json=json)


@app.command()
def check(file: File, json: Json = False) -> None:
    """Check a package as its author: what holds, what fails, what only a host can say.

    Example: agentic-os plugins check notes.aiiospkg
    """
    from agentic_os.cli.actions.trust.plugins import authoring

    authoring.check(file, json=json)


@app.command("test")
def try_out(
    place: Annotated[str, typer.Argument(metavar="PLACE", help="A folder or a package.")],
    operation: Operation,
    arguments: Arguments = "{}",
    json: Json = False,
) -> None:
    """Try one operation as the host would run it; all that it asks for is granted and listed.

    No host is reached, the fleet is empty, and nothing is kept.

    Example: agentic-os plugins test notes core.notes '{"text": "a"}'
    """
    from agentic_os.cli.actions.trust.plugins import authoring

    authoring.test(place, operation, arguments, json=json)


@app.command()
def sign(
    file: File,
    publisher: Annotated[str, typer.Option("--publisher", metavar="NAME", help="Who you are.")],
    out: Out = None,
    json: Json = False,
) -> None:
    """Sign a package with keys of your own, made the first time.

    Keys are encrypted when the variable AGENTIC_OS_KEY_PASSWORD is set.

    Example: agentic-os plugins sign notes.aiiospkg --publisher example.org
    """
    from agentic_os.cli.actions.trust.plugins import authoring

    authoring.sign(file, publisher=publisher, out=out, json=json)


@trust.command("list")
def trust_list(json: Json = False) -> None:
    """List the roots that you pinned.

    Example: agentic-os plugins trust list
    """
    from agentic_os.cli.actions.trust.plugins import packages

    packages.show_trust(json=json)


@trust.command("add")
def trust_add(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A root's public key envelope.")],
    fast: Annotated[
        bool, typer.Option("--fast", help="Accept one signature (ML-DSA-87) instead of two.")
    ] = False,
    json: Json = False,
) -> None:
    """Pin the public key of somebody who may vouch for plugins.

    Example: agentic-os plugins trust add certifier.public.json --fast
    """
    from agentic_os.cli.actions.trust.plugins import packages

    packages.add_root(file, fast=fast, json=json)


@trust.command("remove")
def trust_remove(
    name: Annotated[str, typer.Argument(metavar="KEY", help="Its key id, or its hash.")],
    json: Json = False,
) -> None:
    """Unpin a root; what only it vouched for does not run any more.

    Example: agentic-os plugins trust remove aiii_plugin_reviewer_0123456789abcdef
    """
    from agentic_os.cli.actions.trust.plugins import packages

    packages.remove_root(name, json=json)


@trust.command("status")
def trust_status(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A revocation status.")],
    json: Json = False,
) -> None:
    """Take over what a pinned root has revoked; older or forked statuses are refused.

    Example: agentic-os plugins trust status aiii_plugin_reviewer_status.json
    """
    from agentic_os.cli.actions.trust.plugins import packages

    packages.take_status(file, json=json)


@trust.command("revoke")
def trust_revoke(file: File) -> None:
    """Revoke a package that your own keys signed; prints the new status to publish.

    Example: agentic-os plugins trust revoke notes.aiiospkg
    """
    from agentic_os.cli.actions.trust.plugins import authoring

    authoring.revoke_package(file)
