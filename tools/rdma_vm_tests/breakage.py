# SPDX-License-Identifier: Apache-2.0
"""What breaks in running traffic, and comes back: calls both ways move to TCP and return to
RDMA by themselves, each executed once, its reason told, nothing left behind. Calls over TCP
take the second cable, so that only RDMA is hit."""

import contextlib
import os
import signal
import sys
import time

import stopped
import suite
from guest import A, B, REMOVAL_LIMIT, begin, finish, run
from peers import PORT, SET_UP, Client, Server
from traffic import BACK, FIRST, SIZES, Held, Traffic, mended_by

# Why calls travel over TCP when a device or its way is gone: what broke is told first, then
# what the next attempts meet with.
GONE = ("broken", "peer_has_none", "no_device", "no_active_port", "no_address", "unreachable",
        "timed_out", "rejected", "device_excluded")  # fmt: skip


def _timed(removal):
    """Seconds, as text."""
    started = time.monotonic()
    removal()
    return "%.2f" % (time.monotonic() - started)


def _remove(*hosts, pair=0):
    told = [_timed(lambda host=host: host.remove_device(pair)) for host in hosts]
    return "removed within %s s" % ", ".join(told)


def _add(*hosts, pair=0):
    for host in hosts:
        if not host.has_device(pair):
            host.add_device(pair)


# Another name for the device of B.
OTHER = "other"
# Several cases use the same processes, which is most of their time; none is left by a failure.
_shared = []


def _end_shared():
    while _shared:
        _shared.pop().__exit__()


@contextlib.contextmanager
def _traffic():
    if not _shared:
        _shared.append(Traffic().__enter__())
    try:
        _shared[0].start()
        yield _shared[0]
        _shared[0].finish()
    except BaseException:
        _end_shared()
        raise


def _through(hit, mend, reasons=GONE):
    """Traffic falls back to TCP after `hit`, and returns to RDMA after `mend`."""
    with _traffic() as traffic:
        with mended_by(mend):
            hit()
            told = traffic.falls_back(reasons)
        traffic.comes_back()
    return " and ".join(sorted(told))


def queue_pairs_break():
    """First those of the server, then those of the client."""
    with _traffic() as traffic:
        for peer in (traffic.server, traffic.client):
            broken = int(peer.ask("break")["queue_pairs"])
            suite.check(broken > 0, "no queue pair broke")
            # A connection may have been on its way back when they broke.
            traffic.falls_back(("broken",), (traffic.client,), min(broken, traffic.CONNECTIONS))
            traffic.comes_back()


def a_client_is_killed():
    """The server has nothing of it left, and serves the others."""
    _end_shared()
    with Server(B, *FIRST) as server, Client(A, B.address(1), *FIRST) as first:
        first.wait_for("rdma")
        first.calls(4, 100000, 2)
        held = Held(B, server)
        with Client(A, B.address(1), "--connections=8", *FIRST) as client:
            client.wait_for("rdma")
            client.start_load(SIZES, 4)
            client.wait_for_calls(30)
            os.kill(client.pid(), signal.SIGKILL)
            held.settles()
        first.calls(10, 100000, 2)
        suite.check(server.check()["doubled"] == 0, "calls came twice")


def a_server_is_killed():
    """Calls fail while there is none, and go on by RDMA with the next one."""
    with Client(A, B.address(1), "--connections=4", "--timeout_ms=8000", *FIRST) as client:
        with Server(B, *FIRST) as server:
            client.wait_for("rdma")
            client.start_load(SIZES, 2)
            client.wait_for_calls(30)
            os.kill(server.pid(), signal.SIGKILL)
            client.wait_for("failed")
        counts = client.ask("stop")
        suite.check(counts["wrong"] == "0", "wrong answers: %s" % counts)
        with Server(B, *FIRST) as server:
            client.wait_for("rdma")
            client.calls(10, 100000, 2)
            server.check()


def the_port_goes_down_and_up():
    return _through(
        lambda: B.run("ip", "link", "set", B.cable(), "down"),
        lambda: B.run("ip", "link", "set", B.cable(), "up"),
    )


def packets_of_rdma_are_lost():
    """No device says a word; the link's own watch does."""
    return _through(lambda: B.lose_rdma(PORT), B.lose_nothing,
                    ("broken", "timed_out", "unreachable"))  # fmt: skip


def removed_at_both_ends():
    told = []
    with _traffic() as traffic, mended_by(lambda: _add(A, B)):
        told.append(_remove(A, B))
        traffic.falls_back(GONE)
    return told[0]


@contextlib.contextmanager
def _only_device_of_b():
    """Of all the guest, since librdmacm sees those of both hosts."""
    _end_shared()

    def mend():
        if os.path.exists("/sys/class/infiniband/" + OTHER):
            run("rdma", "link", "delete", OTHER)
        _add(A, B)
        _add(A, B, pair=1)

    with mended_by(mend):
        _remove(A, B, pair=1)
        _remove(A)
        yield


def the_only_device_is_removed():
    """It comes back with its name, then with another."""
    told = []
    devices = "--devices=%s,%s" % (B.device(), OTHER)
    with _only_device_of_b(), Server(B, devices) as server, Client(
        B, B.address(), devices, "--connections=4"
    ) as client:
        client.wait_for("rdma")
        client.calls(4, 100000, 2)
        held = Held(B, server, client)
        for former, name in ((B.device(), B.device()), (B.device(), OTHER), (OTHER, B.device())):
            client.start_load(SIZES, 2)
            client.wait_for_calls(10)
            with mended_by(lambda name=name: B.add_device(name=name)):
                told.append(_timed(lambda former=former: B.remove_device(name=former)))
                client.wait_for("tcp")
                client.wait_for_calls(10)
                client.stop_load()
            client.wait_for("rdma", BACK)
            client.calls(4, 100000, 2)
            held.settles(name)
        stats = server.check()
        made = int(client.ask("made")["calls"])
        suite.check(stats["calls"] == made, "%d calls were made: %s" % (made, stats))
    return "removed within %s s" % ", ".join(told)


def removed_while_nothing_uses_it():
    """A server that nobody calls and a client between calls hold the only device of the guest."""
    with _only_device_of_b(), Server(B) as server, Client(B, B.address()) as client:
        client.wait_for("rdma")
        client.ask("open 0")
        time.sleep(1.5)  # queue pairs live a second beyond their connections
        told = _remove(B)
        B.add_device()
        client.ask("open 2")
        client.wait_for("rdma")
        client.calls(4, 100000, 2)
        server.check()
    return told


def the_address_changes():
    """The server offers what is its own now."""
    there, other = B.address() + "/24", "10.9.0.22/24"

    def move(former, new):
        B.run("ip", "addr", "del", former, "dev", B.cable())
        B.run("ip", "addr", "add", new, "dev", B.cable())

    reasons = ("broken", "timed_out", "unreachable", "peer_has_none")
    with _traffic() as traffic:
        with mended_by(lambda: move(other, there)):
            move(there, other)
            traffic.falls_back(reasons)
            traffic.comes_back()
        # Over TCP a link-local GID may have been taken, which is the same with either address.
        if SET_UP != "tcp":
            traffic.falls_back(reasons)
        traffic.comes_back()


def devices_are_plugged_in():
    """Both hosts begin without: new connections use what comes, without a restart."""
    _end_shared()
    _remove(A, B)
    _remove(A, B, pair=1)
    with mended_by(lambda: _add(A, B, pair=1)), Server(B) as server, Client(
        A, B.address(1)
    ) as client:
        client.wait_for("no_device")
        client.calls(4, 100000, 2)
        _add(A, B)
        client.ask("open 2")
        client.wait_for("rdma")
        client.calls(4, 100000, 2)
        server.check()


def the_netdev_is_deleted():
    """And with it the cable and both devices, for good. RDMA is on the second pair, TCP on
    the first; the last case, since nobody makes the cable again. What is timed is the processes'
    part of it: the kernel also waits for grace periods, half a minute once."""
    _end_shared()
    with Traffic("--devices=rdmaA2,rdmaB2", tcp=0, pair=1) as traffic:
        files = [host.device_file(1) for host in (A, B)]
        traffic.start()
        deletion = begin(*B.inside("ip", "link", "delete", B.cable(1)))
        told = _timed(lambda: traffic.lets_go(files))
        traffic.falls_back(GONE)
        finish(deletion, REMOVAL_LIMIT)
        traffic.stop()
        traffic.has_no_blocks()
        traffic.check()
    return "let go within %s s" % told


CASES = (
    *stopped.CASES,
    the_port_goes_down_and_up,
    # rdma_peer breaks those that librdmacm has made.
    *((queue_pairs_break,) if SET_UP != "tcp" else ()),
    packets_of_rdma_are_lost,
    removed_at_both_ends,
    the_address_changes,
    a_client_is_killed,
    a_server_is_killed,
    the_only_device_is_removed,
    removed_while_nothing_uses_it,
    devices_are_plugged_in,
    the_netdev_is_deleted,
)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
