#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What the soak does to its servers, and how it judges, without any process."""

import os
import random
import tempfile
import unittest

import soak
from soak_chaos import SEEN, Chaos, Listing
from soak_verdict import explained, growth, judge


class FakeServer:
    """Comes up, and leaves, a while after it was asked to."""

    def __init__(self, name, world):
        self.name = name
        self.address = "127.0.0.1:%d" % (8000 + int(name[-1]))
        self.state = "up"
        self.world = world
        self.lives = 1
        self.due = None

    def _at(self, seconds, state):
        self.due = (self.world.now + seconds, state)

    def poll(self):
        if self.due and self.due[0] <= self.world.now:
            self.state = self.due[1]
            self.due = None

    def start(self):
        assert self.state == "down"
        self.state = "starting"
        self.lives += 1
        self._at(0.2, "up")

    def kill(self):
        assert self.state in ("up", "frozen")
        self.state = "down"

    def freeze(self):
        assert self.state == "up"
        self.state = "frozen"

    def thaw(self):
        assert self.state == "frozen"
        self.state = "up"

    def leave(self):
        assert self.state == "up"
        self.state = "leaving"
        self._at(0.3, "down")


class ChaosTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "servers")
        self.now = 100.0

    def make(self, seed, with_file):
        self.servers = [FakeServer("server %d" % i, self) for i in range(3)]
        self.listing = Listing(self.path if with_file else None, self.servers)
        self.listing.write()
        self.log = []
        return Chaos(
            random.Random(seed), self.servers, self.listing, lambda *event: self.log.append(event)
        )

    def turn(self, chaos, calm=False):
        self.now += 0.02
        for server in self.servers:
            server.poll()
        chaos.tick(self.now, calm)

    def test_one_server_is_always_there_and_known(self):
        for seed in range(10):
            chaos = self.make(seed, with_file=seed % 2 == 0)
            self.now += 2 * SEEN
            for _ in range(5000):
                self.turn(chaos)
                self.assertTrue(chaos.usable(self.now), (seed, self.now, self.log[-5:]))

    def test_everything_happens_but_the_first_server_lives_on(self):
        chaos = self.make(1, with_file=True)
        for _ in range(10000):
            self.turn(chaos)
        kinds = {"kill", "freeze", "freeze_kill", "restart", "drop", "garble"}
        self.assertEqual(set(chaos.counts), kinds)
        self.assertEqual(self.servers[0].lives, 1)
        self.assertGreater(self.servers[1].lives, 10)
        killed = chaos.counts["kill"] + chaos.counts["freeze_kill"]
        self.assertIn(len([e for e in self.log if e[0] == "kill"]), (killed, killed - 1))

    def test_a_calm_brings_all_servers_back(self):
        for seed in range(20):
            chaos = self.make(seed, with_file=True)
            for _ in range(500):
                self.turn(chaos)
            for _ in range(400):
                self.turn(chaos, calm=True)
            self.assertTrue(chaos.quiet(self.now), seed)
            with open(self.path, encoding="utf-8") as text:
                self.assertEqual(text.read(), self.listing.text())

    def test_the_same_seed_does_the_same(self):
        logs = []
        for _ in range(2):
            self.now = 100.0
            chaos = self.make(7, with_file=True)
            for _ in range(1000):
                self.turn(chaos)
            logs.append([(kind, server.name if server else "") for kind, server in self.log])
        self.assertEqual(logs[0], logs[1])
        self.assertGreater(len(logs[0]), 10)

    def test_the_file_names_the_servers_and_a_garbled_one_is_broken(self):
        self.make(1, with_file=True)
        with open(self.path, encoding="utf-8") as text:
            self.assertIn("\n127.0.0.1:8002 1 server_2\n", text.read())
        self.listing.garble()
        with open(self.path, encoding="utf-8") as text:
            self.assertTrue(text.read().endswith("\n127.0.0.1:"))


def failure(kind="write", remote="a:1", start=10.0, end=10.1):
    return {
        "failed": kind, "id": 7, "code": 1009, "text": "broke", "remote": remote, "retried": 0,
        "start_ms": start * 1000, "end_ms": end * 1000,
    }  # fmt: skip


LEDGER = {"doubled": 0, "answered_not_run": 0, "not_ended": 0, "ended_twice": 0}
REPORT = {"failed_reads": 0, "wrong": 0, "in_flight": 0, "ended_twice": 0}


class VerdictTest(unittest.TestCase):
    def test_a_write_may_fail_where_its_server_was_killed_meanwhile(self):
        self.assertTrue(explained(failure(), [(10.05, "a:1")]))
        self.assertTrue(explained(failure(remote=""), [(10.05, "b:1")]))
        self.assertFalse(explained(failure(), [(10.05, "b:1")]))
        self.assertFalse(explained(failure(), [(7.9, "a:1"), (10.4, "a:1")]))
        self.assertTrue(explained(failure(), [(8.1, "a:1")]), "seen late")
        self.assertFalse(explained(failure(), []))

    def judged(self, report=(), ledger=(), failures=(), kills=(), usages=()):
        rows = judge(
            {**REPORT, **dict(report)}, {**LEDGER, **dict(ledger)}, list(failures), list(kills),
            dict(usages),
        )  # fmt: skip
        return {what: number for what, number, _ in rows if number}

    def test_a_good_run_has_nothing_but_zeros(self):
        self.assertEqual(self.judged(failures=[failure()], kills=[(10.0, "a:1")]), {})

    def test_each_violation_is_counted(self):
        self.assertEqual(
            self.judged(report={"failed_reads": 1}, failures=[failure("read")]),
            {"reads that failed": 1},
        )
        self.assertEqual(
            self.judged(failures=[failure()]), {"writes that failed without a kill": 1}
        )
        self.assertEqual(self.judged(ledger={"doubled": 3}), {"writes that ran twice": 3})
        self.assertEqual(self.judged(report={"in_flight": 2}), {"calls that did not end": 2})
        self.assertEqual(self.judged(ledger={"ended_twice": 1}), {"calls that ended twice": 1})

    def test_growth_is_beyond_a_slack(self):
        before = {"mib": 20.0, "fds": 30, "threads": 10}
        self.assertEqual(growth("client", before, {"mib": 29.9, "fds": 38, "threads": 14}), [])
        grown = growth("client", before, {"mib": 30.1, "fds": 39, "threads": 15})
        self.assertEqual(len(grown), 3)
        self.assertIn("client: MiB of memory grew from 20 to 30", grown[0])


class ArgumentsTest(unittest.TestCase):
    def test_a_minute_over_both_targets_is_the_default(self):
        options = soak.parse([])
        self.assertEqual((options.seconds, options.targets), (60, ["list", "file"]))
        self.assertEqual(soak.parse(["--minutes=60"]).seconds, 3600)

    def test_the_seed_is_kept_or_chosen(self):
        self.assertEqual(soak.parse(["--seed=0"]).seed, 0)
        self.assertNotEqual(soak.parse([]).seed, soak.parse([]).seed)


if __name__ == "__main__":
    unittest.main()
