# SPDX-License-Identifier: Apache-2.0
"""The tables of tools/bench."""

from console.table import Table
from console.units import number

_TITLES = (
    "load",
    "system",
    "calls/s",
    "p50\nus",
    "p99\nus",
    "p99.9\nus",
    "MB/s",
    "client\nCPU us",
    "server\nCPU us",
)


def medians_table(results):
    """For each load and system the median of each number over the rounds."""
    table = Table(_TITLES, left=2)
    for index, cell in enumerate(results.cells()):
        if index:
            table.rule()
        load = str(cell)
        for variant in results.variants():
            found = results.medians(variant, cell)
            if found is None:
                continue
            table.add(load, str(variant), *(number(value) for value in found.values()))
            load = ""
    return table


def _text(spread):
    if spread is None:
        return "-"
    return "%s (%s..%s)" % tuple(number(n) for n in (spread.median, spread.least, spread.most))


def ratios_table(results):
    """For each load the ratios with their spread; None with nothing to compare."""
    ours, others = results.compared()
    if not ours or not others:
        return None
    table = Table(("load", "system", "over", "calls/s", "p50", "p99", "server CPU"), left=3)
    metrics = ("qps", "p50_us", "p99_us", "server_cpu_us")
    for index, cell in enumerate(results.cells()):
        if index and len(ours) * len(others) > 1:
            table.rule()
        load = str(cell)
        for one in ours:
            for other in others:
                spreads = [results.ratio(one, other, cell, metric) for metric in metrics]
                if any(spreads):
                    table.add(load, str(one), str(other), *(_text(spread) for spread in spreads))
                    load = ""
    return table


def text(results):
    """Both, with their headings."""
    rounds = len({row["round"] for row in results.rows})
    parts = ["Medians of %d rounds; CPU per call on each side:" % rounds, ""]
    parts.append(str(medians_table(results)))
    ratios = ratios_table(results)
    if ratios is not None:
        parts += ["", "Ratios within a round, median (least..most):", "", str(ratios)]
    return "\n".join(parts)
