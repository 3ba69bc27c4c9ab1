# SPDX-License-Identifier: Apache-2.0
"""rxe and siw in one guest: the first pair of devices has one driver, the second the other."""

import os
import sys

import suite
from guest import A, B, HW_COUNTERS
from peers import Client, Server

SIZE = 30000


def _sends(device):
    """rxe counts its messages, siw nothing."""
    path = HW_COUNTERS % device + "/rdma_sends"
    if not os.path.exists(path):
        return 0
    with open(path, encoding="ascii") as counter:
        return int(counter.read())


def _over(pair):
    was = _sends("rdmaA"), _sends("rdmaA2")
    with Server(B) as server, Client(
        A, B.address(), "--devices=" + A.device(pair), "--connections=4"
    ) as client:
        state = client.wait_for("rdma")
        suite.check(state["device"] == A.device(pair), "another device: %s" % state)
        client.calls(50, SIZE, 4)
        server.check()
    grown = _sends("rdmaA") - was[0], _sends("rdmaA2") - was[1]
    return grown


def _is_rxe(device):
    return os.path.exists(HW_COUNTERS % device)


def first_driver():
    grown = _over(0)
    suite.check((grown[0] > 100) == _is_rxe("rdmaA") and grown[1] < 100, "sends: %s" % (grown,))


def second_driver():
    grown = _over(1)
    suite.check((grown[1] > 100) == _is_rxe("rdmaA2") and grown[0] < 100, "sends: %s" % (grown,))


def two_clients_with_a_driver_each():
    flags = [("--devices=" + A.device(pair), "--connections=8") for pair in (0, 1)]
    with Server(B) as server, Client(A, B.address(), *flags[0]) as one:
        with Client(A, B.address(), *flags[1]) as other:
            for client in (one, other):
                client.wait_for("rdma")
                client.start_load(SIZE, 2)
            for client in (one, other):
                client.wait_for_calls(100, 60)
            for client in (one, other):
                client.stop_load()
        server.check()


def any_of_them():
    with Server(B) as server, Client(A, B.address(), "--connections=8") as client:
        client.wait_for("rdma")
        client.calls(20, SIZE, 2)
        server.check()


CASES = (first_driver, second_driver, two_clients_with_a_driver_each, any_of_them)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
