# SPDX-License-Identifier: Apache-2.0
"""A stream of bytes between two ends, over TCP or over a queue pair of RDMA."""

import select

from hello import Breach

_READ = 1 << 18
# How often sends are looked at that nobody tells of.
_LOOK = 0.002


class Ended(Exception):
    """The other end has gone, or what carried the stream broke."""


def read_exactly(sock, size):
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise Ended("it hung up after %d of %d bytes" % (len(data), size))
        data += more
    return data


class TcpStream:
    carrier = "tcp"

    def __init__(self, sock, early=b""):
        """`early`: what was read before."""
        self._sock, self._early = sock, early

    def send(self, data):
        self._sock.sendall(data)

    def receive(self, timeout):
        """What came, perhaps nothing."""
        if self._early:
            data, self._early = self._early, b""
            return data
        if not select.select([self._sock], [], [], timeout)[0]:
            return b""
        data = self._sock.recv(_READ)
        if not data:
            raise Ended("it hung up")
        return data

    def close(self):
        self._sock.close()


class RdmaStream:
    """Over a queue pair that is up. The TCP connection only tells whether the other end lives."""

    carrier = "rdma"

    def __init__(self, sock, queue_pair, credits):
        self._sock, self._queue_pair, self._credits = sock, queue_pair, credits
        self._out = bytearray()

    def send(self, data):
        self._out += data
        self._push()

    def flushed(self):
        return not self._out

    def counts(self):
        """How often this end had to wait for credits, and how much of its window the other used."""
        return {"waits": self._credits.waits, "most": self._credits.most_unreported}

    def receive(self, timeout):
        """What came, perhaps nothing."""
        if self._out or self._credits.report_due():
            timeout = min(timeout, _LOOK)
        ready = select.select([self._sock, self._queue_pair], [], [], timeout)[0]
        came = bytearray()
        for data, reported in self._queue_pair.received():
            self._credits.received(len(data), reported)
            came += data
            if self._credits.report_due():
                self._push()
        self._push()
        if self._sock in ready and not came:
            if self._sock.recv(1):
                raise Breach("a byte on the TCP connection beside RDMA")
            raise Ended("it hung up")
        return bytes(came)

    def _push(self):
        """Sends what credits allow, and the reports that are due."""
        self._credits.completed(*self._queue_pair.sent())
        while self._out and self._credits.can_send():
            data = bytes(self._out[: self._queue_pair.chunk])
            del self._out[: len(data)]
            reported, wake = self._credits.send(len(data), last=not self._out)
            self._queue_pair.send(data, reported, wake)
        if self._credits.report_due():
            self._queue_pair.send(b"", self._credits.send_report())

    def misbehave(self, how):
        """What ends a connection."""
        if how == "credits":
            self._queue_pair.send(b"", 5000)
        elif how == "empty":
            self._queue_pair.send(b"", 0)
        elif how == "unreported":
            self._queue_pair.send_unreported(b"x")
        elif how == "large":
            self._queue_pair.send(bytes(self._queue_pair.too_large), 0)
        elif how == "tcp_byte":
            self._sock.send(b"x")
        else:
            raise ValueError(how)

    def close(self):
        self._queue_pair.close()
        self._sock.close()
