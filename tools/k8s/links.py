# SPDX-License-Identifier: Apache-2.0
"""Rules of what refers to something else by name: it must be there."""

import json
import re

from world import CLUSTER_KINDS, POD_KINDS, dig, label_of, selects

NETWORKS = "k8s.v1.cni.cncf.io/networks"
NETWORK_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
SHARED_HCA = "rdma/hca_shared_devices_a"
# Overlays whose queue pairs are set up over TCP; a component may give them a network for rdma_cm.
WITHOUT_NETWORK = ("bench", "doctor", "shared-hca")
# Namespaces that every cluster has.
GIVEN_NAMESPACES = ("kube-system", "sriov-network-operator")


def names(overlay, _):
    seen = set()
    spaces = {item["metadata"]["name"] for item in overlay.of("Namespace")} | set(GIVEN_NAMESPACES)
    for item in overlay.items:
        space = item["metadata"].get("namespace")
        key = (item["kind"], space, item["metadata"]["name"])
        if key in seen:
            yield "%s is there twice" % label_of(item)
        seen.add(key)
        if item["kind"] not in CLUSTER_KINDS and space not in spaces:
            yield "%s is in namespace %s, which nothing makes" % (label_of(item), space)
        if overlay.of("Namespace") and space in GIVEN_NAMESPACES:
            yield "%s is the cluster's: another overlay makes it, and this one takes it away" % (
                label_of(item))


def _selectors(overlay):
    """(who, selector, namespace) of everything that selects pods."""
    for item in overlay.items:
        space, spec = item["metadata"].get("namespace"), item.get("spec", {})
        if item["kind"] == "Service":
            yield label_of(item), spec.get("selector"), space
        elif item["kind"] == "NetworkPolicy":
            yield label_of(item), spec["podSelector"], space
        elif item["kind"] in ("PodDisruptionBudget", "PodMonitor"):
            yield label_of(item), spec.get("selector"), space
    for pods in overlay.pods():
        for term in pods.spec.get("topologySpreadConstraints", []):
            yield pods.name, term.get("labelSelector"), pods.namespace
        rules = dig(pods.spec, "affinity", "podAntiAffinity") or {}
        for term in rules.get("requiredDuringSchedulingIgnoredDuringExecution", []):
            yield pods.name, term.get("labelSelector"), pods.namespace


def selectors(overlay, _):
    for who, selector, space in _selectors(overlay):
        if not selector:
            yield "%s selects everything" % who
        elif not overlay.selected(selector, space):
            yield "%s selects no pod: %s" % (who, selector)
    for item in overlay.of(*POD_KINDS):
        selector = item["spec"].get("selector")
        if selector and not selects(selector, item["spec"]["template"]["metadata"]["labels"]):
            yield "%s does not select its own pods" % label_of(item)


def ports(overlay, _):
    for item in overlay.of("Service"):
        for port in item["spec"]["ports"]:
            target = port.get("targetPort", port["port"])
            for pods in overlay.selected(item["spec"].get("selector"),
                                         item["metadata"].get("namespace")):
                if not pods.has_port(target):
                    yield "%s: %s has no port %s" % (label_of(item), pods.name, target)
    for item in overlay.of("NetworkPolicy"):
        wanted = [port["port"] for rule in item["spec"].get("ingress", [])
                  for port in rule.get("ports", [])]
        for pods in overlay.selected(item["spec"]["podSelector"], item["metadata"]["namespace"]):
            for port in wanted:
                if not pods.has_port(port):
                    yield "%s: %s has no port %s" % (label_of(item), pods.name, port)
    for item in overlay.of("PodMonitor"):
        for pods in overlay.selected(item["spec"]["selector"], item["metadata"]["namespace"]):
            for end in item["spec"]["podMetricsEndpoints"]:
                if not pods.has_port(end["port"]):
                    yield "%s: %s has no port %s" % (label_of(item), pods.name, end["port"])
    for pods in overlay.pods():
        for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
            for container in pods.containers:
                for kind in ("httpGet", "tcpSocket"):
                    port = dig(container, probe, kind, "port")
                    if port is not None and not pods.has_port(port):
                        yield "%s: %s asks at port %s" % (pods.name, probe, port)
        excluded = pods.annotations.get("traffic.sidecar.istio.io/excludeInboundPorts")
        for port in pods.ports():
            if excluded is not None and str(port["containerPort"]) not in excluded.split(","):
                yield "%s: sidecars may take port %s" % (pods.name, port["containerPort"])


def volumes(overlay, _):
    for pods in overlay.pods():
        known = {volume["name"]: volume for volume in pods.spec.get("volumes", [])}
        mounted = {mount["name"] for container in pods.containers
                   for mount in container.get("volumeMounts", [])}
        for name in mounted ^ set(known):
            yield "%s: volume %s is mounted or there, not both" % (pods.name, name)
        for name, volume in known.items():
            source = volume.get("configMap")
            if not source:
                continue
            found = overlay.named("ConfigMap", source["name"], pods.namespace)
            keys = {key for item in found for key in item.get("data", {})}
            for item in source.get("items", []):
                if item["key"] not in keys:
                    yield "%s: ConfigMap %s has no %s" % (pods.name, source["name"], item["key"])


def claims(overlay, _):
    for pods in overlay.pods():
        known = {claim["name"]: claim for claim in pods.spec.get("resourceClaims", [])}
        used = {claim["name"] for container in pods.containers
                for claim in dig(container, "resources", "claims") or []}
        for name in used ^ set(known):
            yield "%s: claim %s is used or there, not both" % (pods.name, name)
        for claim in known.values():
            template = claim.get("resourceClaimTemplateName")
            if not overlay.named("ResourceClaimTemplate", template, pods.namespace):
                yield "%s: no ResourceClaimTemplate %s" % (pods.name, template)
    for item in overlay.of("ResourceClaimTemplate"):
        for request in dig(item, "spec", "spec", "devices", "requests") or []:
            name = dig(request, "exactly", "deviceClassName")
            if not overlay.named("DeviceClass", name):
                yield "%s: no DeviceClass %s" % (label_of(item), name)


def _ipams(config):
    """The ipam parts of a CNI configuration, or of its chain."""
    return [part["ipam"] for part in config.get("plugins", [config]) if "ipam" in part]


def networks(overlay, _):
    for item in overlay.of("NetworkAttachmentDefinition"):
        try:
            config = json.loads(item["spec"]["config"])
        except ValueError as error:
            yield "%s: its config is no JSON: %s" % (label_of(item), error)
            continue
        if config.get("name") != item["metadata"]["name"]:
            yield "%s: its config is named %s" % (label_of(item), config.get("name"))
        if any(ipam["type"] == "host-local" for ipam in _ipams(config)):
            yield "%s: host-local gives the same addresses on each node" % label_of(item)
        if any("mtu" in part for part in config.get("plugins", [config])):
            yield "%s: an MTU beyond the master's is refused; without one it is the master's" % (
                label_of(item))
    for pods in overlay.pods():
        for name in filter(None, re.split(r",\s*", pods.annotations.get(NETWORKS, ""))):
            space, _, network = name.rpartition("/")
            found = overlay.named("NetworkAttachmentDefinition", network, space or pods.namespace)
            if not found:
                yield "%s: no NetworkAttachmentDefinition %s" % (pods.name, name)
            for item in found:
                resource = dig(item, "metadata", "annotations", NETWORK_RESOURCE)
                asked = dig(pods.containers[0], "resources", "limits") or {}
                if resource and resource not in asked:
                    yield "%s: network %s needs %s" % (pods.name, name, resource)


def addresses(overlay, _):
    """rdma_cm, and so farcall, finds an adapter by an IP address of the pod."""
    if overlay.name in WITHOUT_NETWORK:
        return
    for pods in overlay.pods():
        for container in pods.containers:
            limits = dig(container, "resources", "limits") or {}
            if SHARED_HCA in limits and not (pods.spec.get("hostNetwork") or
                                             pods.annotations.get(NETWORKS)):
                yield "%s: no interface of the adapter is in it" % pods.name


RULES = (names, selectors, ports, volumes, claims, networks, addresses)
