# SPDX-License-Identifier: Apache-2.0
"""An SVG drawing, put together from the few elements that a chart needs."""

from xml.sax.saxutils import escape, quoteattr

FONT = "Inter, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"


def _attributes(attributes):
    parts = []
    for name, value in attributes.items():
        if value is None:
            continue
        text = "%g" % round(value, 2) if isinstance(value, float) else str(value)
        parts.append("%s=%s" % (name.rstrip("_").replace("_", "-"), quoteattr(text)))
    return " ".join(parts)


class Svg:
    """Elements are drawn in the order in which they are added; pixels from the top left."""

    def __init__(self, width, height, background="#ffffff"):
        self.width = width
        self.height = height
        self._elements = []
        self.add("rect", x=0, y=0, width=width, height=height, fill=background)

    def add(self, name, **attributes):
        """An element without content. In names _ stands for -."""
        self._elements.append("<%s %s/>" % (name, _attributes(attributes)))

    def line(self, start, end, color, width=1.0, dash=None):
        self.add(
            "line",
            x1=float(start[0]),
            y1=float(start[1]),
            x2=float(end[0]),
            y2=float(end[1]),
            stroke=color,
            stroke_width=width,
            stroke_dasharray=dash,
        )

    def path(self, points, color, width=2.0, dash=None):
        """Straight lines from point to point."""
        self.add(
            "polyline",
            points=" ".join("%.1f,%.1f" % point for point in points),
            fill="none",
            stroke=color,
            stroke_width=width,
            stroke_dasharray=dash,
            stroke_linejoin="round",
            stroke_linecap="round",
        )

    def dot(self, center, color, radius=3.5, hollow=False):
        self.add(
            "circle",
            cx=float(center[0]),
            cy=float(center[1]),
            r=radius,
            fill="#ffffff" if hollow else color,
            stroke=color if hollow else "#ffffff",
            stroke_width=1.5,
        )

    def text(self, at, content, size=12, color="#333333", anchor="start", bold=False, turn=None):
        """`anchor`: start, middle or end. `turn`: degrees around `at`."""
        attributes = {
            "x": float(at[0]),
            "y": float(at[1]),
            "font_size": size,
            "fill": color,
            "text_anchor": anchor,
            "font_weight": 600 if bold else None,
            "transform": "rotate(%g %g %g)" % (turn, at[0], at[1]) if turn is not None else None,
        }
        self._elements.append("<text %s>%s</text>" % (_attributes(attributes), escape(content)))

    def __str__(self):
        head = '<svg xmlns="http://www.w3.org/2000/svg" %s>' % _attributes(
            {
                "width": self.width,
                "height": self.height,
                "viewBox": "0 0 %d %d" % (self.width, self.height),
                "font_family": FONT,
            }
        )
        return "\n".join([head] + self._elements + ["</svg>", ""])
