# SPDX-License-Identifier: Apache-2.0
"""The part of tools/bench --instructions that measures: callgrind counts the instructions
of client and server for one echo of 32 bytes, over RDMA on a stand-in for the device, and over
TCP."""

import json
import os
import subprocess
import sys
import tempfile

import callgrind
from console.arguments import Arguments, new_file
from console.progress import Progress
from console.table import Table
from places import machine
from places.children import ChildFailed

PROGRAM = "benchmarks/micro/rdma_echo_instructions"
SIDES = {"client": "ClientTurn", "server": "ServerTurn"}
# Calls that are counted, by transport and calls in flight.
RUNS = {
    ("rdma", 1): 2000, ("rdma", 8): 4000, ("rdma", 64): 6400, ("tcp", 1): 2000, ("tcp", 64): 6400,
}
# The most that an echo may take, by transport, calls in flight and side. Counts of one program
# differ by less than 1 % between runs, and by a few per cent between releases of the system's
# libraries. Who makes a call cheaper lowers them.
LIMITS = {
    ("rdma", 1): {"client": 7920, "server": 7410},
    ("rdma", 64): {"client": 3410, "server": 2850},
    ("tcp", 1): {"client": 5660, "server": 5360},
    ("tcp", 64): {"client": 3340, "server": 2780},
}

ALLOCATIONS = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "memalign"}
MUTEXES = {"pthread_mutex_lock", "pthread_mutex_trylock"}
# Those that loops, sockets and locks make. The time is read without one.
SYSTEM_CALLS = {
    "epoll_wait", "epoll_ctl", "read", "readv", "recv", "recvmsg", "write", "writev", "send",
    "sendmsg", "timerfd_settime", "eventfd_read", "eventfd_write", "syscall", "mmap", "munmap",
    "madvise",
}  # fmt: skip
# Of the stand-in: a call of ibv_post_send rings a doorbell, one of ibv_post_srq_recv posts a chain.
DOORBELLS = {
    "farcall::(anonymous namespace)::FakePostSend(ibv_qp*, ibv_send_wr*, ibv_send_wr**)",
}
CHAINS = {
    "farcall::(anonymous namespace)::FakePostSrqRecv(ibv_srq*, ibv_recv_wr*, ibv_recv_wr**)",
}
COMPLETIONS = {"farcall::MessageChannel::OnCompletion(ibv_wc const&)"}
# What is counted beside instructions, each for one call.
EXTRAS = {
    "allocations": ALLOCATIONS,
    "mutexes": MUTEXES,
    "system calls": SYSTEM_CALLS,
    "doorbells": DOORBELLS,
    "chains of\nreceives": CHAINS,
    "completions": COMPLETIONS,
}


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


def counts(lines, calls):
    """What a run took for each of its calls."""
    own = callgrind.count(lines, is_stand_in)
    result = {
        "instructions": own,
        "stand_in": callgrind.count(lines, lambda name: False) - own,
    }
    for what, functions in EXTRAS.items():
        result[what] = callgrind.entries(lines, functions)
    return {what: value / calls for what, value in result.items()}


def run(program, transport, calls, in_flight, function):
    """The counts of what `function` did for each call."""
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, "out")
        command = [
            "valgrind", "--tool=callgrind", "--callgrind-out-file=" + out,
            "--dump-instr=yes", "--compress-pos=no",
            "--toggle-collect=farcall::bench::%s(farcall::EventLoop&)" % function,
            program, str(calls), str(in_flight), transport,
        ]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            what = "ended with status %d" % ran.returncode
            raise ChildFailed("callgrind", command, what, ran.stdout + ran.stderr)
        with open(out, encoding="utf-8") as lines:
            # "2000 calls, 1 in flight, over rdma"
            return counts(list(lines), int(ran.stdout.split()[0]))


def over_limit(rows):
    """A line for each count that is above its limit; an echo allocates nothing."""
    lines = []
    for row in rows:
        limits = LIMITS.get((row["transport"], row["in_flight"]), {})
        for side, limit in limits.items():
            # What grows, and stays, allocates now and then.
            if row[side + "_allocations"] >= 0.01:
                lines.append(
                    "the %s allocates %.2f times for an echo over %s with %d in flight"
                    % (side, row[side + "_allocations"], row["transport"], row["in_flight"])
                )
            if row[side] > limit:
                lines.append(
                    "the %s takes %s instructions for an echo over %s with %d in flight, over the"
                    " limit, %s"
                    % (side, "{:,.0f}".format(row[side]), row["transport"], row["in_flight"],
                       "{:,}".format(limit))
                )  # fmt: skip
    return lines


def measure(program, runs, progress):
    rows = []
    done = 0
    for (transport, in_flight), calls in runs.items():
        row = {"transport": transport, "in_flight": in_flight}
        for side, function in SIDES.items():
            progress.show(done, "%s, %s, %d in flight" % (transport, side, in_flight))
            done += 1
            each = run(program, transport, calls, in_flight, function)
            row[side] = each.pop("instructions")
            for what, value in each.items():
                row["%s_%s" % (side, what)] = value
        rows.append(row)
    return rows


def table(rows):
    titles = ["over", "calls in\nflight", "client", "server", "stand-in,\nclient",
              "stand-in,\nserver"]  # fmt: skip
    result = Table(titles)
    for row in rows:
        figures = [row[key] for key in ("client", "server", "client_stand_in", "server_stand_in")]
        result.add(row["transport"], str(row["in_flight"]),
                   *["{:,.0f}".format(figure) for figure in figures])  # fmt: skip
    return str(result)


def extras_table(rows):
    result = Table(["over", "side", "calls in\nflight"] + list(EXTRAS), left=2)
    for row in rows:
        for side in SIDES:
            figures = ["%.2f" % row["%s_%s" % (side, what)] for what in EXTRAS]
            result.add(row["transport"], side, str(row["in_flight"]), *figures)
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
    print("instructions in user space for one echo of 32 B, closures, handlers inline\n")
    print(table(rows))
    print("\nThe stand-in plays the RDMA device, and is not part of client and server.\n")
    print("for each echo, the stand-in's and the program's own among them\n")
    print(extras_table(rows))
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
