# SPDX-License-Identifier: Apache-2.0
"""This node: processes with their pods, tables of nftables in network namespaces, rdma_cm's
defaults."""

import json
import os
import subprocess

import plan

NFT_SECONDS = 20


class Trouble(Exception):
    """What this node refused, for people."""


class Node:
    """`proc` and `configfs`: of the node, wherever they are mounted."""

    def __init__(self, proc="/proc", configfs="/sys/kernel/config"):
        self._proc = proc
        self._configfs = configfs

    def _network_of(self, pid):
        return os.stat(os.path.join(self._proc, str(pid), "ns", "net")).st_ino

    def network(self):
        """The node's own network namespace."""
        return self._network_of(1)

    def processes(self):
        """Those of pods. One that ends meanwhile is left out."""
        found = []
        for name in os.listdir(self._proc):
            if not name.isdigit():
                continue
            try:
                with open(os.path.join(self._proc, name, "cgroup"), encoding="utf-8",
                          errors="replace") as stream:
                    pod = plan.pod_of_cgroup(stream.read())
                if pod:
                    found.append(plan.Process(int(name), *pod, self._network_of(name)))
            except OSError:
                continue
        return sorted(found, key=lambda process: process.pid)

    def _nft(self, pid, network, words, script):
        # Opened first: whoever has this number later is in another namespace.
        fd = os.open(os.path.join(self._proc, str(pid), "ns", "net"), os.O_RDONLY | os.O_CLOEXEC)
        try:
            if os.fstat(fd).st_ino != network:
                raise Trouble("process %d went away" % pid)
            return subprocess.run(
                ["nsenter", "--net=/proc/self/fd/%d" % fd, "--", "nft", *words], input=script,
                pass_fds=[fd], capture_output=True, text=True, timeout=NFT_SECONDS)
        finally:
            os.close(fd)

    def run(self, pid, network, script):
        """All of it or nothing (nft(8): a file is one transaction)."""
        try:
            result = self._nft(pid, network, ["-f", "-"], script)
        except (OSError, subprocess.SubprocessError) as error:
            raise Trouble("nft does not run: %s" % error) from None
        if result.returncode:
            raise Trouble("nft refuses: %s" % " ".join(result.stderr.split())[:200])

    def table(self, pid, network):
        """The table there, as `nft -j` tells it; None: there is none."""
        try:
            result = self._nft(pid, network, ["-j", "list", "table", *plan.TABLE.split()], "")
        except (OSError, subprocess.SubprocessError) as error:
            raise Trouble("nft does not run: %s" % error) from None
        if result.returncode:
            if "No such file or directory" in result.stderr:
                return None
            raise Trouble("nft refuses: %s" % " ".join(result.stderr.split())[:200])
        return json.loads(result.stdout)["nftables"]

    def set_tos(self, device, tos):
        """rdma_cm's default of each port, as cma_roce_tos(8) sets it."""
        directory = os.path.join(self._configfs, "rdma_cm", device)
        try:
            # The kernel makes the files in it.
            if not os.path.isdir(directory):
                os.mkdir(directory)
            ports = os.path.join(directory, "ports")
            for port in os.listdir(ports):
                path = os.path.join(ports, port, "default_roce_tos")
                with open(path, "w", encoding="ascii") as stream:
                    stream.write("%d\n" % tos)
        except OSError as error:
            raise Trouble("%s: its default type of service cannot be set: %s" % (
                device, error)) from None


def mark_loaded(table):
    """As plan.mark_of, of the table that is there; "": it is not as this program makes it."""
    names = [part["chain"]["name"] for part in table or [] if "chain" in part]
    ours = [name[len(plan.CHAIN):] for name in names if name.startswith(plan.CHAIN)]
    return ours[0] if len(names) == len(ours) == 1 else None if table is None else ""


def counters(table):
    """{class: (packets, bytes)}"""
    return {part["counter"]["name"][len("class_"):]: (part["counter"]["packets"],
                                                       part["counter"]["bytes"])
            for part in table or [] if "counter" in part}
