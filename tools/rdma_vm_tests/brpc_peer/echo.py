# SPDX-License-Identifier: Apache-2.0
"""The echo service of farcall's benchmark (benchmarks/echo/echo.proto), both ends."""

import json
import resource
import time

import protobuf
import prpc

_SERVICE = b"farcall.bench.Echo"


def request(call, payload):
    names = protobuf.text(1, _SERVICE) + protobuf.text(2, b"Call")
    meta = protobuf.text(1, names) + protobuf.number(4, call)
    return prpc.encode(meta, protobuf.text(1, payload), b"")


def _cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def answer(frame):
    """(the answer to a request, whether it is right), or None: it is of another service."""
    names = protobuf.fields(frame.meta.get(1, b""))
    if names.get(1) != _SERVICE:
        return None
    payload, attachment = frame.payload, frame.attachment
    if names.get(2) == b"Usage":
        payload = protobuf.double(1, _cpu_seconds()) + protobuf.double(2, time.monotonic())
    meta = protobuf.text(2, b"") + protobuf.number(4, frame.call_id())
    return prpc.encode(meta, payload, attachment), True


class Load:
    """So many calls under way, one after the other, for so many seconds."""

    def __init__(self, stream, options):
        self._stream = stream
        self._payload = b"x" * options.payload
        self._in_flight = options.in_flight
        self._frames = prpc.Frames()
        self._begun = {}  # when, by the number of the call
        self._next = 1
        self._from = time.monotonic() + options.warmup
        self._until = self._from + options.seconds
        self._took = []
        self._errors = 0

    def run(self):
        """The report of the benchmark's own client, in as much as it is known here."""
        cpu = None
        while time.monotonic() < self._until or self._begun:
            if cpu is None and time.monotonic() >= self._from:
                cpu = _cpu_seconds()
            self._begin()
            for frame in self._frames.feed(self._stream.receive(1)):
                self._end(frame, time.monotonic())
        used = _cpu_seconds() - (cpu or 0)
        self._took.sort()
        calls = len(self._took)
        seconds = self._until - self._from

        def at(part):
            return 1e6 * self._took[int(part * calls)] if calls else 0

        print(json.dumps({
            "transport": self._stream.carrier, "calls": calls, "errors": self._errors,
            "first_error": "an answer is wrong" if self._errors else "",
            "qps": calls / seconds, "p50_us": at(0.5), "p99_us": at(0.99),
            "client_cpu_us": 1e6 * used / max(calls, 1),
        }), flush=True)  # fmt: skip

    def _begin(self):
        now = time.monotonic()
        while now < self._until and len(self._begun) < self._in_flight:
            self._begun[self._next] = now
            self._stream.send(request(self._next, self._payload))
            self._next += 1

    def _end(self, frame, now):
        begun = self._begun.pop(frame.call_id(), None)
        right = begun is not None and protobuf.fields(frame.payload).get(1) == self._payload
        self._errors += not right
        if right and self._from <= now < self._until:
            self._took.append(now - begun)
