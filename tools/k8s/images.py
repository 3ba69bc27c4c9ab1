# SPDX-License-Identifier: Apache-2.0
"""What the images hold, and that their programs run as the manifests run them.

  images.py IMAGE ROOT DESCRIPTION   farcall or debug; where it is mounted; as buildah inspects it
"""

import contextlib
import json
import os
import re
import socket
import stat
import sys
import urllib.request

from cases import Trouble, need, run_cases
from container import Container, signal_first_process
from world import Farcall, load_overlays

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
MIB = 1 << 20
# Of all files, of which a slim Debian has 75 MiB.
LIMITS = {"farcall": 110 * MIB, "debug": 210 * MIB}
TOOLS = ("curl", "ethtool", "ib_write_bw", "ib_write_lat", "ibstat", "ibv_devinfo",
         "ibv_rc_pingpong", "ip", "lspci", "numactl", "ping", "rdma", "rping", "ss")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def walk(root):
    """(path in the image, its status) of everything."""
    for where, directories, names in os.walk(root):
        for name in directories + names:
            path = os.path.join(where, name)
            yield path[len(root):], os.lstat(path)


def has_capabilities(path):
    """capabilities(7): those of a file, which setcap gives it."""
    return "security.capability" in os.listxattr(path, follow_symlinks=False)


class Contents:
    """Cases that look at the files."""

    def __init__(self, name, container):
        self.name = name
        self.container = container
        self.files = list(walk(container.root))
        self.programs = Farcall(ROOT).programs

    def cases(self):
        return [(case.__name__.replace("_", "-"), case) for case in (
            self.size, self.no_setuid, self.nothing_left, self.programs_are_there, self.libraries,
            self.rdma_libraries)]

    def size(self):
        seen = {status.st_ino: status.st_size for _, status in self.files
                if stat.S_ISREG(status.st_mode)}
        total, limit = sum(seen.values()), LIMITS[self.name]
        print("k8s: image %s: %d MiB" % (self.name, total // MIB), flush=True)
        need(total <= limit, "%d MiB, more than %d" % (total // MIB, limit // MIB))

    def no_setuid(self):
        found = [path for path, status in self.files if stat.S_ISREG(status.st_mode) and
                 (status.st_mode & 0o6000 or has_capabilities(self.container.root + path))]
        need(not found, "these raise privileges: %s" % found)

    def nothing_left(self):
        bad = re.compile(r"_history$|^/(root|tmp|src|out|var/lib/apt/lists|var/cache)/[^.]|/\.git/"
                         r"|^/home/.|\.(key|pyc)$")
        found = [path for path, _ in self.files if bad.search(path)]
        need(not found, "left over: %s" % found[:5])

    def programs_are_there(self):
        present = os.listdir(os.path.join(self.container.root, "usr/local/bin"))
        need(sorted(present) == sorted(self.programs), "there are %s" % sorted(present))

    def libraries(self):
        for name in self.programs:
            path = "/usr/local/bin/" + name
            with open(self.container.root + path, "rb") as stream:
                if stream.read(4) == b"\x7fELF":
                    found = self.container.output(["ldd", path])
                    need("not found" not in found and "libc.so.6" in found, name + ": " + found)

    def rdma_libraries(self):
        present = " ".join(path for path, _ in self.files)
        for library in ("libibverbs.so.1", "librdmacm.so.1", "libmlx5.so.1", "libmlx5-rdmav34.so"):
            need("/" + library in present, "no " + library)


class Runs:
    """Cases that run what the manifests run."""

    def __init__(self, container):
        self.container = container
        self.overlays = load_overlays(os.path.join(ROOT, "k8s", "rendered"))

    def cases(self):
        return [(case.__name__.replace("_", "-"), case) for case in (
            self.user, self.read_only_root, self.added_capability, self.default_command,
            self.serves_tcp_only, self.serves_shared_hca, self.bench_over_tcp, self.bench_table,
            self.doctor, self.inventory)]

    def user(self):
        need(self.container.user == 65532, "user %s" % self.container.user)
        need(self.container.output(["id", "-u"]).strip() == "65532", "id says another")

    def read_only_root(self):
        for user in (0, 65532):
            status, _, errors = self.container.run(["touch", "/x"], user=user)
            need(status and ("Read-only" in errors or user), errors)

    def added_capability(self):
        """components/rdma: what is added is in effect for uid 0, and for nobody else."""
        for user, wanted in ((0, 1 << 14), (65532, 0)):
            text = self.container.output(["grep", "CapEff", "/proc/self/status"], user=user,
                                         capabilities=["IPC_LOCK"])
            need(int(text.split()[1], 16) == wanted, "uid %d: %s" % (user, text))

    @contextlib.contextmanager
    def server(self, command, **how):
        """Its address. It must stop in order when it is told to."""
        port = free_port()
        words = [word.replace("0.0.0.0:8002", "127.0.0.1:%d" % port) for word in command]
        if words == command:
            words.append("--listen=127.0.0.1:%d" % port)
        process = self.container.start(words, **how)
        try:
            line = process.stdout.readline()
            if not line.startswith("listening on "):
                process.kill()
                raise Trouble("%s: %s" % (words, line + process.communicate()[1]))
            yield line.split()[-1]
            signal_first_process(process)
            _, errors = process.communicate(timeout=20)
            need(process.returncode == 0, "%s ended with %d: %s" % (
                words[0], process.returncode, errors))
        finally:
            process.kill()
            process.communicate()

    def calls_and_pages(self, address):
        with urllib.request.urlopen("http://%s/health" % address, timeout=10) as answer:
            need(answer.status == 200, "/health: %s" % answer.status)
        call = ["farcall", "call", address, "example.EchoService.Echo", '{"message": "hi"}']
        need('"hi"' in self.container.output(call), "no echo")

    def default_command(self):
        need(self.container.command == ["echo-server"], "%s" % self.container.command)
        with self.server(self.container.command) as address:
            self.calls_and_pages(address)

    def serves(self, overlay, **how):
        parts = self.overlays[overlay].pods()[0].containers[0]
        with self.server(parts["command"] + parts["args"], **how) as address:
            self.calls_and_pages(address)

    def serves_tcp_only(self):
        self.serves("tcp-only", environment={"FARCALL_TRAFFIC_CLASS": ""})

    def serves_shared_hca(self):
        """The pod that has no device is ready all the same."""
        self.serves("shared-hca", user=0, capabilities=["IPC_LOCK"],
                    environment={"FARCALL_TRAFFIC_CLASS": "104"})

    def bench_over_tcp(self):
        with self.server(["echo-bench", "--use_rdma"]) as address:
            report = json.loads(self.container.output(
                ["echo-bench", "--server=" + address, "--seconds=0.3", "--use_rdma", "--json=-"]))
        need(report["errors"] == 0, "%s" % report)
        need(report["transport"] == "tcp" and "RDMA device" in report["why_not_rdma"], str(report))

    def bench_table(self):
        """overlays/bench: both Jobs, in short."""
        how = {"environment": {"BENCH_PORT": str(free_port()), "IDLE": "10", "SECONDS_EACH": "0.2",
                               "CELLS": "32x1 32+4096x8"}}
        server = self.container.start(["farcall-bench", "server"], **how)
        try:
            out = self.container.output(["farcall-bench", "client", "127.0.0.1"], **how)
            # By itself, once it sees that the client has gone.
            server.communicate(timeout=60)
            need(server.returncode == 0, "the server ended with %d" % server.returncode)
        finally:
            server.kill()
            server.communicate()
        lines = out.splitlines()
        rows = [line.split() for line in lines[1:5]]
        need([row[:3] for row in rows] == [
            ["32", "1", "tcp"], ["32", "1", "tcp*"],
            ["32+4096", "8", "tcp"], ["32+4096", "8", "tcp*"]], out)
        # How fast is no question for a test, nor whether anything ends within so short a time.
        need(all(float(figure) >= 0 for row in rows for figure in row[3:7]), out)
        need("* not rdma because: " in out, out)
        parts = json.loads(lines[-1])
        need([part["asked"] for part in parts["echo"]] == ["tcp", "rdma"] * 2, lines[-1])
        need(parts["perftest"] == [] and parts["why_not_rdma"], lines[-1])

    def doctor(self):
        status, out, errors = self.container.run(["doctor"])
        need(status == 2, "status %d: %s%s" % (status, out, errors))
        need("device" in out, out)
        status, out, errors = self.container.run(["doctor", "--json"])
        need(status == 2 and json.loads(out), "status %d: %s%s" % (status, out, errors))

    def inventory(self):
        """overlays/inventory: a line of JSON for the node, which gen_selectors reads again."""
        pod = self.overlays["inventory"].pods()[0].containers[0]
        words = pod["args"][0].replace("/host", "/").replace("exec sleep infinity", "")
        ready = " ".join(pod["readinessProbe"]["exec"]["command"])
        line = self.container.output(pod["command"] + [words + ready],
                                     environment={"NODE_NAME": "n1"})
        need("n1" in line and json.loads(line), line)
        status, _, _ = self.container.run(["sh", "-c", ready])
        need(status, "it is ready before it has read the node")
        table = 'echo "$0" | gen_selectors --from - --format table'
        out = self.container.output(["sh", "-c", table, line.strip()])
        need("no node has an RDMA device" in out, out)
        status, _, errors = self.container.run(["gen_selectors"])
        need(status == 1, "nothing to select, and status %d: %s" % (status, errors))


class Tools:
    """Cases of what only the debug image has."""

    def __init__(self, container):
        self.container = container

    def cases(self):
        return [("tools", self.tools), ("perftest-says-no-device", self.perftest)]

    def tools(self):
        script = 'for name; do command -v "$name" >/dev/null || echo "$name"; done'
        missing = self.container.output(["sh", "-c", script, "sh", *TOOLS])
        need(not missing.split(), "missing: %s" % missing)

    def perftest(self):
        status, out, errors = self.container.run(["ib_write_bw", "-F"])
        need(status and "Unable to find the Infiniband" in out + errors, out + errors)


def main(name, root, description):
    container = Container(root, json.loads(description)["OCIv1"]["config"])
    parts = [Contents(name, container)]
    parts.append(Runs(container) if name == "farcall" else Tools(container))
    return run_cases("image-" + name, [case for part in parts for case in part.cases()])


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
