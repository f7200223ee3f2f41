"""Real descriptors, damaged at random: an answer always comes back."""

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentic_os.files.reading import Fingerprint
from agentic_os.registry.codes import CODES
from agentic_os.registry.descriptor.known import KnownDescriptor as Known
from agentic_os.registry.descriptor.known import decode_known, encode_known
from agentic_os.registry.descriptor.reading import parse_descriptor
from agentic_os.registry.descriptor.values import Descriptor

PIECES = st.one_of(
    st.binary(max_size=6),
    st.sampled_from([bytes((byte,)) for byte in b"\n\t\r\0\xff[]{}'\"#|>%@`"]),
    st.sampled_from([b": ", b"- ", b"? ", b"&a ", b"*a", b"!!", b"\n  ", b"---\n", b"<<: *a"]),
    st.sampled_from([b"memory:", b"stack: none", b"tier: .inf", b"scaffold:", b"..", b"\\ud83d"]),
    st.just("\u2028".encode()),
)
EDITS = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 40), PIECES, st.booleans()),
    min_size=1,
    max_size=8,
)


def damaged(data: bytes, edits: list[tuple[float, int, bytes, bool]]) -> bytes:
    """Cut, insert and repeat at places given as fractions of the length."""
    for place, length, piece, again in edits:
        at = int(place * len(data))
        cut = data[at : at + length]
        data = data[:at] + piece + (cut if again else b"") + data[at + length :]
    return data


@settings(
    max_examples=600, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(edits=EDITS, which=st.sampled_from(["obsidian-graphify-rag-rust", "none-python"]))
def test_a_damaged_real_descriptor_always_gives_an_answer(
    current_scaffolds: Path, edits: list[tuple[float, int, bytes, bool]], which: str
) -> None:
    data = damaged((current_scaffolds / which / ".agents/config.yaml").read_bytes(), edits)
    parsed = parse_descriptor(data, layout=".agents", folder_name="folder")
    assert parsed == parse_descriptor(data, layout=".agents", folder_name="folder")
    for noted in parsed.diagnostics:
        assert noted.code in CODES
        assert noted.message.isprintable()
        assert len(noted.message) < 400
        assert noted.line is None or 1 <= noted.line <= data.count(b"\n") + data.count(b"\r") + 9
    if isinstance(parsed, Descriptor):
        assert parsed.name.isprintable()
        assert 0 < len(parsed.name) <= 200
        assert (parsed.tier is None) is (not parsed.retrieval)
        for path in (parsed.memory_path, parsed.vault_path, parsed.graph_path):
            assert path is None or (not path.startswith("/") and ".." not in path.split("/"))
    kept = Known(
        fingerprint=Fingerprint(size=1, mtime_ns=1, ctime_ns=1, inode=1),
        read_at_ns=1,
        parsed=parsed,
    )
    encoded = encode_known(kept)
    json.loads(encoded)
    assert decode_known(encoded) == kept
