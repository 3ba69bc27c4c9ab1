# SPDX-License-Identifier: Apache-2.0
"""Mutants of brpc's handshake in a link: each has one rule changed, and the simulation must see."""

load("//tools/mutants:mutants.bzl", "mutants")

# Name, source, and what is replaced in it by what. Each text must be there exactly once.
_MUTANTS = [
    ("sends_before_the_decision_has_come", "brpc_client_handshake.cc", {
        "came_ = parts_.tcp.backlog() == 0 && parts_.tcp.unacknowledged() == 0;": "came_ = true;",
    }),
    ("decides_though_it_did_not_join", "brpc_client_handshake.cc", {
        "if (!joined.ok()) return Fail(joined);": "",
    }),
    ("waits_for_ever_for_an_answer", "brpc_client_handshake.cc", {
        "return StartTimer(std::max(options.hello_timeout, options.busy_hello_timeout));":
            "return StartTimer(1000 * options.hello_timeout);",
    }),
    ("opens_before_the_decision", "brpc_server_handshake.cc", {
        "    SayAnswer(machine_.Accept(*made));":
            "    SayAnswer(machine_.Accept(*made));\n    Open();",
    }),
    ("keeps_the_queue_pair_of_who_stays_on_tcp", "brpc_server_handshake.cc", {
        "    pair_.reset();\n    Done({.kind = Handshaken::Kind::kPlain,":
            "    Done({.kind = Handshaken::Kind::kPlain,",
    }),
    ("does_not_read_on_behind_its_answer", "brpc_server_handshake.cc", {
        "    Refuse(made.status());\n  }\n  parts_.tcp.ResumeRead();":
            "    Refuse(made.status());\n  }",
    }),
    ("waits_for_ever_for_a_decision", "brpc_server_handshake.cc", {
        "  Say(bytes);\n  StartTimer(parts_.settings->options.upgrade.dial);":
            "  Say(bytes);\n  StartTimer(1000 * parts_.settings->options.upgrade.dial);",
    }),
    ("does_not_end_with_its_sign_of_life", "brpc_stream.cc", {
        "  parts_.pair->EndOfPeer();": "",
    }),
    ("lets_bytes_on_tcp_pass", "brpc_stream.cc", {
        "  parts_.rdma->Close(breach, CloseMode::kAbort);": "",
    }),
    ("does_not_remember_who_refused", "link_connector.cc", {
        "  if (spoilt) {": "  if (false) {",
    }),
    ("goes_on_where_it_was_refused", "link_connector.cc", {
        "const bool spoilt = kind != Handshaken::Kind::kBrpc && kind != Handshaken::Kind::kPlain;":
            "const bool spoilt = false;",
    }),
    ("says_brpcs_hello_to_all", "link_connector.cc", {
        "settings_->record->KnownNoHello(peer) &&": "",
    }),
]

_ROOMS = {
    "brpc_client_handshake.cc": "//transport/link/connection",
    "brpc_server_handshake.cc": "//transport/link/connection",
    "brpc_stream.cc": "//transport/link/connection",
    "link_connector.cc": "//transport/link",
}

def brpc_mutants():
    """A test for each mutant. It passes if the simulation finds a violation in it."""
    mutants(
        name = "brpc_link_mutants",
        mutants = _MUTANTS,
        packages = _ROOMS,
        deps = [
            ":brpc_sim_mutant_main",
            "//transport/link",
            "//transport/link/connection",
        ],
    )
