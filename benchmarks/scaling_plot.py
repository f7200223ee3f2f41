"""The plot of a scaling table."""

# ruff: noqa: E501 - drawing text

import math
from collections.abc import Mapping, Sequence

COLOURS = ("#0b6", "#06c", "#c60", "#c06", "#555", "#909")
LEAST_MS = 1e-3


def drawn(rows: Mapping[int, Mapping[str, float]], series: Sequence[str]) -> str:
    """A plot of some columns of a table over its sizes, both logarithmic, as SVG.

    Args:
        rows: by size, the milliseconds of each column.
        series: the columns to draw, at most ``len(COLOURS)``.
    """
    width, height, left, bottom = 680, 400, 70, 40
    low, high = math.log10(min(rows)), math.log10(max(rows))
    values = [max(row[name], LEAST_MS) for row in rows.values() for name in series]
    floor, ceiling = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(size: float) -> float:
        return left + (math.log10(size) - low) / max(high - low, 1e-9) * (width - left - 200)

    def y(value: float) -> float:
        share = (math.log10(max(value, LEAST_MS)) - floor) / max(ceiling - floor, 1)
        return height - bottom - share * (height - bottom - 20)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for power in range(floor, ceiling + 1):
        level = f"{y(10**power):.0f}"
        parts += [
            f'<line x1="{left}" x2="{width - 200}" y1="{level}" y2="{level}" stroke="#ddd"/>',
            f'<text x="{left - 8}" y="{y(10**power) + 4:.0f}" text-anchor="end">{10.0**power:g} ms</text>',
        ]
    parts += [
        f'<text x="{x(size):.0f}" y="{height - 18}" text-anchor="middle">{size:,}</text>'
        for size in rows
    ]
    taken: list[float] = []
    for colour, name in zip(COLOURS, series, strict=False):
        points = " ".join(f"{x(size):.0f},{y(row[name]):.0f}" for size, row in rows.items())
        label = y(list(rows.values())[-1][name]) + 4
        while any(abs(label - other) < 14 for other in taken):
            label += 14
        taken.append(label)
        parts += [
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>',
            f'<text x="{width - 192}" y="{label:.0f}" fill="{colour}">{name}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])
