# SPDX-License-Identifier: Apache-2.0
"""What carried the calls, by the kernel's own counting: packets and bytes that netfilter
saw on a host, and the device's counters. farcall is not asked."""

import json
import os

from guest import DRIVER, HW_COUNTERS, Trouble, run
from peers import PORT

# RoCE v2 is UDP to this port.
_ROCE = 4791

_RULES = """
table inet farcall_seen {
  counter calls_tcp {}
  counter other_tcp {}
  counter roce {}
  chain in {
    type filter hook input priority 0;
    jump count
  }
  chain out {
    type filter hook output priority 0;
    jump count
  }
  chain count {
    udp dport %d counter name roce return
    tcp dport %d counter name calls_tcp return
    tcp sport %d counter name calls_tcp return
    meta l4proto tcp counter name other_tcp
  }
}
""" % (_ROCE, PORT, PORT)

# TCP segments of calls may be sent again, hellos and PINGs are small.
SLACK = 256 * 1024


def _device_counter(device, name):
    path = os.path.join(HW_COUNTERS % device, name)
    try:
        with open(path, encoding="ascii") as counter:
            return int(counter.read())
    except OSError:
        return 0  # siw counts nothing; and a device may have been removed


class Seen:
    """Bytes since it was made, both ways, on one host."""

    _counted = set()

    def __init__(self, host, pair=0):
        self._host = host
        self._device = host.device(pair)
        if host.name not in self._counted:
            run("modprobe", "-a", "nf_tables")
            path = "/run/seen_" + host.name
            with open(path, "w", encoding="ascii") as rules:
                rules.write(_RULES)
            host.run("nft", "-f", path)
            self._counted.add(host.name)
        self._start = self._read()

    def _read(self):
        listing = json.loads(self._host.run("nft", "-j", "list", "counters"))
        found = {}
        for entry in listing["nftables"]:
            if "counter" in entry:
                found[entry["counter"]["name"]] = entry["counter"]["bytes"]
        for name in ("rdma_sends", "rdma_recvs"):
            found[name] = _device_counter(self._device, name)
        return found

    def now(self):
        """{"rdma": bytes, "tcp": bytes, "rdma_sends": messages, "rdma_recvs": messages}."""
        grown = {name: value - self._start[name] for name, value in self._read().items()}
        # iWARP is TCP to other ports than that of the calls.
        grown["rdma"] = grown.pop("roce") if DRIVER == "rxe" else grown.pop("other_tcp")
        grown["tcp"] = grown.pop("calls_tcp")
        return grown

    def check_rdma(self, least):
        """At least so many bytes went by RDMA, next to nothing by TCP."""
        now = self.now()
        enough = now["rdma"] >= least and now["tcp"] <= SLACK + least // 50
        if DRIVER == "rxe":
            enough = enough and now["rdma_sends"] > 0 and now["rdma_recvs"] > 0
        if not enough:
            raise Trouble("RDMA should have carried %d bytes on %s; the kernel saw %s"
                          % (least, self._host.name, now))  # fmt: skip

    def check_tcp(self, least):
        """At least so many bytes went by TCP, next to nothing by RDMA."""
        now = self.now()
        if now["tcp"] < least or now["rdma"] > SLACK:
            raise Trouble("TCP should have carried %d bytes on %s; the kernel saw %s"
                          % (least, self._host.name, now))  # fmt: skip
