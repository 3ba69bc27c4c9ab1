# SPDX-License-Identifier: Apache-2.0
"""One connection over both cables at once, each limited so that it and not the processor is the
limit."""

import contextlib
import sys
import time

import suite
from guest import A, B, Trouble, run
from peers import PORT, Client, Server, all_right
from traffic import BACK

# Mbit/s of a cable: both together are a quarter of what the emulated processors carry.
EQUAL = 4
SLOW, FAST = 4, 16
# Of one direction, so that acknowledgements of the other one wait for nothing: the requests have
# these bytes, the answers none. The server checks each byte.
SIZE = 20000
IN_FLIGHT = 24
# What one of EQUAL carries in 3 s.
CALLS = 75
TURNS = 8
# Cables that are a thousand times slower than others take smaller slices. And packets wait on them
# for longer than the 268 ms after which a RoCE device sends everything again, and than the 75 ms
# after which a rail counts as still.
SLOW_CABLES = (
    "env",
    "FARCALL_RDMA_ACK_TIMEOUT=19",
    "FARCALL_LINK_LEAST_SLICE=16384",
    "FARCALL_LINK_PROGRESS_TIMEOUT=4s",
)
RAILS = "--rails=2"
DEVICES = "--devices=rdmaA,rdmaB,rdmaA2,rdmaB2"


@contextlib.contextmanager
def _cables(first, second):
    """Both directions of each cable carry so many Mbit/s."""
    run("modprobe", "-a", "sch_tbf")
    limited = []
    try:
        for pair, rate in ((0, first), (1, second)):
            for host in (A, B):
                host.run("tc", "qdisc", "add", "dev", host.cable(pair), "root", "tbf",
                         "rate", "%dmbit" % rate, "burst", "32kb", "limit", "4mb")  # fmt: skip
                limited.append((host, pair))
        yield
    finally:
        for host, pair in limited:
            host.run("tc", "qdisc", "del", "dev", host.cable(pair), "root")


def _wait_for_rails(client, seconds=BACK):
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
def _peers(before=()):
    with Server(B, DEVICES, before=before) as server, Client(
        A, B.address(), DEVICES, RAILS, before=before
    ) as client:
        client.wait_for("rdma", 60)
        _wait_for_rails(client)
        yield server, client
        server.check()


def _idle():
    """Of the machine's processors: time so far without work, and all time."""
    with open("/proc/stat", encoding="ascii") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return times[3] + times[4], sum(times)


class _Speed:
    """The best of some measures. No cable carries more than it can, so whatever else the machine
    does makes a measure worse; and each is of whole calls, from the first to the end of the last,
    so that none is too good."""

    def __init__(self, client, calls):
        self._client = client
        self._calls = calls
        self.best = 0.0
        self._all = []

    def measure(self):
        idle, began = _idle(), time.monotonic()
        all_right(self._client.ask("calls %d %d %d 0" % (self._calls, SIZE, IN_FLIGHT), 120))
        rate = self._calls * SIZE * 8e-6 / (time.monotonic() - began)
        now = _idle()
        share = 100 * (now[0] - idle[0]) / max(1, now[1] - idle[1])
        self._all.append("%.1f (%.0f%% idle)" % (rate, share))
        self.best = max(self.best, rate)

    def __str__(self):
        return "%.1f Mbit/s, the best of %s" % (self.best, ", ".join(self._all))


def _compare(first, second, pair, times):
    """Both cables, of such rates, carry so many times what one of them does."""
    only = "--devices=" + ",".join(host.device(pair) for host in (A, B))
    with _peers(SLOW_CABLES) as (_, two), Client(
        A, B.address(), only, before=SLOW_CABLES
    ) as one, _cables(first, second):
        one.wait_for("rdma", 60)
        faster = CALLS * (first, second)[pair] // EQUAL
        alone = _Speed(one, faster)
        both = _Speed(two, faster * (first + second) // (first, second)[pair])
        for _ in range(TURNS):
            alone.measure()
            both.measure()
            if both.best >= times * alone.best:
                break
        told = "%.2f times as much: both %s; one %s" % (both.best / alone.best, both, alone)
        suite.check(both.best >= times * alone.best, told)
        return told


def two_equal_cables_carry_twice_as_much():
    return _compare(EQUAL, EQUAL, 0, 1.9)


def unequal_cables_carry_their_sum():
    """What one carries of its rate, with headers and all, is what both can."""
    return _compare(SLOW, FAST, 1, 0.9 * (SLOW + FAST) / FAST)


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


def _cut(pair):
    """Calls over TCP are on the first cable: only RDMA is hit there."""
    with _peers() as (server, client):
        client.start_load(20000, 4)
        client.wait_for_calls(100)
        usual = _longest_stop(client, 2)
        B.lose_rdma(PORT, pair)
        try:
            stopped = _longest_stop(client, 3)
            client.wait_for_calls(100)
        finally:
            B.lose_nothing()
        _wait_for_rails(client, 2 * BACK)
        counts = client.stop_load()
        server.check()
        suite.check(counts["tcp"] == "0", "calls went by TCP: %s" % counts)
        told = "%.0f ms without a call, else %.0f ms" % (1e3 * stopped, 1e3 * usual)
        suite.check(stopped <= 0.3 + usual, told)
        return told


def the_first_cable_is_cut_under_load():
    return _cut(0)


def the_second_cable_is_cut_under_load():
    return _cut(1)


CASES = (
    two_equal_cables_carry_twice_as_much,
    unequal_cables_carry_their_sum,
    the_first_cable_is_cut_under_load,
    the_second_cable_is_cut_under_load,
)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
