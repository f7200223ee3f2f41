import contextlib
import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.weights.safetensors import MAX_AXES, read_weights
from support.model.tiny import safetensors


def whole(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def test_float32_tensors_come_back_as_they_were() -> None:
    tensors = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "scalar": np.array(3.5, np.float32),
        "empty": np.zeros((0, 4), np.float32),
    }
    found = read_weights(safetensors(tensors))
    assert found.keys() == tensors.keys()
    for name, values in tensors.items():
        assert found[name].shape == values.shape
        np.testing.assert_array_equal(found[name], values)


def test_half_precision_becomes_float32() -> None:
    values = np.array([1.5, -2.0, 0.25], np.float32)
    halves = values.astype(np.float16)
    brain = (values.view(np.uint32) >> 16).astype(np.uint16)
    found = read_weights(safetensors({"h": halves, "b": brain}, {"h": "F16", "b": "BF16"}))
    assert found["h"].dtype == found["b"].dtype == np.float32
    np.testing.assert_array_equal(found["h"], values)
    np.testing.assert_array_equal(found["b"], values)


def test_tensors_of_whole_numbers_are_left_out() -> None:
    assert read_weights(safetensors({"ids": np.arange(4)}, {"ids": "I64"})) == {}


def entry(**changes: object) -> dict[str, object]:
    return {"t": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4], **changes}}


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "too short"),
        (struct.pack("<Q", 100) + b"{}", "longer than the file"),
        (struct.pack("<Q", 2**63) + b"{}", "longer than the file"),
        (whole(b"nonsense"), "not JSON"),
        (whole(b"\xff\xff"), "not JSON"),
        (whole(b"[" * 100_000), "not JSON"),
        (whole([1]), "not a list of tensors"),
        (whole({"t": 1}), "without a description"),
        (whole({"t": {}}), "without a type"),
        (whole(entry(shape=None), b"1234"), "without shape or place"),
        (whole(entry(shape=[-1]), b"1234"), "without shape or place"),
        (whole(entry(shape=[True]), b"1234"), "without shape or place"),
        (whole(entry(shape=[1] * (MAX_AXES + 1)), b"1234"), "without shape or place"),
        (whole(entry(data_offsets=[0]), b"1234"), "without shape or place"),
        (whole(entry(data_offsets=[0, 8]), b"1234"), "not where it says"),
        (whole(entry(data_offsets=[4, 0]), b"1234"), "not where it says"),
        (whole(entry(shape=[2]), b"1234"), "not where it says"),
        (whole(entry(shape=[2**40, 2**40]), b"1234"), "not where it says"),
        (whole(entry(), b"123"), "not where it says"),
    ],
)
def test_a_malformed_file_is_refused(data: bytes, fault: str) -> None:
    with pytest.raises(SemanticIndexError, match=fault) as refused:
        read_weights(data)
    assert refused.value.code == "MODEL_DAMAGED"


@given(st.binary(max_size=100))
def test_bytes_never_break_the_reader(data: bytes) -> None:
    with contextlib.suppress(SemanticIndexError):
        assert all(tensor.dtype == np.float32 for tensor in read_weights(data).values())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.fixed_dictionaries(
            {
                "dtype": st.sampled_from(["F32", "F16", "BF16", "I64"]) | json_values,
                "shape": st.lists(st.integers(0, 4), max_size=3) | json_values,
                "data_offsets": st.lists(st.integers(0, 40), min_size=2, max_size=2) | json_values,
            }
        )
        | json_values,
        max_size=3,
    ),
    st.binary(max_size=40),
)
def test_headers_never_break_the_reader(header: dict[str, object], body: bytes) -> None:
    with contextlib.suppress(SemanticIndexError):
        found = read_weights(whole(header, body))
        assert all(tensor.dtype == np.float32 for tensor in found.values())
