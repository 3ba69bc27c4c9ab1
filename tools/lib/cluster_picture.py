# SPDX-License-Identifier: Apache-2.0
"""The matrices of `doctor --cluster --json` as a picture: a square for each path, the darker the
worse; outliers have a frame."""

import json
import sys

from console.svg import Svg
from console.units import number

_INK = "#333333"
_SOFT = "#6b7280"
_FRAME = "#d55e00"
_NOTHING = "#ffffff"
_MARGIN = 24
_TITLE = 44
# Beyond, names and numbers do not fit: the table has them.
_MOST_TEXTS = 16
_UNITS = {"p50_us": ("us there and back", 1.0), "bytes_per_second": ("MB/s one way", 1e6)}
# From what a quarter of all reach to what is three times worse.
_BEST = (222, 235, 247)
_WORST = (8, 81, 156)


def _badness(matrix, value):
    """0: as good as what a quarter reach, or better; 1: three times worse, or more."""
    expected = matrix["expected"]
    if not expected or not value:
        return 0.0
    ratio = value / expected if matrix["unit"] == "p50_us" else expected / value
    return min(max((ratio - 1) / 2, 0.0), 1.0)


def _color(badness):
    return "#%02x%02x%02x" % tuple(
        round(best + (worst - best) * badness) for best, worst in zip(_BEST, _WORST)
    )


def _draw_cell(svg, matrix, box, value, outlier, labelled):
    left, top, size = box
    badness = _badness(matrix, value)
    fill = _NOTHING if value is None else _color(badness)
    svg.add("rect", x=left, y=top, width=size - 2, height=size - 2, fill=fill,
            stroke=_FRAME if outlier else None, stroke_width=2.5 if outlier else None)  # fmt: skip
    if value is None or not labelled:
        return
    at = (left + size / 2 - 1, top + size / 2 + 3)
    color = "#ffffff" if badness > 0.5 else _INK
    text = number(value / _UNITS[matrix["unit"]][1])
    svg.text(at, text, size=10, color=color, anchor="middle")


def _draw_matrix(svg, matrix, nodes, corner, size):
    left, top = corner
    unit = _UNITS[matrix["unit"]][0]
    svg.text((left, top - 26), matrix["what"], size=14, color=_INK, bold=True)
    svg.text((left, top - 10), unit, size=12, color=_SOFT)
    labelled = len(nodes) <= _MOST_TEXTS
    outliers = {tuple(path) for path in matrix["outliers"]}
    for row, start in enumerate(nodes):
        y = top + 16 + row * size
        if labelled:
            svg.text((left + 14, y + size / 2 + 3), str(start + 1), color=_SOFT, anchor="end")
            x = left + 20 + row * size + size / 2
            svg.text((x, top + 10), str(start + 1), color=_SOFT, anchor="middle")
        for column, end in enumerate(nodes):
            if start != end:
                box = (left + 20 + column * size, y, size)
                value = matrix["values"][start][end]
                _draw_cell(svg, matrix, box, value, (start, end) in outliers, labelled)


def picture(report):
    """The SVG of a report; ValueError: it has nothing to draw."""
    matrices = report["matrices"]
    if not matrices:
        raise ValueError("nothing was measured: the report has no matrix")
    nodes = [i for i, node in enumerate(report["nodes"]) if not node["trouble"]]
    size = 44 if len(nodes) <= _MOST_TEXTS else 12
    side = 20 + len(nodes) * size
    width = max(side, 240) + _MARGIN
    height = side + 16 + _TITLE + _MARGIN
    # Latency at the left, bandwidth at the right.
    rows = (len(matrices) + 1) // 2
    names = [(i, report["nodes"][i]["name"]) for i in nodes] if size == 44 else []
    svg = Svg(_MARGIN + 2 * width, _MARGIN + rows * height + 18 * len(names))
    for place, matrix in enumerate(matrices):
        corner = (_MARGIN + place % 2 * width, _MARGIN + _TITLE + place // 2 * height)
        _draw_matrix(svg, matrix, nodes, corner, size)
    for line, (i, name) in enumerate(names):
        at = (_MARGIN, _MARGIN + rows * height + 18 * line)
        svg.text(at, "%d  %s" % (i + 1, name), color=_SOFT)
    return str(svg)


def main():
    if len(sys.argv) > 1:
        print("usage: tools/cluster_picture < REPORT > PICTURE\n\n"
              "Draws the last line of what `doctor --cluster --json` said as SVG.")  # fmt: skip
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    lines = [line for line in sys.stdin.read().splitlines() if line.startswith("{")]
    try:
        print(picture(json.loads(lines[-1])), end="")
    except (IndexError, KeyError, TypeError, ValueError) as error:
        print("error: this is no report of doctor --cluster --json: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
