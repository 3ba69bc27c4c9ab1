# SPDX-License-Identifier: Apache-2.0
"""A congested link with priorities by DSCP, as a switch has: the traffic class of a pod's
environment decides who gets it, over TCP and over RDMA."""

import contextlib
import json
import sys
import time

import suite
from guest import A, B, DRIVER, FIRST_DRIVER, Trouble, run
from peers import PORT, Client, Server

# af31: DSCP 26, and what it is as a traffic class.
NAME = "af31"
CLASS = 104
# Slow enough for emulated processors, so that the queue decides.
LINK = "4mbit"
# What is in flight fills the link, and is through it in 130 ms: no time-out of RDMA is near.
SIZE = 16 * 1024
IN_FLIGHT = 4
# Of what the link carries in so many windows of SECONDS.
SHARE = 0.9
WINDOWS = 3
SECONDS = 1.5
# Seconds in all.
LIMIT = 90

# What has come over the link, by its DSCP; RoCE v2 is UDP to port 4791, iWARP TCP to any port. A
# reset is not counted: where no socket is left, the kernel answers with the class of what came. Nor
# is a DREP of rdma_cm (a MAD to queue pair 1, attribute 0x16): where both ends disconnect at once,
# the kernel answers the other one's DREQ for a connection that it has no more, and its class is 0.
_RULES = """
table ip farcall_marks {
  set tcp_unmarked {
    typeof tcp flags
    flags dynamic
    size 100
  }
  counter tcp_marked {}
  counter tcp_other {}
  counter rdma_marked {}
  counter rdma_other {}
  chain in {
    type filter hook input priority 0;
    iifname != "%(cable)s" return
    tcp flags & rst == rst return
    udp dport 4791 @th,104,24 1 @th,352,16 0x16 return
    udp dport 4791 ip dscp 26 counter name rdma_marked return
    udp dport 4791 counter name rdma_other return
    tcp dport %(port)d ip dscp 26 counter name tcp_marked return
    tcp sport %(port)d ip dscp 26 counter name tcp_marked return
    tcp dport %(port)d update @tcp_unmarked { tcp flags }
    tcp sport %(port)d update @tcp_unmarked { tcp flags }
    tcp dport %(port)d counter name tcp_other return
    tcp sport %(port)d counter name tcp_other return
    meta l4proto tcp ip dscp 26 counter name rdma_marked return
    meta l4proto tcp counter name rdma_other
  }
}
"""


_UNMARKED = ("ip", "farcall_marks", "tcp_unmarked")


class _Marks:
    """Bytes and packets that came to a host since this was made, by kind and mark."""

    _made = set()

    def __init__(self, host):
        self._host = host
        if host.name not in self._made:
            run("modprobe", "-a", "nf_tables")
            path = "/run/marks_" + host.name
            with open(path, "w", encoding="ascii") as file:
                file.write(_RULES % {"cable": host.cable(), "port": PORT})
            host.run("nft", "-f", path)
            self._made.add(host.name)
        self._host.run("nft", "flush", "set", *_UNMARKED)
        self._start = self._read()

    def _read(self):
        found = {}
        listing = json.loads(self._host.run("nft", "-j", "list", "counters"))
        for entry in listing["nftables"]:
            if "counter" in entry:
                counter = entry["counter"]
                found[counter["name"]] = (counter["bytes"], counter["packets"])
        return found

    def now(self):
        """{"tcp_marked": (bytes, packets), ...}"""
        return {
            name: tuple(new - old for new, old in zip(value, self._start[name]))
            for name, value in self._read().items()
        }

    def unmarked(self):
        """Flags of TCP packets from and to the server's port without a mark, as nft shows them."""
        return " ".join(self._host.run("nft", "list", "set", *_UNMARKED).split())

    def of(self, kind):
        """(marked, other) bytes."""
        now = self.now()
        return now[kind + "_marked"][0], now[kind + "_other"][0]


@contextlib.contextmanager
def _congested_link():
    """What leaves A is held to LINK, and marked packets go first."""
    run("modprobe", "-a", "sch_tbf", "sch_prio", "cls_u32")
    device = ["dev", A.cable()]
    A.run("tc", "qdisc", "add", *device, "root", "handle", "1:", "tbf", "rate", LINK,
          "burst", "16kb", "limit", "4mb")  # fmt: skip
    A.run("tc", "qdisc", "add", *device, "parent", "1:1", "handle", "2:", "prio", "bands", "2",
          "priomap", *"1" * 16)  # fmt: skip
    for band in "12":
        A.run("tc", "qdisc", "add", *device, "parent", "2:" + band, "handle", band + "0:",
              "bfifo", "limit", "4mb")  # fmt: skip
    A.run("tc", "filter", "add", *device, "parent", "2:", "protocol", "ip", "u32",
          "match", "ip", "tos", hex(CLASS), "0xfc", "flowid", "2:1")  # fmt: skip
    try:
        yield
    finally:
        A.run("tc", "qdisc", "del", *device, "root")


def _marked_by(value):
    return ("env", "FARCALL_TRAFFIC_CLASS=%s" % value)


def _flow(mark, rdma):
    return Client(A, B.address(), "--use_rdma=%s" % str(rdma).lower(), before=_marked_by(mark))


def _others_wait():
    """Whether packets without a mark are in their queue."""
    listed = json.loads(A.run("tc", "-s", "-j", "qdisc", "show", "dev", A.cable()))
    return next(one["backlog"] for one in listed if one["handle"] == "20:") > 0


def _has_priority(windows):
    """Of (marked bytes, other bytes, whether others waited at both ends): in the last WINDOWS
    marked packets had SHARE of what came, while others waited."""
    last = windows[-WINDOWS:]
    marked, other = (sum(one[i] for one in last) for i in (0, 1))
    waited = all(one[2] for one in last)
    return len(last) == WINDOWS and waited and marked > SHARE * (marked + other)


def _wait_for_priority(seen, kind):
    """A process that gets no processor for a while leaves the link to the other one, so it is
    looked at until LIMIT; without a priority the others would not wait while the marked ones have
    the link."""
    windows, end = [], time.monotonic() + LIMIT
    was, waited = seen.of(kind), _others_wait()
    while True:
        time.sleep(SECONDS)
        now, wait = seen.of(kind), _others_wait()
        marked, other = (new - old for new, old in zip(now, was))
        windows.append((marked, other, waited and wait))
        told = " ".join("%d:%d%s" % (one[0], one[1], "" if one[2] else "(none waits)")
                        for one in windows[-12:])  # fmt: skip
        if _has_priority(windows):
            return told
        if time.monotonic() > end:
            raise Trouble("marked:other in bytes of %g s, never %g of it while others "
                          "waited: %s" % (SECONDS, SHARE, told))  # fmt: skip
        was, waited = now, wait


def _marked_keeps_the_link(kind):
    """The other flow is there first; it has the link before, and gets it back."""
    rdma = kind == "rdma"
    flows = _flow("", rdma), _flow(NAME, rdma)
    with _congested_link(), Server(B) as server, flows[0] as other, flows[1] as mine:
        # Both are set up before there is a queue to wait in.
        for client in (other, mine):
            client.wait_for(kind, 60)
        seen = _Marks(B)
        other.start_load(SIZE, IN_FLIGHT)
        other.wait_for_calls(4 * IN_FLIGHT, 60)
        alone = seen.of(kind)
        suite.check(alone[0] == 0 and alone[1] > IN_FLIGHT * SIZE, "alone: %d:%d bytes" % alone)
        mine.start_load(SIZE, IN_FLIGHT)
        mine.wait_for_calls(2 * IN_FLIGHT, 60)
        told = _wait_for_priority(seen, kind)
        mine.stop_load()
        other.wait_for_calls(2 * IN_FLIGHT, 60)
        other.stop_load()
        server.check()
    return "marked:other in bytes of %g s: %s" % (SECONDS, told)


def marked_tcp_keeps_the_link():
    return _marked_keeps_the_link("tcp")


def marked_rdma_keeps_the_link():
    return _marked_keeps_the_link("rdma")


def _check_marks(seen, *kinds):
    """Each packet of these kinds has the mark."""
    now = seen.now()
    for kind in kinds:
        marked, other = now[kind + "_marked"][1], now[kind + "_other"][1]
        if marked == 0 or other > 0:
            told = "%s: %d marked, %d not" % (kind, marked, other)
            if kind == "tcp":
                told += "; flags of those: " + seen.unmarked()
            raise Trouble(told)


def both_kinds_are_marked_on_the_wire():
    """The names and the numbers mean the same. siw takes the type of service and does not use it:
    its queue pairs have no mark."""
    kinds = ("tcp", "rdma") if DRIVER == "rxe" else ("tcp",)
    near, far = _Marks(A), _Marks(B)
    with Server(B, before=_marked_by(hex(CLASS))) as server, _flow(NAME, True) as client:
        client.wait_for("rdma")
        client.calls(10, SIZE, 2)
        server.check()
    for seen in (near, far):
        _check_marks(seen, *kinds)


def the_client_marks_queue_pairs_for_both_ends():
    """rdma_cm takes the class of RoCE from the request to connect; a socket has its own."""
    near, far = _Marks(A), _Marks(B)
    with Server(B) as server, _flow(NAME, True) as client:
        client.wait_for("rdma")
        client.calls(10, SIZE, 2)
        server.check()
    _check_marks(near, "rdma")
    _check_marks(far, "rdma", "tcp")
    suite.check(near.now()["tcp_marked"][1] == 0, "the server has no class")


def a_class_that_is_none_is_an_error():
    for peer in (Server(B, before=_marked_by("gold")), _flow("gold", True)):
        try:
            with peer:
                raise Trouble("FARCALL_TRAFFIC_CLASS=gold was ignored")
        except Trouble as trouble:
            told = "FARCALL_TRAFFIC_CLASS: traffic_class is 'gold'"
            suite.check(told in str(trouble), str(trouble))


CASES = (both_kinds_are_marked_on_the_wire,)
# iWARP is TCP, and marked as such.
if FIRST_DRIVER:
    CASES += (
        marked_tcp_keeps_the_link,
        a_class_that_is_none_is_an_error,
        the_client_marks_queue_pairs_for_both_ends,
        marked_rdma_keeps_the_link,
    )

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
