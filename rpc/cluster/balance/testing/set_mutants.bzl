# SPDX-License-Identifier: Apache-2.0
"""Mutants of the server set: each has one rule changed, and the simulation must see it."""

load("//tools/mutants:mutants.bzl", "mutants")

# Name, source, and what is replaced in it by what. Each text must be there exactly once.
_MUTANTS = [
    ("probes_without_pause", "health.cc", {
        "if (asked) probe_at_ = now + pause_.Next(random);": "if (asked) probe_at_ = now;",
    }),
    ("probes_twice_at_once", "health.cc", {
        "if (up_ || probing_ || now < probe_at_)": "if (up_ || now < probe_at_)",
    }),
    ("believes_old_answers", "health.cc", {
        "up_ || began <= fell_at_": "up_",
    }),
    ("never_comes_back", "health.cc", {
        "if (ok) return Return(now);": "",
    }),
    ("gives_calls_to_the_dead", "pool.cc", {
        "member.in_pool = member.live();": "member.in_pool = true;",
    }),
    ("prefers_the_unreachable", "pool.cc", {
        "member.in_pool = member.health.up() && ": "member.in_pool = !member.health.up() || ",
    }),
    ("breaks_all", "server_set.cc", {
        "|| !pool.one_more_may_break()": "",
    }),
    ("leaves_the_broken_alone_for_ever", "server_set.cc", {
        "now >= member.breaker.until()) Close(member, now);": "false) Close(member, now);",
    }),
    ("forgets_calls_that_are_ignored", "server_set.cc", {
        "  --member->in_flight;": "  if (outcome != Outcome::kIgnored) --member->in_flight;",
    }),
    ("removes_without_a_word", "server_set.cc", {
        "      change.removed.push_back(member.id);\n": "",
    }),
    ("tries_the_same_again", "balancer.cc", {
        "if (!Tried(index) && TakeIfNotSlow(index)) return index;":
            "if (TakeIfNotSlow(index)) return index;",
    }),
    ("forgets_weights", "balancer.cc", {
        "sum += static_cast<uint64_t>(members[index].node.weight);":
            "sum += members[index].id != 0;",
    }),
    ("takes_turns_regardless_of_weight", "weighted_round_robin.cc", {
        "kDistance / static_cast<uint64_t>(member.node.weight)":
            "kDistance - static_cast<uint64_t>(member.node.weight)",
    }),
    ("walks_on_to_the_dead", "consistent_hash.cc", {
        "!choice.members[index].in_pool || ": "",
    }),
    ("moves_all_codes", "consistent_hash.cc", {
        "{Mix(point, identity_[i]), i}": "{Mix(point, i), i}",
    }),
    ("retries_without_budget", "retry_budget.cc", {
        " > ratio_ * ": " > 10 + 10 * ratio_ * ",
    }),
]

# Where they are; the others are in //rpc/cluster/balance.
_IN_CLUSTER = ["server_set.cc", "retry_budget.cc"]

def set_mutants():
    """A test for each mutant. It passes if the simulation finds a violation in it."""
    mutants(
        name = "set_mutants",
        mutants = _MUTANTS,
        packages = {
            src: "//rpc/cluster" if src in _IN_CLUSTER else "//rpc/cluster/balance"
            for _, src, _ in _MUTANTS
        },
        deps = [
            ":set_mutant_main",
            "//rpc/cluster",
            "//rpc/cluster/balance",
            "@com_google_absl//absl/strings",
        ],
    )
