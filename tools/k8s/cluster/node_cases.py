# SPDX-License-Identifier: Apache-2.0
"""A real node, from the steps of docs/kubernetes.md to calls over RDMA between two pods of it."""

import copy
import json
import os
import subprocess

from cases import need
from cluster import OVERLAYS, ROOT, is_true
from machine import NAME
from nodes import SHARED
from page_cases import PageCases

# Slots: the server's two pods, and a client's.
_SLOTS = 3
_COUNTERS = "/sys/class/infiniband/rdma0/ports/1/hw_counters/"
_SIZE = 30000
_BENCH_ON_ONE_NODE = """resources: [%s]
images: [{name: farcall-debug, newName: farcall}]
patches:
- target: {kind: Job}
  patch: |-
    - {op: remove, path: /spec/template/spec/affinity}
    - {op: remove, path: /spec/template/spec/containers/0/resources/requests/cpu}
    - {op: remove, path: /spec/template/spec/containers/0/resources/limits/cpu}
"""
# Of RDMA on a card with Ethernet's usual MTU.
_MTU = 1024


class NodeCases:
    def __init__(self, cluster, overlays, room, gen_selectors):
        self._cluster, self._api, self._room = cluster, cluster.api, room
        self._page = PageCases(cluster, overlays, room)
        self._server = overlays["shared-hca"]
        self._gen_selectors = gen_selectors

    def cases(self):
        return [(case.__name__.replace("_", "-"), case) for case in (
            self.the_node_is_ready, self.what_it_has_is_read_by_a_pod,
            self.its_capacity_shows_the_resource, self.pods_get_their_device,
            self.the_page_s_commands_answer, self.calls_of_a_pod_to_another_go_by_rdma,
            self.without_the_resource_calls_go_by_tcp,
            self.a_deleted_pod_gives_its_slot_back, self.deleted_pods_leave_all_slots,
            self.the_bench_measures_between_two_pods, self.the_studies_run_between_two_pods)]

    def _node(self):
        return self._api.get("/api/v1/nodes/" + NAME)

    def the_node_is_ready(self):
        def is_ready():
            nodes = self._api.items("/api/v1/nodes")
            return nodes and is_true(nodes[0], "Ready")

        self._cluster.until(is_ready, lambda: "a node that is ready: %s" % [
            item["status"].get("conditions") for item in self._api.items("/api/v1/nodes")])
        info = self._node()["status"]["nodeInfo"]
        print("k8s: kubelet %(kubeletVersion)s, %(containerRuntimeVersion)s" % info)

    def what_it_has_is_read_by_a_pod(self):
        """Step 3, and what is made of it."""
        said = self._page.run("kubernetes.md", 3, kubelets=True)
        nodes = os.path.join(self._room, "nodes.json")
        with open(nodes, "w", encoding="utf-8") as stream:
            stream.write(said[2])
        devices = json.loads(said[2])["devices"]
        need([(each["name"], each["software"]) for each in devices] == [("rdma0", "rxe")],
             "devices: %s" % devices)
        made = subprocess.run(
            [self._gen_selectors, "--from", nodes, "--include-software", "--max=%d" % _SLOTS],
            check=True, capture_output=True, text=True).stdout
        need('"vendors": ["8086"]' in made, "gen_selectors says " + made)
        self._page.make_devices(made)

    def _has(self, kind):
        return self._node()["status"][kind].get(SHARED)

    def its_capacity_shows_the_resource(self):
        """Step 4."""
        self._page.run("kubernetes.md", 4, kubelets=True)
        for kind in "capacity", "allocatable":
            self._cluster.until(lambda kind=kind: self._has(kind) == str(_SLOTS), lambda kind=kind:
                                "%s has %s of %s" % (kind, self._has(kind), SHARED))

    def _echo_pods(self):
        labels = self._server.of("Deployment")[0]["spec"]["selector"]["matchLabels"]
        return self._cluster.pods("farcall", labels)

    def pods_get_their_device(self):
        """As step 6 begins, with the overlay for the ordinary network of pods."""
        self._cluster.kubectl("apply", "-k", os.path.join(OVERLAYS, "shared-hca"))

        def are_ready():
            pods = self._echo_pods()
            return len(pods) == 2 and all(is_true(pod, "Ready") for pod in pods)

        self._cluster.until(are_ready, lambda: "two pods that are ready: %s; %s" % (
            [pod["status"] for pod in self._echo_pods()], self._cluster.why_pending("farcall")))
        for pod in self._echo_pods():
            self._need_devices(pod["metadata"]["name"], ["rdma_cm", "umad0", "uverbs0"])

    def _exec(self, pod, *words):
        return self._cluster.kubectl("-n", "farcall", "exec", pod, "--", *words)

    def _need_devices(self, pod, names):
        found = self._exec(pod, "find", "/dev/infiniband", "-type", "c", "-printf", "%f\n").split()
        need(set(found) >= set(names), "%s has %s in /dev/infiniband" % (pod, found))

    def the_page_s_commands_answer(self):
        """Step 6."""
        said = self._page.run("kubernetes.md", 6, kubelets=True, **{
            "k8s/overlays/macvlan": "k8s/overlays/shared-hca"})
        need("rdma0" in said[2], "the doctor says " + said[2])
        need('"hi"' in said[4], "farcall call says " + said[4])

    def _watch(self):
        """A pod that reads the device's counters, which the kernel shows in the network namespace
        of its interface alone."""
        image = self._server.pods()[0].containers[0]["image"]
        self._api.post("/api/v1/namespaces/kube-system/pods", {
            "metadata": {"name": "counters"},
            "spec": {"hostNetwork": True, "terminationGracePeriodSeconds": 1, "containers": [
                {"name": "counters", "image": image, "command": ["sleep", "infinity"]}]}})
        self._cluster.kubectl("-n", "kube-system", "wait", "--for=condition=Ready",
                              "pod/counters", "--timeout=5m")

    def _counted(self):
        """Packets that the device has sent and received."""
        return [int(number) for number in self._cluster.kubectl(
            "-n", "kube-system", "exec", "counters", "--", "cat", _COUNTERS + "sent_pkts",
            _COUNTERS + "rcvd_pkts").split()]

    def _client(self, name, *flags, with_device=True):
        """A pod of the server's own template that calls one of the server's."""
        server = self._echo_pods()[0]["status"]["podIP"]
        template = copy.deepcopy(self._server.of("Deployment")[0]["spec"]["template"])
        template["metadata"]["name"] = name
        template["metadata"]["labels"] = {"farcall.dev/client": name}
        spec = {**template["spec"], "restartPolicy": "Never", "topologySpreadConstraints": []}
        (container,) = spec["containers"]
        for key in "startupProbe", "livenessProbe", "readinessProbe", "lifecycle", "args":
            container.pop(key, None)
        container["resources"] = {"limits": {SHARED: "1"}} if with_device else {}
        container["command"] = ["farcall", "press", server + ":8002", "example.EchoService.Echo",
                                json.dumps({"message": "x" * _SIZE}), "--use_rdma", "--json=-",
                                *flags]
        self._api.post("/api/v1/namespaces/farcall/pods", {
            "metadata": template["metadata"], "spec": spec})

    def _pod(self, name):
        return self._api.get("/api/v1/namespaces/farcall/pods/" + name)

    def _report(self, name):
        """Of a client that has ended."""
        self._cluster.until(
            lambda: self._pod(name)["status"]["phase"] in ("Succeeded", "Failed"),
            lambda: "the end of %s: %s; %s" % (name, self._pod(name)["status"],
                                              self._cluster.why_pending("farcall")))
        said = self._cluster.kubectl("-n", "farcall", "logs", name)
        need(self._pod(name)["status"]["phase"] == "Succeeded", "%s failed: %s" % (name, said))
        return json.loads(said.splitlines()[-1])

    def _delete(self, name):
        self._cluster.kubectl("-n", "farcall", "delete", "pod", name)

    def calls_of_a_pod_to_another_go_by_rdma(self):
        self._watch()
        before = self._counted()
        self._client("client")
        report = self._report("client")
        sent, received = (now - then for now, then in zip(self._counted(), before))
        self._delete("client")
        print("k8s: %d calls, %d packets sent, %d received" % (report["calls"], sent, received))
        least = 2 * report["calls"] * (_SIZE // _MTU)
        need(report["calls"] > 0 and sent >= least and received >= least,
             "%d packets sent, %d received, not %d: %s" % (sent, received, least, report))
        need(report["carrier"].endswith(" over rdma (rdma0)"), "calls went " + report["carrier"])

    def without_the_resource_calls_go_by_tcp(self):
        before = self._counted()
        self._client("plain", with_device=False)
        report = self._report("plain")
        self._delete("plain")
        need(self._counted() == before, "packets of RDMA: %s" % report)
        need(report["calls"] > 0 and " over tcp; not rdma: " in report["carrier"],
             "calls went " + report["carrier"])

    def a_deleted_pod_gives_its_slot_back(self):
        """One more than there are slots waits, and runs when another goes."""
        for name in "third", "fourth":
            self._client(name, "--duration=600s")
        self._cluster.until(
            lambda: SHARED in self._cluster.why_pending("farcall").get("fourth", ""),
            "a pod that waits for a slot")
        need(self._pod("fourth")["status"]["phase"] == "Pending", "the fourth pod runs")
        self._delete("third")
        self._cluster.until(lambda: self._pod("fourth")["status"]["phase"] == "Running",
                            lambda: "the fourth pod: %s" % self._pod("fourth")["status"])
        self._need_devices("fourth", ["rdma_cm", "umad0", "uverbs0"])
        self._delete("fourth")

    def deleted_pods_leave_all_slots(self):
        self._cluster.kubectl("delete", "-k", os.path.join(OVERLAYS, "shared-hca"))
        has = self._has("allocatable")
        need(has == str(_SLOTS), "the node has %s slots" % has)

    def _between_two_pods(self, *flags):
        """(what tools/bench says, its JSON), on the one node that there is; without perftest."""
        directory = os.path.join(self._room, "bench")
        os.makedirs(directory, exist_ok=True)
        base = os.path.relpath(os.path.join(OVERLAYS, "bench"), os.path.realpath(directory))
        with open(os.path.join(directory, "kustomization.yaml"), "w", encoding="utf-8") as stream:
            stream.write(_BENCH_ON_ONE_NODE % base)
        table = os.path.join(self._room, "table.json")
        said = self._cluster.run(os.path.join(ROOT, "tools", "bench"), *flags, "--pods", directory,
                                 "--json", table)
        print("k8s: " + said.replace("\n", "\nk8s: "))
        left = self._api.items("/apis/batch/v1/namespaces/farcall/jobs")
        need(not left, "Jobs are left: %s" % left)
        with open(table, encoding="utf-8") as stream:
            return said, json.load(stream)

    def the_bench_measures_between_two_pods(self):
        said, table = self._between_two_pods("--rdma", "--rounds=1", "--seconds=0.2")
        rows = {row["name"] for row in table["rows"]}
        need({"one_rdma", "one_tcp", "get_1m_read_rdma"} <= rows, "rows: %s" % rows)
        need("left out: ib_send_lat: is not installed" in said and "rdma0 port 1" in said, said)

    def the_studies_run_between_two_pods(self):
        _, table = self._between_two_pods("--studies", "--rate=50", "--keys=500", "--seconds=1")
        over = {(row["load"], row["over"]) for row in table["rows"]}
        need({(load, each) for load in ("get of 30 keys", "read of 4 KiB x 1")
              for each in ("tcp", "rdma")} <= over, "rows: %s" % over)
