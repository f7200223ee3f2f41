import base64
import hashlib

import pytest

from agentic_os.aios.folder.layer import Stamp
from agentic_os.aios.folder.reader import SourceRead
from agentic_os.aios.follow.references import (
    HEADER_SOURCE_BYTES,
    REFERENCE_CHARS,
    SOURCE_BYTES,
    Reference,
    byte_limit,
    decode,
    digest_of,
    encode,
    evidence_of,
    file_hash,
    is_eligible,
    root_hash,
)


def stamp(**changes: int) -> Stamp:
    values = {
        "device": 2049,
        "inode": 77,
        "mode": 0o100644,
        "links": 1,
        "size": 12,
        "mtime_ns": 1_764_493_200_000_500_000,
        "ctime_ns": 1_764_493_200_000_500_000,
    }
    return Stamp(**(values | changes))


def reference(**changes: object) -> Reference:
    values: dict[str, object] = {
        "source": "context/work.md",
        "scope": "shared",
        "project": None,
        "root": "0" * 64,
        "file": "1" * 64,
        "digest": "sha256:" + "2" * 64,
        "offset": 0,
    }
    return Reference(**(values | changes))  # type: ignore[arg-type]  # by field name


def raw(text: str) -> str:
    return "ds1." + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def test_hashes_of_known_stamps() -> None:
    assert root_hash(stamp(inode=131)) == hashlib.sha256(b"2049:131").hexdigest()
    assert root_hash(stamp(inode=131)) == (
        "9a155f35db28ac58d351fa7bba08f070259f8fa24b19dbfe7d341fd3c2e7149c"
    )
    text = b"2049:77:12:1764493200000.5:1764493200000.5"
    assert file_hash(stamp()) == hashlib.sha256(text).hexdigest()
    assert file_hash(stamp()) == (
        "1782e7ae2b29942d55e302621603246f04190c0c7bb6e3e3970a64d9fe0a1265"
    )
    assert digest_of(b"# Work\nA rule.\n") == (
        "sha256:2055fbc15976b17187dbe6f662e1afa3b1c503c7b1cc34b580608668a8f17f74"
    )


def test_whole_milliseconds_have_no_fraction() -> None:
    whole = stamp(mtime_ns=1_764_493_200_000_000_000, ctime_ns=1_764_493_200_001_000_000)
    text = b"2049:77:12:1764493200000:1764493200001"
    assert file_hash(whole) == hashlib.sha256(text).hexdigest()


def test_a_reference_round_trips() -> None:
    text = encode(reference())
    assert len(text) == 415
    assert decode(text) == reference()
    project = reference(source="projects/alpha/é.md", scope="project", project="A1", offset=7)
    assert decode(encode(project)) == project
    assert decode(encode(project.at(9))).offset == 9


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ds1.",
        "ds2.e30",
        "ds1.e30",
        "ds1.!!",
        "ds1.e30=",
        "ds1.a",
        "ds1._w",
        raw("[]"),
        raw('{"v":1}'),
        encode(reference()) + "A",
        encode(reference()).replace("ds1.", "ds1.", 1) + "\n",
        "ds1." + "A" * REFERENCE_CHARS,
        encode(reference(source="memory/events.md")),
        encode(reference(source="../context/a.md")),
        encode(reference(root="0" * 63)),
        encode(reference(file="G" * 64)),
        encode(reference(digest="2" * 64)),
        encode(reference(offset=-1)),
        encode(reference(offset=2**53)),
        encode(reference(offset=True)),
        encode(reference(offset=1.5)),
        encode(reference(project="A1")),
        encode(reference(project=5)),
        encode(reference(scope="off")),
        encode(reference(source="projects/a/b.md")),
        encode(reference(scope="project", project="A1")),
    ],
)
def test_what_is_no_reference(text: str) -> None:
    with pytest.raises(ValueError, match="reference"):
        decode(text)


def test_only_the_canonical_text_is_accepted() -> None:
    canonical = encode(reference())
    body = base64.urlsafe_b64decode(canonical[4:] + "==").decode()
    assert decode(raw(body)) == reference()
    for other in (
        body.replace(":", ": ", 1),
        body.replace('"v":1', '"v":1.0'),
        body.replace('"v":1', '"v":true'),
        body.replace('"offset":0', '"offset":-0'),
        body.replace('"offset":0}', '"offset":0,"extra":1}'),
        body.replace("context", "c\\u006fntext"),
    ):
        assert other != body
        with pytest.raises(ValueError, match="reference"):
            decode(raw(other))


@pytest.mark.parametrize(
    ("source", "eligible"),
    [
        ("context/work.md", True),
        ("context/domains/Build.MD", True),
        ("projects/alpha/notes/a.md", True),
        ("projects/README.md", False),
        ("memory/daily/2026-11-30.md", False),
        ("context/.hidden.md", False),
        ("context/token.md", False),
        ("context/node_modules/a.md", False),
        ("context/a\\b.md", False),
        ("context/a\x00.md", False),
        ("context//a.md", False),
        ("context/../a.md", False),
        ("context/a.txt", False),
        ("context/" + "x" * 501 + ".md", True),
        ("context/" + "x" * 502 + ".md", False),
        ("context/" + "😀" * 251 + ".md", False),
    ],
)
def test_sources_that_can_be_followed(source: str, eligible: bool) -> None:
    assert is_eligible(source) is eligible


def test_ceilings() -> None:
    for header in ("context/identity.md", "context/Work.md", "projects/a/readme.md"):
        assert byte_limit(header) == HEADER_SOURCE_BYTES == 1024 * 1024
    for other in ("context/north-star.md", "projects/a/b/README.md"):
        assert byte_limit(other) == SOURCE_BYTES == 4 * 1024 * 1024


def test_evidence_of_a_read() -> None:
    read = SourceRead(data=b"# Work\n", stamp=stamp())
    shared = evidence_of(source="context/work.md", read=read, root="0" * 64, project_id=None)
    assert shared is not None
    assert shared.follow is not None
    assert decode(shared.follow) == reference(
        file=file_hash(stamp()), digest=digest_of(b"# Work\n")
    )
    assert shared.as_json().get("reason") is None
    owned = evidence_of(source="projects/a/README.md", read=read, root="0" * 64, project_id="A1")
    assert owned is not None
    assert owned.follow is not None
    assert (decode(owned.follow).scope, decode(owned.follow).project) == ("project", "A1")
    for source in ("projects/a/README.md", "vault/a.md"):
        assert evidence_of(source=source, read=read, root="0" * 64, project_id=None) is None


def test_a_source_too_large_to_follow() -> None:
    read = SourceRead(data=b"x" * (HEADER_SOURCE_BYTES + 1), stamp=stamp())
    found = evidence_of(source="context/work.md", read=read, root="0" * 64, project_id=None)
    assert found is not None
    assert (found.follow, found.reason) == (None, "source_too_large")
    assert found.as_json() == {
        "source": "context/work.md",
        "version": found.version,
        "coverage": {"kind": "excerpt"},
        "follow": None,
        "reason": "source_too_large",
    }


def test_a_reference_that_would_grow_too_long() -> None:
    # 1,536 characters hold 1,149 bytes of JSON; the digits of the last offset count.
    def found(length: int, size: int) -> str | None:
        read = SourceRead(data=b"x" * size, stamp=stamp())
        name = "é" * length
        evidence = evidence_of(
            source=f"context/{name}.md", read=read, root="0" * 64, project_id=None
        )
        assert evidence is not None
        return evidence.reason

    longest = next(n for n in range(500, 0, -1) if found(n, 1) is None)
    assert found(longest + 1, 1) == "source_reference_too_large"
    assert found(longest, 2_000_000) == "source_reference_too_large"
