# SPDX-License-Identifier: Apache-2.0
"""From numbers to places along a line: scales and their ticks."""

import math

# A range wider than this is logarithmic: on a linear scale its lower part would be a line.
_WIDE = 8.0


class LinearScale:
    """From zero to a round number at or above `most`."""

    def __init__(self, most, start, end):
        self._step = nice_step(most / 5)
        self._top = self._step * math.ceil(most / self._step - 1e-9)
        self._start = start
        self._end = end

    def place(self, value):
        return self._start + (self._end - self._start) * value / self._top

    def ticks(self):
        """(value, whether it has a label)."""
        count = int(round(self._top / self._step))
        return [(self._step * i, True) for i in range(count + 1)]


class LogScale:
    """Numbers above zero. `base` 10 ends at 1, 2 or 5 times a power of ten."""

    def __init__(self, least, most, start, end):
        self._least = _floor_125(least)
        self._most = _ceil_125(most)
        if self._least >= self._most:
            self._most = self._least * 10
        self._start = start
        self._end = end

    def place(self, value):
        share = math.log(value / self._least) / math.log(self._most / self._least)
        return self._start + (self._end - self._start) * share

    def ticks(self):
        decades = math.log10(self._most / self._least)
        # Beyond four decades labels at 2 and 5 would stand too close.
        labelled = (1,) if decades > 4 else (1, 3) if decades > 3 else (1, 2, 5)
        ticks = []
        power = 10.0 ** math.floor(math.log10(self._least) + 1e-9)
        while power <= self._most * 1.0001:
            for factor in range(1, 10):
                value = power * factor
                if self._least * 0.9999 <= value <= self._most * 1.0001:
                    ticks.append((value, factor in labelled))
            power *= 10
        return ticks


class PointScale:
    """Logarithmic, with a tick at each of these numbers and nowhere else."""

    def __init__(self, values, start, end):
        self._values = sorted(set(values))
        self._start = start
        self._end = end

    def place(self, value):
        least, most = self._values[0], self._values[-1]
        if least == most:
            return (self._start + self._end) / 2
        share = math.log(value / least) / math.log(most / least)
        return self._start + (self._end - self._start) * share

    def ticks(self):
        return [(value, True) for value in self._values]


def scale_for(values, start, end):
    """Linear for numbers that are close to each other, else logarithmic."""
    above = [value for value in values if value > 0]
    if not above:
        return LinearScale(1, start, end)
    if min(above) * _WIDE > max(above):
        return LinearScale(max(above), start, end)
    return LogScale(min(above), max(above), start, end)


def nice_step(rough):
    """The 1, 2 or 5 times a power of ten that is next above `rough`."""
    return _ceil_125(rough)


def _ceil_125(value):
    power = 10.0 ** math.floor(math.log10(value))
    for factor in (1, 2, 5, 10):
        if value <= power * factor * 1.000001:
            return power * factor
    return power * 10


def _floor_125(value):
    power = 10.0 ** math.floor(math.log10(value))
    for factor in (5, 2, 1):
        if value >= power * factor * 0.999999:
            return power * factor
    return power
