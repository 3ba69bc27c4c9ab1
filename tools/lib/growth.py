# SPDX-License-Identifier: Apache-2.0
"""The part of tools/bench --growth that measures: what a call costs where there is more of
something else: connections, bulk beside it, load that does not wait, idle connections."""

import dataclasses
import json
import os
import resource
import sys
import time

from console.arguments import Arguments, bounded, new_file
from console.progress import Progress
from console.table import Table
from console.units import number
from loads.cells import Cell, Variant
from loads.echo_run import BINARIES, Setting, measure, put_load, start_server
from loads.spread import Spread, ratio
from places import machine
from places.children import ChildFailed, Server, exit_on_signals, pinned

FARCALL = Variant("farcall", "adaptive")
SOCKETS = Variant("raw", "busy")
FEW, MANY = 8, 1000  # connections
SMALL = Cell(32, 0, 8)
ONE = Cell(32, 0, 1)
FULL = Cell(32, 0, 128)
BULK = 1 << 20  # bytes attached
IDLE_SECONDS = 2.0
CONNECT_LIMIT = 60.0  # seconds until an idle client has its connections


@dataclasses.dataclass(frozen=True)
class Row:
    """What is printed: a ratio or a figure of each round, and where it shall be."""

    name: str
    unit: str
    values: Spread
    bar: str = ""


def with_connections(setting, count):
    return dataclasses.replace(setting, connections=count)


def with_client_flags(setting, *flags):
    return dataclasses.replace(setting, farcall_client_flags=flags, raw_client_flags=flags)


class Process:
    """What a process uses, by its number."""

    def __init__(self, pid):
        self._pid = pid

    def resident_kib(self):
        with open("/proc/%d/status" % self._pid, encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        return 0

    def cpu_seconds(self):
        with open("/proc/%d/stat" % self._pid, encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_client(setting, address, connections):
    """A client whose connections are open and were used once, for a `with`."""
    command = pinned(
        [os.path.join(setting.bin_dir, BINARIES["farcall"]), "--server=" + address,
         "--connections=%d" % connections, "--idle"],
        setting.client_cores,
    )  # fmt: skip
    return Server("the idle client", command, CONNECT_LIMIT, ready="idle")


def idle(setting):
    """Of 1,000 idle connections: KiB of each at both ends, and percent of a core that both
    processes take."""
    memory = {}
    cpu = 0.0
    for count in (1, MANY + 1):
        with start_server(setting, FARCALL) as server:
            with idle_client(setting, server.address, count) as client:
                sides = {"server": Process(server.pid), "client": Process(client.pid)}
                # An idle connection is looked at, and gives memory back.
                time.sleep(IDLE_SECONDS)
                before = sum(side.cpu_seconds() for side in sides.values())
                time.sleep(IDLE_SECONDS)
                cpu = sum(side.cpu_seconds() for side in sides.values()) - before
                memory[count] = {name: side.resident_kib() for name, side in sides.items()}
    result = {
        "%s_kib" % side: (memory[MANY + 1][side] - memory[1][side]) / MANY
        for side in ("server", "client")
    }
    result["cpu_percent"] = cpu / IDLE_SECONDS * 100
    return result


def one_round(setting, show):
    """The figures of one round, by name."""
    figures = {}
    for variant in (FARCALL, SOCKETS):
        for count in (FEW, MANY):
            show("%s, %d connections" % (variant.system, count))
            found = measure(with_connections(setting, count), variant, SMALL)
            figures[variant.system, count] = found["qps"]
    beside_bulk = with_client_flags(setting, "--bulk=%d" % BULK)
    for variant in (FARCALL, SOCKETS):
        for cell in (ONE, SMALL):
            show("%s, %s alone, and beside bulk" % (variant.system, cell))
            with start_server(setting, variant) as server:
                alone = put_load(setting, variant, cell, server)
                busy = put_load(beside_bulk, variant, cell, server)
            figures["alone", variant.system, cell] = alone["p99_us"]
            figures["beside", variant.system, cell] = busy["p99_us"]
            figures["bulk", variant.system, cell] = busy["bulk_mb_per_s"]
    # Each at half of its own peak: who has more left over hides that others had the core.
    for variant in (FARCALL, SOCKETS):
        show("%s, half of its peak, open loop" % variant.system)
        with start_server(setting, variant) as server:
            peak = put_load(setting, variant, FULL, server)["qps"]
            rate = with_client_flags(setting, "--rate=%.0f" % (peak / 2))
            half = put_load(rate, variant, FULL, server)
        figures["half p50", variant.system] = half["p50_us"]
        figures["half p99", variant.system] = half["p99_us"]
    show("%d idle connections" % MANY)
    for name, value in idle(setting).items():
        figures["idle", name] = value
    return figures


def rows_of(rounds):
    def of(key):
        return {i: figures[key] for i, figures in enumerate(rounds)}

    def values(key):
        return Spread.of(of(key).values())

    rows = []
    for system, name in (("farcall", "farcall"), ("raw", "bare sockets, spinning")):
        what = "%d connections x 8 in flight over %d: %s" % (MANY, FEW, name)
        share = ratio(of((system, MANY)), of((system, FEW)))
        rows.append(Row(what, "of calls/s", share, "0.9" if system == "farcall" else ""))
    for system, name, bar in (("farcall", "farcall", "2"), ("raw", "bare sockets, spinning", "")):
        for cell in (ONE, SMALL):
            what = "%s beside 1 MiB x 8 on the same loop: %s" % (cell, name)
            share = ratio(of(("beside", system, cell)), of(("alone", system, cell)))
            rows.append(Row(what, "times p99", share, bar))
            rows.append(Row("  p99 alone", "us", values(("alone", system, cell))))
            rows.append(Row("  1 MiB x 8 meanwhile", "MB/s", values(("bulk", system, cell))))
    for system, name, bar in (("farcall", "farcall", "3"), ("raw", "bare sockets", "")):
        what = "open loop at half of the own peak of 32 B x 128, %s: p99 over p50" % name
        half = ratio(of(("half p99", system)), of(("half p50", system)))
        rows.append(Row(what, "times", half, bar))
        rows.append(Row("  its p50", "us", values(("half p50", system))))
    for side in ("server", "client"):
        what = "an idle connection, resident memory of the %s" % side
        rows.append(Row(what, "KiB", values(("idle", "%s_kib" % side)), "8"))
    cpu = values(("idle", "cpu_percent"))
    rows.append(Row("%d idle connections, both processes" % MANY, "% of a core", cpu, "1"))
    return rows


def text(rows):
    table = Table(("what", "median", "least", "most", "", "bar"), left=1)
    for row in rows:
        spread = (row.values.median, row.values.least, row.values.most)
        table.add(row.name, *(number(value) for value in spread), row.unit, row.bar)
    return str(table)


def parse(argv):
    arguments = Arguments("tools/bench --growth")
    add = arguments.add_argument
    add("--check_only", action="store_true")
    add("--growth", action="store_true")
    add("--bin", default="bazel-bin")
    add("--rounds", type=bounded(int, 1, 1000), default=5)
    add("--seconds", type=bounded(float, 0.01, 3600), default=1.0)
    add("--warmup", type=bounded(float, 0, 60), default=0.2)
    add("--json", type=new_file)
    return arguments.parse_args(argv)


def allow_descriptors():
    """For the processes that are started from here, which need more than the usual 1,024."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main(argv):
    options = parse(argv)
    if options.check_only:
        print("farcall raw")
        return 0
    exit_on_signals()
    allow_descriptors()
    server, client = machine.one_core_each()
    setting = Setting(
        bin_dir=options.bin, seconds=options.seconds, warmup=options.warmup,
        server_cores=tuple(server), client_cores=tuple(client),
    )  # fmt: skip
    known = machine.facts()
    others = machine.OthersWatch()
    print(machine.line(known))
    rounds = []
    progress = Progress(options.rounds)
    failure = None
    try:
        for i in range(options.rounds):
            def show(what, done=i):
                progress.show(done, "round %d of %d: %s" % (done + 1, options.rounds, what))

            rounds.append(one_round(setting, show))
    except ChildFailed as error:
        failure = error
    except KeyboardInterrupt:
        failure = "interrupted"
    finally:
        progress.clear()
    known["others_busy_cores"] = round(others.cores(), 2)
    if rounds:
        rows = rows_of(rounds)
        print(text(rows))
        print(machine.others_text(known["others_busy_cores"]))
        if options.json:
            with open(options.json, "w", encoding="utf-8") as out:
                json.dump({"machine": known, "rows": [dataclasses.asdict(r) for r in rows]}, out,
                          indent=1)  # fmt: skip
                out.write("\n")
    if failure is not None:
        print("tools/bench --growth: %s" % failure, file=sys.stderr)
    return 1 if failure is not None else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
