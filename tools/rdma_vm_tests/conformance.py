# SPDX-License-Identifier: Apache-2.0
"""The conformance suite of connections over the guest's devices: a GoogleTest program whose
tests become lines of ours. It is both ends, so the guest must be --routed."""

import glob
import os
import re
import subprocess
import sys

import peers
from guest import DRIVER, HW_COUNTERS

# Over TCP queue pairs are set up by the link alone.
PROGRAM = {
    "rdma_cm": "transport/rdma/device_conformance_test",
    "tcp": "transport/link/testing/device_link_test",
}[peers.SET_UP]
# Where its listeners are, and an address of the same network that nobody has.
PLACES = {"FARCALL_RDMA_LISTEN": "10.9.0.2", "FARCALL_RDMA_SILENT": "10.9.0.77"}

# Where a device has no memory windows, as with siw, bytes are sent though READs are asked for; that
# it does so is shown by the checks that are about bytes, and the rest is that of Stepped.
WANTED = {"siw": "Stepped/*:Driven/*:References/*Bytes*"}

_END = re.compile(r"\[ +(OK|FAILED) +\] (\S+?)(?:, where .*)? \((\d+) ms\)$")


class Translator:
    """GoogleTest's lines in, ours out."""

    def __init__(self, prefix):
        self._prefix = prefix
        self._running = ""
        self._said = []
        self.passed = 0
        self.failed = 0

    def line(self, text):
        """What to print instead; None: nothing."""
        if text.startswith("[ RUN      ] "):
            self._running = text[len("[ RUN      ] ") :].strip()
            self._said = []
            return None
        end = _END.match(text.rstrip())
        if not end or end.group(2) != self._running:
            if self._running:
                self._said.append(text.strip())
            return None
        name = self._name()
        self._running = ""
        seconds = int(end.group(3)) / 1000
        if end.group(1) == "OK":
            self.passed += 1
            return "PASS %s (%.1f s)" % (name, seconds)
        self.failed += 1
        return "FAIL %s: %s (%.1f s)" % (name, self._words(), seconds)

    def end(self, status):
        """What to print when the program has ended so; None: nothing."""
        if self._running:
            self.failed += 1
            text = "FAIL %s: the program ended with %d: %s"
            return text % (self._name(), status, self._words())
        if status and not self.failed or not self.passed + self.failed:
            self.failed += 1
            return "FAIL %sprogram: it ended with %d after %d tests" % (
                self._prefix,
                status,
                self.passed,
            )
        return None

    def _name(self):
        return self._prefix + self._running.replace("ConnectionConformance.Holds/", "")

    def _words(self):
        return " | ".join(line for line in self._said if line)[:2000] or "it said nothing"


def order_kept(prefix, counters, driver):
    """What to say, and whether it is good: a guest whose network reorders packets makes rxe send
    again, and hides what is wrong. None: TCP keeps the order. `counters`: of the devices."""
    if driver != "rxe":
        return None, True
    late = sum(counters)
    if counters and not late:
        return "PASS %spackets_keep_their_order" % prefix, True
    why = "%d did not" % late if counters else "no device counts them"
    return "FAIL %spackets_keep_their_order: %s" % (prefix, why), False


def _out_of_order():
    counts = []
    for name in glob.glob(os.path.join(HW_COUNTERS % "*", "out_of_seq_request")):
        with open(name, encoding="ascii") as counter:
            counts.append(int(counter.read()))
    return counts


def main(argv):
    """BIN PREFIX [FILTER of GoogleTest]"""
    bin_dir, prefix, *more = argv
    command = [os.path.join(bin_dir, PROGRAM)]
    command += ["--gtest_filter=" + wanted for wanted in more or [WANTED.get(DRIVER, "*")]]
    translator = Translator(prefix)
    with subprocess.Popen(
        command,
        env={**os.environ, **PLACES},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as program:
        for text in program.stdout:
            said = translator.line(text)
            if said:
                print(said, flush=True)
    last = translator.end(program.returncode)
    if last:
        print(last, flush=True)
    if not more:
        said, good = order_kept(prefix, _out_of_order(), DRIVER)
        translator.failed += not good
        if said:
            print(said, flush=True)
    return 1 if translator.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
