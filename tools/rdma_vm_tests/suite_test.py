#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The parts of the suites that need no guest: what they read, and that they can fail."""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import breakage
import brpc
import brpc_clients
import brpc_servers
import calls
import conformance
import counters
import doctor
import drivers
import hosts
import marked_pods
import marking
import nat
import peers
import ports
import priorities
import rails
import reasons
import removal
import services
import set_up
import store
import stopped
import stuck
import suite
import tokens
from forked import Forked
from guest import A, B, Late, Trouble, run

HERE = os.path.dirname(os.path.realpath(__file__))


class FieldsTest(unittest.TestCase):
    def test_the_last_text_may_have_spaces_and_equal_signs(self):
        line = "state connections=2 rdma=1 why=memlock detail=needs a=1 MiB, has 2"
        self.assertEqual(
            peers.fields(line),
            {"connections": "2", "rdma": "1", "why": "memlock", "detail": "needs a=1 MiB, has 2"},
        )
        self.assertEqual(peers.fields("done ok=3 error="), {"ok": "3", "error": ""})

    def test_what_programs_said_is_told_while_they_run(self):
        with peers.Program("peer", ["sh", "-c", "echo first >&2; echo last >&2; echo; cat"]):
            self.assertEqual(list(peers.Program.logs()), ["the peer said: first | last"])
            with self.assertRaises(Trouble) as raised:
                suite.check(False, "wrong")
            self.assertEqual(raised.exception.seen, ["the peer said: first | last"])
        self.assertEqual(list(peers.Program.logs()), [])

    def test_forked_functions_are_processes(self):
        def work():
            for line in sys.stdin:
                print("heard %s" % line.strip(), flush=True)
            print("over", file=sys.stderr)
            return 9

        with tempfile.TemporaryFile() as said, Forked(work, said) as first:
            # What is open here is not open there, or the first one would not hear of its end.
            with Forked(work, said) as second:
                first.stdin.write(b"one\n")
                first.stdin.flush()
                self.assertEqual(first.stdout.readline(), b"heard one\n")
                first.stdin.close()
                self.assertEqual(first.wait(60), 9)
                with self.assertRaises(subprocess.TimeoutExpired):
                    second.wait(0)
            said.seek(0)
            self.assertEqual(said.read(), b"over\n")

    def test_forked_functions_that_fail_say_so(self):
        with tempfile.TemporaryFile() as said, Forked(lambda: 1 // 0, said) as process:
            self.assertEqual(process.wait(60), 1)
            said.seek(0)
            self.assertIn(b"ZeroDivisionError", said.read())

    def test_states(self):
        state = {"connections": "2", "rdma": "1", "tcp": "1", "why": "memlock"}
        self.assertFalse(peers._is(state, "rdma"))
        self.assertTrue(peers._is(state, "memlock"))
        self.assertTrue(peers._is({**state, "rdma": "2"}, "rdma"))

    def test_failed_wrong_and_missing_calls_are_trouble(self):
        good = {"ok": "3", "failed": "0", "wrong": "0"}
        self.assertEqual(peers.all_right(good), good)
        for key, value in (("ok", "0"), ("failed", "1"), ("wrong", "1")):
            with self.assertRaises(Trouble):
                peers.all_right({**good, key: value})


class CaseTest(unittest.TestCase):
    def run_case(self, case):
        out = io.StringIO()
        passed = suite.run_case("rdma/x/y/z", case, out)
        return passed, out.getvalue()

    def test_pass_and_fail_are_one_line_with_the_name(self):
        passed, said = self.run_case(lambda: None)
        self.assertTrue(passed)
        self.assertRegex(said, r"^PASS rdma/x/y/z \(0\.\d s\)\n$")

        def bad():
            raise Trouble("two\nlines")

        passed, said = self.run_case(bad)
        self.assertFalse(passed)
        self.assertRegex(said, r"^FAIL rdma/x/y/z: two \| lines \(0\.\d s\)\n$")

    def test_what_a_case_returns_is_told(self):
        self.assertRegex(self.run_case(lambda: "2 s")[1], r"^PASS rdma/x/y/z \(0\.\d s; 2 s\)\n$")

    def test_a_mistake_in_a_case_fails_it(self):
        passed, said = self.run_case(lambda: {}["x"])
        self.assertFalse(passed)
        self.assertIn("KeyError", said)

    def test_what_was_seen_when_it_was_late_is_told(self):
        def late():
            with mock.patch.object(stuck, "report", lambda: ["a waits", "b runs"]):
                raise Late("it took long")

        said = self.run_case(late)[1].splitlines()
        self.assertRegex(said[0], "^FAIL rdma/x/y/z: it took long ")
        self.assertEqual(said[1:], ["rdma_vm: rdma/x/y/z: a waits", "rdma_vm: rdma/x/y/z: b runs"])

    def test_names_are_unique_and_of_functions(self):
        for suite_of_several in (hosts, set_up):
            names = [case.__name__ for case in suite_of_several.CASES]
            self.assertEqual(len(set(names)), len(names))
        modules = (breakage, brpc_clients, brpc_servers, calls, doctor, drivers, nat, priorities)
        modules += (marking, rails, reasons, removal, ports, services, stopped, tokens)
        for module in modules:
            names = [case.__name__ for case in module.CASES]
            self.assertEqual(len(set(names)), len(names))
            own = {case.__name__ for case in module.CASES if case.__module__ == module.__name__}
            public = {
                name for name, value in vars(module).items()
                if callable(value) and value.__module__ == module.__name__ and name[0] != "_"
            }  # fmt: skip
            self.assertEqual(public, own, module.__name__)


class SeenTest(unittest.TestCase):
    def seen(self, **now):
        seen = counters.Seen.__new__(counters.Seen)
        seen._host = A
        zero = dict.fromkeys(("roce", "calls_tcp", "other_tcp", "rdma_sends", "rdma_recvs"), 0)
        seen._start = zero
        seen._read = lambda: {**zero, **now}
        seen._host = mock.Mock(run=lambda *_: "elements = { ack }")
        return seen

    def test_rdma_needs_its_bytes_its_messages_and_nearly_none_by_tcp(self):
        good = {"roce": 10 << 20, "rdma_sends": 9, "rdma_recvs": 9}
        self.seen(**good).check_rdma(9 << 20)
        for bad in ({"roce": 1}, {"rdma_sends": 0}, {"rdma_recvs": 0}, {"calls_tcp": 9 << 20}):
            with self.assertRaises(Trouble):
                self.seen(**{**good, **bad}).check_rdma(9 << 20)

    def test_tcp_needs_its_bytes_and_none_by_rdma(self):
        self.seen(calls_tcp=9 << 20).check_tcp(9 << 20)
        for bad in ({"calls_tcp": 1}, {"calls_tcp": 9 << 20, "roce": 9 << 20}):
            with self.assertRaises(Trouble):
                self.seen(**bad).check_tcp(9 << 20)


class PrioritiesTest(unittest.TestCase):
    def marks(self, **now):
        seen = priorities._Marks.__new__(priorities._Marks)
        zero = dict.fromkeys(("tcp_marked", "tcp_other", "rdma_marked", "rdma_other"), (0, 0))
        seen._start = zero
        seen._read = lambda: {**zero, **now}
        seen._host = mock.Mock(run=lambda *_: "elements = { ack }")
        return seen

    def test_marked_packets_have_priority_only_while_others_wait(self):
        marked, shared, alone = (100, 0, True), (60, 40, True), (100, 0, False)
        self.assertTrue(priorities._has_priority([shared, marked, marked, (80, 20, True)]))
        for windows in (
            [marked, marked],
            [marked, shared, marked],
            [marked, alone, marked],
            [(0, 0, True)] * 3,
        ):
            self.assertFalse(priorities._has_priority(windows), windows)

    def test_one_packet_without_the_mark_is_seen(self):
        good = {"tcp_marked": (100, 2), "rdma_marked": (5000, 3)}
        priorities._check_marks(self.marks(**good), "tcp", "rdma")
        for bad, told in (
            ({"tcp_other": (40, 1)}, "tcp: 2 marked, 1 not; flags of those: elements = { ack }"),
            ({"tcp_marked": (0, 0)}, "tcp: 0 marked, 0 not"),
            ({"rdma_other": (40, 1)}, "rdma: 3 marked, 1 not$"),
        ):
            with self.assertRaisesRegex(Trouble, told):
                priorities._check_marks(self.marks(**{**good, **bad}), "tcp", "rdma")


class WireTest(unittest.TestCase):
    def wire(self, **seen):
        wire = marked_pods.Wire.__new__(marked_pods.Wire)
        counters = [{"counter": {"name": name, "packets": count}} for name, count in seen.items()]
        wire._host = mock.Mock(run=lambda *_: json.dumps({"nftables": counters}))
        return wire

    def test_each_packet_must_have_the_mark_and_some_must_come(self):
        good = {"tcp_gold": 3, "tcp_other": 0, "rdma_bulk": 0}
        self.wire(**good).check(tcp="gold")
        for bad in ({"tcp_gold": 0}, {"tcp_other": 1}, {"rdma_bulk": 1}):
            with self.assertRaises(Trouble):
                self.wire(**{**good, **bad}).check(tcp="gold")


class CommandTest(unittest.TestCase):
    def test_hosts_name_their_things(self):
        self.assertEqual((A.address(), B.address(1)), ("10.9.0.1", "10.9.1.2"))
        self.assertEqual((A.device(), B.device(1)), ("rdmaA", "rdmaB2"))
        self.assertEqual(B.inside("x"), ["ip", "netns", "exec", "hostB", "x"])

    def test_a_command_that_fails_or_hangs_is_trouble(self):
        self.assertEqual(run("echo", "x"), "x\n")
        with self.assertRaises(Trouble):
            run("false")
        with mock.patch.object(stuck, "report", lambda: ["seen"]), self.assertRaises(Late) as late:
            run("sleep", "100", limit=0.2)
        self.assertEqual(late.exception.seen, ["seen"])


class TranslatorTest(unittest.TestCase):
    LINES = """Note: nothing
[==========] Running 3 tests from 1 test suite.
[ RUN      ] Stepped/ConnectionConformance.Holds/bytes
[       OK ] Stepped/ConnectionConformance.Holds/bytes (1200 ms)
[ RUN      ] Stepped/ConnectionConformance.Holds/close
x.cc:3: Failure
lost a byte
[  FAILED  ] Stepped/ConnectionConformance.Holds/close, where GetParam() = 8-byte object (5 ms)
"""

    def translate(self, lines, status):
        translator = conformance.Translator("rdma/rxe/conformance/")
        said = [translator.line(line) for line in lines.splitlines()]
        said.append(translator.end(status))
        return [line for line in said if line]

    def test_each_test_is_a_line(self):
        said = self.translate(self.LINES, 1)
        self.assertEqual(len(said), 2)
        self.assertRegex(said[0], r"^PASS rdma/rxe/conformance/Stepped/bytes \(1\.2 s\)$")
        self.assertRegex(said[1], r"^FAIL rdma/rxe/conformance/Stepped/close: .*lost a byte")

    def test_a_crash_fails_the_test_that_ran(self):
        said = self.translate(self.LINES + "[ RUN      ] A.B\nCheck failed: x\n", -6)
        self.assertRegex(said[-1], "FAIL rdma/rxe/conformance/A.B: .* -6: Check failed: x")

    def test_rxe_must_count_packets_out_of_order_and_find_none(self):
        name = "x/packets_keep_their_order"
        told = conformance.order_kept
        self.assertEqual(told("x/", [0, 0], "rxe"), ("PASS " + name, True))
        self.assertEqual(told("x/", [0, 3], "rxe"), ("FAIL %s: 3 did not" % name, False))
        self.assertEqual(told("x/", [], "rxe"), ("FAIL %s: no device counts them" % name, False))
        self.assertEqual(told("x/", [], "siw"), (None, True))

    def test_no_tests_at_all_are_a_failure(self):
        self.assertEqual(len(self.translate("", 0)), 1)
        self.assertEqual(len(self.translate("cannot start", 127)), 1)


class ListTest(unittest.TestCase):
    def test_every_suite_is_run(self):
        script = os.path.join(HERE, "..", "lib-sh", "rdma_vm", "suites.sh")
        with open(script, encoding="utf-8") as text:
            listed = re.findall(r"^(?:rxe|siw) (\w+) --", text.read(), re.MULTILINE)
        library = {"brpc_peers", "counters", "forked", "guest", "peers", "pods", "stuck", "suite"}
        library |= {"marked_pods", "traffic", "two_rails"}
        parts = {"calls", "store", "ports", "reasons", "tokens", "stopped"}
        parts |= {"brpc_clients", "brpc_servers"}
        there = {name[:-3] for name in os.listdir(HERE) if name.endswith(".py")}
        self.assertEqual(set(listed), there - library - parts - {"stuck_test", "suite_test"})
        self.assertEqual(calls.CASES + store.CASES, hosts.CASES)
        self.assertEqual(reasons.CASES + ports.CASES + tokens.CASES, set_up.CASES)
        self.assertLessEqual(set(stopped.CASES), set(breakage.CASES))
        self.assertEqual(brpc_clients.CASES + brpc_servers.CASES, brpc.CASES)


if __name__ == "__main__":
    unittest.main()
