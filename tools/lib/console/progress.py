# SPDX-License-Identifier: Apache-2.0
"""A line that tells how far the work is, on standard error."""

import os
import sys
import time

from console.units import duration


class Progress:
    """On a terminal one line that is written over; elsewhere a line every `every` seconds."""

    def __init__(self, total, stream=None, clock=time.monotonic, every=10.0):
        self._total = total
        self._stream = stream or sys.stderr
        self._clock = clock
        self._every = every
        self._started = clock()
        self._last = None
        self._shown = False
        self._terminal = self._stream.isatty()

    def _columns(self):
        try:
            # Terminals of scripts may have no size.
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    def eta(self, done):
        """Seconds that are left, by the pace so far; None before the first is done."""
        if done == 0:
            return None
        return (self._clock() - self._started) / done * (self._total - done)

    def show(self, done, what):
        """`done` of the total are behind; `what` is next."""
        left = self.eta(done)
        text = "[%3d%%] %s" % (100 * done // max(1, self._total), what)
        if left is not None:
            text += ", %s left" % duration(left)
        now = self._clock()
        if self._terminal:
            # The last column stays free: a terminal goes on to the next line after it.
            self._stream.write("\r\033[K" + text[: self._columns() - 1])
            self._shown = True
        elif self._last is None or now - self._last >= self._every:
            self._stream.write(text + "\n")
            self._last = now
        self._stream.flush()

    def clear(self):
        """Makes room for other output."""
        if self._shown:
            self._stream.write("\r\033[K")
            self._stream.flush()
            self._shown = False
