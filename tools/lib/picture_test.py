#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Axes, and pictures that are well-formed and stay within their frame."""

import os
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import curves
from axis import LinearScale, LogScale, PointScale, nice_step, scale_for
from chart import Curve, Panel
from svg import Svg

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


class AxisTest(unittest.TestCase):
    def test_steps_are_one_two_or_five(self):
        for rough, step in ((0.03, 0.05), (1, 1), (1.1, 2), (3, 5), (7, 10), (1234, 2000)):
            self.assertAlmostEqual(nice_step(rough), step)

    def test_a_linear_scale_holds_all_from_zero(self):
        scale = LinearScale(930, 100, 0)
        self.assertEqual(scale.ticks()[0], (0, True))
        self.assertGreaterEqual(scale.ticks()[-1][0], 930)
        self.assertEqual(scale.place(0), 100)
        self.assertEqual(scale.place(scale.ticks()[-1][0]), 0)

    def test_a_logarithmic_scale_holds_all_and_ends_at_ticks(self):
        for least, most in ((3, 7000), (0.02, 900), (1, 1), (5, 2e6), (999, 1001)):
            scale = LogScale(least, most, 0, 100)
            self.assertGreaterEqual(scale.place(least), -1e-6)
            self.assertLessEqual(scale.place(most), 100 + 1e-6)
            ticks = scale.ticks()
            self.assertAlmostEqual(scale.place(ticks[0][0]), 0)
            self.assertAlmostEqual(scale.place(ticks[-1][0]), 100)
            self.assertTrue(1 <= sum(labelled for _, labelled in ticks) <= 12, (least, most))

    def test_a_scale_is_logarithmic_only_for_a_wide_range(self):
        self.assertIsInstance(scale_for([10, 70], 0, 1), LinearScale)
        self.assertIsInstance(scale_for([10, 90], 0, 1), LogScale)
        self.assertIsInstance(scale_for([0, 0], 0, 1), LinearScale)

    def test_points_are_ticks_once_each_and_in_order(self):
        scale = PointScale([8, 1, 8, 128], 0, 70)
        self.assertEqual([value for value, _ in scale.ticks()], [1, 8, 128])
        self.assertAlmostEqual(scale.place(8), 30)
        self.assertEqual(PointScale([5], 0, 70).place(5), 35)


class SvgTest(unittest.TestCase):
    def test_texts_and_attributes_are_escaped(self):
        svg = Svg(10, 10)
        svg.text((1, 2), 'a < b & "c"', color='"red"')
        root = ElementTree.fromstring(str(svg))
        text = root.find(NAMESPACE + "text")
        self.assertEqual(text.text, 'a < b & "c"')
        self.assertEqual(text.get("fill"), '"red"')

    def test_elements_keep_their_order_over_the_background(self):
        svg = Svg(10, 20)
        svg.line((0, 0), (1, 1), "red")
        svg.dot((1, 1), "blue", hollow=True)
        svg.path([(0, 0), (1, 1)], "red", dash="1 1")
        root = ElementTree.fromstring(str(svg))
        names = [element.tag.replace(NAMESPACE, "") for element in root]
        self.assertEqual(names, ["rect", "line", "circle", "polyline"])
        self.assertEqual(root.get("viewBox"), "0 0 10 20")


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

    def test_labels_that_would_overlap_are_left_out(self):
        svg = Svg(200, 200)
        points = [(x, 1.0) for x in range(100, 140)]
        Panel((0, 0, 200, 200), "t", "x", [Curve(points, "red")]).draw(svg)
        labels = re.findall(r'text-anchor="middle"', str(svg))
        self.assertLess(len(labels), 10)


if __name__ == "__main__":
    unittest.main()
