# SPDX-License-Identifier: Apache-2.0
"""Definitions of the custom resources of others, out of our own schemas of them: of the fields that
our manifests use. A field that they do not have is refused."""

_PLURALS = {"NetworkAttachmentDefinition": "network-attachment-definitions",
            "NicClusterPolicy": "nicclusterpolicies", "PodMonitor": "podmonitors",
            "PrometheusRule": "prometheusrules", "SriovNetwork": "sriovnetworks",
            "SriovNetworkNodePolicy": "sriovnetworknodepolicies"}


def structural(schema):
    """As the API server takes it: each value has a type, and all objects are closed."""
    made = {}
    for key, value in schema.items():
        if key in ("const", "enum"):
            made.update(type="string", enum=value if key == "enum" else [value])
        elif key == "properties":
            made[key] = {name: structural(each) for name, each in value.items()}
        elif key == "items":
            made[key] = structural(value)
        elif key == "additionalProperties":
            if value is not False:
                made[key] = structural(value)
        elif value != []:
            made[key] = value
    return made


def definition(kind, schema):
    fields = schema["properties"]
    group, version = fields["apiVersion"]["const"].split("/")
    plural = _PLURALS[kind]
    scope = "Namespaced" if "namespace" in fields["metadata"]["properties"] else "Cluster"
    own = {"type": "object", "required": ["spec"], "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"},
        "metadata": {"type": "object"}, "spec": structural(fields["spec"])}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "%s.%s" % (plural, group)},
            "spec": {"group": group, "scope": scope,
                     "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
                     "versions": [{"name": version, "served": True, "storage": True,
                                   "schema": {"openAPIV3Schema": own}}]}}


def definitions(schemas):
    return [definition(kind, schema) for kind, schema in sorted(schemas.items())]
