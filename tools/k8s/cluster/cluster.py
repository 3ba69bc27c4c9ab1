# SPDX-License-Identifier: Apache-2.0
"""The cluster as the cases use it: what kubectl does, and waiting until all has settled."""

import os
import subprocess
import time

from cases import Trouble, need
from control_plane import PATIENCE
from definitions import definitions
from nodes import NODES, Kubelets, node, slice_of
from world import selects

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__)))))
OVERLAYS = os.path.join(ROOT, "k8s", "overlays")
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def is_true(item, kind):
    return any(each["type"] == kind and each["status"] == "True"
               for each in item.get("status", {}).get("conditions", []))


def extended(spec):
    """The resources of devices that a pod asks for."""
    return {name for container in spec["containers"]
            for name in container.get("resources", {}).get("limits", {}) if "/" in name}


def expected(pods, labels_of_nodes):
    """How many pods of the object run: a DaemonSet's on a node without the device wait."""
    if pods.owner["spec"].get("suspend"):
        return 0
    if pods.owner["kind"] != "DaemonSet":
        return pods.owner["spec"].get("replicas", 1)
    wanted = {"matchLabels": pods.spec.get("nodeSelector", {})}
    return sum(selects(wanted, labels) and
               extended(pods.spec) <= set(NODES[labels["kubernetes.io/hostname"]])
               for labels in labels_of_nodes)  # fmt: skip


class Cluster:
    """Its kubelets are pretended, unless there is a machine with a real one."""

    def __init__(self, plane, machine=None, patience=PATIENCE):
        self._plane, self.api, self._patience = plane, plane.api, patience
        self._kubelets = machine or Kubelets(plane.api)

    def set_up(self, schemas):
        """Nodes, what their plugins tell, and what operators bring before our manifests come."""
        for item in definitions(schemas):
            self.api.post(_CRDS, item)
        for name in NODES:
            self.api.post("/api/v1/nodes", node(name))
            self.api.post("/apis/resource.k8s.io/v1/resourceslices", slice_of(name))
        self.make_namespace("sriov-network-operator")
        self.until(lambda: all(is_true(item, "Established") for item in self.api.items(_CRDS)),
                   "the definitions of custom resources")
        self.until(lambda: not any(item["spec"].get("taints")
                                   for item in self.api.items("/api/v1/nodes")),
                   "nodes that take pods")

    def until(self, condition, what):
        """Kubelets work meanwhile. What may be a function, asked when it is too late."""
        end = time.monotonic() + self._patience
        while not condition():
            if time.monotonic() > end:
                raise Trouble("not within %d s: %s" % (
                    self._patience, what() if callable(what) else what))
            self._plane.need_running()
            self._kubelets.step()
            time.sleep(0.1)

    def kubectl(self, *words, directory="."):
        kubectl = os.path.join(self._plane.programs, "kubectl")
        return self.run(kubectl, *words, directory=directory)

    def run(self, *words, directory="."):
        """What a program prints that finds this cluster; raises what it complains of."""
        with subprocess.Popen(
                words, cwd=directory, text=True, env=self._plane.environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE) as process:
            try:
                said, wrong = self._wait_for(process, " ".join(words))
            finally:
                process.kill()  # it may wait for what is gone, and `with` waits for it
        need(process.returncode == 0, "%s: %s" % (" ".join(words), wrong))
        return said

    def _wait_for(self, process, words):
        """What it prints, and what it complains of. Kubelets work meanwhile."""
        end = time.monotonic() + self._patience
        while True:
            try:
                return process.communicate(timeout=0.2)
            except subprocess.TimeoutExpired:
                if time.monotonic() > end:
                    raise Trouble("%s: no end" % words) from None
                self._kubelets.step()

    def make_namespace(self, name, **labels):
        self.api.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        # Pods are refused before it is there.
        self.until(lambda: self.api.items(
            "/api/v1/namespaces/%s/serviceaccounts" % name), "the account of " + name)

    def dry_run(self, namespace, template):
        """The pod of a template as the server would keep it, after all of admission."""
        meta = {**template.get("metadata", {}), "generateName": "dry-"}
        return self.api.post("/api/v1/namespaces/%s/pods?dryRun=All" % namespace,
                             {"metadata": meta, "spec": template["spec"]})

    def pods(self, namespace, labels):
        return [pod for pod in self.api.items("/api/v1/namespaces/%s/pods" % namespace)
                if selects({"matchLabels": labels}, pod["metadata"]["labels"])
                and "deletionTimestamp" not in pod["metadata"]]

    def why_pending(self, namespace):
        """What was complained of: {name of a pod, or of what is to make pods: messages}."""
        events = self.api.items(
            "/api/v1/namespaces/%s/events?fieldSelector=type=Warning" % namespace)
        found = {}
        for event in events:
            found.setdefault(event["involvedObject"]["name"], []).append(event["message"])
        return {name: "; ".join(messages) for name, messages in found.items()}

    def need_running(self, overlay):
        """All pods of it run, each on a node that has what it asks for; Services lead to them."""
        labels = [item["metadata"]["labels"] for item in self.api.items("/api/v1/nodes")]
        for pods in overlay.pods():
            count = expected(pods, labels)

            def are_there(pods=pods, count=count):
                found = self.pods(pods.namespace, pods.labels)
                if pods.owner["kind"] == "DaemonSet":
                    found = [pod for pod in found if pod["spec"].get("nodeName")]
                return len(found) == count and all(is_true(pod, "Ready") for pod in found)

            self.until(are_there, lambda pods=pods: "pods of %s; %s" % (
                pods.name, self.why_pending(pods.namespace)))
            for pod in self.pods(pods.namespace, pods.labels):
                if pods.owner["kind"] == "DaemonSet" and not pod["spec"].get("nodeName"):
                    continue
                lacks = extended(pods.spec) - set(NODES[pod["spec"]["nodeName"]])
                need(not lacks, "%s is on %s, which has no %s" % (
                    pods.name, pod["spec"]["nodeName"], lacks))
        for service in overlay.of("Service"):
            self._need_endpoints(service)

    def _need_endpoints(self, service):
        meta = service["metadata"]

        def leads_to_all():
            slices = self.api.items(
                "/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices?labelSelector="
                "kubernetes.io/service-name=%s" % (meta["namespace"], meta["name"]))
            found = {address for each in slices for endpoint in each.get("endpoints") or []
                     for address in endpoint["addresses"]}
            return found and found == {pod["status"].get("podIP") for pod in self.pods(
                meta["namespace"], service["spec"]["selector"]) if pod["spec"].get("nodeName")}

        self.until(leads_to_all, "pods behind Service " + meta["name"])
