"""For authors: new plugins, building, packing, checking, trying, signing, revoking."""

import io
import os
from pathlib import Path

from agentic_os.cli.actions.trust.ledger.opening import password
from agentic_os.cli.actions.trust.plugins.opening import plugin_house, read_package_file
from agentic_os.cli.actions.trust.plugins.packages import package_data, print_package
from agentic_os.cli.actions.trust.plugins.running import arguments_of, print_call, print_checks
from agentic_os.cli.output import finish_document, say, write
from agentic_os.errors import FilesError, UsageError
from agentic_os.files.publishing import publish
from agentic_os.plugins.answers import ChecksData, NewPluginData
from agentic_os.plugins.authoring.checking import check_rows
from agentic_os.plugins.authoring.folder import pack_folder
from agentic_os.plugins.authoring.languages import (
    ENTRYPOINT,
    LANGUAGES,
    build_plugin,
    new_plugin,
)
from agentic_os.plugins.authoring.signing import own_keys, revoke, sign_package
from agentic_os.plugins.authoring.trying import RecordingWorld, try_operation
from agentic_os.plugins.keeping.house import PACKAGE_SUFFIX
from agentic_os.plugins.sandbox.limits import Limits
from agentic_os.plugins.trust.release import check_package
from agentic_os.results import Answer


def new(folder: str, *, plugin: str, language: str, json: bool) -> None:
    """Write a new plugin from a template."""
    if language not in LANGUAGES:
        raise UsageError(f"languages are {', '.join(LANGUAGES)}")
    files = new_plugin(Path(folder), plugin, language)
    _print_files("plugins-new", NewPluginData(folder=folder, language=language, files=files), json)


def build(folder: str, *, json: bool) -> None:
    """Compile a plugin's source."""
    language = build_plugin(Path(folder), environ=dict(os.environ))
    data = NewPluginData(folder=folder, language=language, files=(ENTRYPOINT,))
    _print_files("plugins-build", data, json)


def pack(folder: str, *, out: str | None, json: bool) -> None:
    """Pack a plugin's folder."""
    data = pack_folder(Path(folder))
    checked = check_package(io.BytesIO(data))
    target = Path(out) if out else Path(f"{checked.package.top}{PACKAGE_SUFFIX}")
    _write(target, data)
    print_package("plugins-pack", package_data(checked, path=target.name), json=json)


def check(file: str, *, json: bool) -> None:
    """Check a package as its author."""
    data = read_package_file(file)
    with plugin_house() as house:
        rows = tuple(check_rows(data, house, Limits()))
    print_checks("plugins-check", ChecksData(rows=rows), json=json)


def test(place: str, operation: str, arguments: str, *, json: bool) -> None:
    """Try one operation of a folder or a package as the host would run it."""
    given = arguments_of(arguments)
    data = pack_folder(Path(place)) if Path(place).is_dir() else read_package_file(place)
    checked = check_package(io.BytesIO(data))
    world = RecordingWorld()
    answer = try_operation(data, checked, operation, given, limits=Limits(), world=world)
    for text in world.proposed:
        say(f"It proposed: {text}")
    print_call("plugins-run", answer, json=json)


def sign(file: str, *, publisher: str, out: str | None, json: bool) -> None:
    """Sign a package with keys of one's own."""
    data = read_package_file(file)
    with plugin_house() as house:
        keys = own_keys(house.places.keys, password=password())
    signed = sign_package(data, keys, publisher=publisher)
    target = Path(out) if out else Path(file)
    _write(target, signed)
    checked = check_package(io.BytesIO(signed))
    print_package("plugins-sign", package_data(checked, path=target.name), json=json)
    if not json:
        say(
            "Whoever runs it pins certifier.public.json (agentic-os plugins trust add --fast) and"
            f" takes over {keys.status_path.name} (agentic-os plugins trust status)."
        )
        say(f"Both are in plugins/{keys.folder.name}/ of the data folder.")


def revoke_package(file: str) -> None:
    """Revoke a package that one's own keys signed."""
    data = read_package_file(file)
    with plugin_house() as house:
        keys = own_keys(house.places.keys, password=password())
    status = revoke(keys, data)
    write(f"{keys.status_path.name}\tepoch {status.trust_epoch}\n")
    say("Publish the status: hosts take it over with agentic-os plugins trust status FILE.")


def _print_files(command: str, data: NewPluginData, json: bool) -> None:
    if json:
        finish_document(command, Answer(data=data))
        return
    for name in data.files:
        write(f"{name}\n")


def _write(path: Path, data: bytes) -> None:
    try:
        publish(path.absolute(), data, 0o644)
    except FilesError as fault:
        raise UsageError(f"{path.name}: {fault.message}") from None
