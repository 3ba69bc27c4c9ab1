#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What is counted of a callgrind file, and what is left out."""

import unittest

import callgrind
import instructions

# main (10) calls Work (20 itself) once, and FakeSend (30, of which 5 in memcpy) twice;
# Work calls FakeSend once.
FILE = """version: 1
positions: line
events: Ir

fl=(1) main.cc
fn=(1) main
1 6
cfn=(2) Work(int)
calls=1 10
2 55
+1 4
cfn=(3) Fabric::FakeSend()
calls=2 20
* 70

fn=(2)
10 20
cfn=(3)
calls=1 20
11 35

fn=(3)
20 90
cfn=(4) memcpy
calls=3 1
21 15

fn=(4)
1 15

totals: 135
""".splitlines()


class CallgrindTest(unittest.TestCase):
    def test_everything_is_the_sum_of_what_each_function_took_itself(self):
        self.assertEqual(callgrind.count(FILE, lambda name: False), 6 + 4 + 20 + 90 + 15)

    def test_a_stand_in_is_left_out_with_what_it_calls(self):
        self.assertEqual(callgrind.count(FILE, instructions.is_stand_in), 6 + 4 + 20)

    def test_a_file_of_other_events_is_refused(self):
        with self.assertRaises(ValueError):
            callgrind.count(["events: Ir Dr"], lambda name: False)


class TableTest(unittest.TestCase):
    def test_shows_each_side_and_the_stand_in_apart(self):
        rows = [
            {"in_flight": 1, "client": 11201.5, "server": 12365.2,
             "client_stand_in": 1357, "server_stand_in": 1357},
        ]  # fmt: skip
        last = instructions.table(rows).splitlines()[-1]
        self.assertEqual(last.split(), ["1", "11,202", "12,365", "1,357", "1,357"])


class LimitTest(unittest.TestCase):
    def test_tells_what_is_over_its_limit_and_nothing_else(self):
        limits = instructions.LIMITS[64]
        row = {"in_flight": 64, **limits}
        self.assertEqual(instructions.over_limit([row]), [])
        row["server"] += 1
        lines = instructions.over_limit([row, {"in_flight": 8, "client": 1e9, "server": 1e9}])
        self.assertEqual(len(lines), 1)
        self.assertIn("the server takes", lines[0])


if __name__ == "__main__":
    unittest.main()
