#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Tests that make threads, and are not seen by ThreadSanitizer, are found."""

import unittest

import threads
from tidy_selftest import findings


class ThreadsTest(unittest.TestCase):
    ROOM = 'room_test(\n    name = "a_test",\n%s)\n'
    TEST = 'cc_test(\n    name = "b_test",\n    srcs = ["b_test.cc"],\n%s)\n'

    def unseen(self, build):
        files = {
            "rpc/BUILD.bazel": "\n" + build,
            "rpc/a_test.cc": '#include "rpc/a.h"\n',
            "rpc/a.h": "class A;\n",
            "rpc/a.cc": '#include "rpc/b.h"\n',
            "rpc/b.h": "std::thread b;\n",
            "rpc/b_test.cc": '#include "rpc/c.h"\n',
            "rpc/c.h": "std::this_thread::yield();\n",
        }
        return findings(threads.check, files)

    def test_a_test_that_makes_threads_is_named(self):
        found = self.unseen(self.ROOM % "")
        what = "rpc/a_test.cc makes threads, and ThreadSanitizer does not see it"
        self.assertEqual(["rpc/BUILD.bazel:2: " + what], found)
        for said in ['threads = ["a_test"]', "threads = True", 'without = ["a_test"]']:
            self.assertEqual([], self.unseen(self.ROOM % ("    %s,\n" % said)))

    def test_so_is_one_of_a_target_of_its_own(self):
        one = self.TEST.replace("b_test", "a_test")
        self.assertEqual(1, len(self.unseen(one % '    tags = ["no-threads"],\n')))
        self.assertEqual([], self.unseen(one % ""))
        self.assertEqual([], self.unseen(one % '    tags = ["no-sanitizer", "no-threads"],\n'))
        self.assertEqual([], self.unseen(self.TEST % '    tags = ["no-threads"],\n'))


if __name__ == "__main__":
    unittest.main()
