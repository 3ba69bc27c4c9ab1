#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What runs in the guest of tools/rdma_vm, without the guest."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from places import guest_steps  # noqa: E402


class GuestTest(unittest.TestCase):
    """The steps themselves, without the hosts."""

    @staticmethod
    def inside(_, words):
        return words

    def perform(self, step):
        return guest_steps.perform(step, self.inside)

    LISTEN = ["sh", "-c", "echo hello; echo listening on 1.2.3.4:5; cat >/dev/null"]

    def test_the_client_gets_the_address_that_the_server_announced(self):
        step = {"server": self.LISTEN, "client": ["echo", "--server=@"], "limit": 20}
        self.assertEqual(self.perform(step), {"output": "--server=1.2.3.4:5\n"})

    def test_a_client_that_fails_is_told_with_both_ends_words(self):
        server = ["sh", "-c", "echo oops >&2; echo listening on 1.2.3.4:5; cat >/dev/null"]
        client = ["sh", "-c", "echo refused >&2; exit 3"]
        result = self.perform({"server": server, "client": client, "limit": 20})
        self.assertEqual(result["error"], "the client ended with 3: refused")
        self.assertEqual(result["server_log"], "oops")

    def test_a_client_that_does_not_end_is_an_error(self):
        step = {"server": self.LISTEN, "client": ["sleep", "100"], "limit": 0.2}
        self.assertIn("did not end", self.perform(step)["error"])

    def test_a_client_with_too_few_calls_measures_again_for_longer(self):
        # 5 calls a second; the exponents are those of "%g".
        client = ["sh", "-c", "s=${0#--seconds=}; echo '{\"calls\": '${s%.*}5'}'", "--seconds=1"]
        step = {"server": self.LISTEN, "client": client, "limit": 20}
        for enough, calls in ((0, 15), (15, 15), (16, 45), (46, 165), (1000, 165)):
            result = self.perform(dict(step, enough=enough))
            self.assertEqual(json.loads(result["output"]), {"calls": calls}, enough)

    def test_what_is_no_report_is_not_measured_again(self):
        with tempfile.TemporaryDirectory() as folder:
            client = ["sh", "-c", "echo x >>%s/ran; echo text" % folder]
            step = {"server": self.LISTEN, "client": client, "limit": 20, "enough": 20}
            self.assertEqual(self.perform(step), {"output": "text\n"})
            with open(os.path.join(folder, "ran"), encoding="utf-8") as ran:
                self.assertEqual(ran.read(), "x\n")

    def test_steps_after_a_failed_one_are_done_where_it_says_so(self):
        good = {"server": self.LISTEN, "client": ["true"], "limit": 20}
        bad = dict(good, client=["false"])
        for go_on, printed, code in ((True, 2, 0), (False, 1, 1)):
            out, plan = io.StringIO(), [dict(bad, go_on=go_on), good]
            with contextlib.redirect_stdout(out):
                self.assertEqual(guest_steps.main(plan, self.inside), code)
            self.assertEqual(out.getvalue().count("\n"), printed)

    def test_a_server_that_ends_is_an_error(self):
        step = {"server": ["true"], "client": ["true"], "limit": 20}
        self.assertIn("did not begin to listen", self.perform(step)["error"])

    def test_where_nothing_is_announced_it_is_tried_again(self):
        with tempfile.TemporaryDirectory() as folder:
            # Refused the first time.
            client = ["sh", "-c", "test -e %s/x || { touch %s/x; exit 1; }" % (folder, folder)]
            step = {"server": ["sleep", "100"], "client": client, "limit": 20, "pause": 0.01}
            self.assertEqual(self.perform(step), {"output": ""})


if __name__ == "__main__":
    unittest.main()
