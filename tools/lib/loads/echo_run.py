# SPDX-License-Identifier: Apache-2.0
"""One measurement: a fresh server, a client that puts the load on, its report."""

import dataclasses
import os

from places.children import ChildFailed, Server, pinned, run_client

# Relative to bazel-bin.
BINARIES = {
    "farcall": "benchmarks/echo/echo_bench",
    "pool": "benchmarks/echo/echo_bench",
    "grpc": "benchmarks/grpc_echo/grpc_echo",
    "raw": "benchmarks/raw_echo/raw_echo",
}


@dataclasses.dataclass(frozen=True)
class Setting:
    """What all measurements of a run have in common."""

    bin_dir: str
    seconds: float = 1.0  # measured in each
    warmup: float = 0.2
    connections: int = 1
    threads: int = 1  # of each side
    server_cores: tuple = ()  # empty: not pinned
    client_cores: tuple = ()
    use_rdma: bool = False
    # More flags of farcall's server, and of its client.
    farcall_flags: tuple = ()
    farcall_client_flags: tuple = ()
    raw_client_flags: tuple = ()


def server_command(setting, variant, way):
    command = [
        os.path.join(setting.bin_dir, BINARIES[variant.system]),
        "--listen=127.0.0.1:0",
        "--polling=" + variant.polling,
        "--threads=%d" % setting.threads,
        "--exit_with_stdin",
    ]
    if way != "echo":
        command.append("--way=" + way)
    if variant.system in ("farcall", "pool"):
        command += setting.farcall_flags
        if variant.system == "pool":
            command.append("--handlers_on_pool")
        if setting.use_rdma:
            command.append("--use_rdma")
    return pinned(command, setting.server_cores)


def client_command(setting, variant, cell, address):
    command = [
        os.path.join(setting.bin_dir, BINARIES[variant.system]),
        "--server=" + address,
        "--payload=%d" % cell.payload,
        "--attachment=%d" % cell.attachment,
        "--in_flight=%d" % cell.in_flight,
        "--connections=%d" % setting.connections,
        "--threads=%d" % setting.threads,
        "--seconds=%g" % setting.seconds,
        "--warmup=%g" % setting.warmup,
        "--polling=" + variant.polling,
        "--json=-",
    ]
    if cell.way != "echo":
        command.append("--way=" + cell.way)
    if variant.system == "farcall":
        command += setting.farcall_client_flags
        if setting.use_rdma:
            command.append("--use_rdma")
    if variant.system == "raw":
        command += setting.raw_client_flags
    # Bare sockets always wait, or spin.
    if variant.system != "raw" and cell.synchronous:
        command.append("--synchronous")
    return pinned(command, setting.client_cores)


def start_server(setting, variant, way="echo"):
    """A server for a `with`. `way`: of the loads that it is for (Cell)."""
    return Server("%s's server" % variant.system, server_command(setting, variant, way))


def put_load(setting, variant, cell, server):
    """Puts one load on a server that runs; returns the client's report as a dict."""
    name = "%s's client (%s)" % (variant.system, cell)
    command = client_command(setting, variant, cell, server.address)
    # Beyond the load itself: to connect, and to end calls that are under way.
    report = run_client(name, command, setting.seconds + setting.warmup + 30, server)
    server.check()
    if report.get("errors"):
        what = "reports %s errors, the first: %s" % (report["errors"], report.get("first_error"))
        raise ChildFailed(name, command, what, "")
    if not report.get("calls"):
        raise ChildFailed(name, command, "reports no call in %g s" % setting.seconds, "")
    # farcall's client does not know where its server runs handlers.
    return dict(report, system="pool") if variant.system == "pool" else report


def measure(setting, variant, cell):
    """One load on a server of its own."""
    with start_server(setting, variant, cell.way) as server:
        return put_load(setting, variant, cell, server)
