# SPDX-License-Identifier: Apache-2.0
"""The part of tools/bench --studies that measures: two published studies of brpc over RDMA, with
the stores of examples/, over TCP and over RDMA in one run."""

import json
import re
import sys

from console.arguments import Arguments, bounded, new_file
from console.progress import Progress
from console.table import Table
from console.units import number
from places import ends_run, machine, two_ends
from places.children import ChildFailed, exit_on_signals
from places.ends_options import add_ends, check_ends
from places.vm_run import Place, Step

PROGRAMS = ("kv-server", "kv-bench", "block-server", "block-bench")
PUBLISHED = """Published for brpc, RDMA beside TCP: queries for 30 keys at 200,000/s:
mean -89 %, p99 -96 %; blocks of 4 KiB: -30 %."""
# Beside their measured time: to connect, to fill the store, to settle on RDMA.
_PATIENCE = 120
_KV_ROW = re.compile(
    r"^(?P<load>get|multi-get \d+) +(?P<over>tcp|rdma) +(?P<asked>\S+) +(?P<reached>\S+) +\S+ +"
    r"(?P<mean>\S+) +(?P<p50>\S+) +(?P<p99>\S+) +\S+ +\S+ +(?P<failed>\d+)$",
    re.MULTILINE,
)
_KV_NOT = re.compile(r"^rdma is not here: (.*)$", re.MULTILINE)
_BLOCKS = re.compile(
    r"^(?:rand)(?P<way>read|write): bs=(?P<bytes>\d+)B, iodepth=(?P<depth>\d+), numjobs=1, over "
    r"(?P<over>tcp|rdma)(?: \(not rdma: (?P<why>.*)\))?\n"
    r"  (?:read|write): .*, (?P<count>[\d,]+) in (?P<seconds>\S+) s\n"
    r"    clat \(us\): min=\S+ avg=(?P<mean>\S+), p50=(?P<p50>\S+), p99=(?P<p99>\S+),",
    re.MULTILINE,
)


def parse(argv):
    arguments = Arguments("tools/bench --studies")
    add = arguments.add_argument
    add("--check_only", action="store_true")
    add("--bin", default="bazel-bin")
    add("--studies", action="store_true")
    add_ends(add)
    add("--rate", type=bounded(float, 1, 1e8), default=10_000)
    add("--keys", type=bounded(int, 1, 10**8), default=100_000)
    add("--seconds", type=bounded(float, 0.01, 3600), default=3)
    add("--warmup", type=bounded(float, 0, 60), default=0.5)
    add("--json", type=new_file)
    options = arguments.parse_args(argv)
    options.elsewhere = check_ends(arguments, options)
    return options


def ends_of(options):
    if options.hosts:
        return two_ends.Hosts(options.hosts, options.bin, [] if options.installed else PROGRAMS)
    return two_ends.Here(options.bin) if options.pods is None else two_ends.Pods(options.pods)


def place_of(options, ends, facts):
    address = options.address or ends.address() or facts["B"].first_address()
    if not address:
        raise two_ends.Unfit("%s tells no address; cure: --address" % facts["B"].name)
    # No cores: each side has several threads.
    settings = {end: ends_run.settings_of(names) for end, names in zip("AB", options.devices)}
    return Place(address, settings, {"A": [], "B": []}, {})


def steps_of(options, ends, place):
    """One of the keys, which goes over both by itself, and one of the blocks over each."""
    limit = _PATIENCE + 4 * (options.seconds + options.warmup)

    def step(name, *words):
        server = ["env", *place.settings["B"], ends.program("B", name + "-server")]
        client = ["env", *place.settings["A"], ends.program("A", name + "-bench"), "--server=@"]
        server.append("--listen=%s:0" % place.host())
        return Step(name, server, client + list(words), limit)

    yield step(
        "kv", "--keys=%d" % options.keys, "--qps=%g" % options.rate, "--multi_get=30",
        "--multi_get_qps=%g" % options.rate, "--seconds=%g" % options.seconds,
        "--warmup=%g" % options.warmup,
    )  # fmt: skip
    for use_rdma in ("false", "true"):
        yield step(
            "block", "--use_rdma=" + use_rdma, "--iodepth=1,32", "--runtime=%g" % options.seconds,
            "--ramp_time=%g" % options.warmup,
        )  # fmt: skip


def _value(text):
    return float(text.replace(",", ""))


def rows_of(step, output):
    """({"load", "over", numbers}..., why there is no RDMA or nothing)."""
    rows, why = [], ""
    if step.name == "kv":
        for found in _KV_ROW.finditer(output):
            load = {"get": "get of 1 key"}.get(found["load"], "get of 30 keys")
            rows.append((load, found, _value(found["reached"])))
        why = "".join(_KV_NOT.findall(output))
    for found in _BLOCKS.finditer(output):
        load = "%s of %d KiB x %s" % (found["way"], int(found["bytes"]) // 1024, found["depth"])
        rows.append((load, found, _value(found["count"]) / _value(found["seconds"])))
        why = found["why"] or ""
    if not rows:
        raise ChildFailed(step.name, step.client, "printed no rows", output)
    return [
        {"load": load, "over": found["over"], "per_s": per_s,
         **{key: _value(found[key]) for key in ("mean", "p50", "p99")}}
        for load, found, per_s in rows
    ], why  # fmt: skip


def run(options, ends, place, rows):
    """Adds to the rows; why there is no RDMA or nothing."""
    steps = list(steps_of(options, ends, place))
    progress = Progress(len(steps))
    progress.show(0, "starting")
    reasons = ""
    try:
        for done, (step, output) in enumerate(ends_run.run_steps(steps, ends, place), 1):
            found, why = rows_of(step, output)
            # Where RDMA is not to be had the blocks go over TCP a second time.
            known = {(row["load"], row["over"]) for row in rows}
            rows += [row for row in found if (row["load"], row["over"]) not in known]
            reasons = reasons or why
            progress.show(done, step.name)
    finally:
        progress.clear()
    return reasons


def changes(rows):
    """{load: {"mean", "p99"}} of RDMA beside TCP, in percent."""
    of = {(row["load"], row["over"]): row for row in rows}
    found = {}
    for (load, over), tcp in of.items():
        rdma = of.get((load, "rdma"))
        if over == "tcp" and rdma:
            found[load] = {key: 100 * (rdma[key] / tcp[key] - 1) for key in ("mean", "p99")}
    return found


def table_of(rows):
    table = Table(("load", "over", "per s", "mean\nus", "p50\nus", "p99\nus", "mean\nto TCP",
                   "p99\nto TCP"))  # fmt: skip
    change = changes(rows)
    for row in sorted(rows, key=lambda row: [each["load"] for each in rows].index(row["load"])):
        beside = change.get(row["load"]) if row["over"] == "rdma" else None
        numbers = [number(row[key]) for key in ("per_s", "mean", "p50", "p99")]
        table.add(
            row["load"], row["over"], *numbers,
            *("%+.0f %%" % beside[key] if beside else "" for key in ("mean", "p99")),
        )  # fmt: skip
    return table


def measure(options, ends):
    facts = {
        end: ends_run.facts_of(ends, end, [name for name in PROGRAMS if name.endswith(role)], names)
        for end, role, names in zip("AB", ("-bench", "-server"), options.devices)
    }
    place = place_of(options, ends, facts)
    print("client on %s\nserver on %s" % (facts["A"].text(), facts["B"].text()))
    print("server at %s" % place.address)
    print("%g s each after %g s of warmup; %d keys, %g gets/s; blocks: 1 and 32 in flight\n" % (
        options.seconds, options.warmup, options.keys, options.rate), flush=True)  # fmt: skip
    rows = []
    why = run(options, ends, place, rows)
    print(table_of(rows))
    if why:
        print("\nTCP only: %s" % why)
    else:
        print("\n" + PUBLISHED)
    if options.json:
        whole = {"machine": {end: facts[end].for_json() for end in "AB"}, "rows": rows,
                 "to_tcp_percent": changes(rows), "why_not_rdma": why}  # fmt: skip
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(whole, out, indent=1)
            out.write("\n")


def main(argv):
    options = parse(argv)
    if options.check_only:
        print("" if options.installed or options.pods is not None else "studies")
        return 0
    exit_on_signals()
    others = machine.OthersWatch()
    try:
        with ends_of(options) as ends:
            measure(options, ends)
    except (ChildFailed, two_ends.Unfit, OSError) as error:
        print("tools/bench: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("tools/bench: interrupted", file=sys.stderr)
        return 130
    if not options.elsewhere:
        print(machine.others_text(others.cores()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
