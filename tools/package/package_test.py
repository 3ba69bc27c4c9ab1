#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What package.py lays out."""

import argparse
import glob
import os
import tempfile
import unittest

import package

HERE = os.path.dirname(os.path.realpath(__file__))


class PackageTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def file(self, name, text):
        path = os.path.join(self.directory.name, name.replace("/", "_"))
        with open(path, "w") as stream:
            stream.write(text)
        return path

    def headers(self, **includes):
        """Headers named by their paths ("__" for "/"), with what each includes."""
        result = {}
        for name, included in includes.items():
            path = name.replace("__", "/") + ".h"
            text = "".join('#include "%s"\n' % other for other in included)
            result[path] = self.file(path, text)
        return result

    def test_public_headers_take_along_what_they_include(self):
        headers = self.headers(
            rpc__controller=["rpc/session/s.h", "absl/status/status.h"],
            rpc__session__s=["transport/t.h", "rpc/controller.h"],
            rpc__session__unused=[],
            transport__t=[],
        )
        found = package.reachable(headers, ["rpc/controller.h"])
        self.assertEqual(["rpc/controller.h", "rpc/session/s.h", "transport/t.h"], found)

    def test_a_public_header_that_is_not_there_is_an_error(self):
        with self.assertRaises(SystemExit) as raised:
            package.reachable(self.headers(rpc__controller=[]), ["rpc/controller.h", "rpc/gone.h"])
        self.assertEqual("no dependency provides rpc/gone.h", str(raised.exception))

    def test_headers_include_one_another_by_their_installed_names(self):
        public = ["rpc/controller.h", "transport/buffer/buffer.h"]
        paths = public + ["rpc/wire/meta.pb.h"]
        names = package.installed_names("farcall", paths, public)
        text = """#include <string>
#include "absl/status/status.h"
#include "rpc/controller.h"
  #  include "rpc/wire/meta.pb.h"
// see "rpc/controller.h"
#include "transport/buffer/buffer.h"
"""
        expected = """#include <string>
#include "absl/status/status.h"
#include "farcall/controller.h"
  #  include "farcall/internal/rpc/wire/meta.pb.h"
// see "rpc/controller.h"
#include "farcall/buffer.h"
"""
        self.assertEqual(expected, package.as_installed(text, names))

    def test_two_public_headers_of_one_name_are_an_error(self):
        public = ["rpc/types.h", "transport/types.h"]
        with self.assertRaises(SystemExit) as raised:
            package.installed_names("farcall", public, public)
        self.assertEqual("two public headers are named types.h", str(raised.exception))

    def test_missing_header_is_an_error(self):
        headers = self.headers(rpc__controller=["rpc/gone.h"])
        with self.assertRaises(SystemExit) as raised:
            package.reachable(headers, ["rpc/controller.h"])
        self.assertIn("rpc/controller.h includes rpc/gone.h", str(raised.exception))

    def test_headers_that_users_need_not_have_are_an_error(self):
        for name in ("sys/sdt.h", "infiniband/verbs.h", "rdma/rdma_cma.h"):
            path = self.file("rpc/controller.h", "#include <%s>\n" % name)
            with self.assertRaises(SystemExit) as raised:
                package.reachable({"rpc/controller.h": path}, ["rpc/controller.h"])
            self.assertIn("rpc/controller.h includes <%s>" % name, str(raised.exception))

    def test_link_options_become_targets(self):
        self.assertEqual(("absl::status", "absl"), package.cmake_target("-labsl_status"))
        self.assertEqual(("Threads::Threads", "Threads"), package.cmake_target("-lpthread"))
        self.assertEqual(("-lm", None), package.cmake_target("-lm"))

    def test_layout(self):
        headers = self.headers(rpc__controller=["rpc/session/s.h"], rpc__session__s=[])
        args = argparse.Namespace(
            name="farcall",
            version="1.2.3",
            description="about",
            archive=self.file("a", "objects"),
            template=glob.glob(HERE + "/*.in"),
            public=["rpc/controller.h"],
            link=["-labsl_status", "-lprotobuf", "-lm"],
            header=["%s=%s" % item for item in headers.items()],
        )
        tree = package.layout(args)
        self.assertEqual(
            {
                "include/farcall/controller.h",
                "include/farcall/internal/rpc/session/s.h",
                "lib/cmake/farcall/farcallConfig.cmake",
                "lib/cmake/farcall/farcallConfigVersion.cmake",
                "lib/libfarcall.a",
                "lib/pkgconfig/farcall.pc",
            },
            set(tree),
        )
        text = tree["include/farcall/controller.h"].decode()
        self.assertEqual('#include "farcall/internal/rpc/session/s.h"\n', text)
        config = tree["lib/cmake/farcall/farcallConfig.cmake"].decode()
        self.assertIn("find_dependency(Protobuf)\nfind_dependency(absl)\n", config)
        self.assertIn('"absl::status;protobuf::libprotobuf;-lm"', config)
        pc = tree["lib/pkgconfig/farcall.pc"].decode()
        self.assertIn("Version: 1.2.3\n", pc)
        self.assertIn("-lfarcall -labsl_status -lprotobuf -lm\n", pc)
        for path, data in tree.items():
            self.assertNotIn(b"@", data, path)


if __name__ == "__main__":
    unittest.main()
