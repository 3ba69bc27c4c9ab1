# SPDX-License-Identifier: Apache-2.0
"""What one connection over two cables carries, each limited so that it and not the processor is the
limit, and how long it stops for a cut. By hand: on a busy machine times say little."""

import contextlib
import sys
import time

import suite
import two_rails
from guest import A, B, Trouble, run
from peers import Client, all_right

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
# Cuts of each cable, of which the best counts.
CUTS = 4


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


def _idle():
    """Of the machine's processors: time so far without work, and all time."""
    with open("/proc/stat", encoding="ascii") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return times[3] + times[4], sum(times)


class Speed:
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
    with two_rails.connected(SLOW_CABLES) as (_, two), Client(
        A, B.address(), only, before=SLOW_CABLES
    ) as one, _cables(first, second):
        one.wait_for("rdma")
        faster = CALLS * (first, second)[pair] // EQUAL
        alone = Speed(one, faster)
        both = Speed(two, faster * (first + second) // (first, second)[pair])
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


def _cuts(pair):
    told = []
    for _ in range(CUTS):
        stopped, usual = two_rails.cut(pair)
        told.append("%.0f ms (else %.0f ms)" % (1e3 * stopped, 1e3 * usual))
        if stopped <= 0.3:
            return ", ".join(told)
    raise Trouble("no call for " + ", ".join(told))


def a_cut_of_the_first_cable_stops_calls_for_300_ms_at_most():
    return _cuts(0)


def a_cut_of_the_second_cable_stops_calls_for_300_ms_at_most():
    return _cuts(1)


CASES = (
    two_equal_cables_carry_twice_as_much,
    unequal_cables_carry_their_sum,
    a_cut_of_the_first_cable_stops_calls_for_300_ms_at_most,
    a_cut_of_the_second_cable_stops_calls_for_300_ms_at_most,
)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
