# SPDX-License-Identifier: Apache-2.0
"""Where RDMA cannot be had, the calls travel over TCP and the reason is told."""

import glob
import os

import suite
from counters import Seen
from guest import A, B, FIRST_DRIVER
from peers import Client, Server

SIZE = 100000
# Room for small things, none for the pool. Root may lock without limit by CAP_IPC_LOCK.
LOW = 1 << 20
LOW_MEMLOCK = (
    "prlimit", "--memlock=%d:%d" % (LOW, LOW),
    "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock",
)  # fmt: skip


def _by_tcp(why, server=(), client=(), server_before=(), client_before=()):
    """Calls succeed, over TCP, and the client tells why; returns its state."""
    with Server(B, *server, before=server_before) as serving, Client(
        A, B.address(), *client, before=client_before
    ) as calling:
        state = calling.wait_for(why)
        seen = Seen(A)
        calling.calls(10, SIZE, 2)
        seen.check_tcp(2 * 10 * SIZE)
        state = calling.wait_for(why)
        serving.check()
        return state


def server_without_rdma():
    _by_tcp("peer_off", server=("--nouse_rdma",))


def client_without_rdma():
    _by_tcp("not_asked", client=("--nouse_rdma",))


def client_memlock_too_low():
    state = _by_tcp("memlock", client_before=LOW_MEMLOCK)
    suite.check(_names_number(state["detail"], LOW), "the limit is not named: %s" % state)


def _names_number(text, limit):
    """The limit that was found, in bytes, KiB or MiB."""
    plain = text.replace(",", "")
    return any(str(limit >> shift) in plain for shift in (0, 10, 20))


def server_memlock_too_low():
    state = _by_tcp("peer_has_none", server_before=LOW_MEMLOCK)
    suite.check("memlock" in state["detail"] or "lock" in state["detail"],
                "the server's reason is not told: %s" % state)  # fmt: skip


def client_device_filter():
    state = _by_tcp("device_excluded", client=("--devices=mlx5_0,nosuch",))
    suite.check("nosuch" in state["detail"], "the filter is not told: %s" % state)


def server_device_filter():
    _by_tcp("peer_has_none", server=("--devices=nosuch",))


def _hiding(library):
    """In the mount namespace that `ip netns exec` gives each process."""
    path = glob.glob("/usr/lib/*/" + library)[0]
    return ("bash", "-c", 'mount --bind /dev/null %s && exec "$@"' % path, "hide")


def client_without_library():
    _by_tcp("no_library", client_before=_hiding("libibverbs.so.1"))


def server_without_library():
    _by_tcp("peer_has_none", server_before=_hiding("librdmacm.so.1"))


def device_not_permitted():
    devices = glob.glob("/dev/infiniband/uverbs*")
    for device in devices:
        os.chmod(device, 0o600)
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    try:
        _by_tcp("device_not_permitted", client_before=nobody)
    finally:
        for device in devices:
            os.chmod(device, 0o666)


def required_and_refused():
    """Calls fail rather than travel over TCP, and say so."""
    with Server(B, "--nouse_rdma"), Client(A, B.address(), "--require_rdma") as client:
        state = client.wait_for("failed")
        suite.check("RDMA" in state["detail"] or "rdma" in state["detail"],
                    "the error does not name RDMA: %s" % state)  # fmt: skip


def required_and_there():
    with Server(B, "--require_rdma") as server, Client(
        A, B.address(), "--require_rdma"
    ) as client:
        client.wait_for("rdma")
        counts = client.calls(20, SIZE, 2)
        suite.check(counts["tcp"] == "0", "calls went over TCP: %s" % counts)
        server.check()


def no_device():
    hosts = (A, B)
    for host in hosts:
        host.remove_device()
    try:
        _by_tcp("no_device")
    finally:
        for host in hosts:
            host.add_device()


def and_with_everything_in_place_by_rdma():
    """After all that the same machine does it."""
    with Server(B) as server, Client(A, B.address()) as client:
        client.wait_for("rdma")
        client.calls(10, SIZE, 2)
        server.check()


CASES = (required_and_there, no_device, and_with_everything_in_place_by_rdma)
# Of files, limits and options.
if FIRST_DRIVER:
    CASES = (
        server_without_rdma,
        client_without_rdma,
        client_memlock_too_low,
        server_memlock_too_low,
        client_device_filter,
        server_device_filter,
        client_without_library,
        server_without_library,
        device_not_permitted,
        required_and_refused,
    ) + CASES
