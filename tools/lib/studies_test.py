#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""tools/bench --studies: with the programs themselves on this host, and with pretended ones where
there is RDMA."""

import contextlib
import io
import json
import os
import unittest

import ends_test
import studies

LOADS = ("get of 1 key", "get of 30 keys", "read of 4 KiB x 1", "read of 4 KiB x 32",
         "write of 4 KiB x 1", "write of 4 KiB x 32")  # fmt: skip
SERVER = """#!/bin/sh
echo "$(basename "$0") $*" >>"$ROOM/asked"
[ ! -e "$ROOM/broken" ] || { echo "no memory" >&2; exit 1; }
echo "listening on 127.0.0.1:7"
exec cat
"""
# As examples/kv/bench.cc and examples/attachment/bench.cc print it; RDMA takes half the time.
KV_BENCH = """#!/bin/sh
echo "$*" >>"$ROOM/asked"
cat <<END
load           over     calls/s    calls/s     keys/s        us        us        us     us     us
get            tcp       10,000      9,999      9,999     1,743     1,577     4,899  6,177  7,447  0
multi-get 30   tcp       10,000     10,000    300,003      50.0      49.3     1,000  1,167  1,966  0
get            rdma      10,000      9,999      9,999       872       788     2,450  6,177  7,447  0
multi-get 30   rdma      10,000     10,000    300,003      25.0      24.3       100  1,167  1,966  0
END
"""
BLOCK_BENCH = """#!/bin/sh
case $* in *--use_rdma=true*) over=rdma avg=9.30 ;; *) over=tcp avg=18.6 ;; esac
for rw in randread randwrite; do
  for depth in 1 32; do
    echo "$rw: bs=4096B, iodepth=$depth, numjobs=1, over $over"
    echo "  ${rw#rand}: IOPS=53.8k, BW=210MiB/s (221MB/s), 161,514 in 3.00 s"
    echo "    clat (us): min=12.5, avg=$avg, p50=18.8, p99=39.3, p99.9=89.3, p99.99=559, max=3,326"
  done
done
"""


def bench(*flags):
    """(exit code, standard output, standard error)."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = studies.main(["--studies", *flags])
    return code, out.getvalue(), err.getvalue()


class HereTest(unittest.TestCase):
    def test_the_programs_fill_each_row_and_what_carries_them_is_told(self):
        code, out, err = bench(
            "--bin=.", "--seconds=0.2", "--warmup=0.05", "--rate=500", "--keys=1000"
        )
        self.assertEqual(code, 0, err)
        for load in LOADS:
            self.assertRegex(out, r"(?m)^%s +tcp +[\d,]+ " % load)
        devices = "/sys/class/infiniband"
        if not os.path.isdir(devices) or not os.listdir(devices):
            self.assertIn("TCP only: this host shows no RDMA device", out)


class RdmaTest(ends_test.EndsTest):
    def setUp(self):
        super().setUp()
        for name, text in (("kv-server", SERVER), ("block-server", SERVER),
                           ("kv-bench", KV_BENCH), ("block-bench", BLOCK_BENCH)):  # fmt: skip
            self.fake(name, text)

    def test_rdma_stands_beside_tcp_with_the_change_in_percent(self):
        path = os.path.join(self.room, "out.json")
        code, out, err = bench("--pods", "--json", path)
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"get of 30 keys +rdma +10,000 +25.0 +24.3 +100 +-50 % +-90 %")
        self.assertRegex(out, r"read of 4 KiB x 1 +rdma +53,838 +9.30 +18.8 +39.3 +-50 % +\+0 %")
        self.assertIn("Published for brpc", out)
        whole = json.loads(self.said("out.json"))
        self.assertEqual(len(whole["rows"]), 2 * len(LOADS))
        self.assertEqual(whole["to_tcp_percent"]["get of 30 keys"]["mean"], -50)
        self.assertEqual(whole["machine"]["B"]["ports"][0]["device"], "mlx5_0")
        self.assertIn("delete job/bench-client", self.said("kubectl").splitlines()[-1])

    def test_the_rate_is_that_of_the_queries(self):
        self.assertEqual(bench("--pods", "--rate=200000", "--keys=7")[0], 0)
        asked = "--keys=7 --qps=200000 --multi_get=30 --multi_get_qps=200000 "
        self.assertIn(asked, self.said("asked"))

    def test_between_hosts_the_server_listens_at_its_adapter(self):
        self.assertEqual(bench("--hosts=a,b", "--installed", "--devices=mlx5_0,mlx5_0")[0], 0)
        for name in ("kv-server", "block-server"):
            self.assertIn(name + " --listen=127.0.0.1:0\n", self.said("asked"))

    def test_a_server_that_fails_is_told_with_its_words(self):
        self.touch("broken")
        code, _, err = bench("--pods")
        self.assertEqual(code, 1)
        self.assertIn("no memory", err)

    def test_what_is_no_table_is_a_failure(self):
        self.fake("kv-bench", "#!/bin/sh\necho something else\n")
        code, _, err = bench("--pods")
        self.assertEqual(code, 1)
        self.assertIn("printed no rows", err)

    def test_calls_that_fail_are_a_failure(self):
        self.fake("block-bench", "#!/bin/sh\necho 'errors: 3 calls' >&2\nexit 1\n")
        code, _, err = bench("--pods")
        self.assertEqual(code, 1)
        self.assertIn("errors: 3 calls", err)


if __name__ == "__main__":
    unittest.main()
