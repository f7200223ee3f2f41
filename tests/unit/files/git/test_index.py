"""The index as the real git writes it, and as nobody should."""

import hashlib
import struct
from pathlib import Path

import pytest

from agentic_os.errors import FilesError
from agentic_os.files.git import index as git_index
from agentic_os.files.git.checkout import read_checkout
from agentic_os.files.git.index import MAX_NAME_BYTES, parse_index, read_index
from support.fleet.git_repository import git, repository

FILES = {"a.py": "1", "src/deep/b.py": "2", "src/deep/ö c.txt": "3", "src/deepest": "4"}


def tracked(folder: Path) -> frozenset[str]:
    checkout = read_checkout(folder)
    assert checkout is not None
    return read_index(checkout.git_dir)


def index(*names: bytes, version: int = 2, mode: int = 0o100644, flags: int = 0) -> bytes:
    """An index made by hand, with a checksum that is none, as git's ``index.skipHash``."""
    data = struct.pack(">4sLL", b"DIRC", version, len(names))
    before = b""
    for name in names:
        entry = bytes(24) + struct.pack(">L", mode) + bytes(12) + bytes(20)
        entry += struct.pack(">H", flags | min(len(name), 0x0FFF))
        if flags & 0x4000 and version > 2:
            entry += struct.pack(">H", 0x4000)
        if version == 4:
            entry += _varint(len(before)) + name + b"\0"
        else:
            entry += name
            entry += bytes(8 - len(entry) % 8)
        data += entry
        before = name
    return data + bytes(20)


def _varint(number: int) -> bytes:
    out = [number & 0x7F]
    while number := (number >> 7):
        number -= 1
        out.append(0x80 | (number & 0x7F))
    return bytes(reversed(out))


@pytest.mark.parametrize("version", [2, 3, 4])
def test_the_files_of_a_real_index(tmp_path: Path, version: int) -> None:
    folder = repository(tmp_path / "r", FILES)
    git(folder, "update-index", f"--index-version={version}")

    assert tracked(folder) == set(FILES)


def test_a_sha256_repository(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", FILES, "--object-format=sha256")

    assert tracked(folder) == set(FILES)


def test_an_entry_that_is_only_intended_and_one_that_is_skipped(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", FILES)
    (folder / "new.py").write_text("5")
    git(folder, "add", "--intent-to-add", "new.py")
    git(folder, "update-index", "--skip-worktree", "a.py")

    assert tracked(folder) == {*FILES, "new.py"}


def test_a_linked_worktree_has_an_index_of_its_own(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", FILES)
    git(folder, "worktree", "add", "-q", str(tmp_path / "w"))
    (tmp_path / "w" / "only-here.py").write_text("6")
    git(tmp_path / "w", "add", "only-here.py")

    assert tracked(tmp_path / "w") == {*FILES, "only-here.py"}
    assert tracked(folder) == set(FILES)


def test_an_unmerged_file_counts_once(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", FILES)
    git(folder, "checkout", "-q", "-b", "other")
    (folder / "a.py").write_text("theirs")
    git(folder, "commit", "-qam", "theirs")
    git(folder, "checkout", "-q", "main")
    (folder / "a.py").write_text("ours")
    git(folder, "commit", "-qam", "ours")
    git(folder, "merge", "other", check=False)

    assert "both modified" in git(folder, "status")
    assert tracked(folder) == set(FILES)


def test_links_and_submodules_are_no_files(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", {"x": "1"})
    folder = repository(tmp_path / "r", FILES)
    (folder / "link").symlink_to("a.py")
    git(folder, "submodule", "add", "-q", str(inner), "sub")
    git(folder, "add", "link")

    assert tracked(folder) == {*FILES, ".gitmodules"}


def test_the_folders_of_a_sparse_index_are_no_files(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {**FILES, "out/of/cone.py": "7"})
    git(folder, "sparse-checkout", "set", "--cone", "--sparse-index", "src")

    assert "out/of/cone.py" not in tracked(folder)
    assert "src/deep/b.py" in tracked(folder)


def test_a_checkout_without_commits_tracks_nothing(tmp_path: Path) -> None:
    assert tracked(repository(tmp_path / "r", {})) == frozenset()


def test_a_split_index_is_refused(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", FILES)
    git(folder, "update-index", "--split-index")

    with pytest.raises(FilesError) as fault:
        tracked(folder)
    assert fault.value.code == "GIT_INDEX_SPLIT"


def test_an_index_that_is_a_link_is_refused(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", FILES)
    real = folder / ".git" / "index"
    real.rename(tmp_path / "elsewhere")
    real.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(FilesError) as fault:
        tracked(folder)
    assert fault.value.code == "LINK_REFUSED"


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_name_longer_than_its_length_field(version: int) -> None:
    name = b"a/" * 2040 + b"name.py"

    assert len(name) >= 0x0FFF - 8
    long = name[: MAX_NAME_BYTES - 1]
    assert parse_index(index(b"a", long, version=version)) == {"a", long.decode()}


def test_extended_flags_have_two_more_bytes() -> None:
    assert parse_index(index(b"a", b"b", version=3, flags=0x4000)) == {"a", "b"}


def test_names_that_are_not_utf8_are_kept() -> None:
    assert parse_index(index(b"\xff.py")) == {"\udcff.py"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"DIRC",
        b"JUNK" + index(b"a")[4:],
        index(b"a", version=5),
        index(b"a")[:40],
        index(b"a")[:-28],
        struct.pack(">4sLL", b"DIRC", 2, 2**31),
        index(b""),
        index(b"x" * (MAX_NAME_BYTES + 1)),
        index(b"a", version=4)[:-22] + b"\xff" * 30,
        index(b"ab", version=4)[:-23],
    ],
)
def test_bytes_that_are_no_index_are_refused(data: bytes) -> None:
    with pytest.raises(FilesError) as fault:
        parse_index(data)
    assert fault.value.code == "GIT_INDEX_INVALID"
    assert fault.value.hint


def test_a_name_that_drops_more_than_there_is() -> None:
    one = struct.pack(">4sLL", b"DIRC", 4, 1)
    entry = bytes(24) + struct.pack(">L", 0o100644) + bytes(32) + struct.pack(">H", 1)

    with pytest.raises(FilesError, match="drops more"):
        parse_index(one + entry + b"\x05a\0" + bytes(20))
    with pytest.raises(FilesError, match="drops more"):
        parse_index(one + entry + b"\xff\xff\xff\xff\x05a\0" + bytes(20))


def test_names_are_bounded_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_index, "MAX_NAMES_BYTES", 10)

    assert parse_index(index(b"12345", b"12346")) == {"12345", "12346"}
    with pytest.raises(FilesError, match="names that no file has"):
        parse_index(index(b"12345", b"12346", b"1"))


def test_extensions_are_passed_over() -> None:
    plain = index(b"a")[:-20]
    extension = struct.pack(">4sL", b"TREE", 3) + b"abc"
    unsplit = struct.pack(">4sL", b"link", 20) + bytes(20)
    split = struct.pack(">4sL", b"link", 20) + hashlib.sha1(b"x").digest()  # noqa: S324 - a name

    assert parse_index(plain + extension + unsplit + bytes(20)) == {"a"}
    with pytest.raises(FilesError) as fault:
        parse_index(plain + extension + split + bytes(20))
    assert fault.value.code == "GIT_INDEX_SPLIT"
