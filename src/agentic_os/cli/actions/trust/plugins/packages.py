"""Pack, verify, install, list and remove plugins; whom the person trusts, and what is granted."""

import io
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_os.cli.actions.trust.plugins.opening import plugin_house, read_package_file
from agentic_os.cli.output import finish_document, say, table, write
from agentic_os.crypto.envelope.public_keys import ENVELOPE_BYTES, read_public_key_envelope
from agentic_os.errors import UsageError
from agentic_os.plugins import installing
from agentic_os.plugins.answers import PackageData, PluginGrantData, PluginView
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.installing import STATUS_BYTES, PluginHouse
from agentic_os.plugins.keeping.house import keep_file, pinned_roots
from agentic_os.plugins.showing import list_plugins, list_trust
from agentic_os.plugins.trust.objects import STATUS_FILES, signed_by
from agentic_os.plugins.trust.release import CheckedPackage, check_package
from agentic_os.plugins.trust.revocation import usable_status
from agentic_os.plugins.trust.tiers import Verdict
from agentic_os.results import Answer

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def package_data(
    checked: CheckedPackage, verdict: Verdict | None = None, *, path: str = ""
) -> PackageData:
    """Return what a package is."""
    return PackageData(
        plugin=checked.quartet.plugin_id,
        version=checked.quartet.version,
        package_hash=checked.quartet.package_hash,
        manifest_hash=checked.quartet.manifest_hash,
        tier="" if verdict is None else verdict.tier.label,
        publisher="" if verdict is None else verdict.publisher,
        files=len(checked.package.files),
        bytes=sum(one.size for one in checked.package.files),
        path=path,
        unverified=checked.package.others,
    )


def print_package(command: str, data: PackageData, *, json: bool) -> None:
    """Print one package."""
    if json:
        finish_document(command, Answer(data=data))
        return
    table(
        ("plugin", "version", "tier", "package"),
        [(data.plugin, data.version, data.tier or "not judged", data.package_hash)],
    )
    if data.unverified:
        say(f"No hash covers {', '.join(data.unverified)}.")


def verify(file: str, *, json: bool) -> None:
    """Verify a package by whom the person trusts now."""
    data = read_package_file(file)
    with plugin_house() as house:
        verified = house.verify(data)
    print_package("plugins-verify", package_data(verified.checked, verified.verdict), json=json)


def install(file: str, *, allow_unsigned: bool, json: bool) -> None:
    """Install a package, after it verified."""
    data = read_package_file(file)
    with plugin_house() as house:
        if allow_unsigned:
            _allow(house, check_package(io.BytesIO(data)))
        verified = installing.install(house, data)
    print_package("plugins-install", package_data(verified.checked, verified.verdict), json=json)
    if not json:
        asks = verified.checked.manifest.capability_envelope
        plugin = verified.checked.manifest.id
        say(
            f"It asks for {', '.join(asks)}: agentic-os plugins grant {plugin} CAPABILITY"
            if asks
            else "It asks for nothing of the host."
        )


def remove(plugin: str, *, json: bool) -> None:
    """Remove a plugin with all that was kept for it."""
    with plugin_house() as house:
        gone = installing.remove(house, plugin)
    data = PackageData(
        plugin=gone.plugin,
        version=gone.version,
        package_hash=gone.package,
        manifest_hash="",
        tier="",
    )
    print_package("plugins-remove", data, json=json)


def list_all(*, operations: bool, json: bool) -> None:
    """List the installed plugins, each verified anew."""
    with plugin_house() as house:
        data = list_plugins(house)
    if json:
        finish_document("plugins-list", Answer(data=data))
        return
    if operations:
        table(
            ("plugin", "operation", "effects", "needs", "summary"),
            [
                (one.plugin, what.id, what.effects, ", ".join(what.capabilities), what.summary)
                for one in data.plugins
                for what in one.operations
            ],
        )
        return
    table(
        ("plugin", "version", "tier", "state", "granted"),
        [(one.plugin, one.version, one.tier, one.state, _granted(one)) for one in data.plugins],
    )
    for one in data.plugins:
        if one.reason:
            say(f"{one.plugin}: {one.reason} {one.hint}".strip())
    if not data.plugins:
        say("No plugin is installed: agentic-os plugins install FILE")


def grant(plugin: str, capabilities: list[str], *, tools: bool, json: bool) -> None:
    """Grant capabilities to the very package that is installed now."""
    if not capabilities and not tools:
        raise UsageError("name a capability, or --tools")
    with plugin_house() as house:
        installed = house.state.find(plugin)
        unknown = sorted(set(capabilities) - installed.envelope)
        if unknown:
            raise UsageError(
                f"{plugin} does not ask for {', '.join(unknown)};"
                f" it asks for {', '.join(sorted(installed.envelope)) or 'nothing'}"
            )

        def edit(document: "TOMLDocument") -> None:
            row = _row(document, "grant", plugin=plugin, package=installed.package)
            held = list(row.get("capabilities", []))
            row["capabilities"] = sorted({*held, *capabilities})
            if tools:
                row["tools"] = True

        house.policy.change(edit)
        _print_grant(house, plugin, "plugins-grant", json=json)


def revoke(plugin: str, capabilities: list[str], *, tools: bool, json: bool) -> None:
    """Withdraw capabilities; all of them where none is named."""
    with plugin_house() as house:

        def edit(document: "TOMLDocument") -> None:
            rows = document.get("grant", [])
            for at in reversed(range(len(rows))):
                row = rows[at]
                if row.get("plugin") != plugin:
                    continue
                if not capabilities and not tools:
                    del rows[at]
                    continue
                held = [one for one in row.get("capabilities", []) if one not in capabilities]
                row["capabilities"] = held
                if tools:
                    row["tools"] = False

        house.state.find(plugin)
        if house.policy.stamp() is not None:
            house.policy.change(edit)
        _print_grant(house, plugin, "plugins-revoke", json=json)


def enable(plugin: str, *, json: bool) -> None:
    """Let a plugin run again that failed too often."""
    with plugin_house() as house:
        house.state.find(plugin)
        house.state.enable(plugin)
        _print_grant(house, plugin, "plugins-enable", json=json)


def show_trust(*, json: bool) -> None:
    """List the pinned roots."""
    with plugin_house() as house:
        _print_trust(house, json=json)


def add_root(file: str, *, fast: bool, json: bool) -> None:
    """Pin the public key of somebody who may vouch for plugins."""
    key = read_public_key_envelope(_bounded(file, ENVELOPE_BYTES))
    if key.key_type not in STATUS_FILES:
        raise UsageError(
            f"{key.key_id} is a {key.key_type} key; roots are {', '.join(STATUS_FILES)}"
        )
    if not fast and not key.profile.endswith("ROOT"):
        raise UsageError(
            f"{key.key_id} has the profile FAST: one signature instead of two. Say --fast if that"
            " is enough for you"
        )
    with plugin_house() as house:
        name = key.sha256.removeprefix("sha256:")
        keep_file(house.places.roots / f"{name}.json", key.document)

        def edit(document: "TOMLDocument") -> None:
            row = _row(document, "root", key=key.sha256)
            row["profile"] = "FAST" if fast else "ROOT"

        house.policy.change(edit)
        _print_trust(house, json=json)


def remove_root(name: str, *, json: bool) -> None:
    """Unpin a root, by its key id or the hash of its key."""
    with plugin_house() as house:
        roots = list_trust(house).roots
        gone = {root.key for root in roots if name in {root.key, root.key_id}}
        if not gone:
            raise UsageError(f"no pinned root is called {name!r}")

        def edit(document: "TOMLDocument") -> None:
            rows = document.get("root", [])
            for at in reversed(range(len(rows))):
                if rows[at].get("key") in gone:
                    del rows[at]

        house.policy.change(edit)
        for key in gone:
            with suppress(FileNotFoundError):
                (house.places.roots / f"{key.removeprefix('sha256:')}.json").unlink()
        _print_trust(house, json=json)


def take_status(file: str, *, json: bool) -> None:
    """Take over the revocation status of a pinned root: the one that signed it."""
    data = _bounded(file, STATUS_BYTES)
    with plugin_house() as house:
        roots = pinned_roots(house.places, house.policy.read())
        root = signed_by(data, roots)
        if root is None:
            raise ERRORS.error("PLUGIN_TRUST_ROOT_UNAVAILABLE", "no pinned root signed this status")
        usable_status(data, root=root, memory=house.epochs, at=datetime.now(UTC))
        keep_file(house.places.status(root), data)
        _print_trust(house, json=json)


def _allow(house: PluginHouse, checked: CheckedPackage) -> None:
    if checked.package.trust:
        raise UsageError("the package is signed: --allow-unsigned is for packages that are not")

    def edit(document: "TOMLDocument") -> None:
        document["unsigned"] = "allow-listed"
        _row(
            document,
            "allow",
            plugin=checked.quartet.plugin_id,
            package=checked.quartet.package_hash,
        )

    house.policy.change(edit)


def _row(document: "TOMLDocument", name: str, **keys: str) -> Any:
    """Return the table of that name with those keys, making it where there is none."""
    import tomlkit

    rows = document.setdefault(name, tomlkit.aot())
    for row in rows:
        if all(row.get(key) == value for key, value in keys.items()):
            return row
    made = tomlkit.table()
    for key, value in keys.items():
        made.add(key, value)
    rows.append(made)
    return rows[-1]


def _granted(view: PluginView) -> str:
    held = [one for one in view.asks if one in view.granted]
    return f"{len(held)} of {len(view.asks)}" if view.asks else "asks nothing"


def _print_grant(house: PluginHouse, plugin: str, command: str, *, json: bool) -> None:
    installed = house.state.find(plugin)
    policy = house.policy.read()
    data = PluginGrantData(
        plugin=plugin,
        package_hash=installed.package,
        capabilities=tuple(sorted(policy.granted(plugin, installed.package))),
        tools=policy.offers_tools(plugin, installed.package),
    )
    if json:
        finish_document(command, Answer(data=data))
        return
    write(f"{plugin}\t{', '.join(data.capabilities) or 'nothing granted'}\n")
    say("Agents see its operations." if data.tools else "Agents do not see its operations.")


def _print_trust(house: PluginHouse, *, json: bool) -> None:
    data = list_trust(house)
    if json:
        finish_document("plugins-trust", Answer(data=data))
        return
    table(
        ("root", "kind", "profile", "counts", "epoch"),
        [
            (
                root.key_id or root.key,
                root.key_type,
                root.profile,
                "yes" if root.counts else "no",
                str(root.trust_epoch or ""),
            )
            for root in data.roots
        ],
    )
    say(f"Unsigned plugins: {data.unsigned}.")


def _bounded(file: str, limit_bytes: int) -> bytes:
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(limit_bytes + 1)
    except OSError as fault:
        raise UsageError(f"{file!r} cannot be read: {fault.strerror}") from None
    if len(data) > limit_bytes:
        raise UsageError(f"{file!r} is too large")
    return data
