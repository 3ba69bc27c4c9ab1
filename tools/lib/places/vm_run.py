# SPDX-License-Identifier: Apache-2.0
"""Servers and clients on the two hosts of tools/rdma_vm, step by step."""

import dataclasses
import json
import os
import subprocess
import tempfile

from places.children import ChildFailed, pinned
from places.guest_steps import LONGER


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a server and a client run, by the names of their ends: "A" has the client."""

    address: str  # of the server
    settings: dict  # what farcall finds in its environment
    cores: dict  # of each side; none: any
    perftest: dict  # flags
    programs: dict = None  # the echo benchmark, where it is not below bazel-bin
    go_on: bool = False  # where perftest fails, the next step is done

    def host(self):
        return "[%s]" % self.address if ":" in self.address else self.address


SERVER_ADDRESS = "10.9.0.2"
VM = Place(
    SERVER_ADDRESS,
    # Each host sees the devices of both, but has the addresses of its own only. And setting up
    # takes seconds beside a busy loop on the same core: it must not be given up for the next
    # address.
    settings={
        host: (
            "FARCALL_RDMA_DEVICES=rdma%s,rdma%s2" % (host, host),
            "FARCALL_RDMA_CONNECT_TIMEOUT=20s",
            "FARCALL_LINK_DIAL=60s",
        )
        for host in "AB"
    },
    cores={"A": [1], "B": [0]},
    # By rdma_cm, without which it cannot use iWARP.
    perftest={"A": ("-R",), "B": ("-R",)},
)
# brpc's queue pairs are set up without rdma_cm.
_BRPC = ("FARCALL_RDMA_SET_UP=auto",)
# Both ends want it.
_READS = ("FARCALL_RDMA_READ_AT_LEAST=64KiB",)
_HERE = os.path.dirname(os.path.realpath(__file__))
_TOOLS = os.path.dirname(os.path.dirname(_HERE))
_GATE = os.path.join(_HERE, "brpc_gate.py")
_PEER = os.path.join(_TOOLS, "rdma_vm_tests", "brpc_peer", "peer.py")
_GUEST = os.path.join(_HERE, "guest_steps.py")


def _settings(place, host, brpc, reads):
    return ("env",) + place.settings[host] + _BRPC * brpc + _READS * reads


@dataclasses.dataclass(frozen=True)
class Step:
    """A server and a client; "@" in the client's words becomes the server's address."""

    name: str  # for errors
    server: list
    client: list
    limit: float = 60  # seconds of the client, in the guest
    pause: float = 0  # seconds before the client, for servers that announce nothing
    enough: int = 0  # calls; a client that reports fewer measures again, for longer
    go_on: bool = False  # where it fails, the next step is done


def planned(step, place):
    """As guest_steps.py takes it."""
    return {
        "server": pinned(step.server, place.cores["B"]),
        "client": pinned(step.client, place.cores["A"]),
        "limit": step.limit,
        "pause": step.pause,
        "enough": step.enough,
        "go_on": step.go_on,
    }


def vm_command(driver, limit, plan, vm=None, pairs=1):
    vm = vm or os.path.join(_TOOLS, "rdma_vm")
    command = [vm, "--two-hosts", "--pairs", "%d" % pairs, "--driver", driver]
    command += ["--timeout", "%d" % limit]
    return command + ["--", "python3", "-B", _GUEST, plan]


def run_steps(steps, driver, vm=None, pairs=1):
    """Yields (step, the client's output), each as soon as it is there. Of a step that failed, and
    after which the others go on, the output is a ChildFailed. `pairs`: cables between the hosts."""
    limit = 60 + sum(3 * (step.limit + step.pause) for step in steps)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as stderr:
        # The guest sees the host's files as they were when it started.
        plan = os.path.join(folder, "plan.json")
        with open(plan, "w", encoding="utf-8") as out:
            json.dump([planned(step, VM) for step in steps], out)
        command = vm_command(driver, min(limit, 86400), plan, vm, pairs)
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr
        )
        try:
            for step in steps:
                yield step, _output(step, process, command, stderr)
            process.wait(60)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
            process.stdout.close()


def _output(step, process, command, stderr):
    line = process.stdout.readline()
    result = {}
    if line.strip():
        try:
            result = json.loads(line)
        except ValueError:
            result = {"error": "printed no JSON: %s" % line.decode(errors="replace").strip()}
    if result:
        return output_of(step, result, "in the guest: ")
    stderr.seek(0)
    said = stderr.read().decode(errors="replace")
    raise ChildFailed(step.name, command, "ended with the machine (%s)" % process.wait(), said)


def output_of(step, result, where):
    """Of what guest_steps.py tells of a step."""
    if "output" in result:
        return result["output"]
    what = "%s%s\n  its server: %s" % (where, result["error"], result.get("server_log"))
    failed = ChildFailed(step.name, step.client, what, "")
    if step.go_on:
        return failed
    raise failed


def report_of(step, output):
    """The JSON that a benchmark's client prints as its last line."""
    if isinstance(output, ChildFailed):
        raise output
    try:
        report = json.loads(output.strip().rpartition("\n")[2])
    except ValueError:
        raise ChildFailed(step.name, step.client, "printed no JSON", output) from None
    if report.get("errors") or not report.get("calls"):
        what = "reports %s calls and %s errors, the first: %s" % (
            report.get("calls"),
            report.get("errors"),
            report.get("first_error"),
        )
        raise ChildFailed(step.name, step.client, what, "")
    return report


def echo_step(bin_dir, cell, polling, rdma, seconds, warmup, connections=1, threads=1, put=False,
              enough=0, go_on=False, rails=False, brpc=False, gate=False, reads=False,
              place=VM):  # fmt: skip
    """A load of the echo benchmark between the hosts; `put`: nothing beside the answers, `rails`:
    over all cables at once; `brpc`: by brpc's RDMA; `gate`: the server hides that it is of farcall,
    so that its client says brpc's hello; `reads`: from 64 KiB on by RDMA READ."""
    built = os.path.join(bin_dir, "benchmarks/echo/echo_bench")
    programs = place.programs or {"A": built, "B": built}
    both = ["--polling=" + polling, "--threads=%d" % threads]
    both += ["--use_rdma"] if rdma else []
    both += ["--way=" + cell.way] if cell.way != "echo" else []
    client = [programs["A"], "--server=@", "--json=-", *both]
    client += ["--payload=%d" % cell.payload, "--attachment=%d" % cell.attachment]
    client += ["--in_flight=%d" % cell.in_flight, "--connections=%d" % connections]
    client += ["--seconds=%g" % seconds, "--warmup=%g" % warmup]
    client += ["--put"] if put else []
    client += ["--synchronous"] if cell.synchronous else []
    client = ["FARCALL_RDMA_RAILS=all", *client] if rails else client
    client += ["--peers_may_be_brpc"] if brpc else []
    server = [programs["B"], "--listen=%s:0" % place.host(), "--exit_with_stdin", *both]
    server = ["python3", "-B", _GATE, *server] if gate else server
    client = [*_settings(place, "A", brpc, reads), *client]
    server = [*_settings(place, "B", brpc, reads), *server]
    name = "farcall over %s (%s%s)" % ("rdma" if rdma else "tcp", "put of " * put, cell)
    name += " with rails" * rails + " on brpc's wire" * brpc + " by RDMA READ" * reads
    # To connect, to set RDMA up and to end; all is slower there.
    longest = seconds * (LONGER[-1] if enough else 1)
    return Step(name, server, client, 10 * (longest + warmup) + 60, enough=enough, go_on=go_on)


def _peer(host, mode, *flags):
    where = ["--device=rdma" + host, "--address=10.9.0.%d" % (1 if host == "A" else 2)]
    # That of Debian, which has pyverbs.
    return ["/usr/bin/python3", "-B", _PEER, mode, *where, *flags]


def peer_step(bin_dir, cell, calls, seconds, warmup):
    """The same load between farcall and the peer in Python that speaks brpc's RDMA; `calls`: which
    of both does."""
    theirs = echo_step(bin_dir, cell, "busy", True, seconds, warmup, brpc=True)
    server, client = theirs.server, theirs.client
    if calls == "farcall":
        server = _peer("B", "server", "--listen=%s:8002" % SERVER_ADDRESS)
    else:
        client = _peer("A", "bench", "--server=@", "--payload=%d" % cell.payload)
        client += ["--in_flight=%d" % cell.in_flight, "--seconds=%g" % seconds]
        client += ["--warmup=%g" % warmup]
    return Step("%s calls on brpc's wire (%s)" % (calls, cell), server, client, theirs.limit)
