#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Which table each network namespace is to have."""

import random
import re
import sys
import unittest

import classes
import plan

NODE = 1
CONFIG = classes.parse({"gold": "26", "bulk": "8", "pods.json": (
    '[{"class": "gold", "namespace": "payments"},'
    ' {"class": "bulk", "labels": {"tier": "nightly"}, "namespace": "batch"}]')})


def uid(number):
    return "%08x-0000-4000-8000-000000000000" % number


def pod(number, namespace, labels=None, host=False):
    return plan.Pod(uid(number), namespace, "p%d" % number, labels or {}, host)


def process(number, network, cgroup=""):
    return plan.Process(100 + number, uid(number), cgroup, network)


def made(pods, processes, namespaces=None, config=CONFIG):
    return plan.plan(config, pods, namespaces or {}, processes, NODE)


class CgroupTest(unittest.TestCase):
    UID = "0123abcd-4567-89ab-cdef-0123456789ab"

    def test_pods_of_each_driver_and_hierarchy(self):
        under = self.UID.replace("-", "_")
        slice_ = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod%s.slice" % under
        for text, cgroup in (
                ("0::%s/cri-containerd-aa.scope\n" % slice_, slice_[1:]),
                ("0::/kubepods/besteffort/pod%s/aa\n" % self.UID,
                 "kubepods/besteffort/pod" + self.UID),
                ("0::/kubepods/pod%s\n" % self.UID, "kubepods/pod" + self.UID),
                ("4:memory:/kubepods/pod%s/aa\n0::/\n" % self.UID, ""),
                ("4:memory:/kubepods/pod%s/a\n0::/kubepods/pod%s/a\n" % (self.UID, self.UID),
                 "kubepods/pod" + self.UID)):
            self.assertEqual(plan.pod_of_cgroup(text), (self.UID, cgroup), text)

    def test_static_pods_have_a_hash(self):
        text = "0::/kubepods/pod%s/a" % ("0a" * 16)
        self.assertEqual(plan.pod_of_cgroup(text)[0], "0a" * 16)

    def test_others_are_of_no_pod(self):
        for text in "", "0::/\n", "0::/system.slice/podman.service", "x", "0::/podcast", \
                "0::/kubepods/pod%sf/a" % self.UID:
            self.assertIsNone(plan.pod_of_cgroup(text), text)


class ClassTest(unittest.TestCase):
    def test_by_the_file_and_by_labels(self):
        spaces = {"shop": {plan.LABEL: "bulk"}}
        for one, cls in ((pod(1, "payments"), "gold"), (pod(1, "batch"), ""),
                         (pod(1, "batch", {"tier": "nightly"}), "bulk"), (pod(1, "shop"), "bulk"),
                         (pod(1, "shop", {plan.LABEL: "gold"}), "bulk"), (pod(1, "x"), "")):
            self.assertEqual(plan.class_of(one, CONFIG, spaces), (cls, ""), one)

    def test_a_class_that_is_not_there_marks_nothing_and_is_told(self):
        cls, trouble = plan.class_of(pod(1, "shop"), CONFIG, {"shop": {plan.LABEL: "silver"}})
        self.assertEqual(cls, "")
        self.assertIn("farcall.dev/qos-class=silver", trouble)

    def test_two_classes_mark_nothing_and_are_told(self):
        cls, trouble = plan.class_of(pod(1, "payments"), CONFIG, {"payments": {plan.LABEL: "bulk"}})
        self.assertEqual(cls, "")
        self.assertIn("bulk and of gold", trouble)


class PlanTest(unittest.TestCase):
    def test_each_network_gets_the_table_of_its_class_or_none(self):
        planned = made([pod(1, "payments"), pod(2, "batch")],
                       [process(1, 11), process(2, 12), process(1, 11), process(3, 13)])
        self.assertEqual(set(planned.scripts),
                         {(uid(1), 11), (uid(2), 12), (uid(3), 13), ("", NODE)})
        self.assertIn("ip dscp set 26", planned.scripts[uid(1), 11])
        self.assertIn("ip6 dscp set 26", planned.scripts[uid(1), 11])
        for key in (uid(2), 12), (uid(3), 13), ("", NODE):
            self.assertEqual(planned.scripts[key], plan.REMOVE, key)
        self.assertEqual(planned.troubles, ())

    def test_pods_with_the_nodes_network_are_known_by_their_cgroup(self):
        planned = made([pod(1, "payments", host=True), pod(2, "x", host=True)],
                       [process(1, NODE, "kubepods/burstable/pod1"),
                        process(2, NODE, "kubepods/pod2")])
        self.assertEqual(set(planned.scripts), {("", NODE)})
        script = planned.scripts["", NODE]
        self.assertIn('socket cgroupv2 level 3 "kubepods/burstable/pod1"', script)
        self.assertIn("hook output", script)
        self.assertNotIn("pod2", script)

    def test_without_a_cgroup_of_the_second_hierarchy_that_is_told(self):
        for cgroup in "", 'x" drop "', "a\nb":
            planned = made([pod(1, "payments", host=True)], [process(1, NODE, cgroup)])
            self.assertEqual(planned.scripts["", NODE], plan.REMOVE)
            self.assertIn("payments/p1: it has the node's network", planned.troubles[0])

    def test_a_trouble_of_one_pod_is_none_of_the_others(self):
        planned = made([pod(1, "payments"), pod(2, "shop")], [process(1, 11), process(2, 12)],
                       {"shop": {plan.LABEL: "silver"}})
        self.assertIn("dscp set 26", planned.scripts[uid(1), 11])
        self.assertEqual(planned.scripts[uid(2), 12], plan.REMOVE)
        self.assertEqual(len(planned.troubles), 1)

    def test_a_script_replaces_what_is_there_at_once(self):
        script = made([pod(1, "payments")], [process(1, 11)]).scripts[uid(1), 11]
        self.assertTrue(script.startswith("add table inet farcall_qos\ndelete table inet "
                                          "farcall_qos\ntable inet farcall_qos {"))

    def test_the_mark_tells_tables_apart(self):
        def mark(config):
            return plan.mark_of(made([pod(1, "payments")], [process(1, 11)], {},
                                     config).scripts[uid(1), 11])
        other = classes.parse({"gold": "27", "pods.json":
                               '[{"class": "gold", "namespace": "payments"}]'})
        self.assertEqual(mark(CONFIG), mark(CONFIG))
        self.assertNotEqual(mark(CONFIG), mark(other))
        self.assertIsNone(plan.mark_of(plan.REMOVE))

    def test_devices_of_a_class(self):
        config = classes.parse({"gold": "26", "devices.json": '{"mlx5_0": "gold"}'})
        self.assertEqual(plan.tos_of_devices(config), {"mlx5_0": 104})


class SimulationTest(unittest.TestCase):
    """Pods and labels at random: whatever they are, each network has what its pod's class says."""

    def test_many(self):
        for seed in range(2000):
            dice = random.Random(seed)
            pods = [pod(i, dice.choice(["payments", "batch", "shop", "x"]),
                        dice.choice([{}, {"tier": "nightly"}, {plan.LABEL: "gold"},
                                     {plan.LABEL: "silver"}]), dice.random() < 0.2)
                    for i in range(dice.randrange(6))]
            spaces = {"shop": dice.choice([{}, {plan.LABEL: "bulk"}, {plan.LABEL: "lead"}])}
            processes = [process(i, NODE if one.host_network else 10 + i, "kubepods/pod%d" % i)
                         for i, one in enumerate(pods) for _ in range(dice.randrange(3))]
            dice.shuffle(processes)
            planned = made(pods, processes, spaces)
            self.hold(seed, planned, pods, processes, spaces)

    def hold(self, seed, planned, pods, processes, spaces):
        for one in processes:
            owner = next(each for each in pods if each.uid == one.uid)
            cls, trouble = plan.class_of(owner, CONFIG, spaces)
            self.assertEqual(bool(trouble), trouble in planned.troubles, seed)
            if owner.host_network:
                self.assertEqual('"%s"' % one.cgroup in planned.scripts["", NODE], bool(cls), seed)
                continue
            marks = set(re.findall("dscp set ([0-9]+)", planned.scripts[one.uid, one.network]))
            self.assertEqual(marks, {str(CONFIG.dscps[cls])} if cls else set(), seed)


if __name__ == "__main__":
    sys.exit(unittest.main())
