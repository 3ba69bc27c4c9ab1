#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Headers of packages that nobody installs are found."""

import unittest

import headers
from tidy_selftest import findings


class HeadersTest(unittest.TestCase):
    def unlisted(self, packages, *names):
        installed = {
            "absl/status/status.h": "libabsl-dev",
            "google/protobuf/message.h": "libprotobuf-dev",
            "google/protobuf/compiler/importer.h": "libprotoc-dev",
            "unistd.h": "libc6-dev",
        }
        graph = {"g++": {"g++-12"}, "g++-12": {"libc-dev"}, "libc-dev": {"libc6-dev"}}
        files = {
            headers.PACKAGES: "# g  a group\n" + "".join("build %s\n" % one for one in packages),
            "rpc/own.h": "",
            "rpc/a.cc": "".join('#include "%s"\n' % name for name in names),
        }

        def check(tree):
            owners = lambda asked: {one: installed[one] for one in asked if one in installed}
            return headers.check(tree, owners, lambda: graph)

        return findings(check, files)

    def test_listed(self):
        self.assertEqual([], self.unlisted(["libabsl-dev"], "absl/status/status.h"))
        self.assertEqual([], self.unlisted(["g++"], "unistd.h"))
        self.assertEqual([], self.unlisted([], "rpc/own.h", "made/by/protoc.pb.h"))

    def test_unlisted(self):
        importer = "google/protobuf/compiler/importer.h"
        self.assertEqual(
            ["rpc/a.cc:2: %s is of libprotoc-dev, which is not listed" % importer],
            self.unlisted(["libprotobuf-dev"], "google/protobuf/message.h", importer),
        )

    def test_this_machine(self):
        # Debian, which has both where anything of the repository is built.
        self.assertEqual({"unistd.h": "libc6-dev"}, headers.owners(["unistd.h", "no/such.h"]))
        self.assertIn("libc6-dev", headers.dependencies())


if __name__ == "__main__":
    unittest.main()
