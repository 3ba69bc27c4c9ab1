# SPDX-License-Identifier: Apache-2.0
"""A client whose TCP address is hidden from the server by a router."""

import sys

import suite
from counters import Seen
from guest import A, B, DRIVER
from peers import PATIENT, SET_UP, Client, Server

# hostB on the router's side.
OUTSIDE = "10.7.0.2"
SIZE = 30000


def the_server_cannot_reach_the_client():
    """Else the other cases would show nothing."""
    routes = B.run("ip", "route")
    suite.check("10.8." not in routes and "default" not in routes, routes)


def tcp_behind_nat_rdma_beside_it():
    """The token admits, not the address."""
    flags = ("--devices=rdmaA,rdmaB",)
    with Server(B, *flags, before=PATIENT) as server, Client(
        A, OUTSIDE, "--connections=4", *flags, before=PATIENT
    ) as client:
        client.wait_for("rdma")
        near, far = Seen(A), Seen(B)
        client.calls(50, SIZE, 4)
        near.check_rdma(2 * 4 * 50 * SIZE)
        far.check_rdma(2 * 4 * 50 * SIZE)
        server.check()


def rdma_behind_nat():
    """iWARP is TCP and passes. RoCE does not: its checksum covers the addresses that the
    router changes; calls stay on TCP."""
    flags = ("--devices=rdmaA2,rdmaB2",)
    with Server(B, *flags) as server, Client(A, OUTSIDE, *flags) as client:
        client.start_load(SIZE, 2)
        client.wait_for_calls(100, 60)
        if DRIVER == "siw":
            client.wait_for("rdma")
            client.wait_for_calls(100, 60)
        else:
            # Over TCP the server looks for the way to the client's GID, in vain.
            client.wait_for("rejected" if SET_UP == "tcp" else "timed_out", 60)
        client.stop_load()
        server.check()


CASES = (
    the_server_cannot_reach_the_client,
    tcp_behind_nat_rdma_beside_it,
    rdma_behind_nat,
)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
