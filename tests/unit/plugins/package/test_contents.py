"""The bytes of packages against the format's vectors (runtime and plugins, section 12)."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import sha256_hex
from agentic_os.errors import PackageRefusedError
from agentic_os.plugins.package import archive
from agentic_os.plugins.package.archive import Member, write_archive
from agentic_os.plugins.package.compressed import HEADER
from agentic_os.plugins.package.contents import read_package
from agentic_os.plugins.trust.release import check_package
from support.plugins.packages import ECHO_ID, Recipe, packed, repacked

TOP = f"{ECHO_ID}-0.1.0"


def refusal(data: bytes) -> str:
    with pytest.raises(PackageRefusedError) as caught:
        check_package(io.BytesIO(data))
    return caught.value.reason


def tar_of(data: bytes) -> bytes:
    return gzip.decompress(data)


def test_the_vector_package_has_the_formats_bytes_and_hashes() -> None:
    recipe = Recipe()
    data = recipe.packed()

    tar = tar_of(data)
    checked = check_package(io.BytesIO(data))

    assert sha256_hex(recipe.descriptors).startswith("e286790259963888")
    assert recipe.package_hash == (
        "sha256:dafe15aafe93c6f69867a8221916f4b218dd1eb9a645e08d5f7dd034ee449839"
    )
    assert recipe.manifest_hash == (
        "sha256:9546e86f01a7dcabdc6b012fd2ce0e96346551f5dfb77cff64666b1f24b80480"
    )
    assert len(tar) == 7_168
    assert sha256_hex(tar) == "a726e2de7892bc7da9c6d10af2e3a4ca7f76103d2597903decb25465539fe2d7"
    assert sha256_hex(tar[:512]) == (
        "85e77c7d86f2b1afc871d2879c16c0760e01b0dd7a3c0e52dcbc64587a60226c"
    )
    assert checked.quartet.package_hash == recipe.package_hash
    assert checked.quartet.manifest_hash == recipe.manifest_hash
    assert list(checked.operations) == ["core.echo"]


def test_two_packings_of_one_folder_are_the_same_bytes() -> None:
    assert Recipe().packed() == Recipe().packed()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:3] + b"\x08" + data[4:],
        lambda data: data[:4] + b"\x01\x00\x00\x00" + data[8:],
        lambda data: data + b"\x00",
        lambda data: data + data,
        lambda data: data[:-1],
        lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
        lambda data: data[: len(data) // 2],
        lambda _: b"",
        lambda _: b"PK\x03\x04",
        lambda data: repacked(tar_of(data) + bytes(512)),
        lambda data: repacked(tar_of(data)[:-512]),
        lambda data: repacked(tar_of(data)[:-1024]),
    ],
)
def test_another_spelling_of_the_envelope_is_refused(change: Callable[[bytes], bytes]) -> None:
    assert refusal(change(Recipe().packed())) == "ENVELOPE_MALFORMED"


def test_members_out_of_order_or_alike_are_refused() -> None:
    files = Recipe().files

    def of(*order: str) -> bytes:
        tar = io.BytesIO()
        blocks: list[bytes] = []
        for path in order:
            sink = io.BytesIO()
            data = files.get(path)
            member = Member(
                path=f"{TOP}/{path}" if path else TOP,
                is_folder=data is None,
                size=len(data or b""),
            )
            blocks.append(archive._headers(member))
            blocks.append(data or b"")
            blocks.append(bytes(-len(data or b"") % 512))
            del sink
        tar.write(b"".join(blocks) + bytes(1024))
        return repacked(tar.getvalue())

    folders = ["install-root", "install-root/interfaces", "install-root/variants"]
    good = sorted(["", *folders, "install-root/variants/linux-x86_64-wasm", *files])
    assert check_package(io.BytesIO(of(*good))).manifest.id == ECHO_ID

    swapped = [one for one in good if one != "manifest.json"]
    swapped.insert(1, "manifest.json")
    assert refusal(of(*swapped)) == "MEMBER_ORDER_VIOLATION"
    assert refusal(of(*good[:-1], good[-1], good[-1])) == "MEMBER_ORDER_VIOLATION"
    assert refusal(of(*[one for one in good if one != "install-root"])) == "MEMBER_ORDER_VIOLATION"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("install-root/variants/linux-x86_64-wasm/Plugin.wasm", "MEMBER_ORDER_VIOLATION"),
        ("install-root/variants/linux-x86_64-wasm/con.txt", "ENVELOPE_MALFORMED"),
        ("install-root/variants/linux-x86_64-wasm/a b", "ENVELOPE_MALFORMED"),
        ("install-root/variants/linux-x86_64-wasm/dot.", "ENVELOPE_MALFORMED"),
        ("install-root/variants/linux-x86_64-wasm/..", "ENVELOPE_MALFORMED"),
        ("elsewhere/file", "ENVELOPE_MALFORMED"),
        ("install-root/notes.txt", "ENVELOPE_MALFORMED"),
        ("signatures/other.sig", "ENVELOPE_MALFORMED"),
    ],
)
def test_a_path_that_no_package_has_is_refused(path: str, reason: str) -> None:
    with pytest.raises(PackageRefusedError) as caught:
        Recipe(extra={path: b"x"}).packed()

    assert caught.value.reason == reason


def test_links_and_foreign_headers_are_refused() -> None:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        folder = tarfile.TarInfo(TOP)
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(folder)
        link = tarfile.TarInfo(f"{TOP}/manifest.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)

    assert refusal(repacked(sink.getvalue())) == "ENVELOPE_MALFORMED"


@pytest.mark.parametrize("at", [0, 100, 108, 124, 136, 148, 156, 157, 257, 265, 329, 345, 500, 511])
def test_each_field_of_a_header_has_one_spelling(at: int) -> None:
    tar = bytearray(tar_of(Recipe().packed()))
    tar[at] ^= 0x01

    assert refusal(repacked(bytes(tar))) in {"ENVELOPE_MALFORMED", "MEMBER_ORDER_VIOLATION"}


def test_a_changed_file_is_found_by_its_hash() -> None:
    files = Recipe().files
    changed = files["install-root/interfaces/core.echo.v1.schema.json"].replace(b"back", b"bach")
    files["install-root/interfaces/core.echo.v1.schema.json"] = changed

    assert refusal(packed(TOP, files)) == "PACKAGE_HASH_MISMATCH"


def test_a_folder_of_another_release_is_refused() -> None:
    assert refusal(packed(f"{ECHO_ID}-0.1.1", Recipe().files)) == "ENVELOPE_MALFORMED"


def test_long_paths_go_through_an_extended_header_and_back() -> None:
    long = "install-root/variants/linux-x86_64-wasm/" + "/".join(["d" * 90] * 3) + "/" + "f" * 120
    package = read_package(io.BytesIO(Recipe(extra={long: b"deep"}).packed()))

    assert long.removeprefix("install-root/") in [one.path for one in package.files]


def test_a_bomb_is_stopped_while_it_is_read() -> None:
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    header = archive._headers(Member(path=TOP, is_folder=True))
    header += archive._headers(Member(path=f"{TOP}/README.md", size=2**31 + 512))
    data = HEADER + body.compress(header + bytes(1024 * 1024)) + body.flush()

    assert refusal(data + bytes(8)) == "CEILING_EXCEEDED"


@given(st.binary(max_size=2_000))
def test_no_bytes_are_read_as_a_package_or_crash_the_reader(data: bytes) -> None:
    with pytest.raises(PackageRefusedError):
        read_package(io.BytesIO(data))


@given(st.integers(0, 7_167), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_makes_another_release(at: int, flip: int) -> None:
    tar = bytearray(tar_of(Recipe().packed()))
    tar[at] ^= flip

    try:
        checked = check_package(io.BytesIO(repacked(bytes(tar))))
    except PackageRefusedError:
        return
    # Only the manifest is left, which the hash that is signed covers.
    assert checked.quartet.manifest_hash != Recipe().manifest_hash


@given(
    st.dictionaries(
        st.from_regex(r"[a-z0-9_+-]{1,9}(?:/[a-z0-9_+-]{1,60}){0,4}", fullmatch=True),
        st.binary(max_size=700),
        max_size=6,
    )
)
def test_the_library_reads_what_we_write(files: dict[str, bytes]) -> None:
    placed = {f"install-root/variants/v/{path}": data for path, data in files.items()}
    try:
        data = packed("a-1.0.0", placed)
    except PackageRefusedError:
        return  # a file where another has a folder, or a name like a sibling's

    with tarfile.open(fileobj=io.BytesIO(tar_of(data))) as tar:
        found = {
            one.name.removeprefix("a-1.0.0/"): (tar.extractfile(one) or io.BytesIO()).read()
            for one in tar.getmembers()
            if one.isfile()
        }
    assert found == placed


def test_a_member_that_changes_while_it_is_packed_is_refused() -> None:
    with pytest.raises(PackageRefusedError):
        write_archive(iter([(Member(path="a", size=4), iter((b"abc",)))]), lambda _: None)


def test_the_manifest_is_hashed_by_its_canonical_text() -> None:
    files = Recipe().files
    spaced = encode(Recipe().manifest).replace(b",", b", ")
    files["manifest.json"] = spaced

    assert check_package(io.BytesIO(packed(TOP, files))).quartet.manifest_hash == (
        Recipe().manifest_hash
    )
