# SPDX-License-Identifier: Apache-2.0
"""Cases that print the lines which tools/test counts: PASS k8s/GROUP/CASE, or FAIL and why."""

import time
import traceback


class Trouble(Exception):
    """What a case says when something is not as it must be."""


def need(condition, why):
    if not condition:
        raise Trouble(why)


def one_line(error):
    if isinstance(error, Trouble):
        return " ".join(str(error).split())[:1000]
    return " ".join(traceback.format_exception_only(error)[-1].split())[:1000]


def run_cases(group, cases):
    """Whether all of [(name, function)] passed."""
    well = True
    for name, case in cases:
        began = time.monotonic()
        try:
            case()
        except Exception as error:  # one case that breaks must not hide the others
            well = False
            print("FAIL k8s/%s/%s: %s" % (group, name, one_line(error)), flush=True)
            if not isinstance(error, Trouble):
                traceback.print_exc()
            continue
        print("PASS k8s/%s/%s (%.1f s)" % (group, name, time.monotonic() - began), flush=True)
    return well
