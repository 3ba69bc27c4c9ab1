# SPDX-License-Identifier: Apache-2.0
"""Processes that stand still and go on."""

import os
import signal
import time

import suite
from guest import A, B, DRIVER
from peers import Client, Server
from traffic import BACK, FIRST


def a_client_and_a_server_are_stopped():
    """For longer than anybody's patience. The client's calls wait for it, and those to the server
    fail by their deadline, or with their connection, and are not tried again: a server that goes on
    reads what came before its stop, so such a call could run twice. When both go on, all is over
    RDMA again. Answers are small, since a server closes who leaves them unread for ten seconds."""
    once = ("--connections=4", "--timeout_ms=8000", "--max_retry=0")
    with Server(A, *FIRST) as stopped_server, Client(
        B, A.address(1), *once, *FIRST
    ) as client, Server(B, *FIRST) as server, Client(
        A, B.address(1), "--connections=4", "--timeout_ms=60000", *FIRST
    ) as stopped_client:
        for each in (client, stopped_client):
            each.wait_for("rdma")
            each.start_load(4096, 2)
            each.wait_for_calls(30)
        for signal_number, seconds in ((signal.SIGSTOP, 15), (signal.SIGCONT, 0)):
            for each in (stopped_server, stopped_client):
                os.kill(each.pid(), signal_number)
            time.sleep(seconds)
        stopped_client.wait_for_calls(30)
        stopped_client.stop_load()
        counts = client.ask("stop")
        suite.check(counts["wrong"] == "0", "wrong answers: %s" % counts)
        for each in (client, stopped_client):
            each.wait_for("rdma", BACK)
            each.calls(10, 100000, 2)
        for each in (server, stopped_server):
            each.check()


# What is stopped is the processes: the other driver would show the same once more.
CASES = (a_client_and_a_server_are_stopped,) if DRIVER == "rxe" else ()
