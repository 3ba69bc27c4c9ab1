# SPDX-License-Identifier: Apache-2.0
"""Two loops and two adapters on two NUMA nodes: tools/rdma_vm --nodes 2."""

import sys

import suite
from guest import A, B, Trouble, on_nodes
from peers import Client, Server

SIZE = 100000
CALLS = 100
LOOPS = "--threads=2"


def _processors(node):
    """Of a node: "0" or "0-1"."""
    try:
        with open("/sys/devices/system/node/node%d/cpulist" % node, encoding="ascii") as cpus:
            return cpus.read().strip()
    except OSError:
        raise Trouble("the machine has no NUMA node %d: tools/rdma_vm --nodes 2" % node) from None


# A processor alone is never taken without being asked for.
ALONE = [cpus for cpus in (_processors(0), _processors(1)) if cpus.isdigit()]
CPUS = ("env", "FARCALL_CPUS=" + ",".join(ALONE)) if ALONE else ()


def _check_blocks(server, client):
    """Each block that a verified request came in lay on the node of its loop's processor, and both
    nodes had some."""
    client.calls(CALLS, SIZE, 4)
    server.check()
    told, seen = [], set()
    for place, blocks in sorted(server.ask("nodes").items()):
        carrier, cpu, node = place.split("/")
        told.append("%s blocks by %s on node %s, handled on node %s" % (blocks, carrier, node, cpu))
        seen.add((cpu, node))
    told = ", ".join(told)
    suite.check(seen == {("0", "0"), ("1", "1")}, told)
    return told


def blocks_of_rdma_are_of_the_loops_node():
    """And the loops keep to the nodes of the adapters, where these have processors enough."""
    with Server(B, LOOPS, before=(*CPUS, *on_nodes(rdmaB=0, rdmaB2=1))) as server, Client(
        A, B.address(), "--connections=2"
    ) as client:
        client.wait_for("rdma")
        moved = "event loops keep near the adapters: 1 loop on node 0" in server.log()
        suite.check(moved != bool(CPUS), "did the loops move? %s" % server.log())
        return _check_blocks(server, client)


def blocks_of_tcp_are_of_the_loops_node():
    cpus = ("env", "FARCALL_CPUS=%s,%s" % tuple(_processors(node)[0] for node in (0, 1)))
    with Server(B, LOOPS, "--nouse_rdma", before=cpus) as server, Client(
        A, B.address(), "--connections=2"
    ) as client:
        client.wait_for("tcp")
        return _check_blocks(server, client)


CASES = (
    blocks_of_rdma_are_of_the_loops_node,
    blocks_of_tcp_are_of_the_loops_node,
)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
