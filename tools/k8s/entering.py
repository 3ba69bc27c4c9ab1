# SPDX-License-Identifier: Apache-2.0
"""What a pod may do that enters the network namespaces of others (tools/qos)."""

from world import QOS

# What it takes to enter other pods' network namespaces, and to mark there.
ENTERS = {"NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE"}


def enters(container):
    return container["image"].startswith(QOS + ":")


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
