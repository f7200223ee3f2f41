import pytest

from agentic_os.aios.folder.allowance import (
    NOTHING,
    Allowance,
    Amount,
    Charges,
    FairPhase,
    allocate,
    protected_share,
)
from agentic_os.errors import AiosError

ROOM = Amount(bytes=256 * 1024 * 1024, files=50_000, entries=500_000)


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        (3, (44_739_242, 8_333, 83_333)),
        (8, (16_777_216, 3_125, 31_250)),
        (9, (14_913_080, 2_777, 27_777)),
    ],
)
def test_protected_shares(scopes: int, expected: tuple[int, int, int]) -> None:
    share = protected_share(ROOM, scopes)
    assert (share.bytes, share.files, share.entries) == expected


def test_amounts_never_go_below_zero() -> None:
    small, large = Amount(bytes=1, files=2, entries=3), Amount(bytes=5, files=5, entries=5)
    assert small.minus(large) == NOTHING
    assert large.minus(small) == Amount(bytes=4, files=3, entries=2)
    assert small.plus(small) == small.times(2)
    assert small.least(Amount(bytes=0, files=9, entries=1)) == Amount(bytes=0, files=2, entries=1)


@pytest.mark.parametrize(
    ("amount", "code"),
    [
        (Amount(files=3), "DOTAIOS_EVIDENCE_FILE_COUNT_EXCEEDED"),
        (Amount(bytes=11), "DOTAIOS_EVIDENCE_BYTE_BUDGET_EXCEEDED"),
        (Amount(entries=5), "DOTAIOS_EVIDENCE_ENTRY_COUNT_EXCEEDED"),
    ],
)
def test_a_ledger_names_the_dimension(amount: Amount, code: str) -> None:
    allowance = Allowance(Amount(bytes=10, files=2, entries=4))
    with pytest.raises(AiosError) as caught:
        allowance.charge(amount)
    assert caught.value.code == code
    assert allowance.used == NOTHING
    allowance.charge(Amount(bytes=10, files=2, entries=4))
    assert allowance.remaining == NOTHING


def test_charges_are_all_or_nothing() -> None:
    wide, narrow = Allowance(Amount(files=9)), Allowance(Amount(files=1))
    charges = Charges(wide, narrow)
    charges.charge(Amount(files=1))
    with pytest.raises(AiosError):
        charges.charge(Amount(files=1))
    assert (wide.used.files, narrow.used.files) == (1, 1)


def test_entries_that_were_seen_stay_used() -> None:
    wide, narrow = Allowance(Amount(entries=9)), Allowance(Amount(entries=4))
    with pytest.raises(AiosError) as caught:
        Charges(wide, narrow).charge_entries(6)
    assert caught.value.code == "DOTAIOS_EVIDENCE_ENTRY_COUNT_EXCEEDED"
    assert (wide.used.entries, narrow.used.entries) == (4, 4)


def test_what_a_scope_leaves_goes_to_those_after_it() -> None:
    phase = FairPhase(Amount(files=100), 2)
    first = phase.open()
    assert first.limit.files == 75  # its share of 25 and the pool of 50
    first.charge(Amount(files=5))
    phase.settle(first)
    assert phase.open().limit.files == 95  # its own 25, the pool, and the 20 left over


def test_a_greedy_scope_leaves_the_next_ones_share() -> None:
    phase = FairPhase(Amount(files=100), 2)
    first = phase.open()
    first.charge(Amount(files=75))
    phase.settle(first)
    assert phase.open().limit.files == 25
    assert FairPhase(NOTHING, 0).open().limit == NOTHING


def test_allocation_admits_in_order_then_retries() -> None:
    room = Amount(files=100)
    demands = [("big", Amount(files=120)), ("small", Amount(files=10)), ("late", Amount(files=80))]
    allocation = allocate(demands, room, scopes=3)
    assert allocation.admitted == {"small", "late"}
    assert allocation.room == Amount(files=10)
    assert allocate([], room, scopes=1).admitted == frozenset()


def test_a_refused_scope_returns_what_it_had_reserved() -> None:
    # Shares of 25: the first is refused, and what it had reserved lets the second in.
    demands = [("first", Amount(files=200)), ("second", Amount(files=95))]
    assert allocate(demands, Amount(files=100), scopes=2).admitted == {"second"}
