import doctest

import pytest

from agentic_os.network import rates
from agentic_os.network.rates import TokenBuckets


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def granted(buckets: TokenBuckets, name: str) -> bool:
    return buckets.take(name) == 0


def test_a_bucket_empties_and_refills_evenly() -> None:
    clock = Clock()
    buckets = TokenBuckets(limit=3, clock=clock)

    assert [granted(buckets, "a") for _ in range(4)] == [True, True, True, False]
    assert granted(buckets, "b")
    clock.now += 19
    assert not granted(buckets, "a")
    clock.now += 1
    assert granted(buckets, "a")
    assert not granted(buckets, "a")
    clock.now += 10_000
    assert [granted(buckets, "a") for _ in range(4)] == [True, True, True, False]


def test_it_tells_when_the_next_token_comes() -> None:
    buckets = TokenBuckets(limit=2, clock=Clock())

    assert [buckets.take("a") for _ in range(3)] == [0.0, 0.0, 30.0]


def test_zero_is_no_limit() -> None:
    buckets = TokenBuckets(limit=0, clock=Clock())

    assert all(granted(buckets, "a") for _ in range(1000))


def test_the_number_of_buckets_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "BUCKETS_ENTRIES", 2)
    buckets = TokenBuckets(limit=1, clock=Clock())
    for name in "abc":
        buckets.take(name)

    assert len(buckets._buckets) == 2
    assert not granted(buckets, "c")
    assert granted(buckets, "a")


def test_the_example_in_the_head_runs() -> None:
    assert doctest.testmod(rates).failed == 0
