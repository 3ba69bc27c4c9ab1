# SPDX-License-Identifier: Apache-2.0
"""RDMA namespaces are exclusive (several.sh), as the CNI plugin rdma wants them: a pod is shown the
devices that were moved into it, and none of its node's. This kernel moves no software device, so
that only pods without one can be shown."""

import json
import os
import subprocess
import sys

import suite
from guest import DRIVER, run
from peers import BIN, Client, Server
from pods import PlainPod, remove

# Of the machine, whose namespace is the first one's.
_NODE = ("nsenter", "--net", "--target", "1")
_DEVICE = "rdma_node"
SIZE = 30000


def _begin():
    run("ip", "link", "add", "far", "type", "dummy")
    run("ip", "link", "set", "far", "up")
    run("rdma", "link", "add", _DEVICE, "type", DRIVER, "netdev", "far")
    return PlainPod(1), PlainPod(2)


def _end():
    remove(PODS)
    run(*_NODE, "rdma", "link", "delete", _DEVICE)
    run("ip", "link", "delete", "far")


def a_pod_is_shown_no_device_of_its_node():
    path = "/proc/1/root/sys/class/infiniband/" + _DEVICE
    suite.check(os.path.exists(path), "the node has no device")
    for pod in PODS:
        shown = pod.run("rdma", "link") + pod.run("ls", "/sys/class/infiniband")
        suite.check(shown == "", "the pod is shown " + shown)


def calls_go_by_tcp_and_tell_the_reason():
    client_pod, server_pod = PODS
    for set_up in ("rdma_cm", "auto"):
        with Server(server_pod, "--set_up=" + set_up) as server:
            to = server_pod.pod_address()
            with Client(client_pod, to, "--set_up=" + set_up) as client:
                client.calls(20, SIZE, 2)
                state = client.wait_for("no_device")
                suite.check(state["tcp"] == state["connections"], "not by TCP: %s" % state)
                suite.check("exclusive" in client.log(), "no cure: " + client.log())
                server.check()


def the_doctor_names_the_mode_and_its_cure():
    command = PODS[0].inside(BIN[0] + "/tools/doctor/doctor", "--json", "--seconds=0.2")
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    report = json.loads(done.stdout)
    suite.check(report["reason"] == "no_device", str(report))
    (found,) = [f for f in report["findings"] if f["check"] == "namespace"]
    failed = found["verdict"] == "failed" and "exclusive" in found["finding"]
    suite.check(failed and found["cure"] in report["next"], str(report))


CASES = (
    a_pod_is_shown_no_device_of_its_node,
    calls_go_by_tcp_and_tell_the_reason,
    the_doctor_names_the_mode_and_its_cure,
)

if __name__ == "__main__":
    PODS = _begin()
    failures = suite.main(CASES)
    _end()
    sys.exit(failures)
