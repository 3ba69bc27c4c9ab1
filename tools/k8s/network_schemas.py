# SPDX-License-Identifier: Apache-2.0
"""Schemas of networks and of operators for them: what we use of each, and nothing else, so that a
name that is none is found."""

import json

import jsonschema

_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_ON_OFF = {"enum": ["on", "off"]}
_MTU = {"type": "integer", "minimum": 576, "maximum": 9978}


def _closed(required, **properties):
    return {"type": "object", "required": required, "additionalProperties": False,
            "properties": properties}


_IPAM = _closed(["type", "range"], type={"const": "whereabouts"}, range=_TEXT, exclude={
    "type": "array", "items": _TEXT})
# Of the plugins' own pages: macvlan and tuning of containernetworking, ipoib-cni, sriov-cni,
# ib-sriov-cni, rdma-cni. The fields beside `type`, and those that must be there.
_PLUGINS = {
    "macvlan": (["master", "mode", "ipam"], {"master": _TEXT, "mode": {"const": "bridge"},
                                             "mtu": _MTU, "ipam": _IPAM}),
    "ipoib": (["master", "ipam"], {"master": _TEXT, "ipam": _IPAM}),
    "sriov": (["ipam"], {"vlan": {"type": "integer", "minimum": 0, "maximum": 4094},
                         "vlanQoS": {"type": "integer", "minimum": 0, "maximum": 7},
                         "trust": _ON_OFF, "spoofchk": _ON_OFF, "ipam": _IPAM}),
    "ib-sriov": (["ipam"], {"pkey": _TEXT, "ipam": _IPAM}),
    "tuning": ([], {"mtu": _MTU}),
    "rdma": ([], {}),
}
_HEAD = {"cniVersion": {"enum": ["0.3.1", "0.4.0", "1.0.0"]}, "name": _TEXT}


def _object(kind, api, spec, in_namespace=True):
    meta = _closed(["name", "namespace"] if in_namespace else ["name"], name=_TEXT, labels=_TEXTS,
                   **({"namespace": _TEXT} if in_namespace else {}))
    return _closed(["apiVersion", "kind", "metadata", "spec"], apiVersion={"const": api},
                   kind={"const": kind}, metadata=meta, spec=spec)


_IMAGE = {"image": _TEXT, "repository": _TEXT, "version": _TEXT}
_IMAGES = _closed(list(_IMAGE), **_IMAGE)
_SRIOV = "sriovnetwork.openshift.io/v1"
# After the definitions of these resources in network-operator and sriov-network-operator.
OPERATORS = {
    "NicClusterPolicy": _object("NicClusterPolicy", "mellanox.com/v1alpha1", _closed(
        [], rdmaSharedDevicePlugin=_closed([*_IMAGE, "config"], config=_TEXT, **_IMAGE),
        secondaryNetwork=_closed([], cniPlugins=_IMAGES, multus=_IMAGES)), in_namespace=False),
    "SriovNetworkNodePolicy": _object("SriovNetworkNodePolicy", _SRIOV, _closed(
        ["nicSelector", "nodeSelector", "numVfs", "resourceName"],
        nicSelector=_closed([], vendor=_TEXT, deviceID=_TEXT, pfNames={
            "type": "array", "minItems": 1, "items": _TEXT}),
        nodeSelector=_TEXTS, numVfs={"type": "integer", "minimum": 0}, resourceName=_TEXT,
        isRdma={"type": "boolean"}, mtu=_MTU, deviceType={"enum": ["netdevice", "vfio-pci"]},
        linkType={"enum": ["eth", "ETH", "ib", "IB"]})),
    "SriovNetwork": _object("SriovNetwork", _SRIOV, _closed(
        ["resourceName", "networkNamespace"], resourceName=_TEXT, networkNamespace=_TEXT,
        ipam=_TEXT, metaPlugins=_TEXT, trust=_ON_OFF, spoofChk=_ON_OFF,
        vlan={"type": "integer", "minimum": 0, "maximum": 4096},
        vlanQoS={"type": "integer", "minimum": 0, "maximum": 7})),
}


def _wrong(value, schema):
    return [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(value)]


def _plugin(config, head):
    if config.get("type") not in _PLUGINS:
        return ["no plugin %r; there are %s" % (config.get("type"), ", ".join(_PLUGINS))]
    required, fields = _PLUGINS[config["type"]]
    return _wrong(config, _closed(["type", *head, *required], type=_TEXT, **head, **fields))


def config_errors(text):
    """Of a NetworkAttachmentDefinition's config: one plugin, or a chain of them."""
    try:
        config = json.loads(text)
    except ValueError as error:
        return ["config is no JSON: %s" % error]
    if not isinstance(config, dict):
        return ["config is no object"]
    if "plugins" not in config:
        return _plugin(config, _HEAD)
    chain = _closed([*_HEAD, "plugins"], **_HEAD, plugins={
        "type": "array", "minItems": 1, "items": {"type": "object"}})
    return _wrong(config, chain) or [what for each in config["plugins"]
                                     for what in _plugin(each, {})]
