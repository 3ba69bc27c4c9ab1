# SPDX-License-Identifier: Apache-2.0
"""The picture of a run: calls per second and latency over calls in flight."""

import os
import subprocess
import tempfile

from console.chart import COLORS, Curve, Panel, draw_legend, legend_rows
from console.svg import Svg
from loads.cells import Cell

_WIDTH = 1120
_HEAD = 78
_PANELS = 378
_LEGEND_LINE = 26
_LEGEND_X = 76
# As many characters as fit.
_SUBTITLE = 155
_DASH = "5 4"
_SOFT = "#6b7280"


def _series(reports, metric):
    """{size: [(calls in flight, number), ...]} in the order in which sizes came."""
    found = {}
    for report in reports:
        size = Cell(report["payload"], report["attachment"], report["in_flight"]).size_text()
        found.setdefault(size, []).append((report["in_flight"], report[metric]))
    return {size: sorted(points) for size, points in found.items()}


def draw(reports, title, subtitle):
    """The SVG of the clients' reports, as text."""
    calls = _series(reports, "qps")
    middle = _series(reports, "p50_us")
    tail = _series(reports, "p99_us")
    colors = {size: COLORS[i % len(COLORS)] for i, size in enumerate(calls)}
    entries = [(size, color, None) for size, color in colors.items()]
    entries += [("p50", _SOFT, None), ("p99", _SOFT, _DASH)]
    legend = legend_rows(entries, _WIDTH - 2 * _LEGEND_X)

    svg = Svg(_WIDTH, _HEAD + _PANELS + _LEGEND_LINE * len(legend) + 14)
    svg.text((28, 36), title, size=20, color="#111111", bold=True)
    if len(subtitle) > _SUBTITLE:
        subtitle = subtitle[: _SUBTITLE - 1].rstrip() + "\u2026"
    svg.text((28, 58), subtitle, size=12.5, color=_SOFT)
    throughput = [Curve(points, colors[size]) for size, points in calls.items()]
    latency = [Curve(points, colors[size], _DASH) for size, points in tail.items()]
    latency += [Curve(points, colors[size]) for size, points in middle.items()]
    half = (_WIDTH - 28 * 2 - 24) // 2
    box = (14, _HEAD, half, _PANELS)
    Panel(box, "Calls per second", "calls in flight", throughput).draw(svg)
    box = (14 + half + 38, _HEAD, half, _PANELS)
    Panel(box, "Latency, microseconds", "calls in flight", latency).draw(svg)
    draw_legend(svg, (_LEGEND_X, _HEAD + _PANELS + _LEGEND_LINE), legend, _LEGEND_LINE)
    return str(svg)


def write(path, svg):
    """As SVG, or as PNG where the file's name ends so: rsvg-convert must be there."""
    if not path.lower().endswith(".png"):
        with open(path, "w", encoding="utf-8") as out:
            out.write(svg)
        return
    with tempfile.NamedTemporaryFile("w", suffix=".svg", encoding="utf-8") as source:
        source.write(svg)
        source.flush()
        command = ["rsvg-convert", "--zoom=2", "--output", os.path.abspath(path), source.name]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise OSError("rsvg-convert cannot draw %s: %s" % (path, said))
