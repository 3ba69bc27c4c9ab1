# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a suite in the guest: a line for each, PASS name or FAIL name: why."""

import signal
import sys
import time

import peers
from guest import Late, Trouble

# For one case: so long that only what hangs meets it, on a machine that does much else besides. All
# of a suite are limited by the machine.
CASE_LIMIT = 400


def check(holds, text):
    if not holds:
        raise Trouble(text, peers.Program.logs())


def _too_long(_number, _frame):
    late = Late("not done within %d s" % CASE_LIMIT)
    late.seen.extend(peers.Program.logs())
    raise late


def run_case(name, case, out=sys.stdout):
    """Whether it passed. What it returns, a text, is told with the time that it took."""
    started = time.monotonic()
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(CASE_LIMIT)
    why = told = None
    seen = []
    try:
        told = case()
    except Trouble as trouble:
        why = str(trouble)
        seen = trouble.seen
    except Exception as error:  # a mistake in the case itself is told in the same way
        why = "%s: %s" % (type(error).__name__, error)
    finally:
        signal.alarm(0)
    seconds = time.monotonic() - started
    if why is None:
        out.write("PASS %s (%.1f s%s)\n" % (name, seconds, "; " + told if told else ""))
    else:
        out.write("FAIL %s: %s (%.1f s)\n" % (name, " | ".join(why.splitlines()), seconds))
        for line in seen:
            out.write("rdma_vm: %s: %s\n" % (name, line))
    out.flush()
    return why is None


def main(cases):
    """python3 SUITE.py BIN PREFIX [NAME...]: all cases, or those with these names. A case's
    name is its function's."""
    peers.BIN[0], prefix, *wanted = sys.argv[1:]
    known = [case.__name__ for case in cases]
    strange = [name for name in wanted if name not in known]
    if strange:
        sys.exit("no such case: %s; there are %s" % (", ".join(strange), ", ".join(known)))
    failed = 0
    for case in cases:
        if not wanted or case.__name__ in wanted:
            failed += not run_case(prefix + case.__name__, case)
    return 1 if failed else 0
