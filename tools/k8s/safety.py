# SPDX-License-Identifier: Apache-2.0
"""Rules of what pods may do and what they need for it: privileges, probes, resources, variables."""

import json
import os
import re

import yaml

from entering import enters, is_opted_in, may_add, reads_only, sets_up
from links import NETWORKS
from world import dig, label_of

GIB = 1 << 30
_UNITS = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
# BlockPoolOptions::max_bytes.
POOL_BYTES = GIB
# Of examples/echo/server.cc, in seconds.
SERVER_GRACE = 5
# Programs of the base image that commands may use.
BASE_PROGRAMS = ("nsenter", "sh", "sleep", "test", ":")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)([KMG]i)?", str(text)).groups()
    return int(number) * _UNITS[unit or ""]


def _ours(pods):
    return [container for container in pods.containers if container["image"].startswith("farcall")]


def _carries_calls(container):
    return bool(set(_programs_of(container)) & {"echo-server", "farcall-bench"})


def images(overlay, farcall):
    for pods in overlay.pods():
        for container in pods.containers:
            image = container["image"]
            if image.startswith("farcall"):
                if image not in farcall.images:
                    yield "%s: tools/image makes no %s" % (pods.name, image)
                continue
            tag = image.rpartition(":")[2] if ":" in image.rpartition("/")[2] else "latest"
            if tag == "latest":
                yield "%s: %s is another image each day" % (pods.name, image)
            if "k8s-rdma-shared-dev-plugin" in image:
                if [int(part) for part in re.findall(r"\d+", tag)] < [1, 5, 2]:
                    yield "%s: %s leaves out Ethernet" % (pods.name, image)


def _programs_of(container):
    """The first word of the command, of each command of a shell, and of hooks and probes."""
    command = container.get("command", ["echo-server"]) + container.get("args", [])
    yield command[0]
    if command[:2] == ["sh", "-c"]:
        for part in re.split(r";|&&", command[2]):
            yield [word for word in part.split() if word != "exec"][0]
    for hook in ("preStop", "postStart"):
        called = dig(container, "lifecycle", hook, "exec", "command")
        if called:
            yield called[0]
    for probe in PROBES:
        called = dig(container, probe, "exec", "command")
        if called:
            yield called[0]


def programs(overlay, farcall):
    known = {*farcall.programs, *farcall.qos_programs, *BASE_PROGRAMS}
    for pods in overlay.pods():
        for container in _ours(pods):
            for program in _programs_of(container):
                if program not in known:
                    yield "%s: the image has no %s" % (pods.name, program)
            text = " ".join(container.get("command", []))
            for host in re.findall(r"farcall-bench client ([\w.-]+)", text):
                if not overlay.named("Service", host, pods.namespace):
                    yield "%s: there is no Service %s" % (pods.name, host)


def variables(overlay, farcall):
    for pods in overlay.pods():
        for container in _ours(pods):
            values = {entry["name"]: entry for entry in container.get("env", [])}
            for name, entry in values.items():
                if name.startswith("FARCALL_") and name not in farcall.variables:
                    yield "%s: no program reads %s" % (pods.name, name)
                path = dig(entry, "valueFrom", "fieldRef", "fieldPath") or ""
                for key in re.findall(r"metadata.annotations\['(.*)'\]", path):
                    if key not in pods.annotations:
                        yield "%s: %s is of annotation %s, which is not there" % (
                            pods.name, name, key)
            status = dig(values, "FARCALL_RDMA_NETWORK_STATUS", "value")
            if status and status not in _podinfo(pods, container):
                yield "%s: nothing puts %s there" % (pods.name, status)
            if pods.annotations.get(NETWORKS) and not status:
                yield "%s: nobody tells it of its networks" % pods.name


def settings(overlay, farcall):
    """Each server and its load have a file that FARCALL_CONFIG names, with settings only."""
    for pods in overlay.pods():
        for container in _ours(pods):
            values = {entry["name"]: entry.get("value") for entry in container.get("env", [])}
            path = values.get("FARCALL_CONFIG")
            if not path:
                if _carries_calls(container):
                    yield "%s: it has no file of settings" % pods.name
                continue
            files = _config_files(overlay, pods, container)
            if path not in files:
                yield "%s: nothing puts %s there" % (pods.name, path)
            for name in _setting_names(yaml.safe_load(files.get(path, "")) or {}):
                if name not in farcall.settings:
                    yield "%s: %s has %s, which is no setting" % (pods.name, path, name)


def _config_files(overlay, pods, container):
    """{path: text} of files that ConfigMaps make."""
    files = {}
    for volume in pods.spec.get("volumes", []):
        source = volume.get("configMap", {}).get("name")
        for mount in container.get("volumeMounts", []):
            if source and mount["name"] == volume["name"]:
                for item in overlay.named("ConfigMap", source, pods.namespace):
                    for key, text in item.get("data", {}).items():
                        files[os.path.join(mount["mountPath"], key)] = text
    return files


def _setting_names(values, before=""):
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _setting_names(value, before + name + ".")
        else:
            yield before + name


def _podinfo(pods, container):
    """Paths of files that the downward API makes."""
    sources = {volume["name"]: volume.get("downwardAPI", {}) for volume in
               pods.spec.get("volumes", [])}
    return [os.path.join(mount["mountPath"], item["path"])
            for mount in container.get("volumeMounts", [])
            for item in sources.get(mount["name"], {}).get("items", [])]


def _probes_of_server(container):
    """Only /health is asked, which says whether the server takes calls, over TCP."""
    for probe in PROBES:
        asked = container.get(probe)
        if not asked:
            yield "no %s" % probe
        elif dig(asked, "httpGet", "path") != "/health":
            yield "%s depends on more than /health" % probe
    live = container.get("livenessProbe", {})
    if live.get("periodSeconds", 10) * live.get("failureThreshold", 3) < 30:
        yield "it is killed for a pause"


def probes(overlay, _):
    for pods in overlay.pods():
        for container in _ours(pods):
            if pods.owner["kind"] == "Deployment":
                for what in _probes_of_server(container):
                    yield "%s: %s" % (pods.name, what)
            if pods.owner["kind"] == "DaemonSet" and "readinessProbe" not in container:
                yield "%s: rollout status does not wait for it" % pods.name


def stop(overlay, _):
    for pods in overlay.pods():
        for container in _ours(pods) if pods.owner["kind"] == "Deployment" else []:
            words = dig(container, "lifecycle", "preStop", "exec", "command")
            if not words or words[0] != "sleep":
                yield "%s: it stops before others know" % pods.name
                continue
            needed = int(words[1]) + SERVER_GRACE
            if pods.spec.get("terminationGracePeriodSeconds", 30) <= needed:
                yield "%s: it is killed within its own grace of %d s" % (pods.name, needed)
    for item in overlay.of("PodDisruptionBudget"):
        for pods in overlay.selected(item["spec"]["selector"], item["metadata"]["namespace"]):
            if item["spec"].get("maxUnavailable", 1) >= pods.owner["spec"].get("replicas", 1):
                yield "%s: nothing of %s may be left" % (label_of(item), pods.name)


def _container_is_safe(pods, container):
    context = container.get("securityContext", {})
    if context.get("privileged"):
        yield "privileged"
    if context.get("allowPrivilegeEscalation") is not False:
        yield "may raise its privileges"
    if context.get("readOnlyRootFilesystem") is not True:
        yield "may write to its root"
    if dig(context, "capabilities", "drop") != ["ALL"]:
        yield "keeps capabilities"
    added = pods.capabilities(container)
    if set(added) - may_add(container):
        yield "adds capabilities"
    if added and pods.user(container) != 0:
        yield "has a capability that is in effect for uid 0 only"
    if not added and pods.user(container) in (0, None):
        yield "is uid 0 without need"


def _is_loose(pods):
    """What only the level `privileged` of Pod Security admits."""
    return bool(pods.spec.get("hostNetwork") or pods.spec.get("hostPID") or
                any("hostPath" in volume for volume in pods.spec.get("volumes", [])) or
                any(map(pods.capabilities, _ours(pods))))  # fmt: skip


def privileges(overlay, _):
    levels = {item["metadata"]["name"]:
              item["metadata"].get("labels", {}).get("pod-security.kubernetes.io/enforce")
              for item in overlay.of("Namespace")}
    levels["kube-system"] = "privileged"  # where it has no label, as in a new cluster
    for pods in overlay.pods():
        ours = _ours(pods)
        for container in ours:
            for what in _container_is_safe(pods, container):
                yield "%s: %s %s" % (pods.name, container["name"], what)
        if not ours:
            continue
        context = pods.spec.get("securityContext", {})
        if dig(context, "seccompProfile", "type") != "RuntimeDefault":
            yield "%s: no seccomp profile" % pods.name
        if any(map(enters, ours)):
            yield from reads_only(overlay, pods)
        elif pods.spec.get("automountServiceAccountToken") is not False:
            yield "%s: it has a token of the API server" % pods.name
        if any(map(sets_up, ours)):
            yield from is_opted_in(pods)
        paths = [volume["name"] for volume in pods.spec.get("volumes", []) if "hostPath" in volume]
        for container in ours:
            for mount in container.get("volumeMounts", []):
                if mount["mountPath"] == "/sys/kernel/config" and enters(container):
                    continue  # rdma_cm's defaults
                if mount["mountPath"] == "/host" and sets_up(container):
                    continue
                if mount["name"] in paths and mount.get("readOnly") is not True:
                    yield "%s: it may write to the node's %s" % (pods.name, mount["mountPath"])
        # A namespace is as its loosest pods need it.
        loose = any(_is_loose(each) for each in overlay.pods() if each.namespace == pods.namespace)
        wanted = "privileged" if loose else "restricted"
        if levels.get(pods.namespace) != wanted:
            yield "%s: namespace %s must be %s" % (pods.name, pods.namespace, wanted)
        if bool(context.get("runAsNonRoot")) == any(map(pods.capabilities, ours)):
            yield "%s: runAsNonRoot does not fit the user" % pods.name
        if pods.spec.get("hostNetwork") and pods.spec.get("dnsPolicy") != "ClusterFirstWithHostNet":
            yield "%s: it cannot resolve Services" % pods.name


def provided(overlays):
    """Extended resources that the ConfigMaps of device plugins make."""
    found = set()
    for overlay in overlays:
        for item in overlay.of("ConfigMap"):
            config = json.loads(item["data"].get("config.json", "{}"))
            for entry in config.get("configList", []):
                found.add("%s/%s" % (entry.get("resourcePrefix", "rdma"), entry["resourceName"]))
            for entry in config.get("resourceList", []):
                found.add("%s/%s" % (entry.get("resourcePrefix", "intel.com"),
                                     entry["resourceName"]))
    return found


def resources(overlay, farcall):
    for pods in overlay.pods():
        for container in _ours(pods):
            limits = dig(container, "resources", "limits") or {}
            requests = dig(container, "resources", "requests") or {}
            serves = _carries_calls(container)
            if "memory" not in limits or serves and bytes_of(limits["memory"]) < POOL_BYTES:
                yield "%s: the block pool does not fit the memory" % pods.name
            extended = {name for name in set(limits) | set(requests)
                        if "/" in name or name.startswith("hugepages-")}
            for name in extended:
                if limits.get(name) != requests.get(name):
                    yield "%s: requests and limits of %s differ" % (pods.name, name)
                if "/" in name and name not in farcall.resources:
                    yield "%s: no overlay provides %s" % (pods.name, name)
            devices = [name for name in extended if "/" in name]
            devices += dig(container, "resources", "claims") or []
            if "IPC_LOCK" in pods.capabilities(container) and not devices:
                yield "%s: it may lock memory and asks for no device" % pods.name
            huge = limits.get("hugepages-2Mi")
            if bool(huge) != ("--huge_pages" in container.get("args", [])):
                yield "%s: huge pages are asked for or used, not both" % pods.name
            if huge and bytes_of(huge) < POOL_BYTES:
                yield "%s: SIGBUS when the pool grows beyond %s" % (pods.name, huge)


RULES = (images, programs, settings, variables, probes, stop, privileges, resources)
