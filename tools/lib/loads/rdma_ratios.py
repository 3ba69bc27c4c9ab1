# SPDX-License-Identifier: Apache-2.0
"""The tables of tools/bench --rdma: rows are {"round", "name", numbers}."""

import dataclasses

from console.table import Table
from console.units import number
from loads.spread import median, ratio

# Of the echo benchmark's report.
MEASURED = ("qps", "p50_us", "p99_us", "mb_per_s", "client_cpu_us", "server_cpu_us")

TITLES = {
    "lat_32": "ib_send_lat, 32 B",
    "bw_32": "ib_send_bw, 32 B",
    "bw_64k": "ib_send_bw, 64 KiB",
    "read_64k": "ib_read_bw, 64 KiB",
    "read_1m": "ib_read_bw, 1 MiB",
    "one_rdma": "farcall, 32 B x 1, RDMA",
    "one_tcp": "farcall, 32 B x 1, TCP",
    "many_rdma": "farcall, 32 B x 64, RDMA",
    "many_tcp": "farcall, 32 B x 64, TCP",
    "put_rdma": "farcall, put of 1 MiB x 8, RDMA",
    "put_tcp": "farcall, put of 1 MiB x 8, TCP",
    "one_rails_rdma": "farcall, 32 B x 1, RDMA over two cables",
    "put_rails_rdma": "farcall, put of 1 MiB x 8, RDMA over two cables",
    "put_4k_rdma": "farcall, into a service's memory, 4 KiB x 32",
    "put_64k_rdma": "farcall, into a service's memory, 64 KiB x 8",
    "put_64k_read_rdma": "the same by RDMA READ",
    "put_1m_rdma": "farcall, into a service's memory, 1 MiB x 8",
    "put_1m_read_rdma": "the same by RDMA READ",
    "get_4k_rdma": "farcall, from a service's memory, 4 KiB x 32",
    "get_64k_rdma": "farcall, from a service's memory, 64 KiB x 8",
    "get_64k_read_rdma": "the same by RDMA READ",
    "get_1m_rdma": "farcall, from a service's memory, 1 MiB x 8",
    "get_1m_read_rdma": "the same by RDMA READ",
    "one_brpc_rdma": "farcall, 32 B x 1, brpc's RDMA",
    "some_brpc_rdma": "farcall, 32 B x 32, brpc's RDMA",
    "one_brpc_farcall_calls_rdma": "farcall calls Python, 32 B x 1, brpc's RDMA",
    "some_brpc_farcall_calls_rdma": "farcall calls Python, 32 B x 32, brpc's RDMA",
    "one_brpc_peer_calls_rdma": "Python calls farcall, 32 B x 1, brpc's RDMA",
    "some_brpc_peer_calls_rdma": "Python calls farcall, 32 B x 32, brpc's RDMA",
}


@dataclasses.dataclass(frozen=True)
class Held:
    """One number over another, of the same round."""

    what: str
    over: tuple  # (name, key) that is measured
    under: tuple  # (name, key) that it is held against
    times: float = 1  # the denominator is so many of those
    aim: str = ""


HELD = (
    Held("one call's p50 / two ib_send_lat", ("one_rdma", "p50_us"), ("lat_32", "one_way_us"), 2,
         "at most 2"),
    Held("64 in flight: calls/s / messages/s of ib_send_bw", ("many_rdma", "qps"),
         ("bw_32", "messages_per_s"), 1, "above 1"),
    Held("put: MB/s / those of ib_send_bw", ("put_rdma", "mb_per_s"), ("bw_64k", "mb_per_s"), 1,
         "at least 0.85"),
    Held("RDMA / TCP: one call's p50", ("one_rdma", "p50_us"), ("one_tcp", "p50_us")),
    Held("RDMA / TCP: 64 in flight, calls/s", ("many_rdma", "qps"), ("many_tcp", "qps")),
    Held("RDMA / TCP: put, MB/s", ("put_rdma", "mb_per_s"), ("put_tcp", "mb_per_s")),
    Held("two rails / one: one call's p50", ("one_rails_rdma", "p50_us"), ("one_rdma", "p50_us")),
    Held("brpc's RDMA / farcall's: one call's p50", ("one_brpc_rdma", "p50_us"),
         ("one_rdma", "p50_us")),
    Held("two rails / one: put, MB/s", ("put_rails_rdma", "mb_per_s"), ("put_rdma", "mb_per_s")),
    *(
        Held("%s of %s by RDMA READ: MB/s / those of ib_read_bw" % (way, size),
             ("%s_%s_read_rdma" % (way, name), "mb_per_s"), ("read_" + name, "mb_per_s"))
        for way in ("put", "get")
        for name, size in (("64k", "64 KiB"), ("1m", "1 MiB"))
    ),
)  # fmt: skip


def by_round(rows, name, key, times=1):
    return {row["round"]: times * row[key] for row in rows if row["name"] == name}


def spread_of(rows, held):
    """Over the rounds, or None if no round has both."""
    return ratio(by_round(rows, *held.over), by_round(rows, *held.under, held.times))


def medians_table(rows):
    table = Table(("what", "per s", "one way\nus", "p50\nus", "p99\nus", "MB/s",
                   "client\nCPU us", "server\nCPU us"))  # fmt: skip
    for name, title in TITLES.items():
        mine = [row for row in rows if row["name"] == name]
        if not mine:
            continue
        cells = []
        for keys in (("qps", "messages_per_s"), ("one_way_us",), ("p50_us",), ("p99_us",),
                     ("mb_per_s",), ("client_cpu_us",), ("server_cpu_us",)):  # fmt: skip
            values = [row[key] for row in mine for key in keys if key in row]
            cells.append(number(median(values)) if values else "-")
        table.add(title, *cells)
    return table


def ratios_table(rows):
    table = Table(("ratio", "median", "least..most", "aim"))
    for held in HELD:
        spread = spread_of(rows, held)
        if spread is not None:
            between = "%s..%s" % (number(spread.least), number(spread.most))
            table.add(held.what, number(spread.median), between, held.aim)
    return table


def all_of(rows):
    """For the JSON."""
    found = []
    for held in HELD:
        spread = spread_of(rows, held)
        if spread is not None:
            found.append(
                {
                    "what": held.what,
                    "median": round(spread.median, 4),
                    "min": round(spread.least, 4),
                    "max": round(spread.most, 4),
                    "rounds": spread.rounds,
                    "aim": held.aim,
                }
            )
    return found


def text(rows):
    rounds = len({row["round"] for row in rows})
    parts = ["Medians of %d rounds:" % rounds, "", str(medians_table(rows))]
    parts += ["", "Ratios within a round:", "", str(ratios_table(rows))]
    return "\n".join(parts)
