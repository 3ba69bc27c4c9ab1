#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What docs/kubernetes.md names is there: overlays, components, programs, cases, numbers."""

import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
NODE_CASES = "tools/k8s/cluster/node_cases.py"


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()


class PageTest(unittest.TestCase):
    PAGE = read("docs/kubernetes.md")

    def test_overlays_are_all_there(self):
        named = set(re.findall(r"k8s/overlays/([\w-]+)", self.PAGE))
        named |= set(re.findall(r"(?m)^\| `([\w-]+)` \|", self.PAGE))
        self.assertEqual(named, set(os.listdir(os.path.join(ROOT, "k8s", "overlays"))))

    def test_components_exist(self):
        components = os.listdir(os.path.join(ROOT, "k8s", "components"))
        for name in re.findall(r"components/([\w-]+)", self.PAGE):
            self.assertIn(name, components)

    def test_cases_exist(self):
        sources = "".join(map(read, (
            "tools/k8s/images.py", "tools/k8s/manifests.py", "tools/k8s/cluster/overlay_cases.py",
            "tools/k8s/cluster/page_cases.py", NODE_CASES)))
        overlays = "|".join(os.listdir(os.path.join(ROOT, "k8s", "overlays")))
        groups = r"k8s/(manifests|cluster|node|image-\w+)/([\w-]+)"
        for group, case in re.findall(groups, self.PAGE):
            with self.subTest(case):
                words = (case.replace("-", "_"), case, case.rpartition("-")[0],
                         re.sub("(%s)$" % overlays, "", case))
                self.assertTrue([word for word in words if word and word in sources], group)

    def steps(self):
        """{"1": its text}."""
        steps = re.split(r"(?m)^## ", self.PAGE)
        return {step[0]: step for step in steps if re.match(r"\d\. ", step)}

    def test_each_step_says_what_was_tried(self):
        steps = self.steps()
        self.assertEqual(list(steps), list("1234567"))
        on_a_node = re.findall(r'run\("kubernetes\.md", (\d)', read(NODE_CASES))
        self.assertTrue(on_a_node)
        for step in steps.values():
            words = " ".join(step.split())  # lines break anywhere
            self.assertRegex(words, r"\*\*(Tested|Needs hardware)\*\*", step[:30])
            # All lines of some are run on a real node. Step 5 is of what others give to a cluster.
            self.assertEqual("`k8s/node/" in step, step[0] in on_a_node, step[:30])
            if step[0] not in on_a_node:
                wanted = bool(re.search(r"(?m)^kubectl .* (logs|exec) ", step)) or step[0] == "5"
                self.assertEqual("**Needs a cluster**" in words, wanted, step[:30])
        self.assertIn("**needs a cluster**: what one such node does not show",
                      " ".join(self.PAGE.split()))

    def test_the_table_says_what_overlays_need(self):
        for name, multus, needs in re.findall(
                r"(?m)^\| `([\w-]+)` \|.*\|.*\| (no|yes) \| (.*) \|$", self.PAGE):
            with self.subTest(name):
                text = read("k8s/rendered/%s.yaml" % name)
                self.assertEqual(multus == "yes", "NetworkAttachmentDefinition" in text)
                self.assertEqual("`device-plugin`" in needs, "rdma/hca_shared_devices_a" in text)
                self.assertEqual("`sriov-device-plugin`" in needs, "nvidia.com/rdma_vf" in text)
                self.assertEqual("huge pages" in needs, "hugepages-2Mi" in text)
                self.assertEqual("whereabouts" in needs, "whereabouts" in text)

    def test_nodes_have_the_modules_that_plugins_want_also_after_a_boot(self):
        step = self.steps()["1"]
        wanted = re.findall(r"modprobe (\w+)", read("tools/gen_selectors/plan_test.cc"))
        self.assertEqual(sorted(wanted), ["ib_umad", "rdma_ucm"])
        for line in ("modprobe -a ", r"printf '%s\n' "):
            there = step.partition(line)[2].partition("\n")[0].split()
            self.assertFalse(set(wanted) - set(there), line)
        if '"type": "rdma"' in read("k8s/components/sriov/network.yaml"):
            self.assertIn("options ib_core netns_mode=0", step)

    def test_logs_are_whole(self):
        """The container's runtime cuts lines into parts of 16 KiB, which --tail counts."""
        for path in ("docs/kubernetes.md", "docs/gen_selectors.md",
                     "k8s/overlays/inventory/kustomization.yaml"):
            self.assertFalse(set(re.findall(r"--tail=(\S+)", read(path))) - {"-1"}, path)

    def test_nothing_runs_before_what_it_needs(self):
        for step in self.steps().values():
            for block in re.findall(r"(?s)```sh\n(.*?)```", step):
                self.assertNotRegex(block, r"[^&>]&[^&]")
                if "logs -f" in block:
                    self.assertIn("kubectl -n farcall wait --for", block.partition("logs -f")[0])

    def test_what_is_taken_away_is_of_this_alone(self):
        for name in re.findall(r"delete -k k8s/overlays/([\w-]+)", self.PAGE):
            self.assertNotIn("kind: Namespace", read("k8s/rendered/%s.yaml" % name))

    def test_versions_are_those_of_the_manifests(self):
        plugin = re.search(r"k8s-rdma-shared-dev-plugin:v([\d.]+)",
                           read("k8s/overlays/device-plugin/daemonset.yaml")).group(1)
        self.assertIn("k8s-rdma-shared-dev-plugin %s." % plugin, self.PAGE)
        schemas = re.search(r'VERSION = "(.*)"', read("tools/k8s/schemas.py")).group(1)
        self.assertIn("Kubernetes %s " % schemas, self.PAGE)
        version = re.search(r'FARCALL_VERSION = "(.*)"', read("tools/version.bzl")).group(1)
        self.assertIn("farcall:%s and farcall-debug:%s" % (version, version), self.PAGE)
        for named in re.findall(r"farcall:(\d[\d.]*\d)", self.PAGE):
            self.assertEqual(named, version)

    def test_variables_of_the_bench_exist(self):
        script = read("k8s/farcall-bench")
        for name in ("PERFTEST_FLAGS", "CELLS", "SECONDS_EACH", "REQUIRE_RDMA"):
            self.assertIn("`" + name, self.PAGE)
            self.assertIn("${%s:-" % name, script)

    def test_links_lead_somewhere(self):
        for target in re.findall(r"\]\(([^)\s]+)\)", self.PAGE):
            if "://" in target:
                continue
            page, _, anchor = target.partition("#")
            self.assertTrue(os.path.exists(os.path.join(ROOT, "docs", page)), target)
            if anchor:
                heads = re.findall(r"(?m)^#+ (.*)$", read(os.path.join("docs", page)))
                self.assertIn(anchor, [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")
                                       for head in heads])


if __name__ == "__main__":
    sys.exit(unittest.main())
