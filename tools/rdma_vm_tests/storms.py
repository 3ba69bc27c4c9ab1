# SPDX-License-Identifier: Apache-2.0
"""Many connections at once, and limits that are met; and what is left afterwards."""

import json
import os
import sys
import time

import suite
from guest import A, B, FIRST_DRIVER, Trouble, run
from peers import Client, Server

# The pool may grow by a region or two, ahead of need; and a loop gets a spare thread where user
# code runs for long, as any may in so slow a machine.
SLACK = {"rss": 24 << 20, "mr": 2, "threads": 32}
# Seconds.
SET_UP_LIMIT = 240
# Connections. A busy host sets up four a second, and breaks some meanwhile.
AT_ONCE = 300
FEW = 3


class Kept:
    """What a process has of the kernel."""

    def __init__(self, peer, device):
        self.pid = peer.pid()
        self.device = device

    def _resources(self):
        for entry in json.loads(run("rdma", "-j", "resource", "show")):
            if entry.get("ifname") == self.device:
                return entry
        raise Trouble("there is no %s" % self.device)

    def now(self):
        with open("/proc/%d/statm" % self.pid, encoding="ascii") as statm:
            pages = int(statm.read().split()[1])
        found = {
            "fds": len(os.listdir("/proc/%d/fd" % self.pid)),
            "threads": len(os.listdir("/proc/%d/task" % self.pid)),
            "rss": pages * 4096,
        }
        resources = self._resources()
        found.update((name, resources.get(name, 0)) for name in ("qp", "cq", "pd", "mr", "cm_id"))
        return found


def _settle(kept, before):
    """Waits until no more is there than before; a queue pair lives a second beyond its end."""
    end = time.monotonic() + 60
    while True:
        now = kept.now()
        more = {}
        for name, value in now.items():
            if value > before[name] + SLACK.get(name, 0):
                more[name] = (before[name], value)
        if not more:
            return
        if time.monotonic() > end:
            raise Trouble("more is left than there was before: %s" % more)
        time.sleep(0.1)


def _check_cost(client, kept, before):
    """docs/limits.md says what an idle connection costs. Returns its resident bytes. In so slow a
    machine one may break at any time, and is over TCP until it is tried again, which can take
    minutes: a connection costs what it costs where RDMA is, and nothing elsewhere."""
    end = time.monotonic() + 60
    while True:
        with_rdma = int(client.ask("state")["rdma"]) - before["rdma"]
        now = kept.now()
        if now["qp"] - before["qp"] == with_rdma:
            break
        text = "%d connections have RDMA, and queue pairs are %s" % (with_rdma, now)
        suite.check(time.monotonic() < end, text)
        time.sleep(0.2)
    suite.check(with_rdma >= AT_ONCE - FEW, "only %d have RDMA" % with_rdma)
    each = {name: (value - before[name]) / with_rdma for name, value in now.items()}
    print("# cost of a connection on %s: %s" % (kept.device, each), file=sys.stderr)
    more = now["fds"] - before["fds"] - AT_ONCE
    suite.check(more <= 2 * FEW, "%d descriptors more than connections: %s" % (more, each))
    suite.check(each["mr"] < 0.2 and each["cq"] == 0, "queues or regions each: %s" % each)
    threads = now["threads"] - before["threads"]
    suite.check(threads <= SLACK["threads"], "threads come with connections: %s" % each)
    # Mostly its receives of 64 KiB.
    suite.check(each["rss"] < (512 << 10), "more than 512 KiB each: %s" % each)
    return each["rss"]


def _cpu(*peers):
    """Seconds that the processes have used."""
    ticks = 0
    for peer in peers:
        with open("/proc/%d/stat" % peer.pid(), encoding="ascii") as stat:
            ticks += sum(int(field) for field in stat.read().rpartition(")")[2].split()[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")


def hundreds_at_once():
    """All calls succeed, over TCP as long as RDMA is not there; then all but a few have RDMA, and
    cost what docs/limits.md says. Their time of the CPU is told, and decides nothing."""
    options = ("--threads=2", "--polling=event")
    with Server(B, *options) as server, Client(A, B.address(), *options) as client:
        client.ask("open 4")
        client.wait_for("rdma", SET_UP_LIMIT)
        near, far = Kept(client, A.device()), Kept(server, B.device())
        before = [{**kept.now(), "rdma": 4} for kept in (near, far)]
        client.ask("open %d" % (AT_ONCE + 4))
        client.calls(1)
        end = time.monotonic() + SET_UP_LIMIT
        while int((state := client.ask("state"))["rdma"]) < AT_ONCE + 4 - FEW:
            suite.check(time.monotonic() < end, "too few have RDMA: %s" % state)
            time.sleep(0.5)
        client.calls(1)
        each = _check_cost(client, near, before[0]), _check_cost(client, far, before[1])
        used = _cpu(client, server)
        time.sleep(3)
        used = _cpu(client, server) - used
        server.check()
    return "%.0f and %.0f KiB each; %.1f %% of a core for all, at both ends together" % (
        each[0] / 1024,
        each[1] / 1024,
        used / 3 * 100,
    )


def a_thousand_come_and_go():
    with Server(B) as server, Client(A, B.address()) as client:
        client.wait_for("rdma", SET_UP_LIMIT)
        client.ask("open 100")
        client.calls(1)
        client.wait_for("rdma", SET_UP_LIMIT)
        client.ask("open 1")
        client.wait_for("rdma", SET_UP_LIMIT)
        near, far = Kept(client, A.device()), Kept(server, B.device())
        time.sleep(1.5)
        before = near.now(), far.now()
        for i in range(9):
            client.ask("open 100")
            client.calls(1)
            if i == 4:
                client.wait_for("rdma", SET_UP_LIMIT)
        client.ask("open 1")
        client.wait_for("rdma", SET_UP_LIMIT)
        _settle(near, before[0])
        _settle(far, before[1])
        server.check()


def receives_are_used_up():
    """Four connections have RDMA, and the others TCP, with the reason; then others have it."""
    few = ("--receive_slots=16", "--shared_receives=16", "--max_shared_receives=16")
    with Server(B, *few) as server, Client(A, B.address(), "--connections=16") as client:
        client.calls(20, 5000, 4)
        end = time.monotonic() + 100
        state = client.ask("state")
        while state["rdma"] != "4" and time.monotonic() < end:
            state = client.ask("state")
        suite.check(state["rdma"] == "4" and state["tcp"] == "12", "not four: %s" % state)
        told = client.log() + server.log()
        # All receives, or the share of those that have not made a call yet.
        known = ("posted receives", "receives that are there for such")
        suite.check(any(words in told for words in known), "another reason: %s" % told[-1000:])
        client.calls(20, 5000, 4)
        client.ask("open 4")
        # All make calls all the time: what one was given beyond its minimum while it was alone
        # comes back by use only, and the fourth needs it.
        end = time.monotonic() + 100
        while (state := client.ask("state"))["rdma"] != "4":
            suite.check(time.monotonic() < end, "not all four: %s" % state)
        server.check()


def receives_grow():
    with Server(B) as server, Client(A, B.address()) as client:
        client.wait_for("rdma", SET_UP_LIMIT)
        client.ask("open 200")
        client.calls(2)
        client.wait_for("rdma", SET_UP_LIMIT)
        client.calls(5, 20000, 2)
        server.check()


def descriptors_are_used_up():
    """Connections wait for descriptors, and are taken when there are some."""
    with Server(B, before=("prlimit", "--nofile=64")) as server, Client(
        A, B.address()
    ) as client:
        client.wait_for("rdma", SET_UP_LIMIT)
        client.ask("open 100")
        client.begin("calls 3 0 1")
        end = time.monotonic() + 60
        while "open files" not in server.log():
            suite.check(time.monotonic() < end, "nobody ran out of descriptors")
            time.sleep(0.05)
        run("prlimit", "--pid", str(server.pid()), "--nofile=4096")
        counts = client.end("calls")
        suite.check(counts["ok"] == "300" and counts["failed"] == "0", "failed: %s" % counts)
        # A hello that was declined stays so for as long as its connection does; and what the
        # server found when it had no descriptors stands for up to 3 s.
        end = time.monotonic() + 60
        while True:
            client.ask("open 20")
            try:
                client.wait_for("rdma", 5)
                break
            except Trouble:
                if time.monotonic() > end:
                    raise
        server.check()


CASES = (
    # What a connection costs is farcall's own.
    *((hundreds_at_once,) if FIRST_DRIVER else ()),
    a_thousand_come_and_go,
    receives_are_used_up,
    receives_grow,
    descriptors_are_used_up,
)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
