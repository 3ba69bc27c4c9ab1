# SPDX-License-Identifier: Apache-2.0
"""Tables whose columns line up."""


class Table:
    """Rows of texts under titles. The first `left` columns are flush left, numbers right.

    A title may have two lines. With `widths` given, rows can be printed one by one as
    they come, each lined up with what will follow; else a table is printed at its end.
    """

    def __init__(self, titles, left=1, widths=None):
        self._titles = [title.split("\n") for title in titles]
        self._left = left
        self._widths = [max(len(line) for line in title) for title in self._titles]
        if widths:
            self._widths = [max(pair) for pair in zip(self._widths, widths)]
        self._rows = []

    def add(self, *cells):
        """Adds a row and returns its line, as wide as the columns are by now."""
        if len(cells) != len(self._titles):
            raise ValueError("%d cells for %d columns" % (len(cells), len(self._titles)))
        self._rows.append(cells)
        self._widths = [max(width, len(cell)) for width, cell in zip(self._widths, cells)]
        return self._line(cells)

    def rule(self):
        """Adds a line between rows."""
        self._rows.append(None)

    def head(self):
        """The lines of the titles, and one below them."""
        height = max(len(title) for title in self._titles)
        lines = []
        for line in range(height):
            # Short titles stand at the bottom, on the row that is nearest to the numbers.
            at = [line - height + len(title) for title in self._titles]
            cells = [title[i] if i >= 0 else "" for title, i in zip(self._titles, at)]
            lines.append(self._line(cells))
        return lines + [self._dashes()]

    def lines(self):
        body = [self._dashes() if row is None else self._line(row) for row in self._rows]
        return self.head() + body

    def __str__(self):
        return "\n".join(self.lines())

    def _dashes(self):
        return "  ".join("-" * width for width in self._widths)

    def _line(self, cells):
        padded = [
            cell.ljust(width) if index < self._left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, self._widths))
        ]
        return "  ".join(padded).rstrip()
