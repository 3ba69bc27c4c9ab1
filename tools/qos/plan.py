# SPDX-License-Identifier: Apache-2.0
"""What is to be done, of what there is: nothing here asks the system or changes it."""

import dataclasses
import hashlib
import re

TABLE = "inet farcall_qos"
CHAIN = "marks_"
# Of a namespace: the class of its pods. Not of pods: who makes them could choose a class himself.
LABEL = "farcall.dev/qos-class"
REMOVE = "add table %s\ndelete table %s\n" % (TABLE, TABLE)
_POD = re.compile(r"pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}"
                  r"|[0-9a-f]{32})(?:\.slice)?(?=/|$)")
_SAFE_PATH = re.compile(r"[A-Za-z0-9_.@:/-]+")


@dataclasses.dataclass(frozen=True)
class Pod:
    uid: str
    namespace: str
    name: str
    labels: dict = dataclasses.field(hash=False)
    host_network: bool = False

    def __str__(self):
        return "%s/%s" % (self.namespace, self.name)


@dataclasses.dataclass(frozen=True)
class Process:
    pid: int
    uid: str  # of its pod
    cgroup: str  # of its pod, in the second hierarchy; "": the node has the first only
    network: int  # inode of its network namespace


@dataclasses.dataclass(frozen=True)
class Plan:
    scripts: dict  # {(pod's uid or "" for the node, network namespace): nft script or REMOVE}
    troubles: tuple  # for people; what is not in them goes on


def pod_of_cgroup(text):
    """(uid, path of the pod's cgroup or "") of /proc/PID/cgroup; None: of no pod."""
    found = None
    for line in text.splitlines():
        number, _, path = (line.split(":", 2) + ["", ""])[:3]
        match = _POD.search(path)
        if match:
            uid = match.group(1).replace("_", "-")
            if number == "0":
                return uid, path[:match.end()].lstrip("/")
            found = (uid, "")
    return found


def class_of(pod, config, namespaces):
    """(class or "", trouble or ""). `namespaces`: {name: labels}."""
    chosen = {entry.cls for entry in config.entries
              if entry.selects(pod.namespace, pod.labels)}
    labelled = namespaces.get(pod.namespace, {}).get(LABEL)
    if labelled and labelled not in config.dscps:
        return "", "namespace %s: %s=%s, and there is no such class; its pods are not marked" % (
            pod.namespace, LABEL, labelled[:63])
    if labelled:
        chosen.add(labelled)
    if len(chosen) > 1:
        return "", "%s: it is of %s, by its namespace's label and by pods.json; not marked" % (
            pod, " and of ".join(sorted(chosen)))
    return (chosen.pop() if chosen else ""), ""


def _marks(match, cls, dscp):
    return "".join(
        "    meta nfproto %s meta l4proto { tcp, udp } %scounter name class_%s %s dscp set %d\n" % (
            family, match, cls, word, dscp)
        for family, word in (("ipv4", "ip"), ("ipv6", "ip6")))


def _table(hook, rules, classes):
    counters = "".join("  counter class_%s {\n  }\n" % cls for cls in sorted(classes))
    # Loopback never leaves.
    rules = "    oifname \"lo\" return\n" + rules
    text = counters + hook + rules
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    return ("%stable %s {\n%s  chain %s%s {\n"
            "    type filter hook %s priority mangle; policy accept;\n%s  }\n}\n" % (
                REMOVE, TABLE, counters, CHAIN, mark, hook, rules))


def mark_of(script):
    """By which a table that is loaded is known: a part of its chain's name, which `nft -j` tells,
    as it does not tell comments. None: there shall be no table."""
    match = re.search("chain %s([0-9a-f]+)" % CHAIN, script)
    return match.group(1) if match else None


def _of_node(marked, config):
    """The table of pods with the node's own network: by their cgroups. `marked`: [(cgroup, cls)]"""
    if not marked:
        return REMOVE
    # The socket is known in the hook output, and not behind it.
    rules = "".join(_marks('socket cgroupv2 level %d "%s" ' % (path.count("/") + 1, path), cls,
                           config.dscps[cls]) for path, cls in sorted(marked))
    return _table("output", rules, {cls for _, cls in marked})


def plan(config, pods, namespaces, processes, node_network):
    """`pods`: of this node. A network namespace of a pod that nobody knows any more is cleared."""
    by_uid = {pod.uid: pod for pod in pods}
    scripts, troubles, of_node = {}, [], set()
    seen = set()
    for process in processes:
        pod = by_uid.get(process.uid)
        cls, trouble = class_of(pod, config, namespaces) if pod else ("", "")
        if trouble and process.uid not in seen:
            troubles.append(trouble)
        seen.add(process.uid)
        if process.network != node_network:
            key = (process.uid, process.network)
            if not cls:
                scripts.setdefault(key, REMOVE)
            elif key not in scripts:
                scripts[key] = _table("postrouting", _marks("", cls, config.dscps[cls]), {cls})
        elif cls and _SAFE_PATH.fullmatch(process.cgroup):
            of_node.add((process.cgroup, cls))
        elif cls:
            troubles.append("%s: it has the node's network, and no cgroup of the second hierarchy "
                            "by which to know it; it is not marked" % pod)
    scripts["", node_network] = _of_node(of_node, config)
    return Plan(scripts, tuple(sorted(set(troubles))))


def tos_of_devices(config):
    """{device: type of service}, of rdma_cm's connections that set none."""
    return {device: config.dscps[cls] << 2 for device, cls in config.devices.items()}
