# SPDX-License-Identifier: Apache-2.0
"""The manifests as the rules see them: the objects of each overlay; what there is of farcall."""

import os
import re

import yaml

POD_KINDS = ("DaemonSet", "Deployment", "Job")
# These belong to no namespace.
CLUSTER_KINDS = ("ClusterRole", "ClusterRoleBinding", "DeviceClass", "MutatingAdmissionPolicy",
                 "MutatingAdmissionPolicyBinding", "Namespace", "NicClusterPolicy")
# The image of what enters other pods' network namespaces.
QOS = "farcall-qos"


def label_of(item):
    return "%s/%s" % (item["kind"], item["metadata"]["name"])


def dig(item, *keys):
    """item[key][key]..., or None where one is not there."""
    for key in keys:
        if not isinstance(item, dict) or key not in item:
            return None
        item = item[key]
    return item


def selects(selector, labels):
    """Whether a LabelSelector, or a plain map of a Service, selects these labels."""
    if not selector:
        return True
    wanted = selector
    if "matchLabels" in selector or "matchExpressions" in selector:
        wanted = selector.get("matchLabels", {})
        for term in selector.get("matchExpressions", []):
            if term["operator"] != "Exists" or term["key"] not in labels:
                return False
    return all(labels.get(key) == value for key, value in wanted.items())


class Pods:
    """The pods that one object makes."""

    def __init__(self, owner):
        self.owner = owner
        self.name = label_of(owner)
        self.namespace = owner["metadata"].get("namespace")
        self.template = owner["spec"]["template"]
        self.spec = self.template["spec"]
        self.labels = dig(self.template, "metadata", "labels") or {}
        self.annotations = dig(self.template, "metadata", "annotations") or {}
        self.containers = self.spec["containers"] + self.spec.get("initContainers", [])

    def ports(self):
        return [port for container in self.containers for port in container.get("ports", [])]

    def has_port(self, port):
        return any(port in (known.get("name"), known["containerPort"]) for known in self.ports())

    def user(self, container):
        for context in (container.get("securityContext"), self.spec.get("securityContext")):
            if context and "runAsUser" in context:
                return context["runAsUser"]
        return None

    def capabilities(self, container):
        return dig(container, "securityContext", "capabilities", "add") or []


class Overlay:
    def __init__(self, name, items):
        self.name = name
        self.items = items

    def of(self, *kinds):
        return [item for item in self.items if item["kind"] in kinds]

    def pods(self):
        return [Pods(item) for item in self.of(*POD_KINDS)]

    def selected(self, selector, namespace):
        return [pods for pods in self.pods()
                if pods.namespace == namespace and selects(selector, pods.labels)]

    def named(self, kind, name, namespace=None):
        return [item for item in self.of(kind) if item["metadata"]["name"] == name
                and item["metadata"].get("namespace") == namespace]


class Farcall:
    """What the manifests may name: images, programs in them, variables that they read."""

    def __init__(self, root):
        def read(path):
            with open(os.path.join(root, path), encoding="utf-8") as stream:
                return stream.read()

        version = re.search(r'FARCALL_VERSION = "(.*)"', read("tools/version.bzl")).group(1)
        self.images = [name + ":" + version for name in ("farcall", "farcall-debug", QOS)]
        self.programs = re.findall(r"(?m)^([\w-]+) //", read("k8s/programs.txt"))
        self.programs.append("farcall-bench")
        self.qos_programs = ["node_setup"]
        # A test holds that page to the code.
        self.settings = set(re.findall(r"(?m)^\| `([a-z_.]+)` \|", read("docs/settings.md")))
        self.variables = {"FARCALL_" + name.upper().replace(".", "_") for name in self.settings}
        self.variables.add("FARCALL_CONFIG")
        exported = read("rpc/status/rdma_metrics.cc") + read("rpc/status/status_metrics.cc")
        self.metrics = set(re.findall(r'"(farcall_\w+)"', exported))
        self.histograms = {name for name in self.metrics if name.endswith("_duration_seconds")}
        self.reasons = set(re.findall(r'\{"(\w+)",', read("transport/why_not_rdma.cc")))
        self.explained = set(re.findall(r"(?m)^\| `(\w+)` \|", read("docs/operations.md")))


def load_overlays(directory):
    """{name: Overlay} of the rendered files in a directory."""
    overlays = {}
    for name in sorted(os.listdir(directory)):
        if name.endswith(".yaml"):
            with open(os.path.join(directory, name), encoding="utf-8") as stream:
                items = [item for item in yaml.safe_load_all(stream) if item]
            overlays[name[:-5]] = Overlay(name[:-5], items)
    return overlays
