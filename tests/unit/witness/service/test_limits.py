import asyncio
from collections.abc import AsyncIterator

import pytest

from agentic_os.witness.protocol.refusal import RequestRefusedError
from agentic_os.witness.service import limits
from agentic_os.witness.service.limits import TokenBuckets, read_body


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def granted(buckets: TokenBuckets, name: str) -> bool:
    try:
        buckets.take(name)
    except RequestRefusedError:
        return False
    return True


def test_a_bucket_empties_and_refills_evenly() -> None:
    clock = Clock()
    buckets = TokenBuckets(per_minute=3, clock=clock)

    assert [granted(buckets, "a") for _ in range(4)] == [True, True, True, False]
    assert granted(buckets, "b")
    clock.now += 19
    assert not granted(buckets, "a")
    clock.now += 1
    assert granted(buckets, "a")
    assert not granted(buckets, "a")
    clock.now += 10_000
    assert [granted(buckets, "a") for _ in range(4)] == [True, True, True, False]


def test_the_refusal_tells_when_the_next_token_comes() -> None:
    buckets = TokenBuckets(per_minute=2, clock=Clock())
    buckets.take("a")
    buckets.take("a")

    with pytest.raises(RequestRefusedError) as caught:
        buckets.take("a")
    assert (caught.value.refusal.status, caught.value.refusal.retry_seconds) == (429, 31)


def test_zero_is_no_limit() -> None:
    buckets = TokenBuckets(per_minute=0, clock=Clock())

    assert all(granted(buckets, "a") for _ in range(1000))


def test_the_number_of_buckets_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BUCKETS_ENTRIES", 2)
    buckets = TokenBuckets(per_minute=1, clock=Clock())
    for name in "abc":
        buckets.take(name)

    assert len(buckets._buckets) == 2
    assert not granted(buckets, "c")
    assert granted(buckets, "a")


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
