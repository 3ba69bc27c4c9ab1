# SPDX-License-Identifier: Apache-2.0
"""tools/qos between hosts: what leaves its pods is marked, over TCP and over RDMA, and a switch
that is congested drops nothing of it. And node_setup on a node."""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import suite
from guest import A, B, Trouble, run
from marked_pods import (BULK, GOLD, QOS, SWITCHED, Wire, default_of, forget_defaults, limit_links,
                         qos, queues, socket_in, switch, until)  # fmt: skip
from peers import Client, Program, Server

# Mbit/s: of A's cable, of the switch's port to B, and of what the third host sends, which is more
# than the port takes. Slow enough for emulated processors.
LINKS = {"A": 2, "B": 2, "C": 3}
# A flow has no more than its receiver's window on the way: what is not marked finds its queue full
# of the third host's packets, and what is marked cannot fill its own.
QUEUE = 48 * 1024
WINDOW = 8 * 1024
SECONDS = 2
# For a flow to begin, and to have lost something.
LIMIT = 60
PORT = 5201
NODE_SETUP = os.path.join(os.path.dirname(QOS), "node_setup", "node_setup")
FILES = ("/etc/modules-load.d/80-farcall.conf", "/etc/sysctl.d/80-farcall.conf",
         "/etc/systemd/system/pods.service.d/80-farcall.conf")


def _sink(host):
    """A listener; and what is sent there by UDP is taken by nobody, and is no error either."""
    listener, udp = socket_in(host, socket.SOCK_STREAM), socket_in(host, socket.SOCK_DGRAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WINDOW)
    listener.bind(("0.0.0.0", PORT))
    listener.listen()
    listener.settimeout(LIMIT)
    udp.bind(("0.0.0.0", PORT))
    return listener, udp


@contextlib.contextmanager
def _running(work):
    """work(stopped) in a thread of its own."""
    stopped = threading.Event()
    thread = threading.Thread(target=work, args=(stopped,))
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _drain(tcp, stopped):
    tcp.settimeout(0.2)
    while not stopped.is_set():
        with contextlib.suppress(TimeoutError):
            if not tcp.recv(65536):
                return


def _fill(host, address, stopped):
    with socket_in(host, socket.SOCK_DGRAM) as udp:
        # More than the switch's queue holds: the kernel counts until the packet is received.
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * QUEUE)
        while not stopped.is_set():
            udp.sendto(b"x" * 1400, (address, PORT))


def _told(tcp):
    """(segments sent again, bytes that arrived), of struct tcp_info."""
    info = tcp.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128)
    return struct.unpack_from("I", info, 100)[0], struct.unpack_from("Q", info, 120)[0]


def _carry(sink, host, address, seconds=0.0, least_again=0, least=20000, enough=lambda: True):
    """(Mbit/s, segments sent again) of one flow from a host to a sink: for so long, and until so
    many segments were sent again, so many bytes arrived, and it is enough()."""
    with socket_in(host, socket.SOCK_STREAM) as tcp:
        tcp.settimeout(LIMIT)
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        tcp.connect((address, PORT))
        far = sink[0].accept()[0]
        with far, _running(lambda stopped: _drain(far, stopped)):
            begin = time.monotonic()
            tcp.settimeout(0.2)
            while True:
                again, arrived = _told(tcp)
                passed = time.monotonic() - begin
                if (passed > seconds and again >= least_again and arrived >= least
                        and enough()):  # fmt: skip
                    return arrived * 8e-6 / passed, again
                if passed > LIMIT:
                    raise Trouble("%d bytes arrived, %d segments were sent again in %d s; the "
                                  "switch's (packets, drops): %s" % (
                        arrived, again, passed, queues()))  # fmt: skip
                with contextlib.suppress(TimeoutError):
                    tcp.send(b"x" * 16384)


def _drops_of_a_flow(sink, **flow):
    """(Mbit/s, segments sent again, {queue: (packets, drops)}) of a flow from A to B, which goes
    on until a packet without a mark was dropped."""
    before = queues()
    mbit, again = _carry(sink, A, SWITCHED["B"], SECONDS, **flow,
                         enough=lambda: queues()["other"][1] > before["other"][1])  # fmt: skip
    after = queues()
    return mbit, again, {name: tuple(b - a for a, b in zip(before[name], after[name]))
                         for name in before}  # fmt: skip


def a_congested_switch_drops_nothing_that_is_marked():
    """One flow of TCP, and a third host that fills the link: first the flow's namespace has no
    class, then it has one."""
    with switch() as third, qos() as classes:
        pod, wire, sink = classes.pod(A, "payments"), Wire(B), _sink(B)
        classes.start()
        limit_links(LINKS, QUEUE)
        with _running(lambda stopped: _fill(third, SWITCHED["B"], stopped)):
            until(lambda: queues()["other"][1] > 0, "the link is full")
            wire.seen()
            plain, plain_again, unmarked = _drops_of_a_flow(sink, least_again=1, least=0)
            wire.check(tcp="other")
            classes.labels = {"payments": {"farcall.dev/qos-class": "gold"}}
            classes.tell()
            until(pod.table, "a table for the pod")
            # What was sent before is through the switch, since the flow has ended.
            wire.seen()
            gold, gold_again, marked = _drops_of_a_flow(sink)
            wire.check(tcp="gold")
    told = "unmarked %.2f Mbit/s, %d sent again, %d dropped; marked %.2f Mbit/s, %d sent again, " \
        "%d of %d dropped, and %d of the others" % (
            plain, plain_again, unmarked["other"][1], gold, gold_again, marked["marked"][1],
            marked["marked"][0], marked["other"][1])  # fmt: skip
    suite.check(unmarked["marked"] == (0, 0), "marked before it has a class: " + told)
    suite.check(unmarked["other"][1] > 0, "no drops without a mark: " + told)
    suite.check(marked["marked"][0] > 14, "the marked queue was not used: " + told)
    suite.check(marked["marked"][1] == 0, "the marked queue dropped: " + told)
    suite.check(marked["other"][1] > 0, "there was no competition: " + told)
    return told


def _farcall(client, server):
    """Calls over RDMA from one pod to the other, as the admission policy sets up programs: each end
    marks what it sends."""
    def of(pod):
        dscp = GOLD if pod.namespace == "payments" else BULK
        return {"before": (*pod.before(), "env", "FARCALL_TRAFFIC_CLASS=%d" % (dscp << 2))}

    with Server(server.host, **of(server)) as serving:
        with Client(client.host, server.host.address(), "--use_rdma=true", **of(client)) as calls:
            calls.wait_for("rdma")
            calls.calls(10, 16384, 2)
            serving.check()


def _rping(client, server):
    """A program that knows nothing of farcall, by rdma_cm."""
    words = ("-a", server.host.address(), "-p", "7175", "-C", "5")
    serving = Program("rping", server.inside(
        "sh", "-c", 'rping -s "$@" & echo; wait $!', "rping", *words))  # fmt: skip
    with serving:
        until(lambda: "7175" in server.host.run("rdma", "resource", "show", "cm_id"), "rping")
        run(*client.inside("rping", "-c", *words), limit=60)


def two_namespaces_have_two_classes_on_the_wire():
    """TCP of a program that knows nothing of farcall, farcall over RDMA with its TCP, and rping,
    which rdma_cm gives the class of each end's device."""
    with qos() as classes:
        a, b = classes.pod(A, "payments"), classes.pod(B, "batch")
        classes.write("pods.json", json.dumps([{"class": "gold", "namespace": "payments"}]))
        classes.write("devices.json", json.dumps({A.device(): "gold", B.device(): "bulk"}))
        classes.labels = {"batch": {"farcall.dev/qos-class": "bulk"}}
        classes.tell()
        classes.start()
        near, far = Wire(A), Wire(B)
        _carry(_sink(B), A, B.address())
        near.check(tcp="bulk")
        far.check(tcp="gold")
        _farcall(a, b)
        near.check(tcp="bulk", rdma="bulk")
        far.check(tcp="gold", rdma="gold")
        _rping(a, b)
        near.check(rdma="bulk")
        far.check(rdma="gold")
        suite.check(classes.end() == 0, "qos does not end well: " + classes.log())
        for pod in (a, b):
            suite.check(not pod.table(), "a table is left in " + pod.host.name)
            suite.check(default_of(pod.host.device()) == 0, "rdma_cm's default is left")


def pods_come_and_go_and_qos_is_killed():
    """No mark is missing, and none is left over."""
    with switch() as third, qos() as classes:
        wire, sink = Wire(B), _sink(B)

        def sent(pod, mark):
            _carry(sink, pod.host, SWITCHED["B"])
            wire.check(tcp=mark)

        classes.write("pods.json", json.dumps([{"class": "gold", "namespace": "payments"}]))
        a = classes.pod(A, "payments")
        classes.start()
        sent(a, "gold")
        c = classes.pod(third, "payments")
        until(c.table, "a table for the new pod")
        sent(c, "gold")
        # It is gone for the API server, and its processes are still there.
        classes.pods.remove(c)
        classes.tell()
        until(lambda: not c.table(), "no table without a pod")
        sent(c, "other")
        c.end()
        suite.check(classes.end(signal.SIGKILL) == -signal.SIGKILL, "it was not killed")
        sent(a, "gold")
        c = classes.pod(third, "payments")
        a.namespace = "other"
        classes.tell()
        sent(c, "other")
        classes.start()
        sent(c, "gold")
        sent(a, "other")
        suite.check(classes.end() == 0, "qos does not end well: " + classes.log())
        for pod in (a, c):
            suite.check(not pod.table(), "a table is left in " + pod.host.name)
        sent(c, "other")


def node_setup_changes_what_the_node_has_and_tells_the_rest():
    """Dry first. Soft-RoCE has rdma_cm's default; its interface knows no Data Center Bridging."""
    device, pages = A.device(), "/proc/sys/vm/nr_hugepages"
    wanted = {"modules": ["sch_ingress"], "huge_pages_2mi": 4, "memlock_units": ["pods.service"],
              "adapters": {device: {
                  "dscp": GOLD, "lossless_priority": 3, "shares": {"0": 50, "3": 50}, "ecn": True,
                  "cnp_dscp": 48, "default_class": GOLD << 2,
                  "virtual_functions": 2}}}  # fmt: skip
    with open("/run/node.json", "w", encoding="ascii") as file:
        json.dump(wanted, file)

    def node_setup(*flags):
        done = subprocess.run(A.inside(
            "sh", "-c", 'mount -t configfs none /sys/kernel/config && exec "$@"', "sh",
            sys.executable, "-S", NODE_SETUP, "/run/node.json", *flags),
            capture_output=True, text=True, timeout=LIMIT, check=False)  # fmt: skip
        suite.check(done.returncode == 1, "exit status %d: %s" % (done.returncode, done))
        return done.stdout

    def has():
        with open(pages, encoding="ascii") as file:
            return (default_of(device), int(file.read()), os.path.exists("/sys/module/sch_ingress"),
                    *(os.path.exists(path) for path in FILES))  # fmt: skip

    try:
        dry = node_setup()
        suite.check(has() == (0, 0, False, False, False, False), "it is not dry: " + dry)
        for word in ("would do node: modprobe -a sch_ingress", "80-farcall.conf",
                     "default_roce_tos: 104", "6 steps to do"):  # fmt: skip
            suite.check(word in dry, "it does not say %s: %s" % (word, dry))
        said = node_setup("--apply")
        suite.check(has() == (GOLD << 2, 4, True, True, True, True), "%s: %s" % (has(), said))
        for what in ("PFC of priority 3: %s: dcb" % A.cable(), "DSCP 26 to priority 3", "shares",
                     "/sys/class/net/%s/ecn/roce_np/enable/3" % A.cable(), "DSCP of its CNPs",
                     "virtual functions"):  # fmt: skip
            suite.check("cannot: %s: %s" % (device, what) in said, "not %s: %s" % (what, said))
        again = node_setup("--apply")
        suite.check("\n0 steps, " in again and "did " not in again, "it is not done: " + again)
    finally:
        for path in FILES:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
        with open(pages, "w", encoding="ascii") as file:
            file.write("0")
        forget_defaults()


CASES = (
    node_setup_changes_what_the_node_has_and_tells_the_rest,
    two_namespaces_have_two_classes_on_the_wire,
    pods_come_and_go_and_qos_is_killed,
    a_congested_switch_drops_nothing_that_is_marked,
)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
