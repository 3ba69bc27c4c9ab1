#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The cases about an image can fail: roots with what must not be there."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
import unittest.mock

import cases
import images

PROGRAMS = images.Farcall(images.ROOT).programs


class FakeContainer:
    """A root of files; ldd says what it is told to."""

    def __init__(self, root, libraries="libc.so.6 => /lib/libc.so.6"):
        self.root = root
        self.libraries = libraries

    def output(self, _):
        return self.libraries


class ContentsTest(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.root = room.name
        for name in PROGRAMS:
            self.write("/usr/local/bin/" + name, b"\x7fELF", 0o755)
        for name in ("libibverbs.so.1", "librdmacm.so.1", "libmlx5.so.1",
                     "libibverbs/libmlx5-rdmav34.so"):
            self.write("/usr/lib/" + name)
        self.write("/root/.bashrc")

    def write(self, path, data=b"", mode=0o644):
        os.makedirs(os.path.dirname(self.root + path), exist_ok=True)
        with open(self.root + path, "wb") as stream:
            stream.write(data)
        os.chmod(self.root + path, mode)

    def failed(self, name="farcall", **how):
        contents = images.Contents(name, FakeContainer(self.root, **how))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            cases.run_cases("image", contents.cases())
        return [line.split(":")[0].split("/")[-1] for line in out.getvalue().splitlines()
                if line.startswith("FAIL")]

    def test_nothing_is_wrong(self):
        self.assertEqual(self.failed(), [])

    def test_a_program_that_raises_privileges(self):
        self.write("/usr/bin/su", mode=0o4755)
        self.assertEqual(self.failed(), ["no-setuid"])

    def test_a_program_that_has_capabilities(self):
        self.write("/usr/bin/ping")
        # What listxattr(2) says of it: to set it needs privileges.
        with unittest.mock.patch.object(
                images.os, "listxattr", lambda path, follow_symlinks:
                ["security.capability"] if path.endswith("/ping") else ["user.mark"]):
            self.assertEqual(self.failed(), ["no-setuid"])

    def test_what_builds_leave(self):
        for path in ("/root/.bash_history", "/var/lib/apt/lists/deb.debian.org_dists", "/src/x",
                     "/var/cache/apt/pkgcache.bin", "/tmp/x", "/etc/ssl/private/a.key"):
            with self.subTest(path):
                self.write(path)
                self.assertEqual(self.failed(), ["nothing-left"])
                os.unlink(self.root + path)

    def test_a_large_one(self):
        with open(self.root + "/usr/large", "wb") as stream:
            stream.truncate(images.LIMITS["farcall"] + 1)
        self.assertEqual(self.failed(), ["size"])
        self.assertEqual(self.failed("debug"), [])

    def test_programs_that_are_missing_or_too_many(self):
        self.write("/usr/local/bin/other")
        self.assertEqual(self.failed(), ["programs-are-there"])

    def test_a_library_that_is_missing(self):
        self.assertEqual(self.failed(libraries="libc.so.6 => x\nlibssl.so.3 => not found"),
                         ["libraries"])
        os.unlink(self.root + "/usr/lib/libibverbs/libmlx5-rdmav34.so")
        self.assertEqual(self.failed(), ["rdma-libraries"])


class CasesTest(unittest.TestCase):
    def run_one(self, case):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            return cases.run_cases("g", [("a", case), ("b", lambda: None)]), out.getvalue()

    def test_a_broken_case_hides_no_other(self):
        well, out = self.run_one(lambda: {}["x"])
        self.assertFalse(well)
        self.assertRegex(out, r"(?m)^FAIL k8s/g/a: KeyError: 'x'$")
        self.assertRegex(out, r"(?m)^PASS k8s/g/b ")

    def test_reasons_are_one_line(self):
        _, out = self.run_one(lambda: cases.need(False, "one\ntwo"))
        self.assertIn("FAIL k8s/g/a: one two\n", out)


if __name__ == "__main__":
    sys.exit(unittest.main())
