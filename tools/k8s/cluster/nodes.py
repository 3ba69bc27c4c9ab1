# SPDX-License-Identifier: Apache-2.0
"""Nodes that are there in the API alone, and what kubelets would say of the pods on them."""

from api import Refused

SHARED, FUNCTION = "rdma/hca_shared_devices_a", "nvidia.com/rdma_vf"
_ANY = {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi",
        "hugepages-2Mi": "8Gi"}
# What device plugins would tell of each. The third has all but RDMA.
NODES = {"rdma-1": {SHARED: "2", FUNCTION: "1"}, "rdma-2": {SHARED: "2", FUNCTION: "1"},
         "plain-1": {}}
_DRIVER = "dra.net"
NOW = "2026-01-01T00:00:00Z"


def node(name):
    has = {**_ANY, **NODES[name]}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {
                "kubernetes.io/os": "linux", "kubernetes.io/hostname": name}},
            "status": {"capacity": has, "allocatable": has, "conditions": [
                {"type": "Ready", "status": "True", "reason": "KubeletReady",
                 "lastHeartbeatTime": NOW, "lastTransitionTime": NOW}]}}


def slice_of(name):
    """What the driver DRANET would publish: an adapter of a node, the third's without RDMA."""
    adapter = {"name": "adapter-0", "attributes": {"dra.net/rdma": {"bool": bool(NODES[name])}}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": name + "-" + _DRIVER},
            "spec": {"driver": _DRIVER, "nodeName": name, "devices": [adapter],
                     "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}}


def running(pod, address):
    """The status of a pod whose containers all run and are ready."""
    names = [container["name"] for container in pod["spec"]["containers"]]
    return {"phase": "Running", "startTime": NOW, "podIP": address, "podIPs": [{"ip": address}],
            "conditions": [{"type": kind, "status": "True", "lastTransitionTime": NOW}
                           for kind in ("Initialized", "ContainersReady", "Ready")],
            "containerStatuses": [
                {"name": name, "ready": True, "started": True, "restartCount": 0, "image": "any",
                 "imageID": "any", "state": {"running": {"startedAt": NOW}}} for name in names]}


class Kubelets:
    """Of all nodes: pods that are bound run at once, and end at once when they are deleted."""

    def __init__(self, api):
        self._api = api
        self._addresses = 0

    def _address(self):
        self._addresses += 1
        return "10.244.%d.%d" % divmod(self._addresses, 250)

    def step(self):
        for pod in self._api.items("/api/v1/pods"):
            meta = pod["metadata"]
            path = "/api/v1/namespaces/%s/pods/%s" % (meta["namespace"], meta["name"])
            try:
                if "deletionTimestamp" in meta:
                    self._api.call("DELETE", path + "?gracePeriodSeconds=0")
                elif pod["spec"].get("nodeName") and pod["status"]["phase"] == "Pending":
                    self._api.patch(path + "/status", {"status": running(pod, self._address())})
            except Refused as refused:
                if refused.code not in (404, 409):  # it went, or changed, meanwhile
                    raise
