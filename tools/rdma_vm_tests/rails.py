# SPDX-License-Identifier: Apache-2.0
"""One connection over two cables at once, one of which is cut and comes back."""

import sys

import suite
from two_rails import cut


def _told(pair):
    """No time decides here; rails_speed.py has a bound."""
    return "%.0f ms without a call, else %.0f ms" % tuple(1e3 * time for time in cut(pair))


def the_first_cable_is_cut_under_load():
    return _told(0)


def the_second_cable_is_cut_under_load():
    return _told(1)


CASES = (the_first_cable_is_cut_under_load, the_second_cable_is_cut_under_load)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
