# SPDX-License-Identifier: Apache-2.0
"""What an operator wrote: classes with their DSCP, and which pods and devices belong to which.

A directory, as a ConfigMap is mounted: a file of each class, named like it, with its DSCP ("26",
"af31"); pods.json, a list of {"class": ..., "namespace": ..., "labels": {...}}, of which namespace
or labels may be missing; devices.json, {"mlx5_0": "gold"}. Everything is checked before anything
is used.
"""

import dataclasses
import json
import os
import re

# RFC 2474, 2597, 3246.
DSCP_NAMES = {"ef": 46, **{"cs%d" % i: 8 * i for i in range(8)},
              **{"af%d%d" % (i, j): 8 * i + 2 * j for i in range(1, 5) for j in range(1, 4)}}
MOST_CLASSES = 64
MOST_ENTRIES = 1024
MOST_BYTES = 1 << 20
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,29}[a-z0-9])?")
_DEVICE = re.compile(r"[A-Za-z0-9_.-]{1,63}")


class Wrong(Exception):
    """What is wrong with the input, and what would be right."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """Pods that have all of these labels, of one namespace or of all."""
    cls: str
    namespace: str  # "": all
    labels: tuple  # of (key, value), sorted

    def selects(self, namespace, labels):
        return self.namespace in ("", namespace) and all(
            labels.get(key) == value for key, value in self.labels)

    def meets(self, other):
        """Whether some pod could be selected by both."""
        mine, others = dict(self.labels), dict(other.labels)
        return ("" in (self.namespace, other.namespace) or self.namespace == other.namespace) and \
            all(others.get(key, value) == value for key, value in mine.items())

    def __str__(self):
        where = "namespace " + self.namespace if self.namespace else "all namespaces"
        return where + "".join(" %s=%s" % label for label in self.labels)


@dataclasses.dataclass(frozen=True)
class Config:
    dscps: dict  # class: DSCP
    entries: tuple
    devices: dict  # RDMA device: class


def dscp_of(text, who):
    """0 to 63."""
    text = text.strip().lower()
    if text in DSCP_NAMES:
        return DSCP_NAMES[text]
    if re.fullmatch(r"[0-9]{1,2}", text) and int(text) < 64:
        return int(text)
    raise Wrong("class %s has DSCP %r; it must be 0 to 63, or a name as af31, cs1 or ef" % (
        who, text[:32]))


def _known(cls, dscps, who):
    if not isinstance(cls, str) or cls not in dscps:
        raise Wrong("%s: class %r is none of %s; give it a DSCP in a file of that name" % (
            who, cls, ", ".join(sorted(dscps)) or "those here, since there is none"))
    return cls


def _entry(number, value, dscps):
    who = "pods.json, entry %d" % number
    if not isinstance(value, dict) or set(value) - {"class", "namespace", "labels"}:
        raise Wrong("%s: it must be {\"class\", \"namespace\", \"labels\"}, not %s" % (
            who, json.dumps(value)[:100]))
    if "class" not in value:
        raise Wrong("%s: it has no class" % who)
    namespace, labels = value.get("namespace", ""), value.get("labels", {})
    texts = isinstance(namespace, str) and isinstance(labels, dict) and all(
        isinstance(text, str) for text in labels.values())
    if not texts:
        raise Wrong("%s: namespace must be a text, and labels an object of texts" % who)
    if not namespace and not labels:
        raise Wrong("%s: it selects every pod of the cluster; give it a namespace or labels" % who)
    return Entry(_known(value["class"], dscps, who), namespace, tuple(sorted(labels.items())))


def _check_overlaps(entries):
    for i, one in enumerate(entries):
        for j, other in enumerate(entries[:i]):
            if one.cls != other.cls and one.meets(other):
                raise Wrong("pods.json: entries %d (%s, %s) and %d (%s, %s) overlap: a pod may be "
                            "in both; give each a value of the same label" % (
                                j + 1, other.cls, other, i + 1, one.cls, one))


def _json(files, name, kind, empty):
    try:
        value = json.loads(files.get(name, empty))
    except (ValueError, RecursionError) as error:
        raise Wrong("%s: it is no JSON: %s" % (name, error)) from None
    if not isinstance(value, kind):
        raise Wrong("%s: it must be %s" % (name, "a list" if kind is list else "an object"))
    return value


def parse(files):
    """Of {name: text}. Raises Wrong."""
    names = sorted(set(files) - {"pods.json", "devices.json"})
    if len(names) > MOST_CLASSES:
        raise Wrong("%d classes, and at most %d are taken" % (len(names), MOST_CLASSES))
    for name in names:
        if not _NAME.fullmatch(name):
            raise Wrong("%r is no name of a class: lower case letters, digits and -, at most 31" %
                        name[:64])
    dscps = {name: dscp_of(files[name], name) for name in names}
    listed = _json(files, "pods.json", list, "[]")
    if len(listed) > MOST_ENTRIES:
        raise Wrong("pods.json: %d entries, and at most %d are taken" % (len(listed), MOST_ENTRIES))
    entries = tuple(_entry(i + 1, value, dscps) for i, value in enumerate(listed))
    _check_overlaps(entries)
    devices = _json(files, "devices.json", dict, "{}")
    for device, cls in devices.items():
        if not _DEVICE.fullmatch(device) or device.startswith("."):
            raise Wrong("devices.json: %r is no name of a device" % device[:64])
        _known(cls, dscps, "devices.json, " + device)
    return Config(dscps, entries, devices)


def read(directory):
    """{name: text} of the directory, without the links that a ConfigMap's volume has."""
    files = {}
    try:
        for name in sorted(os.listdir(directory)):
            path = os.path.join(directory, name)
            if name.startswith(".") or not os.path.isfile(path):
                continue
            with open(path, encoding="utf-8") as stream:
                files[name] = stream.read(MOST_BYTES + 1)
            if len(files[name]) > MOST_BYTES:
                raise Wrong("%s is longer than 1 MiB" % name)
    except (OSError, UnicodeDecodeError) as error:
        raise Wrong("%s cannot be read: %s" % (directory, error)) from None
    return files
