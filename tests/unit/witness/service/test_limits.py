import asyncio
from collections.abc import AsyncIterator

import pytest

from agentic_os.witness.protocol.refusal import RequestRefusedError
from agentic_os.witness.service.limits import Rates, read_body


def test_a_refusal_tells_when_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 1000.0)
    rates = Rates(limit=2)
    rates.require("a")
    rates.require("a")
    rates.require("b")

    with pytest.raises(RequestRefusedError) as caught:
        rates.require("a")
    assert (caught.value.refusal.status, caught.value.refusal.retry_seconds) == (429, 31)


async def chunks(*parts: bytes, pause: float = 0.0) -> AsyncIterator[bytes]:
    for part in parts:
        await asyncio.sleep(pause)
        yield part


def read(
    *parts: bytes, stated: str | None = None, pause: float = 0.0, seconds: float = 30.0
) -> bytes:
    body = read_body(chunks(*parts, pause=pause), stated=stated, limit_bytes=10, seconds=seconds)
    return asyncio.run(body)


def test_a_body_up_to_the_bound_is_read_whole() -> None:
    assert read(b"12345", b"67890", stated="10") == b"1234567890"
    assert read() == b""


@pytest.mark.parametrize("stated", ["11", "99999999999999999999999999", None, "junk", "-1"])
def test_a_larger_body_is_refused_whatever_it_states(stated: str | None) -> None:
    with pytest.raises(RequestRefusedError) as caught:
        read(b"12345", b"678901", stated=stated)
    assert caught.value.refusal.status == 413


def test_a_slow_body_is_refused() -> None:
    with pytest.raises(RequestRefusedError) as caught:
        read(b"1", b"2", b"3", pause=0.05, seconds=0.06)
    assert caught.value.refusal.status == 408
