# SPDX-License-Identifier: Apache-2.0
"""Echo and attachments over RDMA between two hosts, every byte verified at both ends."""

import os

import suite
from counters import Seen
from guest import A, B
from peers import Client, Server

MIB = 1 << 20


def _carried(count, size, in_flight=4, connections=1, flags=()):
    """`count` calls on each connection with `size` bytes attached, all by RDMA."""
    with Server(B, *flags) as server, Client(
        A, B.address(), "--connections=%d" % connections, *flags
    ) as client:
        client.wait_for("rdma")
        near, far = Seen(A), Seen(B)
        client.calls(count, size, in_flight)
        # There and back.
        total = 2 * count * size * connections
        near.check_rdma(total)
        far.check_rdma(total)
        server.check()


def small_calls():
    _carried(320, 0, in_flight=32)


def attachments_at_every_edge():
    """Around what goes inline, fills a packet, a receive block, several of them."""
    sizes = (1, 31, 32, 33, 200, 4000, 4095, 4096, 4097, 16383, 16384, 16385)
    sizes += (65400, 65527, 65528, 65529, 65535, 65536, 65537, 131071, 131073, 300000)
    with Server(B) as server, Client(A, B.address()) as client:
        client.wait_for("rdma")
        seen = Seen(A)
        for size in sizes:
            client.calls(4, size, 2)
        seen.check_rdma(2 * 4 * sum(sizes))
        server.check()


def attachments_of_1_mib():
    _carried(16, MIB, in_flight=4)


def attachments_of_64_mib():
    _carried(1, 64 * MIB, in_flight=1)


def connections_64():
    _carried(6, 4096, in_flight=2, connections=64)


def several_loops():
    _carried(8, 20000, in_flight=4, connections=8, flags=("--threads=2",))


def event_polling():
    _carried(50, 4096, flags=("--polling=event",))


def busy_polling():
    _carried(16, 4096, flags=("--polling=busy",))


def handlers_on_threads():
    _carried(50, 4096, flags=("--handler_threads=2",))


def upgrade_under_load():
    """Calls start on TCP and move to RDMA while they run."""
    with Server(B) as server, Client(A, B.address(), "--connections=8") as client:
        client.start_load(20000, 4)
        client.wait_for("rdma")
        client.wait_for_calls(200)
        counts = client.stop_load()
        suite.check(int(counts["rdma"]) >= 200, "few calls went by RDMA: %s" % counts)
        stats = server.check()
        suite.check(stats["calls"] >= int(counts["ok"]), "calls are missing: %s" % stats)


def connections_come_and_go():
    with Server(B) as server, Client(A, B.address()) as client:
        for _ in range(4):
            client.ask("open 4")
            client.wait_for("rdma")
            client.calls(4, 5000, 2)
        server.check()


def _left_to_children(pid):
    """What of a process an execve(2) would not close, and of what kinds all are."""
    left, kinds = [], set()
    for number in os.listdir("/proc/%d/fd" % pid):
        try:
            with open("/proc/%d/fdinfo/%s" % (pid, number), encoding="utf-8") as info:
                flags = next(line for line in info if line.startswith("flags:"))
            kind = os.readlink("/proc/%d/fd/%s" % (pid, number))
        except FileNotFoundError:
            continue  # closed meanwhile
        kinds.add(kind)
        if int(number) > 2 and not int(flags.split()[1], 8) & os.O_CLOEXEC:
            left.append("%s: %s" % (number, kind))
    return left, kinds


def nothing_is_left_to_a_program_that_is_executed():
    """Also of what the RDMA libraries and the kernel open for a device, a queue, events."""
    with Server(B) as server, Client(A, B.address()) as client:
        client.wait_for("rdma")
        for peer in (server, client):
            left, kinds = _left_to_children(peer.pid())
            suite.check(not left, "not close-on-exec: %s" % ", ".join(left))
            for word in ("/dev/infiniband/uverbs", "/dev/infiniband/rdma_cm", "infinibandevent"):
                suite.check(any(word in kind for kind in kinds),
                            "no descriptor of %s: %s" % (word, sorted(kinds)))  # fmt: skip
        server.check()


CASES = (
    small_calls,
    attachments_at_every_edge,
    attachments_of_1_mib,
    attachments_of_64_mib,
    connections_64,
    several_loops,
    event_polling,
    busy_polling,
    handlers_on_threads,
    upgrade_under_load,
    connections_come_and_go,
    nothing_is_left_to_a_program_that_is_executed,
)
