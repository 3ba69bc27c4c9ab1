# SPDX-License-Identifier: Apache-2.0
"""Renders the overlays by kustomize, validates them against schemas, and holds them to the rules.

  manifests.py render KUSTOMIZE PROMTOOL       writes k8s/rendered
  manifests.py test KUSTOMIZE PROMTOOL         prints a line for each case
"""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

import yaml

import alarm_cases
import network_schemas
import rules
import safety
import schemas
from cases import Trouble, need, run_cases
from world import Overlay, label_of, load_overlays

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
OVERLAYS = os.path.join(ROOT, "k8s", "overlays")
RENDERED = os.path.join(ROOT, "k8s", "rendered")
HEAD = """# SPDX-License-Identifier: Apache-2.0
#
# kubectl kustomize k8s/overlays/%s, written by `tools/k8s/run --render`.
"""


def render(kustomize, path):
    result = subprocess.run([kustomize, "build", path], capture_output=True, text=True, timeout=60)
    if result.returncode:
        raise Trouble(result.stderr)
    return result.stdout


def write(kustomize):
    texts = {name: HEAD % name + render(kustomize, os.path.join(OVERLAYS, name))
             for name in sorted(os.listdir(OVERLAYS))}
    os.makedirs(RENDERED, exist_ok=True)
    for name in os.listdir(RENDERED):
        os.unlink(os.path.join(RENDERED, name))
    for name, text in texts.items():
        with open(os.path.join(RENDERED, name + ".yaml"), "w", encoding="utf-8") as stream:
            stream.write(text)


def test_render(kustomize, name):
    with open(os.path.join(RENDERED, name + ".yaml"), encoding="utf-8") as stream:
        need(stream.read() == HEAD % name + render(kustomize, os.path.join(OVERLAYS, name)),
             "k8s/rendered/%s.yaml is old; cure: tools/k8s/run --render" % name)


def test_schemas(overlay):
    for item in overlay.items:
        wrong = schemas.errors(item)
        need(not wrong, "%s: %s" % (label_of(item), "; ".join(wrong)))


# Mistakes that only a schema sees: (overlay, kind, change).
_MISTAKES = [
    ("tcp-only", "Deployment", lambda item: item["spec"].update(replica=2)),
    ("tcp-only", "Deployment", lambda item: item["spec"].update(replicas="two")),
    ("tcp-only", "Service", lambda item: item["spec"]["ports"][0].pop("port")),
    ("dra", "ResourceClaimTemplate", lambda item: item["spec"]["spec"].update(device={})),
    ("macvlan", "NetworkAttachmentDefinition", lambda item: item["spec"].update(config={})),
    ("macvlan", "NetworkAttachmentDefinition", lambda item: item["spec"].update(configs="")),
    ("macvlan", "NetworkAttachmentDefinition",
     lambda item: item["spec"].update(config=item["spec"]["config"].replace("master", "parent"))),
    ("sriov", "NetworkAttachmentDefinition",
     lambda item: item["spec"].update(config=item["spec"]["config"].replace('"rdma"', '"rdmas"'))),
    ("sriov", "NetworkAttachmentDefinition",
     lambda item: item["spec"].update(config=item["spec"]["config"][:-5])),
    ("nic-cluster-policy", "NicClusterPolicy", lambda item: item["spec"].update(multus={})),
    ("nic-cluster-policy", "NicClusterPolicy",
     lambda item: item["spec"]["rdmaSharedDevicePlugin"].pop("version")),
    ("sriov-operator", "SriovNetworkNodePolicy", lambda item: item["spec"].update(numVfs="8")),
    ("sriov-operator", "SriovNetworkNodePolicy", lambda item: item["spec"].pop("nicSelector")),
    ("sriov-operator", "SriovNetwork", lambda item: item["spec"].update(vlanQoS=8)),
    ("sriov-operator", "SriovNetwork", lambda item: item["spec"].update(trust=True)),
    ("bench", "Job", lambda item: item.update(apiVersion="batch/v9")),
    ("qos", "MutatingAdmissionPolicy", lambda item: item["spec"].update(mutation=[])),
    ("qos", "ClusterRole", lambda item: item["rules"][0].pop("verbs")),
    ("monitored", "PodMonitor", lambda item: item["spec"].update(endpoints=[])),
    ("monitored", "PrometheusRule",
     lambda item: item["spec"]["groups"][0]["rules"][0].update(expression="up")),
]


def test_schemas_find(overlays):
    for name, kind, change in _MISTAKES:
        item = copy.deepcopy(overlays[name].of(kind)[0])
        change(item)
        need(schemas.errors(item), "a mistake in a %s is not found" % kind)


def compose(kustomize, name, text, files=()):
    """The Overlay of a kustomization beside the repository, which text calls ../farcall."""
    with tempfile.TemporaryDirectory() as path:
        os.symlink(ROOT, os.path.join(path, "farcall"))
        for file, content in ("kustomization.yaml", text), *files:
            os.makedirs(os.path.join(path, "own"), exist_ok=True)
            with open(os.path.join(path, "own", file), "w", encoding="utf-8") as stream:
                stream.write(content)
        rendered = render(kustomize, os.path.join(path, "own"))
    return Overlay(name, [item for item in yaml.safe_load_all(rendered) if item])


def test_composed(overlays, composed):
    test_schemas(composed)
    wrong = rules.findings({**overlays, composed.name: composed}, ROOT)
    need(not wrong, "; ".join(wrong))


def test_bench_on_any_network(kustomize, overlays, component):
    """As docs/kubernetes.md says it: bench with the network's component added."""
    test_composed(overlays, compose(kustomize, "bench-" + component, (
        "resources: [../farcall/k8s/overlays/bench]\n"
        "components: [../farcall/k8s/components/%s]\n") % component))


def blocks_of(page):
    """The blocks of YAML in a page of docs, those of lists too."""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as stream:
        found = re.findall(r"(?ms)^ *```yaml\n(.*?)^ *```$", stream.read())
    return [textwrap.dedent(block) for block in found]


def page_with(page, start):
    """The one block of YAML in a page of docs that begins so."""
    found = [block for block in blocks_of(page) if block.startswith(start)]
    need(len(found) == 1, "%s has %d blocks that begin with %s" % (page, len(found), start))
    return found[0]


def test_bench_with_sriov(kustomize, overlays):
    text = page_with("kubernetes.md", "resources: [../farcall/k8s/overlays/bench]\ncomponents: "
                     "[../farcall/k8s/components/sriov]")
    composed = compose(kustomize, "bench-sriov", text)
    test_composed(overlays, composed)
    for pods in composed.pods():
        need("hca_shared" not in str(pods.spec), pods.name + " wants the shared plugin, too")
        need("nvidia.com/rdma_vf" in str(pods.spec), pods.name + " has no virtual function")


def test_any_overlay_is_monitored(kustomize, overlays):
    text = page_with("operations.md", "resources: [../farcall/k8s/overlays/macvlan]")
    composed = compose(kustomize, "monitored-macvlan", text)
    test_composed(overlays, composed)
    for kind in ("PodMonitor", "PrometheusRule"):
        need(composed.of(kind) == overlays["monitored"].of(kind), "another %s" % kind)


def generated_config_map():
    """As gen_selectors prints it: tools/gen_selectors/program_test.cc holds the page to that."""
    return page_with("gen_selectors.md", "$ gen_selectors ").partition("\n")[2]


def test_page(kustomize):
    """Each kustomization of docs/kubernetes.md renders what fits the schemas."""
    for block in blocks_of("kubernetes.md"):
        test_schemas(compose(kustomize, "page", block,
                             [("rdma-devices.yaml", generated_config_map())]))


def test_generated_selectors(kustomize, overlays):
    """What gen_selectors prints takes the place of the ConfigMap that is there."""
    text = page_with("kubernetes.md", "resources: [../farcall/k8s/overlays/device-plugin]")
    sample = generated_config_map()
    composed = compose(kustomize, "generated", text, [("rdma-devices.yaml", sample)])
    test_schemas(composed)
    maps = [item["data"] for item in composed.of("ConfigMap")]
    need(maps == [yaml.safe_load(sample)["data"]], "ConfigMaps: %s" % maps)
    same = overlays["device-plugin"].of("DaemonSet")
    need(composed.of("DaemonSet") == same, "the DaemonSet is another one")


def test_node_setup_applied(kustomize):
    """As docs/qos.md says it: with a file of one's own, and then done, not only said."""
    text = page_with("qos.md", "resources: [../farcall/k8s/overlays/node-setup]")
    composed = compose(kustomize, "node-setup-applied", text, [("node.json", "{}")])
    test_schemas(composed)
    need([item["data"]["node.json"] for item in composed.of("ConfigMap")] == ["{}"], "another file")
    container = composed.pods()[0].containers[0]
    need(container["args"][-1] == "--apply", "args: %s" % container["args"])


def test_operators(overlays):
    """What they make is what the pods ask for."""
    plugin = overlays["nic-cluster-policy"].of("NicClusterPolicy")[0]["spec"]
    policy = overlays["sriov-operator"].of("SriovNetworkNodePolicy")[0]["spec"]
    network = overlays["sriov-operator"].of("SriovNetwork")[0]
    shared = json.loads(plugin["rdmaSharedDevicePlugin"]["config"])["configList"]
    functions = "nvidia.com/" + policy["resourceName"]
    need({"rdma/" + each["resourceName"] for each in shared} | {functions} ==
         safety.provided(overlays.values()), "other resources: %s" % shared)
    attached = overlays["sriov"].of("NetworkAttachmentDefinition")[0]["metadata"]
    need((network["metadata"]["name"], network["spec"]["networkNamespace"]) ==
         (attached["name"], attached["namespace"]), "another attachment")
    need(network["spec"]["resourceName"] == policy["resourceName"], "another resource")
    chain = {"cniVersion": "1.0.0", "name": "x", "plugins": [
        {"type": "sriov", "vlan": network["spec"]["vlan"], "trust": network["spec"]["trust"],
         "ipam": json.loads(network["spec"]["ipam"])}, json.loads(network["spec"]["metaPlugins"])]}
    wrong = network_schemas.config_errors(json.dumps(chain))
    need(not wrong, "; ".join(wrong))


# The others of docs/kubernetes.md: how they begin.
_MACVLAN = "resources: [../farcall/k8s/overlays/macvlan]\n"
_BASE = "resources: [../farcall/k8s/base]\ncomponents: [../farcall/k8s/components/"
_ATTACHMENT = "patches:\n- target: {kind: NetworkAttachmentDefinition"
_OF_PAGE = {"images-of-a-registry": _MACVLAN + "images:",
            "restricted-pods": _BASE + "shared-hca",
            "attachment-of-the-operator": _BASE + "rdma, ../farcall/k8s/components/sriov]",
            "vlan-and-trust": "resources: [../farcall/k8s/overlays/sriov]\n" + _ATTACHMENT,
            "vlan-of-the-node": _MACVLAN + _ATTACHMENT,
            "called-by-others": _MACVLAN + "patches:\n- target: {kind: NetworkPolicy"}


def test_of_page(kustomize, overlays, name):
    composed = compose(kustomize, name, page_with("kubernetes.md", _OF_PAGE[name]))
    if name == "images-of-a-registry":
        images = {container["image"] for pods in composed.pods() for container in pods.containers}
        need(images == {"registry.example.com/team/farcall:0.1.0"}, "images: %s" % images)
        return
    if name in ("vlan-and-trust", "vlan-of-the-node"):
        # The rules know no interface that is as long as these packets: the page says it.
        test_schemas(composed)
        config = composed.of("NetworkAttachmentDefinition")[0]["spec"]["config"]
        need("mtu" in config and "100" in config, "no VLAN: " + config)
        return
    if name == "attachment-of-the-operator":
        test_schemas(composed)
        need(not composed.of("NetworkAttachmentDefinition"), "it has one of its own")
        need("farcall/rdma-sriov" in str(composed.pods()[0].annotations), "it names none")
        return
    test_composed(overlays, composed)
    if name == "called-by-others":
        sources = composed.of("NetworkPolicy")[0]["spec"]["ingress"][0]["from"]
        need([list(source) for source in sources] == [["podSelector"], ["namespaceSelector"]],
             "callers: %s" % sources)


def test_rules(overlays):
    wrong = rules.findings(overlays, ROOT)
    need(not wrong, "; ".join(wrong))


def test(kustomize, promtool):
    overlays = load_overlays(RENDERED)
    cases = [("render-" + name, lambda name=name: test_render(kustomize, name))
             for name in sorted(os.listdir(OVERLAYS))]
    cases += [("schemas-" + name, lambda overlay=overlay: test_schemas(overlay))
              for name, overlay in overlays.items()]
    cases += [("schemas-find-mistakes", lambda: test_schemas_find(overlays)),
              ("rules", lambda: test_rules(overlays)),
              ("bench-with-sriov", lambda: test_bench_with_sriov(kustomize, overlays)),
              ("any-overlay-monitored",
               lambda: test_any_overlay_is_monitored(kustomize, overlays)),
              ("page", lambda: test_page(kustomize)),
              ("operators", lambda: test_operators(overlays)),
              ("node-setup-applied", lambda: test_node_setup_applied(kustomize)),
              ("generated-selectors", lambda: test_generated_selectors(kustomize, overlays))]
    cases += [("bench-with-" + name,
               lambda name=name: test_bench_on_any_network(kustomize, overlays, name))
              for name in ("ipoib", "macvlan", "hostnetwork")]
    cases += [(name, lambda name=name: test_of_page(kustomize, overlays, name))
              for name in _OF_PAGE]
    cases += alarm_cases.cases(promtool, overlays["monitored"])
    return run_cases("manifests", cases)


if __name__ == "__main__":
    if sys.argv[1] == "render":
        write(sys.argv[2])
    else:
        sys.exit(0 if test(sys.argv[2], sys.argv[3]) else 1)
