# SPDX-License-Identifier: Apache-2.0
"""What a pod may do that enters the network namespaces of others, or sets the node up: those of
tools/qos."""

from world import QOS

# What it takes to enter other pods' network namespaces, and to mark there.
ENTERS = {"NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE"}


# To set the node up: for dcb(8), and modprobe.
SETS_UP = {"NET_ADMIN", "SYS_MODULE"}


def sets_up(container):
    return container["image"].startswith(QOS + ":") and container.get("command") == ["node_setup"]


def enters(container):
    return container["image"].startswith(QOS + ":") and not sets_up(container)


def may_add(container):
    """Capabilities."""
    if sets_up(container):
        return SETS_UP
    return ENTERS if enters(container) else {"IPC_LOCK"}


def is_opted_in(pods):
    """It changes nothing on nodes without a label of its own, nor unless it is told to."""
    if "farcall.dev/node-setup" not in pods.spec.get("nodeSelector", {}):
        yield "%s: it would set up every node" % pods.name
    if any("--apply" in container.get("args", []) for container in pods.containers):
        yield "%s: it changes nodes before anybody read what it would do" % pods.name


def reads_only(overlay, pods):
    """The roles of its account let it list and watch, and no more."""
    account = pods.spec.get("serviceAccountName")
    bound = [item["roleRef"]["name"] for item in overlay.of("ClusterRoleBinding")
             if account in [subject["name"] for subject in item["subjects"]]]
    rules = [rule for name in bound for item in overlay.named("ClusterRole", name)
             for rule in item["rules"]]
    if not rules:
        yield "%s: it may not read pods" % pods.name
    for rule in rules:
        if set(rule["verbs"]) - {"list", "watch"} or \
                set(rule["resources"]) - {"namespaces", "pods"}:
            yield "%s: its role may more than read pods and namespaces" % pods.name
