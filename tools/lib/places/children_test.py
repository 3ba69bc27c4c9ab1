#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Processes that start, fail, hang and die."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from places.children import ChildFailed, Server, pinned, run_client  # noqa: E402

# A server as the benchmarks have it: says where it listens, ends with its input.
GOOD_SERVER = "print('listening on 127.0.0.1:7', flush=True); sys.stdin.read()"


def python(code):
    return [sys.executable, "-B", "-c", "import os, signal, sys, time\n" + code]


class ServerTest(unittest.TestCase):
    def fails(self, code, message, start_limit=10.0):
        with self.assertRaises(ChildFailed) as raised:
            with Server("a server", python(code), start_limit):
                pass
        self.assertIn(message, str(raised.exception))
        return str(raised.exception)

    def test_the_address_is_known_inside_and_the_process_gone_after(self):
        with Server("a server", python(GOOD_SERVER)) as server:
            self.assertEqual(server.address, "127.0.0.1:7")
            server.check()
            process = server._process.pid
            os.kill(process, 0)
        with self.assertRaises(ProcessLookupError):
            os.kill(process, 0)

    def test_an_exception_inside_ends_the_process_too(self):
        with self.assertRaises(KeyError):
            with Server("a server", python(GOOD_SERVER)) as server:
                process = server._process.pid
                raise KeyError()
        with self.assertRaises(ProcessLookupError):
            os.kill(process, 0)

    def test_one_that_ignores_sigterm_is_killed(self):
        code = (
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "print('listening on x', flush=True)\n"
            "while True: time.sleep(1)"
        )
        with Server("a server", python(code)) as server:
            process = server._process.pid
        with self.assertRaises(ProcessLookupError):
            os.kill(process, 0)

    def test_one_that_ends_early_is_named_with_its_last_words(self):
        text = self.fails(
            "sys.stderr.write('port in use\\n'); sys.exit(3)",
            'a server ended with exit code 3 before "listening on"',
        )
        self.assertIn("port in use", text)
        self.assertIn("command: ", text)

    def test_only_the_tail_of_its_standard_error_is_shown(self):
        text = self.fails("[print('line', i, file=sys.stderr) for i in range(500)]", "before")
        self.assertIn("line 499", text)
        self.assertNotIn("line 480", text)

    def test_silence_has_a_limit(self):
        self.fails("time.sleep(60)", 'did not say "listening on" within 0.2 s', 0.2)

    def test_lines_before_the_address_do_not_count(self):
        with Server("a server", python("print('a log line');" + GOOD_SERVER)) as server:
            self.assertEqual(server.address, "127.0.0.1:7")

    def test_an_address_that_comes_in_pieces_is_whole(self):
        code = "for c in 'listening on [::1]:65535\\n': os.write(1, c.encode())\n" + GOOD_SERVER
        with Server("a server", python(code)) as server:
            self.assertEqual(server.address, "[::1]:65535")

    def test_endless_talk_has_a_limit(self):
        self.fails("while True: print('hello')", 'said much, but not "listening on"')

    def test_a_program_that_is_not_there(self):
        with self.assertRaisesRegex(ChildFailed, "a server cannot start"):
            with Server("a server", ["/nowhere/at/all"]):
                pass

    def test_check_sees_that_it_was_killed(self):
        with self.assertRaisesRegex(ChildFailed, "was killed by SIGKILL"):
            with Server("a server", python(GOOD_SERVER)) as server:
                os.kill(server._process.pid, 9)
                server._process.wait(10)
                server.check()


class ClientTest(unittest.TestCase):
    def fails(self, code, message, limit=10.0, server=None):
        with self.assertRaises(ChildFailed) as raised:
            run_client("a client", python(code), limit, server)
        self.assertIn(message, str(raised.exception))
        return str(raised.exception)

    def test_its_report_is_returned(self):
        report = run_client("a client", python("print('{\"qps\": 5}')"), 10)
        self.assertEqual(report, {"qps": 5})

    def test_lines_before_its_report_do_not_count(self):
        code = "print('a log line'); print('{\"qps\": 5}')"
        self.assertEqual(run_client("a client", python(code), 10), {"qps": 5})

    def test_a_failure_is_told_with_its_last_words(self):
        text = self.fails("sys.exit('no server')", "a client ended with exit code 1")
        self.assertIn("no server", text)

    def test_it_has_a_limit(self):
        self.fails("time.sleep(60)", "did not end within 0.2 s", limit=0.2)

    def test_what_is_no_json_is_an_error(self):
        self.fails("print('fine')", "printed no JSON")
        self.fails("print('[1]')", "printed no JSON object")

    def test_a_server_that_died_is_blamed_first(self):
        with Server("a server", python(GOOD_SERVER)) as server:
            server._process.kill()
            server._process.wait(10)
            text = self.fails("sys.exit(1)", "a server was killed", server=server)
        self.assertNotIn("a client", text)

    def test_a_program_that_is_not_there(self):
        with self.assertRaisesRegex(ChildFailed, "a client cannot start"):
            run_client("a client", ["/nowhere/at/all"], 1)


class PinnedTest(unittest.TestCase):
    def test_cores_are_given_to_taskset(self):
        self.assertEqual(pinned(["a", "b"], (0, 2)), ["taskset", "-c", "0,2", "a", "b"])
        self.assertEqual(pinned(["a"], ()), ["a"])


if __name__ == "__main__":
    unittest.main()
