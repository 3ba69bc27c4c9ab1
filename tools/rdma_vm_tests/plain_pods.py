# SPDX-License-Identifier: Apache-2.0
"""Pods that have the cluster's network alone, and a device of their node's: no interface of theirs
has RDMA, so that rdma_cm finds no way, and queue pairs are set up over TCP."""

import os
import signal
import sys
import time

import store
import suite
from counters import Seen
from guest import A, B, DRIVER
from peers import PATIENT, PORT, Client, Server
from pods import SERVICE, PlainPod, remove, serve_by

SIZE = 30000
# The pods of each node, whose devices are those of the hosts of the cable.
_pods = {}


def _pod(number):
    if number not in _pods:
        _pods[number] = PlainPod(number)
    return _pods[number]


def _server(*flags, before=()):
    return Server(_pod(2), "--devices=" + B.device(), "--set_up=auto", *flags, before=before)


def _client(*flags, to=SERVICE, before=()):
    flags = ("--devices=" + A.device(), "--set_up=auto", *flags)
    return Client(_pod(1), to, *flags, before=before)


def rdma_cm_finds_no_way():
    """Else the other cases would show nothing."""
    for pod in (_pod(1), _pod(2)):
        addresses = pod.run("ip", "-o", "-4", "address")
        suite.check("10.9." not in addresses, addresses)
    with Server(_pod(2), "--devices=" + B.device()) as server:
        serve_by(_pod(2))
        with Client(_pod(1), SERVICE, "--devices=" + A.device()) as client:
            client.calls(20, SIZE, 2)
            state = client.wait_for("tcp")
            suite.check(state["why"] == "no_address", "another reason: %s" % state)
            server.check()


def calls_to_a_service_go_by_rdma():
    with _server(before=PATIENT) as server:
        serve_by(_pod(2))
        with _client("--connections=4", before=PATIENT) as client:
            state = client.wait_for("rdma")
            suite.check(state["device"] == A.device(), "another device: %s" % state)
            suite.check(state["set_up"] == "tcp", "set up in another way: %s" % state)
            near, far = Seen(A), Seen(B)
            client.calls(25, SIZE, 4)
            near.check_rdma(2 * 4 * 25 * SIZE)
            far.check_rdma(2 * 4 * 25 * SIZE)
            server.check()


def programs_that_know_nothing_of_it_use_rdma():
    """Those of the block store, with all devices that there are: they are told whom to call, and no
    more."""
    serve_by(_pod(2))
    carrier, *_ = store.copied(16, client=_pod(1), server=_pod(2), to=SERVICE, port=PORT)
    suite.check(carrier.startswith("rdma"), "the calls went over " + carrier)
    return carrier


def attachments_are_fetched():
    """RDMA READ by memory windows needs what both ends agreed on."""
    flags = ("--read_at_least=16384",)
    with _server(*flags) as server:
        serve_by(_pod(2))
        with _client(*flags) as client:
            client.wait_for("rdma")
            client.calls(10, 1 << 20, 2)
            server.check()


def a_cut_cable_loses_no_call():
    with _server() as server:
        serve_by(_pod(2))
        with _client("--connections=2") as client:
            client.wait_for("rdma")
            client.start_load(SIZE, 2)
            B.run("ip", "link", "set", B.cable(), "down")
            client.wait_for("tcp")
            client.wait_for_calls(50, 60)
            B.run("ip", "link", "set", B.cable(), "up")
            client.wait_for("rdma")
            client.wait_for_calls(50, 60)
            client.stop_load()
            server.check()


def a_removed_device_is_let_go_and_used_again():
    """No id of rdma_cm hears of it, for which the kernel's removal would wait."""
    with _server() as server:
        serve_by(_pod(2))
        with _client("--connections=2") as client:
            client.wait_for("rdma")
            client.start_load(SIZE, 2)
            B.remove_device()
            client.wait_for("tcp")
            client.wait_for_calls(50, 60)
            B.add_device()
            client.wait_for("rdma")
            client.wait_for_calls(50, 60)
            client.stop_load()
            server.check()


def a_killed_server_comes_back():
    with _server() as server:
        serve_by(_pod(2))
        with _client("--connections=2") as client:
            client.wait_for("rdma")
            os.kill(server.pid(), signal.SIGKILL)
            client.wait_for("failed")
            with _server() as again:
                client.wait_for("rdma")
                client.calls(20, SIZE, 2)
                again.check()


def connections_240_at_once():
    with _server(before=PATIENT) as server:
        serve_by(_pod(2))
        began = time.monotonic()
        with _client("--connections=240", before=PATIENT) as client:
            client.wait_for("rdma", 240)
            took = time.monotonic() - began
            client.calls(4, 4096, 1)
            server.check()
    return "up in %.1f s" % took


CASES = (
    rdma_cm_finds_no_way,
    calls_to_a_service_go_by_rdma,
    programs_that_know_nothing_of_it_use_rdma,
    attachments_are_fetched,
    a_cut_cable_loses_no_call,
    a_removed_device_is_let_go_and_used_again,
    a_killed_server_comes_back,
    connections_240_at_once,
)

if __name__ == "__main__":
    suite.check(DRIVER == "rxe", "iWARP is set up by rdma_cm alone")
    failed = suite.main(CASES)
    if _pods:
        remove(_pods.values())
    sys.exit(failed)
