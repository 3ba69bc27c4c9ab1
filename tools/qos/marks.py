# SPDX-License-Identifier: Apache-2.0
"""Pods as qos finds them, and a wire that counts what they send: namespaces and cgroups of a test.

Runs as the first process of a PID, network and mount namespace of its own: that is the node.
"""

import json
import os
import subprocess
import sys
import time
import uuid

PORT = 9999
PATIENCE = 60
# Sends by TCP and UDP, over IPv4 and IPv6, once for each line; the last UDP has ECT(0).
_POD = """
import socket, sys
for line in sys.stdin:
    for address in line.split():
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.create_connection((address, %d), timeout=30) as tcp:
            tcp.sendall(b"x" * 5000)
            tcp.shutdown(socket.SHUT_WR)
            assert tcp.recv(1) == b""
        with socket.socket(family, socket.SOCK_DGRAM) as udp:
            udp.sendto(b"y", (address, %d))
            if family == socket.AF_INET:
                udp.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
                udp.sendto(b"z", (address, %d))
    print("sent", flush=True)
""" % (PORT, PORT, PORT)
# Takes what comes, and answers each line with what it saw of TCP and UDP: {"SOURCE DSCP ECN": n}.
_SINK = """
import json, socket, sys, threading
sink = socket.create_server(("::", %d), family=socket.AF_INET6, dualstack_ipv6=True)
udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
udp.bind(("::", %d))
tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.ntohs(3))
tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
tap.setblocking(False)
def serve():
    while True:
        one, _ = sink.accept()
        while one.recv(65536):
            pass
        one.close()
threading.Thread(target=serve, daemon=True).start()
print("ready", flush=True)
seen = {}
def look(packet):
    if packet[0] >> 4 == 4 and packet[9] in (6, 17):
        source, tos = socket.inet_ntop(socket.AF_INET, packet[12:16]), packet[1]
    elif packet[0] >> 4 == 6 and packet[6] in (6, 17):
        source = socket.inet_ntop(socket.AF_INET6, packet[8:24])
        tos = (packet[0] & 15) << 4 | packet[1] >> 4
    else:
        return
    key = "%%s %%d %%d" %% (source, tos >> 2, tos & 3)
    seen[key] = seen.get(key, 0) + 1
for line in sys.stdin:
    try:
        while True:
            look(tap.recv(65536))
    except BlockingIOError:
        print(json.dumps(seen), flush=True)
""" % (PORT, PORT)


def run(*words, **more):
    result = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, **more)
    if result.returncode:
        raise RuntimeError("%s: %s" % (" ".join(words), result.stderr.strip()))
    return result.stdout


def until(condition, what):
    """Waits for what another process does."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError("not within %d s: %s" % (PATIENCE, what))
        time.sleep(0.05)


class Pod:
    """A process in a cgroup of the kubelet's form, with a network of its own or the node's."""

    def __init__(self, wire, number, namespace, own_network=True):
        self.uid = str(uuid.uuid4())
        self.number, self.namespace, self.own_network = number, namespace, own_network
        self.cgroup = os.path.join(wire.cgroups, "pod" + self.uid)
        self._wire = wire
        os.mkdir(self.cgroup)
        words = ["unshare", "--net", "--"] if own_network else []
        self._process = subprocess.Popen([*words, sys.executable, "-c", _POD], text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self._process.pid
        own = os.stat("/proc/1/ns/net").st_ino
        until(lambda: (os.stat("/proc/%d/ns/net" % self.pid).st_ino != own) == own_network,
              "the pod's network")
        wire.plug(self)
        # Last: qos sees it from now on.
        with open(os.path.join(self.cgroup, "cgroup.procs"), "w", encoding="ascii") as stream:
            stream.write(str(self.pid))

    def send(self):
        """{(DSCP, ECN): packets} of what came over the wire."""
        before = self._wire.counted(self)
        self._process.stdin.write(" ".join(self._wire.addresses(self)) + "\n")
        self._process.stdin.flush()
        if self._process.stdout.readline() != "sent\n":
            raise RuntimeError("pod %d does not send" % self.number)
        after = self._wire.counted(self)
        return {mark: count - before.get(mark, 0) for mark, count in after.items()
                if count > before.get(mark, 0)}

    def table(self):
        """Whether qos's table is in its network."""
        result = subprocess.run(
            ["nsenter", "--net=/proc/%d/ns/net" % self.pid, "nft", "list", "table", "inet",
             "farcall_qos"], capture_output=True, text=True, timeout=PATIENCE)
        return result.stdout if result.returncode == 0 else ""

    def end(self):
        self._process.kill()
        self._process.communicate()
        until(lambda: not open(os.path.join(self.cgroup, "cgroup.procs")).read(), "its end")
        os.rmdir(self.cgroup)


class Wire:
    """The other ends of all pods' cables, in a network of its own, with a counter by DSCP each."""

    def __init__(self):
        run("mount", "--make-rprivate", "/")
        run("mount", "-t", "cgroup2", "none", "/sys/fs/cgroup")
        run("ip", "link", "set", "lo", "up")
        self.cgroups = "/sys/fs/cgroup/farcall-qos-%d-%s" % (os.getpid(), uuid.uuid4().hex[:8])
        os.mkdir(self.cgroups)
        self._sink = subprocess.Popen(["unshare", "--net", "--", sys.executable, "-c", _SINK],
                                      text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._sink.stdout.readline()
        self._inside = ["nsenter", "--net=/proc/%d/ns/net" % self._sink.pid]
        run(*self._inside, "ip", "link", "set", "lo", "up")

    def addresses(self, pod, end=1):
        return "10.99.%d.%d" % (pod.number, end), "fd99:%d::%d" % (pod.number, end)

    def plug(self, pod):
        """A cable from the wire's end (1) to the pod's (2)."""
        name = "pod%d" % pod.number
        run("ip", "link", "add", name, "type", "veth", "peer", "name", "w%d" % pod.number)
        run("ip", "link", "set", "w%d" % pod.number, "netns", str(self._sink.pid))
        inside = []
        if pod.own_network:
            run("ip", "link", "set", name, "netns", str(pod.pid))
            inside = ["nsenter", "--net=/proc/%d/ns/net" % pod.pid]
        for words, device, end in ((self._inside, "w%d" % pod.number, 1), (inside, name, 2)):
            for address, bits in zip(self.addresses(pod, end), ("24", "64")):
                run(*words, "ip", "address", "add", "%s/%s" % (address, bits), "dev", device,
                    *(["nodad"] if ":" in address else []))
            run(*words, "ip", "link", "set", device, "up")

    def counted(self, pod):
        """{(DSCP, ECN): packets} from this pod."""
        self._sink.stdin.write("\n")
        self._sink.stdin.flush()
        found = {}
        for key, count in json.loads(self._sink.stdout.readline()).items():
            source, dscp, ecn = key.split()
            if source in self.addresses(pod, 2):
                mark = int(dscp), int(ecn)
                found[mark] = found.get(mark, 0) + count
        return found

    def end(self):
        self._sink.kill()
        self._sink.communicate()
        os.rmdir(self.cgroups)
