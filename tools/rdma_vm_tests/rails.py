# SPDX-License-Identifier: Apache-2.0
"""One connection over both cables at once, each limited so that it and not the processor is the
limit."""

import contextlib
import statistics
import sys
import time

import suite
from guest import A, B, Trouble, run
from peers import PORT, Client, Server
from traffic import BACK

# Mbit/s of a cable, each way: less than half of what an emulated processor carries over both.
EQUAL = 8
# The slower one has to bring a message, 64 KiB, within the 75 ms after which a rail counts as
# still: 7 Mbit/s.
SLOW, FAST = 10, 40
# Enough for both directions to be filled while the machine is busy elsewhere for a moment.
SIZE = 100000
IN_FLIGHT = 12
SECONDS = 5
MEASURES = 3
# An acknowledgement waits behind all that is in flight the other way, for longer than the 268 ms
# after which a RoCE device sends everything again; and cables that are a thousand times slower than
# others take smaller slices.
SLOW_CABLES = ("env", "FARCALL_RDMA_ACK_TIMEOUT=19", "FARCALL_LINK_LEAST_SLICE=16384")
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
                         "rate", "%dmbit" % rate, "burst", "16kb", "limit", "4mb")  # fmt: skip
                limited.append((host, pair))
        yield
    finally:
        for host, pair in limited:
            host.run("tc", "qdisc", "del", "dev", host.cable(pair), "root")


def _wait_for_rails(client, count, seconds=BACK):
    end = time.monotonic() + seconds
    while True:
        state = client.ask("state")
        if int(state["rails"]) == count:
            return
        if time.monotonic() > end:
            raise Trouble("waited %d s for %d rails: %s" % (seconds, count, state))
        time.sleep(0.1)


@contextlib.contextmanager
def _peers(*flags, before=()):
    with Server(B, DEVICES, before=before) as server, Client(
        A, B.address(), DEVICES, *flags, before=before
    ) as client:
        client.wait_for("rdma", 60)
        yield server, client
        server.check()


def _megabits(client):
    """Each way, of verified calls in SECONDS; the median of MEASURES."""
    client.start_load(SIZE, IN_FLIGHT)
    client.wait_for_calls(2 * IN_FLIGHT, 60)
    measured = []
    for _ in range(MEASURES):
        was, then = int(client.ask("progress")["ok"]), time.monotonic()
        time.sleep(SECONDS)
        calls = int(client.ask("progress")["ok"]) - was
        measured.append(calls * SIZE * 8 / 1e6 / (time.monotonic() - then))
    client.stop_load()
    return statistics.median(measured)


def _over_one(rate):
    with _cables(rate, rate), _peers(before=SLOW_CABLES) as (_, client):
        return _megabits(client)


def _over_two(first, second):
    with _cables(first, second), _peers(RAILS, before=SLOW_CABLES) as (_, client):
        _wait_for_rails(client, 2)
        return _megabits(client)


def two_equal_cables_carry_twice_as_much():
    one, two = _over_one(EQUAL), _over_two(EQUAL, EQUAL)
    told = "%.1f and %.1f Mbit/s" % (one, two)
    suite.check(two >= 1.9 * one, told)
    return told


def unequal_cables_carry_their_sum():
    """What one carries of its rate, with headers and all, is what both can."""
    whole = _over_one(FAST) / FAST
    carried = _over_two(SLOW, FAST)
    could = whole * (SLOW + FAST)
    told = "%.1f of %.1f Mbit/s" % (carried, could)
    suite.check(carried >= 0.9 * could, told)
    return told


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
    with _peers(RAILS) as (server, client):
        _wait_for_rails(client, 2)
        client.start_load(20000, 4)
        client.wait_for_calls(100)
        usual = _longest_stop(client, 2)
        B.lose_rdma(PORT, pair)
        try:
            stopped = _longest_stop(client, 3)
            client.wait_for_calls(100)
        finally:
            B.lose_nothing()
        _wait_for_rails(client, 2, 2 * BACK)
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
