#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What the stage stands on and needs no cluster: it must see what is wrong."""

import os
import sys
import tempfile
import types
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.dirname(HERE))

import cluster  # noqa: E402
import machine  # noqa: E402
import page  # noqa: E402
from api import message_of  # noqa: E402
from cases import Trouble  # noqa: E402
from definitions import definition, structural  # noqa: E402
from nodes import NODES, SHARED, node, running, slice_of  # noqa: E402
from traffic_class_cases import VARIABLE, seen, template  # noqa: E402
from world import Pods, load_overlays  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
OVERLAYS = load_overlays(os.path.join(ROOT, "k8s", "rendered"))
PAGE = """
## 1. First

```sh
kubectl apply -k one   # why
tools/image
kubectl -n a logs x > file
```

## 2. Second

- in a list:

  ```sh
  kubectl get nodes -o custom-columns='A:.b'
  docker run x | kubectl apply -f -
  kubectl -n a exec deploy/x -- y
  ```
"""


class _Machine:
    """One that ends while somebody waits."""

    def step(self):
        raise Trouble("the machine ended")


class KubectlTest(unittest.TestCase):
    def test_one_that_waits_for_a_node_that_has_gone_is_ended(self):
        with tempfile.TemporaryDirectory() as programs:
            program = os.path.join(programs, "kubectl")
            with open(program, "w", encoding="utf-8") as stream:
                stream.write("#!/bin/sh\nexec sleep 600\n")
            os.chmod(program, 0o755)
            plane = types.SimpleNamespace(programs=programs, api=None, environment={})
            with self.assertRaisesRegex(Trouble, "the machine ended"):
                cluster.Cluster(plane, _Machine()).kubectl("delete", "pod", "x")


class MachineTest(unittest.TestCase):
    def test_one_that_ends_says_why(self):
        with tempfile.TemporaryDirectory() as room:
            program = os.path.join(room, "tools", "rdma_vm")
            os.mkdir(os.path.dirname(program))
            with open(program, "w", encoding="utf-8") as stream:
                stream.write("#!/bin/sh\necho no kernel here >&2\nexit 125\n")
            os.chmod(program, 0o755)
            with machine.Machine(room, "cache", "programs", room) as one:
                with self.assertRaisesRegex(Trouble, "the machine ended: no kernel here"):
                    while True:
                        one.step()


class PageTest(unittest.TestCase):
    def test_commands_of_a_step(self):
        self.assertEqual(page.commands(PAGE, 1), [["apply", "-k", "one"]])
        self.assertEqual(page.commands(PAGE, 2), [["get", "nodes", "-o", "custom-columns=A:.b"]])

    def test_commands_of_all(self):
        self.assertEqual(page.commands(PAGE), page.commands(PAGE, 1) + page.commands(PAGE, 2))

    def test_with_kubelets_what_goes_to_files_is_printed(self):
        self.assertEqual(page.commands(PAGE, 1, kubelets=True)[1], ["-n", "a", "logs", "x"])
        self.assertIn("exec", page.commands(PAGE, 2, kubelets=True)[1])

    def test_none_is_lost_that_could_be_run(self):
        with open(os.path.join(ROOT, "docs", "kubernetes.md"), encoding="utf-8") as stream:
            text = stream.read()
        lines = [line for line in text.splitlines() if line.strip().startswith("kubectl ")
                 and " logs " not in line and " exec " not in line]
        self.assertEqual(len(page.commands(text)), len(lines))
        # The steps of the cases page-3-inventory to page-7-bench.
        self.assertEqual(page.commands(text), [words for step in (3, 4, 6, 7)
                                               for words in page.commands(text, step)])


class DefinitionsTest(unittest.TestCase):
    CLOSED = {"type": "object", "required": [], "additionalProperties": False, "properties": {
        "mode": {"enum": ["a", "b"]}, "labels": {
            "type": "object", "additionalProperties": {"type": "string", "minLength": 1}},
        "list": {"type": "array", "minItems": 1, "items": {"const": "x"}}}}

    def test_each_value_has_a_type_and_nothing_is_said_of_closed_objects(self):
        self.assertEqual(structural(self.CLOSED), {"type": "object", "properties": {
            "mode": {"type": "string", "enum": ["a", "b"]}, "labels": {
                "type": "object", "additionalProperties": {"type": "string", "minLength": 1}},
            "list": {"type": "array", "minItems": 1,
                     "items": {"type": "string", "enum": ["x"]}}}})

    def test_a_definition_has_the_group_and_scope_of_its_schema(self):
        schema = {"properties": {"apiVersion": {"const": "monitoring.coreos.com/v1"},
                                 "metadata": {"properties": {"namespace": {}}},
                                 "spec": self.CLOSED}}
        made = definition("PodMonitor", schema)
        self.assertEqual(made["metadata"]["name"], "podmonitors.monitoring.coreos.com")
        self.assertEqual(made["spec"]["scope"], "Namespaced")
        del schema["properties"]["metadata"]["properties"]["namespace"]
        self.assertEqual(definition("PodMonitor", schema)["spec"]["scope"], "Cluster")


class NodesTest(unittest.TestCase):
    def test_one_node_has_all_but_rdma(self):
        without = [name for name in NODES if SHARED not in node(name)["status"]["allocatable"]]
        self.assertEqual(without, ["plain-1"])
        self.assertIn("hugepages-2Mi", node("plain-1")["status"]["allocatable"])
        for name in NODES:
            adapter = slice_of(name)["spec"]["devices"][0]
            self.assertEqual(adapter["attributes"]["dra.net/rdma"]["bool"], name != "plain-1")

    def test_all_containers_of_a_running_pod_are_ready(self):
        status = running({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}, "10.244.0.1")
        self.assertEqual([each["name"] for each in status["containerStatuses"]], ["a", "b"])
        self.assertTrue(cluster.is_true({"status": status}, "Ready"))
        self.assertFalse(cluster.is_true({}, "Ready"))


class ExpectedTest(unittest.TestCase):
    LABELS = [node(name)["metadata"]["labels"] for name in NODES]

    def expected(self, name, labels=()):
        return [cluster.expected(pods, labels or self.LABELS) for pods in OVERLAYS[name].pods()]

    def test_pods_of_each_kind(self):
        self.assertEqual(self.expected("tcp-only"), [2])
        self.assertEqual(self.expected("bench"), [1, 1])
        self.assertEqual(self.expected("inventory"), [3])
        self.assertEqual(self.expected("doctor"), [2, 0], "two nodes have RDMA; its Job waits")
        self.assertEqual(self.expected("node-setup"), [0])
        one = [{**self.LABELS[0], "farcall.dev/node-setup": "true"}, *self.LABELS[1:]]
        self.assertEqual(self.expected("node-setup", one), [1])

    def test_devices_that_pods_ask_for(self):
        found = {name: [cluster.extended(pods.spec) for pods in OVERLAYS[name].pods()]
                 for name in ("tcp-only", "shared-hca", "sriov")}
        self.assertEqual(found, {"tcp-only": [set()], "shared-hca": [{SHARED}],
                                 "sriov": [{"nvidia.com/rdma_vf"}]})

    def test_a_daemon_set_without_a_selector_is_for_all_nodes(self):
        pods = Pods({"kind": "DaemonSet", "metadata": {"name": "x"}, "spec": {
            "template": {"spec": {"containers": []}}}})
        self.assertEqual(cluster.expected(pods, self.LABELS), 3)


class SeenTest(unittest.TestCase):
    def pod(self, *variables):
        made = template(None, None)
        for container, variable in zip(made["spec"]["containers"], variables):
            container["env"] = container["env"] + ([variable] if variable else [])
        return made

    def test_nothing(self):
        self.assertEqual(seen(template(None, None)), (None, None))
        self.assertEqual(seen(template(None, "")), (None, ""))

    def test_the_variable_of_all_containers(self):
        given = {"name": VARIABLE, "value": "104"}
        self.assertEqual(seen(self.pod(given, given)), (given, None))
        with self.assertRaisesRegex(Trouble, "containers have"):
            seen(self.pod(given, None))

    def test_other_variables_are_left_alone(self):
        other = {"name": "MORE", "value": "1"}
        with self.assertRaisesRegex(Trouble, "it brings"):
            seen(self.pod(other, other))
        changed = template(None, None)
        changed["spec"]["containers"][0]["env"][0] = {"name": "OTHER", "value": "2"}
        with self.assertRaisesRegex(Trouble, "changes other"):
            seen(changed)


class MessageTest(unittest.TestCase):
    def test_what_a_refusal_says(self):
        self.assertEqual(message_of(b'{"kind": "Status", "message": "no"}'), "no")
        for text in b"not JSON", b'["a"]':
            self.assertEqual(message_of(text), text.decode())


if __name__ == "__main__":
    sys.exit(unittest.main())
