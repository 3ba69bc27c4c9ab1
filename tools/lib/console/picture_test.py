#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Axes and their labels, and drawings that are well-formed."""

import os
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from console.axis import LinearScale, LogScale, PointScale, nice_step, scale_for  # noqa: E402
from console.chart import Curve, Panel  # noqa: E402
from console.svg import Svg  # noqa: E402

NAMESPACE = "{http://www.w3.org/2000/svg}"


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


class PanelTest(unittest.TestCase):
    def test_labels_that_would_overlap_are_left_out(self):
        svg = Svg(200, 200)
        points = [(x, 1.0) for x in range(100, 140)]
        Panel((0, 0, 200, 200), "t", "x", [Curve(points, "red")]).draw(svg)
        labels = re.findall(r'text-anchor="middle"', str(svg))
        self.assertLess(len(labels), 10)


if __name__ == "__main__":
    unittest.main()
