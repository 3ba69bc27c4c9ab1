#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What pages name must be there: tests, commands, pages, probes, options, and each other."""

import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()


def all_text(directory, endings):
    texts = []
    for where, _, names in os.walk(os.path.join(ROOT, directory)):
        texts += [read(os.path.join(where, name)) for name in sorted(names)
                  if name.endswith(endings)]
    return "\n".join(texts)


def is_test(name):
    """A file of tests, or a target, //package:name, that a BUILD file has."""
    if name.endswith("_test.cc"):
        return os.path.exists(os.path.join(ROOT, name))
    package, _, name = name[2:].partition(":")
    build = os.path.join(ROOT, package, "BUILD.bazel")
    return os.path.exists(build) and '"%s"' % name in read(build)


class ArchitectureTest(unittest.TestCase):
    def test_the_functions_of_a_calls_way_are_in_their_files(self):
        row = re.compile(r"^\| [^|]*\| `(?:\w+::)*(\w+)`[^|]*\| `([^`]+)` \|$", re.MULTILINE)
        found = row.findall(read("docs/architecture.md"))
        self.assertGreater(len(found), 20)
        for function, path in found:
            self.assertTrue(re.search(r"\b%s\b" % function, read(path)), (function, path))


class PainsTest(unittest.TestCase):
    PAGE = read("docs/brpc-rdma-pains.md")

    def rows(self):
        return [[cell.strip() for cell in line.strip("|").split("|")]
                for line in self.PAGE.splitlines() if re.match(r"\| \d+ \|", line)]

    def test_all_twenty_are_there_in_order(self):
        self.assertEqual([row[0] for row in self.rows()], [str(i) for i in range(1, 21)])

    def test_each_says_what_farcall_does(self):
        for number, brpc, farcall, _ in self.rows():
            self.assertGreater(len(brpc), 20, number)
            self.assertGreater(len(farcall), 40, number)

    def test_each_names_a_test_that_exists(self):
        suites = read("tools/lib-sh/rdma_vm/suites.sh")
        for number, _, _, tests in self.rows():
            named = re.findall(r"`([^`]+)`", tests)
            self.assertTrue(named, number)
            for test in named:
                if test.startswith("//") or test.endswith("_test.cc"):
                    self.assertTrue(is_test(test), "%s: %s" % (number, test))
                    continue
                kind, driver, suite = test.split("/")
                self.assertEqual(kind, "rdma")
                self.assertRegex(suites, r"(?m)^%s %s " % (driver, suite))


class CommandsTest(unittest.TestCase):
    def test_tools_farcall_is_a_folder_and_the_program_is_farcall(self):
        for page in ("README.md", "CHANGELOG.md", *sorted(os.listdir(os.path.join(ROOT, "docs")))):
            if page.endswith(".md"):
                text = read(page if page[0].isupper() else "docs/" + page)
                self.assertNotRegex(text, r"tools/farcall [a-z]", page)


class OperationsTest(unittest.TestCase):
    PAGE = read("docs/operations.md")

    def test_its_commands_exist(self):
        commands = re.findall(r"(?m)(?:^|`)farcall ([a-z]+)", self.PAGE)
        self.assertIn("dump", commands)
        sources = all_text("tools/farcall", ("_command.cc",))
        for command in commands:
            self.assertIn('return {"%s", ' % command, sources)

    def test_its_pages_exist(self):
        pages = read("rpc/status/status_pages.cc")
        for page in ("/status", "/metrics", "/status/dump"):
            self.assertIn('pages.Add("%s"' % page, pages)

    def test_its_probes_exist_and_are_all(self):
        named = set(re.findall(r"farcall:([a-z]+)", self.PAGE))
        probes = set(re.findall(r"STAP_PROBE\d\(farcall, ([a-z]+)", read("transport/base/trace.h")))
        self.assertEqual(named, probes)

    def test_its_options_exist(self):
        headers = "".join(read(path) for path in (
            "transport/rdma_options.h", "rpc/runtime_options.h", "rpc/channel_options.h",
            "rpc/server_options.h", "transport/buffer/block_pool.h",
            "transport/loop/drive/polling.h"))
        named = re.findall(r"(?:RdmaOptions|BlockPoolOptions|ChannelOptions|PollingMode)::(\w+)",
                           self.PAGE)
        self.assertTrue(named)
        for option in named:
            self.assertRegex(headers, r"\b%s\b" % option)

    def test_its_statuses_and_events_exist(self):
        names = read("transport/rdma/verbs/verbs_names.cc")
        for name in set(re.findall(r"`(\w+_err)`", self.PAGE)) - {"port_err"} | {"gid_change"}:
            self.assertIn('"%s"' % name, names)


def fields(header, struct):
    """The names of the members of a struct of options."""
    body = re.search(r"(?ms)^struct %s \{\n(.*?)^\};" % struct, read(header)).group(1)
    return re.findall(r"(?m)^  [\w:<>,* ]+ (\w+)(?: = [^;]*)?;", body)


class DumpTest(unittest.TestCase):
    """What /status/dump tells of the options."""

    # Not values: handles of the program's own, and what its members say.
    UNTOLD = {"runtime", "log"}

    def test_it_tells_each_option_of_a_server(self):
        source = read("rpc/status/options_text.cc")
        names = set(fields("rpc/server_options.h", "ServerOptions"))
        self.assertGreater(len(names), 10)
        for name in names - self.UNTOLD:
            self.assertIn('{"%s",' % name, source)


class SettingsTest(unittest.TestCase):
    """Each field of the options is a setting, and so in /status and docs/settings.md."""

    # Whose fields are settings; handles; how settings are taken; what the program promises.
    NONE = {"polling", "pool", "rdma", "link", "upgrade", "stream", "log", "operator_settings",
            "registration_cache"}

    def test_each_field_is_a_setting(self):
        page = read("docs/settings.md")
        for header, struct, prefix in (
                ("rpc/runtime_options.h", "RuntimeOptions", ""),
                ("transport/loop/drive/polling.h", "PollingOptions", "polling."),
                ("transport/buffer/block_pool.h", "BlockPoolOptions", "pool."),
                ("transport/rdma_options.h", "RdmaOptions", "rdma."),
                ("transport/link_options.h", "LinkOptions", "link."),
                ("transport/link_options.h", "UpgradeTimes", "link."),
                ("transport/link_options.h", "StreamLimits", "link.")):
            names = set(fields(header, struct)) - self.NONE
            self.assertGreater(len(names), 1, struct)
            # ConnectionOptions, RdmaOptions and require_rdma have these.
            if prefix == "link.":
                names -= {"close_timeout", "rails", "tcp_carries_on"}
            for name in names:
                self.assertIn("| `%s%s` |" % (prefix, name), page)


class FromBrpcTest(unittest.TestCase):
    PAGE = read("docs/from-brpc.md")

    def test_the_codes_that_are_never_produced_are_those(self):
        listed = re.search(r"never produces ([A-Z, and]+),", self.PAGE).group(1)
        never = set(re.findall(r"[A-Z]+", listed))
        names = dict(re.findall(r"(?m)^  (k\w+) = \d+, +// ([A-Z]+):", read("rpc/errors.h")))
        self.assertGreater(len(names), 15)
        # Who only tells codes apart, or has a protocol of the same name.
        others = ("errors.cc", "errors.h", "error_class.cc", "protocol_guess.h")
        source = ""
        for where, _, files in os.walk(os.path.join(ROOT, "rpc")):
            source += "".join(read(os.path.join(where, name)) for name in files
                              if name.endswith((".cc", ".h")) and name not in others
                              and not name.endswith(("_test.cc", "_testing.h"))
                              and not where.endswith("/testing"))
        source = re.sub(r"case k\w+:|ProtocolGuess::k\w+|[!=]= k\w+\b", "", source)
        made = {text for name, text in names.items() if re.search(r"\b%s\b" % name, source)}
        self.assertEqual(set(names.values()) - made, never)


class WhyIsRdmaOffTest(unittest.TestCase):
    PAGE = read("docs/why-is-rdma-off.md")

    def sections(self):
        """{reason: what the page says of it}"""
        return dict(re.findall(r"(?ms)^### `(\w+)`\n(.*?)(?=^##|\Z)", self.PAGE))

    def reasons(self):
        source = read("transport/why_not_rdma.cc")
        table = source[source.index("kReasons = {{"):source.index("}};")]
        return re.findall(r'\{"(\w+)",', table)

    def test_each_reason_of_the_library_is_there_once_and_no_other(self):
        header = read("transport/why_not_rdma.h")
        count = int(re.search(r"kWhyNotRdmaCount = (\d+)", header).group(1))
        self.assertEqual(len(self.reasons()), count)
        heads = re.findall(r"(?m)^### `(\w+)`$", self.PAGE)
        self.assertEqual(sorted(heads), sorted(self.reasons()))

    def test_each_says_how_to_see_it_and_how_to_cure_it(self):
        for reason, text in self.sections().items():
            if reason == "in_use":
                continue
            self.assertRegex(text, r"(?m)^- See: .{20,}", reason)
            self.assertRegex(text, r"(?m)^- Cure[^:]*: .{4,}", reason)

    def test_the_short_table_of_operations_has_them_too(self):
        for reason in self.reasons():
            self.assertIn("| `%s` |" % reason, OperationsTest.PAGE)

    def test_its_metrics_exist(self):
        documented = read("docs/status.md")
        for metric in set(re.findall(r"\bfarcall_\w+", self.PAGE)):
            self.assertIn("`%s`" % metric, documented)

    def test_the_checks_of_doctor_that_it_names_exist(self):
        sources = all_text("tools/doctor/checks", (".cc",))
        for names in re.findall(r"doctor, ((?:`[\w ]+`(?:, | and )?)+)", self.PAGE):
            for name in re.findall(r"`([\w ]+)`", names):
                self.assertIn('"%s"' % name, sources)


class DoctorTest(unittest.TestCase):
    PAGE = read("docs/doctor.md")

    def test_it_has_each_check(self):
        sources = all_text("tools/doctor/checks", (".cc",))
        sources += read("tools/doctor/peer/comparison.cc")
        checks = set(re.findall(r'constexpr const char\* k\w+ = "([a-z_][a-z_ ]*)";', sources))
        table = set(re.findall(r"(?m)^\| `([a-z_ ]+)` \|", self.PAGE))
        self.assertEqual(checks | {"roce mode", "device"}, table)

    def test_its_options_exist(self):
        source = read("tools/doctor/program.cc")
        options = set(re.findall(r'\{"(--[a-z]+)", ', source))
        self.assertEqual(options, set(re.findall(r"(?m)^\| `(--[a-z]+)", self.PAGE)))


class LinksTest(unittest.TestCase):
    def anchors(self, text):
        heads = re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```", "", text))
        return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}

    def test_links_between_pages_lead_somewhere(self):
        for name in ("operations.md", "brpc-rdma-pains.md", "status.md", "rdma.md", "farcall.md",
                     "doctor.md", "why-is-rdma-off.md"):
            text = read("docs/" + name)
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if "://" in target:
                    continue
                page, _, anchor = target.partition("#")
                path = os.path.normpath(os.path.join("docs", page)) if page else "docs/" + name
                self.assertTrue(os.path.exists(os.path.join(ROOT, path)), name + ": " + target)
                if anchor:
                    self.assertIn(anchor, self.anchors(read(path)), name + ": " + target)


if __name__ == "__main__":
    sys.exit(unittest.main())
