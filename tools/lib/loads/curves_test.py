#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Pictures that are well-formed and stay within their frame."""

import os
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from loads import curves  # noqa: E402

NAMESPACE = "{http://www.w3.org/2000/svg}"


def reports(sizes=((32, 0), (32, 4096), (1 << 20, 0)), in_flight=(1, 8, 128)):
    return [
        {
            "system": "farcall",
            "transport": "tcp",
            "polling": "adaptive",
            "payload": payload,
            "attachment": attachment,
            "in_flight": calls,
            "qps": 1e9 / (payload + attachment + 1000) * calls**0.5,
            "p50_us": 5.0 * calls,
            "p99_us": 50.0 * calls,
        }
        for payload, attachment in sizes
        for calls in in_flight
    ]


class CurvesTest(unittest.TestCase):
    def check(self, rows):
        """Well-formed, and everything within the frame."""
        text = curves.draw(rows, "echo <over> tcp", "a & b")
        root = ElementTree.fromstring(text)
        width, height = float(root.get("width")), float(root.get("height"))
        places = []
        for element in root.iter():
            for x, y in (("x", "y"), ("cx", "cy"), ("x1", "y1"), ("x2", "y2")):
                if element.get(x):
                    places.append((float(element.get(x)), float(element.get(y))))
            for pair in re.findall(r"([-.\d]+),([-.\d]+)", element.get("points", "")):
                places.append((float(pair[0]), float(pair[1])))
        for x, y in places:
            self.assertTrue(0 <= x <= width and 0 <= y <= height, (x, y))
        return root

    def test_the_picture_is_well_formed_and_within_its_frame(self):
        root = self.check(reports())
        texts = [element.text for element in root.iter(NAMESPACE + "text")]
        for expected in ("echo <over> tcp", "a & b", "32 B + 4 KiB", "1 MiB", "p50", "p99", "128"):
            self.assertIn(expected, texts)
        # A curve of calls, one of p50 and one of p99 for each size.
        self.assertEqual(len(root.findall(NAMESPACE + "polyline")), 9)

    def test_one_point_is_a_picture_too(self):
        root = self.check(reports(sizes=((32, 0),), in_flight=(1,)))
        self.assertEqual(root.findall(NAMESPACE + "polyline"), [])

    def test_points_are_joined_in_order_of_the_calls_in_flight(self):
        rows = list(reversed(reports(sizes=((32, 0),))))
        line = self.check(rows).find(NAMESPACE + "polyline")
        xs = [float(pair.split(",")[0]) for pair in line.get("points").split()]
        self.assertEqual(xs, sorted(xs))

    def test_more_sizes_than_colours_are_drawn(self):
        self.check(reports(sizes=[(32 << i, 0) for i in range(9)]))

    def test_a_long_subtitle_is_cut(self):
        text = curves.draw(reports(), "t", "word " * 100)
        self.assertNotIn("word " * 50, text)

    def test_an_svg_is_written_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "curves.svg")
            text = curves.draw(reports(), "t", "s")
            curves.write(path, text)
            with open(path, encoding="utf-8") as written:
                self.assertEqual(written.read(), text)


if __name__ == "__main__":
    unittest.main()
