# SPDX-License-Identifier: Apache-2.0
"""One connection over both cables at once, each limited so that it and not the processor is the
limit."""

import contextlib
import sys
import time

import suite
from guest import A, B, Trouble, run
from peers import PORT, Client, Server
from traffic import BACK

# Of a cable, each way: far less than an emulated processor carries over both.
FULL = 60  # Mbit/s
QUARTER = FULL // 4
# What is in flight fills both, and is through one in 160 ms: no time-out of RDMA is near.
SIZE = 200000
IN_FLIGHT = 6
SECONDS = 4
MEASURES = 3
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
def _peers(*flags):
    with Server(B, DEVICES) as server, Client(A, B.address(), DEVICES, *flags) as client:
        client.wait_for("rdma", 60)
        yield server, client
        server.check()


def _megabits(client):
    """Each way, of verified calls in SECONDS; the best of MEASURES."""
    client.start_load(SIZE, IN_FLIGHT)
    client.wait_for_calls(2 * IN_FLIGHT, 60)
    best = 0
    for _ in range(MEASURES):
        was, then = int(client.ask("progress")["ok"]), time.monotonic()
        time.sleep(SECONDS)
        calls = int(client.ask("progress")["ok"]) - was
        best = max(best, calls * SIZE * 8 / 1e6 / (time.monotonic() - then))
    client.stop_load()
    return best


def _over_two(first, second):
    with _cables(first, second), _peers(RAILS) as (_, client):
        _wait_for_rails(client, 2)
        return _megabits(client)


def two_equal_cables_carry_twice_as_much():
    with _cables(FULL, FULL), _peers() as (_, client):
        one = _megabits(client)
    two = _over_two(FULL, FULL)
    told = "%.1f and %.1f Mbit/s" % (one, two)
    suite.check(two >= 1.9 * one, told)
    return told


def unequal_cables_carry_their_sum():
    """What one carries of its rate, with headers and all, is what both can."""
    with _cables(FULL, FULL), _peers() as (_, client):
        whole = _megabits(client) / FULL
    carried = _over_two(QUARTER, FULL)
    could = whole * (QUARTER + FULL)
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
