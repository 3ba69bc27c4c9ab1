# SPDX-License-Identifier: Apache-2.0
"""What must hold of a soak (docs/soak.md), and what a run says of it."""

# Seconds from a kill to when the client has surely seen its connections end, on a machine that
# has too much to do: what is sent before that fails by it.
NOTICED = 2.0
# Seconds that a kill may be told late here.
TOLD = 0.2
# What is not growth, MiB: allocators and pools keep what they had at their fullest.
SLACK_MIB = 8.0
SLACK_PART = 0.1
SLACK_FDS = 8
# A pool has as many connections to each server as calls were there at once, at its fullest.
SLACK_POOLED_FDS = 600
SLACK_THREADS = 4


def explained(failure, kills):
    """Whether a write failed while a server was killed, which it may have run on."""
    start, end = failure["start_ms"] / 1000.0 - NOTICED, failure["end_ms"] / 1000.0 + TOLD
    remote = failure["remote"]
    return any(start <= when <= end and remote in ("", address) for when, address in kills)


def growth(name, before, after, pooled=False):
    """Lines of what grew."""
    allowed = {
        "mib": before["mib"] * SLACK_PART + SLACK_MIB,
        "fds": SLACK_POOLED_FDS if pooled else SLACK_FDS,
        "threads": SLACK_THREADS,
    }
    units = {"mib": "MiB of memory", "fds": "descriptors", "threads": "threads"}
    return [
        "%s: %s grew from %.0f to %.0f" % (name, units[key], before[key], after[key])
        for key in allowed
        if after[key] - before[key] > allowed[key]
    ]


def shown(failure):
    return "%s %d: %d %s (%s, %d retries, %d ms)" % (
        failure["failed"],
        failure["id"],
        failure["code"],
        failure["text"],
        failure["remote"] or "no connection",
        failure["retried"],
        failure["end_ms"] - failure["start_ms"],
    )


def judge(report, ledger, failures, kills, usages, pooled=False):
    """[(what must hold, the number, lines about it)], in the order of the table.

    `report`: the client's last; `ledger`: its counts; `kills`: (time, address);
    `usages`: name -> (before, after).
    """
    reads = [shown(f) for f in failures if f["failed"] == "read"]
    writes = [shown(f) for f in failures if f["failed"] == "write" and not explained(f, kills)]
    grown = [
        line for name, pair in sorted(usages.items()) for line in growth(name, *pair, pooled)
    ]
    not_ended = report["in_flight"] + ledger["not_ended"]
    ended_twice = report["ended_twice"] + ledger["ended_twice"]
    return [
        ("reads that failed", max(report["failed_reads"], len(reads)), reads),
        ("writes that failed without a kill", len(writes), writes),
        ("writes that ran twice", ledger["doubled"], []),
        ("writes that were answered and not run", ledger["answered_not_run"], []),
        ("answers that were another call's", report["wrong"], []),
        ("calls that did not end", not_ended, []),
        ("calls that ended twice", ended_twice, []),
        ("memory, descriptors, threads that grew", len(grown), grown),
    ]
