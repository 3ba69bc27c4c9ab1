# SPDX-License-Identifier: Apache-2.0
"""Prints where the time of a test run went: where_time_went.py DIRECTORY

DIRECTORY has for each stage a log, STAGE.log, and the profiles that Bazel wrote in it,
STAGE*.profile.gz. Prints a table of the stages, and the ten slowest compilations, links and runs of
them all. Times are wall clock, so two actions side by side on two cores count twice.
"""

import glob
import gzip
import json
import os
import re
import sys

SLOWEST = 10

# What Bazel calls the actions, and what they are here.
_KINDS = {
    "Compiling": "compiling",
    "Linking": "linking",
    "Testing": "running",
}
# A suite that prints its own cases: "PASS rdma/rxe/hosts/echo (1.2 s)"; the machine that they need:
# "TOOK rdma/rxe/boot (9 s)".
_CASE = re.compile(
    r"^(?:(?:PASS|FAIL) ((?:rdma|interop|k8s)/\S+?):?(?: .*)?|TOOK (\S+/boot))"
    r" \((\d+(?:\.\d+)?) s\)$"
)


def _events(path):
    """Those of a profile, also of one that was cut off when its build was stopped."""
    try:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as stream:
            return json.load(stream)["traceEvents"]
    except (EOFError, OSError, ValueError, KeyError):
        return []


def actions_of(path):
    """(kind, name, seconds) of each action of a profile that took part in building or testing."""
    for event in _events(path):
        if event.get("cat") != "action processing" or "dur" not in event:
            continue
        verb, _, name = event["name"].partition(" ")
        if verb in _KINDS:
            yield _KINDS[verb], name, event["dur"] / 1e6


def cases_of(path):
    """("running", name, seconds) of each case that a log of a stage tells."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            match = _CASE.match(line.rstrip())
            if match:
                yield "running", match.group(1) or match.group(2), float(match.group(3))


def stages_of(directory):
    """{stage: [(kind, name, seconds)]} in the order in which the stages began."""
    logs = sorted(glob.glob(os.path.join(directory, "*.log")), key=os.path.getctime)
    profiles = glob.glob(os.path.join(directory, "*.profile.gz"))
    stages = {}
    for log in logs:
        stage = os.path.basename(log)[: -len(".log")]
        parts = list(cases_of(log))
        for profile in profiles:
            if os.path.basename(profile).startswith(stage + "."):
                parts += actions_of(profile)
        stages[stage] = parts
    return stages


def _spent(parts, kind):
    return sum(seconds for what, _, seconds in parts if what == kind)


def report(stages):
    """The lines to print."""
    kinds = ["compiling", "linking", "running"]
    form = "%-12s" + " %10s" * len(kinds)
    lines = ["where the time went, in seconds of one core or waiting:", form % ("", *kinds)]
    for stage, parts in stages.items():
        lines.append(form % (stage, *("%.0f" % _spent(parts, kind) for kind in kinds)))
    for kind in kinds:
        slowest = sorted(
            ((seconds, stage, name)
             for stage, parts in stages.items()
             for what, name, seconds in parts
             if what == kind),
            reverse=True,
        )[:SLOWEST]
        if slowest:
            lines.append("slowest in %s:" % kind)
            lines += ["%8.1f  %-6s %s" % (seconds, stage, name) for seconds, stage, name in slowest]
    return lines


if __name__ == "__main__":
    print("\n".join(report(stages_of(sys.argv[1]))))
