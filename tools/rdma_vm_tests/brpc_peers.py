# SPDX-License-Identifier: Apache-2.0
"""brpc_peer/peer.py, which speaks brpc's RDMA, on one host, and rdma_peer on the other."""

import os
import re
import sys
import tempfile
import time

import suite
from forked import Forked, enter_network
from guest import A, B, Trouble, run
from peers import PORT, Client, Program, Server, fields

_PEER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "brpc_peer")
SERVER = "%s:%d" % (B.address(), PORT)
# Bytes of a block, and work requests of each queue: what brpc can be told to have.
QUEUES = (
    ("8160", "16", "16"),
    ("8160", "4096", "4096"),
    ("8160", "16", "4096"),
    ("8160", "4096", "16"),
    ("65504", "128", "128"),
    ("65504", "16", "16"),
)


def queue_flags(block, sends, receives):
    return ("--block=" + block, "--sq=" + sends, "--rq=" + receives)


def _peer():
    """peer.py, whose modules take a second to load, and its bytes another one: once for all."""
    if _PEER not in sys.path:
        # Debian has pyverbs in the second, which Python leaves out with -S (several.sh).
        sys.path += [_PEER, "/usr/lib/python3/dist-packages"]
    import peer

    peer.prpc.pattern(0, 1)
    return peer


class _BrpcProgram(Program):
    """peer.py, in a process of its own."""

    def __init__(self, host, mode, *flags):
        where = ("--device=" + host.device(), "--address=" + host.address())
        super().__init__("brpc's " + mode, (mode, *where, *flags))
        self._host = host

    def _begin(self, stderr):
        def work():
            enter_network(self._host.name)
            return peer.main(self._command)

        peer = _peer()
        return Forked(work, stderr)


def _own(host):
    """brpc's queue pairs are set up without rdma_cm, and so with any device of the guest."""
    return ("--set_up=auto", "--devices=" + host.device())


def server(*flags):
    """farcall's. It waits longer than usual for a peer in Python that registers its blocks."""
    return Server(B, *_own(B), *flags, before=("env", "FARCALL_LINK_DIAL=60s"))


def client(*flags):
    """farcall's. It waits longer than usual for the hello of a peer in Python, on a busy machine:
    one that does not answer is left alone for a minute."""
    patient = ("FARCALL_LINK_BUSY_HELLO_TIMEOUT=20s", "FARCALL_LINK_HELLO_TIMEOUT=20s")
    return Client(
        A, B.address(), *_own(A), "--peers_may_be_brpc", *flags, before=("env", *patient)
    )


class BrpcClient(_BrpcProgram):
    def __init__(self, *flags, mode="client"):
        super().__init__(A, mode, "--server=" + SERVER, *flags)

    def check_carrier(self, wanted):
        told = fields(self.first_line)
        suite.check(told.get("carrier") == wanted, "it said %s" % self.first_line)

    def calls(self, count, size=0, in_flight=1):
        """All must succeed with the right bytes."""
        told = self.ask("calls %d %d %d" % (count, size, in_flight))
        suite.check((told["ok"], told["wrong"], told["error"]) == (str(count), "0", ""),
                    "not all calls are right: %s" % told)  # fmt: skip
        return told


class BrpcServer(_BrpcProgram):
    def __init__(self, *flags):
        super().__init__(B, "server", "--listen=" + SERVER, *flags)

    def check(self):
        """No request was wrong, and the other end kept to the protocol."""
        stats = self.ask("stats")
        suite.check(stats["wrong"] == "0" and not stats["detail"], "it saw: %s" % stats)
        return {name: int(value) for name, value in stats.items() if name != "detail"}


class _Dying(BrpcClient):
    def status(self):
        with tempfile.TemporaryFile() as stderr, self._begin(stderr) as process:
            process.stdin.write(b"calls 20 100000 20\n")
            process.stdin.close()
            said = process.stdout.read()
            stderr.seek(0)
            return process.wait(60), said + stderr.read()


def die(step, *flags):
    """A client that ends as in a crash, once it has come so far."""
    status, said = _Dying("--die_at=" + step, *flags).status()
    suite.check(status == 9, "it did not die: %s" % said)


def queue_pairs(host):
    """Of its device, those of the connection manager's own left out."""
    shown = run("rdma", "resource", "show", "qp", "link", host.device())
    return len(re.findall(r"type RC ", shown))


def wait_until(holds, what, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise Trouble("waited %d s until %s" % (seconds, what))
        time.sleep(0.05)
