"""Bytes of unknown origin become text, and losses are said."""

import pytest

from agentic_os.text.decoding import decode


@pytest.mark.parametrize(
    ("data", "text", "replaced"),
    [
        (b"", "", False),
        (b"plain\n", "plain\n", False),
        ("größe 🚀".encode(), "größe 🚀", False),
        (b"\xef\xbb\xbf---\n", "---\n", False),
        ("a\nb".encode("utf-16"), "a\nb", False),
        (b"\xfe\xff" + "a🚀".encode("utf-16-be"), "a🚀", False),
        (b"\xff\xfe" + "a".encode("utf-16-le"), "a", False),
        (b"\xff\xfea", "\ufffd", True),
        (b"\xff\xfe\x3d\xd8", "\ufffd", True),
        (b"a\r\nb\rc\n\r\nd", "a\nb\nc\n\nd", False),
        (b"\r\r\n", "\n\n", False),
        (b"a\0b", "a\ufffdb", True),
        (b"caf\xe9", "caf\ufffd", True),
        (b"\xed\xa0\xbd", "\ufffd\ufffd\ufffd", True),
        (b"\xff", "\ufffd", True),
        ("in\ufeffside".encode(), "in\ufeffside", False),
    ],
)
def test_decode(data: bytes, text: str, *, replaced: bool) -> None:
    found = decode(data)
    assert found.text == text
    assert found.replaced is replaced


def test_a_lone_half_of_a_pair_in_utf16_never_becomes_a_surrogate() -> None:
    found = decode(b"\xff\xfe" + b"\x3d\xd8" + b"a\0")
    assert found.replaced
    found.text.encode("utf-8")
