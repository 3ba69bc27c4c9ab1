#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The picture of a cluster has a square for each path, and marks what the report marks."""

import unittest
import xml.etree.ElementTree as ElementTree

import cluster_picture

NAMESPACE = "{http://www.w3.org/2000/svg}"


def report(nodes, silent=()):
    """Each path takes 10 us but from the first to the last, which is an outlier."""
    values = [[None if i == j else 10.0 for j in range(nodes)] for i in range(nodes)]
    values[0][-1] = 40.0
    matrix = {"what": "farcall over tcp", "unit": "p50_us", "expected": 10.0, "values": values,
              "outliers": [[0, nodes - 1]]}  # fmt: skip
    return {"nodes": [{"name": "<n%d>" % i, "trouble": "dead" if i in silent else ""}
                      for i in range(nodes)], "matrices": [matrix, matrix]}  # fmt: skip


def squares(drawn):
    """But for the background."""
    return ElementTree.fromstring(drawn).findall(NAMESPACE + "rect")[1:]


class ClusterPictureTest(unittest.TestCase):
    def test_a_square_for_each_path(self):
        drawn = squares(cluster_picture.picture(report(4)))
        self.assertEqual(len(drawn), 2 * 4 * 3)
        framed = [each for each in drawn if each.get("stroke")]
        self.assertEqual(len(framed), 2)
        self.assertNotEqual(framed[0].get("fill"), drawn[0].get("fill"))

    def test_everything_is_within_the_frame(self):
        for nodes in (2, 16, 17, 60):
            root = ElementTree.fromstring(cluster_picture.picture(report(nodes)))
            for each in root.findall(NAMESPACE + "rect")[1:]:
                for start, size, limit in (("x", "width", "width"), ("y", "height", "height")):
                    end = float(each.get(start)) + float(each.get(size))
                    self.assertLessEqual(end, float(root.get(limit)), nodes)

    def test_who_did_not_answer_has_no_square(self):
        self.assertEqual(len(squares(cluster_picture.picture(report(4, silent=(1,))))), 2 * 3 * 2)

    def test_names_are_text(self):
        self.assertIn("&lt;n0&gt;", cluster_picture.picture(report(2)))

    def test_nothing_to_draw(self):
        with self.assertRaises(ValueError):
            cluster_picture.picture({"nodes": [], "matrices": []})


if __name__ == "__main__":
    unittest.main()
