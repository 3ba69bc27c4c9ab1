# SPDX-License-Identifier: Apache-2.0
"""The commands and kustomizations of docs/kubernetes.md and docs/qos.md, as they stand there."""

import contextlib
import os
import shutil

import page
from cases import need
from cluster import ROOT
from manifests import blocks_of, generated_config_map, page_with

_DEVICES = "resources: [../farcall/k8s/overlays/device-plugin]"
_BENCH = ("resources: [../farcall/k8s/overlays/bench]\n"
          "components: [../farcall/k8s/components/macvlan]")
_RESTRICTED = "resources: [../farcall/k8s/base]\ncomponents: [../farcall/k8s/components/shared-hca"


class PageCases:
    """A directory stands in for a user's: the repository as `farcall`, and own ones beside it."""

    def __init__(self, cluster, overlays, room):
        self._cluster, self._overlays = cluster, overlays
        self._home = os.path.join(room, "user")
        self._farcall = os.path.join(self._home, "farcall")
        shutil.copytree(os.path.join(ROOT, "k8s"), os.path.join(self._farcall, "k8s"))

    def cases(self):
        return [("page-3-inventory", lambda: self.run("kubernetes.md", 3)),
                ("page-4-device-plugin", self.devices), ("page-6-server", self.server),
                ("page-7-bench", self.bench), ("page-kustomizations", self.kustomizations),
                ("page-restricted-pods", self.restricted), ("page-qos", self.qos)]

    def _own(self, name, text, **files):
        directory = os.path.join(self._home, name)
        os.makedirs(directory, exist_ok=True)
        for file, content in {"kustomization.yaml": text, **files}.items():
            with open(os.path.join(directory, file), "w", encoding="utf-8") as stream:
                stream.write(content)
        return directory

    def make_devices(self, config_map):
        """As step 4 says."""
        self._own("devices", page_with("kubernetes.md", _DEVICES),
                  **{"rdma-devices.yaml": config_map})

    def run(self, name, step, kubelets=False, **meaning):
        """Its commands of this step, in order; without kubelets but those with logs and exec."""
        with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as stream:
            found = page.commands(stream.read(), step, kubelets)
        need(found, "the page has no commands")
        return [self._cluster.kubectl(*(meaning.get(word, word) for word in words),
                                      directory=self._farcall) for words in found]

    @contextlib.contextmanager
    def _taken_away(self, *path):
        """What is applied meanwhile, also when something fails."""
        try:
            yield
        finally:
            self._cluster.kubectl("delete", "--ignore-not-found", "-k",
                                  os.path.join(self._home, *path))

    def devices(self):
        self.make_devices(generated_config_map())
        with self._taken_away("devices"):
            said = self.run("kubernetes.md", 4)
        rows = [line.split() for line in said[2].splitlines()]
        need(rows == [["NAME", "RDMA"], ["plain-1", "<none>"], ["rdma-1", "2"], ["rdma-2", "2"]],
             "nodes: %s" % rows)

    def server(self):
        with self._taken_away("farcall", "k8s", "overlays", "macvlan"):
            self.run("kubernetes.md", 6)
            self._cluster.need_running(self._overlays["macvlan"])

    def bench(self):
        directory = self._own("bench", page_with("kubernetes.md", _BENCH))
        with self._taken_away("bench"):
            self.run("kubernetes.md", 7)
            # As the page says: the same once more, after what it says to delete.
            self._cluster.kubectl("apply", "-k", directory)
            self._cluster.need_running(self._overlays["bench"])
            nodes = {pod["spec"]["nodeName"] for pod in self._cluster.pods("farcall", {})}
            need(nodes == {"rdma-1", "rdma-2"}, "both Jobs are on %s" % nodes)

    def kustomizations(self):
        """The server would take each of the page, into a namespace that is there."""
        self._cluster.make_namespace("farcall")
        try:
            for block in blocks_of("kubernetes.md"):
                directory = self._own("page", block,
                                      **{"rdma-devices.yaml": generated_config_map()})
                self._cluster.kubectl("apply", "--server-side", "--dry-run=server", "-k", directory)
        finally:
            self._cluster.kubectl("delete", "namespace", "farcall")

    def restricted(self):
        """Without the component rdma `restricted` admits the pods, and they get their device."""
        directory = self._own("restricted", page_with("kubernetes.md", _RESTRICTED))
        with self._taken_away("restricted"):
            self._cluster.kubectl("apply", "--server-side", "-k", directory)
            self._cluster.need_running(self._overlays["macvlan"])
            level = self._cluster.api.get("/api/v1/namespaces/farcall")["metadata"]["labels"][
                "pod-security.kubernetes.io/enforce"]
            need(level == "restricted", "the namespace is " + level)

    def qos(self):
        self._cluster.make_namespace("payments")
        with self._taken_away("farcall", "k8s", "overlays", "qos"), \
                self._taken_away("farcall", "k8s", "overlays", "node-setup"):
            self.run("qos.md", None, NODE="rdma-1")
            for name in "qos", "node-setup":
                self._cluster.need_running(self._overlays[name])
        self._cluster.kubectl("delete", "namespace", "payments")
