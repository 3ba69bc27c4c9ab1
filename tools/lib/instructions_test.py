#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""An echo takes no more instructions than it may. Of a program that is optimised: --config=opt."""

import sys
import unittest

import instructions

# Fewer calls than tools/bench takes, to be done in seconds.
RUNS = {("rdma", 1): 1000, ("rdma", 64): 2560, ("tcp", 1): 1000, ("tcp", 64): 2560}


class Silent:
    def show(self, done, what):
        pass


class InstructionsTest(unittest.TestCase):
    def test_an_echo_takes_no_more_than_its_limit(self):
        rows = instructions.measure(PROGRAM, RUNS, Silent())
        print(instructions.table(rows))
        self.assertEqual(instructions.over_limit(rows), [])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop()
    unittest.main()
