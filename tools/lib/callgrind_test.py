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

# main calls free, whose first instruction is of two lines; it goes back to the second.
BY_INSTRUCTION = """version: 1
positions: instr line
events: Ir

fl=(1) main.cc
fn=(1) main
0x10 1 1
0x14 2 5
cfn=(2) free@@GLIBC_2.2.5
calls=9 0x40 0
0x18 3 87

fn=(2)
0x44 8 20
0x40 7 3
fi=(2) other.h
0x40 1 4
0x48 9 60
""".splitlines()


class CallgrindTest(unittest.TestCase):
    def test_everything_is_the_sum_of_what_each_function_took_itself(self):
        self.assertEqual(callgrind.count(FILE, lambda name: False), 6 + 4 + 20 + 90 + 15)

    def test_a_stand_in_is_left_out_with_what_it_calls(self):
        self.assertEqual(callgrind.count(FILE, instructions.is_stand_in), 6 + 4 + 20)

    def test_a_file_of_other_events_is_refused(self):
        with self.assertRaises(ValueError):
            callgrind.count(["events: Ir Dr"], lambda name: False)

    def test_costs_may_have_two_positions(self):
        self.assertEqual(callgrind.count(BY_INSTRUCTION, lambda name: False), 1 + 5 + 20 + 7 + 60)
        self.assertEqual(callgrind.count(BY_INSTRUCTION, lambda name: "free" in name), 1 + 5)

    def test_a_function_was_entered_as_often_as_its_first_instruction_ran(self):
        self.assertEqual(callgrind.entries(BY_INSTRUCTION, {"free"}), 7)
        self.assertEqual(callgrind.entries(BY_INSTRUCTION, {"main", "free"}), 8)
        self.assertEqual(callgrind.entries(BY_INSTRUCTION, {"malloc"}), 0)

    def test_entries_need_the_instructions_apart(self):
        with self.assertRaises(ValueError):
            callgrind.entries(FILE, {"main"})


class TableTest(unittest.TestCase):
    def test_shows_each_side_and_the_stand_in_apart(self):
        rows = [
            {"transport": "rdma", "in_flight": 1, "client": 11201.5, "server": 12365.2,
             "client_stand_in": 1357, "server_stand_in": 1357},
        ]  # fmt: skip
        last = instructions.table(rows).splitlines()[-1]
        self.assertEqual(last.split(), ["rdma", "1", "11,202", "12,365", "1,357", "1,357"])

    def test_shows_what_else_a_call_takes(self):
        row = {"transport": "tcp", "in_flight": 64}
        for side in instructions.SIDES:
            for value, what in enumerate(instructions.EXTRAS):
                row["%s_%s" % (side, what)] = value / 10
        last = instructions.extras_table([row]).splitlines()[-1]
        figures = ["%.2f" % (value / 10) for value in range(len(instructions.EXTRAS))]
        self.assertEqual(last.split(), ["tcp", "server", "64"] + figures)


class LimitTest(unittest.TestCase):
    def test_tells_what_is_over_its_limit_and_nothing_else(self):
        limits = instructions.LIMITS[("tcp", 64)]
        row = {"transport": "tcp", "in_flight": 64, **limits}
        row |= {"client_allocations": 0.002, "server_allocations": 0}
        self.assertEqual(instructions.over_limit([row]), [])
        self.assertEqual(
            instructions.over_limit([row | {"client_allocations": 1}]),
            ["the client allocates 1.00 times for an echo over tcp with 64 in flight"],
        )
        row["server"] += 1
        other = {"transport": "rdma", "in_flight": 8, "client": 1e9, "server": 1e9}
        lines = instructions.over_limit([row, other])
        self.assertEqual(len(lines), 1)
        self.assertIn("the server takes", lines[0])


if __name__ == "__main__":
    unittest.main()
