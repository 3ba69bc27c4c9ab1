# SPDX-License-Identifier: Apache-2.0
"""One connection over both cables at once: one of them is cut, and comes back."""

import contextlib
import sys
import time

import suite
from guest import A, B, Trouble
from peers import PORT, Client, Server
from traffic import BACK

RAILS = "--rails=2"
DEVICES = "--devices=rdmaA,rdmaB,rdmaA2,rdmaB2"


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
    the_first_cable_is_cut_under_load,
    the_second_cable_is_cut_under_load,
)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
