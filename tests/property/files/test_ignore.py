"""Whatever an index or a ``.gitignore`` holds, reading it answers, and soon."""

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.errors import FilesError
from agentic_os.files.git.ignore import IgnoreRules
from agentic_os.files.git.index import parse_index

unbroken = settings(deadline=None, max_examples=300)
PIECES = [*"ab*?/[]!-^\\# .\n\r", "**", "/**/", "[:alpha:]", "[!a-b]", "é", "\udcff"]
patterns = st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.text(max_size=80)
paths = st.lists(
    st.text(st.sampled_from(string.ascii_lowercase[:3] + ".[]!*é"), min_size=1, max_size=8),
    min_size=1,
    max_size=6,
).map("/".join)
entries = st.builds(
    lambda head, mode, flags, name: head + mode + bytes(32) + flags + name,
    st.just(bytes(24)),
    st.sampled_from([b"\0\0\x81\xa4", b"\0\0\xa0\0", b"\0\0\xe0\0", b"\0\0\0\0"]),
    st.binary(min_size=2, max_size=2) | st.just(b"\0\x03"),
    st.binary(max_size=30) | st.just(b"a.b\0\0\0\0\0"),
)
indexes = st.builds(
    lambda version, count, rows, tail: (
        b"DIRC" + bytes([0, 0, 0, version, 0, 0, 0, count]) + b"".join(rows) + tail
    ),
    st.integers(0, 6),
    st.integers(0, 6),
    st.lists(entries, max_size=5),
    st.binary(max_size=60) | st.just(bytes(20)),
)


@unbroken
@given(st.binary(max_size=200) | indexes)
def test_any_bytes_are_an_index_or_are_refused(data: bytes) -> None:
    try:
        found = parse_index(data)
    except FilesError as fault:
        assert fault.code.startswith("GIT_INDEX_")  # noqa: PT017 - either way is right
    else:
        assert all(found)


@unbroken
@given(patterns, paths, st.booleans())
def test_any_text_is_rules(text: str, path: str, folder: bool) -> None:
    rules = IgnoreRules().below("", text)

    once = rules.ignores(path, folder=folder)
    assert once in {True, False}
    assert rules.below("", "# nothing\n").ignores(path, folder=folder) == once


@unbroken
@given(patterns, paths)
def test_a_plain_name_is_ignored_and_brought_back(text: str, path: str) -> None:
    name = path.rpartition("/")[2]
    plain = "".join(f"\\{char}" for char in name)
    rules = IgnoreRules().below("", f"{text}\n{plain}")

    assert rules.ignores(path, folder=False)
    assert not rules.below("", f"!{plain}").ignores(path, folder=False)
