# SPDX-License-Identifier: Apache-2.0
"""rdma_peer as a server on one host and a client on the other."""

import os
import select
import subprocess
import tempfile
import time

from guest import Late, Trouble

# Where bazel put rdma_peer; the suite's first argument.
BIN = [""]
# The port of the server's TCP listener: counters and filters know calls over TCP by it.
PORT = 8002
START_LIMIT = 120
# For `before`, in cases where nothing breaks: a busy machine may stand still for more than the
# 300 ms after which RDMA is given up.
PATIENT = ("env", "FARCALL_LINK_PROGRESS_TIMEOUT=5s")
# How queue pairs are set up where a case does not say it: several.sh.
SET_UP = os.environ.get("FARCALL_RDMA_SET_UP", "rdma_cm")
# Reasons that pass only when somebody changes something.
HOPELESS = ("not_asked", "not_built_in", "no_library", "device_excluded", "peer_off", "tls")


def fields(line):
    """{"ok": "3", ...} of "done ok=3 ..."; the last field may have spaces."""
    words = line.split(" ")[1:]
    found = {}
    key = None
    for word in words:
        name, equals, value = word.partition("=")
        # Texts come last; what follows them belongs to them.
        if equals and key not in ("error", "detail"):
            key = name
            found[key] = value
        elif key:
            found[key] += " " + word
    return found


def _own_devices(host, flags):
    """Every host of the guest sees the devices of all. rdma_cm takes those that have an address of
    the host; over TCP any would do."""
    if SET_UP != "tcp":
        return flags
    wanted = [host.device(pair) for pair in (0, 1)]
    others = []
    for flag in flags:
        name, _, value = flag.partition("=")
        if name == "--devices":
            wanted = [one for one in value.split(",") if one in wanted or one[:4] != "rdma"]
        else:
            others.append(flag)
    return (*others, "--devices=" + ",".join(wanted))


class Program:
    """A process that answers each line with a line. For a `with`."""

    _running = set()

    @classmethod
    def logs(cls):
        """What those that run said last: a line each."""
        for program in cls._running:
            said = " | ".join(program.log()[-2000:].splitlines())
            yield "the %s said: %s" % (program._what, said)

    def __init__(self, what, command):
        self._what = what
        self._command = command
        self._process = None
        self._stderr = None
        self._read = b""

    def __enter__(self):
        self._stderr = tempfile.TemporaryFile()
        self._process = self._begin(self._stderr)
        self._running.add(self)
        try:
            self.first_line = self._line(START_LIMIT)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _begin(self, stderr):
        """What runs, as a Popen."""
        pipe = subprocess.PIPE
        return subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=stderr)

    def __exit__(self, *_):
        self._running.discard(self)  # a case may have ended it itself
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._stderr.close()

    def pid(self):
        return self._process.pid  # `ip netns exec` becomes what it runs

    def log(self):
        """What it said on standard error, to the end of it."""
        self._stderr.seek(0)
        return self._stderr.read().decode(errors="replace").strip()

    def ask(self, line, limit=300):
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise Trouble("the %s has ended: %s" % (self._what, self.log()[-2000:])) from None
        return self._answer(line, limit)

    def begin(self, line):
        """Sends a line whose answer `end` waits for."""
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def end(self, line, limit=300):
        return self._answer(line, limit)

    def _answer(self, line, limit):
        answer = self._line(limit)
        if answer.startswith("error "):
            raise Trouble("the %s does not understand \"%s\": %s" % (self._what, line, answer))
        return fields(answer)

    def _line(self, limit):
        end = time.monotonic() + limit
        while b"\n" not in self._read:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                said = self.log()[-2000:]
                raise Late("the %s was silent for %d s; its log: %s" % (self._what, limit, said))
            more = os.read(self._process.stdout.fileno(), 65536)
            if not more:
                raise Trouble("the %s has ended: %s" % (self._what, self.log()[-2000:]))
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line.decode(errors="replace")


class Peer(Program):
    """rdma_peer."""

    def __init__(self, host, mode, *flags, before=()):
        """`before`: a command that runs it, such as prlimit."""
        path = os.path.join(BIN[0], "rpc/testing/rdma_peer/rdma_peer")
        if not any(flag.startswith("--set_up=") for flag in flags):
            flags = (*_own_devices(host, flags), "--set_up=" + SET_UP)
        what = "%s on %s" % (mode, host.name)
        super().__init__(what, host.inside(*before, path, mode, *flags))

    def reasons(self):
        """How often a connection was over TCP, by the name of the reason."""
        return {name: int(count) for name, count in self.ask("reasons").items()}


class Server(Peer):
    def __init__(self, host, *flags, at=None, **more):
        address = "%s:%d" % (at or "0.0.0.0", PORT)
        super().__init__(host, "server", "--listen=" + address, *flags, **more)

    def stats(self):
        return {key: int(value) for key, value in self.ask("stats").items()}

    def check(self):
        """No request was wrong, and none came twice."""
        stats = self.stats()
        if stats["wrong"] or stats["doubled"]:
            text = "the server saw wrong or doubled requests: %s" % stats
            raise Trouble(text, self.logs())
        return stats


def _is(state, what):
    return state.get(what) == state["connections"] or state["why"] == what


class Client(Peer):
    def __init__(self, host, to, *flags, **more):
        super().__init__(host, "client", "--server=%s:%d" % (to, PORT), *flags, **more)

    def wait_for(self, what, seconds=240):
        """Until all connections are so: rdma, tcp, failed or the name of a reason."""
        state = self.ask("await %s %d" % (what, min(seconds, 5)), 300)
        if not _is(state, what) and not (what == "rdma" and state["why"] in HOPELESS):
            state = self.ask("await %s %d" % (what, seconds), seconds + 300)
        if not _is(state, what):
            raise Trouble("waited %d s for %s: %s; log: %s"
                          % (seconds, what, state, self.log()[-1500:]))  # fmt: skip
        return state

    def calls(self, count, size=0, in_flight=1, limit=120):
        """All must succeed with the right bytes."""
        return all_right(self.ask("calls %d %d %d" % (count, size, in_flight), limit))

    def start_load(self, size, in_flight):
        """`size`: a number, or LEAST-MOST."""
        self.ask("load %s %d" % (size, in_flight))

    def wait_for_calls(self, more, seconds=60):
        """Until the load that runs has made so many more."""
        was = int(self.ask("progress")["ok"])
        end = time.monotonic() + seconds
        while int(self.ask("progress")["ok"]) < was + more:
            if time.monotonic() > end:
                raise Trouble("%d calls were not made within %d s" % (more, seconds))
            time.sleep(0.05)

    def stop_load(self):
        return all_right(self.ask("stop"))


def all_right(counts):
    if counts["failed"] != "0" or counts["wrong"] != "0" or counts["ok"] == "0":
        text = "calls failed or were answered wrongly: %s" % counts
        raise Trouble(text, Program.logs())
    return counts
