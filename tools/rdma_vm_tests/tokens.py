# SPDX-License-Identifier: Apache-2.0
"""Tokens that are wrong, used twice or out of date let nobody in, and nobody else notices."""

import os

import suite
from guest import A, B
from peers import BIN, PORT, Client, Server

# What token_probe must tell.
EXPECTED = {
    "wrong_token": "rejected",
    "wrong_generation": "rejected",
    "void_at_its_first_sight": "rejected",
    "wrong_answer": "rejected",
    "older_client": "in_use",
    "no_token": "rejected",
    "right_token": "in_use",
    "used_twice": "rejected",
    "used_twice_later": "rejected",
    "superseded": "rejected",
    "superseding": "in_use",
    "without_its_lifeline": "rejected",
}


def _probe(server):
    program = os.path.join(BIN[0], "transport/link/testing/token_probe/token_probe")
    said = A.run(program, "%s:%d" % (B.address(), PORT), limit=120)
    found = dict(line.split(" ", 2)[:2] for line in said.splitlines())
    suite.check(found == EXPECTED, "attempts ended otherwise: %s" % said)
    server.check()


def tokens():
    with Server(B) as server:
        _probe(server)


def tokens_while_others_call():
    with Server(B) as server, Client(A, B.address(), "--connections=4") as client:
        client.wait_for("rdma")
        client.start_load(20000, 2)
        _probe(server)
        client.wait_for_calls(50)
        counts = client.stop_load()
        suite.check(counts["tcp"] == "0", "calls went over TCP: %s" % counts)
        client.wait_for("rdma")


CASES = (tokens, tokens_while_others_call)
