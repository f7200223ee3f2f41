"""No path, however made, reads anything but a plain file below the folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder

PARTS = [
    *("a", "b", "top.md", "deep.md", "link", "up", "abs", "out", "fifo", "..", ".", "", "/"),
    *("nul\0", "x" * 256, "half\ud83d", "bad\udcff", "~", "A", "secret.md", "outside"),
]
paths = st.lists(st.sampled_from(PARTS), max_size=8).map("/".join) | st.text(max_size=30)
unbroken = settings(
    deadline=None,
    max_examples=500,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
CODES = {
    "FILE_MISSING",
    "LINK_REFUSED",
    "NOT_REGULAR",
    "NOT_A_FOLDER",
    "FILE_TOO_LARGE",
    "OUTSIDE_ROOT",
    "NAME_INVALID",
    "FILE_UNREADABLE",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    (root / "top.md").write_text("inside top.md")
    (root / "a" / "b" / "deep.md").write_text("inside deep.md")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("secret")
    (tmp_path / "secret.md").write_text("secret")
    (root / "link").symlink_to("a")
    (root / "a" / "up").symlink_to("..")
    (root / "a" / "b" / "abs").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "out").symlink_to(tmp_path / "outside")
    os.mkfifo(root / "a" / "fifo")
    return root


@pytest.fixture
def folder(root: Path) -> Iterator[Folder]:
    with Folder.open(root) as opened:
        yield opened


@unbroken
@given(relative=paths)
def test_only_plain_files_below_are_read(root: Path, folder: Folder, relative: str) -> None:
    refusal: FilesError | None = None
    data = b""
    try:
        data = folder.read(relative, limit_bytes=100).data
    except FilesError as fault:
        refusal = fault
    if refusal is not None:
        assert refusal.code in CODES
        assert str(root) not in refusal.message
        refusal.message.encode("utf-8")
    else:
        path = root / relative
        assert data == b"inside " + path.name.encode()
        assert path.resolve() == Path(os.path.normpath(path))
        assert path.resolve().is_relative_to(root)


@unbroken
@given(relative=paths)
def test_only_folders_below_are_opened(root: Path, folder: Folder, relative: str) -> None:
    code = ""
    real = root.stat()
    try:
        with folder.descend(relative) as below:
            real = os.fstat(below.fd)
    except FilesError as fault:
        code = fault.code
    places = [root, root / "a", root / "a" / "b"]
    assert code in {"", *CODES}
    assert real.st_ino in {place.stat().st_ino for place in places}
