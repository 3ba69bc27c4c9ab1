# SPDX-License-Identifier: Apache-2.0
"""Mutants of the place of requests: each has one rule changed, and the simulation must see it."""

load("//tools/mutants:mutants.bzl", "mutants")

# Name, source, and what is replaced in it by what. Each text must be there exactly once.
_MUTANTS = [
    ("gives_back_what_a_device_writes_to", "request_place.cc", {
        " || holds_ > 0 || ": " || ",
    }),
    ("waits_for_who_is_not_asked_any_more", "request_place.cc", {
        "if (!answer_comes) asked_ = false;": "",
    }),
    ("is_due_before_it_is_whole", "request_place.cc", {
        "!(whole_ || failed_)": "false",
    }),
    ("leaves_bytes_where_they_came", "request_place.cc", {
        "Buffer landed = memory_.Gather(came, copied);": "Buffer landed = came.Share();",
    }),
    ("forgets_who_comes_late", "server_frame_placing.cc", {
        "answer.ended(absl::CancelledError(\"the request was over before its place was said\"));": "",
    }),
    ("does_not_tell_the_end", "server_frame_placing.cc", {
        "if (!ended) return;": "if (!ended || !how.ok()) return;",
    }),
    ("tells_ok_of_what_failed", "server_frame_placing.cc", {
        "place.failed() ? placing_->why : how": "absl::OkStatus()",
    }),
    ("goes_on_without_enough_room", "server_frame_placing.cc", {
        "room > 0 && room < place.attachment()": "room > place.attachment() + 1000",
    }),
    ("asks_without_the_interceptors", "server_frame_placing.cc", {
        "if (!MayBeAsked(attachment)) return;": "MayBeAsked(attachment);",
    }),
    ("does_not_give_up_what_is_claimed", "server_frame_placing.cc", {
        "placing_->place.Fail(/*answer_comes=*/!withdrawn);": "",
    }),
    ("lends_a_byte_too_far", "front_request.cc", {
        "call_->PlaceFor(part.offset, part.bytes)": "call_->PlaceFor(part.offset > 0 ? part.offset - 1 : 0, part.bytes)",
    }),
    ("stays_stopped_when_its_time_is_over", "server_frame_placing.cc", {
        "    session()->SetBusy(false);\n    RunIfDue();\n": "    RunIfDue();\n",
    }),
]

def placing_mutants():
    """A test for each mutant. It passes if the simulation finds a violation in it."""
    mutants(
        name = "placing_mutants",
        mutants = _MUTANTS,
        deps = [
            ":server",
            "//rpc/session/server/testing:placing_mutant_main",
        ],
    )
