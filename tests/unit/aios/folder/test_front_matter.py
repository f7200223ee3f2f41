import pytest

from agentic_os.aios.folder.front_matter import (
    FRONT_MATTER_BYTES,
    front_matter_block,
    read_front_matter,
    without_front_matter,
)
from agentic_os.errors import AiosError

INVALID = "DOTAIOS_FRONTMATTER_INVALID"


def test_fields_follow_the_core_schema() -> None:
    data = (
        b"---\nid: A1\nstatus: on\nday: 2026-11-30\ntime: 12:30:45\nnumber: 5\nflag: true\n"
        b"nothing: ~\ndomain: [build, make, 3]\nquoted: ' x '\nmap: {a: b}\nself: &a [*a]\n"
        b"---\n# T\n"
    )
    front = read_front_matter(data)
    assert front.present
    assert data[front.body_from :] == b"# T\n"
    texts = {name: front.fields[name].text for name in ("status", "day", "time", "quoted")}
    assert texts == {"status": "on", "day": "2026-11-30", "time": "12:30:45", "quoted": " x "}
    assert [front.fields[name].text for name in ("number", "flag", "nothing", "map")] == [None] * 4
    assert front.fields["domain"].items == ("build", "make")
    assert front.fields["self"].items == ()
    assert front.text("missing", "quoted") == "x"
    assert front.text("number") is None


def test_delimiters() -> None:
    assert read_front_matter(b"\xef\xbb\xbf---\r\nid: x\r\n---\r\nbody").text("id") == "x"
    assert read_front_matter(b"---\nid: x\n---").body_from == 13
    assert read_front_matter(b"---\n---\nbody").fields == {}
    absent = read_front_matter(b"# Title\n---\n")
    assert (absent.present, absent.body_from) == (False, 0)
    assert read_front_matter(b"--- \nid: x\n---\n").present is False


@pytest.mark.parametrize(
    "data",
    [
        b"---\nid: x\n",
        b"---\na: 1\na: 2\n---\n",
        b"---\na: {b: 1, b: 2}\n---\n",
        b"---\na: [{b: 1, b: 2}]\n---\n",
        b"---\n- a\n---\n",
        b"---\njust text\n---\n",
        b"---\na: [\n---\n",
        b"---\na: *none\n---\n",
        b"---\na: b\n--- \nc: d\n---\nx: [\n",
        b"---\n" + b"[" * 9000 + b"\n---\n",
        b"---\na: 1\n...\n--- b\n---\n",
    ],
)
def test_what_fails_closed(data: bytes) -> None:
    with pytest.raises(AiosError) as caught:
        read_front_matter(data)
    assert caught.value.code == INVALID


def test_invalid_utf8_is_its_own_fault() -> None:
    with pytest.raises(AiosError) as caught:
        read_front_matter(b"---\na: \xff\n---\n")
    assert caught.value.code == "DOTAIOS_INVALID_UTF8"


def test_it_must_close_within_its_bytes() -> None:
    filler = b"a: " + b"x" * (FRONT_MATTER_BYTES - len(b"---\na: \n---\n"))
    fits = b"---\n" + filler + b"\n---\n"
    assert len(fits) == FRONT_MATTER_BYTES
    assert read_front_matter(fits).present
    with pytest.raises(AiosError) as caught:
        read_front_matter(b"---\n" + filler + b"x\n---\n")
    assert caught.value.code == INVALID


def test_a_delimiter_cut_short_by_the_window_is_none() -> None:
    data = b"---\nab: c\n---x\n---\n"
    assert front_matter_block(data, limit_bytes=100) is not None
    with pytest.raises(AiosError):
        front_matter_block(data, limit_bytes=13)


def test_unknown_tags_are_passed_over() -> None:
    front = read_front_matter(b"---\na: !x y\n!y b: c\n? [k]\n: v\nd: e\n---\n")
    assert front.text("a") is None
    assert front.text("d") == "e"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\na: b\n---\n\n# T\n", "# T\n"),
        ("---\r\na: b\r\n---\r\n# T\r\n", "# T\n"),
        ("---\nopen\n", "---\nopen\n"),
        ("# T\n", "# T\n"),
    ],
)
def test_without_front_matter(text: str, expected: str) -> None:
    assert without_front_matter(text) == expected
