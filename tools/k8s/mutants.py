# SPDX-License-Identifier: Apache-2.0
"""Mistakes that people make in manifests, each with the rule that has to find it."""

import copy
import dataclasses
import typing

from world import Overlay


@dataclasses.dataclass(frozen=True)
class Mutant:
    rule: str
    overlay: str
    what: str
    change: typing.Callable

    def planted(self, overlays):
        """{name: Overlay} with the mistake; the originals stay as they are."""
        items = copy.deepcopy(overlays[self.overlay].items)
        self.change(_Items(items))
        return {**overlays, self.overlay: Overlay(self.overlay, items)}


class _Items:
    """Short ways to the parts that mistakes are made in."""

    def __init__(self, items):
        self.all = items

    def first(self, kind):
        return [item for item in self.all if item["kind"] == kind][0]

    def drop(self, kind):
        self.all.remove(self.first(kind))

    def replace(self, kind, old, new):
        """In the first object of this kind, wherever this text is."""
        def walk(value):
            if isinstance(value, dict):
                return {walk(key): walk(part) for key, part in value.items()}
            if isinstance(value, list):
                return [walk(part) for part in value]
            return value.replace(old, new) if isinstance(value, str) else value

        item = self.first(kind)
        changed = walk(item)
        assert changed != item, "%s is not there" % old
        item.clear()
        item.update(changed)

    def of_dashboard(self, old, new):
        for item in self.all:
            if "grafana_dashboard" in item["metadata"].get("labels", {}):
                item["data"] = {key: text.replace(old, new) for key, text in item["data"].items()}

    def pod(self):
        kind = [item["kind"] for item in self.all if "template" in item.get("spec", {})][0]
        return self.first(kind)["spec"]["template"]["spec"]

    def template(self):
        return self.first("Deployment")["spec"]["template"]

    def container(self):
        return self.pod()["containers"][0]

    def context(self):
        return self.container()["securityContext"]


def _set(path, key, value):
    """A change that sets one key of the part that a method of _Items gives."""
    def change(items):
        getattr(items, path)()[key] = value
    return change


def _pop(path, key):
    def change(items):
        del getattr(items, path)()[key]
    return change


def _replace(kind, old, new):
    return lambda items: items.replace(kind, old, new)


def _drop(kind):
    return lambda items: items.drop(kind)


def _twice(items):
    items.all.append(items.first("Service"))


def _of_the_cluster(items):
    items.all.append({"kind": "ConfigMap", "data": {},
                      "metadata": {"name": "sriovdp-config", "namespace": "kube-system"}})


def _limit(name, value):
    def change(items):
        items.container()["resources"]["limits"][name] = value
    return change


def _probe(probe, value):
    return _set("container", probe, value)


def _unsafe(key, value):
    return _set("context", key, value)


_BESIDE_NOTHING = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}]}}
_ASK_DOCTOR = {"exec": {"command": ["doctor"]}, "periodSeconds": 10}
_HASTY = {"httpGet": {"path": "/health", "port": "rpc"}, "periodSeconds": 1}

LINKS = [
    ("names", "tcp-only", "a name twice", _twice),
    ("names", "tcp-only", "no namespace", _drop("Namespace")),
    ("names", "sriov", "the plugin's configuration once more", _of_the_cluster),
    ("selectors", "tcp-only", "a Service that selects nothing",
     _replace("Service", "echo", "ecko")),
    ("selectors", "tcp-only", "a budget for nothing",
     _replace("PodDisruptionBudget", "echo", "ecko")),
    ("selectors", "tcp-only", "a policy for nothing", _replace("NetworkPolicy", "echo", "ecko")),
    ("selectors", "bench", "affinity to nothing",
     lambda items: items.pod()["affinity"].update(_BESIDE_NOTHING)),
    ("ports", "tcp-only", "a Service to a port that is not there",
     _replace("Service", "rpc", "grpc")),
    ("ports", "tcp-only", "a policy for a port that is not there",
     _replace("NetworkPolicy", "rpc", "grpc")),
    ("ports", "shared-hca", "a probe at a port that is not there",
     _probe("livenessProbe", {"httpGet": {"path": "/health", "port": 8080}})),
    ("ports", "shared-hca", "a sidecar takes the port", _replace("Deployment", "8002", "8003")),
    ("selectors", "monitored", "a monitor of nothing", _replace("PodMonitor", "echo", "ecko")),
    ("ports", "monitored", "a monitor at a port that is not there",
     _replace("PodMonitor", "rpc", "metrics")),
    ("volumes", "device-plugin", "another ConfigMap",
     _replace("ConfigMap", "rdma-devices", "devices")),
    ("volumes", "device-plugin", "another key", _replace("ConfigMap", "config.json", "config")),
    ("volumes", "macvlan", "a volume that is not there", _pop("pod", "volumes")),
    ("claims", "dra", "another template",
     _replace("ResourceClaimTemplate", "echo-rdma", "echo-roce")),
    ("claims", "dra", "no class", _drop("DeviceClass")),
    ("claims", "dra", "a claim that no container uses",
     _set("container", "resources", {"limits": {"memory": "2Gi"}})),
    ("networks", "macvlan", "another network", _replace("Deployment", "rdma-macvlan", "roce")),
    ("networks", "macvlan", "a trailing comma",
     _replace("NetworkAttachmentDefinition", "/24\"}", "/24\"},")),
    ("networks", "macvlan", "the same addresses on each node",
     _replace("NetworkAttachmentDefinition", "whereabouts", "host-local")),
    ("networks", "macvlan", "an MTU that the master may not have",
     _replace("NetworkAttachmentDefinition", '"mode"', '"mtu": 9000, "mode"')),
    ("networks", "sriov", "a network without its device",
     _replace("Deployment", "nvidia.com/rdma_vf", "nvidia.com/rdma_pf")),
    ("addresses", "ipoib", "InfiniBand without an address",
     _replace("Deployment", "k8s.v1.cni.cncf.io/networks", "networks")),
    ("addresses", "hostnetwork", "RoCE without an interface", _pop("pod", "hostNetwork")),
]

SAFETY = [
    ("images", "tcp-only", "another version", _replace("Deployment", "farcall:", "farcall:9")),
    ("images", "device-plugin", "latest", _replace("DaemonSet", ":v1.5.3", "")),
    ("images", "device-plugin", "a plugin that wants issm", _replace("DaemonSet", "v1.5.3",
                                                                     "v1.5.1")),
    ("programs", "tcp-only", "another name of the program",
     _set("container", "command", ["echo_server"])),
    ("programs", "tcp-only", "a hook that is not there",
     _set("container", "lifecycle", {"preStop": {"exec": {"command": ["curl"]}}})),
    ("programs", "inventory", "a script of a program that is not there",
     _replace("DaemonSet", "gen_selectors", "gen-selectors")),
    ("programs", "inventory", "a probe that is not there", _replace("DaemonSet", "test", "curl")),
    ("programs", "bench", "a Service that is not there", _drop("Service")),
    ("variables", "tcp-only", "a name that nobody reads",
     _replace("Deployment", "FARCALL_TRAFFIC_CLASS", "FARCALL_TOS")),
    ("variables", "tcp-only", "an annotation that is not there",
     lambda items: items.template()["metadata"].pop("annotations")),
    ("settings", "tcp-only", "a file that is not mounted",
     _replace("Deployment", "/etc/farcall/farcall.yaml", "/etc/farcall.yaml")),
    ("settings", "bench", "no file", _replace("Job", "FARCALL_CONFIG", "FARCALL_CPUS")),
    ("settings", "tcp-only", "a setting that is none",
     _replace("ConfigMap", "# rdma:\n#   devices: [mlx5_0]", "rdma:\n  device: [mlx5_0]")),
    ("variables", "macvlan", "another path", _replace("Deployment", "/etc/podinfo/network-status",
                                                      "/etc/network-status")),
    ("variables", "macvlan", "nobody reads the networks", _pop("container", "env")),
    ("probes", "shared-hca", "killed without RDMA", _probe("livenessProbe", _ASK_DOCTOR)),
    ("probes", "shared-hca", "not ready without RDMA", _probe("readinessProbe", _ASK_DOCTOR)),
    ("probes", "tcp-only", "killed for a pause", _probe("livenessProbe", _HASTY)),
    ("probes", "inventory", "read before it is written", _pop("container", "readinessProbe")),
    ("probes", "tcp-only", "no probe", _pop("container", "readinessProbe")),
    ("stop", "tcp-only", "no pause before it stops", _pop("container", "lifecycle")),
    ("stop", "tcp-only", "too little time", _set("pod", "terminationGracePeriodSeconds", 8)),
    ("stop", "tcp-only", "a budget for all",
     lambda items: items.first("Deployment")["spec"].update(replicas=1)),
    ("privileges", "tcp-only", "privileged", _unsafe("privileged", True)),
    ("privileges", "tcp-only", "may raise its privileges", _pop("context",
                                                                "allowPrivilegeEscalation")),
    ("privileges", "tcp-only", "may write", _unsafe("readOnlyRootFilesystem", False)),
    ("privileges", "tcp-only", "keeps capabilities", _pop("context", "capabilities")),
    ("privileges", "shared-hca", "another capability",
     _unsafe("capabilities", {"drop": ["ALL"], "add": ["IPC_LOCK", "SYS_ADMIN"]})),
    ("privileges", "shared-hca", "IPC_LOCK without effect", _unsafe("runAsUser", 65532)),
    ("privileges", "shared-hca", "uid 0 without need", _unsafe("capabilities", {"drop": ["ALL"]})),
    ("privileges", "tcp-only", "uid 0", _unsafe("runAsUser", 0)),
    ("privileges", "shared-hca", "a namespace that does not admit it",
     _replace("Namespace", "privileged", "restricted")),
    ("privileges", "tcp-only", "no seccomp", _pop("pod", "securityContext")),
    ("privileges", "tcp-only", "a token", _pop("pod", "automountServiceAccountToken")),
    ("privileges", "qos", "privileged", _unsafe("privileged", True)),
    ("privileges", "qos", "one capability more",
     _unsafe("capabilities", {"drop": ["ALL"], "add": ["NET_ADMIN", "SYS_ADMIN", "SYS_MODULE"]})),
    ("privileges", "qos", "may delete pods", _replace("ClusterRole", "watch", "delete")),
    ("privileges", "qos", "may read secrets", _replace("ClusterRole", "namespaces", "secrets")),
    ("privileges", "qos", "may read nothing", _drop("ClusterRoleBinding")),
    ("privileges", "node-setup", "privileged", _unsafe("privileged", True)),
    ("privileges", "node-setup", "one capability more",
     _unsafe("capabilities", {"drop": ["ALL"], "add": ["NET_ADMIN", "SYS_ADMIN"]})),
    ("privileges", "node-setup", "every node", _set("pod", "nodeSelector", {})),
    ("privileges", "node-setup", "done without having been read",
     _set("container", "args", ["--apply", "/etc/farcall-node-setup/node.json"])),
    ("privileges", "hostnetwork", "no names of Services", _set("pod", "dnsPolicy",
                                                               "ClusterFirst")),
    ("privileges", "inventory", "may write to the node",
     lambda items: items.container()["volumeMounts"][0].update(readOnly=False)),
    ("privileges", "tcp-only", "files of the node",
     _set("pod", "volumes", [{"name": "dev", "hostPath": {"path": "/dev"}}])),
    ("resources", "shared-hca", "a resource that nobody provides",
     _replace("Deployment", "hca_shared_devices_a", "hca_shared_devices_b")),
    ("resources", "sriov", "another resource of the plugin",
     _replace("Deployment", "rdma_vf", "rdma_vfs")),
    ("resources", "shared-hca", "more than requested", _limit("rdma/hca_shared_devices_a", 2)),
    ("resources", "tcp-only", "no limit of memory", _set("container", "resources", {})),
    ("resources", "tcp-only", "memory for less than the pool", _limit("memory", "512Mi")),
    ("resources", "shared-hca", "few huge pages", _limit("hugepages-2Mi", "256Mi")),
    ("resources", "shared-hca", "huge pages that nobody uses", _pop("container", "args")),
    ("resources", "bench", "locks memory, and has no device",
     _set("container", "resources", {"limits": {"memory": "2Gi"}})),
]

METRICS = [
    ("metrics", "monitored", "an alarm of what nobody exports",
     _replace("PrometheusRule", "farcall_rdma_breaks_total", "farcall_rdma_broken_total")),
    ("metrics", "monitored", "a reason that is none",
     _replace("PrometheusRule", "peer_off|not_asked", "peer_off|not_wanted")),
    ("metrics", "monitored", "a curve of what nobody exports",
     lambda items: items.of_dashboard("farcall_pool_used_bytes", "farcall_pool_bytes")),
    ("alarms", "monitored", "an alarm that no page explains",
     _replace("PrometheusRule", "FarcallPortDown", "FarcallDown")),
    ("alarms", "monitored", "an alarm without a word",
     lambda items: items.first("PrometheusRule")["spec"]["groups"][0]["rules"][0].pop(
         "annotations")),
    ("alarms", "monitored", "an alarm without severity",
     lambda items: items.first("PrometheusRule")["spec"]["groups"][0]["rules"][0].pop("labels")),
]

MUTANTS = [Mutant(*parts) for parts in LINKS + METRICS + SAFETY]
