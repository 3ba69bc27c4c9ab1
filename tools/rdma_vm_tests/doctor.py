# SPDX-License-Identifier: Apache-2.0
"""tools/doctor finds what is amiss, on one host and between two."""

import glob
import json
import os
import subprocess
import sys
import time

import peers
import suite
from guest import A, B, DRIVER, Host, Trouble, on_nodes, run
from reasons import LOW_MEMLOCK

PORT = 18600
LIMIT = 120
# A first look at devices and a hello take longer than usual where the machine is busy.
_PATIENT = ("env", "FARCALL_LINK_PROBE_TIMEOUT=30s", "FARCALL_LINK_HELLO_TIMEOUT=20s")


def _doctor(host, *flags, before=()):
    path = os.path.join(peers.BIN[0], "tools/doctor/doctor")
    return host.inside(*_PATIENT, *before, path, "--seconds=0.2", *flags)


def _report(host, code, *flags, before=()):
    """The report as JSON; its exit status is one of `code`."""
    done = subprocess.run(
        _doctor(host, "--json", *flags, before=before), stdin=subprocess.DEVNULL,
        capture_output=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    said = done.stdout.decode(errors="replace")
    err = done.stderr.decode(errors="replace")
    if done.returncode not in code:
        raise Trouble("exit status %d, not of %s: %s %s" % (done.returncode, code, said, err))
    return json.loads(said)


def _verdict(report, check, subject=""):
    found = [f for f in report["findings"] if f["check"] == check and f["subject"] == subject]
    suite.check(found, "there is no finding %s of %s: %s" % (check, subject, report))
    return found[0]


def _failed(report, check, subject="", text=""):
    finding = _verdict(report, check, subject)
    suite.check(finding["verdict"] == "failed" and text in json.dumps(finding), str(finding))
    suite.check(finding["meaning"] and finding["cure"], "no meaning or no cure: %s" % finding)


def a_host_that_can():
    report = _report(A, (0,))
    suite.check(report["reason"] == "in_use", str(report))
    for check, subject in (("libraries", ""), ("rdma_cm", ""), ("memlock", ""), ("namespace", ""),
                           ("device files", A.device()), ("port", A.device()),
                           ("gid", A.device()), ("loopback", A.device())):  # fmt: skip
        finding = _verdict(report, check, subject)
        suite.check(finding["verdict"] == "ok", str(finding))
    suite.check(_verdict(report, "device", B.device())["verdict"] == "ok", "rdmaB is not ours")
    if DRIVER == "rxe":
        used = [gid for gid in report["gids"] if gid["used"]]
        suite.check([gid["address"] for gid in used] == [A.address()], str(report["gids"]))
    return report["summary"]


def memlock_too_low():
    report = _report(A, (2,), before=LOW_MEMLOCK)
    _failed(report, "memlock", text="RLIMIT_MEMLOCK is 1 MiB")


def no_right_to_the_device():
    devices = glob.glob("/dev/infiniband/uverbs*")
    for device in devices:
        os.chmod(device, 0o600)
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    try:
        report = _report(A, (2,), before=nobody)
    finally:
        for device in devices:
            os.chmod(device, 0o666)
    suite.check(report["reason"] == "device_not_permitted", str(report))
    _failed(report, "device files", A.device(), "0600 root root")


def another_namespace():
    """As in a pod that was given the device and no interface of it."""
    pod = Host("A")
    pod.name = "pod"
    run("ip", "netns", "add", "pod")
    over_tcp = DRIVER == "rxe"
    try:
        pod.run("ip", "link", "set", "lo", "up")
        report = _report(pod, (0, 1) if over_tcp else (2,))
    finally:
        run("ip", "netns", "delete", "pod")
    suite.check(report["reason"] == ("in_use" if over_tcp else "no_address"), str(report))
    if over_tcp:
        gid = _verdict(report, "gid", A.device())
        suite.check(gid["verdict"] == "ok" and "set up over TCP" in gid["finding"], str(gid))
        suite.check(_verdict(report, "loopback", A.device())["verdict"] == "ok", str(report))
    else:
        _failed(report, "gid", A.device(), "no_address")


def a_rail_that_lost_its_address():
    """A second device whose interface is here, and has no address: it is not passed over."""
    rail = "rdmaRail"
    A.run("ip", "link", "add", "rail", "type", "veth", "peer", "name", "railEnd")
    try:
        for end in ("rail", "railEnd"):
            A.run("ip", "link", "set", end, "up")
        A.run("rdma", "link", "add", rail, "type", DRIVER, "netdev", "rail")
        end = time.monotonic() + 60
        while not _is_active(rail):
            suite.check(time.monotonic() < end, "%s does not become active" % rail)
            time.sleep(0.05)
        report = _report(A, (1,))
        A.remove_device(name=rail)
    finally:
        A.run("ip", "link", "delete", "rail")
    suite.check(_verdict(report, "port", rail)["verdict"] == "ok", str(report))
    if DRIVER == "rxe":
        gid = _verdict(report, "gid", rail)
        suite.check(gid["verdict"] == "degraded" and "same Ethernet" in gid["meaning"], str(gid))
    else:
        _failed(report, "gid", rail, "no_address")
    suite.check(_verdict(report, "loopback", A.device())["verdict"] == "ok", str(report))


def loops_on_another_node_than_the_adapter():
    seen = on_nodes(**{A.device(): 1})
    report = _report(A, (0, 1), before=("env", "FARCALL_CPUS=0", *seen))
    loops = _verdict(report, "event loops")
    suite.check(loops["verdict"] == "degraded" and "FARCALL_CPUS" in loops["cure"], str(loops))
    report = _report(A, (0, 1), before=("env", "FARCALL_CPUS=1", *seen))
    suite.check(_verdict(report, "event loops")["verdict"] == "ok", str(report))
    return loops["finding"]


def no_library():
    path = glob.glob("/usr/lib/*/libibverbs.so.1")[0]
    hide = ("bash", "-c", 'mount --bind /dev/null %s && exec "$@"' % path, "hide")
    report = _report(A, (2,), before=hide)
    suite.check(report["reason"] == "no_library", str(report))
    _failed(report, "libraries", text="ibverbs-providers")


def _is_active(device):
    with open("/sys/class/infiniband/%s/ports/1/state" % device, encoding="ascii") as state:
        return "ACTIVE" in state.read()


class _Serving:
    """A doctor that serves on a host."""

    def __init__(self, host=B, *flags):
        self._words = _doctor(host, "--serve", "--quiet", *flags)

    def __enter__(self):
        self._process = subprocess.Popen(
            self._words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        for line in self._process.stdout:
            if line.startswith(b"serving on "):
                return self
        raise Trouble("the doctor has ended: %s" % self._words)

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(20)
        self._process.stdout.close()


def both_ends():
    with _Serving():
        report = _report(A, (0, 1), "--peer=" + B.address())
    peer = report["peer"]
    suite.check(peer["reason"] == "in_use", str(peer))
    rows = {row["what"]: row for row in peer["rows"]}
    for what in ("raw verbs", "farcall over rdma", "farcall over tcp"):
        row = rows[what]
        suite.check(not row["trouble"] and row["p50_us"] > 0 and row["p99_us"] >= row["p50_us"]
                    and row["bytes_per_second"] > 0, str(peer))  # fmt: skip
    suite.check(rows["raw verbs"]["by"] == A.device(), str(peer))
    return "; ".join("%s %.0f us %.0f MB/s" % (w, r["p50_us"], r["bytes_per_second"] / 1e6)
                     for w, r in rows.items())  # fmt: skip


def a_cluster():
    """Each host measures against the other, and one is not there."""
    leave = "--measure=%s/24" % B.address()
    absent = "10.9.0.99"
    with _Serving(A, leave), _Serving(B, leave):
        hosts = ",".join((A.address(), B.address(), absent))
        report = _report(A, (1,), "--cluster=" + hosts)
    suite.check(report["nodes"][2]["trouble"], str(report["nodes"]))
    suite.check([(p["from"], p["to"]) for p in report["paths"]] == [(0, 1), (1, 0)], str(report))
    for path in report["paths"]:
        suite.check([row["what"] for row in path["rows"]] == [
            "raw verbs", "farcall over rdma", "farcall over tcp"], str(path))  # fmt: skip
        for row in path["rows"]:
            suite.check(not row["trouble"] and row["p50_us"] > 0 and row["bytes_per_second"] > 0,
                        str(path))  # fmt: skip
        device = (A, B)[path["from"]].device()
        suite.check(path["rows"][0]["by"] == path["rows"][1]["by"] == device, str(path))
    suite.check(len(report["matrices"]) == 6, str(report["matrices"]))
    return "; ".join("%s %.0f" % (m["what"], m["expected"]) for m in report["matrices"][::2])


def nobody_serves():
    report = _report(A, (1,), "--peer=" + B.address())
    finding = _verdict(report, "peer", B.address())
    suite.check(finding["verdict"] == "degraded" and "doctor --serve" in finding["cure"],
                str(finding))  # fmt: skip


def link_down():
    """The last: rxe takes no connections afterwards."""
    A.run("ip", "link", "set", A.cable(), "down")
    time.sleep(0.2)  # until the device has heard of it
    report = _report(A, (2,))
    _failed(report, "port", A.device(), "no_active_port")


CASES = (
    a_host_that_can,
    memlock_too_low,
    no_right_to_the_device,
    another_namespace,
    a_rail_that_lost_its_address,
    # siw, not known as software, would be an adapter with a strange GID.
    *((loops_on_another_node_than_the_adapter,) if DRIVER == "rxe" else ()),
    no_library,
    both_ends,
    a_cluster,
    nobody_serves,
    link_down,
)

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
