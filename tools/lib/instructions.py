# SPDX-License-Identifier: Apache-2.0
"""The part of tools/bench --instructions that measures: callgrind counts the instructions
of client and server for one echo of 32 bytes over RDMA, on a stand-in for the device."""

import json
import os
import subprocess
import sys
import tempfile

import callgrind
import machine
from arguments import Arguments, new_file
from children import ChildFailed
from progress import Progress
from table import Table

PROGRAM = "benchmarks/micro/rdma_echo_instructions"
SIDES = {"client": "ClientTurn", "server": "ServerTurn"}
# Calls of a short and of a long run, by calls in flight: their difference is free of what
# setting up takes.
RUNS = {1: (2000, 4000), 8: (4000, 8000), 64: (6400, 12800)}
# The most that an echo may take, by calls in flight and side. Counts of one program differ by
# less than 1 % between runs, and by a few per cent between releases of the system's libraries.
# Who makes a call cheaper lowers them.
LIMITS = {64: {"client": 5800, "server": 5150}}


def parse(argv):
    arguments = Arguments("tools/bench --instructions")
    add = arguments.add_argument
    add("--check_only", action="store_true")
    add("--bin", default="bazel-bin")
    add("--instructions", action="store_true")
    add("--json", type=new_file)
    return arguments.parse_args(argv)


def is_stand_in(name):
    return "Fake" in name


def instructions(program, calls, in_flight, function):
    """What `function` took in a run, all calls together; and with the stand-in."""
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, "out")
        command = [
            "valgrind", "--tool=callgrind", "--callgrind-out-file=" + out,
            "--toggle-collect=farcall::bench::%s(farcall::EventLoop&)" % function,
            program, str(calls), str(in_flight),
        ]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            what = "ended with status %d" % ran.returncode
            raise ChildFailed("callgrind", command, what, ran.stdout + ran.stderr)
        with open(out, encoding="utf-8") as lines:
            lines = list(lines)
    return callgrind.count(lines, is_stand_in), callgrind.count(lines, lambda name: False)


def over_limit(rows):
    """A line for each count that is above its limit."""
    lines = []
    for row in rows:
        for side, limit in LIMITS.get(row["in_flight"], {}).items():
            if row[side] > limit:
                lines.append(
                    "the %s takes %s instructions for an echo with %d in flight, over the limit, %s"
                    % (side, "{:,.0f}".format(row[side]), row["in_flight"], "{:,}".format(limit))
                )
    return lines


def measure(program, runs, progress):
    rows = []
    done = 0
    for in_flight, (few, many) in runs.items():
        row = {"in_flight": in_flight}
        for side, function in SIDES.items():
            progress.show(done, "%s, %d in flight" % (side, in_flight))
            done += 1
            short = instructions(program, few, in_flight, function)
            long = instructions(program, many, in_flight, function)
            own, all_of_it = ((b - a) / (many - few) for a, b in zip(short, long))
            row[side] = own
            row[side + "_stand_in"] = all_of_it - own
        rows.append(row)
    return rows


def table(rows):
    titles = ["calls in\nflight", "client", "server", "stand-in,\nclient", "stand-in,\nserver"]
    result = Table(titles)
    for row in rows:
        counts = [row[key] for key in ("client", "server", "client_stand_in", "server_stand_in")]
        result.add(str(row["in_flight"]), *["{:,.0f}".format(count) for count in counts])
    return str(result)


def main(argv):
    options = parse(argv)
    if options.check_only:
        print("instructions")
        return 0
    known = machine.facts()
    progress = Progress(len(RUNS) * len(SIDES))
    try:
        rows = measure(os.path.join(options.bin, PROGRAM), RUNS, progress)
    except (ChildFailed, OSError) as error:
        print("tools/bench --instructions: %s" % error, file=sys.stderr)
        return 1
    finally:
        progress.clear()
    print(machine.line(known))
    print("instructions for one echo of 32 B over RDMA, closures, handlers inline\n")
    print(table(rows))
    print("\nThe stand-in plays the device, and is not part of client and server.")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"machine": known, "rows": rows}, out, indent=1)
            out.write("\n")
    over = over_limit(rows)
    for line in over:
        print("tools/bench --instructions: " + line, file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
