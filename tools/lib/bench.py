# SPDX-License-Identifier: Apache-2.0
"""The part of tools/bench that measures; tools/bench installs and builds, and has the help."""

import sys

from console.arguments import Arguments, bounded, new_file, parsed
from console.progress import Progress
from loads import comparison
from loads.cells import measures, parse_cells, parse_variants
from loads.echo_run import Setting, measure
from loads.results import Results
from places import machine
from places.children import ChildFailed, exit_on_signals

CELLS = (
    "32x1s,32x16s,32x1,32x32,32x128,32+4Kx64,32+64Kx8,32+1Mx8,64Kx8,"
    "put:32+4Kx32,put:32+64Kx8,put:32+1Mx8,get:32+4Kx32,get:32+64Kx8,get:32+1Mx8"
)
QUICK_CELLS = "32x1,32x64"
# Fewer tell nothing about the spread.
ENOUGH_ROUNDS = 5


def parse(argv):
    arguments = Arguments("tools/bench")
    add = arguments.add_argument
    add("--check_only", action="store_true")
    add("--bin", default="bazel-bin")
    add("--rounds", type=bounded(int, 1, 1000))
    add("--seconds", type=bounded(float, 0.01, 3600))
    add("--warmup", type=bounded(float, 0, 60), default=0.2)
    add("--cells", type=parsed(parse_cells))
    add("--connections", type=bounded(int, 1, 10000), default=1)
    add("--systems", default="farcall,pool,grpc,raw")
    add("--polling", default="adaptive")
    add("--raw_polling", default="event,busy")
    add("--handler_threads", type=bounded(int, 0, 1024))
    add("--json", type=new_file)
    add("--quick", action="store_true")
    options = arguments.parse_args(argv)
    pollings = {
        "farcall": options.polling,
        "pool": options.polling,
        "grpc": "event",
        "raw": options.raw_polling,
    }
    try:
        options.variants = parse_variants(options.systems, pollings)
    except ValueError as error:
        arguments.error(str(error))
    options.rounds = options.rounds or (2 if options.quick else ENOUGH_ROUNDS)
    options.seconds = options.seconds or (0.3 if options.quick else 1.0)
    options.cells = options.cells or parse_cells(QUICK_CELLS if options.quick else CELLS)
    return options


def setting_of(options):
    server, client = machine.one_core_each()
    flags = []
    if options.handler_threads is not None:
        flags.append("--handler_threads=%d" % options.handler_threads)
    return Setting(
        bin_dir=options.bin,
        seconds=options.seconds,
        warmup=options.warmup,
        connections=options.connections,
        server_cores=tuple(server),
        client_cores=tuple(client),
        farcall_flags=tuple(flags),
    )


def method_of(options, setting):
    """For the JSON: how it was measured."""
    return {
        "rounds": options.rounds,
        "seconds": options.seconds,
        "warmup": options.warmup,
        "server_cores": list(setting.server_cores),
        "client_cores": list(setting.client_cores),
        "farcall_flags": list(setting.farcall_flags),
    }


def order_of(number, variants):
    """Systems take turns, and every other round the other way round, so that none of
    them always comes after the same one."""
    return variants if number % 2 else variants[::-1]


def run(options, setting, results):
    pairs = [(cell, v) for cell in options.cells for v in options.variants if measures(v, cell)]
    progress = Progress(options.rounds * len(pairs))
    done = 0
    try:
        for number in range(1, options.rounds + 1):
            for cell in options.cells:
                for variant in order_of(number, options.variants):
                    if (cell, variant) not in pairs:
                        continue
                    what = "round %d of %d: %s, %s" % (number, options.rounds, cell, variant)
                    progress.show(done, what)
                    results.add(measure(setting, variant, cell), number, cell.synchronous, cell.way)
                    done += 1
    finally:
        progress.clear()


def print_head(options, setting, known):
    print(machine.line(known))
    where = "server on core %d, client on core %d" % (
        setting.server_cores[0],
        setting.client_cores[0],
    )
    print(
        "%s; %d rounds of %g s after %g s of warmup; %s"
        % (
            where,
            options.rounds,
            options.seconds,
            options.warmup,
            "%d connection%s" % (options.connections, "" if options.connections == 1 else "s"),
        )
    )
    if setting.server_cores == setting.client_cores:
        print("note: there is one core only, so that both sides share it")
    if options.rounds < ENOUGH_ROUNDS:
        print("note: fewer than %d rounds are a look, not a measurement" % ENOUGH_ROUNDS)
    print(flush=True)


def main(argv):
    options = parse(argv)
    if options.check_only:
        # What tools/bench has to build.
        print(" ".join(dict.fromkeys(variant.system for variant in options.variants)))
        return 0
    exit_on_signals()
    setting = setting_of(options)
    known = machine.facts()
    print_head(options, setting, known)
    results = Results()
    others = machine.OthersWatch()
    failure = None
    try:
        run(options, setting, results)
    except ChildFailed as error:
        failure = error
    except KeyboardInterrupt:
        failure = "interrupted"
    known["others_busy_cores"] = round(others.cores(), 2)
    if results.rows:
        print(comparison.text(results))
        print(machine.others_text(known["others_busy_cores"]))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            out.write(results.to_json(known, method_of(options, setting)))
    if failure is not None:
        print("tools/bench: %s" % failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
