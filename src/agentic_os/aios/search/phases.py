"""The phases of a search over all its scopes, under fair allowances (DotAIOS convention)."""

from dataclasses import dataclass, field

from agentic_os.aios.folder.allowance import (
    NOTHING,
    Allowance,
    Amount,
    Charges,
    FairPhase,
    allocate,
)
from agentic_os.aios.folder.faults import as_evidence
from agentic_os.aios.search.context import PhaseCharges, SearchContext
from agentic_os.aios.search.omissions import REASONS, ScopeOmission, bounded, failed, refused
from agentic_os.aios.search.scopes import ScopeSearch, scope_search
from agentic_os.aios.search.values import ScopeResults, SearchScope
from agentic_os.errors import AiosError


@dataclass(slots=True, kw_only=True)
class _Run:
    """The progress of one scope: its whole demand and what it has used of it."""

    scope: SearchScope
    search: ScopeSearch
    demand: Allowance
    spent: Amount = field(default=NOTHING)
    failed: str | None = None

    @property
    def remaining(self) -> Amount:
        return self.demand.used.minus(self.spent)


def run_phases(
    context: SearchContext, scopes: tuple[SearchScope, ...], physical: Allowance
) -> tuple[tuple[ScopeResults, ...], tuple[ScopeOmission, ...], int]:
    """Run inspection, discovery and execution; return results, omissions, withheld count.

    Raises:
        AiosError: any fault that does not merely leave one scope out.
    """
    available = physical.remaining
    runs = [
        _Run(scope=scope, search=scope_search(scope, context), demand=Allowance(available))
        for scope in scopes
    ]
    omissions: list[ScopeOmission] = []
    _phase(runs, physical, discover=False)
    runs, left_out = _admitted(runs, physical, available, shares=len(runs))
    omissions.extend(left_out)
    candidates = len(runs)
    _phase(runs, physical, discover=True)
    runs, left_out = _admitted(runs, physical, available, shares=candidates)
    omissions.extend(left_out)
    groups: list[ScopeResults] = []
    withheld = 0
    for run in runs:
        outcome = run.search.execute(Charges(physical))
        groups.append(ScopeResults(scope=run.scope, hits=outcome.hits))
        withheld += outcome.withheld
    return tuple(groups), bounded(omissions), withheld


def _phase(runs: list[_Run], physical: Allowance, *, discover: bool) -> None:
    """Run one phase over all scopes, each with its fair allowance."""
    fair = FairPhase(physical.remaining, len(runs))
    for run in runs:
        allowance = fair.open()
        before = physical.used
        charges = PhaseCharges.of(physical, allowance, run.demand)
        try:
            if discover:
                run.search.discover(charges)
            else:
                run.search.inspect(charges)
        except AiosError as error:
            evidence = as_evidence(error)
            if evidence.code not in REASONS:
                raise
            run.failed = evidence.code
        fair.settle(allowance)
        run.spent = run.spent.plus(physical.used.minus(before))


def _admitted(
    runs: list[_Run], physical: Allowance, available: Amount, *, shares: int
) -> tuple[list[_Run], list[ScopeOmission]]:
    """Allocate what remains; return the scopes that go on and the records of the others."""
    demands = [(run.scope, run.remaining) for run in runs if run.failed is None]
    allocation = allocate(demands, physical.remaining, scopes=max(1, shares))
    kept: list[_Run] = []
    omissions: list[ScopeOmission] = []
    for run in runs:
        if run.scope in allocation.admitted:
            kept.append(run)
        elif run.failed is not None:
            omissions.append(failed(run.scope, run.failed, run.demand.used, available))
        else:
            omissions.append(
                refused(run.scope, run.remaining, allocation.room, run.demand.used, available)
            )
    return kept, omissions
