import pytest

from agentic_os.files.fingerprints import SETTLE_NS
from agentic_os.files.reading import Fingerprint
from agentic_os.registry.descriptor.known import (
    KnownDescriptor,
    decode_known,
    encode_known,
)
from agentic_os.registry.descriptor.reading import parse_descriptor
from agentic_os.registry.descriptor.values import Descriptor, NotADescriptor, ParsedDescriptor

PRINT = Fingerprint(size=10, mtime_ns=1000, ctime_ns=2000, inode=3)
OURS = b"""\
project:
  name: "Rocket \xf0\x9f\x9a\x80"
  project_init_version: 1.2.2
memory:
  stack: obsidian-graphify-rag
  vault_path: ../out
  graph_path: g.json
  rag_endpoint: ccc mcp
"""


def known(parsed: ParsedDescriptor, read_at_ns: int = 5 * SETTLE_NS) -> KnownDescriptor:
    return KnownDescriptor(fingerprint=PRINT, read_at_ns=read_at_ns, parsed=parsed)


@pytest.mark.parametrize("data", [OURS, b"", b"project: [", b"workflow: x", b"#" * 300_000])
def test_what_was_parsed_comes_back_equal(data: bytes) -> None:
    parsed = parse_descriptor(data, layout=".agents", folder_name="x")
    kept = known(parsed)
    assert decode_known(encode_known(kept)) == kept


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"{}",
        b"[1]",
        b"\xff\xfe",
        b'{"revision": 1}',
        b"[" * 100_000,
        encode_known(known(Descriptor(layout=".agents", name="x")))[:-5],
    ],
)
def test_damaged_bytes_are_not_known(data: bytes) -> None:
    assert decode_known(data) is None


def test_another_parsers_bytes_are_not_known() -> None:
    data = encode_known(known(NotADescriptor(layout=".claude", foreign=True)))
    assert decode_known(data) is not None
    assert decode_known(data.replace(b'"revision":1', b'"revision":0')) is None
    assert decode_known(data.replace(b'"other":{', b'"none":{')) is None


def test_it_holds_only_for_the_same_quiet_file() -> None:
    kept = known(Descriptor(layout=".agents", name="x"), read_at_ns=2001 + SETTLE_NS)
    assert kept.holds(PRINT)
    other = Fingerprint(size=10, mtime_ns=1001, ctime_ns=2000, inode=3)
    assert not kept.holds(other)
    fresh = known(Descriptor(layout=".agents", name="x"), read_at_ns=2000 + SETTLE_NS)
    assert not fresh.holds(PRINT)
