#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The rendered manifests keep the rules, and the rules find the mistakes that people make."""

import os
import re
import sys
import unittest

import rules
import safety
from mutants import MUTANTS
from world import load_overlays, selects

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
OVERLAYS = load_overlays(os.path.join(ROOT, "k8s", "rendered"))


class RenderedTest(unittest.TestCase):
    def test_all_overlays_are_rendered(self):
        sources = sorted(os.listdir(os.path.join(ROOT, "k8s", "overlays")))
        self.assertEqual(sorted(OVERLAYS), sources)

    def test_they_keep_the_rules(self):
        self.assertEqual(rules.findings(OVERLAYS, ROOT), [])

    def test_all_servers_are_reached_by_name_and_by_client_side_choice(self):
        for overlay in OVERLAYS.values():
            if overlay.of("Deployment"):
                services = {item["metadata"]["name"]: item["spec"]
                            for item in overlay.of("Service")}
                self.assertEqual(services["echo-headless"]["clusterIP"], "None")
                self.assertNotIn("clusterIP", services["echo"])
                self.assertTrue(overlay.of("PodDisruptionBudget") and overlay.of("NetworkPolicy"))

    def test_generated_selectors_take_the_place_of_these(self):
        """The defaults of gen_selectors are the names that the overlays have."""
        with open(os.path.join(ROOT, "tools/gen_selectors/program.cc"), encoding="utf-8") as stream:
            told = stream.read()
        self.assertIn("(default hca_shared_devices_a, rdma_vf)", told)
        self.assertIn("(default rdma, nvidia.com)", told)
        self.assertIn("(default rdma-devices, sriovdp-config)", told)
        self.assertEqual(safety.provided(OVERLAYS.values()),
                         {"rdma/hca_shared_devices_a", "nvidia.com/rdma_vf"})
        for overlay, name in (("device-plugin", "rdma-devices"),
                              ("sriov-device-plugin", "sriovdp-config")):
            self.assertTrue(OVERLAYS[overlay].named("ConfigMap", name, "kube-system"))


class QosTest(unittest.TestCase):
    def test_the_policy_takes_what_the_program_takes(self):
        sys.path.insert(0, os.path.join(ROOT, "tools", "qos"))
        from classes import Wrong, dscp_of
        policy = OVERLAYS["qos"].of("MutatingAdmissionPolicy")[0]["spec"]
        byte = [each for each in policy["variables"] if each["name"] == "byte"][0]["expression"]
        numbers, names = re.findall(r"matches\('(.*?)'\)", byte)
        self.assertIn("int(variables.dscp) < 64", byte)
        for text in [*map(str, range(130)), "026", "", "-1", "ef", "ef0", "be",
                     *("%s%d" % (kind, i) for kind in ("cs", "af") for i in range(50))]:
            by_policy = (re.search(numbers, text) and int(text) < 64) or re.search(names, text)
            try:
                dscp_of(text, "x")
                self.assertTrue(by_policy, text)
            except Wrong:
                self.assertFalse(by_policy, text)


    def test_node_setup_takes_its_example(self):
        sys.path.insert(0, os.path.join(ROOT, "tools", "qos", "node_setup"))
        import wanted
        maps = OVERLAYS["node-setup"].of("ConfigMap")
        parsed = wanted.parse(maps[0]["data"]["node.json"])
        self.assertEqual((len(maps), len(parsed.adapters)), (1, 1))
        with open(os.path.join(ROOT, "docs", "qos.md"), encoding="utf-8") as stream:
            of_page = re.search(r"```json\n(.*?)```", stream.read(), re.DOTALL).group(1)
        self.assertEqual(wanted.parse(of_page).adapters[0].virtual_functions, 8)


class MutantsTest(unittest.TestCase):
    def test_each_is_found_by_its_rule(self):
        for mutant in MUTANTS:
            with self.subTest(overlay=mutant.overlay, what=mutant.what):
                start = "%s: %s: " % (mutant.rule, mutant.overlay)
                found = rules.findings(mutant.planted(OVERLAYS), ROOT)
                self.assertTrue([line for line in found if line.startswith(start)], found)

    def test_each_rule_is_needed_by_some(self):
        self.assertEqual({mutant.rule for mutant in MUTANTS},
                         {rule.__name__ for rule in rules.RULES})

    def test_planting_leaves_the_original(self):
        MUTANTS[0].planted(OVERLAYS)
        self.assertEqual(rules.findings(OVERLAYS, ROOT), [])


class SelectorTest(unittest.TestCase):
    def test_labels_must_all_be_there(self):
        self.assertTrue(selects({"a": "1"}, {"a": "1", "b": "2"}))
        self.assertFalse(selects({"a": "1", "b": "3"}, {"a": "1", "b": "2"}))
        self.assertTrue(selects({"matchLabels": {"a": "1"}}, {"a": "1"}))
        self.assertFalse(selects({"matchLabels": {"a": "2"}}, {"a": "1"}))

    def test_keys_must_exist(self):
        term = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
        self.assertTrue(selects(term, {"a": "1"}))
        self.assertFalse(selects(term, {"b": "1"}))


if __name__ == "__main__":
    sys.exit(unittest.main())
