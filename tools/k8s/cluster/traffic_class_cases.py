# SPDX-License-Identifier: Apache-2.0
"""What the admission policy of overlays/qos makes of pods, and what its account may do."""

import os

from cases import need
from cluster import OVERLAYS

VARIABLE, ANNOTATION = "FARCALL_TRAFFIC_CLASS", "farcall.dev/traffic-class"
_BY_ANNOTATION = {"name": VARIABLE, "valueFrom": {"fieldRef": {
    "apiVersion": "v1", "fieldPath": "metadata.annotations['%s']" % ANNOTATION}}}
_OWN = {"name": VARIABLE, "value": "8"}
_GIVEN = {"name": VARIABLE, "value": "104"}  # gold: DSCP 26, in the upper six bits of a byte
# Namespace, what the container has, what is annotated; then what of both a pod has that is made.
_PODS = {
    "class": ("payments", None, None, _GIVEN, "104"),
    "own-variable": ("payments", _OWN, None, _OWN, "104"),
    "annotation-empty": ("payments", _BY_ANNOTATION, "", _BY_ANNOTATION, "104"),
    "annotation-set": ("payments", _BY_ANNOTATION, "32", _BY_ANNOTATION, "32"),
    "no-class": ("plain", None, None, None, None),
    "no-such-class": ("wrong", None, None, None, None),
    "no-class-annotation-empty": ("plain", _BY_ANNOTATION, "", _BY_ANNOTATION, ""),
}
# What the class may hold, and the value that the variable gets; what is no DSCP.
_RIGHT = {"0": "0", "63": "252", "af31": "af31", " CS7 ": "cs7", "ef": "ef", "26": "104"}
_WRONG = ("64", "af44", "-1", "", "x")
_ACCOUNT = "system:serviceaccount:kube-system:farcall-qos"


def template(variable, annotation):
    """Of a pod with two containers, and with a variable that is none of ours."""
    env = [{"name": "OTHER", "value": "1"}] + ([variable] if variable else [])
    meta = {} if annotation is None else {"annotations": {ANNOTATION: annotation}}
    return {"metadata": meta, "spec": {"containers": [
        {"name": name, "image": "any", "env": env} for name in ("first", "second")]}}


def seen(pod):
    """(the variable of all containers, the annotation) of a pod, None where there is none."""
    found = []
    for container in pod["spec"]["containers"]:
        env = {each["name"]: each for each in container["env"]}
        need(env.pop("OTHER") == {"name": "OTHER", "value": "1"}, "it changes other variables")
        found.append(env.pop(VARIABLE, None))
        need(not env, "it brings %s" % env)
    need(found[0] == found[1], "containers have %s" % found)
    return found[0], pod["metadata"].get("annotations", {}).get(ANNOTATION)


class TrafficClassCases:
    """The cases follow each other: the first applies the overlay, the last takes it away."""

    def __init__(self, cluster, overlays, _):
        self._cluster, self._api, self._overlays = cluster, cluster.api, overlays
        self._path = os.path.join(OVERLAYS, "qos")

    def cases(self):
        return [("traffic-class-applied", self.applied), *(
            ("traffic-class-" + name, lambda each=each: self.pod(*each))
            for name, each in _PODS.items()), ("traffic-class-dscps", self.dscps),
                ("traffic-class-of-echo", self.echo), ("traffic-class-rights", self.rights),
                ("traffic-class-gone", self.gone)]

    def _seen(self, namespace, variable=None, annotation=None):
        return seen(self._cluster.dry_run(namespace, template(variable, annotation)))

    def applied(self):
        self._cluster.kubectl("apply", "--server-side", "-k", self._path)
        for name in "payments", "plain", "wrong":
            self._cluster.make_namespace(name)
        self._cluster.kubectl("label", "namespace", "payments", "farcall.dev/qos-class=gold")
        self._cluster.kubectl("label", "namespace", "wrong", "farcall.dev/qos-class=nosuch")
        # The server takes a policy a moment after it has accepted it.
        self._cluster.until(lambda: self._seen("payments") == (_GIVEN, "104"),
                            lambda: "a pod with a class: %s" % (self._seen("payments"),))

    def pod(self, namespace, variable, annotation, made, annotated):
        found = self._seen(namespace, variable, annotation)
        need(found == (made, annotated), "it has %s" % (found,))

    def dscps(self):
        for dscp, value in _RIGHT.items():
            self._need_value(dscp, {"name": VARIABLE, "value": value}, value)
        for dscp in _WRONG:
            self._need_value(dscp, None, None)
            self._need_value("26", _GIVEN, "104")

    def _need_value(self, dscp, variable, annotation):
        self._api.patch("/api/v1/namespaces/kube-system/configmaps/farcall-qos",
                        {"data": {"gold": dscp}})
        self._cluster.until(lambda: self._seen("payments") == (variable, annotation),
                            lambda: "%r makes %s" % (dscp, self._seen("payments")))

    def echo(self):
        """Our pods, made by their Deployment, in a namespace that gets a class."""
        path = os.path.join(OVERLAYS, "tcp-only")
        overlay = self._overlays["tcp-only"]
        try:
            self._cluster.kubectl("apply", "--server-side", "-k", path)
            self._cluster.need_running(overlay)
            found = self._annotations(overlay)
            need(found == {""}, "without a class: %s" % found)
            self._cluster.kubectl("label", "namespace", "farcall", "farcall.dev/qos-class=gold")
            self._cluster.kubectl("-n", "farcall", "rollout", "restart", "deploy/echo")
            self._cluster.kubectl("-n", "farcall", "rollout", "status", "deploy/echo")
            self._cluster.until(lambda: self._annotations(overlay) == {"104"},
                                lambda: "annotations: %s" % self._annotations(overlay))
        finally:
            self._cluster.kubectl("delete", "--ignore-not-found", "-k", path)

    def _annotations(self, overlay):
        pods = overlay.pods()[0]
        return {pod["metadata"]["annotations"][ANNOTATION]
                for pod in self._cluster.pods(pods.namespace, pods.labels)}

    def rights(self):
        """It lists and watches pods and namespaces, and may do nothing else."""
        found = {(verb, resource)
                 for verb in ("get", "list", "watch", "create", "update", "patch", "delete")
                 for resource in ("pods", "namespaces", "secrets", "configmaps", "nodes")
                 if self._may(verb, resource)}
        need(found == {(verb, resource) for verb in ("list", "watch")
                       for resource in ("pods", "namespaces")}, "it may %s" % sorted(found))

    def _may(self, verb, resource):
        return self._api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
            "spec": {"user": _ACCOUNT, "groups": ["system:serviceaccounts"],
                     "resourceAttributes": {"verb": verb, "resource": resource,
                                            "namespace": "farcall"}}})["status"]["allowed"]

    def gone(self):
        self._cluster.kubectl("delete", "-k", self._path)
        self._cluster.until(lambda: self._seen("payments") == (None, None), "pods as they were")
        for name in "payments", "plain", "wrong":
            self._cluster.kubectl("delete", "namespace", name)
