# SPDX-License-Identifier: Apache-2.0
"""The part of tools/quickstart --rdma-vm that measures: every row over RDMA and over TCP,
between the two hosts of tools/rdma_vm."""

import json
import sys

from console.arguments import Arguments, bounded, new_file, parsed
from console.progress import Progress
from console.table import Table
from console.units import number
from loads.cells import parse_cells
from places import machine
from places.children import ChildFailed, exit_on_signals
from places.vm_run import echo_step, report_of, run_steps
from quickstart import CELLS, carried_text

SHOWN = (("qps", "calls/s"), ("p50_us", "p50 us"), ("p99_us", "p99 us"), ("mb_per_s", "MB/s"))
WIDTHS = (12, 8) + (9, 9) + (7, 7) * 3
# Of fewer calls there is no median to speak of.
ENOUGH = 20
SHOWS = """\
What this shows: calls over RDMA between two hosts, by the kernel's own RDMA, and the same over TCP.
What it does not show: how fast RDMA is. %s does in software what an adapter does in hardware, so
TCP is faster here; and an emulated machine's times mean nothing by themselves."""
NEXT = """\
next: farcall in a program of yours: examples/echo, tools/install PREFIX
      RDMA in software on this host itself: "Trying it without a device" in docs/rdma.md
      on a host with an adapter: tools/quickstart; doctor (docs/doctor.md) where RDMA is off"""


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
            options.connections, options.threads, enough=ENOUGH, go_on=True,
        )  # fmt: skip
        for cell in options.cells
        for rdma in (True, False)
    ]


def new_table():
    titles = ["payload", "calls in\nflight"]
    for _, title in SHOWN:
        titles += [title + "\nRDMA", title + "\nTCP"]
    return Table(titles, widths=WIDTHS)


class Rows:
    """Prints row by row, and keeps what there is to say of some."""

    def __init__(self, seconds):
        self._seconds = seconds
        self._table = new_table()
        self._begun = False
        self._carried = ""
        self._longer = False
        self.reports = []
        self.failed = []  # ChildFailed

    def add(self, cell, pair):
        """`pair`: over RDMA and over TCP, each a report or a ChildFailed."""
        reports = [one for one in pair if isinstance(one, dict)]
        failed = [one for one in pair if not isinstance(one, dict)]
        longer = any(report["seconds"] > 1.5 * self._seconds for report in reports)
        marks = "*" * longer + "!" * bool(failed)
        self._longer |= longer
        self.reports += reports
        self.failed += failed
        self._tell_carrier(pair[0])
        numbers = [
            "-" if one in failed else number(one[key]) for key, _ in SHOWN for one in pair
        ]
        row = self._table.add(cell.size_text(), marks + cell.in_flight_text(), *numbers)
        print(row, flush=True)

    def _tell_carrier(self, asked):
        carried = carried_text(asked) if isinstance(asked, dict) else self._carried
        if not self._begun or carried != self._carried:
            print("\n%s\n" % carried if carried else "")
            print("\n".join(self._table.head()))
        self._begun = True
        self._carried = carried

    def tell_marks(self):
        if self._longer:
            print(
                "*: measured for longer than %g s, until there were %d calls"
                % (self._seconds, ENOUGH)
            )
        for failed in self.failed:
            print("!: %s" % str(failed).splitlines()[0])


def outcome(step, output):
    """A report, or a ChildFailed."""
    try:
        return report_of(step, output)
    except ChildFailed as failed:
        return failed


def run(options, rows, vm=None):
    progress = Progress(2 * len(options.cells))
    outputs = run_steps(plan(options), options.driver, vm)
    progress.show(0, "starting the machine")
    try:
        for row, cell in enumerate(options.cells):
            pair = []
            for which in (0, 1):
                pair.append(outcome(*next(outputs)))
                progress.show(2 * row + which + 1, str(cell))
            progress.clear()
            rows.add(cell, pair)
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
    print("\n" + SHOWS % options.driver)
    rows = Rows(options.seconds)
    try:
        run(options, rows, vm)
        print("\nMB/s: one way, 10^6 bytes.")
        rows.tell_marks()
        if options.json:
            with open(options.json, "w", encoding="utf-8") as out:
                whole = {"machine": known, "driver": options.driver, "rows": rows.reports}
                json.dump(whole, out, indent=1)
                out.write("\n")
            print("numbers: %s" % options.json)
        print(NEXT)
    except (ChildFailed, OSError) as error:
        print("tools/quickstart: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("tools/quickstart: interrupted", file=sys.stderr)
        return 130
    return 1 if rows.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
