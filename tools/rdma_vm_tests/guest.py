# SPDX-License-Identifier: Apache-2.0
"""The hosts of the guest that tools/rdma_vm makes, their devices, and faults."""

import contextlib
import os
import subprocess
import time

import stuck

DRIVER = os.environ.get("RDMA_VM", "rxe")
# Of two drivers the one with which a case runs in which no driver makes a difference.
FIRST_DRIVER = DRIVER == "rxe"

# What a device's port has counted. The kernel shows it in the machine's own /sys only, and not in
# that of another network namespace, where a suite runs.
HW_COUNTERS = "/proc/1/root/sys/class/infiniband/%s/ports/1/hw_counters"


class Trouble(Exception):
    """A case does not hold, or the guest does not do what it was asked for. `seen`: lines that tell
    more of it."""

    def __init__(self, text, seen=()):
        super().__init__(text)
        self.seen = list(seen)


class Late(Trouble):
    """Something did not end in time; seen is what the guest did just then."""

    def __init__(self, text):
        super().__init__(text, stuck.report())


# Arguments: NAME=NODE ... -- COMMAND. Of an adapter "device" is its place on the PCI bus; software
# has none, and "parent" or "node_desc" tells what it is.
_ON_NODES = """
room=$(mktemp -d) || exit
while [ "$1" != -- ]; do
  name=${1%=*}
  place=$room/0000:$(printf %02x $#):00.0 shown=$room/class/$name
  real=$(readlink -e "/sys/class/infiniband/$name") && mkdir -p "$place" "$shown" &&
    echo "${1#*=}" >"$place/numa_node" &&
    ln -s "$real"/* "$shown" && ln -s "$place" "$shown/device" &&
    rm -f "$shown/"{parent,node_desc} || exit
  shift
done
mount --bind "$room/class" /sys/class/infiniband && shift && exec "$@"
"""


def on_nodes(**nodes):
    """A command that runs another one, which sees these devices alone, as adapters on these NUMA
    nodes. For Host.inside, where /sys is its own."""
    told = ["%s=%d" % place for place in nodes.items()]
    return ("bash", "-c", _ON_NODES, "on_nodes", *told, "--")


def begin(*command):
    """Starts a command of the system, which `finish` waits for."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)


def finish(process, limit=60):
    """Returns what it says."""
    command = " ".join(process.args)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        late = Late("%s did not end within %d s" % (command, limit))
        process.kill()
        # Who waits in the kernel cannot be killed, and would have to be waited for.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=1)
        raise late from None
    if process.returncode:
        said = (err + out).decode(errors="replace").strip()
        raise Trouble("%s: %s" % (command, said or "failed"))
    return out.decode(errors="replace")


def run(*command, limit=60):
    """Runs a command of the system; returns what it says."""
    return finish(begin(*command), limit)


def _has_gid(device):
    """Of an IPv4 address."""
    for number in range(16):
        path = "/sys/class/infiniband/%s/ports/1/gids/%d" % (device, number)
        with contextlib.suppress(OSError), open(path, encoding="ascii") as gid:
            if ":ffff:" in gid.read():
                return True
    return False


# Seconds. A process that keeps a device holds up its removal for as long as it lives: only such a
# one meets this limit, in an emulated machine on a busy host. That a device is let go within a
# second is tested in virtual time (rpc/testing/rdma/rdma_relink_test.cc).
REMOVAL_LIMIT = 90


class Host:
    """A network namespace. `letter`: A or B, as in its cable vethA and its device rdmaA."""

    def __init__(self, letter):
        self.letter = letter
        self.name = "host" + letter

    def inside(self, *command):
        return ["ip", "netns", "exec", self.name, *command]

    def run(self, *command, limit=60):
        return run(*self.inside(*command), limit=limit)

    def address(self, pair=0):
        return "10.9.%d.%d" % (pair, 1 if self.letter == "A" else 2)

    def device(self, pair=0):
        return "rdma" + self.letter + ("2" if pair else "")

    def cable(self, pair=0):
        return "veth" + self.letter + ("2" if pair else "")

    def remove_device(self, pair=0, limit=REMOVAL_LIMIT, name=None):
        """The kernel waits until no process has the device open any more. Who waits in it
        cannot be killed, so it is left alone where that takes too long."""
        device = name or self.device(pair)
        command = ["rdma", "link", "delete", device]
        remover = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        end = time.monotonic() + limit
        while remover.poll() is None:
            if time.monotonic() > end:
                raise Late("%s is still open %d s after its removal" % (device, limit))
            time.sleep(0.02)
        if remover.returncode:
            raise Trouble("%s cannot be removed" % device)

    def add_device(self, pair=0, name=None):
        """rxe fills in the GID of its IPv4 address a little later; siw has none."""
        device = name or self.device(pair)
        self.run("rdma", "link", "add", device, "type", DRIVER, "netdev", self.cable(pair))
        end = time.monotonic() + 60
        while DRIVER == "rxe" and not _has_gid(device):
            if time.monotonic() > end:
                raise Trouble("%s has no GID of an IPv4 address" % device)
            time.sleep(0.02)

    def has_device(self, pair=0):
        return os.path.exists("/sys/class/infiniband/" + self.device(pair))

    def device_file(self, pair=0):
        """By which processes have it open."""
        room = "/sys/class/infiniband_verbs"
        for name in os.listdir(room):
            with contextlib.suppress(OSError), open("%s/%s/ibdev" % (room, name)) as device:
                if device.read().strip() == self.device(pair):
                    return "/dev/infiniband/" + name
        raise Trouble("there is no %s" % self.device(pair))

    def lose_rdma(self, call_port, pair=0):
        """Packets of RDMA get lost, in and out, and nobody is told."""
        run("modprobe", "-a", "nf_tables")
        # iWARP is TCP, to ports that the kernel chose. Rules of their own let calls over TCP pass:
        # of two "!=" in one rule nft makes one comparison, which would drop those calls too.
        rules = ("udp dport 4791 drop;",) if DRIVER == "rxe" else (
            "tcp sport %d accept;" % call_port,
            "tcp dport %d accept;" % call_port,
            "meta l4proto tcp drop;",
        )  # fmt: skip
        table = "table inet lose_rdma {\n"
        for hook, interface in (("input", "iifname"), ("output", "oifname")):
            which = " ".join("%s %s %s" % (interface, self.cable(pair), rule) for rule in rules)
            table += "chain %s { type filter hook %s priority 10; %s }\n" % (hook, hook, which)
        path = "/run/lose_rdma_" + self.name
        with open(path, "w", encoding="ascii") as file:
            file.write(table + "}\n")
        self.run("nft", "-f", path)

    def lose_nothing(self):
        self.run("nft", "delete", "table", "inet", "lose_rdma")

    def drop_rdma(self, call_port, pair=0):
        """Loses the packets that leave this host for RDMA, and no others."""
        netdev = self.cable(pair)
        tc = ["tc", "qdisc", "add", "dev", netdev]
        # Band 2 loses all, band 1 takes what no filter sends elsewhere.
        self.run(*tc, "root", "handle", "1:", "prio", "bands", "2", "priomap", *"0" * 16)
        self.run(*tc, "parent", "1:2", "handle", "2:", "netem", "loss", "100%")
        add = ["tc", "filter", "add", "dev", netdev, "parent", "1:", "protocol", "ip"]
        match = [*add, "flower", "ip_proto"]
        if DRIVER == "rxe":
            # Port 4791 is RoCE v2's.
            self.run(*match, "udp", "dst_port", "4791", "classid", "1:2")
            return
        # iWARP is TCP, to ports that the kernel chose.
        for priority, end in (("1", "src_port"), ("2", "dst_port")):
            self.run(*add, "prio", priority, *match[len(add) :], "tcp", end, str(call_port),
                     "classid", "1:1")  # fmt: skip
        self.run(*add, "prio", "3", *match[len(add) :], "tcp", "classid", "1:2")

    def drop_nothing(self, pair=0):
        self.run("tc", "qdisc", "del", "dev", self.cable(pair), "root")


A = Host("A")
B = Host("B")
