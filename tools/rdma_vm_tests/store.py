# SPDX-License-Identifier: Apache-2.0
"""examples/attachment between two hosts: blocks go from one program's memory to another's."""

import os
import re
import subprocess

import peers
import suite
from guest import A, B, DRIVER, Trouble

PORT = 8003
BLOCK = 4096
LIMIT = 120


def _program(host, name, *flags):
    return host.inside(os.path.join(peers.BIN[0], "examples/attachment", name), *flags)


def copied(at_once, *flags, blocks=512, client=A, server=B, to=None, port=PORT):
    """From `client` to `server`, at the address `to` if not its own. What both say: (what carried
    the calls, bytes that the client copied to be sent and when they came, and the same of the
    server)."""
    served = subprocess.Popen(
        _program(server, "block_server", "--listen=0.0.0.0:%d" % port, "--event_loops=1",
                 "--blocks=%d" % blocks),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        line = served.stdout.readline().decode()
        suite.check(line.startswith("listening on "), "the server said: " + line)
        called = subprocess.run(
            _program(client, "block_client", "--server=%s:%d" % (to or server.address(), port),
                     "--blocks=%d" % blocks, "--at_once=%d" % at_once,
                     # On a busy machine a first attempt may be too slow.
                     "--rdma_within_s=60", *flags),
            stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False,
        )  # fmt: skip
    finally:
        served.terminate()
        rest = served.communicate(timeout=LIMIT)[0].decode()
    said = called.stdout.decode() + called.stderr.decode()
    if called.returncode != 0:
        raise Trouble("the client ended with %d: %s" % (called.returncode, said))
    told = re.search(
        r"^over (.*)\ncopied: (\d+) bytes of those written, (\d+) of those read$", said, re.M
    )
    suite.check(told, "not what it should say: " + said)
    # What the client has sent came to the server, and the other way round.
    end = re.search(r"^copied: (\d+) bytes of those written, (\d+) of those read$", rest, re.M)
    suite.check(end, "the server said at its end: " + rest)
    return told[1], int(told[2]), int(told[3]), int(end[2]), int(end[1])


def no_byte_of_a_block_is_copied():
    """Where the device has memory windows of type 2, which Soft-iWARP has not. Each block lies
    between others, which the client compares too: bytes beside their place are found."""
    for at_once, blocks in ((1, 128), (256, 512)):
        carrier, sent, landed, answered, stored = copied(at_once, blocks=blocks)
        suite.check(sent + answered == 0, "%d and %d were copied to be sent" % (sent, answered))
        if DRIVER == "rxe":
            suite.check((carrier, landed, stored) == ("rdma, by RDMA READ", 0, 0),
                        "%d and %d were copied, over %s" % (landed, stored, carrier))  # fmt: skip
        else:
            suite.check(carrier == "rdma" and max(landed, stored) <= blocks * BLOCK,
                        "%d and %d were copied, over %s" % (landed, stored, carrier))  # fmt: skip


def each_byte_is_copied_once_where_one_end_does_not_read():
    blocks = 256
    carrier, sent, landed, answered, stored = copied(16, "--read_at_least=0", blocks=blocks)
    suite.check((carrier, sent, answered) == ("rdma", 0, 0),
                "%d and %d were copied, over %s" % (sent, answered, carrier))  # fmt: skip
    suite.check(0 < landed <= blocks * BLOCK and 0 < stored <= blocks * BLOCK,
                "%d and %d were copied" % (landed, stored))  # fmt: skip


CASES = (
    no_byte_of_a_block_is_copied,
    each_byte_is_copied_once_where_one_end_does_not_read,
)
