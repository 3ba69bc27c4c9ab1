# SPDX-License-Identifier: Apache-2.0
"""What the schemas say of one object: those of Kubernetes, which kubernetes-validate carries, and
our own for kinds that others define."""

import jsonschema
import kubernetes_validate

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
_OURS = {"NetworkAttachmentDefinition": _NETWORK}


def errors(item):
    """What is wrong with it, one text each."""
    own = _OURS.get(item["kind"])
    if own:
        return [error.message for error in jsonschema.Draft7Validator(own).iter_errors(item)]
    try:
        kubernetes_validate.validate(item, VERSION, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [error.message]
    except kubernetes_validate.utils.SchemaNotFoundError:
        return ["Kubernetes %s has no %s of %s" % (VERSION, item["kind"], item["apiVersion"])]
    return []
