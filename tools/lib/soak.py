# SPDX-License-Identifier: Apache-2.0
"""The part of tools/soak that runs; tools/soak installs and builds, and has the help."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from console.arguments import Arguments, bounded, new_file, parsed
from console.progress import Progress
from console.table import Table
from places.children import exit_on_signals
from soak_chaos import Chaos, Listing
from soak_peers import SoakClient, SoakFailed, SoakServer, usage
from soak_verdict import judge

SERVER = "rpc/testing/soak/soak_server"
CLIENT = "rpc/testing/soak/soak_client"
CALM = 3.0  # seconds of calls to servers that are all there, before usage is looked at
TARGETS = ("list", "file")


def parse_targets(text):
    targets = text.split(",")
    if not set(targets) <= set(TARGETS):
        raise ValueError('"%s" is not a list of %s' % (text, " and ".join(TARGETS)))
    return targets


def parse(argv):
    arguments = Arguments("tools/soak")
    add = arguments.add_argument
    add("--check_only", action="store_true")
    add("--bin", default="bazel-bin")
    add("--seconds", type=bounded(float, 10, 1e6))
    add("--minutes", type=bounded(float, 1, 1e4))
    add("--seed", type=bounded(int, 0, 1 << 31), default=None)
    add("--servers", type=bounded(int, 2, 20), default=3)
    add("--rate", type=bounded(int, 10, 100000), default=1000)
    add("--targets", type=parsed(parse_targets), default=list(TARGETS))
    add("--load_balancer", default="rr")
    add("--connection_type", choices=("single", "pooled", "short"), default="single")
    add("--json", type=new_file)
    options = arguments.parse_args(argv)
    if options.seconds and options.minutes:
        arguments.error("--seconds and --minutes say the same thing: give one")
    options.seconds = options.seconds or 60 * (options.minutes or 1)
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 31)
    return options


class Phase:
    """One target, from the first start of its servers to what the ledger says."""

    def __init__(self, options, target, seconds, folder, progress, done):
        self._options = options
        self._target = target
        self._seconds = seconds
        self._folder = folder
        self._progress = progress
        self._done = done  # seconds of the phases before
        self._began = time.monotonic()
        self._kills = []
        self._ledger = os.path.join(folder, target + ".ledger")
        self._random = random.Random("%d %s" % (options.seed, target))
        self._servers = []
        self._client = None

    def _path(self, name):
        return os.path.join(self._options.bin, name)

    def run(self):
        """The results, as a dict."""
        try:
            return self._run()
        finally:
            if self._client:
                self._client.end()
            for server in self._servers:
                server.end()

    def _run(self):
        self._start()
        warm_up = min(max(3.0, self._seconds * 0.25), 300.0)
        left = max(3.0, self._seconds - warm_up - 2 * CALM)
        self._go(warm_up)
        before = self._rest()
        self._go(left)
        after = self._rest()
        self._client.stop()
        for server in self._servers:
            server.leave()
        while any(server.state != "down" for server in self._servers):
            self._turn(calm=True)
        usages = {name: (before[name], after[name]) for name in before}
        report, failures = self._client.report, self._client.failures
        ledger = self._count()
        return {
            "target": self._target,
            "report": report,
            "ledger": ledger,
            "failures": failures,
            "events": self._chaos.counts,
            "usages": usages,
            "verdict": judge(
                report,
                ledger,
                failures,
                self._kills,
                usages,
                self._options.connection_type == "pooled",
            ),
        }

    def _start(self):
        command = [self._path(SERVER), "--ledger=" + self._ledger]
        for i in range(self._options.servers):
            self._servers.append(SoakServer("server %d" % i, command, self._folder))
            self._servers[-1].start()
        for server in self._servers:
            server.wait_up()
        path = os.path.join(self._folder, "servers") if self._target == "file" else None
        listing = Listing(path, self._servers)
        listing.write()
        self._chaos = Chaos(self._random, self._servers, listing, self._note)
        addresses = ",".join(server.address for server in self._servers)
        self._client = SoakClient(
            [
                self._path(CLIENT),
                "--ledger=" + self._ledger,
                "--target=" + ("file://" + path if path else "list://" + addresses),
                "--calls_per_second=%d" % self._options.rate,
                "--load_balancer=" + self._options.load_balancer,
                "--connection_type=" + self._options.connection_type,
                "--seed=%d" % self._random.randrange(1 << 31),
            ],
            self._folder,
        )
        # What happens before the client knows its servers says nothing.
        while not self._client.report.get("reads"):
            self._turn(calm=True)

    def _note(self, kind, server):
        now = time.monotonic()
        if kind in ("kill", "killed"):
            self._kills.append((now, server.address))
        with open(os.path.join(self._folder, "events.log"), "a", encoding="utf-8") as out:
            out.write("%d %s %s\n" % (now * 1000, kind, server.name if server else "the file"))

    def _turn(self, calm):
        for server in self._servers:
            server.poll()
        if self._client.process.stdin and not self._client.process.stdin.closed:
            self._client.poll()
        now = time.monotonic()
        self._chaos.tick(now, calm)
        report = self._client.report
        self._progress.show(
            int(self._done + min(now - self._began, self._seconds)),
            "%s://: %s calls, %s failed reads, %s failed writes"
            % (
                self._target,
                format(report.get("reads", 0) + report.get("writes", 0), ","),
                report.get("failed_reads", 0),
                report.get("failed_writes", 0),
            ),
        )
        time.sleep(0.02)

    def _go(self, seconds):
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            self._turn(calm=False)

    def _rest(self):
        """What client and the steady server use when nothing happens."""
        while not self._chaos.quiet(time.monotonic()):
            self._turn(calm=True)
        limit = time.monotonic() + CALM
        while time.monotonic() < limit:
            self._turn(calm=True)
        return {
            "client": usage(self._client.process.pid),
            "server": usage(self._servers[0].process.pid),
        }

    def _count(self):
        command = [self._path(CLIENT), "--count", "--ledger=" + self._ledger]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=600)
        return json.loads(done.stdout)


def rows(result):
    """(name, number) of a phase, before its verdict."""
    report, ledger, usages = result["report"], result["ledger"], result["usages"]
    yield "reads", report["reads"]
    yield "writes", report["writes"]
    yield "writes that failed when a server was killed", ledger["failed"]
    yield "  and had run there", ledger["failed_and_run"]
    yield "attempts beyond the first", report["retried"]
    yield "backup requests", report["backed_up"]
    yield "the longest call, ms", report["longest_ms"]
    for kind in ("kill", "freeze", "freeze_kill", "restart", "drop", "garble"):
        yield "event: %s" % kind.replace("_", ", then "), result["events"].get(kind, 0)
    for name, (before, after) in sorted(usages.items()):
        yield "MiB of the %s" % name, "%.1f -> %.1f" % (before["mib"], after["mib"])
        yield "descriptors of the %s" % name, "%d -> %d" % (before["fds"], after["fds"])


def print_results(results):
    table = Table(["", *["%s://" % result["target"] for result in results]])
    for cells in zip(*[list(rows(result)) for result in results]):
        numbers = [format(n, ",") if isinstance(n, int) else n for _, n in cells]
        table.add(cells[0][0], *numbers)
    table.rule()
    for cells in zip(*[result["verdict"] for result in results]):
        table.add("must be 0: " + cells[0][0], *[str(number) for _, number, _ in cells])
    print(table)
    for result in results:
        for what, number, lines in result["verdict"]:
            for line in lines[:20]:
                print("%s://: %s: %s" % (result["target"], what, line))


def main(argv):
    options = parse(argv)
    if options.check_only:
        return 0
    exit_on_signals()
    folder = tempfile.mkdtemp(prefix="farcall-soak.")
    print("%g s, %d servers, seed %d" % (options.seconds, options.servers, options.seed))
    progress = Progress(int(options.seconds), every=5.0)
    results = []
    each = options.seconds / len(options.targets)
    try:
        for i, target in enumerate(options.targets):
            results.append(Phase(options, target, each, folder, progress, i * each).run())
    except (SoakFailed, OSError, subprocess.SubprocessError) as error:
        progress.clear()
        print("tools/soak: %s\nlogs: %s" % (error, folder), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        progress.clear()
        print("tools/soak: interrupted", file=sys.stderr)
        return 130
    progress.clear()
    print_results(results)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"seed": options.seed, "phases": results}, out, indent=1)
            out.write("\n")
    bad = sum(number for result in results for _, number, _ in result["verdict"])
    if bad:
        print("FAIL: %d violations with --seed %d; logs: %s" % (bad, options.seed, folder))
        return 1
    shutil.rmtree(folder)
    print("PASS")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
