#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Tests of mutate.py: what it writes is compiled and run."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

MUTATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mutate.py")
SOURCE = """#include <cstdio>

namespace {

constexpr int kTable[] = {
    1,
    2,
};

class Pair {
 public:
  Pair(int first, int second)
      : first_(first), second_{}, third_(0) {
    second_ = second;
  }
  int second() const { return second_; }
  int Sum() const {
    if (first_ < 0) {
      return 0;
    }
    return first_ + second_;
  }

 private:
  int first_, second_, third_;
};

int Difference(const Pair& pair) { return 2 * pair.second() - pair.Sum(); }

}  // namespace

int main() {
  const Pair pair(kTable[0], kTable[1]);
  std::printf("%d %d %d %d", pair.Sum(), pair.second(), Difference(pair), __LINE__);
}
"""


class MutateTest(unittest.TestCase):
    def setUp(self):
        self._directory = tempfile.TemporaryDirectory()
        self.addCleanup(self._directory.cleanup)
        self.source = self.path("in.cc")
        with open(self.source, "w", encoding="utf-8") as file:
            file.write(SOURCE)

    def path(self, name):
        return os.path.join(self._directory.name, name)

    def mutate(self, *mutants):
        numbered = [[i + 1, "mutant_%d" % (i + 1), list(changes.items())]
                    for i, changes in enumerate(mutants)]
        return subprocess.run(
            [sys.executable, MUTATE, self.source, self.path("out.cc"), json.dumps(numbered)],
            capture_output=True, text=True, check=False)

    def printed(self, *mutants):
        """What the program prints: without a mutant, and with each."""
        run = self.mutate(*mutants)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        subprocess.run(["g++", "-o", self.path("out"), self.path("out.cc")], check=True)
        return [
            subprocess.run([self.path("out")], env={"MUTANT": str(number)} if number else {},
                           capture_output=True, text=True, check=True).stdout
            for number in range(len(mutants) + 1)
        ]

    def test_each_mutant_has_its_own_rule_in_one_program(self):
        self.assertEqual(
            self.printed(
                {"first_ + second_": "first_ * second_"},
                {"if (first_ < 0) {\n      return 0;": "if (first_ > 0) {\n      return 9;"},
                {"second_ = second;": ""},
                {"return second_;": "return 7;"},
                {"2 * pair": "3 * pair"},
            ),
            ["3 2 1 34", "2 2 2 34", "9 2 -5 34", "1 0 -1 34", "3 7 11 34", "3 2 3 34"])

    def test_a_mutant_changes_several_functions_and_one_twice(self):
        self.assertEqual(
            self.printed({"first_ + second_": "7", "first_ < 0": "false", "second_ = second": ""}),
            ["3 2 1 34", "7 0 -7 34"])

    def test_what_is_not_there_exactly_once_is_an_error(self):
        for old, times in (("third()", "0"), ("second()", "3")):
            run = self.mutate({old: ""})
            self.assertEqual(run.returncode, 1)
            self.assertIn("mutant_1: %r is there %s times, not once" % (old, times), run.stderr)
            self.assertFalse(os.path.exists(self.path("out.cc")))

    def test_a_change_of_what_another_has_put_there_is_an_error(self):
        run = self.mutate({"first_ + second_": "first_ < 0", "first_ < 0": "false"})
        self.assertEqual(run.returncode, 1)
        self.assertIn("mutant_1: 'first_ < 0' is in what it puts there, too", run.stderr)

    def test_what_is_not_in_a_body_is_an_error(self):
        for old in ("    2,\n", "const Pair& pair", "first_(first)", "first_, second_,",
                    "pair.Sum(); }", "#include <cstdio>"):
            run = self.mutate({old: ""})
            self.assertEqual(run.returncode, 1)
            self.assertIn("is not within the body of a function", run.stderr)


if __name__ == "__main__":
    unittest.main()
