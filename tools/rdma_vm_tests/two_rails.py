# SPDX-License-Identifier: Apache-2.0
"""A connection with a rail over each of two cables, one of which is cut and comes back: what suites
share."""

import contextlib
import time

import suite
from guest import A, B, Trouble
from peers import PORT, Client, Server
from traffic import BACK

DEVICES = "--devices=rdmaA,rdmaB,rdmaA2,rdmaB2"
# As little as can be is bulk, so that all calls are spread.
SPREAD = ("env", "FARCALL_LINK_LEAST_SLICE=4096")
SIZE = 20000
IN_FLIGHT = 4


def wait_for_rails(client, seconds=BACK):
    """One over each cable, as it is to be."""
    end = time.monotonic() + seconds
    while True:
        state = client.ask("state")
        if sorted(state["over"].split(",")) == ["rdmaA", "rdmaA2"]:
            return
        if time.monotonic() > end:
            raise Trouble("waited %d s for a rail over each cable: %s; log: %s"
                          % (seconds, state, client.log()[-1500:]))  # fmt: skip
        time.sleep(0.1)


@contextlib.contextmanager
def connected(before):
    with Server(B, DEVICES, before=before) as server, Client(
        A, B.address(), DEVICES, "--rails=2", before=before
    ) as client:
        client.wait_for("rdma")
        wait_for_rails(client)
        yield server, client
        server.check()


def _longest_stop(client, seconds):
    """Without a call that ended, in seconds of a load."""
    longest, last = 0.0, time.monotonic()
    count = int(client.ask("progress")["ok"])
    end = last + seconds
    while time.monotonic() < end:
        now_count, now = int(client.ask("progress")["ok"]), time.monotonic()
        if now_count != count:
            longest, last, count = max(longest, now - last), now, now_count
        time.sleep(0.005)
    return max(longest, time.monotonic() - last)


def _sent(pair):
    """Bytes over a cable, both ways."""
    path = "/sys/class/net/%s/statistics/tx_bytes"
    return sum(int(host.run("cat", path % host.cable(pair))) for host in (A, B))


def _wait_for_bytes(client, pair):
    """Until the cable carries a part that counts: rails of which the processor is the limit take
    any. Returns the longest stop."""
    end = time.monotonic() + BACK
    while True:
        before, sent = int(client.ask("progress")["ok"]), _sent(pair)
        usual = _longest_stop(client, 1)
        calls = int(client.ask("progress")["ok"]) - before
        carried = (_sent(pair) - sent) / (max(calls, 1) * SIZE * 2)
        if carried >= 0.2:
            return usual
        suite.check(time.monotonic() < end, "only %.2f of the bytes are on the cable" % carried)


def cut(pair):
    """How long no call ended, and how long none does without a cut: seconds. Calls over TCP are on
    the first cable: only RDMA is hit there."""
    with connected(SPREAD) as (server, client):
        client.start_load(SIZE, IN_FLIGHT)
        client.wait_for_calls(100)
        usual = _wait_for_bytes(client, pair)
        B.lose_rdma(PORT, pair)
        try:
            stopped = _longest_stop(client, 3)
            client.wait_for_calls(100)
        finally:
            B.lose_nothing()
        wait_for_rails(client, 2 * BACK)
        counts = client.stop_load()
        made, stats = int(client.ask("made")["calls"]), server.check()
        suite.check(stats["calls"] == made, "%d calls were made: %s" % (made, stats))
        suite.check(counts["tcp"] == "0", "calls went by TCP: %s" % counts)
        return stopped, usual
