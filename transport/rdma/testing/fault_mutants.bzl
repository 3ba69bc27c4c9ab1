# SPDX-License-Identifier: Apache-2.0
"""Mutants of the RDMA transport: each has one rule changed, and the suites of faults must see it."""

load("//tools/mutants:mutants.bzl", "mutants")

# Name, source, and what is replaced in it by what. Each text must be there exactly once.
_MUTANTS = [
    ("ignores_failed_completions", "message_completions.cc", {
        "if (completion.status != IBV_WC_SUCCESS) OnError(completion);": "",
    }),
    ("does_not_tell_the_status", "pair_channel.cc", {
        "api_.ibv.wc_status_str(completion.status)": "\"failed\"",
    }),
    ("does_not_tell_what_failed", "connect_attempt.cc", {
        "SetUpError(pair_->end(), error)": "NotRdma(WhyNotRdma::kDeviceRefused, \"\")",
    }),
    ("ignores_a_failed_connect", "connect_attempt.cc", {
        "    case RDMA_CM_EVENT_CONNECT_ERROR:\n": "",
    }),
    ("gives_landed_memory_back_at_once", "message_channel_references.cc", {
        "  hold = user_->HoldPlace();": "  user_->HoldPlace();",
    }),
    ("gives_landed_memory_back_when_nobody_listens", "message_channel_references.cc", {
        "if (incoming_.reading() == 0 || !member_) EndReads();": "EndReads();",
    }),
    ("never_gives_landed_memory_back_unless_it_flushes", "message_channel.cc", {
        "  member_.reset();\n  EndReads();": "  member_.reset();",
    }),
    ("gives_sent_memory_back_before_it_is_closed", "message_channel_references.cc", {
        "    ++closing_;": "    ++closing_;\n    opened_[*window].Clear();",
    }),
    ("destroys_before_the_last_receive", "queue_pair.cc", {
        "if (!takes_shared_) Drain();": "Drain();",
    }),
]

# Where they are.
_ROOMS = {
    "connect_attempt.cc": "setup",
    "message_channel.cc": "channel",
    "message_channel_references.cc": "channel",
    "message_completions.cc": "channel",
    "pair_channel.cc": "channel",
    "queue_pair.cc": "host",
}

def fault_mutants():
    """A test for each mutant. It passes if the suites of faults find it."""
    mutants(
        name = "fault_mutants",
        mutants = _MUTANTS,
        packages = {src: "//transport/rdma/" + room for src, room in _ROOMS.items()},
        deps = [
            ":rdma",
            "//transport/rdma/testing:fault_mutant_main",
        ],
    )
