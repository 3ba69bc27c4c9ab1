#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The parts of tools/bench --rdma between two hosts or pods that need neither."""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from places import end_facts, two_ends  # noqa: E402


class PartsTest(unittest.TestCase):
    def test_a_server_ends_with_its_input_also_if_it_does_not_read_it(self):
        words = two_ends.server(["sh", "-c", "echo $$; exec sleep 1000"])
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            number = int(process.stdout.readline())
            process.stdin.close()
            process.wait(20)
            self.assertFalse(os.path.exists("/proc/%d" % number))

    def test_a_server_that_ends_is_not_waited_for(self):
        with subprocess.Popen(two_ends.server(["sh", "-c", "exit 3"]), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:  # fmt: skip
            self.assertEqual(process.stdout.read(), b"")
            self.assertEqual(process.wait(20), 3)

    def test_the_core_is_near_the_device(self):
        words = "usable 0-3,8\nport d|near=2-3,8|gid=\nport e|near=9|gid="
        facts = end_facts.parse("x", words)
        self.assertEqual([facts.core("d"), facts.core("d", others=1)], [8, 3])
        self.assertEqual([facts.core("e"), facts.core("e", others=9)], [8, 0])


if __name__ == "__main__":
    unittest.main()
