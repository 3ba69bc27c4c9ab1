#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""An end of brpc's RDMA that is not farcall: what rdma_peer's service is called by, and what its
client calls. Written from a description of the wire; it shares no code with farcall.

  peer.py server --listen ADDRESS    prints "listening on ADDRESS"; answers
      stats     stats connections= calls= wrong= rdma= tcp= waits= most= detail=
  peer.py client --server ADDRESS    connects and prints "ready carrier= ..."; answers
      calls COUNT BYTES IN_FLIGHT    done ok= failed= wrong= waits= most= error=
      breach HOW                     done error=, once the other end has ended the connection
  peer.py raw --server ADDRESS       a bare connection; prints "ready"; answers
      send HEX                       sent
      read COUNT                     got hex= end=
Each ends with its standard input.

  peer.py bench --server ADDRESS     calls the echo service of farcall's benchmark for some seconds,
                                     and prints its report"""

import argparse
import os
import socket
import sys
import threading
import time

import echo
import handshake
import prpc
from hello import Breach
from streams import Ended, read_exactly

_PATIENCE = 60


def say(text):
    print(text, flush=True)


def reached(options):
    """Ends this process at the step that options.die_at names, as a crash would."""

    def step(name):
        if name == options.die_at:
            os._exit(9)
        if name == "early":
            time.sleep(0.1)

    return step


class Server:
    def __init__(self, options):
        self._options = options
        self._lock = threading.Lock()
        names = ("connections", "calls", "wrong", "rdma", "tcp", "waits", "most")
        self._counts = dict.fromkeys(names, 0)
        self._breach = ""
        prpc.pattern(0, 1)  # takes a while once, and threads would do it all at once
        host, _, port = options.listen.rpartition(":")
        self._listener = socket.create_server((host, int(port)), backlog=64)
        say("listening on %s:%d" % self._listener.getsockname()[:2])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            sock = self._listener.accept()[0]
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _count(self, **more):
        with self._lock:
            for name, value in more.items():
                self._counts[name] += value

    def _serve(self, sock):
        stream = None
        self._count(connections=1)
        try:
            stream = handshake.welcome(sock, self._options, reached(self._options))
            self._answer(stream)
        except (Ended, OSError) as error:
            print("a connection ended: %s" % error, file=sys.stderr, flush=True)
        except Breach as breach:
            self._breach = str(breach)
        finally:
            self._count(connections=-1)
            (stream or sock).close()

    def _answer(self, stream):
        frames, step = prpc.Frames(), reached(self._options)
        while True:
            for frame in frames.feed(stream.receive(1)):
                step("calls")
                answer, right = echo.answer(frame) or prpc.answer(frame)
                self._count(calls=1, wrong=not right, **{stream.carrier: 1})
                stream.send(answer)
            self._note(stream)

    def _note(self, stream):
        if stream.carrier == "rdma":
            with self._lock:
                for name, value in stream.counts().items():
                    self._counts[name] = max(self._counts[name], value)

    def do(self, words):
        if words != ["stats"]:
            return "error what is %s?" % words
        with self._lock:
            told = " ".join("%s=%d" % count for count in self._counts.items())
        return "stats %s detail=%s" % (told, self._breach)


class Client:
    def __init__(self, options):
        self._frames = prpc.Frames()
        self._next = os.getpid() << 40
        self._step = reached(options)
        self._stream = None
        if options.early_bytes is not None:
            options.early = prpc.request(self._next, options.early_bytes)
        self._stream = handshake.dial(options, self._step)
        if options.early:
            self._early_answer(options.early_bytes)
        say("ready carrier=" + self._stream.carrier)

    def _early_answer(self, size):
        """To the request that overtook the acknowledgement."""
        wanted = {self._next: size}
        self._next += 1
        ok, wrong = self._collect(wanted)
        if (ok, wrong) != (1, 0):
            raise Breach("a wrong answer to what overtook the acknowledgement")

    def _collect(self, waiting):
        """Answers, until there is one at least, or all: (right, wrong) ones."""
        ok = wrong = 0
        end = time.monotonic() + _PATIENCE
        while not ok + wrong:
            if time.monotonic() > end:
                raise Ended("no answer within %d s" % _PATIENCE)
            for frame in self._frames.feed(self._stream.receive(0.5)):
                size = waiting.pop(frame.call_id(), None)
                right = size is not None and prpc.answer_is_right(frame, size)
                ok, wrong = ok + right, wrong + (not right)
        return ok, wrong

    def _calls(self, count, size, in_flight):
        waiting, ok, wrong, begun, error = {}, 0, 0, 0, ""
        try:
            while ok + wrong < count:
                while begun < count and len(waiting) < in_flight:
                    self._stream.send(prpc.request(self._next, size))
                    waiting[self._next] = size
                    begun, self._next = begun + 1, self._next + 1
                self._step("calls")
                more_ok, more_wrong = self._collect(waiting)
                ok, wrong = ok + more_ok, wrong + more_wrong
        except (Ended, OSError, Breach) as failure:
            error = str(failure)
        counts = self._stream.counts() if self._stream.carrier == "rdma" else {}
        told = "".join(" %s=%d" % item for item in counts.items())
        return "done ok=%d failed=%d wrong=%d%s error=%s" % (
            ok, count - ok - wrong, wrong, told, error)  # fmt: skip

    def _breach(self, how):
        end = time.monotonic() + _PATIENCE
        try:
            self._stream.misbehave(how)
            while time.monotonic() < end:
                self._stream.receive(0.5)
        except (Ended, OSError, Breach) as failure:
            return "done error=%s" % failure
        return "done error="

    def do(self, words):
        if words[0] == "calls" and len(words) == 4:
            return self._calls(*map(int, words[1:]))
        if words[0] == "breach" and len(words) == 2:
            return self._breach(words[1])
        return "error what is %s?" % words


class Raw:
    def __init__(self, options):
        host, _, port = options.server.rpartition(":")
        self._sock = socket.create_connection((host, int(port)), _PATIENCE)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        say("ready")

    def do(self, words):
        if words[0] == "send":
            self._sock.sendall(bytes.fromhex(words[1]))
            return "sent"
        if words[0] == "read":
            return self._read(int(words[1]))
        return "error what is %s?" % words

    def _read(self, count):
        data = b""
        try:
            while len(data) < count:
                more = self._sock.recv(count - len(data))
                if not more:
                    return "got hex=%s end=1" % data.hex()
                data += more
        except ConnectionError:
            return "got hex=%s end=1" % data.hex()
        except TimeoutError:
            pass
        return "got hex=%s end=0" % data.hex()


def bench(options):
    stream = handshake.dial(options, reached(options))
    try:
        echo.Load(stream, options).run()
    finally:
        stream.close()
    return 0


MODES = {"server": Server, "client": Client, "raw": Raw}


def main(argv=None):
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add("mode", choices=(*MODES, "bench"))
    add("--listen", help="server: the address")
    add("--server", help="client: the server's address")
    add("--device", help="the RDMA device")
    add("--address", help="of this host, for the GID")
    add("--block", type=int, default=8160)
    add("--sq", type=int, default=128)
    add("--rq", type=int, default=128)
    add("--report", choices=("half", "early", "late"), default="half")
    add("--version", type=int, default=2, help="client: of the hello; 0: none, plain TCP")
    add("--answer", choices=("rdma", "refuse", "not_rdma", "close"), default="rdma",
        help="server: to a hello")  # fmt: skip
    add("--change_mind", action="store_true", help="client: acknowledges TCP after an offer")
    add("--early_bytes", type=int, help="client: a first call, before the acknowledgement")
    add("--die_at", help="the step at which it ends")
    add("--payload", type=int, default=32, help="bench: bytes of a message")
    add("--in_flight", type=int, default=1, help="bench: calls under way")
    add("--seconds", type=float, default=1, help="bench: how long it measures")
    add("--warmup", type=float, default=0.2, help="bench: how long it calls before")
    options = parser.parse_args(argv)
    options.early = b""
    if options.mode == "bench":
        return bench(options)
    try:
        peer = MODES[options.mode](options)
    except (Ended, Breach, OSError) as error:
        say("ready carrier=none detail=%s" % error)
        return 1
    for line in sys.stdin:
        say(peer.do(line.split()))
    os._exit(0)  # threads wait for connections


if __name__ == "__main__":
    sys.exit(main())
