# SPDX-License-Identifier: Apache-2.0
"""The processes of the soak: servers that things happen to, and the client."""

import json
import os
import re
import signal
import subprocess
import threading
import time

LISTENING = re.compile(rb"^listening on (\S+)$", re.MULTILINE)
START_LIMIT = 20.0  # seconds until a server listens
LEAVE_LIMIT = 15.0  # seconds from SIGTERM to the end
CLIENT_LIMIT = 60.0  # seconds until a client's last calls have ended


class SoakFailed(Exception):
    """The soak cannot go on."""


def last_words(path):
    with open(path, "rb") as text:
        tail = text.read().decode(errors="replace").strip().splitlines()[-10:]
    return "".join("\n    " + line for line in tail)


class SoakServer:
    """One server with all its lives, one after the other, on the same address."""

    def __init__(self, name, command, folder):
        self.name = name
        self.address = ""
        self.state = "down"  # starting, up, frozen, leaving
        self.process = None
        self.lives = 0
        self._command = command
        self._output = os.path.join(folder, name.replace(" ", "_") + ".log")
        self._since = 0.0

    def _enter(self, state):
        self.state = state
        self._since = time.monotonic()

    def start(self):
        listen = ["--listen=" + self.address] if self.address else []
        self._offset = os.path.getsize(self._output) if os.path.exists(self._output) else 0
        with open(self._output, "ab") as output:
            self.process = subprocess.Popen(
                self._command + listen,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self.lives += 1
        self._enter("starting")

    def poll(self):
        """Looks at the process; raises if it did what nobody asked it for."""
        code = self.process.poll() if self.process else None
        waited = time.monotonic() - self._since
        if self.state == "leaving" and code is not None:
            if code != 0:
                self._fail("was asked to stop and ended with exit code %d" % code)
            self._enter("down")
        elif self.state == "leaving" and waited > LEAVE_LIMIT:
            self._fail("was asked to stop and goes on for %g s" % LEAVE_LIMIT)
        elif self.state in ("starting", "up", "frozen") and code is not None:
            self._fail("ended with exit code %d" % code)
        elif self.state == "starting":
            self._find_address(waited)

    def _find_address(self, waited):
        with open(self._output, "rb") as text:
            text.seek(self._offset)
            found = LISTENING.search(text.read())
        if found:
            self.address = found.group(1).decode()
            self._enter("up")
        elif waited > START_LIMIT:
            self._fail("does not listen after %g s" % START_LIMIT)

    def _fail(self, what):
        raise SoakFailed("%s %s%s" % (self.name, what, last_words(self._output)))

    def wait_up(self):
        while self.state != "up":
            self.poll()
            time.sleep(0.01)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self._enter("down")

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)
        self._enter("frozen")

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)
        self._enter("up")

    def leave(self):
        self.process.terminate()
        self._enter("leaving")

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class SoakClient:
    """The client. Its lines are read by a thread of their own."""

    def __init__(self, command, folder):
        self.report = {}
        self.failures = []  # of calls
        self._errors = os.path.join(folder, "client.log")
        self._failures = os.path.join(folder, "failures.log")
        with open(self._errors, "ab") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "failed" in message:
                self.failures.append(message)
                with open(self._failures, "ab") as out:
                    out.write(line)
            elif "end" in message:
                self.report = message["end"]
                self._ended = True
            else:
                self.report = message

    def poll(self):
        code = self.process.poll()
        if code is not None:
            raise SoakFailed("the client ended: %d%s" % (code, last_words(self._errors)))

    def stop(self):
        """No new calls; until those under way have ended."""
        self.process.stdin.close()
        try:
            code = self.process.wait(CLIENT_LIMIT)
        except subprocess.TimeoutExpired:
            raise SoakFailed("the client does not end%s" % last_words(self._errors)) from None
        self._reader.join(10)
        if code != 0 or not self._ended:
            raise SoakFailed("the client ended: %d%s" % (code, last_words(self._errors)))

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def usage(pid):
    """What must not grow: private memory in MiB, descriptors, threads."""
    with open("/proc/%d/status" % pid, encoding="utf-8") as text:
        status = dict(line.split(":", 1) for line in text)
    return {
        "mib": int(status["RssAnon"].split()[0]) / 1024.0,
        "fds": len(os.listdir("/proc/%d/fd" % pid)),
        "threads": int(status["Threads"]),
    }
