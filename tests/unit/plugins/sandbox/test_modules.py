"""Modules in components, without running them."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.errors import PluginError
from agentic_os.plugins.authoring.exports import renamed_exports
from agentic_os.plugins.sandbox import frames
from agentic_os.plugins.sandbox.modules import COMPONENT_HEADER, CORE_HEADER, core_module
from support.plugins import guests

LIMIT = 1024 * 1024


def test_a_core_module_is_its_own() -> None:
    assert core_module(guests.echo(), limit_bytes=LIMIT) == guests.echo()


def test_the_one_guest_of_a_component_is_found() -> None:
    other = guests.assembled('(module (func (export "x")))')
    made = guests.component((0, b"custom"), (1, other), (1, guests.echo()), (8, b""))

    assert core_module(made, limit_bytes=LIMIT) == guests.echo()


@given(st.binary(max_size=300))
def test_no_tail_of_a_component_crashes_the_walk(tail: bytes) -> None:
    for header in (COMPONENT_HEADER, b""):
        try:
            found = core_module(header + tail, limit_bytes=LIMIT)
        except PluginError:
            continue
        assert found.startswith(CORE_HEADER)


def test_renamed_exports_are_found_by_their_new_names() -> None:
    names = {"plugin-invoke": "a", "a": "plugin-invoke"}
    changed = renamed_exports(guests.echo(), names)

    with pytest.raises(PluginError):
        core_module(guests.component((1, changed)), limit_bytes=LIMIT)
    back = renamed_exports(changed, names)
    assert core_module(guests.component((1, back)), limit_bytes=LIMIT) == back


def test_frames_have_a_length_and_a_bound() -> None:
    assert frames.head(b"{", b"}") + b"}" == bytes.fromhex("000000027b7d")
    data = iter([bytes.fromhex("0010000243")])

    with pytest.raises(frames.FrameError, match="too large"):
        frames.read_frame(lambda _size: next(data))


@pytest.mark.parametrize(
    "data", ["", "000000", "00000000", "00000001", "0000000043", "0000000343aa"]
)
def test_a_frame_that_is_none(data: str) -> None:
    stream = io.BytesIO(bytes.fromhex(data))
    with pytest.raises(frames.FrameError, match="ends"):
        frames.read_frame(stream.read)


@given(st.binary(max_size=64))
def test_a_frame_comes_back(text: bytes) -> None:
    left = frames.head(frames.CALL, text) + text

    def take(size: int) -> bytes:
        nonlocal left
        taken, left = left[:size], left[size:]
        return taken

    assert frames.read_frame(take) == (frames.CALL, text)
    with pytest.raises(frames.FrameError, match="ends"):
        frames.read_frame(take)
