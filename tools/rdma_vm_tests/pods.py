# SPDX-License-Identifier: Apache-2.0
"""Network namespaces as the pods of a Kubernetes node, and a Service before some of them."""

import functools

from guest import Host, run
from peers import PORT

# Nobody has this address: the node translates it, as kube-proxy does with nftables.
SERVICE = "10.96.0.10"
NODE = "node"


@functools.cache
def make_node():
    """Forwards between the pods, and translates; the NIC is of the second network."""
    run("modprobe", "-a", "macvlan", "nf_tables", "nft_chain_nat", "nft_nat", "nft_numgen")
    run("ip", "link", "add", "nic", "mtu", "4200", "type", "dummy")
    run("ip", "link", "set", "nic", "up")
    run("ip", "netns", "add", NODE)
    run("ip", "netns", "exec", NODE, "sysctl", "-qw", "net.ipv4.ip_forward=1")
    _nft("table ip service {\nchain in { type nat hook prerouting priority -100; }\n}")


def remove(pods):
    """And the node."""
    for pod in pods:
        pod.end()
    run("ip", "netns", "delete", NODE)
    run("ip", "link", "delete", "nic")


def _nft(rules):
    path = "/run/service_rules"
    with open(path, "w", encoding="ascii") as file:
        file.write(rules + "\n")
    run("ip", "netns", "exec", NODE, "nft", "-f", path)


def serve_by(*pods):
    """New connections to SERVICE go to these in turn; those that there are stay where they are."""
    match = "ip daddr %s tcp dport %d" % (SERVICE, PORT)
    places = ", ".join("%d : %s" % (i, pod.pod_address()) for i, pod in enumerate(pods))
    _nft("flush chain ip service in\n"
         "add rule ip service in %s dnat to numgen inc mod %d map { %s }"
         % (match, len(pods), places))  # fmt: skip


class PlainPod(Host):
    """eth0 leads to the node and, by it, to other pods, and nowhere else."""

    def __init__(self, number):
        super().__init__("p%d" % number)
        make_node()
        self.name = "pod%d" % number
        self._number = number
        host_end = "to%d" % number
        # The numbers of all interfaces differ: a wildcard listener of siw binds by number.
        self._node("netns add " + self.name)
        self._node(
            "link add eth0 index %d mtu 4200 netns %s type veth peer name %s index %d mtu 4200 "
            "netns %s" % (200 + number, self.name, host_end, 300 + number, NODE)
        )
        gateway = "10.244.%d.1" % number
        self._node(
            "addr add %s/24 dev %s" % (gateway, host_end), "link set %s up" % host_end, inside=NODE
        )
        self._node(
            "link set lo up",
            "link set eth0 up",
            "addr add %s/24 dev eth0" % self.pod_address(),
            "route add default via " + gateway,
            inside=self.name,
        )

    def end(self):
        run("ip", "netns", "delete", self.name)

    def _node(self, *commands, inside=None):
        path = "/run/pod_commands"
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(commands) + "\n")
        run("ip", *(["-n", inside] if inside else []), "-batch", path)

    def pod_address(self):
        return "10.244.%d.2" % self._number


class Pod(PlainPod):
    """net1 is a macvlan of the node's NIC, and has an RDMA device. As with a shared device plugin
    each pod sees the devices of all."""

    def __init__(self, number):
        super().__init__(number)
        self._node("link add link nic name net1 index %d netns %s type macvlan mode bridge"
                   % (400 + number, self.name))  # fmt: skip
        self._node("link set net1 up", "addr add %s/24 dev net1" % self.address(),
                   inside=self.name)  # fmt: skip
        self.add_device()

    def end(self):
        for pair in (0, 1):
            if self.has_device(pair):
                self.remove_device(pair)
        super().end()

    def address(self, pair=0):
        return self.pod_address() if pair else "10.9.8.%d" % self._number

    def device(self, pair=0):
        return ("rdma_e%d" if pair else "rdma_n%d") % self._number

    def cable(self, pair=0):
        return "eth0" if pair else "net1"

    def status(self):
        """What Multus writes of it."""
        return (
            '[{"name": "pods", "interface": "eth0", "ips": ["%s"], "default": true, "dns": {}},\n'
            ' {"name": "default/rdma", "interface": "net1", "ips": ["%s"], "mtu": 4200, "dns": {}}]'
            % (self.pod_address(), self.address())
        )
