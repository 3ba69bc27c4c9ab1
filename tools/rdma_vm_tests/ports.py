# SPDX-License-Identifier: Apache-2.0
"""Ports: an iWARP device takes one of TCP for each connection, where others may have it."""

import contextlib
import subprocess

import suite
from guest import A, B
from peers import START_LIMIT, Client, Server

# Of which every third one is held, or taken already. Then 16 tries of a connection all fail less
# often than once in a million, and without further tries 8 connections all pass 1 time in 25.
FIRST, LAST = 40000, 40239
HOLD = """
import socket, sys
held = []
for port in range(%d, %d, 3):
    holder = socket.socket()
    try:
        holder.bind((sys.argv[1], port))
        held.append(holder)
    except OSError:
        pass
print(len(held), flush=True)
sys.stdin.read()
""" % (FIRST, LAST + 1)
RANGE = "net.ipv4.ip_local_port_range"


@contextlib.contextmanager
def _some_of_its_ports_taken(host):
    """The kernel chooses among few ports, and another program has each third one."""
    was = host.run("sysctl", "-n", RANGE).split()
    host.run("sysctl", "-qw", "%s=%d %d" % (RANGE, FIRST, LAST))
    pipe = subprocess.PIPE
    command = host.inside("timeout", "120", "/usr/bin/python3", "-c", HOLD, host.address())
    holder = subprocess.Popen(command, stdin=pipe, stdout=pipe)
    try:
        held = int(holder.stdout.readline() or b"0")
        suite.check(held >= (LAST - FIRST) // 6, "only %d ports of %s are held" % (held, host.name))
        yield
    finally:
        holder.stdin.close()
        holder.wait(START_LIMIT)
        holder.stdout.close()
        host.run("sysctl", "-qw", "%s=%s" % (RANGE, " ".join(was)))


def ports_that_others_have_are_passed_over():
    """By who connects, and by who listens."""
    with _some_of_its_ports_taken(A), _some_of_its_ports_taken(B):
        with Server(B) as server, Client(A, B.address(), "--connections=8") as client:
            client.wait_for("rdma")
            for peer in (server, client):
                refused = peer.reasons().get("device_refused", 0)
                suite.check(not refused, "%d times: %s" % (refused, peer.log()[-1000:]))
            client.calls(20, 4096, 2)
            server.check()


CASES = (ports_that_others_have_are_passed_over,)
