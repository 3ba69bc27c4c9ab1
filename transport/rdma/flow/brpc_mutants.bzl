# SPDX-License-Identifier: Apache-2.0
"""Mutants of the credits of brpc's wire: each has one rule changed, and the simulation must see."""

load("//tools/mutants:mutants.bzl", "mutants")

# Name, source, and what is replaced in it by what. Each text must be there exactly once.
_MUTANTS = [
    ("keeps_nothing_for_bare_reports", "brpc_credits.cc", {
        "return least - BrpcEnd::kBareSlots;": "return least;",
    }),
    ("looks_at_its_own_sends_alone", "brpc_credits.cc", {
        "const uint32_t least = std::min(sends, receives);": "const uint32_t least = sends;",
    }),
    ("looks_at_receives_alone", "brpc_credits.cc", {
        "const uint32_t least = std::min(sends, receives);": "const uint32_t least = receives;",
    }),
    ("needs_no_credit", "brpc_credits.cc", {
        "std::min(credits_, slots_);": "slots_;",
    }),
    ("needs_no_slot", "brpc_credits.cc", {
        "std::min(credits_, slots_);": "credits_;",
    }),
    ("reports_at_once", "brpc_credits.cc", {
        "2 * due_ > peer_window_ &&": "due_ > 0 &&",
    }),
    ("reports_whole_windows", "brpc_credits.cc", {
        "2 * due_ > peer_window_ &&": "due_ > peer_window_ &&",
    }),
    ("counts_no_bare_reports", "brpc_credits.cc", {
        "std::copy(bare_seqs_": "bare = 0;\n  std::copy(bare_seqs_",
    }),
    ("takes_a_credit_for_a_bare_report", "brpc_credits.cc", {
        "bare_seqs_[bare_++] = sent_;": "bare_seqs_[bare_++] = sent_;\n  --credits_;",
    }),
    ("does_not_mark_the_last_as_solicited", "brpc_credits.cc", {
        "end || unsolicited_ + 1": "unsolicited_ + 1",
    }),
    ("does_not_mark_bare_reports_as_solicited", "brpc_credits.cc", {
        "Plan(/*signaled=*/true, /*solicited=*/true)":
            "Plan(/*signaled=*/true, /*solicited=*/false)",
    }),
    ("does_not_signal_the_last", "brpc_credits.cc", {
        "Plan(end || sent_ + 1": "Plan(sent_ + 1",
    }),
    ("does_not_end_a_burst_with_the_budget", "brpc_credits.cc", {
        "last || budget == 1": "last",
    }),
    ("reports_what_did_not_come", "brpc_credits.cc", {
        ".report = due_,": ".report = due_ + 1,",
    }),
    ("frees_one_slot_for_a_completion", "brpc_credits.cc", {
        "slots_ += freed - bare;": "slots_ += freed > bare ? 1 : 0;",
    }),
    ("gives_credits_back_by_completions", "brpc_credits.cc", {
        "slots_ += freed - bare;": "slots_ += freed - bare;\n  credits_ += freed - bare;",
    }),
    ("compares_numbers_that_wrap", "brpc_credits.cc", {
        "return static_cast<int32_t>(a - b) > 0;": "return a > b;",
    }),
]

def brpc_mutants():
    """A test for each mutant. It passes if the simulation finds a violation in it."""
    mutants(
        name = "brpc_mutants",
        mutants = _MUTANTS,
        deps = [
            ":brpc_mutant_main",
            ":flow",
        ],
    )
