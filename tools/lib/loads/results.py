# SPDX-License-Identifier: Apache-2.0
"""What tools/bench found: rows, one for each measurement, and ratios over the rounds."""

import json

from loads.cells import Cell, Variant
from loads.spread import median, ratio

ROW_KEYS = (
    "system",
    "transport",
    "polling",
    "payload",
    "attachment",
    "in_flight",
    "synchronous",
    "way",
    "connections",
    "qps",
    "p50_us",
    "p99_us",
    "p999_us",
    "mb_per_s",
    "client_cpu_us",
    "server_cpu_us",
    "round",
)
MEASURED = ROW_KEYS[9:-1]
RATIO_METRICS = ("qps", "p50_us", "p99_us", "client_cpu_us", "server_cpu_us")


def row_of(report, number, synchronous=False, way="echo"):
    """A row of a client's report; raises KeyError where the report lacks something."""
    # That calls are synchronous is said of the cell, so that bare sockets stand beside them.
    system = report["system"].removesuffix(" synchronous")
    row = dict(report, system=system, synchronous=synchronous, way=way, round=number)
    return {key: row[key] for key in ROW_KEYS}


def variant_of(row):
    return Variant(row["system"], row["polling"])


def cell_of(row):
    keys = ("payload", "attachment", "in_flight", "synchronous", "way")
    return Cell(*(row[key] for key in keys))


class Results:
    """Rows in the order in which they came."""

    def __init__(self):
        self.rows = []

    def add(self, report, number, synchronous=False, way="echo"):
        self.rows.append(row_of(report, number, synchronous, way))

    def cells(self):
        return list(dict.fromkeys(cell_of(row) for row in self.rows))

    def variants(self):
        return list(dict.fromkeys(variant_of(row) for row in self.rows))

    def by_round(self, variant, cell, metric):
        """{round: number}; a later row of the same round counts."""
        return {
            row["round"]: row[metric]
            for row in self.rows
            if variant_of(row) == variant and cell_of(row) == cell
        }

    def medians(self, variant, cell):
        """{metric: its median over the rounds}, or None if it was not measured."""
        rounds = {metric: self.by_round(variant, cell, metric) for metric in MEASURED}
        if not rounds["qps"]:
            return None
        return {metric: median(values.values()) for metric, values in rounds.items()}

    def ratio(self, variant, other, cell, metric):
        """The Spread of variant / other, or None if no round has both."""
        return ratio(
            self.by_round(variant, cell, metric),
            self.by_round(other, cell, metric),
        )

    def compared(self):
        """(farcall's variants, the others that they are held against)."""
        ours = [variant for variant in self.variants() if variant.system == "farcall"]
        # Without farcall gRPC is held against the bare sockets.
        ours = ours or [variant for variant in self.variants() if variant.system == "grpc"]
        others = [v for v in self.variants() if v.system not in {one.system for one in ours}]
        return ours, others

    def ratios(self):
        """For the JSON: each of ours over each other, for each cell and metric."""
        found = []
        ours, others = self.compared()
        for cell in self.cells():
            for one in ours:
                for other in others:
                    found += self._ratios_of(one, other, cell)
        return found

    def _ratios_of(self, one, other, cell):
        found = []
        for metric in RATIO_METRICS:
            spread = self.ratio(one, other, cell, metric)
            if spread is None:
                continue
            found.append(
                {
                    "system": one.system,
                    "polling": one.polling,
                    "over": other.system,
                    "over_polling": other.polling,
                    "metric": metric,
                    "payload": cell.payload,
                    "attachment": cell.attachment,
                    "in_flight": cell.in_flight,
                    "synchronous": cell.synchronous,
                    "way": cell.way,
                    "median": round(spread.median, 4),
                    "min": round(spread.least, 4),
                    "max": round(spread.most, 4),
                    "rounds": spread.rounds,
                }
            )
        return found

    def to_json(self, machine, method):
        whole = {
            "machine": machine,
            "method": method,
            "rows": self.rows,
            "ratios": self.ratios(),
        }
        return json.dumps(whole, indent=1) + "\n"
