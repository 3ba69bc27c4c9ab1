# SPDX-License-Identifier: Apache-2.0
"""The two processes of a measurement. None outlives this one; every wait has a limit."""

import ctypes
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

_PR_SET_PDEATHSIG = 1
START_LIMIT = 15.0  # seconds until a server listens
STOP_LIMIT = 3.0  # seconds from SIGTERM to SIGKILL
_MOST_TEXT = 64 * 1024  # bytes that a server may say before it listens


class ChildFailed(Exception):
    """A process did not do what it was started for: which, how, and its last words."""

    def __init__(self, name, command, what, stderr):
        lines = ["%s %s" % (name, what), "  command: " + " ".join(command)]
        tail = stderr.strip().splitlines()[-10:]
        lines += ["  its standard error%s:" % ("" if tail else " is empty")]
        lines += ["    " + line for line in tail]
        super().__init__("\n".join(lines))


def exit_on_signals():
    """SIGTERM, SIGHUP and the end of the script that started this one end it as an
    exception, so that children are ended too."""

    def leave(number, _):
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGHUP, leave)
    # prctl(2): SIGTERM for this process when its parent ends.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)


def pinned(command, cores):
    """`command`, on these cores only (taskset keeps the process id)."""
    return ["taskset", "-c", ",".join(str(core) for core in cores)] + command if cores else command


def _how(code):
    if code < 0:
        return "was killed by %s" % signal.Signals(-code).name
    return "ended with exit code %d" % code


class Server:
    """A server process, for a `with`: entering waits until it listens, or has printed another
    line that begins with `ready`; leaving ends it. `address` is the word behind that.

    Its standard input is a pipe from here: with --exit_with_stdin it ends even when this
    process is killed.
    """

    def __init__(self, name, command, start_limit=START_LIMIT, ready="listening on"):
        self._name = name
        self._command = command
        self._start_limit = start_limit
        self._ready = ready
        self._process = None
        self._stderr = None
        self.address = ""

    def __enter__(self):
        self._stderr = tempfile.TemporaryFile()
        try:
            self._start()
            self.address = self._wait_for_address()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_):
        self._stop()

    @property
    def pid(self):
        return self._process.pid

    def check(self):
        """Raises if it has ended."""
        code = self._process.poll()
        if code is not None:
            self._fail(_how(code))

    def _fail(self, what):
        self._stderr.seek(0)
        stderr = self._stderr.read().decode(errors="replace")
        raise ChildFailed(self._name, self._command, what, stderr)

    def _start(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._stderr}
        try:
            self._process = subprocess.Popen(self._command, **pipes)
        except OSError as error:
            raise ChildFailed(self._name, self._command, "cannot start: %s" % error, "") from None

    def _wait_for_address(self):
        """The address of the line "listening on ADDRESS"; others before it do not count."""
        pattern = rb"^%s *(\S*) *\n" % re.escape(self._ready.encode())
        limit = time.monotonic() + self._start_limit
        text = b""
        while len(text) < _MOST_TEXT:
            text += self._read_some(limit)
            found = re.search(pattern, text, re.MULTILINE)
            if found:
                return found.group(1).decode(errors="replace")
        self._fail('said much, but not "%s"' % self._ready)

    def _read_some(self, limit):
        output = self._process.stdout.fileno()
        left = limit - time.monotonic()
        if left <= 0 or not select.select([output], [], [], left)[0]:
            self._fail('did not say "%s" within %g s' % (self._ready, self._start_limit))
        more = os.read(output, 4096)
        if not more:
            self._fail('%s before "%s"' % (_how(self._process.wait(STOP_LIMIT)), self._ready))
        return more

    def _stop(self):
        process = self._process
        if process is not None:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(STOP_LIMIT)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            process.stdin.close()
            process.stdout.close()
        self._stderr.close()


def run_client(name, command, limit, server=None):
    """Runs a client whose last line is a JSON object, which is returned as a dict."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
            check=False,
        )
    except OSError as error:
        raise ChildFailed(name, command, "cannot start: %s" % error, "") from None
    except subprocess.TimeoutExpired as error:
        if server:
            server.check()
        stderr = (error.stderr or b"").decode(errors="replace")
        raise ChildFailed(name, command, "did not end within %g s" % limit, stderr) from None
    stderr = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        if server:
            server.check()
        raise ChildFailed(name, command, _how(done.returncode), stderr)
    try:
        report = json.loads(done.stdout.strip().rpartition(b"\n")[2])
    except ValueError:
        raise ChildFailed(name, command, "printed no JSON", stderr) from None
    if not isinstance(report, dict):
        raise ChildFailed(name, command, "printed no JSON object", stderr)
    return report
