# SPDX-License-Identifier: Apache-2.0
"""This node: what it has, and how a step is taken. `root` is where the node's files are."""

import os
import subprocess

import steps

SECONDS = 30


class Trouble(Exception):
    """What this node refused, for people."""


def command(words):
    """What it says."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False,
                              stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        raise Trouble("%s does not run: %s" % (words[0], error)) from None
    if done.returncode:
        said = " ".join((done.stderr + done.stdout).split())[:200]
        raise Trouble("%s: %s" % (" ".join(words[:3]), said or "it fails"))
    return done.stdout


def maps_of(text):
    """{key: {number: text}} of what dcb(8) shows: lines as "tc-bw 0:50 1:0 prio-tc 0:0"."""
    found, key = {}, ""
    for word in text.split():
        left, colon, right = word.partition(":")
        if not colon:
            key = word
        elif left.isdigit():
            found.setdefault(key, {})[int(left)] = right
    return found


class Node:
    def __init__(self, root="/", run=command):
        self._root = root
        self._run = run

    def _path(self, path):
        return os.path.join(self._root, path.lstrip("/"))

    def _read(self, path):
        """None: it is not there, or not readable."""
        try:
            with open(self._path(path), encoding="utf-8", errors="replace") as file:
                return file.read(1 << 16).strip()
        except OSError:
            return None

    def _list(self, path):
        try:
            return sorted(os.listdir(self._path(path)))
        except OSError:
            return []

    def state(self, wanted):
        """What there is of what is wanted. rdma_cm's directories of devices are made, in which the
        kernel shows its defaults: that changes nothing."""
        return steps.State(frozenset(self._modules(wanted)), self._files(wanted), self._pages(),
                           tuple(self._device(name, wanted)
                                 for name in self._list("/sys/class/infiniband")))

    def _modules(self, wanted):
        for name in wanted.modules:
            name = name.replace("-", "_")
            if os.path.isdir(self._path("/sys/module/" + name)):
                yield name

    def _files(self, wanted):
        paths = [steps.MODULES, steps.PAGES, steps.FUNCTIONS]
        paths += [steps.MEMLOCK % unit for unit in wanted.memlock]
        found = {}
        for path in paths:
            try:
                with open(self._path(path), encoding="utf-8") as file:
                    found[path] = file.read(1 << 16)
            except (OSError, UnicodeDecodeError):
                pass
        return found

    def _pages(self):
        text = self._read(steps.NR_HUGE)
        return int(text) if text and text.isdigit() else "no"

    def _device(self, name, wanted):
        """Asked only for what some adapter wants of it."""
        adapters = [adapter for adapter in wanted.adapters if adapter.matches(name)]
        place = "/sys/class/infiniband/%s/" % name
        if not adapters:
            return steps.Device(name)
        pci = os.path.basename(os.path.realpath(self._path(place + "device")))
        pci = pci if os.path.exists(self._path(place + "device")) else ""
        netdev = self._netdev(place)
        most = self._read(place + "device/sriov_totalvfs")
        now = self._read(place + "device/sriov_numvfs")
        return steps.Device(
            name, netdev, pci, os.path.exists(self._path(place + "device/physfn")),
            self._dcb("pfc", netdev, self._pfc), self._dcb("app", netdev, self._apps),
            self._dcb("ets", netdev, self._ets), self._read("/sys/class/net/%s/qos/trust" % netdev),
            self._ecn(netdev, pci), self._cnp(netdev, pci),
            self._default_class(name, any(each.default_class is not None for each in adapters)),
            (int(now), int(most)) if most and now and most != "0" else None)

    def _netdev(self, place):
        for port in self._list(place + "ports"):
            for index in self._list("%sports/%s/gid_attrs/ndevs" % (place, port)):
                name = self._read("%sports/%s/gid_attrs/ndevs/%s" % (place, port, index))
                if name:
                    return name
        return (self._list(place + "device/net") or [""])[0]

    def _dcb(self, what, netdev, read):
        if not netdev:
            return "it has no network interface here"
        try:
            return read(maps_of(self._run(["dcb", "-N", what, "show", "dev", netdev])))
        except Trouble as trouble:
            return "%s: %s" % (netdev, trouble)
        except (KeyError, ValueError) as error:
            return "%s: dcb %s shows no %s" % (netdev, what, error)

    @staticmethod
    def _pfc(maps):
        return {priority: on == "on" for priority, on in maps["prio-pfc"].items()}

    @staticmethod
    def _apps(maps):
        """Of two entries for a DSCP the kernel takes the higher priority."""
        return {dscp: int(priority) for dscp, priority in maps.get("dscp-prio", {}).items()}

    @staticmethod
    def _ets(maps):
        return {"tsa": maps["tc-tsa"], "bw": {tc: int(bw) for tc, bw in maps["tc-bw"].items()},
                "prio": {priority: int(tc) for priority, tc in maps["prio-tc"].items()}}

    def _ecn(self, netdev, pci):
        """By the names that the file has for them; where they lie says steps.ecn_path."""
        found = {}
        for name, base in (("", steps.ECN % netdev), (steps.CC_PARAMS, steps.DEBUG % pci)):
            top = self._path(base + name)
            for directory, _, files in os.walk(top) if netdev and pci else ():
                for path in (os.path.join(directory, file) for file in files):
                    key = os.path.join(name, os.path.relpath(path, top))
                    text = self._read(base + key)
                    if text is not None:
                        found[key] = text
        return found

    def _cnp(self, netdev, pci):
        """The vendor's file, or that of the kernel's mlx5 driver."""
        for path in ("/sys/class/net/%s/ecn/roce_np/cnp_dscp" % netdev,
                     "/sys/kernel/debug/mlx5/%s/cc_params/np_cnp_dscp" % pci):
            text = self._read(path)
            if text is not None:
                return path, text
        return None

    def _default_class(self, name, is_wanted):
        top = "/sys/kernel/config/rdma_cm"
        if not is_wanted:
            return "not asked"
        try:
            os.makedirs(self._path("%s/%s" % (top, name)), exist_ok=True)
            return {port: int(self._read("%s/%s/ports/%s/default_roce_tos" % (top, name, port)))
                    for port in os.listdir(self._path("%s/%s/ports" % (top, name)))}
        except (OSError, TypeError, ValueError) as error:
            return "%s/%s: %s; is rdma_cm loaded, and configfs mounted?" % (
                top, name, getattr(error, "strerror", error))

    def take(self, step):
        """Raises Trouble. A file of /etc is whole or as it was; the kernel's own is read again."""
        if step.run:
            modules = ["-d", self._root] if step.run[0] == "modprobe" and self._root != "/" else []
            self._run([step.run[0], *modules, *step.run[1:]])
            return
        path = self._path(step.path)
        kept = step.path.startswith("/etc/")
        try:
            if kept:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path + ".new" if kept else path, "w", encoding="utf-8") as file:
                file.write(step.text)
            if kept:
                os.replace(path + ".new", path)
        except OSError as error:
            raise Trouble("%s: %s" % (step.path, error.strerror)) from None
        if not kept and self._read(step.path) != step.text.strip():
            raise Trouble("%s: it says %s now, and %s was written" % (
                step.path, self._read(step.path), step.text.strip()))
