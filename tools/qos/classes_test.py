#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What operators write is taken whole, or refused with what is wrong and what would be right."""

import json
import os
import sys
import tempfile
import unittest

import classes

GOOD = {"gold": "26\n", "bulk": "cs1", "pods.json": json.dumps([
    {"class": "gold", "namespace": "payments"},
    {"class": "bulk", "namespace": "batch", "labels": {"tier": "nightly"}},
    {"class": "gold", "namespace": "batch", "labels": {"tier": "daily"}}]),
        "devices.json": '{"mlx5_0": "gold"}'}


def with_pods(*entries):
    return {**GOOD, "pods.json": json.dumps(entries)}


class ParseTest(unittest.TestCase):
    def refused(self, files, *words):
        with self.assertRaises(classes.Wrong) as caught:
            classes.parse(files)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_classes_pods_and_devices(self):
        config = classes.parse(GOOD)
        self.assertEqual(config.dscps, {"gold": 26, "bulk": 8})
        self.assertEqual([str(entry) for entry in config.entries],
                         ["namespace payments", "namespace batch tier=nightly",
                          "namespace batch tier=daily"])
        self.assertEqual(config.devices, {"mlx5_0": "gold"})
        self.assertEqual(classes.parse({}).entries, ())

    def test_a_dscp_is_0_to_63_or_a_name(self):
        for text, dscp in ("0", 0), ("63", 63), ("AF31", 26), ("ef", 46), ("cs7", 56), ("af43", 38):
            self.assertEqual(classes.parse({"gold": text}).dscps["gold"], dscp)
        for text in "64", "-1", "", "af14", "af44", "cs8", "0x1a", "026", "26.0", "gold", "9" * 400:
            self.refused({"gold": text}, "class gold has DSCP", "0 to 63")

    def test_a_class_has_a_name_that_nftables_takes(self):
        for name in "Gold", "-gold", "gold-", "9", "g" * 32, "a b", "a;drop", "güld":
            self.refused({name: "26"}, "no name of a class")
        self.refused({"c%d" % i: "1" for i in range(65)}, "65 classes")

    def test_each_entry_has_a_class_that_is_there(self):
        self.refused(with_pods({"namespace": "a"}), "entry 1", "no class")
        self.refused(with_pods({"class": "silver", "namespace": "a"}), "'silver'", "bulk, gold")
        self.refused({"pods.json": '[{"class": "gold", "namespace": "a"}]'}, "there is none")
        self.refused({**GOOD, "devices.json": '{"mlx5_0": "silver"}'}, "devices.json", "'silver'")
        self.refused({**GOOD, "devices.json": '{"../x": "gold"}'}, "no name of a device")

    def test_an_entry_selects_not_everything(self):
        self.refused(with_pods({"class": "gold"}), "every pod")
        self.refused(with_pods({"class": "gold", "labels": {}}), "every pod")

    def test_entries_of_two_classes_must_not_meet(self):
        for one, other in (
                ({"namespace": "a"}, {"namespace": "a"}),
                ({"namespace": "a"}, {"namespace": "a", "labels": {"x": "y"}}),
                ({"namespace": "a"}, {"labels": {"x": "y"}}),
                ({"labels": {"x": "y"}}, {"labels": {"z": "y"}})):
            self.refused(with_pods({"class": "gold", **one}, {"class": "bulk", **other}),
                         "entries 1 (gold", "and 2 (bulk", "overlap")
            classes.parse(with_pods({"class": "gold", **one}, {"class": "gold", **other}))
        classes.parse(with_pods({"class": "gold", "namespace": "a"},
                                {"class": "bulk", "namespace": "b"}))

    def test_what_is_no_such_file_is_refused(self):
        for text in "", "{}", "nil", "[1]", '[{"class": "gold", "namespace": 1}]', \
                '[{"class": "gold", "labels": {"a": 1}}]', '[{"class": "gold", "name": "a"}]', \
                '[{"class": ["gold"], "namespace": "a"}]', "[" * 100000:
            self.refused({**GOOD, "pods.json": text}, "pods.json")
        self.refused({**GOOD, "devices.json": "[]"}, "devices.json: it must be an object")
        self.refused({**GOOD, "pods.json": json.dumps([{}] * 1025)}, "1025 entries")


class ReadTest(unittest.TestCase):
    def test_links_of_a_config_map_are_left_out(self):
        with tempfile.TemporaryDirectory() as path:
            os.mkdir(os.path.join(path, "..2026"))
            with open(os.path.join(path, "..2026", "gold"), "w", encoding="utf-8") as stream:
                stream.write("26")
            os.symlink("..2026", os.path.join(path, "..data"))
            os.symlink("..data/gold", os.path.join(path, "gold"))
            self.assertEqual(classes.read(path), {"gold": "26"})

    def test_what_cannot_be_read_is_told(self):
        with self.assertRaisesRegex(classes.Wrong, "cannot be read"):
            classes.read("/nowhere")
        with tempfile.TemporaryDirectory() as path:
            with open(os.path.join(path, "gold"), "wb") as stream:
                stream.write(b"\xff\xfe")
            with self.assertRaisesRegex(classes.Wrong, "cannot be read"):
                classes.read(path)
            with open(os.path.join(path, "gold"), "w", encoding="utf-8") as stream:
                stream.write("2" * (classes.MOST_BYTES + 1))
            with self.assertRaisesRegex(classes.Wrong, "longer"):
                classes.read(path)


if __name__ == "__main__":
    sys.exit(unittest.main())
