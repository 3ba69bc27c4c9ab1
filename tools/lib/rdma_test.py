#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""tools/bench --rdma and tools/quickstart --rdma-vm, on a machine that only pretends."""

import contextlib
import io
import json
import os
import tempfile
import unittest

import rdma_bench
import rdma_quickstart
from loads import perftest, rdma_loads, rdma_ratios
from loads.cells import Cell
from places.children import ChildFailed
from places.vm_run import Step, echo_step, run_steps

# As perftest 4.5 prints them.
LAT = """ Mtu             : 4096[B]
---------------------------------------------------------------------------------------
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    """ + """\
t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
 32      2000          15.12          14418.34      16.07    	       102.33    """ + """\
  	708.81 		4118.90 		11956.81
---------------------------------------------------------------------------------------
"""
BW = """---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      1000             152.41             76.34  		   0.001222
---------------------------------------------------------------------------------------
"""

# Instead of tools/rdma_vm: reads the plan and answers each step. RDMA is twice as fast as TCP.
MACHINE = """#!/usr/bin/env -S python3 -B
import json, os, sys
LAT = %r
BW = %r
assert sys.argv[1:3] == ["--two-hosts", "--pairs"], sys.argv
with open(sys.argv[-1]) as plan:
    steps = json.load(plan)
for number, step in enumerate(steps):
    if os.environ.get("FAKE_DIES") == str(number):
        sys.exit("the kernel panicked")
    if os.environ.get("FAKE_FAILS") == str(number):
        print(json.dumps({"error": "connection reset", "server_log": "no room"}), flush=True)
        sys.exit(1)
    assert step["server"][:3] == ["taskset", "-c", "0"], step
    words = step["client"][3:]
    if words[0] == "ib_send_lat":
        output = LAT
    elif words[0] in ("ib_send_bw", "ib_read_bw"):
        output = BW
    else:
        flags = dict(word[2:].split("=", 1) for word in words if "=" in word)
        rdma = ("--use_rdma" in words or "bench" in words) and not os.environ.get("FAKE_NO_RDMA")
        report = {key: int(flags.get(key, 0)) for key in ("payload", "attachment", "in_flight")}
        rails = "FARCALL_RDMA_RAILS=all" in words
        # As after the guest had measured again.
        slow = rdma and os.environ.get("FAKE_SLOW") and step["enough"]
        report["seconds"] = float(flags["seconds"]) * (4 if slow else 1)
        if os.environ.get("FAKE_BREAKS") == str(number):
            assert step["go_on"]
            print(json.dumps({"error": "the calls moved", "server_log": ""}), flush=True)
            continue
        report.update(transport="rdma" if rdma else "tcp",
                      why_not_rdma="" if rdma else "no device",
                      qps=2444.0 if rdma else 1222.0, p50_us=64.28 if rdma else 128.56,
                      p99_us=200.0, mb_per_s=(120.0 if rails else 80.0) if rdma else 40.0,
                      client_cpu_us=1.0, server_cpu_us=2.0,
                      calls=0 if os.environ.get("FAKE_IDLE") else 9, errors=0, first_error="")
        output = "text\\n" + json.dumps(report) + "\\n"
    print(json.dumps({"output": output}), flush=True)
""" % (LAT, BW)


class RdmaTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.machine = os.path.join(self.folder, "rdma_vm")
        with open(self.machine, "w", encoding="utf-8") as out:
            out.write(MACHINE)
        os.chmod(self.machine, 0o755)

    def tearDown(self):
        for name in ("FAKE_DIES", "FAKE_FAILS", "FAKE_NO_RDMA", "FAKE_IDLE", "FAKE_SLOW",
                     "FAKE_BREAKS"):  # fmt: skip
            os.environ.pop(name, None)

    def run_main(self, main, *argv):
        """(exit code, standard output, standard error)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(["--bin", self.folder, *argv], vm=self.machine)
            except SystemExit as leave:
                code = leave.code
        return code, out.getvalue(), err.getvalue()

    def load(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as text:
            return json.load(text)


class PerftestTest(unittest.TestCase):
    def test_the_latency_is_the_median_one_way(self):
        test = perftest.Perftest("ib_send_lat", 32, 2000)
        self.assertEqual(perftest.parse(test, LAT), {"one_way_us": 16.07})

    def test_the_bandwidth_is_the_average_in_millions_of_bytes(self):
        found = perftest.parse(perftest.Perftest("ib_send_bw", 65536, 1000), BW)
        self.assertAlmostEqual(found["mb_per_s"], 76.34 * 1.048576)
        self.assertAlmostEqual(found["messages_per_s"], 1222)

    def test_anything_else_is_an_error_that_shows_it(self):
        test = perftest.Perftest("ib_send_bw", 32, 1)
        row = next(line for line in BW.splitlines() if "152.41" in line)
        for output in ("", "Couldn't connect", LAT, BW.replace(row, ""), BW.replace("76.34", "")):
            with self.assertRaises(ChildFailed):
                perftest.parse(test, output)

    def test_both_ends_use_the_connection_manager(self):
        step = perftest.Perftest("ib_send_lat", 32, 7).step()
        self.assertIn("-R", step.server)
        self.assertEqual(step.client, step.server + ["10.9.0.2"])
        self.assertGreater(step.pause, 0)


class BenchTest(RdmaTest):
    def test_ratios_are_of_one_round_and_both_are_shown_and_kept(self):
        path = os.path.join(self.folder, "out.json")
        code, out, err = self.run_main(rdma_bench.main, "--rdma", "--rounds=3", "--json", path)
        self.assertEqual(code, 0, err)
        whole = self.load("out.json")
        self.assertEqual(len(whole["rows"]), 3 * 29)
        ratios = {ratio["what"]: ratio["median"] for ratio in whole["ratios"]}
        self.assertAlmostEqual(ratios["one call's p50 / two ib_send_lat"], 2.0)
        self.assertAlmostEqual(
            ratios["64 in flight: calls/s / messages/s of ib_send_bw"], 2.0
        )
        put = 80 / (76.34 * 1.048576)
        self.assertAlmostEqual(ratios["put: MB/s / those of ib_send_bw"], put, places=3)
        self.assertAlmostEqual(ratios["RDMA / TCP: one call's p50"], 0.5)
        self.assertAlmostEqual(ratios["two rails / one: put, MB/s"], 1.5)
        self.assertEqual(len(whole["ratios"]), len(rdma_ratios.HELD))
        self.assertIn("at most 2", out)
        self.assertIn("2.00..2.00", out)

    def test_every_other_round_goes_the_other_way_round(self):
        options = rdma_bench.parse(["--rdma", "--rounds=2"])
        names = [name for _, name, _ in rdma_loads.plan(options)]
        self.assertEqual(names[:29], names[29:][::-1])
        self.assertEqual(set(names), set(rdma_ratios.TITLES))

    def test_iwarp_carries_nothing_of_brpc(self):
        options = rdma_bench.parse(["--rdma", "--rounds=1", "--driver=siw"])
        self.assertFalse([name for _, name, _ in rdma_loads.plan(options) if "brpc" in name])

    def test_on_brpcs_wire_each_end_is_what_its_row_says(self):
        steps = dict(rdma_loads.steps_of_round(rdma_bench.parse(["--rdma"])))
        for name, (server, client) in {
            "one_brpc_rdma": ("brpc_gate.py", "--peers_may_be_brpc"),
            "one_brpc_farcall_calls_rdma": ("peer.py", "--peers_may_be_brpc"),
            "some_brpc_peer_calls_rdma": ("echo_bench", "peer.py"),
        }.items():
            self.assertIn(server, " ".join(steps[name].server))
            self.assertIn(client, " ".join(steps[name].client))
            gate = "brpc_gate.py" in " ".join(steps[name].server)
            self.assertEqual(gate, name == "one_brpc_rdma")

    def test_calls_that_RDMA_did_not_carry_are_a_failure_that_tells_why(self):
        os.environ["FAKE_NO_RDMA"] = "1"
        code, _, err = self.run_main(rdma_bench.main, "--rdma", "--quick")
        self.assertEqual(code, 1)
        self.assertIn("was not carried by RDMA: no device", err)

    def test_what_was_measured_before_a_failure_is_shown(self):
        for name in ("FAKE_DIES", "FAKE_FAILS"):
            os.environ[name] = "2"
            code, out, err = self.run_main(rdma_bench.main, "--rdma", "--rounds=1")
            self.assertEqual(code, 1)
            self.assertIn("panicked" if name == "FAKE_DIES" else "connection reset", err)
            self.assertIn("ib_send_lat, 32 B", out)
            os.environ.pop(name)

    def test_wrong_arguments_are_one_line(self):
        for argument, message in (
            ("--cells=32x1", "does not go with --rdma"),
            ("--systems=grpc", "does not go with --rdma"),
            ("--driver=mlx5", "invalid choice"),
            ("--rounds=0", "from 1 to 1000"),
            ("--nonsense", "unrecognized"),
        ):
            code, _, err = self.run_main(rdma_bench.main, "--rdma", argument)
            self.assertEqual(code, 2, argument)
            self.assertIn(message, err)
            self.assertEqual(err.count("\n"), 1, err)


class QuickstartTest(RdmaTest):
    def test_a_row_has_both_transports_side_by_side(self):
        arguments = ("--rdma-vm", "--cells=32x1,1Mx8", "--driver=siw")
        code, out, err = self.run_main(rdma_quickstart.main, *arguments)
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count("rdma carries the calls"), 1)
        self.assertRegex(out, r"32 B +1 +2,444 +1,222 +64\.3 +129 ")
        self.assertRegex(out, r"1 MiB +8 ")

    def test_the_reason_is_told_where_TCP_carries_the_calls(self):
        os.environ["FAKE_NO_RDMA"] = "1"
        code, out, _ = self.run_main(rdma_quickstart.main, "--rdma-vm", "--cells=32x1")
        self.assertEqual(code, 0)
        self.assertIn("tcp carries the calls; rdma was asked for: no device", out)

    def test_json_has_every_report(self):
        path = os.path.join(self.folder, "q.json")
        code, _, err = self.run_main(
            rdma_quickstart.main, "--rdma-vm", "--cells=32x1", "--json", path
        )
        self.assertEqual(code, 0, err)
        transports = [row["transport"] for row in self.load("q.json")["rows"]]
        self.assertEqual(transports, ["rdma", "tcp"])

    def test_it_says_first_what_it_shows_and_last_what_to_do_next(self):
        _, out, _ = self.run_main(rdma_quickstart.main, "--rdma-vm", "--cells=32x1")
        self.assertLess(out.index("What it does not show: how fast RDMA is. rxe"),
                        out.index("calls/s"))  # fmt: skip
        self.assertGreater(out.index("next: "), out.index("2,444"))
        self.assertIn("docs/rdma.md", out[out.index("next: "):])

    def test_a_row_that_was_measured_for_longer_is_marked(self):
        os.environ["FAKE_SLOW"] = "1"
        code, out, err = self.run_main(rdma_quickstart.main, "--rdma-vm", "--cells=32x1,1Mx8")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"1 MiB +\*8 +2,444 ")
        self.assertEqual(out.count("*: measured for longer than 0.4 s"), 1)

    def test_a_row_that_fails_is_marked_and_the_others_are_measured(self):
        os.environ["FAKE_BREAKS"] = "2"
        code, out, _ = self.run_main(rdma_quickstart.main, "--rdma-vm", "--cells=32x1,4Kx1,1Mx8")
        self.assertEqual(code, 1)
        self.assertRegex(out, r"4 KiB +!1 +- +1,222 ")
        self.assertRegex(out, r"1 MiB +8 +2,444 ")
        self.assertIn("!: farcall over rdma (4 KiB x 1) in the guest: the calls moved", out)

    def test_a_load_without_calls_is_a_failure(self):
        os.environ["FAKE_IDLE"] = "1"
        code, out, _ = self.run_main(rdma_quickstart.main, "--rdma-vm", "--cells=32x1")
        self.assertEqual(code, 1)
        self.assertIn("reports 0 calls", out)

    def test_a_machine_that_dies_ends_it(self):
        os.environ["FAKE_DIES"] = "2"
        code, out, err = self.run_main(rdma_quickstart.main, "--rdma-vm", "--cells=32x1,1Mx8")
        self.assertEqual(code, 1)
        self.assertIn("panicked", err)
        self.assertRegex(out, r"32 B +1 +2,444 ")

    def test_options_that_make_no_sense_there_are_refused(self):
        code, _, err = self.run_main(rdma_quickstart.main, "--rdma-vm", "--plot=x.svg")
        self.assertEqual(code, 2)
        self.assertIn("--plot does not go with --rdma-vm", err)


class StepsTest(RdmaTest):
    def test_a_put_is_asked_for_and_both_ends_ask_for_rdma(self):
        step = echo_step("bin", Cell(32, 1 << 20, 8), "busy", True, 1, 0.2, put=True)
        self.assertIn("--put", step.client)
        self.assertIn("--use_rdma", step.client)
        self.assertIn("--use_rdma", step.server)
        self.assertNotIn("--put", step.server)
        # Every host sees the devices of all.
        self.assertEqual(step.client[:2], ["env", "FARCALL_RDMA_DEVICES=rdmaA,rdmaA2"])
        self.assertEqual(step.server[:2], ["env", "FARCALL_RDMA_DEVICES=rdmaB,rdmaB2"])
        step = echo_step("bin", Cell(32, 0, 1), "busy", False, 1, 0.2)
        self.assertNotIn("--use_rdma", step.client + step.server)

    def test_a_value_goes_into_the_servers_memory_where_both_ends_say_so(self):
        cell = Cell(32, 1 << 16, 8, way="put")
        step = echo_step("bin", cell, "busy", True, 1, 0.2, reads=True)
        for words in (step.client, step.server):
            self.assertIn("--way=put", words)
            self.assertIn("FARCALL_RDMA_READ_AT_LEAST=64KiB", words)
        step = echo_step("bin", cell, "busy", True, 1, 0.2)
        self.assertNotIn("READ_AT_LEAST", " ".join(step.client + step.server))

    def test_a_machine_that_ends_early_is_named_with_its_words(self):
        os.environ["FAKE_DIES"] = "0"
        with self.assertRaises(ChildFailed) as raised:
            list(run_steps([Step("a", ["s"], ["ib_send_lat"])], "rxe", self.machine))
        self.assertIn("the kernel panicked", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
