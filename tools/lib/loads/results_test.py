#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What is measured, and what is made of the measurements."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from loads import comparison  # noqa: E402
from loads.cells import Cell, Variant, parse_cells, parse_variants  # noqa: E402
from loads.results import RATIO_METRICS, ROW_KEYS, Results  # noqa: E402
from loads.spread import Spread, median, ratio  # noqa: E402

FARCALL = Variant("farcall", "adaptive")
GRPC = Variant("grpc", "event")
RAW = Variant("raw", "busy")
SMALL = Cell(32, 0, 64)


def report(variant, qps, cell=SMALL):
    """As a client prints it: with more than a row needs."""
    return {
        "system": variant.system,
        "transport": "tcp",
        "why_not_rdma": "",
        "polling": variant.polling,
        "payload": cell.payload,
        "attachment": cell.attachment,
        "in_flight": cell.in_flight,
        "connections": 1,
        "threads": 1,
        "seconds": 1,
        "calls": int(qps),
        "errors": 0,
        "qps": qps,
        "p50_us": 1e6 / qps,
        "p99_us": 2e6 / qps,
        "p999_us": 3e6 / qps,
        "mb_per_s": qps * cell.payload / 1e6,
        "client_cpu_us": 1.5,
        "server_cpu_us": 2.5,
    }


def three_rounds():
    results = Results()
    for number, (ours, theirs, bare) in enumerate(((40, 10, 80), (60, 20, 90), (80, 16, 70)), 1):
        results.add(report(FARCALL, ours * 1e4), number)
        results.add(report(GRPC, theirs * 1e4), number)
        results.add(report(RAW, bare * 1e4), number)
    return results


class SpreadTest(unittest.TestCase):
    def test_median_of_odd_and_even(self):
        self.assertEqual(median([3, 1, 2]), 2)
        self.assertEqual(median([4, 1, 3, 2]), 2.5)
        with self.assertRaises(ValueError):
            median([])

    def test_spread_is_the_median_between_least_and_most(self):
        self.assertEqual(Spread.of([5, 1, 3]), Spread(3, 1, 5, 3))

    def test_ratios_pair_what_ran_in_one_round(self):
        # The second round was slow for both: its ratio is like the others.
        self.assertEqual(ratio({1: 40, 2: 4, 3: 44}, {1: 10, 2: 1, 3: 11}), Spread(4, 4, 4, 3))

    def test_rounds_that_lack_one_are_left_out(self):
        self.assertEqual(ratio({1: 4, 2: 9}, {2: 3, 3: 1}), Spread(3, 3, 3, 1))
        self.assertIsNone(ratio({1: 4}, {2: 3}))
        self.assertIsNone(ratio({1: 4}, {1: 0}))


class CellsTest(unittest.TestCase):
    def test_cells_are_parsed(self):
        self.assertEqual(Cell.parse("32x64"), Cell(32, 0, 64))
        self.assertEqual(Cell.parse("32+4Kx64"), Cell(32, 4096, 64))
        self.assertEqual(Cell.parse("1Mx8"), Cell(1 << 20, 0, 8))
        self.assertEqual(Cell.parse("32x16s"), Cell(32, 0, 16, synchronous=True))
        self.assertEqual(Cell.parse("0+4KiBx1"), Cell(0, 4096, 1))
        self.assertEqual(Cell.parse("put:32+4Kx2"), Cell(32, 4096, 2, way="put"))

    def test_cells_tell_what_they_are(self):
        self.assertEqual(str(Cell(32, 4096, 64)), "32 B + 4 KiB x 64")
        self.assertEqual(str(Cell(65536, 0, 8)), "64 KiB x 8")
        self.assertEqual(str(Cell(32, 0, 16, True)), "32 B x 16 sync")
        self.assertEqual(str(Cell(32, 4096, 2, way="get")), "get: 32 B + 4 KiB x 2")

    def test_what_is_no_cell_is_named(self):
        for text in ("32", "x1", "32x", "32x0", "32x65537", "ax1", "32+x1", "32x1x1", "put:32x1",
                     "get:0+1x1", "got:1+1x1"):  # fmt: skip
            with self.assertRaises(ValueError, msg=text):
                Cell.parse(text)

    def test_a_list_keeps_its_order_and_each_cell_once(self):
        self.assertEqual(parse_cells("32x2, 32x1,32x2"), [Cell(32, 0, 2), Cell(32, 0, 1)])
        with self.assertRaises(ValueError):
            parse_cells(" , ")

    def test_variants_are_systems_with_their_pollings(self):
        pollings = {"farcall": "adaptive,busy", "pool": "busy", "grpc": "event", "raw": "busy"}
        found = parse_variants("farcall,grpc", pollings)
        names = [str(variant) for variant in found]
        self.assertEqual(names, ["farcall adaptive", "farcall busy", "grpc"])
        self.assertEqual(str(parse_variants("pool", pollings)[0]), "pool busy")
        with self.assertRaisesRegex(ValueError, '"brpc" is no system'):
            parse_variants("brpc", pollings)
        with self.assertRaisesRegex(ValueError, 'raw has no polling "adaptive"'):
            parse_variants("raw", {"raw": "adaptive"})


class ResultsTest(unittest.TestCase):
    def test_rows_have_exactly_their_keys(self):
        for row in three_rounds().rows:
            self.assertEqual(tuple(row), ROW_KEYS)

    def test_a_report_that_lacks_a_number_is_an_error(self):
        broken = report(FARCALL, 1000)
        del broken["p999_us"]
        with self.assertRaises(KeyError):
            Results().add(broken, 1)

    def test_medians_over_the_rounds(self):
        self.assertEqual(three_rounds().medians(FARCALL, SMALL)["qps"], 60e4)
        self.assertIsNone(three_rounds().medians(Variant("farcall", "busy"), SMALL))

    def test_ratios_hold_farcall_against_each_other_system(self):
        ratios = three_rounds().ratios()
        self.assertEqual(len(ratios), 2 * len(RATIO_METRICS))
        first = ratios[0]
        what = (first["system"], first["over"], first["metric"])
        self.assertEqual(what, ("farcall", "grpc", "qps"))
        self.assertEqual((first["median"], first["min"], first["max"]), (4, 3, 5))
        self.assertEqual(first["rounds"], 3)

    def test_synchronous_calls_are_held_against_each_other(self):
        results = three_rounds()
        for variant, qps in ((FARCALL, 3e4), (GRPC, 1e4), (RAW, 9e4)):
            told = report(variant, qps)
            if variant != RAW:
                told["system"] += " synchronous"
            results.add(told, 1, synchronous=True)
        synchronous = Cell(32, 0, 64, synchronous=True)
        self.assertEqual(results.cells(), [SMALL, synchronous])
        self.assertEqual(results.ratio(FARCALL, GRPC, synchronous, "qps").median, 3)
        self.assertEqual(results.medians(RAW, synchronous)["qps"], 9e4)
        self.assertEqual(results.medians(FARCALL, SMALL)["qps"], 60e4)

    def test_without_farcall_grpc_is_held_against_the_bare_sockets(self):
        results = Results()
        results.add(report(GRPC, 1e4), 1)
        results.add(report(RAW, 1e5), 1)
        self.assertEqual(results.compared(), ([GRPC], [RAW]))

    def test_one_system_alone_has_no_ratios(self):
        results = Results()
        results.add(report(RAW, 1e5), 1)
        self.assertEqual(results.ratios(), [])
        self.assertIsNone(comparison.ratios_table(results))
        self.assertIn("raw busy", comparison.text(results))

    def test_json_has_rows_and_ratios(self):
        whole = json.loads(three_rounds().to_json({"cpu": "x"}, {"rounds": 3}))
        self.assertEqual(list(whole), ["machine", "method", "rows", "ratios"])
        self.assertEqual(len(whole["rows"]), 9)
        self.assertEqual(whole["rows"][3]["round"], 2)

    def test_tables_name_each_load_once_and_show_the_spread(self):
        text = comparison.text(three_rounds())
        self.assertEqual(text.count("32 B x 64"), 2)
        self.assertIn("Medians of 3 rounds", text)
        self.assertIn("4.00 (3.00..5.00)", text)


if __name__ == "__main__":
    unittest.main()
