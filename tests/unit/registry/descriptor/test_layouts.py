"""Producer contract, section 7, and reader behaviours, section 6, items 1 to 5."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentic_os.files.fingerprints import SETTLE_NS
from agentic_os.files.reading import EntryKind, Folder
from agentic_os.registry.descriptor.known import KnownDescriptor
from agentic_os.registry.descriptor.layouts import DescriptorReader, Reading
from agentic_os.registry.descriptor.values import Descriptor

MakeProject = Callable[..., Path]
Codes = Callable[[object], list[str]]
BROKEN = "project:\n  name: a: b\n"
FOREIGN = "workflow: x\n"


def kinds(folder: Path) -> dict[str, EntryKind]:
    found: dict[str, EntryKind] = {}
    for name in (".agents", ".claude"):
        path = folder / name
        if path.is_symlink():
            found[name] = "link"
        elif path.is_dir():
            found[name] = "folder"
        elif path.is_file():
            found[name] = "file"
        elif os.path.lexists(path):
            found[name] = "other"
    return found


def read(folder: Path, reader: DescriptorReader | None = None) -> Reading:
    reader = reader or DescriptorReader(known={})
    with Folder.open(folder) as opened:
        return reader.read(opened, str(folder), kinds(folder))


def test_the_new_layout_comes_first_and_the_old_one_never_shadows_it(
    make_project: MakeProject, codes: Codes
) -> None:
    folder = make_project("p", name="new")
    make_project("p", name="stale", layout=".claude")
    reading = read(folder)
    assert reading.descriptor is not None
    assert (reading.descriptor.name, reading.descriptor.layout) == ("new", ".agents")
    assert codes(reading.diagnostics) == ["DESCRIPTOR_SHADOWED"]
    assert reading.diagnostics[0].severity == "info"
    assert [path for path, _ in reading.known] == [f"{folder}/.agents/config.yaml"]


def test_the_projection_of_the_new_layout_is_silent(make_project: MakeProject) -> None:
    folder = make_project("p")
    (folder / ".claude").mkdir()
    (folder / ".claude/CAPABILITIES.md").touch()
    assert read(folder).diagnostics == ()
    (folder / ".claude/CAPABILITIES.md").unlink()
    (folder / ".claude").rmdir()
    (folder / ".claude").symlink_to(".agents")
    assert read(folder).diagnostics == ()


def test_the_old_layout_alone(make_project: MakeProject) -> None:
    folder = make_project("p", "stack: auto", layout=".claude")
    reading = read(folder)
    assert reading.descriptor is not None
    assert reading.descriptor.layout == ".claude"
    assert reading.descriptor.memory_path == ".claude/memory"
    assert reading.diagnostics == ()


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        ("link", ["DESCRIPTOR_REFUSED", "DESCRIPTOR_FALLBACK"]),
        ("linked config", ["DESCRIPTOR_REFUSED", "DESCRIPTOR_FALLBACK"]),
        ("file", ["LAYOUT_NOT_A_FOLDER", "DESCRIPTOR_FALLBACK"]),
        ("broken", ["DESCRIPTOR_UNPARSEABLE", "DESCRIPTOR_FALLBACK"]),
        ("empty", ["DESCRIPTOR_EMPTY", "DESCRIPTOR_FALLBACK"]),
        ("huge", ["DESCRIPTOR_TOO_LARGE", "DESCRIPTOR_FALLBACK"]),
        ("fifo", ["DESCRIPTOR_UNREADABLE", "DESCRIPTOR_FALLBACK"]),
        ("folder", ["DESCRIPTOR_UNREADABLE", "DESCRIPTOR_FALLBACK"]),
        ("foreign", ["DESCRIPTOR_FOREIGN"]),
        ("no config", []),
    ],
)
def test_a_first_layout_that_says_nothing_does_not_hide_a_readable_second_one(
    make_project: MakeProject, codes: Codes, tmp_path: Path, spoil: str, expected: list[str]
) -> None:
    folder = make_project("p", "stack: auto", name="legacy", layout=".claude")
    spoil_layout(folder, spoil, tmp_path)
    reading = read(folder)
    assert reading.descriptor is not None
    assert (reading.descriptor.name, reading.descriptor.layout) == ("legacy", ".claude")
    assert codes(reading.diagnostics) == expected
    for noted in reading.diagnostics:
        assert (noted.path or "").startswith(".agents")


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        ("link", ["DESCRIPTOR_REFUSED"]),
        ("linked config", ["DESCRIPTOR_REFUSED"]),
        ("file", ["LAYOUT_NOT_A_FOLDER"]),
        ("huge", ["DESCRIPTOR_TOO_LARGE"]),
        ("fifo", ["DESCRIPTOR_UNREADABLE"]),
        ("foreign", ["DESCRIPTOR_FOREIGN"]),
        ("no config", ["DESCRIPTOR_MISSING"]),
    ],
)
def test_without_a_readable_descriptor_there_is_no_project_and_that_is_said(
    codes: Codes, tmp_path: Path, spoil: str, expected: list[str]
) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    spoil_layout(folder, spoil, tmp_path)
    reading = read(folder)
    assert reading.descriptor is None
    assert codes(reading.diagnostics) == expected


@pytest.mark.parametrize("spoil", ["broken", "empty"])
def test_a_broken_descriptor_alone_is_a_degraded_project(
    tmp_path: Path, codes: Codes, spoil: str
) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    spoil_layout(folder, spoil, tmp_path)
    reading = read(folder)
    assert reading.descriptor is not None
    assert reading.descriptor.degraded
    assert reading.descriptor.name == "p"
    assert codes(reading.diagnostics) == []


def test_both_broken_lists_the_first_and_names_the_second(
    make_project: MakeProject, codes: Codes
) -> None:
    folder = make_project("p", text=BROKEN)
    make_project("p", text=BROKEN, layout=".claude")
    reading = read(folder)
    assert reading.descriptor is not None
    assert reading.descriptor.layout == ".agents"
    assert codes(reading.diagnostics) == ["DESCRIPTOR_UNPARSEABLE"]
    assert reading.diagnostics[0].path == ".claude/config.yaml"


def test_a_foreign_first_and_a_broken_second_is_the_second(
    make_project: MakeProject, codes: Codes
) -> None:
    folder = make_project("p", text=FOREIGN)
    make_project("p", text=BROKEN, layout=".claude")
    reading = read(folder)
    assert reading.descriptor is not None
    assert (reading.descriptor.layout, reading.descriptor.degraded) == (".claude", True)
    assert codes(reading.diagnostics) == ["DESCRIPTOR_FOREIGN"]


def test_a_claude_folder_of_other_content_is_silent(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    (folder / ".claude/memory").mkdir(parents=True)
    reading = read(folder)
    assert (reading.descriptor, reading.diagnostics) == (None, ())


def test_a_layout_that_is_no_file_and_no_folder_is_silent(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    os.mkfifo(folder / ".agents")
    reading = read(folder)
    assert (reading.descriptor, reading.diagnostics) == (None, ())


def test_an_unreadable_config_says_why_without_its_absolute_path(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = make_project("p")
    really_open = os.open

    def refuse(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "config.yaml":
            raise PermissionError(13, "Permission denied")
        return really_open(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "supports_dir_fd", os.supports_dir_fd | {refuse})
    monkeypatch.setattr(os, "open", refuse)
    noted = read(folder).diagnostics[0]
    assert noted.code == "DESCRIPTOR_UNREADABLE"
    assert noted.message == ".agents/config.yaml: Permission denied"
    assert str(tmp_path) not in noted.message


# --- what an earlier run knew --------------------------------------------------------


def test_an_unchanged_file_is_not_read_again(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_project("p")
    first = read(folder, later())
    reader = DescriptorReader(known=dict(first.known))

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the file was read")

    monkeypatch.setattr(Folder, "read", never)
    assert read(folder, reader) == first


def test_a_changed_file_is_read_again(make_project: MakeProject) -> None:
    folder = make_project("p", name="before")
    first = read(folder, later())
    make_project("p", name="after")
    second = read(folder, DescriptorReader(known=dict(first.known)))
    assert second.descriptor is not None
    assert second.descriptor.name == "after"


def test_a_file_that_was_fresh_when_it_was_read_is_read_again(
    make_project: MakeProject,
) -> None:
    folder = make_project("p", name="before")
    config = folder / ".agents/config.yaml"
    found = config.stat()
    quiet = max(found.st_mtime_ns, found.st_ctime_ns) + SETTLE_NS
    for clock, name in ((quiet, "p"), (quiet + 1, "stored")):
        reading = read(folder, DescriptorReader(known={}, clock=iter([clock]).__next__))
        [(path, known)] = reading.known
        stored = KnownDescriptor(
            fingerprint=known.fingerprint,
            read_at_ns=known.read_at_ns,
            parsed=Descriptor(layout=".agents", name="stored"),
        )
        again = read(folder, DescriptorReader(known={path: stored}))
        assert again.descriptor is not None
        assert again.descriptor.name == ("before" if name == "p" else "stored")


def test_a_known_file_that_is_gone_is_gone(make_project: MakeProject, codes: Codes) -> None:
    folder = make_project("p")
    first = read(folder, later())
    (folder / ".agents/config.yaml").unlink()
    second = read(folder, DescriptorReader(known=dict(first.known)))
    assert second.descriptor is None
    assert codes(second.diagnostics) == ["DESCRIPTOR_MISSING"]


def later() -> DescriptorReader:
    """Return a reader whose clock is far beyond every file's times."""
    return DescriptorReader(known={}, clock=lambda: 2**62)


def spoil_layout(folder: Path, how: str, tmp_path: Path) -> None:
    """Make ``.agents`` say nothing usable."""
    layout = folder / ".agents"
    if how == "link":
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere/config.yaml").write_text("project:\n  project_init_version: 1\n")
        layout.symlink_to(tmp_path / "elsewhere")
        return
    if how == "file":
        layout.write_text("../elsewhere")
        return
    layout.mkdir()
    config = layout / "config.yaml"
    match how:
        case "linked config":
            real = tmp_path / "real.yaml"
            real.write_text("project:\n  name: forged\n  project_init_version: 1\n")
            config.symlink_to(real)
        case "fifo":
            os.mkfifo(config)
        case "folder":
            config.mkdir()
        case "huge":
            config.write_bytes(b"#" * 300_000)
        case "no config":
            pass
        case _:
            config.write_text({"broken": BROKEN, "empty": "", "foreign": FOREIGN}[how])
