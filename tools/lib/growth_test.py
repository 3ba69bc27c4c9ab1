#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The rows of tools/bench --growth, made of rounds that nobody has measured."""

import unittest

import growth


def round_of(speed):
    """What one_round returns, on a machine of this speed."""
    figures = {
        ("farcall", growth.FEW): 1000 * speed, ("farcall", growth.MANY): 500 * speed,
        ("raw", growth.FEW): 4000 * speed, ("raw", growth.MANY): 1000 * speed,
        ("half p50", "farcall"): 10 / speed, ("half p99", "farcall"): 25 / speed,
        ("half p50", "raw"): 2 / speed, ("half p99", "raw"): 18 / speed,
        ("idle", "server_kib"): 12.0, ("idle", "client_kib"): 16.0, ("idle", "cpu_percent"): 0.5,
    }  # fmt: skip
    for system, times in (("farcall", 3), ("raw", 100)):
        for cell in (growth.ONE, growth.SMALL):
            figures["alone", system, cell] = 20 / speed
            figures["beside", system, cell] = 20 * times / speed
            figures["bulk", system, cell] = 2000 * speed
    return figures


class RowsTest(unittest.TestCase):
    def setUp(self):
        self.rows = growth.rows_of([round_of(1), round_of(4)])

    def values(self, name):
        (found,) = [row.values for row in self.rows if row.name.startswith(name)]
        return found

    def test_ratios_are_taken_within_a_round_whatever_the_machine_did(self):
        for name, ratio in (
            ("1000 connections x 8 in flight over 8: farcall", 0.5),
            ("1000 connections x 8 in flight over 8: bare", 0.25),
            ("32 B x 1 beside 1 MiB x 8 on the same loop: farcall", 3),
            ("32 B x 8 beside 1 MiB x 8 on the same loop: farcall", 3),
            ("32 B x 1 beside 1 MiB x 8 on the same loop: bare", 100),
            ("open loop at half of the own peak of 32 B x 128, farcall", 2.5),
            ("open loop at half of the own peak of 32 B x 128, bare", 9),
        ):
            values = self.values(name)
            self.assertEqual((values.least, values.most, values.rounds), (ratio, ratio, 2), name)

    def test_figures_have_their_median_and_spread(self):
        (values, _) = [row.values for row in self.rows if row.name == "  its p50"]
        self.assertEqual((values.least, values.median, values.most), (2.5, 6.25, 10))
        client = self.values("an idle connection, resident memory of the client")
        self.assertEqual(client.median, 16)

    def test_the_table_lines_up_and_has_each_row_with_its_bar(self):
        lines = growth.text(self.rows).splitlines()
        self.assertEqual(len(lines), 2 + len(self.rows))
        self.assertEqual(len({len(line) for line in lines if line.endswith(("0.9", "bar"))}), 1)
        self.assertIn("% of a core", lines[-1])


if __name__ == "__main__":
    unittest.main()
