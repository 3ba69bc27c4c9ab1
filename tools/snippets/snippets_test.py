#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Tests of snippets.py."""

import os
import subprocess
import sys
import tempfile
import unittest

import snippets


def page(*lines):
    return "\n".join(lines) + "\n"


def source(*lines):
    return snippets.source_of([("docs/a-b.md", page(*lines))])


class BlocksTest(unittest.TestCase):
    def blocks(self, *lines):
        return [(block.kind, block.line, block.lines)
                for block in snippets.blocks_of("p.md", page(*lines))]

    def wrong(self, *lines):
        with self.assertRaises(snippets.Wrong) as caught:
            self.blocks(*lines)
        return str(caught.exception)

    def test_only_cpp_blocks_are_taken(self):
        self.assertEqual(self.blocks("text", "```sh", "ls", "```", "```", "out", "```",
                                     "```cpp", "a();", "", "b();", "```", "```yaml", "```"),
                         [("", 9, ["a();", "", "b();"])])

    def test_the_word_behind_cpp_is_the_kind(self):
        self.assertEqual(self.blocks("```cpp task", "a();", "```", "```cpp declarations",
                                     "int b();", "```"),
                         [("task", 2, ["a();"]), ("declarations", 5, ["int b();"])])

    def test_an_unknown_kind_is_an_error_at_its_line(self):
        self.assertIn("p.md:2: ", self.wrong("", "```cpp sketch", "```"))
        self.assertIn("'declarations'", self.wrong("```cpp sketch", "```"))

    def test_other_names_of_the_language_are_no_way_out(self):
        for name in ("c++", "C++", "cc", "cxx"):
            self.assertIn("is spelled ```cpp", self.wrong("```" + name, "```"))

    def test_a_block_without_end_is_an_error(self):
        self.assertIn("p.md:1: this block has no end", self.wrong("```cpp", "a();"))

    def test_of_columns_the_right_one_is_taken(self):
        self.assertEqual(self.blocks("```cpp columns",
                                     "// brpc      // farcall",
                                     "old(&x);     fresh(x);",
                                     "only_old();",
                                     "             only_new();",
                                     "```"),
                         [("columns", 2, ["// farcall", "fresh(x);", "", "only_new();"])])

    def test_columns_that_are_none_are_errors(self):
        self.assertIn("has no", self.wrong("```cpp columns", "a();", "```"))
        self.assertIn("has no", self.wrong("```cpp columns", "```"))
        self.assertIn("p.md:3: ", self.wrong("```cpp columns", "// a  // farcall", "much_too();",
                                             "```"))


class SourceTest(unittest.TestCase):
    def test_statements_become_a_function(self):
        text = source("", "```cpp", "a();", "```")
        self.assertIn('namespace page_docs_a_b_md {\ninline int Line3() {\n'
                      '#line 3 "docs/a-b.md"\na();\nreturn 0; }\n}\n', text)

    def test_tasks_become_a_coroutine(self):
        text = source("```cpp task", "co_await a();", "```")
        self.assertIn("inline farcall::Task<> Line2() {\n", text)
        self.assertIn("co_await a();\nco_return; }\n", text)

    def test_declarations_stay_as_they_are(self):
        self.assertIn('{\n\n#line 2 "docs/a-b.md"\nint a();\n\n}\n',
                      source("```cpp declarations", "int a();", "```"))

    def test_includes_go_to_the_top_and_lines_keep_their_numbers(self):
        text = source("```cpp", '#include "x.h"', "a();", "```")
        self.assertTrue(text.startswith('#line 2 "docs/a-b.md"\n#include "x.h"\n'))
        self.assertIn('#line 2 "docs/a-b.md"\n\na();\n', text)
        self.assertEqual(text.count("x.h"), 1)

    def test_pages_without_code_leave_no_trace(self):
        self.assertNotIn("namespace", source("text"))
        self.assertIn('#include "tools/snippets/prelude.h"', source("text"))


class ProgramTest(unittest.TestCase):
    def run_on(self, text):
        with tempfile.TemporaryDirectory() as directory:
            path, target = (os.path.join(directory, name) for name in ("p.md", "out.cc"))
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            run = subprocess.run([sys.executable, snippets.__file__, target, path],
                                 capture_output=True, text=True, check=False)
            written = ""
            if os.path.exists(target):
                with open(target, encoding="utf-8") as file:
                    written = file.read()
            return run, written

    def test_it_writes_the_source(self):
        run, written = self.run_on(page("```cpp", "a();", "```"))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("a();", written)

    def test_an_error_is_told_and_nothing_written(self):
        run, written = self.run_on(page("```cpp"))
        self.assertEqual((run.returncode, written), (1, ""))
        self.assertIn("p.md:1: ", run.stderr)


if __name__ == "__main__":
    unittest.main()
