# SPDX-License-Identifier: Apache-2.0
"""What is to be changed, of what is wanted and what there is: nothing here asks the node or changes
it. What is as wanted gives no step, so that a second run finds nothing to do."""

import dataclasses

MODULES = "/etc/modules-load.d/80-farcall.conf"
PAGES = "/etc/sysctl.d/80-farcall.conf"
FUNCTIONS = "/etc/udev/rules.d/80-farcall-virtual-functions.rules"
MEMLOCK = "/etc/systemd/system/%s.d/80-farcall.conf"
# Of an interface, and of a PCI address.
ECN = "/sys/class/net/%s/ecn/"
DEBUG = "/sys/kernel/debug/mlx5/%s/"
CC_PARAMS = "cc_params/"
NR_HUGE = "/proc/sys/vm/nr_hugepages"
HEAD = "# Written by farcall's node_setup.\n"


@dataclasses.dataclass(frozen=True)
class Device:
    """An RDMA device of the node. A text in place of a value tells why it is not known."""
    name: str
    netdev: str = ""
    pci: str = ""  # "0000:3b:00.0"; "": software
    is_function: bool = False  # a virtual one, which has no settings of its own
    pfc: object = "not asked"  # {priority: bool}
    apps: object = "not asked"  # {DSCP: priority}
    ets: object = "not asked"  # {"tsa": {tc: "ets"}, "bw": {tc: percent}, "prio": {priority: tc}}
    trust: object = None  # of the vendor's driver; None: it has no such file
    files: dict = dataclasses.field(default_factory=dict, hash=False)  # below IF/ecn: text
    cnp: object = None  # (path, text) of its CNPs' DSCP; None: nobody tells it
    default_class: object = "not asked"  # {port: number} of rdma_cm
    functions: object = None  # (now, most); None: it has none


@dataclasses.dataclass(frozen=True)
class State:
    modules: frozenset = frozenset()  # loaded, or part of the kernel
    files: dict = dataclasses.field(default_factory=dict, hash=False)  # of /etc, as they are
    huge_pages: object = "not asked"
    devices: tuple = ()


@dataclasses.dataclass(frozen=True)
class Step:
    """A command, or a file with its text. `of`: "node" or a device, which a failure is told of."""
    of: str
    why: str
    run: tuple = ()
    path: str = ""
    text: str = ""

    def __str__(self):
        done = " ".join(self.run) if self.run else "%s: %s" % (
            self.path, " | ".join(line for line in self.text.splitlines() if line[:1] != "#"))
        return "%s: %s  # %s" % (self.of, done, self.why)


def plan(wanted, state):
    """([Step], ["device: what it does not know"]); what is not in the latter goes on."""
    steps, troubles = list(_of_node(wanted, state)), []
    rules = []
    for adapter in wanted.adapters:
        matched = [device for device in state.devices if adapter.matches(device.name)]
        if not matched:
            troubles.append("%s: no RDMA device here has such a name; there are: %s" % (
                adapter.pattern, ", ".join(each.name for each in state.devices) or "none"))
        for device in matched:
            for found in _of_adapter(adapter, device):
                (steps if isinstance(found, Step) else troubles).append(found)
            if adapter.virtual_functions is not None and device.functions:
                rules.append(_rule(device, adapter.virtual_functions))
    if rules:
        steps += _file("node", FUNCTIONS, "".join(sorted(rules)), state,
                       "virtual functions after each boot")
    return steps, troubles


def _file(of, path, text, state, why):
    if state.files.get(path) != HEAD + text:
        yield Step(of, why, path=path, text=HEAD + text)


def _of_node(wanted, state):
    missing = [name for name in wanted.modules if name.replace("-", "_") not in state.modules]
    if missing:
        yield Step("node", "not loaded", run=("modprobe", "-a", *missing))
    if wanted.modules:
        yield from _file("node", MODULES, "".join(name + "\n" for name in wanted.modules), state,
                         "modules after each boot")
    if wanted.huge_pages is not None:
        if state.huge_pages != wanted.huge_pages:
            yield Step("node", "there are %s huge pages of 2 MiB" % state.huge_pages, path=NR_HUGE,
                       text="%d\n" % wanted.huge_pages)
        yield from _file("node", PAGES, "vm.nr_hugepages=%d\n" % wanted.huge_pages, state,
                         "huge pages after each boot")
    for unit in wanted.memlock:
        yield from _file("node", MEMLOCK % unit, "[Service]\nLimitMEMLOCK=infinity\n", state,
                         "RDMA locks memory; counts once %s has been restarted" % unit)


def _rule(device, count):
    return ('ACTION=="add", SUBSYSTEM=="net", KERNELS=="%s", ATTR{device/sriov_numvfs}="%d"\n' %
            (device.pci, count))


def _of_adapter(adapter, device):
    """Steps, and texts of what cannot be had."""
    if device.is_function:
        yield "%s: a virtual function has no priorities of its own; the pattern %s should match " \
            "physical functions only" % (device.name, adapter.pattern)
        return
    for part in (_trust, _pfc, _shares, _ecn, _cnp, _default_class, _functions):
        yield from part(adapter, device)


def _dcb(device, what, *words, why):
    return Step(device.name, why, run=("dcb", what, *words[:1], "dev", device.netdev, *words[1:]))


def _unknown(device, what, why):
    return "%s: %s: %s" % (device.name, what, why)


def _trust(adapter, device):
    """An entry for a DSCP in DCB's table makes the kernel's drivers trust DSCPs."""
    if adapter.dscp is None:
        return
    if isinstance(device.trust, str) and device.trust != "dscp":
        yield Step(device.name, "trusts %s" % device.trust, text="dscp\n",
                   path="/sys/class/net/%s/qos/trust" % device.netdev)
    if isinstance(device.apps, str):
        yield _unknown(device, "DSCP %d to priority %d" % (adapter.dscp, adapter.priority),
                       device.apps)
    elif device.apps.get(adapter.dscp) != adapter.priority:
        yield _dcb(device, "app", "replace", "dscp-prio", "%d:%d" % (
            adapter.dscp, adapter.priority), why="DSCP %d has %s" % (
                adapter.dscp, "priority %d" % device.apps[adapter.dscp]
                if adapter.dscp in device.apps else "no priority of its own"))


def _pfc(adapter, device):
    if adapter.priority is None:
        return
    if isinstance(device.pfc, str):
        yield _unknown(device, "PFC of priority %d" % adapter.priority, device.pfc)
        return
    # A second lossless priority takes the buffers of the first one.
    off = [each for each, on in sorted(device.pfc.items()) if on and each != adapter.priority]
    if off or not device.pfc.get(adapter.priority):
        yield _dcb(device, "pfc", "set", "prio-pfc", "all:off", "%d:on" % adapter.priority,
                   why="PFC is on for %s" % (
                       ", ".join(str(each) for each, on in device.pfc.items() if on) or "none"))


def _shares(adapter, device):
    if not adapter.shares:
        return
    if isinstance(device.ets, str):
        yield _unknown(device, "shares", device.ets)
        return
    bw = {tc: dict(adapter.shares).get(tc, 0) for tc in range(8)}
    tsa = {tc: "ets" for tc, _ in adapter.shares}
    prio = {tc: tc for tc, _ in adapter.shares}
    now = device.ets
    if now["bw"] != bw or any(now[key].get(tc) != value for key, values in (
            ("tsa", tsa), ("prio", prio)) for tc, value in values.items()):
        pairs = lambda values: ["%d:%s" % each for each in sorted(values.items())]  # noqa: E731
        yield _dcb(device, "ets", "set", "tc-tsa", *pairs(tsa), "tc-bw", *pairs(bw), "prio-tc",
                   *pairs(prio), why="the shares are %s" % ", ".join(
                       "%d:%d" % each for each in sorted(now["bw"].items()) if each[1]))


def ecn_path(device, name):
    """The vendor's driver has them at the interface, the kernel's mlx5 driver in debugfs."""
    return (DEBUG % device.pci if name.startswith(CC_PARAMS) else ECN % device.netdev) + name


def _ecn(adapter, device):
    wanted = {}
    if adapter.ecn:
        wanted.update({"roce_%s/enable/%d" % (side, adapter.priority): 1 for side in ("np", "rp")})
    wanted.update(adapter.ecn_files)
    for name, number in sorted(wanted.items()):
        if name not in device.files:
            yield _unknown(device, ecn_path(device, name), "its driver has no such file, and the "
                           "firmware's setting, if it has one, is for the vendor's tool")
        elif device.files[name] != str(number):
            yield Step(device.name, "is %s" % device.files[name], text="%d\n" % number,
                       path=ecn_path(device, name))


def _cnp(adapter, device):
    if adapter.cnp_dscp is None:
        return
    if device.cnp is None:
        yield _unknown(device, "DSCP of its CNPs", "its driver has no file for it")
    elif device.cnp[1] != str(adapter.cnp_dscp):
        yield Step(device.name, "CNPs have %s" % device.cnp[1], path=device.cnp[0],
                   text="%d\n" % adapter.cnp_dscp)


def _default_class(adapter, device):
    if adapter.default_class is None:
        return
    if isinstance(device.default_class, str):
        yield _unknown(device, "rdma_cm's default", device.default_class)
        return
    for port, number in sorted(device.default_class.items()):
        if number != adapter.default_class:
            yield Step(device.name, "rdma_cm's default is %d" % number, text="%d\n" % (
                adapter.default_class), path="/sys/kernel/config/rdma_cm/%s/ports/%s/"
                "default_roce_tos" % (device.name, port))


def _functions(adapter, device):
    count = adapter.virtual_functions
    if count is None:
        return
    if not device.functions:
        yield _unknown(device, "virtual functions", "it has none")
        return
    now, most = device.functions
    if count > most:
        yield _unknown(device, "%d virtual functions" % count, "it has at most %d; more are made "
                       "by the vendor's tool for its firmware" % most)
    elif now == 0 and count:
        yield Step(device.name, "it has none", text="%d\n" % count,
                   path="/sys/bus/pci/devices/%s/sriov_numvfs" % device.pci)
    elif now != count:
        yield _unknown(device, "%d virtual functions" % count, "it has %d, and pods may use them; "
                       "they change with the next boot" % now)
