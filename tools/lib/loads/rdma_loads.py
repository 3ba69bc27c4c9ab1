# SPDX-License-Identifier: Apache-2.0
"""What tools/bench --rdma measures: steps for a place, and their order."""

from loads.cells import Cell
from loads.perftest import Perftest
from places.vm_run import VM, echo_step, peer_step

KIB = 1 << 10
MIB = 1 << 20
# What is held against what: see rdma_ratios.py, which knows these names.
PERFTESTS = {
    "lat_32": Perftest("ib_send_lat", 32, 2000),
    "bw_32": Perftest("ib_send_bw", 32, 20000),
    "bw_64k": Perftest("ib_send_bw", 65536, 2000),
    "read_64k": Perftest("ib_read_bw", 64 * KIB, 2000),
    "read_1m": Perftest("ib_read_bw", MIB, 125),
}
# cell, polling, whether it is a put
LOADS = {
    "one": (Cell(32, 0, 1), "busy", False),
    "many": (Cell(32, 0, 64), "busy", False),
    "put": (Cell(32, MIB, 8), "busy", True),
}
# With a rail over each of the two cables. The processors are the limit there, so these tell what
# rails cost, not what cables they fill.
RAILS = ("one", "put")
# Into memory of the server's program, and from there into memory of the client's.
STORE = {
    way + name: Cell(32, size, in_flight, way=way)
    for way in ("put", "get")
    for name, size, in_flight in (("_4k", 4 * KIB, 32), ("_64k", 64 * KIB, 8), ("_1m", MIB, 8))
}
# On brpc's wire, which iWARP cannot carry: farcall with itself, and with a peer that shares no code
# with it, which is in Python and slow.
BRPC = {"one": Cell(32, 0, 1), "some": Cell(32, 0, 32)}
BRPC_CALLERS = ("farcall", "peer")


def steps_of_round(options, between=None):
    """(name, step) of each measurement. Rails want two cables."""
    place = between.place if between else VM
    missing = between.missing if between else ()
    steps = [
        (name, test.step(place)) for name, test in PERFTESTS.items() if test.program not in missing
    ]
    for name, (cell, polling, put) in LOADS.items():
        for transport in ("rdma", "tcp"):
            step = echo_step(
                options.bin, cell, polling, transport == "rdma",
                options.seconds, options.warmup, put=put, place=place,
            )  # fmt: skip
            steps.append(("%s_%s" % (name, transport), step))
    for name in RAILS if not between or between.rails > 1 else ():
        cell, polling, put = LOADS[name]
        step = echo_step(
            options.bin, cell, polling, True, options.seconds, options.warmup, put=put, rails=True,
            place=place,
        )  # fmt: skip
        steps.append((name + "_rails_rdma", step))
    steps += store_steps(options, place)
    # Their peer is in Python: nothing to measure adapters by.
    if options.driver == "rxe":
        steps += brpc_steps(options)
    return steps


def store_steps(options, place):
    """By default, and by RDMA READ where the values are large enough."""
    steps = []
    for name, cell in STORE.items():
        for how, reads in (("", False), ("_read", True)):
            if reads and cell.attachment < 64 * KIB:
                continue
            step = echo_step(
                options.bin, cell, "busy", True, options.seconds, options.warmup, reads=reads,
                place=place,
            )  # fmt: skip
            steps.append((name + how + "_rdma", step))
    return steps


def brpc_steps(options):
    steps = []
    for name, cell in BRPC.items():
        step = echo_step(
            options.bin, cell, "busy", True, options.seconds, options.warmup, brpc=True, gate=True
        )
        steps.append((name + "_brpc_rdma", step))
        for caller in BRPC_CALLERS:
            step = peer_step(options.bin, cell, caller, options.seconds, options.warmup)
            steps.append(("%s_brpc_%s_calls_rdma" % (name, caller), step))
    return steps


def plan(options, between=None):
    """(round, name, step) in order: every other round goes the other way round, so that
    nothing always comes after the same other thing."""
    order = steps_of_round(options, between)
    planned = []
    for number in range(1, options.rounds + 1):
        for name, step in order if number % 2 else order[::-1]:
            planned.append((number, name, step))
    return planned
