#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What is told of a machine in which something does not end."""

import unittest
from unittest import mock

import stuck


class StuckTest(unittest.TestCase):
    LOG = """[   21.5] sysrq: Show backtrace of all active CPUs
[   21.6] NMI backtrace for cpu 0
[   21.6] CPU: 0 PID: 71 Comm: python3 Not tainted 6.1.0 #1
[   21.6] RIP: 0010:native_read+0x4/0x10
[   21.6] Call Trace:
[   21.6]  <IRQ>
[   21.6]  ? nmi_cpu_backtrace.cold+0x30/0x70
[   21.6]  rxe_do_task+0x7d/0x110 [rdma_rxe]
[   21.7] NMI backtrace for cpu 1 skipped: idling at native_safe_halt+0xb/0x10
"""

    def test_stacks_are_read(self):
        stack = ["[<0>] __rxe_cleanup+0x12c/0x150 [rdma_rxe]", "[<0>] ib_destroy_qp_user+0x8/0x10"]
        self.assertEqual(stuck.frames(stack), "__rxe_cleanup < ib_destroy_qp_user")
        self.assertEqual(
            list(stuck.running(self.LOG.splitlines())),
            ["cpu 0 python3 native_read < rxe_do_task",
             "cpu 1 skipped: idling at native_safe_halt+0xb/0x10  "],
        )  # fmt: skip

    def test_who_waits_is_told(self):
        files = {"/proc/7/task/8/stat": "8 (a (b) D 1 2", "/proc/7/task/8/stack": "[<0>] f+0x1/0x2"}
        with mock.patch.object(stuck, "_read", lambda path: files.get(path, "")), mock.patch.object(
            stuck.os, "listdir", lambda path: ["7", "x"] if path == "/proc" else ["8", "9"]
        ), mock.patch.object(stuck.os.path, "isdir", lambda _: True):
            self.assertEqual(list(stuck.waiting()), ["8 a (b of process 7 waits in f"])


if __name__ == "__main__":
    unittest.main()
