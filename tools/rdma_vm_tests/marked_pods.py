# SPDX-License-Identifier: Apache-2.0
"""What tools/qos needs in the guest: pods as cgroups, a switch between hosts, and what a host
received, by its mark."""

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

from guest import Host, Late, Trouble, run
from peers import Program

HERE = os.path.dirname(os.path.realpath(__file__))
QOS = os.path.join(os.path.dirname(HERE), "qos", "qos")
CONFIGFS = "/run/configfs"
LIMIT = 60
GOLD, BULK = 26, 8
# Of the switch's network, by host.
SWITCHED = {"A": "10.8.8.1", "B": "10.8.8.2", "C": "10.8.8.3"}
# What has come to a host, by kind and mark. RoCE v2 is UDP to port 4791.
_KINDS = {"rdma": "udp dport 4791", "tcp": "meta l4proto tcp"}
_MARKS = {"gold": "ip dscp %d" % GOLD, "bulk": "ip dscp %d" % BULK, "other": ""}


def until(condition, what):
    """Waits for what another process does; returns what it got."""
    end = time.monotonic() + LIMIT
    while not (got := condition()):
        if time.monotonic() > end:
            raise Late("not within %d s: %s" % (LIMIT, what))
        time.sleep(0.05)
    return got


def _mounted(kind, path):
    """For this suite alone: `ip netns exec` gave it mounts of its own."""
    if not os.path.ismount(path):
        os.makedirs(path, exist_ok=True)
        run("mount", "-t", kind, "none", path)
    return path


def default_of(device):
    """rdma_cm's default type of service of a device that somebody has set or read."""
    path = "%s/rdma_cm/%s/ports/1/default_roce_tos" % (_mounted("configfs", CONFIGFS), device)
    with open(path, encoding="ascii") as file:
        return int(file.read())


def forget_defaults():
    rdma_cm = os.path.join(_mounted("configfs", CONFIGFS), "rdma_cm")
    for device in os.listdir(rdma_cm):
        with open("%s/%s/ports/1/default_roce_tos" % (rdma_cm, device), "w") as file:
            file.write("0")
        os.rmdir(os.path.join(rdma_cm, device))


class Pod:
    """A cgroup of the kubelet's form, whose processes are in a host's network."""

    def __init__(self, host, namespace):
        self.host, self.namespace, self.uid = host, namespace, str(uuid.uuid4())
        self._cgroup = os.path.join(_mounted("cgroup2", "/run/cgroups"), "pod" + self.uid)
        os.mkdir(self._cgroup)
        # As the container that holds a pod's network.
        self._holder = Program("pod on " + host.name, self.inside("sh", "-c", "echo; exec cat"))
        self._holder.__enter__()

    def before(self):
        """A command that runs another one, in the pod's cgroup."""
        return ("sh", "-c", 'echo $$ >"%s/cgroup.procs" && exec "$@"' % self._cgroup, "pod")

    def inside(self, *command):
        return self.host.inside(*self.before(), *command)

    def table(self):
        """Of qos, in its network; "": there is none."""
        listed = subprocess.run(
            self.host.inside("nft", "list", "table", "inet", "farcall_qos"),
            capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip
        return listed.stdout if listed.returncode == 0 else ""

    def end(self):
        self._holder.__exit__()
        path = os.path.join(self._cgroup, "cgroup.procs")
        until(lambda: not open(path, encoding="ascii").read(), "the end of its processes")
        os.rmdir(self._cgroup)


class Qos:
    """tools/qos of this node, with what the API server and the ConfigMap would tell it."""

    def __init__(self):
        self._room = tempfile.TemporaryDirectory()
        _mounted("configfs", CONFIGFS)
        os.mkdir(self._path("classes"))
        self.pods, self.labels = [], {}
        self._process = None
        self.write("gold", str(GOLD))
        self.write("bulk", "cs1")
        self.tell()

    def _path(self, name):
        return os.path.join(self._room.name, name)

    def _replace(self, name, text):
        with open(self._path("new"), "w", encoding="ascii") as file:
            file.write(text)
        os.rename(self._path("new"), self._path(name))

    def write(self, name, text):
        self._replace("classes/" + name, text)

    def tell(self):
        items = [{"kind": "Pod", "spec": {}, "metadata": {
            "uid": pod.uid, "name": pod.host.name, "namespace": pod.namespace}}
            for pod in self.pods]  # fmt: skip
        items += [{"kind": "Namespace", "metadata": {"name": name, "labels": labels}}
                  for name, labels in self.labels.items()]  # fmt: skip
        self._replace("pods", json.dumps({"items": items}))

    def pod(self, host, namespace):
        self.pods.append(Pod(host, namespace))
        self.tell()
        return self.pods[-1]

    def _words(self, *more):
        return [sys.executable, "-S", QOS, "--classes", self._path("classes"), "--pods",
                self._path("pods"), "--configfs", CONFIGFS, "--period", "0.3",
                *more]  # fmt: skip

    def start(self):
        """Until it has done what there was to do."""
        ready = self._path("ready")
        with contextlib.suppress(FileNotFoundError):
            os.remove(ready)
        with open(self._path("log"), "ab") as log:
            self._process = subprocess.Popen(
                self._words("--ready", ready), stdin=subprocess.DEVNULL, stderr=log
            )
        until(lambda: os.path.exists(ready) or self._process.poll() is not None, "qos is ready")
        if self._process.poll() is not None:
            raise Trouble("qos has ended: " + self.log())

    def log(self):
        with open(self._path("log"), encoding="utf-8") as file:
            return file.read()

    def end(self, number=signal.SIGTERM):
        self._process.send_signal(number)
        return self._process.wait(LIMIT)

    def clear(self):
        if self._process and self._process.poll() is None:
            self.end()
        for pod in self.pods:
            pod.end()
        forget_defaults()
        self._room.cleanup()


@contextlib.contextmanager
def qos():
    one = Qos()
    try:
        yield one
    finally:
        one.clear()


class Wire:
    """Counts what comes to a host by kind and mark."""

    def __init__(self, host):
        self._host = host
        names = [(kind, mark) for kind in _KINDS for mark in _MARKS]
        text = "table ip farcall_wire {\n"
        text += "".join("  counter %s_%s {}\n" % name for name in names)
        text += "  chain in {\n    type filter hook input priority 0;\n    iifname lo return\n"
        text += "".join("    %s %s counter name %s_%s return\n" % (
            _KINDS[kind], _MARKS[mark], kind, mark) for kind, mark in names)  # fmt: skip
        path = "/run/wire_" + self._host.name
        with open(path, "w", encoding="ascii") as file:
            file.write("add table ip farcall_wire\ndelete table ip farcall_wire\n")
            file.write(text + "  }\n}\n")
        self._host.run("nft", "-f", path)

    def seen(self):
        """{("tcp", "gold"): packets, ...} since the last look."""
        listed = json.loads(self._host.run("nft", "-j", "reset", "counters", "table", "ip",
                                           "farcall_wire"))  # fmt: skip
        counters = [part["counter"] for part in listed["nftables"] if "counter" in part]
        return {tuple(one["name"].split("_")): one["packets"] for one in counters
                if one["packets"]}  # fmt: skip

    def check(self, **marks):
        """Since the last look packets of these kinds came, each of them with this mark, and no
        others."""
        seen = self.seen()
        if set(seen) != set(marks.items()):
            raise Trouble("to %s came %s, not %s" % (self._host.name, seen, marks))


def socket_in(host, kind):
    """A socket of this process in a host's network. What it sends is of the host's pods."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", "rb") as own, open("/run/netns/" + host.name, "rb") as network:
        if libc.setns(network.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns to " + host.name)
        try:
            return socket.socket(socket.AF_INET, kind)
        finally:
            if libc.setns(own.fileno(), 0):
                os._exit(1)  # nothing that follows would be where it should be


def _batch(program, name, text):
    """Lines of ip or tc in a network namespace, by one process."""
    path = "/run/batch_" + name
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    run(program, "-n", name, "-batch", path)


def limit_links(rates, queue):
    """`rates`: Mbit/s of what leaves A and C, and of the switch's port to B, which has two queues
    by DSCP, of `queue` bytes each: 2:1 for gold is served first, 2:2 is for the rest."""
    run("modprobe", "-a", "sch_tbf", "sch_prio", "cls_u32")
    root = "qdisc add dev %s root handle 1: tbf rate %dmbit burst 8kb limit 1mb\n"
    for letter in "AC":
        _batch("tc", "host" + letter, root % ("sw" + letter, rates[letter]))
    port = "dev portB parent "
    _batch("tc", "switch", root % ("portB", rates["B"]) + (
        "qdisc add " + port + "1:1 handle 2: prio bands 2 priomap" + " 1" * 16 + "\n"
        "qdisc add " + port + "2:1 handle 10: bfifo limit %d\n" % queue +
        "qdisc add " + port + "2:2 handle 20: bfifo limit %d\n" % queue +
        "filter add " + port + "2: protocol ip u32 match ip tos 0x%x 0xfc flowid 2:1\n" % (
            GOLD << 2)))  # fmt: skip


def queues():
    """{"marked": (packets, drops), "other": ...} of the switch's port to B."""
    listed = json.loads(run("tc", "-n", "switch", "-s", "-j", "qdisc", "show", "dev", "portB"))
    by_handle = {one["handle"]: (one["packets"], one["drops"]) for one in listed}
    return {"marked": by_handle["10:"], "other": by_handle["20:"]}


@contextlib.contextmanager
def switch():
    """hostA, hostB and a hostC, which is yielded, at the ports portA, portB and portC of a
    switch."""
    run("modprobe", "-a", "bridge")
    for name in ("switch", "hostC"):
        run("ip", "netns", "add", name)
    try:
        # No packet is longer than the cable's: a queue's limit is of packets as they travel.
        text = "link add fabric type bridge\nlink set fabric up\n"
        for letter in SWITCHED:
            text += ("link add port%s gso_max_segs 1 type veth peer name sw%s gso_max_segs 1\n"
                     "link set sw%s netns host%s\nlink set port%s master fabric up\n" % (
                         (letter,) * 5))  # fmt: skip
        _batch("ip", "switch", text)
        for letter, address in SWITCHED.items():
            _batch("ip", "host" + letter, "address add %s/24 dev sw%s\nlink set sw%s up\n" % (
                address, letter, letter))  # fmt: skip
        yield Host("C")
    finally:
        for name in ("switch", "hostC"):
            run("ip", "netns", "delete", name)
