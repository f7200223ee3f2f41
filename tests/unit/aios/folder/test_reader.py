import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentic_os.aios.folder.allowance import Allowance, Amount, Charges
from agentic_os.aios.folder.layer import FileLayer, Stamp
from agentic_os.aios.folder.reader import MAX_OPEN_FOLDERS, FolderReader, SourceRead
from agentic_os.errors import AiosError
from support.aios.builder import AiosBuilder, MeddlingLayer

CHANGED = "DOTAIOS_CONTEXT_SOURCE_CHANGED"
UNSAFE = "DOTAIOS_UNSAFE_READ_PATH"
LIMIT = Amount(bytes=1000, files=10, entries=100)


@pytest.fixture
def charges() -> Charges:
    return Charges(Allowance(LIMIT))


@pytest.fixture
def reader(aios: AiosBuilder) -> Iterator[FolderReader]:
    with FolderReader(aios.root, files=FileLayer()) as opened:
        yield opened


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(AiosError) as caught:
        call()
    assert "/" not in caught.value.message
    return caught.value.code


def read(reader: FolderReader, relative: str, charges: Charges) -> SourceRead | None:
    return reader.read(relative, limit_bytes=100, charges=charges)


def test_a_read_charges_and_returns_exact_bytes(
    aios: AiosBuilder, reader: FolderReader, charges: Charges
) -> None:
    aios.write("context/work.md", "\ufeff# Wörk\r\n")
    found = read(reader, "context/work.md", charges)
    assert found is not None
    assert found.exact_text == "\ufeff# Wörk\r\n"
    assert found.text == "# Wörk\r\n"
    assert charges.allowances[0].used == Amount(bytes=len(found.data), files=1)


def test_a_prefix_is_read_and_charged_alone(
    aios: AiosBuilder, reader: FolderReader, charges: Charges
) -> None:
    aios.write("a.md", "x" * 500)
    found = reader.read("a.md", limit_bytes=500, prefix_bytes=10, charges=charges)
    assert found is not None
    assert found.data == b"x" * 10
    assert charges.allowances[0].used.bytes == 10


def test_what_is_missing_is_none(reader: FolderReader, charges: Charges) -> None:
    assert read(reader, "context/work.md", charges) is None
    assert read(reader, "none.md", charges) is None
    assert reader.entries("memory/signals", limit_entries=1, too_many="X", charges=charges) is None
    assert reader.inspect("a/b/c.md", hold=True) is None
    reader.recheck()


def test_limits_fail_before_anything_is_opened(
    aios: AiosBuilder, reader: FolderReader, charges: Charges
) -> None:
    aios.write("a.md", "x" * 101)
    assert code_of(lambda: read(reader, "a.md", charges)) == "DOTAIOS_CONTEXT_SOURCE_TOO_LARGE"
    aios.write("b.md", "x" * 100)
    assert read(reader, "b.md", charges) is not None
    small = Charges(Allowance(Amount(bytes=99, files=1)))
    assert code_of(lambda: read(reader, "b.md", small)) == "DOTAIOS_EVIDENCE_BYTE_BUDGET_EXCEEDED"


def test_invalid_utf8_is_refused(aios: AiosBuilder, reader: FolderReader, charges: Charges) -> None:
    aios.write("a.md", b"\xff")
    found = read(reader, "a.md", charges)
    assert found is not None
    assert code_of(lambda: found.text) == "DOTAIOS_INVALID_UTF8"


def test_links_and_special_files_are_refused(
    aios: AiosBuilder, reader: FolderReader, charges: Charges
) -> None:
    outside = aios.write("../outside.md", "secret")
    (aios.root / "context").mkdir()
    (aios.root / "context/link.md").symlink_to(outside)
    (aios.root / "linked").symlink_to(outside.parent, target_is_directory=True)
    os.mkfifo(aios.root / "fifo.md")
    (aios.root / "folder.md").mkdir()
    assert code_of(lambda: read(reader, "context/link.md", charges)) == UNSAFE
    assert code_of(lambda: read(reader, "linked/outside.md", charges)) == UNSAFE
    assert code_of(lambda: read(reader, "aios.json/x", charges)) == UNSAFE
    regular = "DOTAIOS_NOT_REGULAR_FILE"
    assert code_of(lambda: read(reader, "fifo.md", charges)) == regular
    assert code_of(lambda: read(reader, "folder.md", charges)) == regular


def test_a_socket_is_refused(aios: AiosBuilder, charges: Charges, tmp_path: Path) -> None:
    del tmp_path
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(aios.root)  # socket paths are short
        try:
            listening.bind("s.md")
        finally:
            os.chdir(here)
        with FolderReader(aios.root, files=FileLayer()) as reader:
            assert code_of(lambda: read(reader, "s.md", charges)) == "DOTAIOS_NOT_REGULAR_FILE"


def test_a_fifo_that_replaces_a_file_cannot_hang_the_reader(
    aios: AiosBuilder, charges: Charges
) -> None:
    path = aios.write("a.md", "text")

    def swap() -> None:
        path.unlink()
        os.mkfifo(path)

    layer = MeddlingLayer(("open_file", "a.md"), swap, before=True)
    with FolderReader(aios.root, files=layer) as reader:
        assert code_of(lambda: read(reader, "a.md", charges)) == CHANGED
    assert layer.done


@pytest.mark.parametrize(
    "relative", ["../x", "/etc/passwd", "a//b", "a/./b", ".", "", "a/\0", "a/..", "a/b/../../c"]
)
def test_paths_that_could_leave_are_refused(
    reader: FolderReader, charges: Charges, relative: str
) -> None:
    assert code_of(lambda: read(reader, relative, charges)) == UNSAFE


def test_names_that_no_file_can_have(reader: FolderReader, charges: Charges) -> None:
    assert code_of(lambda: read(reader, "a" * 5000, charges)) == "DOTAIOS_READ_FAILED"
    assert code_of(lambda: read(reader, "/".join(["a"] * 200), charges)) == "DOTAIOS_READ_FAILED"


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


CHANGES: dict[str, Callable[[Path], object]] = {
    "grown": lambda path: path.write_text("more than before"),
    "touched": lambda path: os.utime(path, ns=(1, 1)),
    "replaced": lambda path: [path.rename(path.with_suffix(".old")), path.write_text("text")],
    "removed": lambda path: path.unlink(),
    "linked": _link,
    "hard-linked": lambda path: os.link(path, path.with_suffix(".two")),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("step", ["stamp", "open_file", "read"])
def test_a_change_at_any_step_is_noticed(
    aios: AiosBuilder, charges: Charges, step: str, change: str
) -> None:
    path = aios.write("context/a.md", "text")
    layer = MeddlingLayer((step, "a.md"), lambda: CHANGES[change](path))
    with FolderReader(aios.root, files=layer) as reader:
        code = code_of(lambda: read(reader, "context/a.md", charges))
    assert layer.done
    assert code in {CHANGED, UNSAFE} if change == "linked" else code == CHANGED


def test_a_folder_swapped_for_another_is_noticed(aios: AiosBuilder, charges: Charges) -> None:
    aios.write("context/a.md", "inside")
    aios.write("../outside/a.md", "outside")

    def swap() -> None:
        (aios.root / "context").rename(aios.root / "moved")
        (aios.root / "context").symlink_to(aios.root / "../outside", target_is_directory=True)

    layer = MeddlingLayer(("read", "a.md"), swap, before=True)
    with FolderReader(aios.root, files=layer) as reader:
        assert code_of(lambda: read(reader, "context/a.md", charges)) == CHANGED


def test_a_file_that_appears_while_it_is_looked_for(aios: AiosBuilder, charges: Charges) -> None:
    layer = MeddlingLayer(("open_folder", "context"), lambda: aios.write("context/a.md", "new"))
    with FolderReader(aios.root, files=layer) as reader:
        assert code_of(lambda: read(reader, "context/a.md", charges)) == CHANGED


def test_an_earlier_observation_must_still_hold(
    aios: AiosBuilder, reader: FolderReader, charges: Charges
) -> None:
    path = aios.write("a.md", "text")
    seen = reader.inspect("a.md")
    assert seen is not None
    path.write_text("other")

    def again() -> SourceRead:
        return reader.read_seen("a.md", seen, limit_bytes=100, charges=charges)

    assert code_of(again) == CHANGED
    path.unlink()
    assert code_of(again) == CHANGED
    assert charges.allowances[0].used.files == 0


def test_folders_are_listed_within_their_limit(
    aios: AiosBuilder, reader: FolderReader, charges: Charges
) -> None:
    for name in ("b.md", "a.md"):
        aios.write(f"notes/{name}", "x")

    def listed(limit: int) -> list[str]:
        found = reader.entries("notes", limit_entries=limit, too_many="TOO", charges=charges)
        return [entry.name for entry in found or ()]

    assert listed(2) == ["a.md", "b.md"]
    with pytest.raises(KeyError):
        listed(1)  # only codes of the room have words
    found = reader.entries("", limit_entries=9, too_many="TOO", charges=charges)
    assert [entry.name for entry in found or ()] == ["aios.json", "notes"]
    assert charges.allowances[0].used.entries == 5


def test_a_folder_that_changes_while_it_is_listed(aios: AiosBuilder, charges: Charges) -> None:
    aios.write("notes/a.md", "x")
    layer = MeddlingLayer(("names", ""), lambda: aios.write("notes/b.md", "x"))
    with FolderReader(aios.root, files=layer) as reader:
        code = code_of(
            lambda: reader.entries("notes", limit_entries=9, too_many="TOO", charges=charges)
        )
    assert code == CHANGED


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "held.md").write_text("other"),
        lambda root: (root / "held.md").unlink(),
        lambda root: (root / "absent.md").write_text("new"),
        lambda root: (root / "notes/new.md").write_text("new"),
        lambda root: (root / "notes").rename(root / "moved"),
        lambda root: (root / "gone").mkdir(),
        lambda root: root.rename(root.with_name("elsewhere")),
        lambda root: [root.rename(root.with_name("elsewhere")), root.mkdir()],
    ],
)
def test_what_is_held_is_observed_again(
    aios: AiosBuilder, charges: Charges, change: Callable[[Path], object]
) -> None:
    aios.write("held.md", "text")
    aios.write("notes/a.md", "x")
    with FolderReader(aios.root, files=FileLayer()) as reader:
        reader.read("held.md", limit_bytes=9, charges=charges, hold=True)
        reader.inspect("absent.md", hold=True)
        for name in ("notes", "gone"):
            reader.entries(name, limit_entries=9, too_many="TOO", charges=charges, hold=True)
        reader.recheck()
        change(aios.root)
        assert code_of(reader.recheck) == CHANGED


def test_two_different_observations_are_a_change(aios: AiosBuilder, reader: FolderReader) -> None:
    path = aios.write("a.md", "text")
    reader.inspect("a.md", hold=True)
    path.write_text("other")
    assert code_of(lambda: reader.inspect("a.md", hold=True)) == CHANGED


def test_unrelated_changes_are_none(
    aios: AiosBuilder, reader: FolderReader, charges: Charges
) -> None:
    aios.write("context/a.md", "x")
    reader.read("context/a.md", limit_bytes=9, charges=charges, hold=True)
    aios.write("context/sibling.md", "x")
    aios.write("other.md", "x")
    reader.recheck()


def test_the_root_may_be_one_link(aios: AiosBuilder, charges: Charges, tmp_path: Path) -> None:
    link, twice = tmp_path / "link", tmp_path / "twice"
    link.symlink_to(aios.root, target_is_directory=True)
    twice.symlink_to(link, target_is_directory=True)
    aios.write("a.md", "x")
    with FolderReader(link, files=FileLayer()) as reader:
        assert read(reader, "a.md", charges) is not None
        assert reader.real_root == aios.root
        reader.recheck()
        link.unlink()
        link.symlink_to(tmp_path, target_is_directory=True)
        assert code_of(reader.recheck) == CHANGED
    assert code_of(lambda: FolderReader(twice, files=FileLayer())) == UNSAFE
    broken = tmp_path / "broken"
    broken.symlink_to(tmp_path / "nothing")
    assert code_of(lambda: FolderReader(broken, files=FileLayer())) == UNSAFE


def test_a_root_that_is_no_folder(tmp_path: Path) -> None:
    missing = "DOTAIOS_FOLDER_MISSING"
    assert code_of(lambda: FolderReader(tmp_path / "none", files=FileLayer())) == missing
    file = tmp_path / "file"
    file.write_text("x")
    assert code_of(lambda: FolderReader(file, files=FileLayer())) == missing


def test_a_root_swapped_while_it_is_opened(aios: AiosBuilder, tmp_path: Path) -> None:
    class Swapping(FileLayer):
        def real_path(self, path: Path) -> Path:
            real = super().real_path(path)
            aios.root.rename(tmp_path / "moved")
            aios.root.mkdir()
            (aios.root / "aios.json").write_text("{}")
            return real

    assert code_of(lambda: FolderReader(aios.root, files=Swapping())) == CHANGED


def test_many_folders_need_few_handles(aios: AiosBuilder, reader: FolderReader) -> None:
    for number in range(MAX_OPEN_FOLDERS * 2):
        aios.write(f"d{number}/a.md", "x")
    for number in range(MAX_OPEN_FOLDERS * 2):
        assert reader.inspect(f"d{number}/a.md", hold=True) is not None
    reader.recheck()
    (aios.root / "d0").rename(aios.root / "moved")
    assert code_of(lambda: reader.inspect("d0/a.md")) == CHANGED


def test_unreadable_files_and_folders(aios: AiosBuilder, charges: Charges) -> None:
    class Failing(FileLayer):
        def read(self, handle: int, count: int) -> bytes:
            os.close(handle)
            try:
                return super().read(handle, count)
            finally:
                os.open(os.devnull, os.O_RDONLY)  # the same number again, for the close

    aios.write("a.md", "x")
    with FolderReader(aios.root, files=Failing()) as reader:
        assert code_of(lambda: read(reader, "a.md", charges)) == "DOTAIOS_READ_FAILED"


def test_the_layer_translates_every_system_error(aios: AiosBuilder) -> None:
    layer = FileLayer()
    failed = "DOTAIOS_READ_FAILED"
    assert code_of(lambda: layer.look_at(Path("a" * 5000))) == failed
    assert code_of(lambda: layer.look_at(Path("\0"))) == failed
    assert code_of(lambda: layer.real_path(aios.root / "none")) == failed
    assert code_of(lambda: layer.link_target(aios.root)) == failed
    assert code_of(lambda: layer.open_root(aios.root / "none")) == failed
    assert code_of(lambda: layer.stamp_file(10**6)) == failed
    folder = layer.open_root(aios.root)
    assert layer.open_file(folder, "none") is None
    assert code_of(lambda: layer.open_file(folder, "a" * 5000)) == UNSAFE
    folder.close()
    assert code_of(lambda: layer.stamp_folder(folder)) == failed
    assert code_of(lambda: layer.names(folder, limit_entries=1)) == failed


def test_a_platform_without_handle_bound_opens(
    aios: AiosBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentic_os.files.reading.NOFOLLOW", 0)
    code = code_of(lambda: FolderReader(aios.root, files=FileLayer()))
    assert code == "DOTAIOS_BOUNDED_READ_UNAVAILABLE"


def test_a_root_that_vanishes_or_is_replaced_while_it_is_opened(
    aios: AiosBuilder, tmp_path: Path
) -> None:
    class Vanishing(FileLayer):
        looks = 0

        def look_at(self, path: Path) -> Stamp | None:
            self.looks += 1
            return None if self.looks == 2 else super().look_at(path)

    assert code_of(lambda: FolderReader(aios.root, files=Vanishing())) == CHANGED
    link = tmp_path / "link"
    link.symlink_to(aios.root, target_is_directory=True)
    with FolderReader(link, files=FileLayer()) as reader:
        other = tmp_path / "other"
        aios.root.rename(tmp_path / "moved")
        other.mkdir()
        aios.root.symlink_to(other, target_is_directory=True)
        assert code_of(reader.recheck) == CHANGED


def test_a_folder_that_is_replaced_between_two_opens(aios: AiosBuilder) -> None:
    for number in range(MAX_OPEN_FOLDERS + 2):
        aios.write(f"d{number}/a.md", "x")
    with FolderReader(aios.root, files=FileLayer()) as reader:
        for number in range(MAX_OPEN_FOLDERS + 2):
            reader.inspect(f"d{number}/a.md")
        (aios.root / "d0").rename(aios.root / "moved")
        aios.write("d0/a.md", "x")
        assert code_of(lambda: reader.inspect("d0/a.md")) == CHANGED


def test_a_name_that_is_given_to_another_file_after_the_read(
    aios: AiosBuilder, charges: Charges
) -> None:
    path = aios.write("a.md", "text")
    other = aios.write("b.md", "text")
    layer = MeddlingLayer(("stamp", "a.md"), lambda: other.rename(path), before=True, skip=1)
    with FolderReader(aios.root, files=layer) as reader:
        assert code_of(lambda: read(reader, "a.md", charges)) == CHANGED
    assert layer.done


def test_a_root_whose_way_leads_elsewhere(aios: AiosBuilder, tmp_path: Path) -> None:
    aios.write("../b/folder/aios.json", "{}")
    (tmp_path / "a").mkdir()
    aios.root.rename(tmp_path / "a/folder")
    current, link = tmp_path / "current", tmp_path / "link"
    current.symlink_to(tmp_path / "a")
    link.symlink_to(current / "folder")
    with FolderReader(link, files=FileLayer()) as reader:
        reader.recheck()
        current.unlink()
        current.symlink_to(tmp_path / "b")
        assert code_of(reader.recheck) == CHANGED


def test_a_root_behind_a_link_that_is_made_anew(aios: AiosBuilder, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(aios.root, target_is_directory=True)
    with FolderReader(link, files=FileLayer()) as reader:
        aios.root.rename(tmp_path / "moved")
        aios.root.mkdir()
        assert code_of(reader.recheck) == CHANGED
