# SPDX-License-Identifier: Apache-2.0
"""farcall calls servers of brpc with RDMA."""

import suite
from brpc_peers import BrpcServer, QUEUES, queue_flags, queue_pairs, wait_until
from brpc_peers import client as farcall
from guest import A

_EDGES = (1, 8000, 8159, 8160, 8161, 65503, 65505, 300000)


def _over_rdma(server):
    stats = server.check()
    suite.check(stats["rdma"] > 0 and stats["tcp"] == 0, "not by RDMA: %s" % stats)
    return stats


def a_server_is_called():
    with BrpcServer() as server, farcall() as client:
        client.wait_for("rdma")
        client.calls(100)
        client.calls(200, 0, 32)
        for size in _EDGES:
            client.calls(4, size, 2)
        client.calls(4, 1 << 20, 2)
        _over_rdma(server)


def servers_with_blocks_and_queues_of_every_size_are_called():
    for queues in QUEUES:
        with BrpcServer(*queue_flags(*queues)) as server, farcall() as client:
            client.wait_for("rdma")
            client.calls(128, 100, 64)
            client.calls(20, 100000, 8)
            _over_rdma(server)


def a_server_may_use_up_its_credits_and_report_late():
    for report in ("late", "early"):
        with BrpcServer("--sq=16", "--rq=16", "--report=" + report) as server:
            with farcall() as client:
                client.wait_for("rdma")
                client.calls(4, 1000000, 4)
                stats = _over_rdma(server)
                suite.check(stats["waits"] > 0, "it always had credits: %s" % stats)
                full = stats["most"] == 13 or report != "late"
                suite.check(full, "the client's window is 13: %s" % stats)


def several_connections_to_one_server():
    with BrpcServer() as server, farcall("--connections=6") as client:
        client.wait_for("rdma")
        client.calls(20, 30000, 2)
        stats = _over_rdma(server)
        suite.check(stats["connections"] == 6, "not six connections: %s" % stats)


def a_device_that_comes_later_is_used():
    """The connection that began on TCP is replaced by one over RDMA."""
    A.remove_device()
    try:
        with BrpcServer() as server, farcall() as client:
            client.wait_for("tcp")
            client.calls(20, 100, 4)
            A.add_device()
            wait_until(lambda: client.ask("state")["rdma"] == "1", "its connection is replaced", 90)
            client.calls(20, 100000, 4)
            stats = server.check()
            suite.check(stats["rdma"] >= 20, "not by RDMA: %s" % stats)
    finally:
        if not A.has_device():
            A.add_device()


def _by_tcp(answer):
    with BrpcServer("--answer=" + answer) as server, farcall() as client:
        client.wait_for("tcp")
        client.calls(20, 100000, 4)
        client.ask("open 2")
        client.calls(20, 100, 4)
        stats = server.check()
        suite.check(stats["rdma"] == 0 and stats["tcp"] >= 60, "not by TCP: %s" % stats)
        suite.check(queue_pairs(A) == 0, "a queue pair is left: %d" % queue_pairs(A))


def a_server_that_refuses_is_called_by_tcp():
    _by_tcp("refuse")


def a_server_without_rdma_is_called_by_tcp():
    _by_tcp("not_rdma")


def a_server_that_knows_no_hello_is_called_by_tcp():
    _by_tcp("close")


def servers_that_die_fail_their_calls_and_are_found_again():
    limits = ("--timeout_ms=20000", "--connect_timeout_ms=5000")
    for step in ("accept", "half_hello", "half_answer", "answer", "ack", "calls"):
        with farcall(*limits) as client:
            with BrpcServer("--die_at=" + step):
                told = client.ask("calls 10 50000 4")
                suite.check((told["ok"], told["failed"]) == ("0", "10"), "%s: %s" % (step, told))
            wait_until(lambda: queue_pairs(A) == 0, step + ": its queue pair is gone")
            with BrpcServer() as server:
                wait_until(lambda: client.ask("state")["failed"] == "0", step + ": it is found")
                client.calls(10, 50000, 4)
                server.check()


CASES = (
    a_server_is_called,
    servers_with_blocks_and_queues_of_every_size_are_called,
    a_server_may_use_up_its_credits_and_report_late,
    several_connections_to_one_server,
    a_device_that_comes_later_is_used,
    a_server_that_refuses_is_called_by_tcp,
    a_server_without_rdma_is_called_by_tcp,
    a_server_that_knows_no_hello_is_called_by_tcp,
    servers_that_die_fail_their_calls_and_are_found_again,
)
