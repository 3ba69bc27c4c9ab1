#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Both scripts from their arguments to their files, on benchmarks that only pretend."""

import contextlib
import io
import json
import os
import re
import tempfile
import unittest

import bench
import quickstart
from loads.cells import Cell, Variant
from loads.echo_run import BINARIES, Setting, client_command, server_command
from loads.results import ROW_KEYS

# Speaks as the benchmarks do. QPS: farcall 400 k, gRPC 100 k, bare sockets 800 k.
FAKE = """#!/usr/bin/env -S python3 -B
import json, os, sys
flags = dict(a[2:].split("=", 1) for a in sys.argv[1:] if "=" in a)
if "listen" in flags:
    assert "--exit_with_stdin" in sys.argv
    print("listening on 127.0.0.1:7", flush=True)
    sys.stdin.read()
    sys.exit(0)
system = {"echo_bench": "farcall", "grpc_echo": "grpc", "raw_echo": "raw"}[
    os.path.basename(sys.argv[0])]
qps = {"farcall": 4e5, "grpc": 1e5, "raw": 8e5}[system]
if os.environ.get("FAKE_FAILS") == system:
    sys.exit("connection reset")
report = {key: int(flags[key]) for key in ("payload", "attachment", "in_flight", "connections")}
report.update(system=system, transport="tcp", polling=flags["polling"], qps=qps, calls=10,
              why_not_rdma="not built in" if "--use_rdma" in sys.argv else "",
              p50_us=1e6 / qps, p99_us=2e6 / qps, p999_us=3e6 / qps, mb_per_s=1.0,
              client_cpu_us=1.0, server_cpu_us=2.0,
              errors=1 if os.environ.get("FAKE_ERRS") == system else 0, first_error="refused")
print(json.dumps(report))
"""


CELL = Cell(payload=32, attachment=0, in_flight=1)


class ScriptTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for path in set(BINARIES.values()):
            full = os.path.join(self.folder, path)
            os.makedirs(os.path.dirname(full))
            with open(full, "w", encoding="utf-8") as out:
                out.write(FAKE)
            os.chmod(full, 0o755)

    def tearDown(self):
        for name in ("FAKE_FAILS", "FAKE_ERRS"):
            os.environ.pop(name, None)

    def run_main(self, main, *argv):
        """(exit code, standard output, standard error)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(["--bin", self.folder, *argv])
            except SystemExit as leave:
                code = leave.code
        return code, out.getvalue(), err.getvalue()

    def path(self, name):
        return os.path.join(self.folder, name)

    def load(self, name):
        with open(self.path(name), encoding="utf-8") as text:
            return json.load(text)


class BenchTest(ScriptTest):
    def test_all_systems_take_turns_and_end_in_tables_and_json(self):
        arguments = ("--rounds=2", "--cells=32x1,32+4Kx64", "--json", self.path("out.json"))
        code, out, err = self.run_main(bench.main, *arguments)
        self.assertEqual(code, 0, err)
        self.assertIn("farcall adaptive", out)
        self.assertIn("4.00 (4.00..4.00)", out)
        self.assertIn("0.500 (0.500..0.500)", out)
        self.assertIn("32 B + 4 KiB x 64", out)
        whole = self.load("out.json")
        self.assertEqual(len(whole["rows"]), 2 * 2 * 5)
        self.assertEqual(tuple(whole["rows"][0]), ROW_KEYS)
        self.assertEqual({row["round"] for row in whole["rows"]}, {1, 2})
        self.assertEqual(whole["method"]["rounds"], 2)
        self.assertIn("cpu", whole["machine"])
        # The second round goes the other way round.
        order = [row["system"] for row in whole["rows"] if row["in_flight"] == 1]
        self.assertEqual(order[:5], ["farcall", "pool", "grpc", "raw", "raw"])
        self.assertEqual(order[5:], ["raw", "raw", "grpc", "pool", "farcall"])

    def test_a_process_that_fails_is_named_and_what_was_measured_is_kept(self):
        os.environ["FAKE_FAILS"] = "grpc"
        arguments = ("--rounds=1", "--cells=32x1", "--json", self.path("out.json"))
        code, out, err = self.run_main(bench.main, *arguments)
        self.assertEqual(code, 1)
        self.assertIn("grpc's client (32 B x 1) ended with exit code 1", err)
        self.assertIn("connection reset", err)
        self.assertIn("farcall adaptive", out)
        self.assertEqual(len(self.load("out.json")["rows"]), 2)

    def test_errors_of_calls_are_a_failure(self):
        os.environ["FAKE_ERRS"] = "raw"
        code, _, err = self.run_main(bench.main, "--systems=raw", "--cells=32x1", "--rounds=1")
        self.assertEqual(code, 1)
        self.assertIn("reports 1 errors, the first: refused", err)

    def test_defaults_are_those_of_the_comparison(self):
        options = bench.parse([])
        self.assertEqual(options.rounds, 5)
        loads = ["32 B x 1 sync", "32 B x 16 sync", "32 B x 1", "32 B x 32", "32 B x 128"]
        loads += ["32 B + 4 KiB x 64", "32 B + 64 KiB x 8", "32 B + 1 MiB x 8", "64 KiB x 8"]
        stored = ["32 B + 4 KiB x 32", "32 B + 64 KiB x 8", "32 B + 1 MiB x 8"]
        loads += ["%s: %s" % (way, load) for way in ("put", "get") for load in stored]
        self.assertEqual([str(cell) for cell in options.cells], loads)
        systems = {variant.system for variant in options.variants}
        self.assertEqual(systems, {"farcall", "pool", "grpc", "raw"})

    def test_only_the_server_of_pool_runs_handlers_on_its_threads(self):
        commands = {
            system: (server_command(Setting("bin"), Variant(system, "adaptive"), "echo"),
                     client_command(Setting("bin"), Variant(system, "adaptive"), CELL, "a:1"))
            for system in ("farcall", "pool")
        }
        server, client = commands["pool"]
        self.assertEqual(server, commands["farcall"][0] + ["--handlers_on_pool"])
        self.assertEqual(client, commands["farcall"][1])

    def test_grpc_neither_puts_nor_gets(self):
        code, out, _ = self.run_main(bench.main, "--cells=32x1,put:32+1Kx1", "--rounds=1")
        self.assertEqual(code, 0)
        self.assertEqual(out.count("grpc "), 2)  # what it measured, and what is held against it
        self.assertIn("put: 32 B + 1 KiB x 1", out)

    def test_check_only_tells_what_to_build(self):
        code, out, _ = self.run_main(bench.main, "--check_only", "--systems=raw,grpc")
        self.assertEqual((code, out), (0, "raw grpc\n"))

    def test_wrong_arguments_are_one_line(self):
        for argument, message in (
            ("--rounds=0", "from 1 to 1000"),
            ("--cells=32", "is no cell"),
            ("--systems=brpc", "is no system"),
            ("--json=/nowhere/at/all.json", "no directory"),
            ("--nonsense", "unrecognized"),
        ):
            code, _, err = self.run_main(bench.main, argument)
            self.assertEqual(code, 2, argument)
            self.assertIn(message, err)
            self.assertEqual(err.count("\n"), 1)


class QuickstartTest(ScriptTest):
    def test_it_tells_the_transport_and_why_and_prints_a_row_for_each_load(self):
        code, out, err = self.run_main(quickstart.main, "--cells=32x1,1Mx8")
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count("tcp carries the calls; rdma was asked for: not built in"), 1)
        self.assertEqual(len(re.findall(r"^(32 B|1 MiB) .* 400,000 ", out, re.MULTILINE)), 2)
        self.assertGreater(out.index("next: "), out.rindex("400,000"))

    def test_json_and_plot_are_written_and_named(self):
        files = ("--json", self.path("q.json"), "--plot", self.path("q.svg"))
        code, out, err = self.run_main(quickstart.main, "--cells=32x1,32x8", *files)
        self.assertEqual(code, 0, err)
        self.assertEqual(len(self.load("q.json")["rows"]), 2)
        with open(self.path("q.svg"), encoding="utf-8") as svg:
            self.assertIn("farcall echo over tcp", svg.read())
        self.assertIn("q.svg", out)

    def test_a_failure_is_told_and_the_exit_code_is_1(self):
        os.environ["FAKE_FAILS"] = "farcall"
        code, _, err = self.run_main(quickstart.main, "--cells=32x1")
        self.assertEqual(code, 1)
        self.assertIn("connection reset", err)

    def test_check_only_asks_for_what_a_png_needs(self):
        png = ("--check_only", "--plot", self.path("x.PNG"))
        self.assertEqual(self.run_main(quickstart.main, *png)[1], "plot\n")
        self.assertEqual(self.run_main(quickstart.main, "--check_only")[1], "\n")

    def test_the_default_rows_take_well_under_20_seconds(self):
        options = quickstart.parse([])
        self.assertLess(len(options.cells) * (options.seconds + options.warmup), 12)
        self.assertIn(Cell(32, 0, 1), options.cells)


class HelpTest(unittest.TestCase):
    """--help is text of the shell scripts; the options are here."""

    def test_help_names_every_option(self):
        tools = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
        parts = {
            "bench": ("bench", "rdma_bench", "places/ends_options", "studies", "instructions",
                      "growth"),
            "quickstart": ("quickstart", "rdma_quickstart"),
        }
        for name in parts:
            with open(os.path.join(tools, name), encoding="utf-8") as script:
                shown = set(re.findall(r"^  (--[\w-]+)", script.read(), re.MULTILINE))
            known = set()
            for part in parts[name]:
                with open(os.path.join(tools, "lib", part + ".py"), encoding="utf-8") as code:
                    known |= set(re.findall(r'add\("(--[\w-]+)"', code.read()))
            self.assertEqual(known - shown, {"--check_only", "--bin"}, name)
            self.assertEqual(shown - known, set(), name)


if __name__ == "__main__":
    unittest.main()
