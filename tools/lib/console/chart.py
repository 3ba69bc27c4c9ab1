# SPDX-License-Identifier: Apache-2.0
"""Panels with axes and curves."""

import dataclasses

from console.axis import PointScale, scale_for
from console.units import short

_INK = "#333333"
_SOFT = "#6b7280"
_GRID = "#e5e7eb"
_FAINT = "#f3f4f6"
# Told apart by those who see colours differently too (Okabe and Ito), dark enough on white.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#8a6d00", "#56b4e9", "#333333")
_MARGIN_LEFT = 62
_MARGIN_TOP = 30
_MARGIN_BOTTOM = 46


@dataclasses.dataclass
class Curve:
    points: list  # of (x, y)
    color: str
    dash: str = None  # as stroke-dasharray; hollow dots go with it


class Panel:
    """One pair of axes, with all its curves, in the rectangle (x, y, width, height)."""

    def __init__(self, box, title, x_title, curves):
        left, top, width, height = box
        self._left = left + _MARGIN_LEFT
        self._right = left + width
        self._top = top + _MARGIN_TOP
        self._bottom = top + height - _MARGIN_BOTTOM
        self._title = title
        self._x_title = x_title
        self._curves = curves
        xs = [x for curve in curves for x, _ in curve.points]
        ys = [y for curve in curves for _, y in curve.points]
        # The curves keep away from the sides.
        self._x = PointScale(xs, self._left + 14, self._right - 14)
        self._y = scale_for(ys, self._bottom, self._top)

    def draw(self, svg):
        svg.text((self._left, self._top - 13), self._title, size=14, color=_INK, bold=True)
        self._draw_y(svg)
        self._draw_x(svg)
        for curve in self._curves:
            self._draw_curve(svg, curve)

    def _draw_y(self, svg):
        for value, labelled in self._y.ticks():
            y = self._y.place(value)
            svg.line((self._left, y), (self._right, y), _GRID if labelled else _FAINT)
            if labelled:
                svg.text((self._left - 8, y + 4), short(value), color=_SOFT, anchor="end")

    def _draw_x(self, svg):
        svg.line((self._left, self._bottom), (self._right, self._bottom), _SOFT, width=1.2)
        last_label = None
        for value, _ in self._x.ticks():
            x = self._x.place(value)
            svg.line((x, self._bottom), (x, self._bottom + 5), _SOFT, width=1.2)
            if last_label is None or x - last_label >= 22:
                at = (x, self._bottom + 19)
                svg.text(at, short(value), color=_SOFT, anchor="middle")
                last_label = x
        middle = (self._left + self._right) / 2
        svg.text((middle, self._bottom + 39), self._x_title, color=_SOFT, anchor="middle")

    def _draw_curve(self, svg, curve):
        places = [(self._x.place(x), self._y.place(y)) for x, y in curve.points]
        if len(places) > 1:
            svg.path(places, curve.color, width=1.6 if curve.dash else 2.4, dash=curve.dash)
        for place in places:
            svg.dot(place, curve.color, radius=3 if curve.dash else 4, hollow=bool(curve.dash))


def legend_rows(entries, width, gap=34):
    """Cuts (text, color, dash) into rows that are at most `width` wide: lists of
    (x, entry)."""
    rows = [[]]
    x = 0.0
    for entry in entries:
        # Fonts differ: a bit more than the text needs.
        size = 33 + 7.4 * len(entry[0])
        if rows[-1] and x + size > width:
            rows.append([])
            x = 0.0
        rows[-1].append((x, entry))
        x += size + gap
    return rows


def draw_legend(svg, at, rows, height):
    for number, row in enumerate(rows):
        y = at[1] + number * height
        for offset, (text, color, dash) in row:
            x = at[0] + offset
            svg.line((x, y - 4), (x + 26, y - 4), color, width=1.6 if dash else 2.4, dash=dash)
            svg.dot((x + 13, y - 4), color, radius=3 if dash else 4, hollow=bool(dash))
            svg.text((x + 33, y), text, size=13, color=_INK)
