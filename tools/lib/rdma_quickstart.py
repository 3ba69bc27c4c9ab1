# SPDX-License-Identifier: Apache-2.0
"""The part of tools/quickstart --rdma-vm that measures: every row over RDMA and over TCP,
between the two hosts of tools/rdma_vm."""

import json
import sys

import machine
from arguments import Arguments, bounded, new_file, parsed
from cells import parse_cells
from children import ChildFailed, exit_on_signals
from progress import Progress
from quickstart import CELLS, carried_text
from table import Table
from units import number
from vm_run import echo_step, report_of, run_steps

SHOWN = (("qps", "calls/s"), ("p50_us", "p50 us"), ("p99_us", "p99 us"), ("mb_per_s", "MB/s"))
WIDTHS = (12, 8) + (9, 9) + (7, 7) * 3


def parse(argv):
    arguments = Arguments("tools/quickstart --rdma-vm")
    add = arguments.add_argument
    add("--check_only", action="store_true")
    add("--bin", default="bazel-bin")
    add("--rdma-vm", action="store_true")
    add("--driver", choices=("rxe", "siw"), default="rxe")
    add("--seconds", type=bounded(float, 0.01, 3600), default=0.4)
    add("--warmup", type=bounded(float, 0, 60), default=0.1)
    add("--cells", type=parsed(parse_cells), default=parse_cells(CELLS))
    add("--connections", type=bounded(int, 1, 10000), default=1)
    add("--threads", type=bounded(int, 1, 1024), default=1)
    add("--polling", choices=("adaptive", "event", "busy"), default="adaptive")
    add("--json", type=new_file)
    for word in argv:
        if word.split("=")[0] == "--plot":
            arguments.error("--plot does not go with --rdma-vm: there are two curves in each row")
    return arguments.parse_args(argv)


def plan(options):
    """RDMA, then TCP, for each row."""
    return [
        echo_step(
            options.bin, cell, options.polling, rdma, options.seconds, options.warmup,
            options.connections, options.threads,
        )  # fmt: skip
        for cell in options.cells
        for rdma in (True, False)
    ]


def new_table():
    titles = ["payload", "calls in\nflight"]
    for _, title in SHOWN:
        titles += [title + "\nRDMA", title + "\nTCP"]
    return Table(titles, widths=WIDTHS)


def run(options, vm=None):
    """Prints row by row; yields the reports."""
    progress = Progress(2 * len(options.cells))
    table = new_table()
    last = None
    outputs = run_steps(plan(options), options.driver, vm)
    progress.show(0, "starting the machine")
    try:
        for row, cell in enumerate(options.cells):
            pair = []
            for which in (0, 1):
                step, output = next(outputs)
                pair.append(report_of(step, output))
                progress.show(2 * row + which + 1, str(cell))
            progress.clear()
            if carried_text(pair[0]) != last:
                last = carried_text(pair[0])
                print("\n%s\n" % last)
                print("\n".join(table.head()))
            numbers = [number(report[key]) for key, _ in SHOWN for report in pair]
            print(table.add(cell.size_text(), str(cell.in_flight), *numbers), flush=True)
            yield from pair
    finally:
        progress.clear()
        outputs.close()


def main(argv, vm=None):
    options = parse(argv)
    if options.check_only:
        print("")
        return 0
    exit_on_signals()
    known = machine.facts()
    print(machine.line(known))
    print(
        "two hosts in a machine emulated on it, %s; %s polling, %g s each"
        % (options.driver, options.polling, options.seconds)
    )
    reports = []
    try:
        for report in run(options, vm):
            reports.append(report)
        print("\nMB/s: one way, 10^6 bytes. Times of an emulated machine mean nothing by")
        print("themselves: what counts is RDMA beside TCP.")
        if options.json:
            with open(options.json, "w", encoding="utf-8") as out:
                json.dump({"machine": known, "driver": options.driver, "rows": reports}, out,
                          indent=1)  # fmt: skip
                out.write("\n")
            print("numbers: %s" % options.json)
    except (ChildFailed, OSError) as error:
        print("tools/quickstart: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("tools/quickstart: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
