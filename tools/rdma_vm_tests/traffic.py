# SPDX-License-Identifier: Apache-2.0
"""Calls in both directions between the two hosts, and what their processes hold."""

import contextlib
import json
import os
import time

import stuck
import suite
from guest import A, B, REMOVAL_LIMIT, Late, Trouble, run
from peers import Client, Server

# Each end may use only this device, so that what is broken is what was in use.
FIRST = ("--devices=rdmaA,rdmaB",)
SIZES = "32-1048576"
# Seconds until RDMA is back when what was missing has come: a second by design, and ten where a
# hello was missed; this machine is slow, and may be shared. Pauses that were not ended would be
# longer.
BACK = 40


@contextlib.contextmanager
def mended_by(mend):
    """What fails first is what is told."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(Trouble):
            mend()
        raise
    mend()


def resources(device):
    """What the kernel has of the device: queue pairs, contexts, ..., of all processes."""
    for entry in json.loads(run("rdma", "-j", "resource", "show")):
        if entry.get("ifname") == device:
            # Regions are the pool's, which stays as large as it was at most; one that were left
            # would keep the device from being removed.
            return {name: count for name, count in entry.items()
                    if name not in ("ifname", "ifindex", "mr")}  # fmt: skip
    return {}


class Held:
    """What processes and the device of a host hold, when it is made."""

    def __init__(self, host, *peers, pair=0):
        self._peers = peers
        self._device = host.device(pair)
        self._before = self._now(self._device)

    def _now(self, device):
        found = dict(resources(device))
        for number, peer in enumerate(self._peers):
            found["fds of %d" % number] = len(os.listdir("/proc/%d/fd" % peer.pid()))
        return found

    def settles(self, device=None, seconds=15):
        """Until there is no more of anything; a queue pair lives a second beyond its connection."""
        end = time.monotonic() + seconds
        while True:
            now = self._now(device or self._device)
            more = {name: (self._before.get(name, 0), count) for name, count in now.items()
                    if count > self._before.get(name, 0)}  # fmt: skip
            if not more:
                return
            if time.monotonic() > end:
                raise Trouble("more is left than there was before: %s" % more)
            time.sleep(0.1)


class Traffic:
    """A server and a client on each host; each client has CONNECTIONS to the other host. RDMA is
    there when it begins. For a `with`."""

    CONNECTIONS = 2
    IN_FLIGHT = 2

    def __init__(self, *flags, tcp=1, pair=0):
        flags = flags or FIRST
        connections = "--connections=%d" % self.CONNECTIONS
        self._pair = pair
        self.server = Server(B, *flags)
        self.client = Client(A, B.address(tcp), connections, *flags)
        self._other_server = Server(A, *flags)
        self._other_client = Client(B, A.address(tcp), connections, *flags)
        self._clients = (self.client, self._other_client)
        self._servers = (self.server, self._other_server)
        self._stack = contextlib.ExitStack()
        self._held = ()
        self._reasons = {}

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for peer in self._servers + self._clients:
                stack.enter_context(peer)
            self.comes_back()
            # Each loop and device has its queues when it has carried something.
            for client in self._clients:
                client.calls(2, 100000, 2)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def start(self):
        """All is over RDMA, and is to be so again in the end."""
        self._held = (
            Held(A, self.client, self._other_server, pair=self._pair),
            Held(B, self.server, self._other_client, pair=self._pair),
        )
        for client in self._clients:
            client.start_load(SIZES, self.IN_FLIGHT)
        self._goes_on()

    def _goes_on(self):
        for client in self._clients:
            client.wait_for_calls(10, 60)

    def falls_back(self, reasons, clients=None, connections=CONNECTIONS):
        """So many connections of each client, for one of these reasons, and calls go on. Returns
        the reasons. One that is back at once is seen too."""
        told = set()
        for client in clients or self._clients:
            end = time.monotonic() + 30
            grown = {}
            while sum(grown.values()) < connections:
                if time.monotonic() > end:
                    raise Trouble("connections stay on RDMA: %s" % grown)
                was = self._reasons[client]
                grown = {name: count - was.get(name, 0) for name, count in client.reasons().items()
                         if count > was.get(name, 0)}  # fmt: skip
                time.sleep(0.02)
            suite.check(set(grown) <= set(reasons), "another reason: %s" % grown)
            told |= set(grown)
        self._goes_on()
        return told

    def comes_back(self):
        for client in self._clients:
            client.wait_for("rdma", BACK)
            self._reasons[client] = client.reasons()

    def lets_go(self, files):
        """Until none of the processes has one of these open, which are those of removed devices. A
        process that keeps one keeps it for good."""
        end = time.monotonic() + REMOVAL_LIMIT
        for peer in self._servers + self._clients:
            while any(link.split(" ")[0] in files for link in stuck.opened(peer.pid())):
                if time.monotonic() > end:
                    raise Late("removed devices are still open")
                time.sleep(0.02)

    def stop(self):
        for client in self._clients:
            client.stop_load()

    def has_no_blocks(self):
        """When the connections are closed, and no device is there, nobody has a block."""
        for client in self._clients:
            client.ask("open 0")
        end = time.monotonic() + 10
        for peer in self._servers + self._clients:
            while peer.ask("pool")["used"] != "0":
                if time.monotonic() > end:
                    raise Trouble("%s bytes of the pool are left" % peer.ask("pool")["used"])
                time.sleep(0.05)
        for client in self._clients:
            client.ask("open %d" % self.CONNECTIONS)

    def check(self):
        """Every call was executed, once, with the right bytes."""
        for server, client in zip(self._servers, self._clients):
            stats = server.check()
            made = int(client.ask("made")["calls"])
            suite.check(stats["calls"] == made, "%d calls were made: %s" % (made, stats))

    def finish(self):
        self.stop()
        self.comes_back()
        self.check()
        for held in self._held:
            held.settles()
