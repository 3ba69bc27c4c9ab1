#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Tests of mutate.py."""

import os
import subprocess
import sys
import tempfile
import unittest

MUTATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mutate.py")


class MutateTest(unittest.TestCase):
    def setUp(self):
        self._directory = tempfile.TemporaryDirectory()
        self.addCleanup(self._directory.cleanup)
        self.source = os.path.join(self._directory.name, "in.cc")
        self.target = os.path.join(self._directory.name, "out.cc")
        with open(self.source, "w", encoding="utf-8") as file:
            file.write("if (a) b();\nif (c) b();\n")

    def mutate(self, *changes):
        return subprocess.run([sys.executable, MUTATE, self.source, self.target, *changes],
                              capture_output=True, text=True, check=False)

    def test_each_change_is_made(self):
        self.assertEqual(self.mutate("if (a)", "if (!a)", "if (c) ", "").returncode, 0)
        with open(self.target, encoding="utf-8") as file:
            self.assertEqual(file.read(), "if (!a) b();\nb();\n")

    def test_what_is_not_there_exactly_once_is_an_error(self):
        for old, times in (("if (d)", "0"), ("b();", "2")):
            run = self.mutate(old, "")
            self.assertEqual(run.returncode, 1)
            self.assertIn("is there %s times, not once" % times, run.stderr)
            self.assertFalse(os.path.exists(self.target))


if __name__ == "__main__":
    unittest.main()
