# SPDX-License-Identifier: Apache-2.0
"""What the schemas say of one object: those of Kubernetes, which kubernetes-validate carries, and
our own for kinds that others define."""

import jsonschema
import kubernetes_validate

import network_schemas

# The newest that kubernetes-validate 1.37.0 carries. resource.k8s.io/v1 needs 1.34.
VERSION = "1.37"

# https://github.com/k8snetworkplumbingwg/multi-net-spec, section 3: the custom resource.
_NETWORK = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "additionalProperties": False,
    "properties": {
        "apiVersion": {"const": "k8s.cni.cncf.io/v1"},
        "kind": {"const": "NetworkAttachmentDefinition"},
        "metadata": {
            "type": "object",
            "required": ["name", "namespace"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
                "namespace": {"type": "string"},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        },
        "spec": {
            "type": "object",
            "required": ["config"],
            "additionalProperties": False,
            "properties": {"config": {"type": "string", "minLength": 2}},
        },
    },
}


def _closed(required, **properties):
    return {"type": "object", "required": required, "additionalProperties": False,
            "properties": properties}


_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_DURATION = {"type": "string", "pattern": "^([0-9]+(ms|[smhdwy]))+$"}


def _operator(kind, spec):
    """A custom resource of prometheus-operator, as its API reference has it: what we use of it."""
    return _closed(["apiVersion", "kind", "metadata", "spec"],
                   apiVersion={"const": "monitoring.coreos.com/v1"}, kind={"const": kind},
                   metadata=_closed(["name", "namespace"], name=_TEXT, namespace=_TEXT,
                                    labels=_TEXTS, annotations=_TEXTS), spec=spec)


_POD_MONITOR = _operator("PodMonitor", _closed(
    ["selector", "podMetricsEndpoints"], selector=_closed([], matchLabels=_TEXTS),
    podMetricsEndpoints={"type": "array", "minItems": 1, "items": _closed(
        ["port"], port=_TEXT, path=_TEXT, interval=_DURATION, scrapeTimeout=_DURATION)}))
_ALARM = _closed(["alert", "expr"], alert={"type": "string", "pattern": "^[A-Z][A-Za-z]+$"},
                 expr=_TEXT, labels=_TEXTS, annotations=_TEXTS, **{"for": _DURATION})
_RULES = _operator("PrometheusRule", _closed(["groups"], groups={
    "type": "array", "minItems": 1, "items": _closed(
        ["name", "rules"], name=_TEXT,
        rules={"type": "array", "minItems": 1, "items": _ALARM})}))
OURS = {"NetworkAttachmentDefinition": _NETWORK, "PodMonitor": _POD_MONITOR,
        "PrometheusRule": _RULES, **network_schemas.OPERATORS}


def errors(item):
    """What is wrong with it, one text each."""
    own = OURS.get(item["kind"])
    if own:
        wrong = [error.message for error in jsonschema.Draft7Validator(own).iter_errors(item)]
        if item["kind"] == "NetworkAttachmentDefinition" and not wrong:
            return network_schemas.config_errors(item["spec"]["config"])
        return wrong
    try:
        kubernetes_validate.validate(item, VERSION, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [error.message]
    except kubernetes_validate.utils.SchemaNotFoundError:
        return ["Kubernetes %s has no %s of %s" % (VERSION, item["kind"], item["apiVersion"])]
    return []
