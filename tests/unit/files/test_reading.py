"""The guard around every read of a project: nothing outside, nothing special, nothing moving."""

import errno
import hashlib
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn, Self

import pytest

from agentic_os.errors import FilesError
from agentic_os.files import handles, reading
from agentic_os.files.reading import MAX_DEPTH_FOLDERS, Entry, Fingerprint, Folder

LIMIT = 1024


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    (root / "top.md").write_bytes(b"top")
    (root / "a" / "b" / "deep.md").write_bytes(b"deep")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_bytes(b"secret")
    (root / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "inner.md").symlink_to("top.md")
    (root / "dangling.md").symlink_to("nowhere")
    (root / "linked").symlink_to(tmp_path / "outside")
    (root / "a" / "linked").symlink_to("b")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "fifo")
    return root


@pytest.fixture
def folder(tree: Path) -> Iterator[Folder]:
    with Folder.open(tree) as opened:
        yield opened


def open_handles() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


def code_of(action: Callable[[], object]) -> str:
    with pytest.raises(FilesError) as caught:
        action()
    return caught.value.code


# --- opening a root ---------------------------------------------------------------------


def test_a_root_may_be_reached_through_the_persons_own_links(tree: Path) -> None:
    (tree.parent / "way").symlink_to(tree.parent)
    (tree.parent / "alias").symlink_to(tree)
    for path in (tree.parent / "way" / "root", tree.parent / "alias"):
        with Folder.open(path) as opened:
            assert opened.read("top.md", limit_bytes=LIMIT).data == b"top"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("missing", "FILE_MISSING"),
        ("top.md", "NOT_A_FOLDER"),
        ("fifo", "NOT_A_FOLDER"),
        ("loop", "LINK_REFUSED"),
        ("nul\0", "NAME_INVALID"),
        ("half\ud83d", "NAME_INVALID"),
        ("x" * 300, "NAME_INVALID"),
    ],
)
def test_a_root_that_is_no_folder_is_refused(tree: Path, name: str, code: str) -> None:
    before = open_handles()
    assert code_of(lambda: Folder.open(tree / name)) == code
    assert open_handles() == before


def test_a_platform_without_relative_opens_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())
    assert code_of(lambda: Folder.open(tree)) == "PLATFORM_UNSUPPORTED"


@pytest.mark.parametrize("flag", ["NOFOLLOW", "DIRECTORY"])
def test_a_platform_without_a_needed_flag_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    monkeypatch.setattr(reading, flag, 0)
    assert code_of(lambda: Folder.open(tree)) == "PLATFORM_UNSUPPORTED"


def test_a_closed_folder_reads_nothing_even_from_the_current_one(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree)
    opened = Folder.open(tree)
    opened.close()
    opened.close()
    assert opened.fd == -1
    assert code_of(lambda: opened.read("top.md", limit_bytes=LIMIT)) == "FILE_UNREADABLE"
    assert code_of(lambda: opened.read("a/b/deep.md", limit_bytes=LIMIT)) == "FILE_UNREADABLE"
    assert code_of(lambda: opened.stat("top.md")) == "FILE_UNREADABLE"
    assert code_of(lambda: opened.descend("a")) == "FILE_UNREADABLE"
    assert code_of(lambda: opened.entries(limit_entries=9)) == "FILE_UNREADABLE"


def test_a_forgotten_folder_is_closed_with_a_warning(tree: Path) -> None:
    before = open_handles()
    opened = Folder.open(tree)
    assert open_handles() == before + 1
    with pytest.warns(ResourceWarning, match="never closed"):
        opened.__del__()
    assert open_handles() == before


# --- walking ----------------------------------------------------------------------------


@pytest.mark.parametrize("relative", ["a/b", "a/./b", "a//b", "./a/b/", "a/b/."])
def test_descend_reaches_folders_below(folder: Folder, relative: str) -> None:
    with folder.descend(relative) as below:
        assert below.read("deep.md", limit_bytes=LIMIT).data == b"deep"


def test_the_empty_path_opens_the_folder_once_more(folder: Folder) -> None:
    with folder.descend("") as same:
        assert same.fd != folder.fd
        assert os.fstat(same.fd).st_ino == os.fstat(folder.fd).st_ino
    assert folder.read("top.md", limit_bytes=LIMIT).data == b"top"


REFUSED_WAYS = [
    ("..", "OUTSIDE_ROOT"),
    ("../root/a", "OUTSIDE_ROOT"),
    ("a/..", "OUTSIDE_ROOT"),
    ("a/../../outside", "OUTSIDE_ROOT"),
    ("/", "OUTSIDE_ROOT"),
    ("/etc", "OUTSIDE_ROOT"),
    ("a\0b", "NAME_INVALID"),
    ("a/\ud83d", "NAME_INVALID"),
    ("a/" + "x" * 300, "NAME_INVALID"),
    ("/".join("x" * (MAX_DEPTH_FOLDERS + 1)), "NAME_INVALID"),
    ("missing", "FILE_MISSING"),
    ("a/missing/b", "FILE_MISSING"),
    ("top.md", "NOT_A_FOLDER"),
    ("top.md/b", "NOT_A_FOLDER"),
    ("fifo", "NOT_A_FOLDER"),
    ("linked", "LINK_REFUSED"),
    ("a/linked", "LINK_REFUSED"),
    ("loop", "LINK_REFUSED"),
    ("dangling.md", "LINK_REFUSED"),
    ("linked/x", "LINK_REFUSED"),
]


@pytest.mark.parametrize(("relative", "code"), REFUSED_WAYS)
def test_descend_refuses_every_other_way(folder: Folder, relative: str, code: str) -> None:
    before = open_handles()
    assert code_of(lambda: folder.descend(relative)) == code
    assert open_handles() == before


def test_the_deepest_allowed_path_is_walked(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"x" * MAX_DEPTH_FOLDERS)
    deep.mkdir(parents=True)
    with Folder.open(tmp_path) as opened, opened.descend("/".join("x" * MAX_DEPTH_FOLDERS)) as end:
        assert os.fstat(end.fd).st_ino == deep.stat().st_ino


# --- reading ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relative", "data"),
    [
        ("top.md", b"top"),
        ("a/b/deep.md", b"deep"),
        ("./top.md", b"top"),
        ("a//b/./deep.md", b"deep"),
    ],
)
def test_read_gives_the_bytes_and_their_fingerprint(
    tree: Path, folder: Folder, relative: str, data: bytes
) -> None:
    before = open_handles()
    found = folder.read(relative, limit_bytes=LIMIT)
    assert open_handles() == before
    real = (tree / relative).stat()
    assert found.data == data
    assert found.fingerprint == Fingerprint(
        size=len(data),
        mtime_ns=real.st_mtime_ns,
        ctime_ns=real.st_ctime_ns,
        inode=real.st_ino,
    )
    assert folder.stat(relative) == found.fingerprint


def test_the_hash_is_of_the_bytes(folder: Folder) -> None:
    found = folder.read("top.md", limit_bytes=LIMIT)
    assert found.sha256 == hashlib.sha256(b"top").hexdigest()


@pytest.mark.parametrize("relative", ["", ".", "a/", "a/b/.", "top.md/", "top.md/."])
def test_a_path_that_names_a_folder_is_no_file(folder: Folder, relative: str) -> None:
    assert code_of(lambda: folder.read(relative, limit_bytes=LIMIT)) == "NAME_INVALID"
    assert code_of(lambda: folder.stat(relative)) == "NAME_INVALID"


@pytest.mark.parametrize(
    ("relative", "code"),
    [
        ("..", "OUTSIDE_ROOT"),
        ("../outside/secret.md", "OUTSIDE_ROOT"),
        ("a/../../outside/secret.md", "OUTSIDE_ROOT"),
        ("/etc/hostname", "OUTSIDE_ROOT"),
        ("nul\0", "NAME_INVALID"),
        ("a/nul\0", "NAME_INVALID"),
        ("half\udfff\ud83d", "NAME_INVALID"),
        ("x" * 300, "NAME_INVALID"),
        ("missing", "FILE_MISSING"),
        ("a/missing", "FILE_MISSING"),
        ("missing/x", "FILE_MISSING"),
        ("top.md/x", "NOT_A_FOLDER"),
        ("a", "NOT_REGULAR"),
        ("a/b", "NOT_REGULAR"),
        ("fifo", "NOT_REGULAR"),
        ("link.md", "LINK_REFUSED"),
        ("inner.md", "LINK_REFUSED"),
        ("dangling.md", "LINK_REFUSED"),
        ("loop", "LINK_REFUSED"),
        ("linked/secret.md", "LINK_REFUSED"),
        ("a/linked/deep.md", "LINK_REFUSED"),
        ("loop/x", "LINK_REFUSED"),
    ],
)
def test_read_and_stat_refuse_what_is_no_plain_file_below(
    folder: Folder, relative: str, code: str
) -> None:
    before = open_handles()
    assert code_of(lambda: folder.read(relative, limit_bytes=LIMIT)) == code
    assert code_of(lambda: folder.stat(relative)) == code
    assert open_handles() == before


def test_a_socket_is_refused(tree: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert code_of(lambda: folder.read("socket", limit_bytes=LIMIT)) == "NOT_REGULAR"


def test_a_device_is_refused_without_being_opened(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_device(*_args: object, **_kwargs: object) -> os.stat_result:
        return os.stat_result((stat.S_IFCHR | 0o666, *range(1, 10)))

    monkeypatch.setattr(os, "stat", as_device)
    monkeypatch.setattr(os, "open", _unreachable)
    assert code_of(lambda: folder.read("top.md", limit_bytes=LIMIT)) == "NOT_REGULAR"


def test_a_fifo_is_refused_without_being_opened(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Opening it would wake a writer that waits for a reader.
    monkeypatch.setattr(os, "open", _unreachable)
    assert code_of(lambda: folder.read("fifo", limit_bytes=LIMIT)) == "NOT_REGULAR"


def _unreachable(*_args: object, **_kwargs: object) -> NoReturn:
    raise AssertionError("this must not be opened")


@pytest.mark.parametrize(("size", "fits"), [(0, True), (9, True), (10, True), (11, False)])
def test_the_limit_is_a_size_that_still_fits(
    tree: Path, folder: Folder, size: int, *, fits: bool
) -> None:
    (tree / "sized").write_bytes(b"x" * size)
    if fits:
        assert folder.read("sized", limit_bytes=10).data == b"x" * size
    else:
        assert code_of(lambda: folder.read("sized", limit_bytes=10)) == "FILE_TOO_LARGE"


def test_a_file_that_is_too_large_is_not_read(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "read", _unreachable)
    assert code_of(lambda: folder.read("top.md", limit_bytes=2)) == "FILE_TOO_LARGE"


def test_short_reads_are_put_together(
    tree: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytes(range(256)) * 4
    (tree / "long").write_bytes(data)
    monkeypatch.setattr(handles, "_CHUNK_BYTES", 100)
    assert folder.read("long", limit_bytes=LIMIT).data == data


# --- races ------------------------------------------------------------------------------


def before_each(
    monkeypatch: pytest.MonkeyPatch, name: str, action: Callable[[int], None]
) -> list[int]:
    """Run ``action`` (given the number of the call) before each call of an ``os`` function."""
    real = getattr(os, name)
    calls: list[int] = []

    def wrapped(*args: object, **kwargs: object) -> object:
        calls.append(len(calls))
        action(calls[-1])
        return real(*args, **kwargs)

    monkeypatch.setattr(os, name, wrapped)
    return calls


def test_a_file_swapped_for_a_link_before_the_open_is_refused(
    tree: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swap(_call: int) -> None:
        (tree / "top.md").unlink(missing_ok=True)
        (tree / "top.md").symlink_to(tree.parent / "outside" / "secret.md")

    with monkeypatch.context() as patch:
        before_each(patch, "open", swap)
        patch.setattr(os, "fstat", _unreachable)  # the open itself must refuse
        assert code_of(lambda: folder.read("top.md", limit_bytes=LIMIT)) == "LINK_REFUSED"


@pytest.mark.timeout(30)
def test_a_file_swapped_for_a_fifo_before_the_open_does_not_block(
    tree: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swap(_call: int) -> None:
        (tree / "top.md").unlink(missing_ok=True)
        os.mkfifo(tree / "top.md")

    before_each(monkeypatch, "open", swap)
    before = open_handles()
    assert code_of(lambda: folder.read("top.md", limit_bytes=LIMIT)) == "NOT_REGULAR"
    assert open_handles() == before


def test_a_folder_swapped_for_a_link_before_the_open_is_refused(
    tree: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swap(_call: int) -> None:
        if not (tree / "a").is_symlink():
            (tree / "a").rename(tree / "moved")
            (tree / "a").symlink_to(tree.parent / "outside")

    before_each(monkeypatch, "open", swap)
    assert code_of(lambda: folder.read("a/secret.md", limit_bytes=LIMIT)) == "LINK_REFUSED"


@pytest.mark.parametrize(("swaps", "code"), [(1, None), (2, "FILE_CHANGED")])
def test_a_file_replaced_between_look_and_open_is_tried_once_more(
    tree: Path,
    folder: Folder,
    monkeypatch: pytest.MonkeyPatch,
    swaps: int,
    code: str | None,
) -> None:
    def swap(call: int) -> None:
        if call < swaps:
            (tree / "new").write_bytes(b"new%d" % call)
            (tree / "new").replace(tree / "top.md")

    calls = before_each(monkeypatch, "open", swap)
    before = open_handles()
    if code is None:
        assert folder.read("top.md", limit_bytes=LIMIT).data == b"new0"
    else:
        assert code_of(lambda: folder.read("top.md", limit_bytes=LIMIT)) == code
    assert calls == [0, 1]
    assert open_handles() == before


def test_a_file_that_was_just_listed_is_not_looked_at_by_name_again(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = folder.stat("top.md")
    monkeypatch.setattr(os, "stat", _unreachable)
    assert folder.read("top.md", limit_bytes=LIMIT, seen=seen).data == b"top"


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("a")])
def test_what_took_a_listed_file_s_name_is_refused(
    tree: Path, folder: Folder, make: Callable[[Path], None]
) -> None:
    seen = folder.stat("top.md")
    (tree / "top.md").unlink()
    make(tree / "top.md")
    code = code_of(lambda: folder.read("top.md", limit_bytes=LIMIT, seen=seen))
    assert code in {"NOT_REGULAR", "LINK_REFUSED"}


def test_a_file_that_replaced_a_listed_one_is_read(tree: Path, folder: Folder) -> None:
    seen = folder.stat("top.md")
    (tree / "new").write_bytes(b"new")
    (tree / "new").replace(tree / "top.md")
    found = folder.read("top.md", limit_bytes=LIMIT, seen=seen)
    assert (found.data, found.fingerprint) == (b"new", folder.stat("top.md"))


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"+")


def shrink(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def rewrite_in_place(path: Path) -> None:
    """Same size, same mtime: only the change time tells."""
    times = path.stat()
    with path.open("r+b") as file:
        file.write(b"T")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


@pytest.mark.parametrize("change", [grow, shrink, rewrite_in_place, replace])
@pytest.mark.parametrize(("times", "code"), [(1, None), (9, "FILE_CHANGED")])
def test_a_file_that_changes_under_the_read_is_read_again_then_refused(
    tree: Path,
    folder: Folder,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    times: int,
    code: str | None,
) -> None:
    path = tree / "top.md"
    path.write_bytes(b"long enough")
    os.utime(path, ns=(0, 0))

    def interfere(call: int) -> None:
        if call < times:
            _wait_for_the_clock(path)
            change(path)

    before_each(monkeypatch, "read", interfere)
    before = open_handles()
    if code is None:
        found = folder.read("top.md", limit_bytes=LIMIT)
        assert found.data == path.read_bytes()
        assert found.fingerprint.size == len(found.data)
        assert found.fingerprint.inode == path.stat().st_ino
    else:
        assert code_of(lambda: folder.read("top.md", limit_bytes=LIMIT)) == code
    assert open_handles() == before


def _wait_for_the_clock(path: Path) -> None:
    """Let the file system's coarse clock tick, so that a change shows in its times."""
    probe = path.with_name("probe")
    while True:
        probe.write_bytes(b"")
        if probe.stat().st_ctime_ns > path.stat().st_ctime_ns:
            return


def test_a_file_that_vanishes_between_list_and_read_is_missing(tree: Path, folder: Folder) -> None:
    names = [entry.name for entry in folder.entries(limit_entries=100)[0]]
    assert "top.md" in names
    (tree / "top.md").unlink()
    assert code_of(lambda: folder.read("top.md", limit_bytes=LIMIT)) == "FILE_MISSING"


# --- errors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EACCES, "FILE_UNREADABLE"),
        (errno.EPERM, "FILE_UNREADABLE"),
        (errno.EIO, "FILE_UNREADABLE"),
        (errno.EMFILE, "FILE_UNREADABLE"),
        (errno.ESTALE, "FILE_UNREADABLE"),
        (errno.ENXIO, "NOT_REGULAR"),
        (errno.ELOOP, "LINK_REFUSED"),
        (errno.EILSEQ, "NAME_INVALID"),
        (errno.EINVAL, "NAME_INVALID"),
        (0, "FILE_UNREADABLE"),
    ],
)
def test_system_errors_become_codes_without_absolute_paths(
    tree: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        if number:
            raise OSError(number, os.strerror(number), str(tree / "top.md"))
        raise OSError

    for name in ("open", "read", "fstat"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, refuse)
            with pytest.raises(FilesError) as caught:
                folder.read("top.md", limit_bytes=LIMIT)
            assert caught.value.code == code
            assert str(tree) not in caught.value.message
            reason = os.strerror(number) if number else "unknown reason"
            assert caught.value.message == f"top.md: {reason}"


def test_handles_are_closed_when_a_read_is_interrupted(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_args: object) -> NoReturn:
        raise KeyboardInterrupt

    before = open_handles()
    monkeypatch.setattr(os, "read", interrupt)
    with pytest.raises(KeyboardInterrupt):
        folder.read("a/b/deep.md", limit_bytes=LIMIT)
    assert open_handles() == before


def test_messages_show_untrusted_names_harmlessly_and_briefly(folder: Folder) -> None:
    with pytest.raises(FilesError) as caught:
        folder.read("evil\x1b[31m\n\u202e.md", limit_bytes=LIMIT)
    assert caught.value.message.startswith("evil<U+001B>[31m<U+000A><U+202E>.md: ")
    with pytest.raises(FilesError) as caught:
        folder.read("y" * 5000, limit_bytes=LIMIT)
    assert len(caught.value.message) < 300
    with pytest.raises(FilesError) as caught:
        folder.read("", limit_bytes=LIMIT)
    assert caught.value.message == ". names a folder"


# --- listing ----------------------------------------------------------------------------


def test_entries_are_sorted_and_links_keep_their_kind(folder: Folder) -> None:
    found, truncated = folder.entries(limit_entries=100)
    assert not truncated
    assert [(entry.name, entry.kind) for entry in found] == [
        ("a", "folder"),
        ("dangling.md", "link"),
        ("fifo", "other"),
        ("inner.md", "link"),
        ("link.md", "link"),
        ("linked", "link"),
        ("loop", "link"),
        ("top.md", "file"),
    ]
    assert all(entry.fingerprint is None for entry in found)


def test_entries_give_fingerprints_when_asked(folder: Folder) -> None:
    found, _ = folder.entries(limit_entries=100, stat=True)
    by_name = {entry.name: entry for entry in found}
    assert by_name["top.md"].fingerprint == folder.stat("top.md")
    link = by_name["link.md"].fingerprint
    assert link is not None
    assert link.inode == os.stat("link.md", dir_fd=folder.fd, follow_symlinks=False).st_ino


@pytest.mark.parametrize(("limit", "count", "more"), [(8, 8, False), (7, 7, True), (0, 0, True)])
def test_entries_say_when_there_were_more(
    folder: Folder, limit: int, count: int, *, more: bool
) -> None:
    found, truncated = folder.entries(limit_entries=limit)
    assert (len(found), truncated) == (count, more)
    assert folder.entries(limit_entries=100)[0] == folder.entries(limit_entries=100)[0]


def test_an_outline_says_what_the_entries_say(folder: Folder) -> None:
    entries, _ = folder.entries(limit_entries=8, stat=True)
    assert folder.outline(limit_entries=8) == entries
    assert {kind for _, kind, _ in folder.outline(limit_entries=8)} == {
        *("file", "folder", "link", "other")
    }


def test_an_outline_is_whole_or_refused(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert code_of(lambda: folder.outline(limit_entries=7)) == "TOO_MANY_ENTRIES"
    monkeypatch.setattr(os, "scandir", lambda _fd: _Listing([_Vanished()]))
    assert folder.outline(limit_entries=9) == [("gone", "other", None)]

    def refuse(_fd: int) -> NoReturn:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(os, "scandir", refuse)
    assert code_of(lambda: folder.outline(limit_entries=9)) == "FILE_UNREADABLE"
    folder.close()
    assert code_of(lambda: folder.outline(limit_entries=9)) == "FILE_UNREADABLE"


def test_names_that_are_not_utf8_are_listed_and_can_be_read(tree: Path, folder: Folder) -> None:
    try:
        (Path(os.fsdecode(os.fsencode(tree) + b"/bad\xff.md"))).write_bytes(b"bad")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    names = [entry.name for entry in folder.entries(limit_entries=100)[0]]
    assert "bad\udcff.md" in names
    assert folder.read("bad\udcff.md", limit_bytes=LIMIT).data == b"bad"


def test_a_folder_that_cannot_be_listed_is_unreadable(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_fd: int) -> NoReturn:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(os, "scandir", refuse)
    assert code_of(lambda: folder.entries(limit_entries=9)) == "FILE_UNREADABLE"


class _Vanished:
    """A directory entry whose file is gone when it is looked at."""

    name = "gone"

    def is_file(self, *, follow_symlinks: bool) -> NoReturn:
        raise FileNotFoundError(follow_symlinks)

    def stat(self, *, follow_symlinks: bool) -> NoReturn:
        raise FileNotFoundError(follow_symlinks)


class _Listing(list[_Vanished]):
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        return None


def test_a_name_that_vanishes_while_listing_is_kept_without_a_fingerprint(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "scandir", lambda _fd: _Listing([_Vanished()]))
    found, _ = folder.entries(limit_entries=9, stat=True)
    assert found == [Entry(name="gone", kind="other", fingerprint=None)]
