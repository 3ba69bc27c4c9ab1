#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Cores of their own, and who else uses them."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from places import machine  # noqa: E402


class MachineTest(unittest.TestCase):
    def test_each_side_gets_cores_of_its_own_where_there_are_two(self):
        self.assertEqual(machine.one_core_each([3, 1, 2]), ([1], [2]))
        self.assertEqual(machine.one_core_each([5]), ([5], [5]))
        self.assertEqual(machine.half_each([0, 1, 2, 3, 4]), ([0, 1], [2, 3, 4]))
        self.assertEqual(machine.half_each([7]), ([7], [7]))

    def test_cores_that_others_keep_busy_are_counted(self):
        watch = machine.OthersWatch()
        self.assertGreaterEqual(watch.cores(), 0)
        self.assertAlmostEqual(
            machine._busy_seconds("cpu 100 20 30 5000 7 1 2 3 0 0"),
            156 / os.sysconf("SC_CLK_TCK"),
        )
        self.assertEqual(machine.others_text(0.1), "")
        self.assertIn("1.5 cores", machine.others_text(1.5))

    def test_facts_are_there(self):
        facts = machine.facts()
        self.assertGreaterEqual(facts["cores"], 1)
        self.assertIn("kernel", machine.line(facts))


if __name__ == "__main__":
    unittest.main()
