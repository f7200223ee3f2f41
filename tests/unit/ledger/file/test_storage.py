"""Ledger files: opened without links, appended, synced, read in bounded memory."""

import os
from pathlib import Path

import pytest

from agentic_os.errors import LedgerError
from agentic_os.ledger.file.storage import BLOCK_BYTES, FileStorage, LineReader
from support.ledger.builder import MemoryStorage


def test_a_file_grows_and_is_read(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    storage = FileStorage.create(path)
    assert path.stat().st_mode & 0o777 == 0o600
    storage.append(b"one\n")
    storage.append(b"two\n")
    storage.sync()
    assert storage.size() == 8
    assert storage.read(4, 100) == b"two\n"
    storage.truncate(4)
    assert list(LineReader(storage)) == [b"one"]
    storage.close()
    storage.close()
    again = FileStorage.open(path, writable=True)
    again.append(b"three\n")
    assert list(LineReader(again, start=4)) == [b"three"]
    assert again.is_in_place()
    again.close()


def test_a_replaced_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    storage = FileStorage.create(path)
    path.rename(tmp_path / "moved")
    assert not storage.is_in_place()
    path.write_bytes(b"")
    assert not storage.is_in_place()
    storage.close()


def test_what_exists_is_not_created_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"x")
    with pytest.raises(LedgerError) as caught:
        FileStorage.create(path)
    assert caught.value.code == "LEDGER_EXISTS"
    with pytest.raises(LedgerError) as caught:
        FileStorage.create(tmp_path / "none" / "ledger.jsonl")
    assert caught.value.code == "LEDGER_UNREADABLE"


def test_links_and_special_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    os.mkfifo(tmp_path / "fifo")
    for name in ("link", "fifo", "."):
        with pytest.raises(LedgerError) as caught:
            FileStorage.open(tmp_path / name)
        assert caught.value.code == "LEDGER_UNREADABLE"
        assert str(tmp_path) not in caught.value.message
    with pytest.raises(LedgerError) as caught:
        FileStorage.open(tmp_path / "none")
    assert caught.value.code == "LEDGER_MISSING"


def test_lines_across_blocks_come_whole() -> None:
    long = b"x" * (BLOCK_BYTES - 3)
    data = b"a\n" + long + b"\n" + b"b" * 10 + b"\ntorn"
    reader = LineReader(MemoryStorage(data))
    assert list(reader) == [b"a", long, b"b" * 10]
    assert reader.torn == b"torn"
    assert reader.offset == len(data) - 4


def test_a_line_without_end_stops_the_reader() -> None:
    reader = LineReader(MemoryStorage(b"x" * 100 + b"\nrest\n"), line_bytes=10)
    assert list(reader) == [b"x" * 100, b"rest"]  # the block holds its end: nothing was cut
    endless = LineReader(MemoryStorage(b"x" * (BLOCK_BYTES * 3)), line_bytes=10)
    assert list(endless) == [b"x" * 11]
