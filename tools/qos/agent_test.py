#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Steps of the agent over a node that is a table in memory: what it brings, tells and removes."""

import os
import random
import sys
import tempfile
import unittest

import agent
import node as nodes
import plan

NODE = 1


def uid(number):
    return "%08x-0000-4000-8000-000000000000" % number


class FakeNode:
    """Its tables stay when an agent is gone, as the kernel's do."""

    def __init__(self):
        self.pods = {}  # number: network
        self.tables = {}  # network: script
        self.runs = 0
        self.broken = set()  # networks where nft refuses
        self.tos = {}

    def network(self):
        return NODE

    def processes(self):
        return [plan.Process(100 + number, uid(number), "", network)
                for number, network in self.pods.items()]

    def table(self, _pid, network):
        script = self.tables.get(network)
        return None if script is None else [
            {"chain": {"name": "marks_%s" % plan.mark_of(script)}},
            {"counter": {"name": "class_gold", "packets": 3, "bytes": 200}}]

    def run(self, _pid, network, script):
        if network in self.broken:
            raise nodes.Trouble("nft refuses: no")
        self.runs += 1
        self.tables[network] = script
        if script == plan.REMOVE:
            del self.tables[network]

    def set_tos(self, device, tos):
        if device == "gone":
            raise nodes.Trouble("gone: its default type of service cannot be set")
        self.tos[device] = tos

    def end(self, number):
        """With the last process of a network its tables go."""
        self.tables.pop(self.pods.pop(number), None)


class AgentTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = holder.name
        self.node = FakeNode()
        self.pods = {}
        self.known = True
        self.said = []
        self.write("gold", "26")
        self.write("pods.json", '[{"class": "gold", "namespace": "payments"}]')
        self.agent = self.another()

    def another(self):
        return agent.Agent(self.node, self.path, self.state, self.said.append)

    def state(self):
        return (list(self.pods.values()), {}) if self.known else None

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as stream:
            stream.write(text)

    def start(self, number, namespace="payments", network=None):
        self.pods[number] = plan.Pod(uid(number), namespace, "p%d" % number, {})
        self.node.pods[number] = network or 10 + number

    def marked(self):
        return {network for network, script in self.node.tables.items() if "set 26" in script}

    def test_pods_come_and_go(self):
        self.start(1)
        self.start(2, "batch")
        self.assertTrue(self.agent.step())
        self.assertEqual(self.marked(), {11})
        self.start(3)
        self.agent.step()
        self.assertEqual(self.marked(), {11, 13})
        self.node.end(1)
        del self.pods[1]
        self.agent.step()
        self.assertEqual(set(self.node.tables), {13})
        # The pod has gone from the API, and its last process has not ended.
        del self.pods[3]
        self.agent.step()
        self.assertEqual(self.node.tables, {})

    def test_what_is_there_is_left_as_it_is(self):
        self.start(1)
        self.agent.step()
        runs = self.node.runs
        for _ in range(3 * agent.STEPS_BETWEEN_LOOKS):
            self.agent.step()
        self.another().step()
        self.assertEqual(self.node.runs, runs, "its counters go on")

    def test_what_somebody_cleared_comes_back(self):
        self.start(1)
        self.agent.step()
        self.node.tables.clear()
        for _ in range(agent.STEPS_BETWEEN_LOOKS):
            self.agent.step()
        self.assertEqual(self.marked(), {11})

    def test_after_a_kill_nothing_is_missing_or_left(self):
        self.start(1)
        self.start(2)
        self.agent.step()
        # Killed; meanwhile one pod starts, and one has another namespace by its labels.
        self.start(3)
        self.pods[2] = plan.Pod(uid(2), "batch", "p2", {})
        self.another().step()
        self.assertEqual(self.marked(), {11, 13})
        self.assertEqual(set(self.node.tables), {11, 13})

    def test_all_is_removed_when_it_goes(self):
        self.write("devices.json", '{"mlx5_0": "gold"}')
        self.start(1)
        self.agent.step()
        self.assertEqual(self.node.tos, {"mlx5_0": 104})
        self.assertTrue(self.agent.remove())
        self.assertEqual(self.node.tables, {})
        self.assertEqual(self.node.tos, {"mlx5_0": 0})
        self.agent.step()
        self.assertTrue(self.another().remove(), "also what another one left")
        self.assertEqual(self.node.tables, {})
        self.assertEqual(self.node.tos, {"mlx5_0": 0})

    def test_bad_input_leaves_what_worked(self):
        self.start(1)
        self.agent.step()
        right = {"gold": "26", "pods.json": '[{"class": "gold", "namespace": "payments"}]'}
        for name, text, words in (
                ("gold", "64", "0 to 63"), ("pods.json", "{", "no JSON"),
                ("pods.json", '[{"class": "silver", "namespace": "a"}]', "silver")):
            self.write(name, text)
            self.start(4)
            self.agent.step()
            self.agent.step()
            told = [line for line in self.said if words in line]
            self.assertEqual(len(told), 1, self.said)
            self.assertIn("what was right before goes on", told[0])
            self.assertEqual(self.marked(), {11, 14}, "for new pods, too")
            self.write(name, right[name])
            self.agent.step()

    def test_nothing_right_yet_marks_nothing_and_removes_nothing(self):
        self.start(1)
        self.agent.step()
        self.write("gold", "64")
        one = self.another()
        self.assertFalse(one.step())
        self.assertEqual(self.marked(), {11})
        self.assertIn("nothing is marked until it is right", self.said[-1])
        self.write("gold", "26")
        self.known = False
        self.assertFalse(one.step())
        self.assertEqual(self.marked(), {11}, "the API server has not answered yet")

    def test_a_change_of_the_file_is_taken_without_a_restart(self):
        self.start(1)
        self.agent.step()
        self.write("gold", "cs5")
        self.agent.step()
        self.assertIn("dscp set 40", self.node.tables[11])
        self.assertIn("classes: gold 40", self.said)

    def test_a_network_that_refuses_is_told_once_and_tried_again(self):
        self.start(1)
        self.start(2)
        self.node.broken = {11}
        self.agent.step()
        self.agent.step()
        self.assertEqual(self.marked(), {12})
        self.assertEqual(len([line for line in self.said if "nft refuses" in line]), 1)
        self.node.broken = set()
        self.agent.step()
        self.assertEqual(self.marked(), {11, 12})

    def test_a_device_that_is_not_there_is_told_once(self):
        self.write("devices.json", '{"gone": "gold", "mlx5_0": "gold"}')
        self.agent.step()
        self.agent.step()
        self.assertEqual(self.node.tos, {"mlx5_0": 104})
        self.assertEqual(len([line for line in self.said if line.startswith("gone")]), 1)
        self.write("devices.json", "{}")
        self.agent.step()
        self.assertEqual(self.node.tos, {"mlx5_0": 0})

    def test_what_was_counted_is_told_by_class(self):
        self.start(1)
        self.agent.step()
        self.assertEqual(self.agent.counted(), [(uid(1), "gold", 3, 200)])

    def test_any_order_of_events_ends_in_what_is_meant(self):
        for seed in range(300):
            dice = random.Random(seed)
            for i in range(20):
                # A network is never that of another pod, or of one that was there before.
                self.happen(dice, 1000 * (seed + 1) + i)
            self.write("gold", "26")
            self.node.broken = set()
            self.agent.step()
            meant = {network for number, network in self.node.pods.items()
                     if number in self.pods and self.pods[number].namespace == "payments"}
            self.assertEqual(self.marked(), meant, seed)
            self.assertEqual(set(self.node.tables), meant, seed)

    def happen(self, dice, network):
        event = dice.randrange(7)
        number = dice.randrange(6)
        if event == 0 and number not in self.node.pods:
            self.start(number, dice.choice(["payments", "batch"]), network)
        elif event == 1 and number in self.node.pods:
            self.node.end(number)
        elif event == 2:
            self.pods.pop(number, None)
        elif event == 3:
            self.agent = self.another()  # killed, and started again
        elif event == 4:
            self.write("gold", dice.choice(["26", "40", "64"]))
        elif event == 5:
            self.node.broken = {self.node.pods.get(number)}
        else:
            self.agent.step()


if __name__ == "__main__":
    sys.exit(unittest.main())
