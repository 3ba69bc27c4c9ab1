#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What is counted of Bazel's profiles and of the logs of suites."""

import gzip
import json
import os
import tempfile
import unittest

from where_time_went import report, stages_of


def event(name, seconds, category="action processing"):
    return {"cat": category, "name": name, "ts": 0, "dur": int(seconds * 1e6)}


class WhereTimeWentTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def log(self, name, text=""):
        with open(os.path.join(self.directory.name, name), "w") as stream:
            stream.write(text)

    def profile(self, name, events, cut=0):
        data = gzip.compress(json.dumps({"traceEvents": events}).encode())
        with open(os.path.join(self.directory.name, name), "wb") as stream:
            stream.write(data[: len(data) - cut])

    def stages(self):
        return stages_of(self.directory.name)

    def test_actions_count_by_kind(self):
        self.log("asan.log")
        self.profile(
            "asan.profile.gz",
            [
                event("Compiling rpc/a.cc", 2),
                event("Linking rpc/a_test", 0.5),
                event("Testing //rpc:a_test (shard 1 of 2)", 3),
                event("Executing genrule //rpc:g", 9),
                event("Compiling rpc/a.cc", 7, category="local action execution"),
            ],
        )
        self.assertEqual(
            {
                "asan": [
                    ("compiling", "rpc/a.cc", 2),
                    ("linking", "rpc/a_test", 0.5),
                    ("running", "//rpc:a_test (shard 1 of 2)", 3),
                ]
            },
            self.stages(),
        )

    def test_cases_count_as_running(self):
        boot = "TOOK rdma/rxe/boot (9 s)\nTOOK rdma/rxe/hosts/total (2 s)\n"
        failed = "FAIL rdma/rxe/x: lost (2 s) (0.5 s)"
        self.log("rdma.log", "PASS rdma/rxe/hosts/echo (1.2 s)\n%s\nPASS (3 s)\n" % failed + boot)
        self.profile("rdma.build.profile.gz", [event("Compiling a.cc", 1)])
        running = [part for part in self.stages()["rdma"] if part[0] == "running"]
        self.assertEqual(
            [
                ("running", "rdma/rxe/hosts/echo", 1.2),
                ("running", "rdma/rxe/x", 0.5),
                ("running", "rdma/rxe/boot", 9),
            ],
            running,
        )
        self.assertIn(("compiling", "a.cc", 1), self.stages()["rdma"])

    def test_a_profile_that_was_cut_off_says_nothing(self):
        self.log("asan.log")
        self.profile("asan.profile.gz", [event("Compiling a.cc", 1)], cut=9)
        self.assertEqual({"asan": []}, self.stages())

    def test_the_ten_slowest_are_named(self):
        self.log("asan.log")
        self.profile(
            "asan.profile.gz", [event("Compiling %02d.cc" % i, i + 1) for i in range(12)]
        )
        lines = report(self.stages())
        self.assertIn("asan                 78          0          0", lines)
        named = [line.split() for line in lines if line.endswith(".cc")]
        self.assertEqual(10, len(named))
        self.assertEqual(["12.0", "asan", "11.cc"], named[0])
        self.assertEqual(["3.0", "asan", "02.cc"], named[-1])


if __name__ == "__main__":
    unittest.main()
