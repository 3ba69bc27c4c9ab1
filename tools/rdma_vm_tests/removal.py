# SPDX-License-Identifier: Apache-2.0
"""Devices that are removed and ways that are cut: no call is lost or doubled. Calls over TCP
take the second cable, so that only RDMA is hit."""

import sys
import time

import suite
from counters import Seen
from guest import A, B, DRIVER
from peers import PORT, Client, Server
from traffic import BACK, FIRST, mended_by

SIZE = 50000
# Half of the answers are fetched by RDMA READ, where the device has memory windows.
READ = "--read_at_least=4096"


def _pair(*flags, connections=4):
    server = Server(B, *flags)
    return server, Client(A, B.address(1), "--connections=%d" % connections, *flags)


def _with_load(hit, mend, *flags, times=1):
    """Calls go on by TCP after `hit`; after `mend` RDMA comes back, each time. Returns how soon."""
    told = []
    server, client = _pair(*flags)
    with server, client:
        client.wait_for("rdma")
        for _ in range(times):
            client.start_load(SIZE, 4)
            client.wait_for_calls(50)
            with mended_by(mend):
                hit()
                client.wait_for_calls(300, 90)
                state = client.ask("state")
            mended = time.monotonic()
            counts = client.stop_load()
            suite.check(int(counts["tcp"]) > 0, "no call went by TCP: %s" % counts)
            fetched = DRIVER == "rxe" and READ in flags
            suite.check((state["fetched"] != "0") == fetched, "bytes fetched: %s" % state)
            client.calls(10, SIZE, 2)
            server.check()
            client.wait_for("rdma", BACK)
            told.append("%.1f" % (time.monotonic() - mended))
            client.calls(10, SIZE, 2)
            server.check()
    return "back within %s s" % ", ".join(told)


def removed_before_the_upgrade():
    """The server was started with a device that is gone when the client comes."""
    server, client = _pair(*FIRST)
    with server:
        B.remove_device()
        with mended_by(B.add_device), client:
            client.wait_for("tcp")
            seen = Seen(A)
            client.calls(10, SIZE, 2)
            seen.check_tcp(2 * 10 * SIZE)
            server.check()


def removed_during_the_upgrade():
    """32 connections are under way to RDMA, with calls on them, when the device goes."""
    server, client = _pair(*FIRST, connections=32)
    with server, client:
        client.start_load(5000, 1)
        with mended_by(B.add_device):
            B.remove_device()
            client.wait_for_calls(200, 90)
            client.stop_load()
            server.check()


def removed_at_the_server():
    return _with_load(B.remove_device, B.add_device, *FIRST)


def removed_at_the_client():
    return _with_load(A.remove_device, A.add_device, *FIRST)


def removed_with_its_memory_open():
    """Memory windows are bound at the server, and the client reads by them."""
    return _with_load(B.remove_device, B.add_device, READ, *FIRST, times=3)


def removed_while_it_reads():
    return _with_load(A.remove_device, A.add_device, READ, *FIRST, times=3)


def another_device_takes_over():
    """Both pairs may be used: the calls return to RDMA though the first stays away."""
    server, client = _pair()
    with server, client:
        client.wait_for("rdma")
        client.start_load(SIZE, 2)
        client.wait_for_calls(50)
        with mended_by(B.add_device):
            B.remove_device()
            client.wait_for_calls(100, 90)
            client.stop_load()
            client.wait_for("rdma")
            client.calls(10, SIZE, 2)
            server.check()


def cut_for_rdma_alone():
    """Packets of RDMA are lost in silence; the device tells late or never."""
    return _with_load(lambda: B.drop_rdma(PORT), B.drop_nothing, *FIRST)


CASES = (
    removed_before_the_upgrade,
    removed_during_the_upgrade,
    removed_at_the_server,
    removed_at_the_client,
    another_device_takes_over,
    cut_for_rdma_alone,
)
# Soft-iWARP has no such windows: there it would be the same once more.
if DRIVER == "rxe":
    CASES += (removed_with_its_memory_open, removed_while_it_reads)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
