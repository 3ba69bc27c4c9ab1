# SPDX-License-Identifier: Apache-2.0
"""The part of tools/bench --rdma that measures: farcall over RDMA and TCP, and perftest, in
turns within one run of the guest of tools/rdma_vm."""

import json
import sys

import machine
import rdma_ratios
from arguments import Arguments, bounded, new_file
from cells import Cell
from children import ChildFailed, exit_on_signals
from perftest import Perftest, parse as parse_perftest
from progress import Progress
from vm_run import echo_step, peer_step, report_of, run_steps

ENOUGH_ROUNDS = 5
KIB = 1 << 10
MIB = 1 << 20
# What is held against what: see rdma_ratios.py, which knows these names.
PERFTESTS = {
    "lat_32": Perftest("ib_send_lat", 32, 2000),
    "bw_32": Perftest("ib_send_bw", 32, 20000),
    "bw_64k": Perftest("ib_send_bw", 65536, 2000),
    "read_64k": Perftest("ib_read_bw", 64 * KIB, 2000),
    "read_1m": Perftest("ib_read_bw", MIB, 125),
}
# cell, polling, whether it is a put
LOADS = {
    "one": (Cell(32, 0, 1), "busy", False),
    "many": (Cell(32, 0, 64), "busy", False),
    "put": (Cell(32, MIB, 8), "busy", True),
}
# With a rail over each of the two cables. The processors are the limit there, so these tell what
# rails cost, not what cables they fill.
RAILS = ("one", "put")
# Into memory of the server's program, and from there into memory of the client's.
STORE = {
    way + name: Cell(32, size, in_flight, way=way)
    for way in ("put", "get")
    for name, size, in_flight in (("_4k", 4 * KIB, 32), ("_64k", 64 * KIB, 8), ("_1m", MIB, 8))
}
# On brpc's wire, which iWARP cannot carry: farcall with itself, and with a peer that shares no code
# with it, which is in Python and slow.
BRPC = {"one": Cell(32, 0, 1), "some": Cell(32, 0, 32)}
BRPC_CALLERS = ("farcall", "peer")
# Options of tools/bench that choose what is measured, which is fixed here.
FIXED = (
    "--cells", "--connections", "--systems", "--polling", "--raw_polling", "--handler_threads",
)  # fmt: skip


def parse(argv):
    arguments = Arguments("tools/bench --rdma")
    add = arguments.add_argument
    add("--check_only", action="store_true")
    add("--bin", default="bazel-bin")
    add("--rdma", action="store_true")
    add("--driver", choices=("rxe", "siw"), default="rxe")
    add("--rounds", type=bounded(int, 1, 1000))
    add("--seconds", type=bounded(float, 0.01, 3600))
    add("--warmup", type=bounded(float, 0, 60), default=0.2)
    add("--json", type=new_file)
    add("--quick", action="store_true")
    for word in argv:
        if word.split("=")[0] in FIXED:
            arguments.error("%s does not go with --rdma, whose loads are fixed" % word)
    options = arguments.parse_args(argv)
    options.rounds = options.rounds or (2 if options.quick else ENOUGH_ROUNDS)
    options.seconds = options.seconds or (0.3 if options.quick else 1.0)
    return options


def steps_of_round(options):
    """(name, step) of each measurement."""
    steps = [(name, test.step()) for name, test in PERFTESTS.items()]
    for name, (cell, polling, put) in LOADS.items():
        for transport in ("rdma", "tcp"):
            step = echo_step(
                options.bin, cell, polling, transport == "rdma",
                options.seconds, options.warmup, put=put,
            )  # fmt: skip
            steps.append(("%s_%s" % (name, transport), step))
    for name in RAILS:
        cell, polling, put = LOADS[name]
        step = echo_step(
            options.bin, cell, polling, True, options.seconds, options.warmup, put=put, rails=True
        )
        steps.append((name + "_rails_rdma", step))
    steps += store_steps(options)
    if options.driver == "rxe":
        steps += brpc_steps(options)
    return steps


def store_steps(options):
    """By default, and by RDMA READ where the values are large enough."""
    steps = []
    for name, cell in STORE.items():
        for how, reads in (("", False), ("_read", True)):
            if reads and cell.attachment < 64 * KIB:
                continue
            step = echo_step(
                options.bin, cell, "busy", True, options.seconds, options.warmup, reads=reads
            )
            steps.append((name + how + "_rdma", step))
    return steps


def brpc_steps(options):
    steps = []
    for name, cell in BRPC.items():
        step = echo_step(
            options.bin, cell, "busy", True, options.seconds, options.warmup, brpc=True, gate=True
        )
        steps.append((name + "_brpc_rdma", step))
        for caller in BRPC_CALLERS:
            step = peer_step(options.bin, cell, caller, options.seconds, options.warmup)
            steps.append(("%s_brpc_%s_calls_rdma" % (name, caller), step))
    return steps


def plan(options):
    """(round, name, step) in order: every other round goes the other way round, so that
    nothing always comes after the same other thing."""
    order = steps_of_round(options)
    planned = []
    for number in range(1, options.rounds + 1):
        for name, step in order if number % 2 else order[::-1]:
            planned.append((number, name, step))
    return planned


def numbers_of(name, step, output):
    if name in PERFTESTS:
        return parse_perftest(PERFTESTS[name], output)
    report = report_of(step, output)
    if name.endswith("_rdma") and report["transport"] != "rdma":
        why = report.get("why_not_rdma") or "the benchmark does not say why"
        raise ChildFailed(step.name, step.client, "was not carried by RDMA: %s" % why, "")
    return {key: report[key] for key in rdma_ratios.MEASURED if key in report}


def run(options, rows, vm=None):
    planned = plan(options)
    progress = Progress(len(planned))
    progress.show(0, "starting the machine")
    outputs = run_steps([step for _, _, step in planned], options.driver, vm, pairs=2)
    try:
        # The machine's end is waited for: what it took of the processors is none of others'.
        for done, ((step, output), (number, name, _)) in enumerate(zip(outputs, planned), 1):
            rows.append({"round": number, "name": name, **numbers_of(name, step, output)})
            progress.show(done, "round %d of %d: %s" % (number, options.rounds, step.name))
    finally:
        progress.clear()
        outputs.close()


def save(options, known, rows):
    method = {
        "driver": options.driver,
        "rounds": options.rounds,
        "seconds": options.seconds,
        "warmup": options.warmup,
        "perftest_iterations": {str(t): t.iterations for t in PERFTESTS.values()},
    }
    whole = {"machine": known, "method": method, "rows": rows, "ratios": rdma_ratios.all_of(rows)}
    with open(options.json, "w", encoding="utf-8") as out:
        json.dump(whole, out, indent=1)
        out.write("\n")


def main(argv, vm=None):
    options = parse(argv)
    if options.check_only:
        print("farcall")
        return 0
    exit_on_signals()
    known = machine.facts()
    print(machine.line(known))
    print(
        "two hosts, two cables, in a machine emulated on it, %s; "
        "%d rounds of %g s after %g s of warmup"
        % (options.driver, options.rounds, options.seconds, options.warmup)
    )
    if options.rounds < ENOUGH_ROUNDS:
        print("note: fewer than %d rounds are a look, not a measurement" % ENOUGH_ROUNDS)
    print("Times of an emulated machine mean nothing by themselves; ratios hold.\n", flush=True)
    rows = []
    others = machine.OthersWatch()
    failure = None
    try:
        run(options, rows, vm)
    except (ChildFailed, OSError) as error:
        failure = error
    except KeyboardInterrupt:
        failure = "interrupted"
    known["others_busy_cores"] = round(others.cores(), 2)
    if rows:
        print(rdma_ratios.text(rows))
        print(machine.others_text(known["others_busy_cores"]))
    if options.json:
        save(options, known, rows)
    if failure is not None:
        print("tools/bench: %s" % failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
