"""Whatever stands in ``.git``, reading it answers."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.files.git.checkout import normalise_remote, read_checkout
from agentic_os.files.git.config import parse_git_config

unbroken = settings(deadline=None, max_examples=200)
PIECES = [
    *'abcR/.:@~[]\\"#;= \t\r\n\0\x1bé',
    '[remote "origin"]\n',
    "url = ",
    "https://",
    "git@",
    ".git",
]
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=100)
bytes_ = st.binary(max_size=100) | texts.map(lambda text: text.encode("utf-8", "replace"))
refs = st.sampled_from(
    [b"ref: refs/heads/x\n", b"0123456789" * 4, b"ref: refs/heads/x/../../../y\n"]
)


@unbroken
@given(texts)
def test_any_configuration_can_be_read(text: str) -> None:
    for section, _, key, value in parse_git_config(text).values:
        assert section == section.lower()
        assert key == key.lower()
        assert key
        assert "\n" not in value or "\\n" in text


@unbroken
@given(texts)
def test_any_remote_can_be_normalised_and_stays_so(url: str) -> None:
    found = normalise_remote(url)
    if found is not None:
        host, _, path = found.partition("/")
        assert host == host.lower()
        assert path
        assert "@" not in host
        assert ".." not in path.split("/")
        if not found.endswith(".git") and ":" not in host and not host.startswith("localhost"):
            assert normalise_remote(f"https://{host}/{path}") in {found, None}


@unbroken
@given(head=bytes_ | refs, ref=bytes_ | refs, packed=bytes_, config=bytes_)
def test_any_git_folder_can_be_read(head: bytes, ref: bytes, packed: bytes, config: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        git_dir = Path(name) / ".git"
        (git_dir / "refs" / "heads").mkdir(parents=True)
        (git_dir / "HEAD").write_bytes(head)
        (git_dir / "refs" / "heads" / "x").write_bytes(ref)
        (git_dir / "packed-refs").write_bytes(packed)
        (git_dir / "config").write_bytes(config)
        found = read_checkout(Path(name))
    assert found is not None
    assert found.kind == "main"
    assert found.commit is None or len(found.commit) in {40, 64}
    assert found.branch is None or not set(found.branch) & set("\0\x1b\n ~^:?*[\\")


@unbroken
@given(pointer=bytes_ | bytes_.map(lambda data: b"gitdir: " + data))
def test_any_git_file_can_be_read(pointer: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "sub").mkdir()
        (Path(name) / "sub" / ".git").write_bytes(pointer)
        found = read_checkout(Path(name) / "sub")
    assert found is not None
    assert (found.branch, found.commit, found.remote) == (None, None, None)
