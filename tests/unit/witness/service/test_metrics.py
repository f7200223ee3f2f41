from agentic_os.witness.service.metrics import Metrics
from agentic_os.witness.service.rows import Totals
from agentic_os.witness.service.store import CommitCounts


def test_everything_is_rendered_in_the_text_format() -> None:
    metrics = Metrics()
    metrics.answered(route="/add-checkpoint", status=200, seconds=0.002)
    metrics.answered(route="/add-checkpoint", status=409, seconds=0.3)
    metrics.refused("OLD_SIZE_STALE")
    metrics.acknowledged(dialect="c2sp", outcome="advanced")
    text = metrics.render(
        commits=CommitCounts(batches=1, works=2, largest=2, seconds=0.25),
        totals=Totals(identities=3, origins=4, evidence=5),
        is_frozen=True,
    )
    lines = text.splitlines()

    assert text.endswith("\n")
    prefix = "agentic_os_witness_"
    for line in (
        'requests_total{route="/add-checkpoint",status="200"} 1',
        'requests_total{route="/add-checkpoint",status="409"} 1',
        'refusals_total{code="OLD_SIZE_STALE"} 1',
        'acknowledged_total{dialect="c2sp",outcome="advanced"} 1',
        'request_seconds_bucket{route="/add-checkpoint",le="0.001"} 0',
        'request_seconds_bucket{route="/add-checkpoint",le="0.0025"} 1',
        'request_seconds_bucket{route="/add-checkpoint",le="0.5"} 2',
        'request_seconds_bucket{route="/add-checkpoint",le="+Inf"} 2',
        'request_seconds_sum{route="/add-checkpoint"} 0.302',
        'request_seconds_count{route="/add-checkpoint"} 2',
        "commit_batches_total 1",
        "commit_works_total 2",
        "commit_seconds_total 0.25",
        "commit_largest_batch 2",
        "identities 3",
        "origins 4",
        "evidence 5",
        "frozen 1",
    ):
        assert prefix + line in lines
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(families) == len(set(families))
