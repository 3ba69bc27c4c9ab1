# SPDX-License-Identifier: Apache-2.0
"""Steps between two hosts or two pods, in place of the emulated machine of vm_run.py."""

import dataclasses

from places import end_facts, guest_steps, two_ends
from places.vm_run import Place, output_of, planned

# Seconds for a server there to end, once it was told to.
_END_LIMIT = 5
# What does not start ends with 126 or 127; Abseil's --help ends with 1.
_STARTS = '"$0" --help >/dev/null; [ $? -lt 126 ]'
_HELP = "%s does not start on %s: %s\n  cure: Debian 12 there, with the libraries of "
_HELP += "k8s/Dockerfile; or install it there yourself and say --installed"


@dataclasses.dataclass(frozen=True)
class Between:
    """What is known of both before the first step."""

    facts: dict  # of "A" and "B"
    place: Place
    missing: tuple  # peers that one of both lacks
    rails: int  # that both have

    def text(self):
        lines = ["client on " + self.facts["A"].text(), "server on " + self.facts["B"].text()]
        lines.append("server at %s, core %d; client on core %d" % (
            self.place.address, *self.place.cores["B"], *self.place.cores["A"]))  # fmt: skip
        return "\n".join(lines)


def _need_start(ends, end, program):
    words = ["sh", "-c", _STARTS, ends.program(end, program)]
    try:
        two_ends.run(ends.name(end), ends.inside(end, words))
    except two_ends.ChildFailed as failed:
        why = str(failed).splitlines()[-1].strip()
        raise two_ends.Unfit(_HELP % (program, ends.name(end), why)) from None


def facts_of(ends, end, programs, devices, peers=()):
    """What there is; the programs start there. `peers`: those that may be missing."""
    name = ends.name(end)
    text = two_ends.run(name, ends.inside(end, end_facts.command(peers)))
    facts = end_facts.parse(name, text, devices)
    if devices and not facts.ports:
        raise two_ends.Unfit("%s has no active RDMA port of %s" % (name, ", ".join(devices)))
    for program in programs:
        _need_start(ends, end, program)
    return facts


def settings_of(devices):
    return ("FARCALL_RDMA_DEVICES=" + ",".join(devices),) if devices else ()


def look(ends, options, peers):
    """What is at both ends, and how the steps of tools/bench --rdma are made for them."""
    names = dict(zip("AB", options.devices))
    facts = {end: facts_of(ends, end, ["echo-bench"], names[end], peers) for end in "AB"}
    for each in facts.values():
        if not each.ports:
            raise two_ends.Unfit("%s has no active RDMA port; cure: docs/doctor.md" % each.name)
    first = {end: facts[end].ports[0].device for end in "AB"}
    address = options.address or ends.address() or facts["B"].first_address()
    if not address:
        why = "%s of %s has no IPv4 address among its GIDs" % (first["B"], facts["B"].name)
        raise two_ends.Unfit(why + "; cure: --address, that of its interface")
    place = Place(
        address,
        {end: settings_of(names[end]) for end in "AB"},
        {"A": [facts["A"].core(first["A"])], "B": [facts["B"].core(first["B"], others=1)]},
        {end: ("-d", first[end], *options.perftest_flags) for end in "AB"},
        {end: ends.program(end, "echo-bench") for end in "AB"},
        go_on=True,
    )
    there = set(facts["A"].programs) & set(facts["B"].programs)
    missing = tuple(peer for peer in peers if peer not in there)
    return Between(facts, place, missing, min(len(facts[end].ports) for end in "AB"))


def run_steps(steps, ends, place):
    """As vm_run.run_steps."""

    def inside(host, words):
        return ends.inside(host.removeprefix("host"), words)

    for step in steps:
        plan = planned(step, place)
        plan["server"] = two_ends.server(plan["server"])
        plan["client"] = two_ends.client(plan["client"], step.limit)
        # It is ended there, by timeout(1); this is for what that does not reach.
        plan["limit"] = step.limit + 30
        yield step, output_of(step, guest_steps.perform(plan, inside, _END_LIMIT), "")
