# SPDX-License-Identifier: Apache-2.0
"""Cache lines that two loops write, found in a trace of all stores of benchmarks/micro/two_loops.

The trace is that of valgrind --tool=lackey --trace-mem=yes: a line " S address,size" for each
store, " M" for a load and a store, "I  address,size" for the instruction before it.
"""

import bisect
import collections
import io
import re
import subprocess
import threading
import time

PROGRAM = "benchmarks/micro/two_loops"
# Most of a trace is the dynamic linker's, which looks for each name in fifty libraries in their
# order. With those first that have most of the names it executes a third less.
FIRST_LIBRARIES = "libstdc++.so.6:libc.so.6:libcrypto.so.3:libprotobuf.so.32"
LINE = 64  # bytes of a cache line
# The words of two_loops's Marks, by their addresses in the trace.
MARKS = 0x240000000
BEGIN, FIRST, SECOND, NOBODY, END = (MARKS + 8 * i for i in range(5))
# What a second's statistics write is no steady state: a line counts that both write in each
# EACH-th call at least.
EACH = 8


class Writers:
    """What each of two threads wrote to each cache line, from BEGIN to END of a trace."""

    def __init__(self):
        self.begun = False
        self.ended = False
        self._runs = None
        self._instruction = b""
        # By line: for each thread, how often from which instruction.
        counter = collections.Counter
        self._lines = collections.defaultdict(lambda: (counter(), counter()))

    def read(self, line):
        kind = line[:2]
        if kind == b"I ":
            self._instruction = line
            return
        if kind not in (b" S", b" M"):
            return
        address, _, size = line[3:].partition(b",")
        address = int(address, 16)
        if MARKS <= address <= END:
            self._mark(address)
        elif self.begun and self._runs is not None:
            instruction = int(self._instruction[2:].partition(b",")[0], 16)
            for at in range(address // LINE, (address + int(size) - 1) // LINE + 1):
                self._lines[at][self._runs][instruction] += 1

    def _mark(self, address):
        if address == BEGIN:
            self.begun = True
        elif address == END:
            self.begun = False
            self.ended = True
        else:
            self._runs = {FIRST: 0, SECOND: 1, NOBODY: None}[address]

    def written(self):
        """How many lines each of them wrote."""
        both = list(self._lines.values())
        return tuple(sum(1 for counts in both if counts[thread]) for thread in (0, 1))

    def shared(self, often=1):
        """For each line that both wrote so often: the instructions of both."""
        return [
            (at * LINE, *(set(counts) for counts in both))
            for at, both in sorted(self._lines.items())
            if all(sum(counts.values()) >= often for counts in both)
        ]


class Program:
    """What two_loops has printed of itself: its mappings, and the memory of single threads."""

    _MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) r-xp ([0-9a-f]+) \S+ \d+ +(/.*)")
    _OWN = re.compile(r"own ([0-9a-f]+) ([0-9a-f]+)")

    def __init__(self, output):
        self._mappings = []
        self._own = []
        for line in output.splitlines():
            if match := self._MAPPING.match(line):
                first, last, offset = (int(text, 16) for text in match.groups()[:3])
                self._mappings.append((first, last, offset, match.group(4)))
            elif match := self._OWN.match(line):
                self._own.append(tuple(int(text, 16) for text in match.groups()))
        self._tables = {}

    def of_one_thread(self, address):
        return any(first <= address < last for first, last in self._own)

    def name(self, address):
        """Of the function that has this instruction."""
        for first, last, offset, path in self._mappings:
            if first <= address < last:
                names, starts = self._table(path)
                at = bisect.bisect(starts, address - first + offset) - 1
                return names[at] if at >= 0 else path
        return hex(address)

    def _table(self, path):
        """Of one file: functions in the order of their offsets in it."""
        if path not in self._tables:
            shift = self._shift(path)
            for dynamic in ([], ["-D"]):
                command = ["nm", "-C", "--defined-only", *dynamic, path]
                out = subprocess.run(command, capture_output=True, text=True).stdout
                if out:
                    break
            found = []
            for line in out.splitlines():
                address, _, rest = line.partition(" ")
                if rest[:1] in "tTwWi":
                    found.append((int(address, 16) - shift, rest[2:].split("(")[0]))
            found.sort()
            self._tables[path] = ([name for _, name in found], [at for at, _ in found])
        return self._tables[path]

    @staticmethod
    def _shift(path):
        """Between addresses and offsets of its code, which is a whole number of pages."""
        out = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True).stdout
        for line in out.splitlines():
            fields = line.split()
            if fields[:1] == ["LOAD"] and "E" in fields[6:8]:
                return int(fields[2], 16) - int(fields[1], 16)
        return 0


class Paced(io.RawIOBase):
    """A pipe that is read now and then. Valgrind writes each line by itself, and wakes for it a
    reader that waits: twice the work."""

    HOLDS = 1 << 20  # bytes, as many as a pipe may hold of who is not privileged (pipe(7))
    PAUSE = 0.02  # seconds; Valgrind takes 0.05 to fill the pipe

    def __init__(self, pipe):
        self._pipe = pipe

    def readable(self):
        return True

    def readinto(self, buffer):
        time.sleep(self.PAUSE)
        return self._pipe.readinto(buffer)


def read_traces(trace):
    """A Writers for each BEGIN. Most of a trace comes before the first, and is passed over in large
    pieces."""
    mark = b" S %x," % BEGIN
    found = []
    rest = b""
    while piece := trace.read(1 << 20):
        rest = rest[-len(mark):] + piece
        while (at := rest.find(mark)) >= 0:
            found.append(Writers())
            rest = read_one(rest[at:] + trace.readline(), trace, found[-1])
    return found


def read_one(begun, trace, writers):
    """From its BEGIN, the first of the lines in `begun`, to its END. Returns those of `begun` that
    come after."""
    lines = begun.splitlines(keepends=True)
    for number, line in enumerate(lines):
        writers.read(line)
        if writers.ended:
            return b"".join(lines[number + 1:])
    for line in trace:
        writers.read(line)
        if writers.ended:
            break
    return b""


def trace(program, calls, in_flight):
    """Runs it. By the number of channels: what was written, and what it has printed of itself."""
    command = [
        "env", "LD_PRELOAD=" + FIRST_LIBRARIES,
        "valgrind", "--tool=lackey", "--trace-mem=yes", "--basic-counts=no", "--log-fd=2",
        program, str(calls), str(in_flight),
    ]  # fmt: skip
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, bufsize=0, pipesize=Paced.HOLDS) as child:
        printed = []
        reader = threading.Thread(target=lambda: printed.append(child.stdout.read()))
        reader.start()
        found = read_traces(io.BufferedReader(Paced(child.stderr), Paced.HOLDS))
        reader.join()
    runs = re.split(r"^channels (\d)\n", printed[0].decode(), flags=re.MULTILINE)[1:]
    ended = all(writers.ended for writers in found)
    if child.returncode != 0 or not ended or 2 * len(found) != len(runs):
        raise RuntimeError("%s ended with status %d" % (" ".join(command), child.returncode))
    programs = zip(runs[::2], runs[1::2])
    return {
        int(channels): (writers, Program(output))
        for writers, (channels, output) in zip(found, programs)
    }


def report(writers, program, calls):
    """A line of text for each cache line that both loops write, with the functions that do."""
    lines = []
    for address, *both in writers.shared(calls // EACH):
        if program.of_one_thread(address):
            continue
        names = [sorted({program.name(at) for at in instructions}) for instructions in both]
        first, second = (", ".join(of_one) for of_one in names)
        lines.append("0x%x: %s" % (address, first if first == second else first + " | " + second))
    return lines
