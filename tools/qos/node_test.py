#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What a node's files and nft's answers mean."""

import os
import sys
import tempfile
import unittest

import node
import plan

UID = "0123abcd-4567-89ab-cdef-0123456789ab"


class NodeTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = holder.name
        self.node = node.Node(self.path, self.path)

    def write(self, path, text=""):
        path = os.path.join(self.path, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return os.stat(path).st_ino

    def read(self, path):
        with open(os.path.join(self.path, path), encoding="utf-8") as stream:
            return stream.read()

    def test_processes_of_pods(self):
        own = self.write("1/ns/net")
        self.write("1/cgroup", "0::/init.scope\n")
        network = self.write("20/ns/net")
        self.write("20/cgroup", "0::/kubepods/pod%s/a\n" % UID)
        self.write("30/cgroup", "0::/kubepods/pod%s/a\n" % UID)  # it ends meanwhile
        self.write("self/cgroup", "0::/kubepods/pod%s/a\n" % UID)
        self.assertEqual(self.node.network(), own)
        self.assertEqual(self.node.processes(),
                         [plan.Process(20, UID, "kubepods/pod" + UID, network)])

    def test_a_number_that_another_process_has_is_not_entered(self):
        self.write("20/ns/net")
        with self.assertRaisesRegex(node.Trouble, "process 20 went away"):
            self.node.run(20, 1, plan.REMOVE)
        with self.assertRaisesRegex(node.Trouble, "nft does not run"):
            self.node.run(99, 1, plan.REMOVE)

    def test_the_default_type_of_service_is_of_each_port(self):
        self.write("rdma_cm/mlx5_0/ports/1/default_roce_tos", "0\n")
        self.write("rdma_cm/mlx5_0/ports/2/default_roce_tos", "0\n")
        self.node.set_tos("mlx5_0", 104)
        self.assertEqual(self.read("rdma_cm/mlx5_0/ports/1/default_roce_tos"), "104\n")
        self.assertEqual(self.read("rdma_cm/mlx5_0/ports/2/default_roce_tos"), "104\n")

    def test_a_device_that_the_kernel_does_not_know(self):
        with self.assertRaisesRegex(node.Trouble, "mlx5_9: its default type of service"):
            self.node.set_tos("mlx5_9", 104)

    def test_a_table_is_known_by_its_chain(self):
        def loaded(*chains):
            return node.mark_loaded([{"metainfo": {}}, {"table": {"name": "farcall_qos"}}] +
                                    [{"chain": {"name": name}} for name in chains])
        self.assertIsNone(node.mark_loaded(None))
        self.assertEqual(loaded("marks_0a1b"), "0a1b")
        for others in (), ("marks_0a", "more"), ("other",), ("marks_0a", "marks_0b"):
            self.assertEqual(loaded(*others), "", others)

    def test_counters_by_class(self):
        self.assertEqual(node.counters(None), {})
        self.assertEqual(node.counters([{"counter": {"name": "class_gold", "packets": 3,
                                                     "bytes": 9}}, {"chain": {}}]),
                         {"gold": (3, 9)})


if __name__ == "__main__":
    sys.exit(unittest.main())
