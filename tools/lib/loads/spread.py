# SPDX-License-Identifier: Apache-2.0
"""Medians, and ratios with their spread over rounds."""

import dataclasses


def median(values):
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


@dataclasses.dataclass(frozen=True)
class Spread:
    """What a number was over the rounds."""

    median: float
    least: float
    most: float
    rounds: int

    @classmethod
    def of(cls, values):
        values = list(values)
        return cls(median(values), min(values), max(values), len(values))


def ratio(numerators, denominators):
    """The Spread of a / b, each pair from one round; None if no round has both.

    `numerators` and `denominators` map a round to a number. Pairs of one round ran next
    to each other, so what slows the machine for a while does not count twice. A round
    whose denominator is not above zero is left out.
    """
    rounds = sorted(set(numerators) & set(denominators))
    values = [numerators[r] / denominators[r] for r in rounds if denominators[r] > 0]
    return Spread.of(values) if values else None
