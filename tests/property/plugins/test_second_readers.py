"""Our readers of archives and manifests against second ones that share no line with them."""

import copy
from dataclasses import dataclass
from typing import Any

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from agentic_os.crypto.canonical.json import encode
from agentic_os.errors import PackageRefusedError
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.declaration.manifest import read_manifest
from agentic_os.plugins.package.archive import read_archive
from support.plugins.packages import Recipe
from support.plugins.second_readers import accepts_archive, accepts_manifest, header, padded

PLAIN = st.sampled_from(["a", "B", "c1", "plugin.wasm", "x" * 60, "y" * 90])
ODD = st.sampled_from(["b", "Plugin.wasm", "con.x", "a.", "é", "", "..", "lpt1"])
PATHS = st.lists(PLAIN, min_size=1, max_size=6).map("/".join)
ODD_PATHS = st.lists(PLAIN | ODD, min_size=1, max_size=6).map("/".join)
KINDS = st.sampled_from([b"0", b"0", b"5", b"2", b"1", b"x", b"g", b"\0", b"7"])
MODES = st.sampled_from([0o644, 0o644, 0o755, 0o777, 0o600])


@dataclass
class Bytes:
    """Bytes given out in order, as an archive is read."""

    data: bytes
    at: int = 0

    def take(self, size: int) -> bytes:
        taken = self.data[self.at : self.at + size]
        self.at += size
        if len(taken) < size:
            raise ERRORS.error("PLUGIN_ENVELOPE_MALFORMED", "it ends")
        return taken

    def end(self) -> None:
        if self.at != len(self.data):
            raise ERRORS.error("PLUGIN_ENVELOPE_MALFORMED", "more follows")


def ours(data: bytes) -> bool:
    try:
        for _ in read_archive(Bytes(data)):
            pass
    except PackageRefusedError:
        return False
    return True


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """Archives that are nearly right: each folder and file of a tree, then some harm."""
    files = draw(st.lists(PATHS, max_size=5, unique=True))
    folders = {path[:at] for path in files for at in range(len(path)) if path[at] == "/"}
    rows = [(path, b"5", 0o755, b"") for path in sorted(folders)]
    rows += [(path, b"0", draw(st.sampled_from([0o644, 0o755])), b"x" * 600) for path in files]
    rows.sort()
    harms = draw(st.sampled_from([(), (), ("row",), ("drop",), ("flip",), ("end",)]))
    if "row" in harms:
        at = draw(st.integers(0, len(rows)))
        rows.insert(at, (draw(ODD_PATHS), draw(KINDS), draw(MODES), draw(st.binary(max_size=40))))
    if "drop" in harms and rows:
        del rows[draw(st.integers(0, len(rows) - 1))]
    data = bytearray()
    for path, kind, mode, contents in rows:
        name = path + ("/" if kind == b"5" else "")
        at = max((n for n in range(len(name) - 1) if name[n] == "/" and n <= 155), default=0)
        if len(name.encode()) > 100:
            name, prefix = name[at + 1 :], name[:at]
        else:
            prefix = ""
        data += header(name[:100], prefix[:155], mode, len(contents), kind) + padded(contents)
    data += bytes(1024)
    if "flip" in harms:
        data[draw(st.integers(0, len(data) - 1))] ^= draw(st.integers(1, 255))
    if "end" in harms:
        cut = draw(st.sampled_from([0, 1, 512]))
        return bytes(data[: len(data) - cut]) + bytes(draw(st.sampled_from([0, 1, 512])))
    return bytes(data)


@settings(max_examples=300)
@given(archives())
@example(bytes(1024))
@example(header("a", "", 0o644, 1, b"0") + b"a" + bytes(511) + bytes(1024))
def test_an_archive_is_read_where_the_second_reader_reads_it(data: bytes) -> None:
    accepted = accepts_archive(data)
    event(f"accepted: {accepted}")
    assert ours(data) == accepted


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Each container of a tree with each of its keys."""
    if isinstance(tree, dict):
        return [(tree, key) for key in tree] + [
            pair for one in tree.values() for pair in places(one)
        ]
    if isinstance(tree, list):
        return [(tree, at) for at in range(len(tree))] + [
            pair for one in tree for pair in places(one)
        ]
    return []


OTHER: st.SearchStrategy[Any] = st.sampled_from(
    [
        None, True, 0, 1, 2, 999_999_999, 10**9, "", "core.echo", "core.echo@1", "web@1", "x",
        "asset", "wasm_sandbox", "standard", "service_process", "certified_native", "0.0.1",
        "01.2.3", "1.0", "sha256:" + "0" * 64, "sha256:" + "0" * 63, "SHA256:" + "0" * 64,
        "ring4.kv", "net.outbound:host:443", "net.outbound:", "a.b\n", [], {}, ["core.echo"],
        ["a.b"] * 33, [1], {"core": []}, "variants/x/plugin.wasm", "variants/linux-x86_64-wasm/y",
    ]
)  # fmt: skip


@st.composite
def manifests(draw: st.DrawFn) -> dict[str, Any]:
    """Manifests with up to three members changed, dropped, doubled or added."""
    tree = copy.deepcopy(Recipe(capabilities=("ring4.kv",)).manifest)
    for _ in range(draw(st.integers(0, 3))):
        found = places(tree)
        holder, key = found[draw(st.integers(0, len(found) - 1))]
        match draw(st.sampled_from(["change", "drop", "double", "add"])):
            case "change":
                holder[key] = copy.deepcopy(draw(OTHER))
            case "drop":
                del holder[key]
            case "double" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case _ if isinstance(holder, dict):
                holder[draw(st.sampled_from(["x-colour", "X-colour", "colour", "x-", "id"]))] = (
                    copy.deepcopy(draw(OTHER))
                )
            case _:
                holder.append(copy.deepcopy(draw(OTHER)))
    return tree


@settings(max_examples=300)
@given(manifests())
def test_a_manifest_is_read_where_the_second_reader_reads_it(tree: dict[str, Any]) -> None:
    try:
        read_manifest(encode(tree))
        read = True
    except PackageRefusedError:
        read = False
    wanted = accepts_manifest(tree)
    event(f"accepted: {wanted}")
    if tree.get("kind") != "asset":  # those are parsed, and never run
        assert read == wanted
