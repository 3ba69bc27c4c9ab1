# SPDX-License-Identifier: Apache-2.0
"""The part of tools/bench --rdma that measures: farcall over RDMA and TCP, and perftest, in
turns within one run: in the guest of tools/rdma_vm, between two hosts, or between two pods."""

import contextlib
import json
import sys

from console.arguments import Arguments, bounded, new_file
from console.progress import Progress
from loads import rdma_ratios
from loads.perftest import parse as parse_perftest
from loads.rdma_loads import PERFTESTS, plan
from places import ends_run, machine
from places.children import ChildFailed, exit_on_signals
from places.ends_options import add_ends, add_perftest, check_ends
from places.two_ends import Hosts, Pods, Unfit
from places.vm_run import report_of, run_steps

ENOUGH_ROUNDS = 5
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
    add("--driver", choices=("rxe", "siw"))
    add_ends(add)
    add_perftest(add)
    add("--rounds", type=bounded(int, 1, 1000))
    add("--seconds", type=bounded(float, 0.01, 3600))
    add("--warmup", type=bounded(float, 0, 60), default=0.2)
    add("--json", type=new_file)
    add("--quick", action="store_true")
    for word in argv:
        if word.split("=")[0] in FIXED:
            arguments.error("%s does not go with --rdma, whose loads are fixed" % word)
    options = arguments.parse_args(argv)
    if check_ends(arguments, options):
        if options.driver:
            arguments.error("--driver does not go with --hosts or --pods, whose adapters are there")
        # Pods have no address of the adapter, without which rdma_cm finds no way.
        if options.perftest_flags is None:
            options.perftest_flags = ["-R"] if options.hosts else []
    else:
        options.driver = options.driver or "rxe"
    options.rounds = options.rounds or (2 if options.quick else ENOUGH_ROUNDS)
    options.seconds = options.seconds or (0.3 if options.quick else 1.0)
    return options


def numbers_of(name, step, output):
    if isinstance(output, ChildFailed):
        raise output
    if name in PERFTESTS:
        return parse_perftest(PERFTESTS[name], output)
    report = report_of(step, output)
    if name.endswith("_rdma") and report["transport"] != "rdma":
        why = report.get("why_not_rdma") or "the benchmark does not say why"
        raise ChildFailed(step.name, step.client, "was not carried by RDMA: %s" % why, "")
    return {key: report[key] for key in rdma_ratios.MEASURED if key in report}


def run(options, rows, left_out, vm, ends, between):
    """Adds to the rows, and to those left out: {what: why}."""
    planned = plan(options, between)
    progress = Progress(len(planned))
    progress.show(0, "starting")
    steps = [step for _, _, step in planned]
    outputs = (
        ends_run.run_steps(steps, ends, between.place)
        if ends
        else run_steps(steps, options.driver, vm, pairs=2)
    )
    try:
        # The machine's end is waited for: what it took of the processors is none of others'.
        for done, ((step, output), (number, name, _)) in enumerate(zip(outputs, planned), 1):
            try:
                rows.append({"round": number, "name": name, **numbers_of(name, step, output)})
            except ChildFailed as failed:
                if not step.go_on:
                    raise
                left_out[step.name] = str(failed).splitlines()[0].removeprefix(step.name + " ")
            progress.show(done, "round %d of %d: %s" % (number, options.rounds, step.name))
    finally:
        progress.clear()
        outputs.close()


def save(options, known, rows, between, left_out):
    method = {
        "driver": options.driver,
        "rounds": options.rounds,
        "seconds": options.seconds,
        "warmup": options.warmup,
        "perftest_iterations": {str(t): t.iterations for t in PERFTESTS.values()},
        "left_out": left_out,
    }
    if between:
        method["perftest_flags"] = between.place.perftest
        method["cores"] = between.place.cores
        known = {end: facts.for_json() for end, facts in between.facts.items()}
    whole = {"machine": known, "method": method, "rows": rows, "ratios": rdma_ratios.all_of(rows)}
    with open(options.json, "w", encoding="utf-8") as out:
        json.dump(whole, out, indent=1)
        out.write("\n")


def ends_of(options):
    """A context, which has nothing in it where the machine is an emulated one."""
    if options.hosts:
        return Hosts(options.hosts, options.bin, [] if options.installed else ["echo-bench"])
    return contextlib.nullcontext() if options.pods is None else Pods(options.pods)


def print_head(options, known, between):
    how = "%d rounds of %g s after %g s of warmup" % (
        options.rounds, options.seconds, options.warmup)  # fmt: skip
    if between:
        print("%s\n%s" % (between.text(), how))
    else:
        print(machine.line(known))
        print("two hosts, two cables, in a machine emulated on it, %s; %s" % (options.driver, how))
    if options.rounds < ENOUGH_ROUNDS:
        print("note: fewer than %d rounds are a look, not a measurement" % ENOUGH_ROUNDS)
    if not between:
        print("Times of an emulated machine mean nothing by themselves; ratios hold.")
    print(flush=True)


def measure(options, vm, ends):
    """Prints what was measured, also where it failed; the failure or None."""
    known = machine.facts()
    programs = sorted({test.program for test in PERFTESTS.values()})
    between = ends_run.look(ends, options, programs) if ends else None
    print_head(options, known, between)
    others = machine.OthersWatch()
    failure = None
    rows, left_out = [], {}
    for program in between.missing if between else ():
        left_out[program] = "is not installed at both ends"
    try:
        run(options, rows, left_out, vm, ends, between)
    except (ChildFailed, OSError) as error:
        failure = error
    except KeyboardInterrupt:
        failure = "interrupted"
    known["others_busy_cores"] = round(others.cores(), 2)
    if rows:
        print(rdma_ratios.text(rows))
    for what, why in left_out.items():
        print("left out: %s: %s" % (what, why))
    if rows and not between:
        print(machine.others_text(known["others_busy_cores"]))
    if options.json:
        save(options, known, rows, between, left_out)
    return failure


def main(argv, vm=None):
    options = parse(argv)
    if options.check_only:
        print("" if options.installed or options.pods is not None else "farcall")
        return 0
    exit_on_signals()
    try:
        with ends_of(options) as ends:
            failure = measure(options, vm, ends)
    except (ChildFailed, Unfit, OSError) as error:
        failure = error
    if failure is not None:
        print("tools/bench: %s" % failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
