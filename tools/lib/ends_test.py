#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""tools/bench --rdma between two hosts or two pods: ssh and kubectl of our own run here what they
are asked to run there."""

import contextlib
import glob
import io
import json
import os
import tempfile
import unittest
import unittest.mock

import rdma_bench
from loads import perftest, rdma_loads
from rdma_test import BW, LAT

# Of both hosts: $ROOM/down-HOST makes one unreachable.
SSH = """#!/bin/bash
set -o pipefail
while [ "$1" != -- ]; do host=$1; shift; done
echo "$host $2" >>"$ROOM/ssh"
[ ! -e "$ROOM/down-$host" ] || { echo "ssh: $host: no route" >&2; exit 255; }
if [ -e "$ROOM/without" ]; then
  sh -c "$2" | sed -u "/^has $(cat "$ROOM/without")/d"
  exit
fi
exec sh -c "$2"
"""
KUBECTL = """#!/bin/sh
shift 2
echo "$*" >>"$ROOM/kubectl"
case $* in
  get\\ job*) cat "$ROOM/jobs" 2>/dev/null || true ;;
  get\\ pods\\ -l=job-name=*) echo "${3#*=*=}-x1 127.0.0.1 node-${3#*bench-}" ;;
  get\\ events*) echo "0/2 nodes have rdma" ;;
  wait*) [ ! -e "$ROOM/pending" ] || { echo "timed out" >&2; exit 1; } ;;
  apply*) cp "$3/kustomization.yaml" "$ROOM/applied"; realpath "$3/$(sed -n \
's/^resources: .\\(.*\\).$/\\1/p' "$3/kustomization.yaml")" >"$ROOM/base" ;;
  exec*) while [ "$1" != -- ]; do shift; done; shift; exec "$@" ;;
esac
"""
ECHO = """#!/bin/sh
echo "$FARCALL_RDMA_DEVICES $*" >>"$ROOM/echo"
[ ! -e "$ROOM/foreign" ] || { echo "libabsl: no such file" >&2; exit 127; }
case $* in
  --help) exit 1 ;;
  *--listen=*) echo "listening on 127.0.0.1:7"; cat ;;
  *) over=tcp; case $* in *--use_rdma*) over=rdma ;; esac
     [ ! -e "$ROOM/off" ] || over=tcp
     echo '{"transport": "'$over'", "calls": 9, "errors": 0, "qps": 2, "p50_us": 3, "p99_us": 4,
 "mb_per_s": 5, "client_cpu_us": 6, "server_cpu_us": 7, "why_not_rdma": "no device"}' | tr -d '\\n'
esac
"""


class EndsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.room = folder.name
        was = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(was)))
        os.environ.update(
            ROOM=self.room,
            PATH=os.path.join(self.room, "bin") + ":" + was["PATH"],
            SYS_INFINIBAND=os.path.join(self.room, "sys"),
        )
        # Fewer loads; and this perftest's clients need no server.
        for of, name, value in (
            (perftest, "_PAUSE", 0.01),
            (rdma_loads, "STORE", {"put_4k": rdma_loads.STORE["put_4k"]}),
        ):
            patch = unittest.mock.patch.object(of, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.fake("ssh", SSH)
        self.fake("kubectl", KUBECTL)
        self.fake("echo-bench", ECHO)
        self.fake("benchmarks/echo/echo_bench", ECHO)
        for program, output in (("ib_send_lat", LAT), ("ib_send_bw", BW), ("ib_read_bw", BW)):
            text = '#!/bin/sh\necho "$0 $*" >>"$ROOM/perftest"\ncat <<E\n%sE\n' % output
            self.fake(program, text)
        self.port("mlx5_0")

    def fake(self, name, text):
        path = os.path.join(self.room, "bin", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(path, 0o755)

    def port(self, device, **files):
        """A device of the fake /sys/class/infiniband."""
        words = {"state": "4: ACTIVE", "rate": "100 Gb/sec (4X EDR)", "link_layer": "Ethernet",
                 "gids/0": "fe80:0000:0000:0000:0000:0000:0000:0001",
                 "gids/1": "0000:0000:0000:0000:0000:ffff:7f00:0001", **files}  # fmt: skip
        for name, text in words.items():
            path = os.path.join(self.room, "sys", device, "ports/1", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write(text + "\n")
        with open(os.path.join(self.room, "sys", device, "fw_ver"), "w", encoding="utf-8") as out:
            out.write("16.35\n")

    def touch(self, name, text=""):
        with open(os.path.join(self.room, name), "w", encoding="utf-8") as out:
            out.write(text)

    def said(self, name):
        path = os.path.join(self.room, name)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as text:
            return text.read()

    def bench(self, *flags):
        """(exit code, standard output, standard error)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                argv = ["--rdma", "--bin", self.room + "/bin", "--rounds=1", *flags]
                code = rdma_bench.main(argv)
            except SystemExit as leave:
                code = leave.code
        return code, out.getvalue(), err.getvalue()


class HostsTest(EndsTest):
    def test_the_table_comes_with_what_it_was_measured_on(self):
        path = os.path.join(self.room, "out.json")
        code, out, err = self.bench("--hosts=alpha,beta", "--json", path)
        self.assertEqual(code, 0, err)
        self.assertRegex(out, "client on alpha: .*kernel " + os.uname().release)
        self.assertIn("  mlx5_0 port 1: Ethernet, 100 Gb/sec (4X EDR) (firmware 16.35)", out)
        self.assertIn("server at 127.0.0.1", out)
        self.assertIn("RDMA / TCP: one call's p50", out)
        self.assertNotIn("emulated", out)
        whole = json.loads(self.said("out.json"))
        self.assertEqual(len(whole["rows"]), 12)
        self.assertEqual(whole["machine"]["B"]["ports"][0]["rate"], "100 Gb/sec (4X EDR)")
        self.assertEqual(whole["machine"]["A"]["name"], "alpha")
        # One port: no second rail. And brpc's peer is none for adapters.
        self.assertFalse([row for row in whole["rows"] if "rails" in row["name"]
                          or "brpc" in row["name"]])  # fmt: skip

    def test_servers_are_on_the_second_host_and_nothing_stays_on_both(self):
        self.assertEqual(self.bench("--hosts=alpha,beta")[0], 0)
        lines = self.said("ssh").splitlines()
        self.assertTrue(all(line.startswith("beta ") for line in lines if "--listen=" in line))
        self.assertTrue(all(line.startswith("alpha ") for line in lines if "--server=" in line))
        for host in ("alpha", "beta"):
            removed = [line for line in lines if line.startswith(host + " rm -rf /tmp/farcall-b")]
            self.assertEqual(len(removed), 1)
            self.assertFalse(os.path.exists(removed[0].split()[-1]))

    def test_perftest_is_asked_for_the_device_by_rdma_cm(self):
        self.assertEqual(self.bench("--hosts=a,b")[0], 0)
        asked = "ib_send_lat -F -s 32 -n 2000 -d mlx5_0 -R 127.0.0.1\n"
        self.assertIn(asked, self.said("perftest"))
        self.touch("perftest")
        self.assertEqual(self.bench("--hosts=a,b", "--perftest_flags=-x 3")[0], 0)
        self.assertIn("-d mlx5_0 -x 3 127.0.0.1\n", self.said("perftest"))

    def test_what_is_missing_or_fails_is_named_and_the_rest_measured(self):
        self.fake("ib_read_bw", "#!/bin/sh\necho no such GID >&2\nexit 1\n")
        self.fake("ib_send_bw", "#!/bin/sh\necho nothing that is known\n")
        self.touch("without", "ib_send_lat")
        code, out, err = self.bench("--hosts=alpha,beta")
        self.assertEqual(code, 0, err)
        self.assertIn("left out: ib_send_lat: is not installed at both ends", out)
        self.assertRegex(out, "left out: ib_read_bw -s 65536: .* ended with 1: no such GID")
        self.assertIn("left out: ib_send_bw -s 32: printed no result", out)
        self.assertIn("farcall, put of 1 MiB x 8, RDMA", out)
        self.assertNotIn("two ib_send_lat", out)

    def test_a_second_port_is_a_second_rail_unless_devices_are_chosen(self):
        self.port("mlx5_1")
        code, out, err = self.bench("--hosts=a,b")
        self.assertEqual(code, 0, err)
        self.assertIn("RDMA over two cables", out)
        code, out, err = self.bench("--hosts=a,b", "--devices=mlx5_1,mlx5_0")
        self.assertEqual(code, 0, err)
        self.assertNotIn("RDMA over two cables", out)
        self.assertIn("mlx5_1 --server=", self.said("echo"))
        self.assertIn("mlx5_0 --listen=", self.said("echo"))

    def test_a_host_that_is_not_reached_ends_it_and_the_first_is_cleaned(self):
        self.touch("down-beta")
        code, out, err = self.bench("--hosts=alpha,beta")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("ssh to beta ended with 255", err)
        self.assertIn("ssh: beta: no route", err)
        self.assertIn("alpha rm -rf", self.said("ssh"))

    def test_a_program_that_does_not_start_there_is_told_with_the_cure(self):
        self.touch("foreign")
        code, _, err = self.bench("--hosts=alpha,beta")
        self.assertEqual(code, 1)
        self.assertIn("does not start on alpha: libabsl: no such file", err)
        self.assertIn("--installed", err)

    def test_installed_programs_are_used_and_nothing_is_copied(self):
        self.assertEqual(self.bench("--hosts=a,b", "--installed")[0], 0)
        self.assertNotIn("mktemp", self.said("ssh"))
        self.assertIn("echo-bench", self.said("ssh"))

    def test_ports_that_are_not_there_are_told(self):
        code, _, err = self.bench("--hosts=a,b", "--devices=mlx5_0,mlx5_7")
        self.assertEqual(code, 1)
        self.assertIn("b has no active RDMA port of mlx5_7", err)
        self.port("mlx5_0", state="1: DOWN")
        self.assertIn("a has no active RDMA port", self.bench("--hosts=a,b")[2])

    def test_without_an_address_among_the_gids_one_must_be_given(self):
        self.port("mlx5_0", **{"gids/1": "fe80:0000:0000:0000:0000:0000:0000:0002"})
        code, _, err = self.bench("--hosts=a,b")
        self.assertEqual(code, 1)
        self.assertIn("cure: --address", err)
        self.assertEqual(self.bench("--hosts=a,b", "--address=10.1.2.3")[0], 0)
        self.assertIn("--listen=10.1.2.3:0", self.said("echo"))

    def test_calls_that_RDMA_did_not_carry_are_a_failure(self):
        self.touch("off")
        code, _, err = self.bench("--hosts=a,b")
        self.assertEqual(code, 1)
        self.assertIn("was not carried by RDMA: no device", err)


class PodsTest(EndsTest):
    DELETED = "delete job/bench-client job/bench-server service/bench-server"

    def test_the_jobs_pods_are_made_to_sleep_used_and_deleted(self):
        code, out, err = self.bench("--pods")
        self.assertEqual(code, 0, err)
        self.assertIn("client on pod bench-client-x1 on node node-client: ", out)
        self.assertIn("value: [sleep, infinity]", self.said("applied"))
        self.assertTrue(self.said("base").endswith("/k8s/overlays/bench\n"), self.said("base"))
        lines = self.said("kubectl").splitlines()
        self.assertIn(self.DELETED, lines[-1])
        for word, pod in (("--listen=127.0.0.1:0", "server"), ("--server=", "client")):
            found = [line for line in lines if word in line]
            self.assertTrue(found)
            for line in found:
                self.assertTrue(line.startswith("exec -i bench-%s-x1 -c farcall --" % pod), line)
        self.assertNotIn(" -R", self.said("perftest"))

    def test_a_kustomization_of_ones_own_is_the_base(self):
        self.assertEqual(self.bench("--pods", self.room)[0], 0)
        self.assertEqual(self.said("base").strip(), os.path.realpath(self.room))

    def test_what_another_run_has_made_is_left_alone(self):
        self.touch("jobs", "job.batch/bench-server\n")
        code, _, err = self.bench("--pods")
        self.assertEqual(code, 1)
        self.assertIn("another run has made job.batch/bench-server", err)
        self.assertNotIn("delete", self.said("kubectl"))
        self.assertNotIn("apply", self.said("kubectl"))

    def test_pods_that_do_not_start_are_told_why_and_deleted(self):
        self.touch("pending")
        code, _, err = self.bench("--pods")
        self.assertEqual(code, 1)
        self.assertIn("0/2 nodes have rdma", err)
        self.assertIn(self.DELETED, self.said("kubectl").splitlines()[-1])


class ArgumentsTest(unittest.TestCase):
    def test_wrong_arguments_are_one_line(self):
        for arguments, message in (
            (["--hosts=a"], "is not two names"),
            (["--hosts=a,b", "--pods"], "--hosts does not go with --pods"),
            (["--hosts=a,b", "--driver=rxe"], "--driver does not go with"),
            (["--pods", "--installed"], "--installed goes with --hosts alone"),
            (["--address=10.0.0.1"], "--address goes with --hosts or --pods alone"),
        ):
            err = io.StringIO()
            with contextlib.redirect_stderr(err), self.assertRaises(SystemExit) as raised:
                rdma_bench.main(["--rdma", *arguments])
            self.assertEqual(raised.exception.code, 2, arguments)
            self.assertIn(message, err.getvalue())
            self.assertEqual(err.getvalue().count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
