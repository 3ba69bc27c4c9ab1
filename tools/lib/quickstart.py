# SPDX-License-Identifier: Apache-2.0
"""The part of tools/quickstart that measures; tools/quickstart installs and builds, and
has the help."""

import json
import sys

from console.arguments import Arguments, bounded, new_file, parsed
from console.progress import Progress
from console.table import Table
from console.units import number
from loads import curves
from loads.cells import Variant, parse_cells
from loads.echo_run import Setting, put_load, start_server
from places import machine
from places.children import ChildFailed, exit_on_signals

CELLS = (
    "32x1,32x8,32x32,32x128,32+4Kx1,32+4Kx8,32+4Kx32,32+4Kx128,"
    "64Kx1,64Kx8,64Kx32,1Mx1,1Mx4,1Mx8"
)
MEASURED = ("qps", "p50_us", "p99_us", "p999_us", "mb_per_s", "client_cpu_us", "server_cpu_us")
TITLES = (
    "payload",
    "calls in\nflight",
    "calls/s",
    "p50\nus",
    "p99\nus",
    "p99.9\nus",
    "MB/s",
    "client\nCPU us",
    "server\nCPU us",
)
# Rows are printed as they come, so the columns have their widths before.
WIDTHS = (12, 8, 9, 7, 7, 7, 7, 7, 7)


NEXT = """\
next: farcall in a program of yours: examples/echo, tools/install PREFIX"""
WITHOUT_RDMA = """\
      RDMA without an adapter: tools/quickstart --rdma-vm, or "Trying it without a device" in
      docs/rdma.md; with one: doctor (docs/doctor.md) tells why it is off"""


def parse(argv):
    arguments = Arguments("tools/quickstart")
    add = arguments.add_argument
    add("--check_only", action="store_true")
    add("--bin", default="bazel-bin")
    add("--seconds", type=bounded(float, 0.01, 3600), default=0.4)
    add("--warmup", type=bounded(float, 0, 60), default=0.1)
    add("--cells", type=parsed(parse_cells), default=parse_cells(CELLS))
    add("--connections", type=bounded(int, 1, 10000), default=1)
    add("--threads", type=bounded(int, 1, 1024), default=1)
    add("--polling", choices=("adaptive", "event", "busy"), default="adaptive")
    add("--json", type=new_file)
    add("--plot", type=new_file)
    return arguments.parse_args(argv)


def setting_of(options):
    server, client = machine.half_each()
    return Setting(
        bin_dir=options.bin,
        seconds=options.seconds,
        warmup=options.warmup,
        connections=options.connections,
        threads=options.threads,
        server_cores=tuple(server),
        client_cores=tuple(client),
        use_rdma=True,
    )


def cores_text(cores):
    if len(cores) == 1:
        return "core %d" % cores[0]
    return "cores %s" % ",".join(str(core) for core in cores)


def carried_text(report):
    """Which transport carried the calls, and why."""
    if report["transport"] == "rdma":
        return "rdma carries the calls, as asked for"
    why = report.get("why_not_rdma") or "the benchmark does not say why"
    return "%s carries the calls; rdma was asked for: %s" % (report["transport"], why)


def run(options, setting):
    """Measures and prints row by row; yields the reports."""
    variant = Variant("farcall", options.polling)
    progress = Progress(len(options.cells))
    table = Table(TITLES, widths=WIDTHS)
    last = None
    try:
        progress.show(0, "starting the server")
        with start_server(setting, variant) as server:
            for done, cell in enumerate(options.cells):
                progress.show(done, str(cell))
                report = put_load(setting, variant, cell, server)
                progress.clear()
                if carried_text(report) != last:
                    last = carried_text(report)
                    print("\n%s\n" % last)
                    print("\n".join(table.head()))
                numbers = (number(report[key]) for key in MEASURED)
                print(table.add(cell.size_text(), cell.in_flight_text(), *numbers), flush=True)
                yield report
    finally:
        progress.clear()


def save(options, known, setting, reports):
    if options.json:
        method = {
            "seconds": setting.seconds,
            "warmup": setting.warmup,
            "threads": setting.threads,
            "server_cores": list(setting.server_cores),
            "client_cores": list(setting.client_cores),
        }
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"machine": known, "method": method, "rows": reports}, out, indent=1)
            out.write("\n")
        print("numbers: %s" % options.json)
    if options.plot:
        polling = "%s polling" % options.polling
        carried = "/".join(sorted({report["transport"] for report in reports}))
        title = "farcall echo over %s" % carried
        subtitle = "%s; %s, server and client on one machine" % (machine.line(known), polling)
        curves.write(options.plot, curves.draw(reports, title, subtitle))
        print("curves: %s" % options.plot)


def main(argv):
    options = parse(argv)
    if options.check_only:
        # What tools/quickstart has to install.
        print("plot" if options.plot and options.plot.lower().endswith(".png") else "")
        return 0
    exit_on_signals()
    known = machine.facts()
    setting = setting_of(options)
    print(machine.line(known))
    print(
        "server on %s, client on %s; %s polling, %g s each"
        % (
            cores_text(setting.server_cores),
            cores_text(setting.client_cores),
            options.polling,
            setting.seconds,
        )
    )
    reports = []
    others = machine.OthersWatch()
    try:
        for report in run(options, setting):
            reports.append(report)
        known["others_busy_cores"] = round(others.cores(), 2)
        print("\nCPU us: CPU microseconds for each call. MB/s: one way, 10^6 bytes.")
        if machine.others_text(known["others_busy_cores"]):
            print(machine.others_text(known["others_busy_cores"]))
        save(options, known, setting, reports)
        print(NEXT)
        if any(report["transport"] != "rdma" for report in reports):
            print(WITHOUT_RDMA)
    except (ChildFailed, OSError) as error:
        print("tools/quickstart: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("tools/quickstart: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
