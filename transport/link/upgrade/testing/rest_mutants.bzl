# SPDX-License-Identifier: Apache-2.0
"""Mutants of the rests of rails: each has one rule changed, and the simulation must see it."""

load("//tools/mutants:mutants.bzl", "mutants")

# Name, source, and what is replaced in it by what. Each text must be there exactly once.
_MUTANTS = [
    ("never_rests", "rail_rest.cc", {
        "record.end = now + record.rest;": "",
    }),
    ("takes_all_rails_for_one", "rail_rest.cc", {
        "return one.rail == rail;": "return !one.rail.empty() || !rail.empty();",
    }),
    ("counts_old_errors", "rail_rest.cc", {
        "return now - error >= kWithin;": "return now < error;",
    }),
    ("rests_at_the_fourth_error", "rail_rest.cc", {
        "record.errors.size() < kErrors": "record.errors.size() <= kErrors",
    }),
    ("counts_what_it_has_rested_for", "rail_rest.cc", {
        "record.errors.clear();": "",
    }),
    ("rests_no_longer_the_next_time", "rail_rest.cc", {
        "std::min(2 * record.rest, longest_)": "record.rest",
    }),
    ("rests_ever_longer", "rail_rest.cc", {
        "std::min(2 * record.rest, longest_)": "2 * record.rest",
    }),
    ("never_begins_anew", "rail_rest.cc", {
        " && now - record.end < longest_": "",
    }),
    ("rests_the_only_one", "rail_rest.cc", {
        "ready == 0 || missing == 0": "missing == 0",
    }),
    ("waits_for_all_that_rest", "rail_rest.cc", {
        "return ends[ends.size() - missing];": "return ends.back();",
    }),
    ("waits_for_the_first_that_rests", "rail_rest.cc", {
        "return ends[ends.size() - missing];": "return ends.front();",
    }),
    ("forgets_which_rail_broke", "client_upgrade_machine.cc", {
        "rest_.OnError(lost->rail, now);": "rest_.OnError(\"\", now);",
    }),
]

def rest_mutants():
    """A test for each mutant. It passes if the simulation finds a violation in it."""
    mutants(
        name = "rest_mutants",
        mutants = _MUTANTS,
        deps = [
            ":upgrade",
            "//transport/link/upgrade/testing:rest_mutant_main",
        ],
    )
