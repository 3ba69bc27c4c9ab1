#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Each check finds what it is for, and lets good code pass."""

import os
import tempfile
import unittest

import formatting
import policy
import purity
import sizes
import strays
import words
from source_tree import SourceFile, read_tree

SPDX = "// %s\n" % policy.SPDX


def findings(check, files):
    """What `check` says of a tree with these files: a list of "path:line: what"."""
    with tempfile.TemporaryDirectory() as root:
        tree = []
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as stream:
                stream.write(text if isinstance(text, bytes) else text.encode())
            tree.append(SourceFile(root, path))
        return [str(finding).split("; cure: ")[0] for finding in check(tree)]


class PurityTest(unittest.TestCase):
    def check(self, text, path="rpc/wire/a.cc"):
        files = {"transport/address.h": "", "rpc/errors.h": "", path: text}
        return findings(purity.check, files)

    def test_pure_passes(self):
        text = '#include <string>\n#include "transport/buffer/buffer.h"\n#include "rpc/wire/b.h"\n'
        self.assertEqual([], self.check(text + "// steady_clock::now() is for others\n"))

    def test_impure_is_found(self):
        for line in [
            "#include <mutex>",
            "#include <thread>",
            "#include <sys/socket.h>",
            "#include <unistd.h>",
            '#include "absl/synchronization/mutex.h"',
            '#include "rpc/controller.h"',
            '#include "transport/loop/event_loop.h"',
            "auto t = std::chrono::steady_clock::now();",
            "std::random_device device;",
            "thread_local int x;",
        ]:
            found = self.check("\n" + line + "\n")
            self.assertEqual(1, len(found), line)
            self.assertIn("rpc/wire/a.cc:2: a pure target", found[0])

    def test_others_and_tests_may(self):
        self.assertEqual([], self.check("#include <mutex>\n", "rpc/session/a.cc"))
        self.assertEqual([], self.check("#include <mutex>\n", "rpc/wire/a_test.cc"))

    def test_the_list_names_what_exists(self):
        found = findings(purity.check_names, {"transport/address.h": ""})
        self.assertEqual(len(policy.PURE) - 1, len(found))


class SizesTest(unittest.TestCase):
    def test_file(self):
        long_file = "int x;\n" * (policy.FILE_LINES + 1)
        self.assertEqual(1, len(findings(sizes.check, {"rpc/a.cc": long_file})))
        self.assertEqual(1, len(findings(sizes.check, {"rpc/a_test.cc": long_file})))
        self.assertEqual([], findings(sizes.check, {"docs/a.md": long_file}))

    def test_cpp_function(self):
        body = "  f(\"}\", '{');  // }\n" * policy.FUNCTION_LINES
        free = "namespace a {\n\nint F(int a,\n      int b) {\n%s}\n\n}  // namespace a\n" % body
        found = findings(sizes.check, {"rpc/a.cc": free})
        self.assertEqual(1, len(found))
        self.assertIn("rpc/a.cc:3: function of %d lines" % (policy.FUNCTION_LINES + 3), found[0])
        member = "class A {\n public:\n  void F() {\n%s  }\n};\n" % body
        self.assertEqual(1, len(findings(sizes.check, {"rpc/a.h": member})))

    def test_short_functions_in_a_long_class(self):
        member = "  void F(int a = (1)) {\n    G();\n  }\n"
        text = "class A final : public B<decltype(c())> {\n" + member * 30 + "};\n"
        self.assertEqual([], findings(sizes.check, {"rpc/a.h": text}))

    def test_python_and_shell_functions(self):
        body = "    pass\n" * policy.FUNCTION_LINES
        self.assertEqual(1, len(findings(sizes.check, {"tools/a.py": "def f():\n" + body})))
        self.assertEqual(1, len(findings(sizes.check, {"tools/a.sh": "f() {\n%s}\n" % body})))

    def test_line(self):
        found = findings(sizes.check, {"rpc/a.h": "\n//" + "x" * policy.LINE_LENGTH + "\n"})
        self.assertEqual(["rpc/a.h:2: line of 102 characters, more than 100"], found)
        found = findings(sizes.check, {"rpc/a.h": "// https://a/" + "x" * policy.LINE_LENGTH})
        self.assertEqual([], found)

    def test_folder(self):
        names = ["rpc/a%d.h" % number for number in range(policy.FOLDER_SOURCES + 1)]
        found = findings(sizes.check, {name: "" for name in names + ["rpc/b_test.cc"]})
        self.assertEqual(["rpc:1: 31 sources, more than 30"], found)
        self.assertEqual([], findings(sizes.check, {name: "" for name in names[1:]}))

    def test_line_of_a_document(self):
        long = "x" * (policy.TEXT_LINE_LENGTH + 1)
        text = "\n".join([long, "| " + long, "  ```sh", long, "  ```", "- " + long, "x" * 120, ""])
        found = findings(sizes.check, {"docs/a.md": text})
        self.assertEqual(["docs/a.md:1: line of 121 characters, more than 120"], found[:1])
        self.assertEqual(["docs/a.md:6: line of 123 characters, more than 120"], found[1:])


class WordsTest(unittest.TestCase):
    def test_leftovers(self):
        for word in ["TODO", "FIXME: x", "XXX", "not implemented", "NOLINT(x)", "GTEST_SKIP()"]:
            found = findings(words.check_leftovers, {"rpc/a.cc": "// %s\n" % word})
            self.assertEqual(1, len(found), word)
        fine = "mktemp -t a.XXXXXX\n// todo lists are fine\n"
        self.assertEqual([], list(findings(words.check_leftovers, {"tools/a.sh": fine})))

    def test_machine_paths(self):
        for path in ["/wo" + "rk/main", "cd /tmp/" + "bz_x"]:
            self.assertEqual(1, len(findings(words.check_leftovers, {"README.md": path})))
        fine = "bench/work/x ${root}/wo" + "rk/ /tmp/x"
        self.assertEqual([], findings(words.check_leftovers, {"README.md": fine}))

    def test_friend(self):
        text = "class A {\n  friend class B;  // no\n};\n// friend class C;\n"
        found = findings(words.check_friends, {"rpc/a.h": text})
        self.assertEqual(["rpc/a.h:2: friend declaration"], found)

    def test_macros(self):
        guard = "#ifndef FARCALL_RPC_A_H_\n#define FARCALL_RPC_A_H_\n#endif\n"
        self.assertEqual([], findings(words.check_macros, {"rpc/a.h": guard}))
        self.assertEqual(1, len(findings(words.check_macros, {"rpc/a.h": guard + "#define X 1\n"})))
        self.assertEqual(1, len(findings(words.check_macros, {"rpc/a.cc": "#define X(a) a\n"})))
        self.assertEqual(2, len(findings(words.check_macros, {"rpc/b.h": guard})))
        self.assertEqual(2, len(findings(words.check_macros, {"rpc/b.h": "#pragma once\n"})))

    def test_spdx(self):
        script = "#!/x\n# %s\n" % policy.SPDX
        files = {"rpc/a.h": SPDX, "a.py": script, "README.md": "", "x": "data"}
        self.assertEqual([], findings(words.check_spdx, files))
        for path in ["rpc/a.h", "rpc/BUILD.bazel", "a.proto", "CMakeLists.txt", "a/b.sh"]:
            self.assertEqual(1, len(findings(words.check_spdx, {path: "x\n"})), path)
        self.assertEqual(1, len(findings(words.check_spdx, {"tools/run": "#!/bin/sh\nx\n"})))


class StraysTest(unittest.TestCase):
    def test_strays(self):
        fine = {"a.cc": "", "tools/run": "#!/bin/sh\n", "LICENSE": "", "rpc/corpus/x1": b"\0\1"}
        self.assertEqual([], findings(strays.check, fine))
        for path, data in [
            ("a.o", b"\0"),
            ("a.cc", b"\0"),
            ("a.orig", b"x"),
            ("core", b"x"),
            ("a.md", b"x" * (policy.FILE_BYTES + 1)),
            ("a.png", b"\x89PNG"),
        ]:
            self.assertEqual(1, len(findings(strays.check, {path: data})), path)


class FormattingTest(unittest.TestCase):
    def test_format(self):
        style = "BasedOnStyle: Google\n"
        good = {".clang-format": style, "rpc/a.cc": "int main() { return 0; }\n"}
        self.assertEqual([], findings(formatting.check, good))
        bad = {".clang-format": style, "rpc/a.cc": "int  main(){return 0;}\n"}
        self.assertEqual(["rpc/a.cc:1: not formatted"], findings(formatting.check, bad))


class TreeTest(unittest.TestCase):
    def test_reads_what_is_there(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "a", "__pycache__"))
            for name in ["a/b.cc", "a/__pycache__/b.pyc"]:
                with open(os.path.join(root, name), "w") as stream:
                    stream.write("x")
            os.symlink("/usr", os.path.join(root, "link"))
            self.assertEqual(["a/b.cc"], [source.path for source in read_tree(root)])

    def test_code_blanks_comments_and_literals(self):
        with tempfile.TemporaryDirectory() as root:
            with open(os.path.join(root, "a.cc"), "w") as stream:
                stream.write("f(\"{\", '{', 1'000); // {\n/* {\n{ */ R\"x({)x\" }\n")
            code = SourceFile(root, "a.cc").code()
        self.assertNotIn("{", code)
        self.assertIn("1'000", code)
        self.assertEqual(3, code.count("\n"))


if __name__ == "__main__":
    unittest.main()
