#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Two loops write no cache line in common. Of a program that is optimised: --config=opt."""

import io
import sys
import unittest

import shared_lines

CALLS = 64
IN_FLIGHT = 8


def writers_of(text):
    writers = shared_lines.Writers()
    for line in text.strip("\n").encode().split(b"\n"):
        writers.read(line)
    return writers


def mark(address):
    return " S %x,8\n" % address


class WritersTest(unittest.TestCase):
    def trace(self, first, second):
        return writers_of(
            " S 5000,8\n" + mark(shared_lines.BEGIN)
            + mark(shared_lines.FIRST) + "I  100,3\n" + first + mark(shared_lines.NOBODY)
            + " M 5000,4\n" + mark(shared_lines.SECOND) + "I  200,3\n" + second
            + mark(shared_lines.NOBODY) + mark(shared_lines.END)
        )  # fmt: skip

    def test_a_line_that_both_write_is_found_with_both_instructions(self):
        writers = self.trace(" S 5000,8\n", " M 5038,4\n")
        self.assertEqual(writers.shared(), [(0x5000, {0x100}, {0x200})])
        self.assertTrue(writers.ended)

    def test_a_store_over_two_lines_counts_for_both(self):
        writers = self.trace(" S 503c,8\n", " S 5040,1\n")
        self.assertEqual([line for line, _, _ in writers.shared()], [0x5040])

    def test_neighbours_loads_and_what_no_loop_does_are_not_shared(self):
        self.assertEqual(self.trace(" S 5000,8\n", " S 5040,8\n").shared(), [])
        self.assertEqual(self.trace(" S 5000,8\n", " L 5000,8\n").shared(), [])

    def test_lines_are_counted_for_each(self):
        self.assertEqual(self.trace(" S 5000,8\n S 5040,8\n", " L 5000,8\n").written(), (2, 0))


class TracesTest(unittest.TestCase):
    def test_each_run_of_a_trace_has_writers_of_its_own(self):
        begin = mark(shared_lines.BEGIN) + mark(shared_lines.FIRST) + "I  100,3\n"
        one = begin + "%s" + mark(shared_lines.END)
        between = " S 6000,8\n" * 300_000  # more than a piece
        text = between + one % " S 5000,8\n" + between + one % " S 5000,8\n S 5040,8\n" + between
        found = shared_lines.read_traces(io.BytesIO(text.encode()))
        self.assertEqual([writers.written() for writers in found], [(1, 0), (2, 0)])
        self.assertTrue(all(writers.ended for writers in found))

    def test_two_runs_in_one_piece_are_two(self):
        one = mark(shared_lines.BEGIN) + mark(shared_lines.SECOND) + mark(shared_lines.END)
        found = shared_lines.read_traces(io.BytesIO((one + " S 6000,8\n" + one).encode()))
        self.assertEqual([writers.ended for writers in found], [True, True])

    def test_a_run_that_breaks_off_has_not_ended(self):
        found = shared_lines.read_traces(io.BytesIO(mark(shared_lines.BEGIN).encode()))
        self.assertEqual([writers.ended for writers in found], [False])


class TwoLoopsTest(unittest.TestCase):
    def test_echoes_of_two_channels_and_of_one_with_two_loops(self):
        runs = shared_lines.trace(PROGRAM, CALLS, IN_FLIGHT)
        self.assertEqual(sorted(runs), [1, 2])
        for channels, (writers, program) in runs.items():
            with self.subTest(channels=channels):
                # Each call writes some, on either loop.
                self.assertGreater(min(writers.written()), CALLS)
                self.assertEqual(shared_lines.report(writers, program, CALLS), [])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop()
    unittest.main()
