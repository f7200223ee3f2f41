"""Counters of the service in the Prometheus text format (version 0.0.4).

Labels are the service's own words (route, status, code), never a client's.
"""

from collections import Counter, defaultdict
from typing import Final

from agentic_os.witness.service.rows import Totals
from agentic_os.witness.service.store import CommitCounts

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKET_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)

_PREFIX: Final = "agentic_os_witness_"


class Metrics:
    """What was asked and answered since start; used from the event loop only."""

    def __init__(self) -> None:
        """Start at zero."""
        self._requests: Counter[tuple[str, int]] = Counter()
        self._refusals: Counter[str] = Counter()
        self._outcomes: Counter[tuple[str, str]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._buckets: Counter[tuple[str, float]] = Counter()

    def answered(self, *, route: str, status: int, seconds: float) -> None:
        """Count one answer."""
        self._requests[route, status] += 1
        self._seconds[route] += seconds
        for bound in BUCKET_SECONDS:
            if seconds <= bound:
                self._buckets[route, bound] += 1

    def refused(self, code: str) -> None:
        """Count one refusal by its code."""
        self._refusals[code] += 1

    def acknowledged(self, *, dialect: str, outcome: str) -> None:
        """Count one positive answer."""
        self._outcomes[dialect, outcome] += 1

    def render(self, *, commits: CommitCounts, totals: Totals, is_frozen: bool) -> str:
        """Write everything as text."""
        lines: list[str] = []
        self._family(
            lines,
            "requests_total",
            "counter",
            "Answers by route and status.",
            [
                (f'{{route="{route}",status="{status}"}}', count)
                for (route, status), count in sorted(self._requests.items())
            ],
        )
        self._family(
            lines,
            "refusals_total",
            "counter",
            "Refusals by code.",
            [(f'{{code="{code}"}}', count) for code, count in sorted(self._refusals.items())],
        )
        self._family(
            lines,
            "acknowledged_total",
            "counter",
            "Signed answers by dialect.",
            [
                (f'{{dialect="{dialect}",outcome="{outcome}"}}', count)
                for (dialect, outcome), count in sorted(self._outcomes.items())
            ],
        )
        self._histogram(lines)
        plain: tuple[tuple[str, str, str, float], ...] = (
            ("commit_batches_total", "counter", "Commits.", commits.batches),
            ("commit_works_total", "counter", "Requests inside commits.", commits.works),
            ("commit_seconds_total", "counter", "Seconds spent in COMMIT.", commits.seconds),
            ("commit_largest_batch", "gauge", "Most requests in one commit.", commits.largest),
            ("identities", "gauge", "Identities that are known.", totals.identities),
            ("origins", "gauge", "Origins that are known.", totals.origins),
            ("evidence", "gauge", "Signed contradictions that are kept.", totals.evidence),
            ("frozen", "gauge", "1 when a failed write stopped signing.", int(is_frozen)),
        )
        for name, kind, meaning, value in plain:
            self._family(lines, name, kind, meaning, [("", value)])
        return "\n".join(lines) + "\n"

    def _histogram(self, lines: list[str]) -> None:
        counts: Counter[str] = Counter()
        for (route, _), count in self._requests.items():
            counts[route] += count
        samples: list[tuple[str, float]] = []
        for route in sorted(counts):
            samples.extend(
                (f'_bucket{{route="{route}",le="{bound}"}}', self._buckets[route, bound])
                for bound in BUCKET_SECONDS
            )
            samples.append((f'_bucket{{route="{route}",le="+Inf"}}', counts[route]))
            samples.append((f'_sum{{route="{route}"}}', self._seconds[route]))
            samples.append((f'_count{{route="{route}"}}', counts[route]))
        self._family(lines, "request_seconds", "histogram", "Time to answer, by route.", samples)

    @staticmethod
    def _family(
        lines: list[str], name: str, kind: str, meaning: str, samples: list[tuple[str, float]]
    ) -> None:
        lines.append(f"# HELP {_PREFIX}{name} {meaning}")
        lines.append(f"# TYPE {_PREFIX}{name} {kind}")
        lines.extend(f"{_PREFIX}{name}{labels} {_number(value)}" for labels, value in samples)


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
