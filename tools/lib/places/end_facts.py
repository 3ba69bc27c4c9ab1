# SPDX-License-Identifier: Apache-2.0
"""What a host or a pod has: its kernel, processors and RDMA devices. Read by a shell there, since
neither Python nor the tools of RDMA need be."""

import dataclasses
import os
import re

# Printed as "KEY VALUE" and, of each active port, "port NAME|KEY=VALUE|...".
SCRIPT = r"""
say() { printf '%s %s\n' "$1" "$2"; }
of() { cat "$1" 2>/dev/null; }
say kernel "$(uname -r)"
say arch "$(uname -m)"
say os "$(. /etc/os-release 2>/dev/null; echo "${PRETTY_NAME:-Linux}")"
say cpu "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
say cores "$(getconf _NPROCESSORS_ONLN)"
say usable "$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)"
for program in $PROGRAMS; do command -v "$program" >/dev/null && say has "$program"; done
for port in "${SYS_INFINIBAND:-/sys/class/infiniband}"/*/ports/*; do
  case $(of "$port/state") in *ACTIVE*) ;; *) continue ;; esac
  device=${port%/ports/*}
  line="${device##*/}|port=${port##*/}|rate=$(of "$port/rate")|link=$(of "$port/link_layer")"
  line="$line|type=$(of "$device/hca_type")|board=$(of "$device/board_id")"
  line="$line|firmware=$(of "$device/fw_ver")|near=$(of "$device/device/local_cpulist")"
  # There are up to 1024, and most are empty: no process for each.
  gid=
  for each in "$port"/gids/*; do
    { read -r gid <"$each"; } 2>/dev/null
    case $gid in 0000:0000:0000:0000:0000:ffff:*) break ;; esac
  done
  net=$(of "$port/gid_attrs/ndevs/0")
  say port "$line|netdev=$net|mtu=$(of "/sys/class/net/$net/mtu")|gid=$gid"
done
"""
_IPV4 = re.compile(r"0000:0000:0000:0000:0000:ffff:(..)(..):(..)(..)")


@dataclasses.dataclass(frozen=True)
class Port:
    device: str
    words: dict  # what the script tells of it

    def address(self):
        """The first IPv4 address among its GIDs, or nothing: InfiniBand's are none."""
        found = _IPV4.fullmatch(self.words["gid"])
        return ".".join(str(int(part, 16)) for part in found.groups()) if found else ""

    def __str__(self):
        words = self.words
        what = [words[key] for key in ("type", "board") if words[key]]
        what += ["firmware " + words["firmware"]] if words["firmware"] else []
        text = "%s port %s: %s, %s" % (self.device, words["port"], words["link"], words["rate"])
        text += ", MTU %s of %s" % (words["mtu"], words["netdev"]) if words["mtu"] else ""
        return text + (" (%s)" % ", ".join(what) if what else "")


@dataclasses.dataclass(frozen=True)
class Facts:
    name: str
    words: dict
    ports: tuple
    programs: tuple  # those asked for that are there

    def first_address(self):
        return self.ports[0].address() if self.ports else ""

    def core(self, device, others=0):
        """The last one that may be used, of those near the device if any is; `others`: so many
        are left to others, as where both ends are on one machine."""
        usable = cores_of(self.words.get("usable", "")) or [0]
        near = [port.words["near"] for port in self.ports if port.device == device]
        found = [core for core in usable if near and core in cores_of(near[0])] or usable
        return found[max(0, len(found) - 1 - others)]

    def for_json(self):
        ports = [{"device": port.device, **port.words} for port in self.ports]
        return {"name": self.name, **self.words, "ports": ports}

    def text(self):
        words = self.words
        head = "%s: %s, %s cores, %s, kernel %s" % (
            self.name, words.get("cpu") or words["arch"], words["cores"], words["os"],
            words["kernel"],
        )  # fmt: skip
        return "\n".join([head, *("  " + str(port) for port in self.ports)])


def cores_of(text):
    """Of a list as the kernel writes it: 0-3,8."""
    found = []
    for part in text.strip().split(",") if text.strip() else ():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def command(programs):
    """The words that print the facts, and which of these programs are there."""
    sys_infiniband = os.environ.get("SYS_INFINIBAND")
    words = ["env", "PROGRAMS=" + " ".join(programs)]
    words += ["SYS_INFINIBAND=" + sys_infiniband] if sys_infiniband else []
    return words + ["sh", "-c", SCRIPT]


def parse(name, text, devices=()):
    """`devices`: leaves out the ports of others; all, where it is empty."""
    words, ports, programs = {}, [], []
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == "has":
            programs.append(value)
        elif key == "port":
            device, *rest = value.split("|")
            if not devices or device in devices:
                ports.append(Port(device, dict(each.split("=", 1) for each in rest)))
        else:
            words[key] = value.strip()
    return Facts(name, words, tuple(ports), tuple(programs))
