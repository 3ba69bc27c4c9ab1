# SPDX-License-Identifier: Apache-2.0
"""A node of files, for tests: its sysfs as drivers lay it out, and a dcb that keeps what is set."""

import os
import tempfile

import steps
from node import Trouble

DEVICE = steps.Device(
    "mlx5_0", "ens1", "0000:3b:00.0", pfc={priority: False for priority in range(8)},
    apps={0: 0}, ets={"tsa": {tc: "strict" for tc in range(8)},
                      "bw": {tc: 100 if tc == 0 else 0 for tc in range(8)},
                      "prio": {priority: 0 for priority in range(8)}},
    trust="pcp", files={"roce_np/enable/3": "0", "roce_rp/enable/3": "0",
                        "roce_rp/rpg_threshold": "5", "cc_params/rp_threshold": "5"},
    cnp=("/sys/class/net/ens1/ecn/roce_np/cnp_dscp", "0"), default_class={"1": 0},
    functions=(0, 16))
STATE = steps.State(frozenset(["rdma_ucm"]), {}, 0, (DEVICE,))


def wishes(chance):
    """An adapter's settings, each drawn."""
    share = chance.randrange(1, 100)
    return {"dscp": chance.choice([0, 24, 26, 34]), "shares": {"0": 100 - share, "3": share},
            "ecn": chance.random() < 0.5, "cnp_dscp": chance.randrange(64),
            "ecn_files": {"cc_params/rp_threshold": chance.randrange(1, 1024)},
            "default_class": chance.randrange(256), "virtual_functions": chance.randrange(20)}


class Node:
    """What the adapter knows is drawn; rdma_cm's directory is there, as if it had been made."""

    def __init__(self, chance):
        self._chance = chance
        self._room = tempfile.TemporaryDirectory()
        self.root = self._room.name
        self.maps = {"pfc": {"prio-pfc": {p: chance.choice(["on", "off"]) for p in range(8)}},
                     "app": {"dscp-prio": {0: "0", 26: str(chance.randrange(8)), 24: "5"}},
                     "ets": {"tc-tsa": {tc: "strict" for tc in range(8)},
                             "tc-bw": {tc: "100" if tc == 0 else "0" for tc in range(8)},
                             "prio-tc": {p: "0" for p in range(8)}}}
        self.refused = {what for what in self.maps if chance.random() < 0.2}

    def __enter__(self):
        device = "sys/devices/0000:3b:00.0"
        ecn = "sys/class/net/ens1/ecn/"
        files = {"proc/sys/vm/nr_hugepages": "0", device + "/net/ens1/mtu": "1500",
                 "sys/module/rdma_ucm/refcnt": "0",
                 "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0": "ens1",
                 "sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos": "0"}
        for path, text in ((device + "/sriov_totalvfs", "16"), (ecn + "roce_np/enable/3", "0"),
                           (ecn + "roce_rp/enable/3", "0"), (ecn + "roce_rp/rpg_threshold", "5"),
                           (ecn + "roce_np/cnp_dscp", "0"),
                           ("sys/kernel/debug/mlx5/0000:3b:00.0/cc_params/rp_threshold", "5"),
                           ("sys/class/net/ens1/qos/trust", "pcp")):
            if self._chance.random() < 0.8:
                files[path] = text
        files[device + "/sriov_numvfs"] = self._chance.choice(["0", "0", "4"])
        for path, text in files.items():
            path = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as file:
                file.write(text + "\n")
        # By its address on the bus the function has the same files.
        os.makedirs(os.path.join(self.root, "sys/bus/pci/devices"))
        for link in ("sys/bus/pci/devices/0000:3b:00.0", "sys/class/infiniband/mlx5_0/device"):
            os.symlink(os.path.join(self.root, device), os.path.join(self.root, link))
        return self

    def __exit__(self, *_):
        self._room.cleanup()

    def read(self, path):
        """None: it is not there."""
        try:
            with open(os.path.join(self.root, path), encoding="ascii") as file:
                return file.read().strip()
        except FileNotFoundError:
            return None

    def run(self, words):
        """modprobe -d ROOT -a NAME...; dcb [-N] WHAT show|set|replace dev ens1 MAPS."""
        if words[0] == "modprobe":
            for name in words[4:]:
                os.makedirs(os.path.join(self.root, "sys/module", name.replace("-", "_")))
            return ""
        numeric = "-N" in words
        words = [word for word in words[1:] if word != "-N"]
        what, verb, _, netdev = words[:4]
        assert netdev == "ens1", netdev
        if what in self.refused:
            raise Trouble("dcb: Operation not supported")
        maps = self.maps[what]
        if verb == "show":
            return "willing off\n" + "\n".join(
                "%s %s" % (key, " ".join(
                    "%s:%s" % ("CS3" if not numeric and dscp == 24 else dscp, value)
                    for dscp, value in values.items()))
                for key, values in maps.items())
        key = ""
        for word in words[4:]:
            left, colon, right = word.partition(":")
            if not colon:
                key = word
            for number in range(8) if left == "all" else [int(left)] if colon else []:
                maps[key][number] = right
        return ""
