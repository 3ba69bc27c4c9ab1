#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What node_setup plans for adapters as their drivers show them, and what it says of bad input."""

import dataclasses
import json
import os
import random
import sys
import unittest

import node
import node_setup_fake as fake
import steps
import wanted as wants

FILE = {"modules": ["rdma_ucm", "ib-umad"], "huge_pages_2mi": 1024,
        "memlock_units": ["containerd.service"],
        "adapters": {"mlx5_*": {
            "dscp": 26, "lossless_priority": 3, "shares": {"0": 40, "3": 60}, "ecn": True,
            "ecn_files": {"roce_rp/rpg_threshold": 1, "cc_params/rp_threshold": 2},
            "cnp_dscp": 48, "default_class": 104, "virtual_functions": 8}}}


def wanted_of(**changes):
    return wants.parse(json.dumps({**FILE, **changes}))


def adapter_of(**changes):
    return wanted_of(adapters={"mlx5_*": {**FILE["adapters"]["mlx5_*"], **changes}})


def plan(wanted=None, **changes):
    """Of one adapter as it comes from its vendor, changed so; as texts."""
    state = dataclasses.replace(fake.STATE, devices=(
        dataclasses.replace(fake.DEVICE, **changes),))
    planned, troubles = steps.plan(wanted or wanted_of(), state)
    return [str(step) for step in planned], troubles


class PlanTest(unittest.TestCase):
    def test_each_step_is_told_with_its_reason(self):
        planned, troubles = plan()
        self.assertEqual(troubles, [])
        self.assertEqual(planned, [
            "node: modprobe -a ib-umad  # not loaded",
            "node: /etc/modules-load.d/80-farcall.conf: rdma_ucm | ib-umad  # modules after each "
            "boot",
            "node: /proc/sys/vm/nr_hugepages: 1024  # there are 0 huge pages of 2 MiB",
            "node: /etc/sysctl.d/80-farcall.conf: vm.nr_hugepages=1024  # huge pages after each "
            "boot",
            "node: /etc/systemd/system/containerd.service.d/80-farcall.conf: [Service] | "
            "LimitMEMLOCK=infinity  # RDMA locks memory; counts once containerd.service has been "
            "restarted",
            "mlx5_0: /sys/class/net/ens1/qos/trust: dscp  # trusts pcp",
            "mlx5_0: dcb app replace dev ens1 dscp-prio 26:3  # DSCP 26 has no priority of its own",
            "mlx5_0: dcb pfc set dev ens1 prio-pfc all:off 3:on  # PFC is on for none",
            "mlx5_0: dcb ets set dev ens1 tc-tsa 0:ets 3:ets tc-bw 0:40 1:0 2:0 3:60 4:0 5:0 6:0 "
            "7:0 prio-tc 0:0 3:3  # the shares are 0:100",
            "mlx5_0: /sys/kernel/debug/mlx5/0000:3b:00.0/cc_params/rp_threshold: 2  # is 5",
            "mlx5_0: /sys/class/net/ens1/ecn/roce_np/enable/3: 1  # is 0",
            "mlx5_0: /sys/class/net/ens1/ecn/roce_rp/enable/3: 1  # is 0",
            "mlx5_0: /sys/class/net/ens1/ecn/roce_rp/rpg_threshold: 1  # is 5",
            "mlx5_0: /sys/class/net/ens1/ecn/roce_np/cnp_dscp: 48  # CNPs have 0",
            "mlx5_0: /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos: 104  # rdma_cm's "
            "default is 0",
            "mlx5_0: /sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs: 8  # it has none",
            'node: /etc/udev/rules.d/80-farcall-virtual-functions.rules: ACTION=="add", '
            'SUBSYSTEM=="net", KERNELS=="0000:3b:00.0", ATTR{device/sriov_numvfs}="8"  # virtual '
            "functions after each boot"])

    def test_what_an_adapter_does_not_know_leaves_the_rest(self):
        whole = set(plan()[0])
        for field, value, told, gone in (
                ("pfc", "ens1: not supported", "PFC of priority 3: ens1: not supported", "dcb pfc"),
                ("apps", "ens1: not supported", "DSCP 26 to priority 3: ens1", "dcb app"),
                ("ets", "ens1: not supported", "shares: ens1", "dcb ets"),
                ("files", {"cc_params/rp_threshold": "5"},
                 "ecn/roce_np/enable/3: its driver has no such file", "/ecn/roce_"),
                ("files", {key: text for key, text in fake.DEVICE.files.items()
                           if "cc_params" not in key},
                 "cc_params/rp_threshold: its driver has no such file", "/cc_params/"),
                ("cnp", None, "DSCP of its CNPs: its driver has no file for it", "cnp_dscp"),
                ("default_class", "no rdma_cm", "rdma_cm's default: no rdma_cm",
                 "default_roce_tos"),
                ("functions", None, "virtual functions: it has none", "sriov_numvfs"),
                ("functions", (0, 4), "8 virtual functions: it has at most 4", "/sriov_numvfs: 8"),
                ("functions", (4, 16), "it has 4, and pods may use them", "/sriov_numvfs: 8")):
            planned, troubles = plan(**{field: value})
            self.assertTrue([each for each in troubles if each.startswith("mlx5_0: " + told)
                             or told in each], (field, troubles))
            lost = whole - set(planned)
            self.assertTrue(lost and all(gone in each for each in lost), (field, lost))

    def test_a_virtual_function_is_left_alone(self):
        planned, troubles = plan(is_function=True, functions=None)
        self.assertTrue(all(each.startswith("node: ") for each in planned), planned)
        self.assertIn("physical functions only", troubles[0])

    def test_a_pattern_of_no_device_is_told(self):
        planned, troubles = steps.plan(wanted_of(), steps.State())
        self.assertEqual(troubles, [
            "mlx5_*: no RDMA device here has such a name; there are: none"])
        self.assertTrue(all(str(each).startswith("node: ") for each in planned))

    def test_a_second_lossless_priority_is_taken_away(self):
        planned, _ = plan(pfc={3: True, 4: True})
        self.assertIn("mlx5_0: dcb pfc set dev ens1 prio-pfc all:off 3:on  # PFC is on for 3, 4",
                      planned)

    def test_what_nobody_wants_is_left(self):
        for name in FILE["adapters"]["mlx5_*"]:
            if name in ("dscp", "lossless_priority", "ecn"):
                continue
            less = {key: value for key, value in FILE["adapters"]["mlx5_*"].items() if key != name}
            planned, troubles = plan(wanted_of(adapters={"mlx5_*": less}))
            self.assertLess(len(planned), len(plan()[0]), name)
            self.assertEqual(troubles, [])
        self.assertEqual(steps.plan(wants.parse("{}"), fake.STATE), ([], []))


class TakenTest(unittest.TestCase):
    """Over a node of files, whose dcb is a program of this test."""

    def check_as_wanted(self, one, wished, pages, seed):
        """What the node has, without asking what made it so."""
        for what, key, values in (
                ("app", "dscp-prio", {wished["dscp"]: "3"}),
                ("pfc", "prio-pfc", {p: "on" if p == 3 else "off" for p in range(8)}),
                ("ets", "tc-bw", {tc: str(wished["shares"].get(str(tc), 0)) for tc in range(8)}),
                ("ets", "tc-tsa", {0: "ets", 3: "ets"}), ("ets", "prio-tc", {0: "0", 3: "3"})):
            if what not in one.refused:
                self.assertLessEqual(values.items(), one.maps[what][key].items(), (seed, what))
        self.assertEqual(one.read("sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos"),
                         str(wished["default_class"]))
        self.assertIn("vm.nr_hugepages=%d\n" % pages, 
                      one.read("etc/sysctl.d/80-farcall.conf") + "\n")
        (threshold,) = wished["ecn_files"].values()
        for path, text in (("sys/class/net/ens1/qos/trust", "dscp"),
                           ("sys/kernel/debug/mlx5/0000:3b:00.0/cc_params/rp_threshold",
                            str(threshold)),
                           ("sys/class/net/ens1/ecn/roce_np/cnp_dscp", str(wished["cnp_dscp"]))):
            self.assertIn(one.read(path), (None, text), (seed, path))

    def test_taken_steps_leave_nothing_to_do(self):
        """And so again, when something else is wanted."""
        for seed in range(60):
            chance = random.Random(seed)
            with fake.Node(chance) as one:
                here = node.Node(one.root, one.run)
                for pages in 8, 16:
                    wished = fake.wishes(chance)
                    wanted = adapter_of(**wished)
                    wanted = dataclasses.replace(wanted, huge_pages=pages)
                    planned, troubles = steps.plan(wanted, here.state(wanted))
                    for step in planned:
                        here.take(step)
                    self.check_as_wanted(one, wished, pages, seed)
                    again, same = steps.plan(wanted, here.state(wanted))
                    self.assertEqual([str(each) for each in again], [], seed)
                    self.assertLessEqual(len(same), len(troubles), seed)

    def test_what_the_kernel_cuts_is_told(self):
        with fake.Node(random.Random(1)) as one:
            here = node.Node(one.root, one.run)
            with self.assertRaises(node.Trouble):
                here.take(steps.Step("node", "", path="/sys/not/there", text="1\n"))
            pages = one.root + steps.NR_HUGE
            os.remove(pages)
            os.symlink("/dev/null", pages)
            with self.assertRaisesRegex(node.Trouble, "it says  now, and 8 was written"):
                here.take(steps.Step("node", "", path=steps.NR_HUGE, text="8\n"))

    def test_maps_of_dcb(self):
        self.assertEqual(node.maps_of("willing on ets-cap 8 cbs off \ntc-bw 0:40 3:60 \n"
                                      "tc-tsa 0:ets 1:strict \n"),
                         {"tc-bw": {0: "40", 3: "60"}, "tc-tsa": {0: "ets", 1: "strict"}})
        self.assertEqual(node.maps_of("dscp-prio 0:0 24:2 24:3"), {"dscp-prio": {0: "0", 24: "3"}})
        self.assertEqual(node.maps_of(""), {})


class WrongTest(unittest.TestCase):
    def test_a_wrong_file_is_told_and_not_used(self):
        for text, told in (
                ("{", "it is no JSON"), ("[]", "the file must be an object"),
                ('{"module": []}', "has 'module', which is none of modules"),
                ('{"modules": ["a b"]}', "modules is"), ('{"modules": "x"}', "modules is"),
                ('{"memlock_units": ["../x.service"]}', "memlock_units is"),
                ('{"huge_pages_2mi": -1}', "it must be a number from 0"),
                ('{"huge_pages_2mi": true}', "it must be a number from 0"),
                ('{"adapters": []}', "adapters must be"),
                ('{"adapters": {"a/b": {}}}', "no pattern of names"),
                ('{"adapters": {"x": {"dscp": 64, "lossless_priority": 3}}}', "from 0 to 63"),
                ('{"adapters": {"x": {"dscp": 26}}}', "dscp needs lossless_priority"),
                ('{"adapters": {"x": {"ecn": true}}}', "ecn needs lossless_priority"),
                ('{"adapters": {"x": {"lossless_priority": 8}}}', "from 0 to 7"),
                ('{"adapters": {"x": {"cnp_dscp": 64}}}', "from 0 to 63"),
                ('{"adapters": {"x": {"default_class": 256}}}', "from 0 to 255"),
                ('{"adapters": {"x": {"shares": {"0": 50}}}}', "the sum is 50"),
                ('{"adapters": {"x": {"shares": {"8": 100}}}}', "has '8'"),
                ('{"adapters": {"x": {"shares": {"0": 100}, "lossless_priority": 3}}}',
                 "leave nothing for priority 3"),
                ('{"adapters": {"x": {"ecn_files": {"../trust": 1}}}}', "roce_rp/rpg_threshold")):
            with self.assertRaises(wants.Wrong, msg=text) as raised:
                wants.parse(text)
            self.assertIn(told, str(raised.exception))


if __name__ == "__main__":
    sys.exit(unittest.main())
