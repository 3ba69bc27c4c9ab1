#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""qos over real network namespaces, cgroups and nftables, counted at the other end of the cable.

Needs root; makes namespaces of its own, and touches nothing outside of them. Prints a line for each
case, as tools/test counts them.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "k8s"))
sys.path.insert(0, HERE)

from cases import need, run_cases  # noqa: E402
from marks import PATIENCE, Pod, Wire, until  # noqa: E402

GOLD, BULK = 26, 8
INSIDE = "FARCALL_QOS_TEST_INSIDE"


class Scene:
    """The cases follow each other: each goes on where the one before ended."""

    def __init__(self, directory):
        self.directory = directory
        self.wire = Wire()
        self.pods = {}
        self.made = 0
        self.labels = {}
        self.qos = None
        os.mkdir(self.path("classes"))
        self.write("gold", str(GOLD))
        self.write("bulk", "cs1")
        self.write("pods.json", json.dumps([{"class": "gold", "namespace": "payments"}]))

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path("new"), "w", encoding="utf-8") as stream:
            stream.write(text)
        os.rename(self.path("new"), self.path("classes/" + name))

    def tell(self):
        """What the API server would say."""
        items = [{"kind": "Pod", "spec": {"hostNetwork": not pod.own_network}, "metadata": {
            "uid": pod.uid, "name": name, "namespace": pod.namespace}}
            for name, pod in self.pods.items()]
        items += [{"kind": "Namespace", "metadata": {"name": name, "labels": labels}}
                  for name, labels in self.labels.items()]
        with open(self.path("new"), "w", encoding="utf-8") as stream:
            json.dump({"items": items}, stream)
        os.rename(self.path("new"), self.path("pods"))

    def start_pod(self, name, namespace, own_network=True):
        self.made += 1
        self.pods[name] = Pod(self.wire, self.made, namespace, own_network)
        self.tell()

    def end_pod(self, name):
        self.pods.pop(name).end()
        self.tell()

    def words(self, *more):
        """With the capabilities of the DaemonSet."""
        return ["setpriv", "--inh-caps=-all",
                "--bounding-set=-all,+net_admin,+sys_admin,+sys_ptrace", "--",
                os.path.join(HERE, "qos"), "--classes", self.path("classes"), "--pods",
                self.path("pods"), "--period", "0.1", *more]

    def start_qos(self):
        self.log = open(self.path("log"), "a+", encoding="utf-8")
        self.qos = subprocess.Popen(self.words(), stderr=self.log)

    def end_qos(self, number):
        self.qos.send_signal(number)
        code = self.qos.wait(PATIENCE)
        self.log.close()
        return code

    def said(self, words):
        with open(self.path("log"), encoding="utf-8") as stream:
            return words in stream.read()

    def marked(self, name, dscp):
        """Every packet of the pod has this DSCP, and those that were ECT(0) still are."""
        sent = self.pods[name].send()
        need(sent and {mark for mark, _ in sent} == {dscp}, "%s sent %s" % (name, sent))
        need(sent.get((dscp, 2)) == 1 and sent[dscp, 0] > 10, "%s sent %s" % (name, sent))

    def until_table(self, *names):
        for name in names:
            until(self.pods[name].table, "a table for " + name)

    def until_none(self, *names):
        for name in names:
            until(lambda name=name: not self.pods[name].table(), "no table for " + name)


def test_two_classes(scene):
    scene.labels = {"batch": {"farcall.dev/qos-class": "bulk"}}
    for name, namespace in ("a", "payments"), ("b", "batch"), ("c", "other"):
        scene.start_pod(name, namespace)
    scene.marked("a", 0)
    scene.start_qos()
    scene.until_table("a", "b")
    scene.marked("a", GOLD)
    scene.marked("b", BULK)
    scene.marked("c", 0)
    need(scene.said("RDMA passes it by"), "it does not say what it cannot mark")


def test_the_nodes_network(scene):
    scene.start_pod("h", "payments", own_network=False)
    scene.start_pod("i", "other", own_network=False)
    scene.until_table("h")
    scene.marked("h", GOLD)
    scene.marked("i", 0)


def test_come_and_go(scene):
    scene.start_pod("d", "payments")
    scene.until_table("d")
    scene.marked("d", GOLD)
    scene.end_pod("a")
    scene.marked("d", GOLD)
    scene.marked("b", BULK)


def test_killed_and_started(scene):
    table = scene.pods["d"].table()
    need(scene.end_qos(signal.SIGKILL) == -signal.SIGKILL, "it was not killed")
    scene.marked("d", GOLD)
    scene.start_pod("e", "payments")
    scene.labels = {"batch": {}}
    scene.tell()
    scene.marked("e", 0)
    scene.start_qos()
    scene.until_table("e")
    scene.until_none("b")
    scene.marked("e", GOLD)
    scene.marked("d", GOLD)
    scene.marked("b", 0)
    scene.marked("h", GOLD)
    packets = int(scene.pods["d"].table().partition("packets ")[2].split()[0])
    before = int(table.partition("packets ")[2].split()[0])
    need(packets > before > 0, "the counter began anew: %d after %d" % (packets, before))


def test_bad_input(scene):
    scene.write("gold", "64")
    until(lambda: scene.said("class gold has DSCP '64'"), "a word about 64")
    scene.start_pod("f", "payments")
    scene.until_table("f")
    scene.marked("f", GOLD)
    scene.marked("d", GOLD)
    scene.write("gold", "ef")
    until(lambda: "set ef" in scene.pods["f"].table(), "the new DSCP")
    scene.marked("f", 46)
    scene.write("gold", str(GOLD))
    until(lambda: "set af31" in scene.pods["f"].table(), "the first DSCP")


def test_overlap(scene):
    scene.write("pods.json", json.dumps([{"class": "gold", "namespace": "payments"},
                                         {"class": "bulk", "labels": {"a": "b"}}]))
    until(lambda: scene.said("overlap"), "a word about entries that overlap")
    scene.marked("f", GOLD)
    scene.write("pods.json", json.dumps([{"class": "gold", "namespace": "payments"}]))


def test_counters(scene):
    told = subprocess.run(scene.words("--counters"), capture_output=True, text=True,
                          timeout=PATIENCE).stdout
    line = [line for line in told.splitlines() if line.startswith(scene.pods["f"].uid)]
    need(line and " gold: " in line[0] and " 0 packets" not in line[0], "told: %s" % told)


def test_goes(scene):
    need(scene.end_qos(signal.SIGTERM) == 0, "it did not end well")
    for name in scene.pods:
        need(not scene.pods[name].table(), "a table is left for " + name)
    for name in "d", "b", "h":
        scene.marked(name, 0)


def test_removed_after_a_kill(scene):
    scene.start_qos()
    scene.until_table("d", "e", "f", "h")
    scene.end_qos(signal.SIGKILL)
    need(subprocess.run(scene.words("--remove"), timeout=PATIENCE).returncode == 0, "it fails")
    for name in scene.pods:
        need(not scene.pods[name].table(), "a table is left for " + name)


CASES = (test_two_classes, test_the_nodes_network, test_come_and_go, test_killed_and_started,
         test_bad_input, test_overlap, test_counters, test_goes, test_removed_after_a_kill)


def inside():
    with tempfile.TemporaryDirectory() as directory:
        scene = Scene(directory)
        try:
            well = run_cases("qos", [(case.__name__[len("test_"):].replace("_", "-"),
                                      lambda case=case: case(scene)) for case in CASES])
            if not well and os.path.exists(scene.path("log")):
                with open(scene.path("log"), encoding="utf-8") as stream:
                    sys.stderr.write(stream.read())
            return well
        finally:
            for name in list(scene.pods):
                scene.end_pod(name)
            if scene.qos and scene.qos.poll() is None:
                scene.qos.kill()
            scene.wire.end()


if __name__ == "__main__":
    if INSIDE not in os.environ:
        os.execvpe("unshare", ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc",
                               "--", sys.executable, "-B", os.path.realpath(__file__)],
                   {**os.environ, INSIDE: "1"})
    sys.exit(0 if inside() else 1)
