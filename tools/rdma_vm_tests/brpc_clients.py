# SPDX-License-Identifier: Apache-2.0
"""Clients of brpc with RDMA call farcall's server."""

import suite
from brpc_peers import BrpcClient, BrpcServer, QUEUES, die, queue_flags, queue_pairs, wait_until
from brpc_peers import server as farcall
from guest import B

_EDGES = (1, 8000, 8159, 8160, 8161, 65503, 65505, 300000)


def the_peer_calls_itself():
    """What does not understand itself proves nothing about others."""
    with BrpcServer("--block=65504", "--report=early") as server:
        with BrpcClient("--version=3", "--sq=16", "--rq=16", "--report=late") as client:
            client.check_carrier("rdma")
            client.calls(100, 0, 32)
            told = client.calls(20, 300000, 8)
            suite.check(int(told["waits"]) > 0, "its window was never empty: %s" % told)
        wait_until(lambda: server.check()["connections"] == 0, "its server saw the end")
        suite.check(server.check()["rdma"] == 120, "calls are missing: %s" % server.check())


def _over_rdma(server, calls):
    stats = server.check()
    suite.check((stats["rdma"], stats["tcp"]) == (calls, 0), "not by RDMA: %s" % stats)


def _served(*flags):
    with farcall() as server:
        with BrpcClient(*flags) as client:
            client.check_carrier("rdma")
            client.calls(100)
            client.calls(200, 0, 32)
            for size in _EDGES:
                client.calls(4, size, 2)
            client.calls(4, 1 << 20, 2)
        _over_rdma(server, 304 + 4 * len(_EDGES))


def a_client_with_hello_2_is_served():
    _served("--version=2")


def a_client_with_hello_3_is_served():
    _served("--version=3")


def clients_with_blocks_and_queues_of_every_size_are_served():
    with farcall() as server:
        for number, queues in enumerate(QUEUES):
            version = "--version=%d" % (2 + number % 2)
            with BrpcClient(version, *queue_flags(*queues)) as client:
                client.check_carrier("rdma")
                client.calls(128, 100, 64)
                client.calls(20, 100000, 8)
        _over_rdma(server, 148 * len(QUEUES))


def a_client_may_use_up_its_credits_and_report_late():
    """It reports what it has received when the server has no credit left at all."""
    with farcall() as server:
        for report in ("late", "early"):
            with BrpcClient("--sq=16", "--rq=16", "--report=" + report) as client:
                client.check_carrier("rdma")
                told = client.calls(20, 300000, 16)
                suite.check(int(told["waits"]) > 0, "it always had credits: %s" % told)
                if report == "late":
                    suite.check(told["most"] == "13", "the server's window is 13: %s" % told)
        server.check()


def data_may_overtake_the_acknowledgement():
    with farcall() as server:
        for size in ("0", "60000"):
            with BrpcClient("--early_bytes=" + size) as client:
                client.check_carrier("rdma")
                client.calls(20, 5000, 4)
        _over_rdma(server, 42)


def a_client_is_refused_where_rdma_is_off():
    with farcall("--use_rdma=false") as server:
        for version in "23":
            with BrpcClient("--version=" + version) as client:
                client.check_carrier("tcp")
                client.calls(20, 100000, 4)
        stats = server.check()
        suite.check((stats["rdma"], stats["tcp"]) == (0, 40), "not by TCP: %s" % stats)


def a_client_may_stay_on_tcp_after_an_offer():
    with farcall() as server:
        was = queue_pairs(B)
        with BrpcClient("--change_mind") as client:
            client.check_carrier("tcp")
            client.calls(20, 100000, 4)
            wait_until(lambda: queue_pairs(B) == was, "the offered queue pair is gone")
        suite.check(server.check()["tcp"] == 20, "not by TCP: %s" % server.check())


def clients_that_say_no_hello_are_served_beside_them():
    with farcall() as server, BrpcClient("--version=0") as plain, BrpcClient() as client:
        plain.check_carrier("tcp")
        for _ in range(3):
            plain.calls(10, 10000, 2)
            client.calls(10, 10000, 2)
        stats = server.check()
        suite.check((stats["rdma"], stats["tcp"]) == (30, 30), "otherwise: %s" % stats)


def clients_that_die_leave_nothing_and_disturb_nobody():
    with farcall() as server, BrpcClient() as other:
        other.calls(10, 1000)
        pairs, connections = queue_pairs(B), server.stats()["connections"]
        for step in ("connect", "half_hello", "hello", "answer", "early", "ack", "calls"):
            other.begin("calls 50 20000 4")
            die(step, *(("--early_bytes=60000",) if step == "early" else ()))
            told = other.end("calls 50 20000 4")
            suite.check(told["ok"] == "50", "%s: the other client: %s" % (step, told))
            wait_until(lambda: queue_pairs(B) == pairs, step + ": its queue pair is gone")
            wait_until(lambda: server.stats()["connections"] == connections,
                       step + ": its connection is gone")  # fmt: skip


def clients_that_break_the_rules_of_the_data_path_are_dropped():
    with farcall() as server, BrpcClient() as other:
        pairs = queue_pairs(B)
        for how in ("credits", "unreported", "large", "tcp_byte"):
            with BrpcClient() as client:
                client.check_carrier("rdma")
                client.calls(2, 1000)
                told = client.ask("breach " + how)
                suite.check(told["error"], "%s: the connection goes on" % how)
            wait_until(lambda: queue_pairs(B) == pairs, how + ": its queue pair is gone")
            other.calls(10, 20000, 2)
        server.check()


# Hellos of the second version: "RDMA", then the rest.
_GOOD = "00280002000100001FE0008000800000" + "00000000000000000000FFFF0A090001" + "00000011"
_REFUSED = (
    ("version 3", _GOOD.replace("00280002", "00280003", 1)),
    ("blocks of 1,023", _GOOD.replace("00001FE0", "000003FF", 1)),
    ("15 sends", _GOOD.replace("00800080", "000F0080", 1)),
    ("15 receives", _GOOD.replace("00800080", "0080000F", 1)),
)
_ENDED = (
    ("of 39 bytes", "RDMA", _GOOD.replace("0028", "0027", 1)),
    ("of 4,097 bytes", "RDMA", _GOOD.replace("0028", "1001", 1)),
    ("of version 3 without a message", "RDM3", "00000000"),
    ("of version 3 with 8,193 bytes", "RDM3", "00002001"),
)


def wrong_hellos_are_refused_or_end_the_connection():
    with farcall() as server:
        for what, rest in _REFUSED:
            with BrpcClient(mode="raw") as client:
                client.ask("send " + b"RDMA".hex() + rest)
                told = client.ask("read 40")
                refused = told["hex"][:8] == b"RDMA".hex() and set(told["hex"][16:]) == {"0"}
                suite.check(refused, "%s: answered %s" % (what, told))
                client.ask("send 00000001")  # RDMA all the same
                told = client.ask("read 1")
                suite.check(told["end"] == "1", "%s: it goes on: %s" % (what, told))
        for what, magic, rest in _ENDED:
            with BrpcClient(mode="raw") as client:
                client.ask("send " + magic.encode().hex() + rest)
                told = client.ask("read 1")
                suite.check((told["hex"], told["end"]) == ("", "1"), "%s: %s" % (what, told))
        wait_until(lambda: server.stats()["connections"] == 0, "they are gone")


def a_hello_may_come_in_pieces_and_only_once():
    with farcall() as server, BrpcClient(mode="raw") as client:
        was = queue_pairs(B)
        for piece in (b"R".hex(), b"DMA".hex(), _GOOD[:2], _GOOD[2:40], _GOOD[40:]):
            client.ask("send " + piece)
        told = client.ask("read 40")
        offered = told["hex"].startswith(b"RDMA".hex() + "002800020001")
        suite.check(offered, "answered %s" % told)
        client.ask("send " + (b"RDMA".hex() + _GOOD) * 20)
        told = client.ask("read 1")
        suite.check(told["end"] == "1", "it goes on: %s" % told)
        wait_until(lambda: queue_pairs(B) == was, "its queue pair is gone")
        server.check()


CASES = (
    the_peer_calls_itself,
    a_client_with_hello_2_is_served,
    a_client_with_hello_3_is_served,
    clients_with_blocks_and_queues_of_every_size_are_served,
    a_client_may_use_up_its_credits_and_report_late,
    data_may_overtake_the_acknowledgement,
    a_client_is_refused_where_rdma_is_off,
    a_client_may_stay_on_tcp_after_an_offer,
    clients_that_say_no_hello_are_served_beside_them,
    clients_that_die_leave_nothing_and_disturb_nobody,
    clients_that_break_the_rules_of_the_data_path_are_dropped,
    wrong_hellos_are_refused_or_end_the_connection,
    a_hello_may_come_in_pieces_and_only_once,
)
