# SPDX-License-Identifier: Apache-2.0
"""Each overlay is applied and taken away; its pods are admitted, bound, and wait for devices."""

import contextlib
import os

from api import Refused
from cases import need
from cluster import OVERLAYS
from nodes import FUNCTION, NODES, SHARED

# The page promises `restricted` where pods have no RDMA, and `privileged` elsewhere.
_RESTRICTED = {"tcp-only", "monitored"}
# Overlays whose pods there are as many of as devices, what they wait for, and how many there are.
_USED_UP = {"shared-hca": (SHARED, 4), "macvlan": (SHARED, 4), "sriov": (FUNCTION, 2),
            "dra": ("cannot allocate all claims", 2)}


class OverlayCases:
    def __init__(self, cluster, overlays, _):
        self._cluster, self._api, self._overlays = cluster, cluster.api, overlays

    def cases(self):
        cases = [("overlay-" + name, lambda name=name: self.overlay(name))
                 for name in self._overlays]
        cases += [("used-up-" + name, lambda name=name: self.used_up(name)) for name in _USED_UP]
        return cases + [("pod-security", self.pod_security), ("node-setup-label", self.node_label),
                        ("claims", self.claims), ("rollout-without-spare", self.rollout)]

    @contextlib.contextmanager
    def _applied(self, name):
        """Every object is accepted; nothing is left of them afterwards."""
        before = self._api.all_objects()
        path = os.path.join(OVERLAYS, name)
        try:
            said = self._cluster.kubectl("apply", "--server-side", "-k", path).splitlines()
            need(len(said) == len(self._overlays[name].items) and
                 all(line.endswith(" serverside-applied") for line in said), "it says %s" % said)
            yield self._overlays[name]
        finally:
            self._cluster.kubectl("delete", "--ignore-not-found", "-k", path)
        self._cluster.until(lambda: not self._api.all_objects() - before,
                            lambda: "gone: %s" % sorted(self._api.all_objects() - before))

    def overlay(self, name):
        with self._applied(name) as overlay:
            self._cluster.need_running(overlay)

    def used_up(self, name):
        """One pod more than there are devices waits, and says for what; a device that a pod leaves
        is used again."""
        device, count = _USED_UP[name]
        with self._applied(name) as overlay:
            labels = overlay.of("Deployment")[0]["spec"]["selector"]["matchLabels"]

            def bound():
                return {pod["metadata"]["name"]: pod["spec"].get("nodeName")
                        for pod in self._cluster.pods("farcall", labels)}

            def one_waits():
                nodes = bound()
                waiting = [pod for pod in nodes if not nodes[pod]]
                return len(nodes) == count + 1 and len(waiting) == 1 and device in (
                    self._cluster.why_pending("farcall").get(waiting[0], ""))

            def why():
                return "one of %s waits for %s: %s" % (
                    bound(), device, self._cluster.why_pending("farcall"))

            self._cluster.kubectl(
                "-n", "farcall", "scale", "deploy/echo", "--replicas=%d" % (count + 1))
            self._cluster.until(one_waits, why)
            nodes = set(filter(None, bound().values()))
            need(nodes == {node for node in NODES if NODES[node]}, "pods are on %s" % nodes)
            gone = next(pod for pod, node in bound().items() if node)
            self._cluster.kubectl("-n", "farcall", "delete", "pod", gone)
            self._cluster.until(lambda: gone not in bound() and one_waits(), why)

    def claims(self):
        """Each pod has a claim of its own, met by a device of its node."""
        with self._applied("dra") as overlay:
            self._cluster.need_running(overlay)
            path = "/apis/resource.k8s.io/v1/namespaces/farcall/resourceclaims"
            met = [item["status"]["allocation"]["devices"]["results"][0]
                   for item in self._api.items(path)]
            need(sorted((each["driver"], each["pool"]) for each in met) ==
                 [("dra.net", "rdma-1"), ("dra.net", "rdma-2")], "claims are met by %s" % met)

    def pod_security(self):
        """Levels are as tight as pods allow, and the server keeps to them."""
        for level in "restricted", "baseline", "privileged":
            self._cluster.make_namespace(
                "level-" + level, **{"pod-security.kubernetes.io/enforce": level})
        for name, overlay in self._overlays.items():
            for item in overlay.of("Namespace"):
                wanted = "restricted" if name in _RESTRICTED else "privileged"
                level = item["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
                need(level == wanted, "%s is %s" % (name, level))
                for pods in overlay.pods():
                    self._cluster.dry_run("level-" + level, pods.template)
                # Pods that only ask may stand beside those that have the devices.
                need(level == "restricted" or any(map(self._is_privileged, overlay.pods())),
                     "all pods of %s are admitted by baseline, too" % name)
        for level in "restricted", "baseline", "privileged":
            self._cluster.kubectl("delete", "namespace", "level-" + level)

    def _is_privileged(self, pods):
        """Baseline refuses them, for what RDMA needs."""
        try:
            self._cluster.dry_run("level-baseline", pods.template)
        except Refused as refused:
            need(refused.code == 403 and "violates PodSecurity" in refused.message,
                 "%s: %s" % (pods.name, refused))
            need("IPC_LOCK" in refused.message or "hostNetwork" in refused.message,
                 "%s: %s" % (pods.name, refused))
            return True
        return False

    def node_label(self):
        """node-setup has a pod on nodes with its label alone."""
        with self._applied("node-setup") as overlay:
            labels = overlay.pods()[0].labels
            need(not self._cluster.pods("kube-system", labels), "pods without the label")
            self._cluster.kubectl("label", "node", "rdma-2", "farcall.dev/node-setup=true")
            self._cluster.need_running(overlay)
            nodes = [pod["spec"]["nodeName"] for pod in self._cluster.pods("kube-system", labels)]
            need(nodes == ["rdma-2"], "pods on %s" % nodes)
            self._cluster.kubectl("label", "node", "rdma-2", "farcall.dev/node-setup-")

    def rollout(self):
        """With a virtual function for each of two pods there is none for one more."""
        with self._applied("sriov") as overlay:
            self._cluster.need_running(overlay)
            self._cluster.kubectl("-n", "farcall", "rollout", "restart", "deploy/echo")
            self._cluster.kubectl("-n", "farcall", "rollout", "status", "deploy/echo")
            self._cluster.need_running(overlay)
