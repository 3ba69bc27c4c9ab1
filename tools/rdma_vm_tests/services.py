# SPDX-License-Identifier: Apache-2.0
"""Calls go to the address of a Service, which a node translates; bytes by RDMA over a second
network that the Service knows nothing of."""

import contextlib
import os
import signal
import sys
import time

import suite
from counters import Seen
from guest import FIRST_DRIVER, run
from peers import PATIENT, SET_UP, Client, Server
from pods import SERVICE, Pod, remove, serve_by

SIZE = 30000
# Pods that there are from the first case on, by what they do.
_pods = {}


def _pod(number):
    if number not in _pods:
        _pods[number] = Pod(number)
    return _pods[number]


def _client_of_service(connections, *flags, before=()):
    return Client(_pod(9), SERVICE, "--connections=%d" % connections, *flags, before=before)


def the_service_has_no_rdma():
    """Else the other cases would show nothing: its address is nobody's, and the pods' default
    network has no device."""
    for each in (_pod(9), _pod(1)):
        routes = each.run("ip", "route", "get", SERVICE)
        suite.check("dev eth0" in routes, routes)
        suite.check(SERVICE not in each.run("ip", "address"), "the service is a pod's own")
    devices = run("rdma", "link")
    suite.check("eth0" not in devices, devices)


def calls_to_the_service_bytes_by_rdma():
    one = _pod(1)
    with Server(one, before=PATIENT) as server:
        serve_by(one)
        with _client_of_service(4, before=PATIENT) as client:
            state = client.wait_for("rdma")
            suite.check(state["device"] == _pod(9).device(), "another device: %s" % state)
            near, far = Seen(_pod(9)), Seen(one)
            client.calls(25, SIZE, 4)
            near.check_rdma(2 * 4 * 25 * SIZE)
            far.check_rdma(2 * 4 * 25 * SIZE)
            server.check()


def two_pods_behind_one_address():
    """Each connection is upgraded at the pod that it reached: a token is of no use at another."""
    one, two = _pod(1), _pod(2)
    with Server(one, before=PATIENT) as first, Server(two, before=PATIENT) as second:
        serve_by(one, two)
        with _client_of_service(8, before=PATIENT) as client:
            client.wait_for("rdma")
            seen = [Seen(each) for each in (one, two)]
            was = [server.stats() for server in (first, second)]
            client.calls(20, SIZE, 2)
            for server, before, bytes_seen in zip((first, second), was, seen):
                # The node gives connections to them in turn.
                stats = server.check()
                suite.check(stats["connections"] == 4, "not half of the connections: %s" % stats)
                carried = stats["rdma"] - before["rdma"]
                suite.check(carried == 4 * 20, "%d calls by RDMA: %s" % (carried, stats))
                bytes_seen.check_rdma(2 * 4 * 20 * SIZE)
            refused = client.reasons().get("rejected", 0)
            suite.check(refused == 0, "%d connections showed a token elsewhere" % refused)


def _replaced(end, failed_at_most):
    """pod1 is replaced by pod3, under load; `end` ends the server of pod1."""
    one, two = _pod(1), _pod(2)
    with contextlib.ExitStack() as stack:
        old = stack.enter_context(Server(one))
        servers = [stack.enter_context(Server(two))]
        serve_by(one, two)
        client = stack.enter_context(_client_of_service(4))
        client.wait_for("rdma")
        client.start_load(SIZE, 2)
        client.wait_for_calls(50, 60)
        three = _pod(3)  # as new: with other addresses
        servers.append(stack.enter_context(Server(three)))
        serve_by(three, two)
        old.check()
        end(old)
        client.wait_for_calls(50, 60)
        client.wait_for("rdma")
        seen = Seen(three)
        client.wait_for_calls(50, 60)
        counts = client.ask("stop")
        suite.check(counts["wrong"] == "0" and int(counts["failed"]) <= failed_at_most, str(counts))
        seen.check_rdma(SIZE)
        for server in servers:
            stats = server.check()
            suite.check(stats["rdma"] > 0 and stats["connections"] > 0, "nothing: %s" % stats)
        return "%s of %s calls failed" % (counts["failed"], counts["ok"])


def a_pod_replaced_in_mid_traffic():
    """It ends as at SIGTERM: no call fails."""
    return _replaced(lambda server: server.__exit__(), 0)


def a_pod_killed_in_mid_traffic():
    def kill(server):
        os.kill(server.pid(), signal.SIGKILL)

    return _replaced(kill, 0)


def rdma_by_the_second_network_only():
    """The first network has RDMA too, and is told from the second one by what Multus says; which
    comes when the pod already runs."""
    one, client_pod = _pod(1), _pod(9)
    for each in (one, client_pod):
        each.add_device(1)
    status = "/run/network-status"
    with open(status, "w", encoding="ascii"):
        pass
    serve_by(one)
    with Server(one, before=("env", "FARCALL_RDMA_NETWORK_STATUS=" + status)) as server:
        with _client_of_service(2) as client:
            state = client.wait_for("rdma")
            either = (client_pod.device(), client_pod.device(1))
            suite.check(state["device"] in either, "not as without it: %s" % state)
            suite.check("it is empty" in server.log(), "nothing was told: " + server.log())
            # As the kubelet does it.
            with open(status + ".new", "w", encoding="ascii") as file:
                file.write(one.status())
            os.rename(status + ".new", status)
            end = time.monotonic() + 60
            # Without the file any adapter may be chosen, with it one only.
            only_there = 0
            while only_there < 4:
                suite.check(time.monotonic() < end, "the first network is still used: %s" % state)
                time.sleep(0.5)
                read = "preferred for RDMA: net1" in server.log()
                client.ask("open 2")
                state = client.wait_for("rdma")
                there = read and state["device"] == client_pod.device()
                only_there = only_there + 1 if there else 0
            client.calls(20, SIZE, 2)
            server.check()
            said = server.log().count("preferred for RDMA: net1 (default/rdma);")
            suite.check(said == 1, "told %d times" % said)


CASES = (
    calls_to_the_service_bytes_by_rdma,
    a_pod_replaced_in_mid_traffic,
    # It is about the addresses that a server offers for rdma_cm.
    *((rdma_by_the_second_network_only,) if SET_UP != "tcp" else ()),
)
# Which pod is reached is no matter of the driver.
if FIRST_DRIVER:
    CASES += (the_service_has_no_rdma, two_pods_behind_one_address, a_pod_killed_in_mid_traffic)

if __name__ == "__main__":
    failed = suite.main(CASES)
    if _pods:
        remove(_pods.values())
    sys.exit(failed)
