# SPDX-License-Identifier: Apache-2.0
"""Mutants of ReadChoice: each has one rule changed, and the simulation must see it."""

load("//tools/mutants:mutants.bzl", "mutants")

# Name, source, and what is replaced in it by what. Each text must be there exactly once.
_MUTANTS = [
    ("counts_pauses", "read_choice.cc", {
        "under_way_[kSend] + under_way_[kRead] == 0 && !waits_": "false",
    }),
    ("leaves_out_what_waits", "read_choice.cc", {
        "under_way_[kSend] + under_way_[kRead] == 0 && !waits_": "under_way_[kSend] + under_way_[kRead] == 0",
    }),
    ("counts_what_is_left_of_the_other_way", "read_choice.cc", {
        "way != way_ || under_way_[Other(way)] > 0": "false",
    }),
    ("takes_one_round", "read_choice.cc", {
        "agree == kRounds": "agree > 0",
    }),
    ("takes_reads_that_are_slower", "read_choice.cc", {
        "use_.send_rate / 100 * worth": "use_.send_rate / 100 * (worth - 45)",
    }),
    ("wants_reads_that_are_faster", "read_choice.cc", {
        "use_.send_rate / 100 * worth": "use_.send_rate / 100 * (worth + 55)",
    }),
    ("goes_to_and_fro", "read_choice.cc", {
        "reads_ ? kStillWorth : kWorth": "kWorth",
    }),
    ("compares_the_wrong_way", "read_choice.cc", {
        "use_.read_rate >=": "use_.read_rate <=",
    }),
    ("measures_once", "read_choice.cc", {
        "if (left_ == 0) Measure();": "",
    }),
    ("measures_all_the_time", "read_choice.cc", {
        "left_ = rest_;": "left_ = 1;",
    }),
    ("rests_no_longer_the_next_time", "read_choice.cc", {
        "std::min(2 * rest_, kLongestRest)": "rest_",
    }),
    ("keeps_old_rounds", "read_choice.cc", {
        "for_ = against_ = 0;": "",
    }),
    ("stays_with_what_it_measured_last", "read_choice.cc", {
        "GoOn(reads ? kRead : kSend);": "",
    }),
]

def read_choice_mutants():
    """A test for each mutant. It passes if the simulation finds a violation in it."""
    mutants(
        name = "read_choice_mutants",
        mutants = _MUTANTS,
        deps = [
            ":flow",
            "//transport/rdma/flow/testing:read_choice_mutant_main",
        ],
    )
