#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Numbers, tables and progress as they are shown."""

import fcntl
import io
import os
import struct
import sys
import termios
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from console.progress import Progress  # noqa: E402
from console.table import Table  # noqa: E402
from console.units import bytes_text, duration, number, parse_size, short  # noqa: E402


class UnitsTest(unittest.TestCase):
    def test_sizes_are_powers_of_two(self):
        for text, size in (
            ("0", 0),
            ("32", 32),
            ("32B", 32),
            ("4K", 4096),
            ("4k", 4096),
            ("4 KiB", 4096),
            ("1M", 1 << 20),
            ("1MiB", 1 << 20),
        ):
            self.assertEqual(parse_size(text), size, text)

    def test_what_is_no_size_is_named(self):
        for text in ("", "x", "-1", "4G", "1.5K", "4K4"):
            with self.assertRaisesRegex(ValueError, '"%s"' % text):
                parse_size(text)

    def test_sizes_that_are_not_round_are_shown_in_full(self):
        self.assertEqual(bytes_text(4096), "4 KiB")
        self.assertEqual(bytes_text(1 << 20), "1 MiB")
        self.assertEqual(bytes_text(4097), "4097 B")
        self.assertEqual(bytes_text(0), "0 B")

    def test_size_texts_can_be_typed_again(self):
        for size in (0, 1, 32, 1023, 1024, 4096, 65536, 1 << 20, (1 << 20) + 1):
            self.assertEqual(parse_size(bytes_text(size)), size)

    def test_numbers_keep_three_digits_that_count(self):
        for value, text in (
            (0, "0.00"),
            (0.0456, "0.046"),
            (0.99949, "0.999"),
            (0.9996, "1.00"),
            (4.567, "4.57"),
            (9.996, "10.0"),
            (78.94, "78.9"),
            (99.96, "100"),
            (1234567.8, "1,234,568"),
        ):
            self.assertEqual(number(value), text)

    def test_ticks_are_short(self):
        texts = [short(value) for value in (0.5, 1, 500, 1000, 20000, 1.5e6, 3e9)]
        self.assertEqual(texts, ["0.5", "1", "500", "1k", "20k", "1.5M", "3G"])

    def test_durations(self):
        texts = [duration(seconds) for seconds in (0, 6.6, 59.6, 754, 3723)]
        self.assertEqual(texts, ["0:00", "0:07", "1:00", "12:34", "1:02:03"])


class TableTest(unittest.TestCase):
    def test_columns_line_up(self):
        table = Table(("load", "calls/s", "p50\nus"), left=1)
        table.add("32 B", "1,234,567", "6.70")
        table.rule()
        table.add("1 MiB x 128", "9", "12,345")
        self.assertEqual(
            str(table).split("\n"),
            [
                "                           p50",
                "load           calls/s      us",
                "-----------  ---------  ------",
                "32 B         1,234,567    6.70",
                "-----------  ---------  ------",
                "1 MiB x 128          9  12,345",
            ],
        )

    def test_rows_that_are_printed_one_by_one_line_up_with_the_head(self):
        table = Table(("a", "b"), widths=(6, 8))
        lines = table.head() + [table.add("x", "1"), table.add("yyyyyy", "12345678")]
        self.assertEqual(len({len(line) for line in lines}), 1)

    def test_a_row_has_a_cell_for_each_column(self):
        with self.assertRaises(ValueError):
            Table(("a", "b")).add("only one")

    def test_a_table_without_rows_is_its_head(self):
        self.assertEqual(str(Table(("a", "bb"))), "a  bb\n-  --")


class Terminal(io.StringIO):
    def isatty(self):
        return True


class ProgressTest(unittest.TestCase):
    def setUp(self):
        self.now = 100.0

    def progress(self, stream):
        return Progress(10, stream=stream, clock=lambda: self.now, every=10)

    def test_what_is_left_follows_from_the_pace(self):
        progress = self.progress(io.StringIO())
        self.assertIsNone(progress.eta(0))
        self.now += 8
        self.assertAlmostEqual(progress.eta(2), 32)
        self.assertAlmostEqual(progress.eta(10), 0)

    def test_a_terminal_shows_one_line_that_is_cleared(self):
        stream = Terminal()
        progress = self.progress(stream)
        progress.show(0, "first")
        self.now += 3
        progress.show(5, "second")
        progress.clear()
        self.assertNotIn("\n", stream.getvalue())
        self.assertIn("[ 50%] second, 0:03 left", stream.getvalue())
        self.assertTrue(stream.getvalue().endswith("\r\033[K"))

    def test_a_line_fits_the_terminal_that_it_is_shown_on(self):
        for columns in (20, 80):
            ours, theirs = os.openpty()
            self.addCleanup(os.close, ours)
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            with open(theirs, "w", encoding="utf-8") as stream:
                self.progress(stream).show(0, "x" * 200)
                shown = os.read(ours, 1000).decode()
            self.assertEqual(len(shown), len("\r\033[K") + columns - 1)

    def test_a_file_gets_a_line_now_and_then_and_no_control_characters(self):
        stream = io.StringIO()
        progress = self.progress(stream)
        for done in range(10):
            progress.show(done, "work")
            self.now += 4
        progress.clear()
        lines = stream.getvalue().splitlines()
        self.assertEqual(len(lines), 4)  # at 0, 12, 24 and 36 s
        self.assertNotIn("\033", stream.getvalue())


if __name__ == "__main__":
    unittest.main()
